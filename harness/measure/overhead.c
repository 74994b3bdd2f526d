/* overhead.c - what a block takes beyond its kernels, and what that means in plain words. */
#include "harness/measure/overhead.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "harness/base/text.h"

/* Below this share nobody would change anything; a block's median resolves less than it. */
static const double small_share = 0.10;

static void say(struct overhead *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void say(struct overhead *out, const char *fmt, ...)
{
	size_t used = strlen(out->meaning);
	va_list args;

	va_start(args, fmt);
	vsnprintf(out->meaning + used, sizeof(out->meaning) - used, fmt, args);
	va_end(args);
}

/* "; try --mode graph, --mode fused or a larger 'cells'": what is allowed and not in use. */
static void say_what_to_try(struct overhead *out, const struct timing *t)
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
		say(out, "%s%s", i == 0 ? "; try " : i == n - 1 ? " or " : ", ", way[i]);
}

static void too_shallow(struct overhead *out, const struct kernel_time *k, const struct timing *t)
{
	double d4 = 4 * (double)t->depth;
	/* the line through two lengths may cross the axis above what this block really has */
	double ends_ns = fmin(k->ends_ns, t->total_ns - (double)t->depth * k->ns);

	say(out,
	    "depth is small: submitting, starting and synchronizing cost %s a block, against %s "
	    "of kernels",
	    text_time(ends_ns).s, text_time((double)t->depth * k->ns).s);
	if (!t->depth_max || 4 * t->depth <= t->depth_max)
		say(out, "; at --depth %ld the share would be about %.0f %%", (long)d4,
		    100 * ends_ns / (ends_ns + d4 * k->ns));
	else
		say_what_to_try(out, t);
}

static void host_too_slow(struct overhead *out, const struct kernel_time *k, const struct timing *t)
{
	say(out,
	    "submission-bound: the host needs %s to submit a step whose kernels take %s, and "
	    "depth does not hide that",
	    text_time(t->enq_ns / (double)t->depth).s, text_time(k->ns).s);
	say_what_to_try(out, t);
}

static void gaps(struct overhead *out, const struct kernel_time *k, const struct timing *t)
{
	double gap_ns = (t->total_ns - k->ends_ns) / (double)t->depth - k->ns;

	say(out,
	    "gap-bound: kernels that take %s a step stand %s apart, though submitting costs the "
	    "host only %s",
	    text_time(k->ns).s, text_time(fmax(0, gap_ns)).s,
	    text_time(t->enq_ns / (double)t->depth).s);
	say_what_to_try(out, t);
}

/* Device-bound: little is left beyond the kernels; says where it goes. */
static void hidden(struct overhead *out, const struct kernel_time *k, const struct timing *t)
{
	double gap_ns = (t->total_ns - k->ends_ns) / (double)t->depth - k->ns;

	say(out, "device-bound: submission is hidden behind the kernels; what is left are ");
	if (gap_ns * (double)t->depth > k->ends_ns)
		say(out, "gaps of %s between one step and the next", text_time(gap_ns).s);
	else
		say(out, "the ends of a block");
}

static void say_too_noisy(struct overhead *out, const struct kernel_time *k)
{
	out->share = NAN;
	say(out,
	    "not known: timed by themselves the kernels took %s a step, more than in whole blocks; "
	    "the machine was busy, or those steps were longer ones",
	    text_time(k->ns).s);
}

void overhead_of(struct overhead *out, const struct kernel_time *k, const struct timing *t)
{
	double beyond_ns = t->total_ns - (double)t->depth * k->ns;

	*out = (struct overhead){ .share = beyond_ns / t->total_ns };
	if (k->unknown)
		say(out, "not known: %s", k->unknown);
	else if (out->share < -small_share)
		say_too_noisy(out, k);
	else if (out->share < 0)
		say(out, "device-bound: what a block takes beyond its kernels is below noise");
	else if (out->share < small_share)
		hidden(out, k, t);
	else if (k->ends_ns >= 0.5 * beyond_ns)
		too_shallow(out, k, t);
	else if (t->enq_ns >= 0.8 * t->total_ns)
		host_too_slow(out, k, t);
	else
		gaps(out, k, t);
}
