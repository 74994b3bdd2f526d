/*
 * sensitivity.h - how a workload's time grows with each cost that a layer may add.
 *
 * The layer `emulate` adds one known cost at a time; the layer `remote` imitates a network of which
 * one figure at a time gets worse. Each value of each cost is measured by `rift run` in fresh
 * processes, in shuffled turns; so is the native platform. What is found is a time over the native
 * one; where it crosses 1.05 and 1.25; and what a simple model says of both.
 */
#ifndef RIFT_PROBE_SENSITIVITY_H
#define RIFT_PROBE_SENSITIVITY_H

#include <jansson.h>
#include <stdio.h>

#include "harness/base/command.h"
#include "harness/base/text.h"
#include "harness/probe/sensitivity_predict.h"
#include "harness/probe/sensitivity_process.h"

/* ---- what is to be measured --------------------------------------------------------------- */

/* A line of the tables has room for so many values. */
enum { SENSITIVITY_VALUES_MAX = 8 };

/* All texts are the caller's and stay. */
struct sensitivity_request {
	const char *const *words; /* the workload, then name=value; NULL behind the last one */
	const char *mode, *depth, *blocks; /* as rift run takes them; NULL: its choice */
	const char *
		layer; /* with its costs: "remote transport=tcp rtt=0,50"; sensitivity_is_asked() */
	int processes;
	double limit_s; /* what all may take; 0: any time */
};

/*
 * Does the text of --layer ask for it? It does with several values of a cost, "emulate call=0,5",
 * with a figure of a network, "remote transport=tcp rtt=50", and with "costs=usual".
 */
bool sensitivity_is_asked(const char *layer);

enum { LAYER_TEXT = 256, LAYER_GIVEN = 180 };

/* One platform: the native one, the layer alone, or the layer with one cost. */
struct sensitivity_cell {
	double predicted_s;	      /* a process of it */
	char layer[LAYER_TEXT];	      /* "emulate call=5"; "": native */
	struct run_process *run;      /* one a turn */
	int failed;		      /* of these; no figure is taken where there are any */
	double step_ns, lo_ns, hi_ns; /* median, least and most over processes; NAN: no figure */
};

/* Where a line crosses a frontier. */
enum frontier_state {
	FRONTIER_UNKNOWN, /* no value has a figure */
	FRONTIER_AT,	  /* between two values */
	FRONTIER_BEFORE,  /* the mildest value is beyond it */
	FRONTIER_BEYOND,  /* no value reaches it */
};

struct frontier {
	enum frontier_state state;
	double value; /* in the cost's unit; of BEFORE and BEYOND the value that was tried */
};

enum { FRONTIERS = 2 };

/* 1.05, 1.25 */
extern const double frontier_ratios[FRONTIERS];

struct sensitivity_cost {
	const struct param *row; /* the layer's */
	bool in_step;		 /* else nothing was measured */
	int n;
	double value[SENSITIVITY_VALUES_MAX];	  /* from the mildest on */
	int cell[SENSITIVITY_VALUES_MAX];	  /* several costs share that of nothing added */
	double ratio[SENSITIVITY_VALUES_MAX];	  /* time over native, of the medians; NAN */
	double predicted[SENSITIVITY_VALUES_MAX]; /* NAN: the model does not know */
	struct frontier measured[FRONTIERS], model[FRONTIERS];
	struct frontier alone[FRONTIERS]; /* measured, over the mildest value in place of native */
};

struct sensitivity {
	const struct sensitivity_request *request;
	const struct workload *workload;
	const struct cost_source *source; /* costs.h */
	char layer[LAYER_TEXT];		  /* as it was asked for, without costs */
	struct run_process first; /* natively: what there is in a step, and how long it takes */
	struct run_process under; /* under the first cost at its mildest */
	struct sensitivity_cost *cost;
	int n;
	struct sensitivity_cell *cell; /* the first is native */
	int cells;
	int turns;		    /* processes of each cell */
	struct step_figures native; /* medians over the native processes */
};

/* ---- steps, in this order ----------------------------------------------------------------- */

/*
 * Takes the request apart. Returns 0, or after one line: -EINVAL for what is refused, -ENODEV where
 * the layer cannot be had here. To be released after a failure, too.
 */
int sensitivity_init(struct sensitivity *s, const struct sensitivity_request *r);
void sensitivity_release(struct sensitivity *s);

/*
 * Runs the workload once natively and once under the layer, then plans. Returns 0; the exit code of
 * `rift run` where that failed, which has said why; or a negative errno after one line.
 */
int sensitivity_plan(struct sensitivity *s);

/* The part that follows the first runs. */
int sensitivity_plan_runs(struct sensitivity *s);

/* What the first runs say that all will take, s. */
double sensitivity_plan_s(const struct sensitivity *s);

/* Cells of that turn in the order that they are run in: order[cells]. */
void sensitivity_order(int *order, int cells, int turn);

/* Measures and concludes. Returns 0, also where runs failed, or -EINTR. */
int sensitivity_measure(struct sensitivity *s);

/* The last part of sensitivity_measure(): figures of what was run. */
void sensitivity_conclude(struct sensitivity *s);

/* Is less of it worse? */
bool sensitivity_is_rate(const struct param *row);

/* Which value is worse for a program: us and per cent as they are, rates by what a byte takes. */
double sensitivity_severity(const struct param *row, double value);

/* Where n ratios, at these values from the mildest on, cross one for the last time. Those that are
 * NAN are not there. */
struct frontier frontier_find(const struct param *row, const double *value, const double *ratio,
			      int n, double crossed);

/* RIFT_CHECK_FAILED where a check failed, RIFT_FAILED_POINTS where a run failed otherwise. */
enum exit_code sensitivity_exit_code(const struct sensitivity *s);

/* ---- what is printed ---------------------------------------------------------------------- */

/* The plan in one line, or as an object. New reference. */
void sensitivity_plan_print(const struct sensitivity *s, FILE *out);
json_t *sensitivity_plan_json(const struct sensitivity *s);

struct text frontier_text(const struct param *row, const struct frontier *f);

/* All that was found. New reference. */
void sensitivity_print(const struct sensitivity *s, FILE *out);
json_t *sensitivity_json(const struct sensitivity *s);

#endif
