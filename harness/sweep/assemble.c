/* assemble.c - the visits of a point made into its record: all blocks, and a summary of them. */
#include "harness/sweep/assemble.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "harness/json.h"
#include "harness/sweep/calibrate.h"
#include "harness/sweep/record.h"

/* ---- arrays ----------------------------------------------------------------------------- */

/* The arrays of one name, one after the other. */
static json_t *joined(json_t *const *visit, int rounds, const char *name)
{
	json_t *all = json_array();

	for (int r = 0; r < rounds; r++)
		if (visit[r])
			json_array_extend(all, json_object_get(visit[r], name));
	return all;
}

/* The round of each block. */
static json_t *rounds_of_blocks(json_t *const *visit, int rounds)
{
	json_t *all = json_array();

	for (int r = 0; r < rounds; r++) {
		size_t n = visit[r] ? json_array_size(json_object_get(visit[r], "t_total_ns")) : 0;

		while (n--)
			json_array_append_new(all, json_integer(r));
	}
	return all;
}

static json_int_t sum(json_t *const *visit, int rounds, const char *name)
{
	json_int_t total = 0;

	for (int r = 0; r < rounds; r++)
		total += json_integer_value(json_object_get(visit[r], name));
	return total;
}

/* ---- summary ---------------------------------------------------------------------------- */

static double at(const json_t *array, size_t i)
{
	return json_number_value(json_array_get(array, i));
}

/* Between the two neighbours, of sorted values. */
static double quantile(const double *v, int n, double q)
{
	double x = q * (n - 1);
	int i = (int)x;

	return i + 1 < n ? v[i] + (x - i) * (v[i + 1] - v[i]) : v[n - 1];
}

static json_t *whole(double ns)
{
	return isfinite(ns) ? json_integer((json_int_t)llround(ns)) : json_null();
}

/* Of n values, which are sorted here. */
static json_t *describe(double *v, int n)
{
	static const struct {
		const char *name;
		double q;
	} quantiles[] = { { "min", 0 },	  { "p10", 0.1 },  { "p25", 0.25 }, { "p75", 0.75 },
			  { "p90", 0.9 }, { "p99", 0.99 }, { "max", 1 } };
	double median = median_of(v, n);
	json_t *o = json_object();

	json_object_set_new(o, "median", n ? json_real(median) : json_null());
	for (size_t i = 0; i < sizeof(quantiles) / sizeof(*quantiles); i++)
		json_object_set_new(o, quantiles[i].name,
				    n ? whole(quantile(v, n, quantiles[i].q)) : json_null());
	for (int i = 0; i < n; i++)
		v[i] = fabs(v[i] - median);
	json_object_set_new(o, "mad", whole(median_of(v, n)));
	return o;
}

/* What can be said against a block; that it had events is no fault, but it is not typical. */
static bool is_left_out(int marks)
{
	return marks != 0;
}

static bool is_faulty(int marks)
{
	return (marks & ~MARK_EVENTS) != 0;
}

struct blocks_seen {
	int n, kept, marked;
	bool noisy; /* too few are unmarked: all were taken */
};

/* Which blocks count, by measurement's rule: the unmarked, or all where those are too few. */
static struct blocks_seen choose(const json_t *marks)
{
	struct blocks_seen s = { .n = (int)json_array_size(marks) };
	int plain = 0;

	for (int i = 0; i < s.n; i++) {
		int m = (int)json_integer_value(json_array_get(marks, (size_t)i));

		s.kept += !is_left_out(m);
		s.marked += is_faulty(m);
		plain += !(m & MARK_EVENTS);
	}
	s.noisy = 2 * s.kept < plain || !s.kept;
	if (s.noisy)
		s.kept = s.n;
	return s;
}

static json_t *summary_of(const json_t *series, const json_t *marks, const struct blocks_seen *s)
{
	double *v = calloc((size_t)s->n + 1, sizeof(*v));
	json_t *o;
	int n = 0;

	CHECK(v, "memory of %d blocks", s->n);
	for (int i = 0; i < s->n; i++)
		if (s->noisy ||
		    !is_left_out((int)json_integer_value(json_array_get(marks, (size_t)i))))
			v[n++] = at(series, (size_t)i);
	o = describe(v, n);
	free(v);
	return o;
}

static json_t *summary(const json_t *point)
{
	const json_t *marks = json_object_get(point, "marks");
	struct blocks_seen s = choose(marks);

	return json_pack("{s:i, s:f, s:b, s:o, s:o}", "n", s.kept, "share_marked",
			 s.n ? round(1e4 * s.marked / s.n) / 1e4 : 0.0, "noisy", s.noisy,
			 "t_enq_ns", summary_of(json_object_get(point, "t_enq_ns"), marks, &s),
			 "t_total_ns", summary_of(json_object_get(point, "t_total_ns"), marks, &s));
}

/* ---- point ------------------------------------------------------------------------------ */

/* The worst of the rounds' checks: a failed one, else the last, else null. */
static json_t *worst_check(json_t *const *visit, int rounds, bool *failed)
{
	json_t *worst = NULL;

	*failed = false;
	for (int r = 0; r < rounds && !*failed; r++) {
		json_t *check = json_object_get(visit[r], "check");
		const char *state = json_string_value(json_object_get(check, "state"));

		if (!check)
			continue;
		worst = check;
		*failed = !state || strcmp(state, "passed");
	}
	return worst ? json_incref(worst) : json_null();
}

/* What every visit says alike, where any says it. */
static void copy_first(json_t *o, json_t *const *visit, int rounds, const char *name)
{
	for (int r = 0; r < rounds; r++) {
		json_t *value = json_object_get(visit[r], name);

		if (value) {
			json_object_set(o, name, value);
			return;
		}
	}
}

json_t *assemble_point(json_t *const *visit, int rounds)
{
	static const char *const arrays[] = { "t_enq_ns",  "t_total_ns",   "t_dev_ns", "marks",
					      "canary_ns", "sm_clock_mhz", NULL };
	static const char *const sums[] = { "utime_us", "stime_us", "steal_ticks", "retries",
					    NULL };
	static const char *const same[] = { "launches_per_step", "graph_steps", NULL };
	json_t *o = json_object(), *check;
	bool failed;
	int seen = 0;

	for (int r = 0; r < rounds; r++)
		seen += visit[r] != NULL;
	check = worst_check(visit, rounds, &failed);
	json_object_set_new(o, "status", json_string(failed ? "check_failed" : "ok"));
	json_object_set_new(o, "rounds", json_integer(seen));
	for (int i = 0; arrays[i]; i++)
		json_object_set_new(o, arrays[i], joined(visit, rounds, arrays[i]));
	if (json_is_null(json_array_get(json_object_get(o, "sm_clock_mhz"), 0)))
		json_object_set_new(o, "sm_clock_mhz", json_null());
	json_object_set_new(o, "round_of_block", rounds_of_blocks(visit, rounds));
	json_object_set_new(
		o, "blocks",
		json_integer((json_int_t)json_array_size(json_object_get(o, "t_total_ns"))));
	for (int i = 0; sums[i]; i++)
		json_object_set_new(o, sums[i], json_integer(sum(visit, rounds, sums[i])));
	for (int i = 0; same[i]; i++)
		copy_first(o, visit, rounds, same[i]);
	json_object_set_new(o, "check", check);
	json_object_set_new(o, "summary", summary(o));
	return o;
}

double assembled_median(const json_t *point, const char *series)
{
	const json_t *s = json_object_get(json_object_get(point, "summary"), series);
	const json_t *median = json_object_get(s, "median");

	return json_is_number(median) ? json_number_value(median) : NAN;
}
