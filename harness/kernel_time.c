/* kernel_time.c - what a step's kernels take by themselves: the slope of two block lengths. */
#include <errno.h>
#include <math.h>

#include "harness/measure.h"
#include "harness/overhead.h"
#include "harness/stats.h"

enum { PAIRS = 5, STEPS_MAX = 4096 };

static const char *const source_of[MODE_COUNT] = {
	[MODE_STREAM] = "slope of stream launches: includes gaps and what the host is late by",
	[MODE_GRAPH] = "slope of graph launches: includes gaps between kernels",
	[MODE_FUSED] = "slope of fused launches",
};

/* Steps that last about 1 ms: long against what the ends vary by, short against a run. */
static int64_t steps_for(double step_ns, int64_t depth_max)
{
	double n = ceil(1e6 / step_ns);
	int64_t steps = n >= 1 && n < STEPS_MAX ? (int64_t)n : n >= STEPS_MAX ? STEPS_MAX : 1;

	return depth_max && 2 * steps > depth_max ? depth_max / 2 : steps;
}

/* Short and long in turn, so that a drifting clock moves both alike. */
static int time_pairs(const struct submission *length, double median_ns[2])
{
	int64_t total_ns[2][PAIRS];
	struct block b;
	int err;

	for (int i = -1; i < PAIRS; i++) {
		for (int j = 0; j < 2; j++) {
			err = measure_block(&length[j], &b);
			if (err)
				return err;
			if (i >= 0) /* the first pair warms up */
				total_ns[j][i] = b.total_ns;
		}
	}
	for (int j = 0; j < 2; j++)
		median_ns[j] = stats_of(total_ns[j], PAIRS, 1).median;
	return 0;
}

/* n steps should take most of a block of n; where they take under a tenth, it is noise. */
static void take_slope(struct kernel_time *out, const double median_ns[2])
{
	double slope_ns = (median_ns[1] - median_ns[0]) / (double)out->steps;

	if (!(median_ns[1] - median_ns[0] > 0.1 * median_ns[0])) {
		out->unknown = "twice the steps took hardly longer: below noise";
		return;
	}
	out->ns = slope_ns;
	out->ends_ns = fmax(0, median_ns[0] - (double)out->steps * slope_ns);
}

int kernel_time_measure(struct kernel_time *out, const struct subject *subject,
			const bool allowed[MODE_COUNT], double step_ns, int64_t depth_max)
{
	struct submission length[2] = { 0 };
	enum mode mode = allowed[MODE_FUSED]   ? MODE_FUSED
			 : allowed[MODE_GRAPH] ? MODE_GRAPH
					       : MODE_STREAM;
	double median_ns[2];
	int err;

	*out = (struct kernel_time){
		.ns = NAN, .ends_ns = NAN, .mode = mode, .source = source_of[mode]
	};
	out->steps = steps_for(step_ns, depth_max);
	if (out->steps < 1) {
		out->unknown = "only one step a synchronize is allowed, so there is no slope";
		return 0;
	}
	err = submission_init(&length[0], subject, mode, out->steps);
	if (!err)
		err = submission_init(&length[1], subject, mode, 2 * out->steps);
	if (!err)
		err = time_pairs(length, median_ns);
	if (!err)
		take_slope(out, median_ns);
	submission_release(&length[0]);
	submission_release(&length[1]);
	return err;
}
