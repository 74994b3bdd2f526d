/*
 * probe_gap.c - what the device leaves between two kernels that are both in its queue: how much
 * longer a launch of a kernel takes than one more unit of the same kernel's work.
 *
 * Both are slopes of two block lengths, so that the ends of blocks do not count, with kernels that
 * outlast what submitting them takes.
 */
#include <errno.h>
#include <stdlib.h>

#include "common/cuda_check.h"
#include "common/timing.h"
#include "workloads/launch/probe.h"
#include "workloads/workload.h"

enum { GAP_US = 20, SHORT = 32, LONG = 96, PAIRS = 11 };

static int64_t block_ns(const struct launch_opts *o, struct launch_state *s, cudaStream_t stream,
			int n, bool fused)
{
	int64_t begin;

	CHECK(!launch_reset(o, s, stream), "reset");
	CUDA(cudaStreamSynchronize(stream));
	begin = timing_now_ns();
	if (fused)
		CHECK(!launch_fused(o, s, stream, n), "%d units", n);
	for (int i = 0; i < n && !fused; i++)
		CHECK(!launch_step(o, s, stream), "launch %d", i);
	CUDA(cudaStreamSynchronize(stream));
	return timing_now_ns() - begin;
}

/* us a launch, or a unit of a fused one. */
static double slope_us(const struct launch_opts *o, struct launch_state *s, cudaStream_t stream,
		       bool fused)
{
	int64_t ns[2][PAIRS];

	for (int i = -1; i < PAIRS; i++) { /* the first pair warms up */
		ns[0][i < 0 ? 0 : i] = block_ns(o, s, stream, SHORT, fused);
		ns[1][i < 0 ? 0 : i] = block_ns(o, s, stream, LONG, fused);
	}
	return (timing_median(ns[1], PAIRS) - timing_median(ns[0], PAIRS)) / (LONG - SHORT) *
	       PROBE_US;
}

/* The last block was one of LONG units. */
static int check_launches(const struct launch_opts *o, struct launch_state *s)
{
	struct verdict v = { .full = true };
	int err = launch_check(o, s, LONG, &v);

	if (!err && !v.passed)
		err = complain(EIO, "probe: kernels of %d us left a wrong trace: %s", GAP_US,
			       v.worst);
	return err;
}

int launch_probe_gap(struct probe *p)
{
	struct launch_opts o = *p->o;
	struct launch_state *s = calloc(1, sizeof(*s));
	double launch_us, unit_us;
	int err;

	CHECK(s, "memory of a state");
	o.us = GAP_US;
	o.kernel = LAUNCH_FILL_SPIN;
	err = launch_setup(&o, s);
	if (!err) {
		launch_us = slope_us(&o, s, p->stream, false);
		unit_us = slope_us(&o, s, p->stream, true);
		launch_probe_add(p, "device gap", "us", launch_us - unit_us, PAIRS);
		err = check_launches(&o, s);
	}
	launch_teardown(s);
	free(s);
	return err;
}
