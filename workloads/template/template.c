/*
 * template.c - the template workload: each element of a vector goes through a sequence of its own,
 * y = 5 y + 2 i + 1 modulo 2^32. Hooks are static. workloads/workload.h says what each must and
 * must not do, and which more there are: limits, report, plot, scratch.
 */
#include "workloads/template/template.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/cuda_check.h"
#include "common/device.h"

/*
 * Each row is a parameter, `rift run template n=4k`: the field, its unit, the default, the range,
 * what the axis takes in a sweep, a line of help. One row is the axis, which makes kernels larger.
 */
static const struct param params[] = {
	PARAM_AXIS(template_opts, n, "elements", "1M", 1, 1 << 26, "1k,4k,16k,64k,256k,1M,4M,16M",
		   "elements of the vector"),
	PARAM_END,
};

/* Allocates everything, makes and uploads inputs (there are none), loads kernels. All of it once.
 */
static int setup(const void *opts, void *state)
{
	const struct template_opts *o = opts;
	struct template_state *s = state;
	int err = device_present();

	if (!err)
		err = device_new(&s->y, (size_t)o->n * sizeof(*s->y), "n=%ld", (long)o->n);
	if (!err)
		template_load();
	return err;
}

/* Enqueues what brings the device's memory back to the start. Must not synchronize. */
static int reset(const void *opts, void *state, cudaStream_t stream)
{
	const struct template_opts *o = opts;
	const struct template_state *s = state;

	CUDA(cudaMemsetAsync(s->y, 0, (size_t)o->n * sizeof(*s->y), stream));
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
	int err = device_steps_fit(n);

	if (!err)
		template_launch(opts, state, n, stream);
	return err;
}

/*
 * So many steps after a reset, on the host: is every element right? The reference has another way
 * to the same numbers: (2 i + 1) (1 + 5 + 25 + ...), a term a step. No number comes back before
 * 2^32 steps (Hull and Dobell, 1962), so a step that is lost or done twice shows.
 */
static int check(const void *opts, void *state, int64_t steps, struct verdict *v)
{
	const struct template_opts *o = opts;
	const struct template_state *s = state;
	size_t bytes = (size_t)o->n * sizeof(*s->y);
	uint32_t *y = malloc(bytes), sum = 0;

	CHECK(y, "%zu bytes", bytes);
	CUDA(cudaMemcpy(y, s->y, bytes, cudaMemcpyDeviceToHost));
	for (int64_t k = 0; k < steps; k++)
		sum = 5 * sum + 1;
	v->measure = "wrong elements";
	v->compared = v->total = o->n;
	for (int64_t i = 0; i < o->n; i++)
		if (y[i] != (uint32_t)(2 * i + 1) * sum && !v->error++)
			snprintf(v->worst, sizeof(v->worst), "element %ld: %u", (long)i, y[i]);
	v->passed = v->error <= v->tolerance; /* 0; of reals: what rounding adds up to */
	free(y);
	return 0;
}

/* What a step costs, by counting. */
static int cost(const void *opts, const void *state, struct cost *out)
{
	const struct template_opts *o = opts;

	(void)state;
	out->launches = 1;
	out->bytes_moved = 8 * (double)o->n;
	out->formula = "no floating point; y read and written";
	return 0;
}

/* Frees everything; also after a setup that failed, which leaves some of it zero. */
static void teardown(void *state)
{
	device_free(((struct template_state *)state)->y);
}

const struct workload workload_template = {
	.name = "template",
	.hidden = true, /* tools/new_workload.sh leaves this line out */
	.summary = "sequences of integers, one an element: 8 bytes of memory, little to compute",
	.source = "this project's own", /* or a paper, a data set, a program */
	.step_unit = "every sequence one number on",
	.params = params,
	.opts_size = sizeof(struct template_opts),
	.state_size = sizeof(struct template_state),
	.setup = setup,
	.reset = reset,
	.step = step,
	.fused = fused,
	.check = check,
	.cost = cost,
	.teardown = teardown,
};
