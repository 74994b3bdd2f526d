/*
 * gpu_fused.c - a fused step beside a launched one, of every workload that has both, on a GPU.
 *
 *   build/cuda/bench/gpu_fused
 *
 * Medians of blocks of DEPTH steps at the defaults of each workload. A fused step saves a launch
 * and the gap behind it. Kernels that are long beside those have a share near 1. A far lower share
 * is work that was left out, or what a GPU keeps from step to step: look at it. Steps of a few
 * microseconds have a low share, as fused is for them. They are marked only where even the stream's
 * step is longer than launch_us.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cuda_check.h"
#include "harness/measure/measure.h"
#include "harness/measure/run.h"
#include "harness/base/param.h"
#include "harness/stats/stats.h"

enum { DEPTH = 64, BLOCKS = 31 };
static const double suspicious = 0.5, launch_us = 10;

/* Microseconds a step. */
static double step_us(const struct instance *instance, enum mode mode)
{
	double us[BLOCKS];
	struct submission s;
	struct warmup warmup;

	CHECK(!submission_init(&s, instance, mode, DEPTH) && !measure_warmup(&s, &warmup),
	      "%s: warm-up", instance->workload->name);
	for (int i = 0; i < BLOCKS; i++) {
		struct block b;

		CHECK(!measure_block(&s, &b), "%s: block", instance->workload->name);
		us[i] = (double)b.total_ns / 1e3 / DEPTH;
	}
	submission_release(&s);
	return median_of(us, BLOCKS);
}

static void compare(const struct instance *instance)
{
	double stream = step_us(instance, MODE_STREAM), fused = step_us(instance, MODE_FUSED);
	double share = fused / stream;

	printf("%-16s %12.3f %12.3f %8.3f%s\n", instance->workload->name, stream, fused, share,
	       share >= suspicious  ? ""
	       : stream > launch_us ? "  SUSPICIOUS"
				    : "  (short steps)");
}

/* May it run so many steps in both modes, and does it time anything? */
static bool has_both(const struct workload *w, const struct limits *limits)
{
	return !mode_refused(w, limits, MODE_STREAM) && !mode_refused(w, limits, MODE_FUSED) &&
	       !limits->device_refused && (!limits->depth_max || limits->depth_max >= DEPTH);
}

/* Where the defaults refuse it (radixsort sorts as many in five launches), the axis' least size. */
static bool choose(const struct workload *w, struct params *p)
{
	const struct param *axis = workload_axis(w);
	struct limits limits = { 0 };
	char least[32];

	if (workload_limits(w, p->opts, &limits))
		return false;
	if (has_both(w, &limits))
		return true;
	if (!axis)
		return false;
	snprintf(least, sizeof(least), "%.*s", (int)strcspn(axis->axis, ","), axis->axis);
	return !params_set(p, axis->name, least) && !workload_limits(w, p->opts, &limits) &&
	       has_both(w, &limits);
}

static void compare_modes(const struct workload *w, cudaStream_t stream)
{
	void *opts = calloc(1, w->opts_size + 1), *state = calloc(1, w->state_size + 1);
	struct instance instance = { .workload = w,
				     .opts = opts,
				     .state = state,
				     .stream = stream,
				     .launches = 1,
				     .sync = SYNC_SPIN };
	struct params p;

	CHECK(opts && state, "memory");
	params_init(&p, w->params, w->name, opts);
	if (choose(w, &p)) {
		CHECK(!w->setup(opts, state), "%s: setup", w->name);
		CHECK(!w->cost(opts, state, &instance.cost), "%s: cost", w->name);
		compare(&instance);
		w->teardown(state);
	}
	params_release(&p);
	free(opts);
	free(state);
}

int main(void)
{
	struct cudaDeviceProp prop;
	cudaStream_t stream;

	CUDA(cudaGetDeviceProperties(&prop, 0));
	CUDA(cudaSetDeviceFlags(cudaDeviceScheduleSpin));
	CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	printf("%s, depth %d, medians of %d blocks\n\n%-16s %12s %12s %8s\n", prop.name, DEPTH,
	       BLOCKS, "workload", "stream us", "fused us", "share");
	for (int i = 0; workloads[i]; i++)
		compare_modes(workloads[i], stream);
	CUDA(cudaStreamDestroy(stream));
	return 0;
}
