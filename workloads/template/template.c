/*
 * template.c - the template workload: its parameters, its hooks and its entry in the table. Hooks
 * are static; workloads/workload.h says what each must and must not do.
 */
#include "workloads/template/template.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/cuda_check.h"
#include "common/dataset.h"
#include "common/device.h"

/*
 * Each row is a parameter, `rift run template n=4k share=0.1`: the field, its unit, the default,
 * the range, a line of help. One row is the axis, which makes kernels larger, with the values that
 * a sweep takes. Where a row counts only with another, .needs says so (struct param_need).
 */
/* clang-format off */
static const struct param params[] = {
	PARAM_AXIS(template_opts, n, "elements", "1M", 1, 1 << 26,
		   "1k,4k,16k,64k,256k,1M,4M,16M", "elements of the vectors"),
	PARAM_REAL(template_opts, share, "1", "0.5", 0.01, 1,
		   "part of the way to x that a step takes y"),
	PARAM_END
};
/* clang-format on */

static const double element_bytes = 20; /* x is read; y and its steps are read and written */

/* Element i of x, between 0 and 1. Inputs are the same in every run. */
static float x_of(int64_t i)
{
	return ((float)((uint32_t)i * 2654435761u >> 9) + 0.5f) * 0x1p-23f;
}

/* Before setup: would refuse options that contradict each other, and modes that they rule out. */
static int limits(const void *opts, struct limits *out)
{
	(void)opts;
	(void)out;
	return 0;
}

/* Allocates everything, once, makes the inputs, uploads them, loads kernels. May synchronize. */
static int setup(const void *opts, void *state)
{
	const struct template_opts *o = opts;
	struct template_state *s = state;
	size_t n = (size_t)o->n;
	int err = device_present();
	float *x;

	if (err)
		return err;
	/* What a user's option makes impossible is one line, and an error; a bug aborts (CUDA). */
	if (cudaMalloc((void **)&s->x, n * sizeof(*s->x)) ||
	    cudaMalloc((void **)&s->cell, n * sizeof(*s->cell)))
		return complain(ENOMEM, "n=%zu: %s", n, cudaGetErrorString(cudaGetLastError()));
	template_load();
	x = malloc(n * sizeof(*x));
	CHECK(x, "%zu floats", n);
	for (int64_t i = 0; i < o->n; i++)
		x[i] = x_of(i);
	CUDA(cudaMemcpy(s->x, x, n * sizeof(*x), cudaMemcpyHostToDevice));
	free(x);
	return 0;
}

/* Enqueues what brings the device's memory back to the start. Must not synchronize. */
static int reset(const void *opts, void *state, cudaStream_t stream)
{
	const struct template_opts *o = opts;
	const struct template_state *s = state;

	CUDA(cudaMemsetAsync(s->cell, 0, (size_t)o->n * sizeof(*s->cell), stream));
	return 0;
}

/*
 * Enqueues a step, the unit that is counted, timed and captured into graphs. Must not synchronize,
 * allocate or read back: numbers that change from step to step live on the device.
 */
static int step(const void *opts, void *state, cudaStream_t stream)
{
	template_launch(opts, state, 1, stream);
	return 0;
}

/* Optional: n steps as one launch of the same kernel, with the same bits and n times the work. */
static int fused(const void *opts, void *state, cudaStream_t stream, int64_t n)
{
	template_launch(opts, state, n, stream);
	return 0;
}

/*
 * So many steps after a reset, on the host: is every element right? The reference shares nothing
 * with the kernel: it is in double, and of the way to x (1 - share)^steps is left. A step in float
 * is off by less than 1e-7, which adds up to 1e-7 / share. A NaN stays in the error, and fails.
 */
static int check(const void *opts, void *state, int64_t steps, struct verdict *v)
{
	const struct template_opts *o = opts;
	const struct template_state *s = state;
	size_t bytes = (size_t)o->n * sizeof(*s->cell);
	double share = (float)o->share, gone = 1 - pow(1 - share, (double)steps);
	struct template_cell *cell = malloc(bytes);

	CHECK(cell, "%zu bytes", bytes);
	CUDA(cudaMemcpy(cell, s->cell, bytes, cudaMemcpyDeviceToHost));
	v->measure = "largest error of an element; 1 more where it was not written in each step";
	v->tolerance = 2e-7 / share;
	v->error = 0;
	v->compared = v->total = o->n;
	for (int64_t i = 0; i < o->n && !isnan(v->error); i++) {
		double error = fabs(cell[i].y - gone * x_of(i)) + (cell[i].steps != steps);

		if (error <= v->error)
			continue;
		v->error = error;
		snprintf(v->worst, sizeof(v->worst), "element %ld: %.8g after %u steps", (long)i,
			 cell[i].y, cell[i].steps);
	}
	v->passed = v->error <= v->tolerance;
	free(cell);
	return 0;
}

/* Optional rows of `rift run`. The roofline of these steps is the bandwidth of device memory. */
static int report(const void *opts, void *state, struct report *out)
{
	struct report_row *row = &out->row[out->n++];
	double ns = dataset_step_ns(step, opts, state, &row->n);

	row->name = "moved";
	row->unit = "GB/s";
	row->value = element_bytes * (double)((const struct template_opts *)opts)->n / ns;
	return 0;
}

/* What a step costs, by counting. */
static int cost(const void *opts, const void *state, struct cost *out)
{
	double n = (double)((const struct template_opts *)opts)->n;

	(void)state;
	*out = (struct cost){
		.launches = 1,
		.flops = 3 * n,
		.bytes_moved = element_bytes * n,
		.formula = "3 flops an element; x read, y and its steps read and written",
	};
	return 0;
}

/* Frees everything; also after a setup that failed, which leaves some of it zero. */
static void teardown(void *state)
{
	struct template_state *s = state;

	if (s->x)
		CUDA(cudaFree(s->x));
	if (s->cell)
		CUDA(cudaFree(s->cell));
}

const struct workload workload_template = {
	.name = "template",
	.hidden = true, /* tools/new_workload.sh leaves this line out */
	.summary = "a vector that follows another: three operations for 20 bytes of memory",
	.source = "this project's own", /* or a paper, a data set, a program */
	.step_unit = "every element a share of the way nearer",
	.params = params,
	.opts_size = sizeof(struct template_opts),
	.state_size = sizeof(struct template_state),
	.limits = limits,
	.setup = setup,
	.reset = reset,
	.step = step,
	.fused = fused,
	.check = check,
	.report = report,
	.cost = cost,
	.teardown = teardown,
};
