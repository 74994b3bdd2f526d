/* overhead.c - a step's kernels by themselves, and what a block takes beyond them. */
#include "harness/measure/overhead.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/refusal.h"
#include "harness/base/text.h"
#include "harness/measure/measure.h"
#include "harness/measure/submit.h"
#include "harness/stats/stats.h"

/* ---- what a block takes beyond its kernels, and what that means in plain words ---------- */

/* Below this share nobody would change anything; a block's median resolves less than it. */
static const double small_share = 0.10;

static void append_meaning(struct overhead *out, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static void append_meaning(struct overhead *out, const char *fmt, ...)
{
	size_t used = strlen(out->meaning);
	va_list args;

	va_start(args, fmt);
	vsnprintf(out->meaning + used, sizeof(out->meaning) - used, fmt, args);
	va_end(args);
}

/* "; try --mode graph, --mode fused or a larger 'cells'": what is allowed and not in use. */
static void append_ways(struct overhead *out, const struct timing *t)
{
	const char *way[3];
	char larger[80];
	int n = 0;

	if (t->allowed[MODE_GRAPH] && t->mode == MODE_STREAM)
		way[n++] = "--mode graph";
	if (t->allowed[MODE_FUSED] && t->mode != MODE_FUSED)
		way[n++] = "--mode fused";
	if (t->axis) {
		snprintf(larger, sizeof(larger), "a larger '%s'", t->axis);
		way[n++] = larger;
	}
	for (int i = 0; i < n; i++)
		append_meaning(out, "%s%s", i == 0 ? "; try " : i == n - 1 ? " or " : ", ", way[i]);
}

static void too_shallow(struct overhead *out, const struct kernel_time *k, const struct timing *t)
{
	double d4 = 4 * (double)t->depth;
	/* the line through two lengths may cross the axis above what this block really has */
	double ends_ns = fmin(k->ends_ns, t->total_ns - (double)t->depth * k->ns);

	append_meaning(out,
		       "depth is small: submitting, starting and synchronizing cost %s a sample, "
		       "against %s "
		       "of kernels",
		       text_time(ends_ns).s, text_time((double)t->depth * k->ns).s);
	if (!t->depth_max || 4 * t->depth <= t->depth_max)
		append_meaning(out, "; at --depth %ld the share would be about %.0f %%", (long)d4,
			       100 * ends_ns / (ends_ns + d4 * k->ns));
	else
		append_ways(out, t);
}

static void host_too_slow(struct overhead *out, const struct kernel_time *k, const struct timing *t)
{
	append_meaning(
		out,
		"submission-bound: the host needs %s to submit a step whose kernels take %s, and "
		"depth does not hide that",
		text_time(t->enq_ns / (double)t->depth).s, text_time(k->ns).s);
	append_ways(out, t);
}

static void gaps(struct overhead *out, const struct kernel_time *k, const struct timing *t)
{
	double gap_ns = (t->total_ns - k->ends_ns) / (double)t->depth - k->ns;

	append_meaning(out,
		       "gap-bound: kernels take %s per step and are %s apart, although "
		       "submitting costs the host only %s",
		       text_time(k->ns).s, text_time(fmax(0, gap_ns)).s,
		       text_time(t->enq_ns / (double)t->depth).s);
	append_ways(out, t);
}

/* Device-bound: little is left beyond the kernels; says where it goes. */
static void hidden(struct overhead *out, const struct kernel_time *k, const struct timing *t)
{
	double gap_ns = (t->total_ns - k->ends_ns) / (double)t->depth - k->ns;

	append_meaning(out,
		       "device-bound: submission is hidden behind the kernels; what is left are ");
	if (gap_ns * (double)t->depth > k->ends_ns)
		append_meaning(out, "gaps of %s between one step and the next",
			       text_time(gap_ns).s);
	else
		append_meaning(out, "the ends of a sample");
}

static void append_noise(struct overhead *out, const struct kernel_time *k)
{
	out->share = NAN;
	append_meaning(out,
		       "not known: timed by themselves the kernels took %s a step, more than in "
		       "whole samples; "
		       "the machine was busy, or those steps were longer ones",
		       text_time(k->ns).s);
}

void non_kernel_share(struct overhead *out, const struct kernel_time *k, const struct timing *t)
{
	double beyond_ns = t->total_ns - (double)t->depth * k->ns;

	*out = (struct overhead){ .share = beyond_ns / t->total_ns };
	if (k->unknown)
		append_meaning(out, "not known: %s", k->unknown);
	else if (out->share < -small_share)
		append_noise(out, k);
	else if (out->share < 0)
		append_meaning(
			out, "device-bound: what a sample takes beyond its kernels is below noise");
	else if (out->share < small_share)
		hidden(out, k, t);
	else if (k->ends_ns >= 0.5 * beyond_ns)
		too_shallow(out, k, t);
	else if (t->enq_ns >= 0.8 * t->total_ns)
		host_too_slow(out, k, t);
	else
		gaps(out, k, t);
}

/* ---- what a step's kernels take by themselves: the slope of two block lengths ----------- */

enum { PAIRS_MAX = 5, STEPS_MAX = 16384, SAME_STEPS_BLOCKS = 3, LONGER = 4 };

/* Blocks are made longer until the steps stand out of their ends, as long as one takes less, ns. */
static const double longest_block_ns = 1e9;

/* What pairs of blocks may take, ns, beyond the first pair: it alone is enough of long steps. */
static const double pairs_max_ns = 5e9;

/* A fused block of all steps is timed too where it takes no longer, ns. */
static const double same_steps_max_ns = 2e9;

static const char *const source_of[MODE_COUNT] = {
	[MODE_STREAM] = "slope of stream launches: includes gaps and what the host is late by",
	[MODE_GRAPH] = "slope of graph launches: includes gaps between kernels",
	[MODE_FUSED] = "slope of fused launches",
};

static int64_t clamp(double n, double low, double high)
{
	return (int64_t)(n < low ? low : n > high ? high : n);
}

/*
 * Half the depth, so that the longer block does what a timed block does: steps of one workload may
 * differ. But no less than about 0.25 ms, which is long against what the ends vary by, and no more
 * than 10 ms.
 */
static int64_t steps_for(double step_ns, int64_t depth, int64_t depth_max)
{
	int64_t least = clamp(ceil(2.5e5 / step_ns), 1, STEPS_MAX);
	int64_t steps = clamp((double)depth / 2, (double)least, fmax((double)least, 1e7 / step_ns));

	return depth_max && 2 * steps > depth_max ? depth_max / 2 : steps;
}

/* Short and long in turn, so that a drifting clock moves both alike. pair_ns: what both take. */
static int time_pairs(const struct submission *length, double pair_ns, double median_ns[2])
{
	int64_t total_ns[2][PAIRS_MAX];
	int n = (int)clamp(pairs_max_ns / pair_ns, 1, PAIRS_MAX);
	struct block b;
	int err;

	for (int i = n > 1 ? -1 : 0; i < n; i++) {
		for (int j = 0; j < 2; j++) {
			err = measure_block(&length[j], &b);
			if (err)
				return err;
			if (i >= 0) /* the first pair warms up */
				total_ns[j][i] = b.total_ns;
		}
	}
	for (int j = 0; j < 2; j++)
		median_ns[j] = stats_of(total_ns[j], n, 1).median;
	return 0;
}

/* n steps should take most of a block of n; where they take under a tenth, it is noise. */
static bool stands_out(const double median_ns[2])
{
	return median_ns[1] - median_ns[0] > 0.1 * median_ns[0];
}

/* Then what the ends vary by says little about the steps. */
static bool takes_most(const double median_ns[2])
{
	return median_ns[1] - median_ns[0] > 0.5 * median_ns[0];
}

static void take_slope(struct kernel_time *out, const double median_ns[2])
{
	double slope_ns = (median_ns[1] - median_ns[0]) / (double)out->steps;

	if (!stands_out(median_ns)) {
		out->unknown = "twice the steps took hardly longer: below noise";
		return;
	}
	out->ns = slope_ns;
	out->ends_ns = fmax(0, median_ns[0] - (double)out->steps * slope_ns);
}

/*
 * Where the slope had to be taken from fewer steps than a timed block has, its K may be that of
 * other steps: takes it from fused blocks of the same steps, less their ends.
 */
static int time_same_steps(struct kernel_time *out, const struct instance *instance, int64_t depth)
{
	struct submission all = { 0 };
	int64_t total_ns[SAME_STEPS_BLOCKS];
	struct block b;
	double ns;
	int err = submission_init(&all, instance, MODE_FUSED, depth);

	for (int i = 0; i < SAME_STEPS_BLOCKS && !err; i++) {
		err = measure_block(&all, &b);
		total_ns[i] = b.total_ns;
	}
	submission_release(&all);
	if (err)
		return err;
	ns = (stats_of(total_ns, SAME_STEPS_BLOCKS, 1).median - out->ends_ns) / (double)depth;
	if (ns > 0) {
		out->ns = ns;
		out->source = "one fused launch of the same steps, less its ends";
	}
	return 0;
}

static bool same_steps_wanted(const struct kernel_time *k, double step_ns, int64_t depth)
{
	return k->mode == MODE_FUSED && !k->unknown && depth > 2 * k->steps &&
	       step_ns * (double)depth <= same_steps_max_ns;
}

struct slope {
	struct kernel_time *out;
	const struct instance *instance;
	double step_ns;
	int64_t depth_max;
};

/* out->steps and twice as many. */
static int time_two_lengths(const struct slope *s, double median_ns[2])
{
	struct submission length[2] = { 0 };
	int64_t steps = s->out->steps;
	int err = submission_init(&length[0], s->instance, s->out->mode, steps);

	if (!err)
		err = submission_init(&length[1], s->instance, s->out->mode, 2 * steps);
	if (!err)
		err = time_pairs(length, 3 * s->step_ns * (double)steps, median_ns);
	submission_release(&length[0]);
	submission_release(&length[1]);
	return err;
}

/*
 * Where a wait takes long, behind a layer, steps are small beside the ends of a block: then LONGER
 * times as many, as long as that helps and takes a second a block at most.
 */
static int time_slope(void *slope)
{
	struct slope *s = slope;
	double median_ns[2];

	for (;;) {
		int64_t longer = LONGER * s->out->steps;
		int err = time_two_lengths(s, median_ns);

		if (err)
			return err;
		if (takes_most(median_ns) || LONGER * median_ns[1] > longest_block_ns ||
		    longer > STEPS_MAX || (s->depth_max && 2 * longer > s->depth_max))
			break;
		s->out->steps = longer;
	}
	take_slope(s->out, median_ns);
	return 0;
}

static void start(struct kernel_time *out, enum mode mode, int64_t steps)
{
	*out = (struct kernel_time){
		.ns = NAN, .ends_ns = NAN, .mode = mode, .source = source_of[mode], .steps = steps
	};
}

int kernel_time_measure(struct kernel_time *out, const struct instance *instance,
			const bool allowed[MODE_COUNT], double step_ns, int64_t depth,
			int64_t depth_max)
{
	struct slope s = { out, instance, step_ns, depth_max };
	struct refusal refusal;
	enum mode mode = allowed[MODE_FUSED]   ? MODE_FUSED
			 : allowed[MODE_GRAPH] ? MODE_GRAPH
					       : MODE_STREAM;
	int err;

	start(out, mode, steps_for(step_ns, depth, depth_max));
	if (out->steps < 1) {
		out->unknown = "only one step a synchronize is allowed, so there is no slope";
		return 0;
	}
	err = refusal_catch(time_slope, &s, &refusal);
	if (err == -ENOSYS && mode == MODE_GRAPH) { /* launches alone there are */
		refusal_settle_or_pass_on(instance->stream, &refusal);
		start(out, MODE_STREAM, steps_for(step_ns, depth, depth_max));
		err = time_slope(&s);
	}
	if (!err && same_steps_wanted(out, step_ns, depth))
		err = time_same_steps(out, instance, depth);
	return err;
}
