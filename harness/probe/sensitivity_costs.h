/* sensitivity_costs.h - what a sensitivity is measured over: the costs of a layer, their values,
 * its words. */
#ifndef RIFT_PROBE_SENSITIVITY_COSTS_H
#define RIFT_PROBE_SENSITIVITY_COSTS_H

#include <stddef.h>

#include "common/param.h"
#include "harness/probe/sensitivity.h"

/* A layer that adds costs, and how. */
struct cost_source {
	const char *layer;
	enum param_kind kind; /* of the rows that are costs */
	/* NULL: the layer's own, of which opts_size is nothing */
	const struct param *rows;
	size_t opts_size;
	const char *const *usual; /* what "costs=usual" stands for */
	/* Writes the layer with that cost behind what was asked for: "emulate", "emulate n=2". */
	void (*words)(char out[LAYER_TEXT], const char *given, const struct param *row,
		      double value);
	const char *imitates; /* what is said of it in brackets */
};

/* The source that the first word of the text names; NULL: it is no layer with costs. */
const struct cost_source *cost_source_find(const char *layer);

/*
 * Takes the request's layer apart: costs into cost and n, other words into layer. 0, or -EINVAL
 * after one line.
 */
int sensitivity_costs(struct sensitivity *s);

#endif
