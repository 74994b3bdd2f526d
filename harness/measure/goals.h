/* goals.h - what a session is to tell; harness/session/stopping.h says when it does. */
#ifndef RIFT_MEASURE_GOALS_H
#define RIFT_MEASURE_GOALS_H

#include <jansson.h>
#include <stdbool.h>

#include "harness/measure/model.h"

/* What a session is to tell; 0: not asked for. */
struct goals {
	double parameter_ns[MODEL_PARAMS]; /* half-width of its interval */
	double margin;			   /* a share of 1 */
};

/*
 * "c=100ns,Z=0.5us" into g; "2%" or "2" into g->margin. Return 0 or -EINVAL after one line. text is
 * of --resolve, --margin.
 */
int goals_take_resolve(struct goals *g, const char *text);
int goals_take_margin(struct goals *g, const char *text);

bool goals_any(const struct goals *g);

/* As in the plan's record, and back: {"c": 100}; new reference. */
json_t *goals_json(const struct goals *g);
void goals_parse(struct goals *g, const json_t *resolve);

#endif
