/* validate_point.c - are a point's blocks possible, its summary theirs, and its counts bounded? */
#include "harness/record/validate_point.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "harness/record/point_record.h"
#include "harness/record/record.h"

static const struct text nothing;

/* ---- arrays ----------------------------------------------------------------------------- */

static size_t length(const json_t *o, const char *name)
{
	return json_array_size(json_object_get(o, name));
}

/* Whole numbers from lo to hi. */
static bool are_whole(const json_t *o, const char *name, json_int_t lo, json_int_t hi)
{
	const json_t *v;
	size_t i;

	json_array_foreach(json_object_get(o, name), i, v)
	{
		if (!json_is_integer(v) || json_integer_value(v) < lo || json_integer_value(v) > hi)
			return false;
	}
	return true;
}

/* What is wrong with the arrays that a visit and a point have; "": nothing. */
static struct text blocks_wrong(const json_t *o)
{
	const json_t *enq = json_object_get(o, "t_enq_ns");
	const json_t *total = json_object_get(o, "t_total_ns");
	size_t n = json_array_size(total);

	if (json_array_size(enq) != n || length(o, "marks") != n)
		return (struct text){ "t_enq_ns, t_total_ns and marks are not of one length" };
	for (size_t i = 0; i < n; i++) {
		json_int_t e = json_integer_value(json_array_get(enq, i));
		json_int_t t = json_integer_value(json_array_get(total, i));

		if (e <= 0 || t < e)
			return (struct text){
				"a sample whose times cannot be: 0 < t_enq <= t_total"
			};
	}
	if (!are_whole(o, "marks", 0, MARK_ALL))
		return (struct text){ "marks that no sample can have" };
	return nothing;
}

/* ---- visit ------------------------------------------------------------------------------ */

static int count_marked(const json_t *o, enum mark mark)
{
	const json_t *v;
	size_t i;
	int n = 0;

	json_array_foreach(json_object_get(o, "marks"), i, v)
	{
		n += (json_integer_value(v) & mark) != 0;
	}
	return n;
}

/* Numbers that are added up over the visits; null: not known. */
static bool are_counts(const json_t *o, const char *const *name)
{
	for (; *name; name++) {
		const json_t *v = json_object_get(o, *name);

		if (v && !json_is_null(v) && (!json_is_integer(v) || json_integer_value(v) < 0))
			return false;
	}
	return true;
}

/* Two clocks, or none on a device without. */
static bool are_clocks(const json_t *mhz)
{
	if (!mhz || json_is_null(mhz))
		return true;
	for (size_t i = 0; i < json_array_size(mhz); i++)
		if (!json_is_integer(json_array_get(mhz, i)) &&
		    !json_is_null(json_array_get(mhz, i)))
			return false;
	return json_is_array(mhz);
}

static bool is_verdict(const char *state)
{
	return state && (!strcmp(state, "passed") || !strcmp(state, "failed"));
}

struct text visit_wrong(const json_t *visit)
{
	static const char *const counts[] = { "point",	     "round",	"utime_us",    "stime_us",
					      "steal_ticks", "retries", "graph_steps", NULL };
	const json_t *check = json_object_get(visit, "check");
	const json_t *launches = json_object_get(visit, "launches_per_step");
	const json_t *step = json_object_get(visit, "step");
	const json_t *crc = json_object_get(visit, "crc32");
	struct text wrong = blocks_wrong(visit);

	if (*wrong.s)
		return wrong;
	if (!json_is_integer(json_object_get(visit, "point")) ||
	    !json_is_integer(json_object_get(visit, "round")) || !are_counts(visit, counts))
		return (struct text){ "point, round and counts must be whole numbers" };
	if (!length(visit, "t_total_ns"))
		return (struct text){ "a visit without samples" };
	if (length(visit, "t_dev_ns") != (size_t)count_marked(visit, MARK_EVENTS) ||
	    !are_whole(visit, "t_dev_ns", 0, INT64_MAX))
		return (struct text){ "t_dev_ns is not of the samples with mark 16" };
	if (length(visit, "canary_ns") != 2 || !are_whole(visit, "canary_ns", 0, INT64_MAX) ||
	    !are_clocks(json_object_get(visit, "sm_clock_mhz")))
		return (struct text){ "canary_ns or sm_clock_mhz is not of two canaries" };
	if (json_object_get(visit, "host_canary_ns") &&
	    (length(visit, "host_canary_ns") != 2 ||
	     !are_whole(visit, "host_canary_ns", 1, INT64_MAX)))
		return (struct text){ "host_canary_ns is not of two canaries" };
	if ((launches && !json_is_number(launches)) || (step && !json_is_object(step)) ||
	    (check && !json_is_object(check)))
		return (struct text){ "launches_per_step, step or check is of the wrong kind" };
	if (check && !is_verdict(json_string_value(json_object_get(check, "state"))))
		return (struct text){ "a check that neither passed nor failed" };
	if (crc && json_integer_value(crc) != record_crc32(visit))
		return (struct text){ "crc32 is not of this line" };
	return nothing;
}

/* ---- summary ---------------------------------------------------------------------------- */

/* Reals are written with 12 digits. */
static bool same_number(double x, double y)
{
	return fabs(x - y) <= 1e-9 * fmax(fabs(x), fabs(y));
}

/* Members that only one has do not count: another version may have more. */
static bool are_equal(const json_t *x, const json_t *y)
{
	const char *name;
	json_t *v;

	if (json_is_number(x) && json_is_number(y))
		return same_number(json_number_value(x), json_number_value(y));
	if (json_is_array(x) && json_is_array(y)) {
		bool same = json_array_size(x) == json_array_size(y);

		for (size_t i = 0; i < json_array_size(x) && same; i++)
			same = are_equal(json_array_get(x, i), json_array_get(y, i));
		return same;
	}
	if (!json_is_object(x) || !json_is_object(y))
		return json_equal(x, y);
	json_object_foreach((json_t *)(uintptr_t)x, name, v)
	{
		const json_t *other = json_object_get(y, name);

		if (other && !are_equal(v, other))
			return false;
	}
	return true;
}

/* Drops the reference of found. */
static struct text summary_differs(const json_t *said, json_t *found)
{
	struct text wrong = nothing;
	const char *name;
	json_t *v;

	json_object_foreach(found, name, v)
	{
		const json_t *other = json_object_get(said, name);

		if (other && !are_equal(other, v))
			snprintf(wrong.s, sizeof(wrong.s),
				 "summary.%.20s is not that of the samples", name);
	}
	json_decref(found);
	return wrong;
}

/* By today's rule or the former one: a later rift may have gone on with a session. */
static struct text summary_wrong(const json_t *point)
{
	const json_t *said = json_object_get(point, "summary");
	struct text wrong = summary_differs(said, assemble_summary(point));

	if (!json_object_get(said, "t_enq_ns") || !json_object_get(said, "t_total_ns"))
		return (struct text){ "a summary without t_enq_ns or t_total_ns" };
	if (*wrong.s && !*summary_differs(said, assemble_former_summary(point)).s)
		return nothing;
	return wrong;
}

/* ---- counts ----------------------------------------------------------------------------- */

/* Launches, calls and bytes of a step: no more bytes than addresses, so that no product of them
 * with times leaves the range of a double. */
static const double count_max = 0x1p63;

static bool is_bounded(const json_t *v)
{
	const char *name;
	json_t *member;

	if (json_is_number(v))
		return json_number_value(v) >= 0 && json_number_value(v) <= count_max;
	json_object_foreach((json_t *)(uintptr_t)v, name, member)
	{
		if (!is_bounded(member))
			return false;
	}
	return true;
}

static struct text counts_wrong(const json_t *point)
{
	static const char *const names[] = { "launches_per_step", "step" };
	struct text wrong = nothing;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!is_bounded(json_object_get(point, names[i])))
			snprintf(wrong.s, sizeof(wrong.s), "%s: counts are 0 to 2^63", names[i]);
	return wrong;
}

/* The same of a point with blocks, in at most so many rounds, and its summary. */
static struct text measured_wrong(const json_t *point, int rounds)
{
	size_t n = length(point, "t_total_ns");
	struct text wrong = blocks_wrong(point);

	if (!*wrong.s)
		wrong = counts_wrong(point);
	if (*wrong.s)
		return wrong;
	if (!n)
		return (struct text){ "a measured point without samples" };
	if (json_integer_value(json_object_get(point, "blocks")) != (json_int_t)n ||
	    length(point, "round_of_block") != n)
		return (struct text){ "blocks and round_of_block do not agree with the arrays" };
	if (!are_whole(point, "round_of_block", 0, rounds - 1))
		return (struct text){ "a round that is not planned" };
	return summary_wrong(point);
}

/* ---- without blocks --------------------------------------------------------------------- */

/* The rounds from which a pair's ratio comes are one or two. */
static struct text turns_wrong(const json_t *turns)
{
	const json_t *ns;
	size_t r;

	for (int k = 0; turns && k < TURN_SERIES; k++) {
		const json_t *times = json_object_get(turns, turn_series[k]);

		if (json_array_size(times) < 1 || json_array_size(times) > 2)
			return (struct text){ "turns is not of one round or two" };
		json_array_foreach(times, r, ns)
		{
			if (!(json_number_value(ns) > 0))
				return (struct text){ "a time of turns must be a number above 0" };
		}
	}
	return nothing;
}

/* What is wrong with a measured point of a thinned record. */
static struct text thinned_wrong(const json_t *point)
{
	const json_t *summary = json_object_get(point, "summary");
	double enq_ns = summary_median(summary, "t_enq_ns");
	double total_ns = summary_median(summary, "t_total_ns");
	struct text wrong = counts_wrong(point);

	if (*wrong.s)
		return wrong;
	if (!(enq_ns > 0) || !(total_ns >= enq_ns))
		return (struct text){ "medians that cannot be: 0 < t_enq <= t_total" };
	return turns_wrong(json_object_get(point, "turns"));
}

struct text point_wrong(const json_t *point, int rounds, bool is_thinned)
{
	return is_thinned ? thinned_wrong(point) : measured_wrong(point, rounds);
}
