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
	MYOCYTE_STIFF = 17,	     /* of solver=rosenbrock: 8 stages, 9 for the Jacobian */
	MYOCYTE_CELLS_MAX = 1 << 22, /* 91 of them stay below 2^31 */
	MYOCYTE_BLOCK = 32,	     /* threads: few cells spread over many multiprocessors */
	MYOCYTE_TRIES_MAX = 12,	     /* attempts a row, in the benchmark's solver */
};

enum { MYOCYTE_JITTER_STREAM = 1 }; /* last word of the random counter */

/* First step of the adaptive solver, and the shortest: a cell that rejects it is lost. */
#define MYOCYTE_STEP_FIRST_MS 1e-4
#define MYOCYTE_STEP_LEAST_MS 1e-12

enum myocyte_solver {
	MYOCYTE_ADAPTIVE,   /* the error of a step decides how long it is */
	MYOCYTE_FIXED,	    /* steps of one length, always accepted */
	MYOCYTE_AS_RODINIA, /* the benchmark's: rows of one accepted step each */
	MYOCYTE_ROSENBROCK, /* as adaptive, by a stiff method: in double, a block for each cell */
};

/* What a cell is spread over. */
enum myocyte_spread {
	MYOCYTE_AUTO,	       /* as its number and the device suggest: for the host to decide */
	MYOCYTE_THREAD,	       /* a thread each: any solver, any control */
	MYOCYTE_CELL_A_BLOCK,  /* a block each: the shortest time for a few */
	MYOCYTE_CELLS_A_BLOCK, /* 32 in a block, a part of the equations in each warp: the most */
};

enum myocyte_count {
	MYOCYTE_ACCEPTED, /* attempts since reset */
	MYOCYTE_REJECTED,
	MYOCYTE_SPANS, /* spans completed */
	MYOCYTE_LOST,  /* 1 once the state stopped being finite, or no step was short enough */
	MYOCYTE_TRIES, /* attempts since the last accepted one */
	MYOCYTE_COUNTS,
};

/* One row of a trajectory, t in ms; h is the step that led there, after so many attempts. */
struct myocyte_row {
	double t, h, attempts, y[MYOCYTE_STATES];
};

/* What came of a step. */
struct myocyte_outcome {
	double factor;	/* to multiply the step by */
	int32_t within; /* the tolerance */
	int32_t finite; /* every number of it */
};

/*
 * By value to every kernel. n is `stride` below; arrays of void are of the cells' precision.
 * With control=host a second one of these has its arrays in host memory.
 */
struct myocyte_cells {
	int64_t cells, stride;	/* words from component to component: cells or a few more */
	int64_t first, running; /* cells that attempts advance: first .. first + running - 1 */

	bool single;	  /* float; else double */
	bool benchmark;	  /* Rodinia's equations; else the published ones */
	bool guarded;	  /* derivatives that are NaN or +Inf are replaced, as the benchmark does */
	bool by_host;	  /* control=host */
	bool states_only; /* right-hand sides of single states; no attempts */
	bool overlaps;	  /* launch=programmatic: launches of spread=block */
	enum myocyte_solver solver;
	enum myocyte_spread spread;
	double span;	  /* ms; the attempt after it starts over */
	double tolerance; /* relative */
	double step;	  /* ms */

	void *y;	/* [91][n] */
	double *t, *h;	/* [n], ms; one piece, h behind t */
	double *taken;	/* [n], ms: the last step accepted */
	int64_t *count; /* [MYOCYTE_COUNTS][n] */
	void *end;	/* [91][n]: y when the cell last completed its span */
	void *before;	/* [91][n]: y before the last accepted step; NULL: not kept */
	void *p;	/* [16][n]: parameters, varied from cell to cell */
	void *trial;	/* [91][n]: scratch, y of a stage and at last of the step */
	void *k;	/* [13][91][n]: scratch, derivatives of the stages */
	double *start;	/* [91]: initial state of every cell */

	/* control=host. On both sides: */
	struct myocyte_outcome *outcome; /* [n], for the host to decide on; NULL: decided here */
	/* On the host: */
	double *given; /* [2][n], ms: times and steps for the device's t and h */

	/* Rows at t = every, 2 every, .. and at the span's end, appended for every running cell:
	 * one cell at a time. NULL: none, and no step is shortened for them. An attempt makes at
	 * most one row. */
	struct myocyte_row *rows;
	int64_t *n_rows; /* [1] */
	double every;	 /* ms */
};

/* A cell as the host sees it. Where `before` is not kept it is a second `end`. */
struct myocyte_cell {
	double y[MYOCYTE_STATES], end[MYOCYTE_STATES], before[MYOCYTE_STATES], p[MYOCYTE_PARAMS];
	double t, h, taken;
	int64_t count[MYOCYTE_COUNTS];
};

/* Evaluations of an attempt. */
static inline int myocyte_stages(enum myocyte_solver solver)
{
	if (solver == MYOCYTE_ROSENBROCK)
		return MYOCYTE_STIFF;
	return solver == MYOCYTE_FIXED ? MYOCYTE_STAGES_FIXED : MYOCYTE_STAGES;
}

/* Bytes of a number of the cells. */
static inline size_t myocyte_real_bytes(const struct myocyte_cells *cells)
{
	return cells->single ? sizeof(float) : sizeof(double);
}

/* Makes the driver load every kernel of that precision, so that no launch does. */
void myocyte_load_kernels(const struct myocyte_cells *cells);

/* Dynamic shared memory of a block that makes attempts, as solver and spread have it. */
size_t myocyte_shared_bytes(const struct myocyte_cells *cells);

/*
 * Gives cell 0 the parameters p, and every other cell p[i] (1 + jitter u) for i > 0. u in (0, 1) is
 * drawn from cell, i and seed. Upwards only: less calcineurin than is bound would be negative.
 */
void myocyte_vary(const struct myocyte_cells *cells, const double p[MYOCYTE_PARAMS], double jitter,
		  uint64_t seed, cudaStream_t stream);

/* The running cells at t = 0: y = start, counts and end 0. */
void myocyte_start(const struct myocyte_cells *cells, cudaStream_t stream);

/* n attempts of every running cell, one launch. */
void myocyte_attempt(const struct myocyte_cells *cells, int64_t n, cudaStream_t stream);

/* One attempt of every running cell, a launch for each right-hand side. */
void myocyte_attempt_by_stages(const struct myocyte_cells *cells, cudaStream_t stream);

/* out[i] = cell which[i] for n cells; both in device memory. */
void myocyte_gather(const struct myocyte_cells *cells, const int64_t *which, int64_t n,
		    struct myocyte_cell *out, cudaStream_t stream);

/*
 * Derivatives of cells->running states y at times t with parameters p, into k, guarded where
 * cells->guarded says so. outcome, where there is one, tells whether all are finite.
 */
void myocyte_derivatives(const struct myocyte_cells *cells, cudaStream_t stream);

/*
 * control=host: the classic pattern. Each synchronous, on the legacy stream: states and times
 * are copied in, a kernel runs, results are copied out, the host decides. `host` holds the
 * cells; the device's arrays are scratch.
 *   _reset     all cells at t = 0
 *   _attempt   one attempt, one launch
 *   _stages    one attempt, a launch for each right-hand side; stage sums on the host too
 *   _publish   copies the cells to the device, for who reads them there
 */
void myocyte_host_reset(const struct myocyte_cells *host);
void myocyte_host_attempt(const struct myocyte_cells *host, const struct myocyte_cells *device);
void myocyte_host_stages(const struct myocyte_cells *host, const struct myocyte_cells *device);
void myocyte_host_publish(const struct myocyte_cells *host, const struct myocyte_cells *device);

/* The above in one precision; launch.c picks. */
struct myocyte_code {
	void (*load_kernels)(const struct myocyte_cells *);
	size_t (*shared_bytes)(const struct myocyte_cells *);
	void (*vary)(const struct myocyte_cells *, const double *, double, uint64_t, cudaStream_t);
	void (*start)(const struct myocyte_cells *, cudaStream_t);
	void (*attempt)(const struct myocyte_cells *, int64_t, cudaStream_t);
	void (*attempt_by_stages)(const struct myocyte_cells *, cudaStream_t);
	void (*gather)(const struct myocyte_cells *, const int64_t *, int64_t,
		       struct myocyte_cell *, cudaStream_t);
	void (*derivatives)(const struct myocyte_cells *, cudaStream_t);
	void (*host_reset)(const struct myocyte_cells *);
	void (*host_attempt)(const struct myocyte_cells *, const struct myocyte_cells *);
	void (*host_stages)(const struct myocyte_cells *, const struct myocyte_cells *);
};

extern const struct myocyte_code myocyte_code_double, myocyte_code_float;

#ifdef __cplusplus
}
#endif
#endif
