/*
 * device.h - what the host and the kernels of the myocyte workload share: memory of the cells,
 * what a launch is told, and the launches.
 *
 * Arrays of cells are stored component by component, [component][cell], so that neighbouring
 * threads read neighbouring words. Every pointer is to device memory.
 */
#ifndef RIFT_MYOCYTE_DEVICE_H
#define RIFT_MYOCYTE_DEVICE_H

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stdint.h>

#include "workloads/myocyte/inputs.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
	MYOCYTE_STAGES = 13,	     /* of an attempt: 13 evaluations */
	MYOCYTE_STAGES_FIXED = 11,   /* the last two serve the error estimate only */
	MYOCYTE_CELLS_MAX = 1 << 22, /* 91 of them stay below 2^31 */
	MYOCYTE_BLOCK = 32,	     /* threads: few cells spread over many multiprocessors */
};

enum { MYOCYTE_JITTER_STREAM = 1 }; /* last word of the random counter */

/* First step of the adaptive solver, and the shortest: a cell that rejects it is lost. */
#define MYOCYTE_STEP_FIRST_MS 1e-4
#define MYOCYTE_STEP_LEAST_MS 1e-12

enum myocyte_count {
	MYOCYTE_ACCEPTED, /* attempts since reset */
	MYOCYTE_REJECTED,
	MYOCYTE_SPANS, /* spans completed */
	MYOCYTE_LOST,  /* 1 once the state stopped being finite or h ran out */
	MYOCYTE_COUNTS,
};

/* One row of a trajectory, t in ms. */
struct myocyte_row {
	double t, y[MYOCYTE_STATES];
};

/* By value to every kernel. n is `stride` below. */
struct myocyte_cells {
	int64_t cells, stride;	/* words from component to component: cells or a few more */
	int64_t first, running; /* cells that attempts advance: first .. first + running - 1 */

	bool fixed;	  /* steps of `step`, always accepted; else adaptive */
	bool benchmark;	  /* Rodinia's equations; else the published ones */
	double span;	  /* ms; the attempt after it starts over */
	double tolerance; /* relative */
	double step;	  /* ms */

	double *y;	/* [91][n] */
	double *t, *h;	/* [n], ms */
	int64_t *count; /* [MYOCYTE_COUNTS][n] */
	double *end;	/* [91][n]: y when the cell last completed its span */
	double *p;	/* [16][n]: parameters, varied from cell to cell */
	double *trial;	/* [91][n]: scratch, y of a stage and at last of the step */
	double *k;	/* [13][91][n]: scratch, derivatives of the stages */
	double *start;	/* [91]: initial state of every cell */

	/* Rows at t = every, 2 every, .. and at the span's end, appended for every running cell:
	 * one cell at a time. NULL: none, and no step is shortened for them. An attempt makes at
	 * most one row. */
	struct myocyte_row *rows;
	int64_t *n_rows; /* [1] */
	double every;	 /* ms */
};

/* A cell as the host sees it. */
struct myocyte_cell {
	double y[MYOCYTE_STATES], end[MYOCYTE_STATES], p[MYOCYTE_PARAMS];
	double t, h;
	int64_t count[MYOCYTE_COUNTS];
};

/* Device memory of a cell in bytes: what the arrays above take. */
enum {
	MYOCYTE_CELL_BYTES =
		8 * (MYOCYTE_STATES * (MYOCYTE_STAGES + 3) + MYOCYTE_PARAMS + MYOCYTE_COUNTS + 2),
};

/* Makes the driver load every kernel, so that no launch does. */
void myocyte_load_kernels(void);

/*
 * Gives cell 0 the parameters p, every other p[i] (1 + jitter u) for i > 0, u in (0, 1) drawn
 * from cell, i and seed. Upwards only: less calcineurin than is bound would be negative.
 */
void myocyte_vary(const struct myocyte_cells *cells, const double p[MYOCYTE_PARAMS], double jitter,
		  uint64_t seed, cudaStream_t stream);

/* The running cells at t = 0: y = start, counts and end 0. */
void myocyte_start(const struct myocyte_cells *cells, cudaStream_t stream);

/* n attempts of every running cell, one launch. */
void myocyte_attempt(const struct myocyte_cells *cells, int64_t n, cudaStream_t stream);

/* out[i] = cell which[i] for n cells; both in device memory. */
void myocyte_gather(const struct myocyte_cells *cells, const int64_t *which, int64_t n,
		    struct myocyte_cell *out, cudaStream_t stream);

/*
 * Derivatives of cells->running states y at times t with parameters p, into k; with the
 * benchmark's equations its guard is applied.
 */
void myocyte_derivatives(const struct myocyte_cells *cells, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
