/* assemble.c - the visits of a point made into its record: all blocks, and a summary of them. */
#include "harness/record/point_record.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "harness/json.h"
#include "harness/stats.h"
#include "harness/record/record.h"

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

static json_t *whole(double ns)
{
	return isfinite(ns) ? json_integer((json_int_t)llround(ns)) : json_null();
}

static json_t *sample_json(const struct sample *s)
{
	const struct {
		const char *name;
		double ns;
	} rows[] = { { "min", s->min }, { "p10", s->p10 }, { "p25", s->p25 }, { "p75", s->p75 },
		     { "p90", s->p90 }, { "p99", s->p99 }, { "max", s->max }, { "mad", s->mad } };
	json_t *o = json_pack("{s:o}", "median", json_number(s->median));

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		json_object_set_new(o, rows[i].name, whole(rows[i].ns));
	return o;
}

/*
 * The blocks that count: not those with events. They are no fault, but not typical; without any
 * other, they are all there is.
 */
static int choose(const json_t *series, const json_t *marks, bool with_events, double *ns,
		  uint32_t *mark)
{
	size_t all = json_array_size(marks);
	int n = 0;

	for (size_t i = 0; i < all; i++) {
		uint32_t m = (uint32_t)json_integer_value(json_array_get(marks, i));

		if ((m & MARK_EVENTS) && !with_events)
			continue;
		ns[n] = json_number_value(json_array_get(series, i));
		mark[n++] = m & ~(uint32_t)MARK_EVENTS;
	}
	return n || with_events ? n : choose(series, marks, true, ns, mark);
}

struct series {
	double *ns;
	uint32_t *mark;
	int n;
};

static struct series series_of(const json_t *point, const char *name)
{
	const json_t *marks = json_object_get(point, "marks");
	size_t all = json_array_size(marks) + 1;
	struct series s = { calloc(all, sizeof(*s.ns)), calloc(all, sizeof(*s.mark)), 0 };

	CHECK(s.ns && s.mark, "memory of %zu blocks", all);
	s.n = choose(json_object_get(point, name), marks, false, s.ns, s.mark);
	return s;
}

static void series_release(struct series *s)
{
	free(s->ns);
	free(s->mark);
}

/* No blocks: NaN. */
static struct process_value value_of(const struct series *s)
{
	struct process_value v;

	if (process_value_of(&v, s->ns, s->mark, s->n))
		v = (struct process_value){ .marked_share = NAN };
	return v;
}

/* The two modes that the blocks fall into; null: they do not. */
static json_t *modes_json(const struct series *s)
{
	struct modality m;
	json_t *modes = json_array();

	if (modality_of(&m, s->ns, s->n) || !m.bimodal) {
		json_decref(modes);
		return json_null();
	}
	for (int i = 0; i < 2; i++)
		json_array_append_new(
			modes, json_pack("{s:o, s:o}", "median_ns", json_number(m.mode[i].median),
					 "share", json_number(round(1e4 * m.mode[i].share) / 1e4)));
	return modes;
}

json_t *assemble_summary(const json_t *point)
{
	struct series enqs = series_of(point, "t_enq_ns");
	struct series totals = series_of(point, "t_total_ns");
	struct process_value enq = value_of(&enqs), total = value_of(&totals);
	json_t *o = json_pack("{s:I, s:o, s:b, s:o, s:o, s:o}", "n", (json_int_t)total.used.n,
			      "share_marked", json_number(round(1e4 * total.marked_share) / 1e4),
			      "noisy", total.noisy, "modes", modes_json(&totals), "t_enq_ns",
			      sample_json(&enq.used), "t_total_ns", sample_json(&total.used));

	series_release(&enqs);
	series_release(&totals);
	return o;
}

/* ---- point ------------------------------------------------------------------------------ */

/* A copy of a check that says in which rounds there was one. */
static json_t *with_rounds(const json_t *check, json_t *const *visit, int rounds)
{
	json_t *o = json_copy((json_t *)(uintptr_t)check), *checked = json_array();

	for (int r = 0; r < rounds; r++)
		if (json_object_get(visit[r], "check"))
			json_array_append_new(checked, json_integer(r));
	json_object_set_new(o, "rounds", checked);
	return o;
}

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
	return worst ? with_rounds(worst, visit, rounds) : json_null();
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
	static const char *const same[] = { "launches_per_step", "step", "graph_steps", NULL };
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
	json_object_set_new(o, "summary", assemble_summary(o));
	return o;
}

double assembled_median(const json_t *point, const char *series)
{
	const json_t *s = json_object_get(json_object_get(point, "summary"), series);
	const json_t *median = json_object_get(s, "median");

	return json_is_number(median) ? json_number_value(median) : NAN;
}
