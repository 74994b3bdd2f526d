/*
 * myocyte.h - the myocyte workload: many copies of a heart muscle cell, 91 ordinary differential
 * equations each, integrated over a beat.
 *
 * A step is one attempt of the solver for every cell. Options and what they mean: README.md.
 */
#ifndef RIFT_MYOCYTE_H
#define RIFT_MYOCYTE_H

#include <stdio.h>

#include "common/csv.h"
#include "common/programmatic.h"
#include "workloads/myocyte/device.h"
#include "common/output.h"
#include "workloads/hooks.h"

#ifdef __cplusplus
extern "C" {
#endif

enum myocyte_precision { MYOCYTE_DOUBLE, MYOCYTE_FLOAT };
enum myocyte_granularity { MYOCYTE_BY_ATTEMPT, MYOCYTE_BY_STAGE };
enum myocyte_control { MYOCYTE_BY_DEVICE, MYOCYTE_BY_HOST };

/* equations=auto, beside enum myocyte_equations: those that belong to the solver. */
enum { MYOCYTE_MATCHING = MYOCYTE_RODINIA + 1 };

struct myocyte_opts {
	int64_t cells;
	double span;	  /* ms */
	double tolerance; /* relative; 0: what suits the precision */
	int equations;	  /* enum myocyte_equations or MYOCYTE_MATCHING */
	int solver;	  /* enum myocyte_solver */
	int precision, granularity, control;
	int spread;  /* enum myocyte_spread */
	int launch;  /* enum programmatic */
	double step; /* ms */
	double jitter;
	int64_t seed;
	const char *initial, *parameters; /* NULL: the files that come with rift */
	const char *trajectory;
	double every; /* ms */
	int64_t trace;
	const char *states, *derivatives;
};

struct myocyte_state {
	struct myocyte_cells cells; /* on the device */
	struct myocyte_cells host;  /* control=host: the cells; the device has scratch */
	double initial[MYOCYTE_STATES], parameters[MYOCYTE_PARAMS];
	struct output output; /* of trajectory= or derivatives= */
	int64_t ignored;      /* columns of states= that mean nothing here */
};

/* What options that say "choose for me" come to. */
enum myocyte_equations myocyte_equations(const struct myocyte_opts *o);
double myocyte_tolerance(const struct myocyte_opts *o);
enum myocyte_spread myocyte_spread(const struct myocyte_opts *o);

/* Rows of trajectory= that fit: 2 GB of text. */
enum { MYOCYTE_ROWS_MAX = 1000000 };

/* Rows that trajectory= makes: t = 0, the multiples of `every` within the span, its end. */
double myocyte_trajectory_rows(const struct myocyte_opts *o);

/* ---- hooks, and what they share ------------------------------------------------------- */

int myocyte_limits(const void *opts, struct limits *out);
int myocyte_setup(const void *opts, void *state);
int myocyte_check(const void *opts, void *state, int64_t steps, struct verdict *verdict);
int myocyte_report(const void *opts, void *state, struct report *out);
int myocyte_plot(const void *opts, void *state, struct plot *plot);
int myocyte_cost(const void *opts, const void *state, struct cost *out);
void myocyte_teardown(void *state);

/* Device memory of one cell in bytes. */
size_t myocyte_cell_bytes(const struct myocyte_cells *cells);

/* Device memory for cells->cells cells; -ENOMEM after one line with numbers. */
int myocyte_allocate(struct myocyte_cells *cells);
void myocyte_free(struct myocyte_cells *cells);

/* A copy of the device's cells in host memory; 0 or -ENOMEM after one line. */
int myocyte_mirror(const struct myocyte_cells *device, struct myocyte_cells *host);
void myocyte_free_mirror(struct myocyte_cells *host);

/* Reads cells by number, in any order, after a synchronize. Returns 0 or -ENOMEM. */
int myocyte_read_cells(const struct myocyte_state *s, const int64_t *which, int64_t n,
		       struct myocyte_cell *out);

/* One cell over its span, alone: landing on output times takes steps of its own. */
struct myocyte_trace {
	struct myocyte_cells cells; /* `first` runs, a row every `every`; rows may be NULL */
	const double *initial;	    /* host; the state in the row of t = 0 */
	char name[64];		    /* begins messages: "trajectory: cell 3" */
	bool (*take)(void *arg, const struct myocyte_row *row); /* false: no more rows */
	void *arg;
};

/* Runs traces side by side, each in memory of its own. Returns 0 or an errno after one line. */
int myocyte_run_traces(const struct myocyte_trace *traces, int n);

/* trajectory=: traces the cell of trace=. Returns 0 or an errno after one line. */
int myocyte_write_trajectory(const struct myocyte_opts *o, struct myocyte_state *s, int64_t *rows);

/* states= and derivatives=: reads and allocates; evaluates and writes. */
int myocyte_setup_derivatives(const struct myocyte_opts *o, struct myocyte_state *s);
int myocyte_write_derivatives(struct myocyte_state *s);

extern const struct workload workload_myocyte;

#ifdef __cplusplus
}
#endif
#endif
