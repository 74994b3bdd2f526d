/* point_record.c - the record of a point: of its visits, what a step costs, and a line of CSV. */
#include "harness/record/point_record.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "common/cost.h"
#include "harness/base/json.h"
#include "harness/record/fields.h"
#include "harness/record/record.h"
#include "harness/stats/stats.h"

/* ---- arrays ----------------------------------------------------------------------------- */

/* The arrays of one name, one after the other. Rounds without a visit (NULL) have none. */
static json_t *join_rounds(json_t *const *visit, int rounds, const char *name)
{
	json_t *all = json_array();

	for (int r = 0; r < rounds; r++)
		json_array_extend(all, json_object_get(visit[r], name));
	return all;
}

/* The round of each block. */
static json_t *rounds_of_blocks(json_t *const *visit, int rounds)
{
	json_t *all = json_array();

	for (int r = 0; r < rounds; r++) {
		size_t n = json_array_size(json_object_get(visit[r], "t_total_ns"));

		while (n--)
			json_array_append_new(all, json_integer(r));
	}
	return all;
}

/* Not known of one visit: not known of all. */
static json_t *sum_visits(json_t *const *visit, int rounds, const char *name)
{
	json_int_t total = 0;

	for (int r = 0; r < rounds; r++) {
		const json_t *v = json_object_get(visit[r], name);

		if (json_is_null(v))
			return json_null();
		total += json_integer_value(v);
	}
	return json_integer(total);
}

/* ---- summary ---------------------------------------------------------------------------- */

static json_t *whole_ns(double ns)
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
		json_object_set_new(o, rows[i].name, whole_ns(rows[i].ns));
	return o;
}

/* How a summary is made of blocks: which marks say that one was disturbed, and what is noisy. */
struct rule {
	uint32_t disturbed;
	bool few_are_noisy; /* fewer than half without such a mark */
};

static const struct rule rule_now = { MARK_DISTURBED, false };
/* Before schema 2.3. */
static const struct rule rule_before = { MARK_DISTURBED | MARK_QUEUE, true };

/*
 * The blocks that count: not those with events. They are no fault, but not typical; without any
 * other, they are all there is.
 */
static int choose_blocks(const json_t *series, const json_t *marks, const struct rule *rule,
			 bool with_events, double *ns, uint32_t *mark)
{
	size_t all = json_array_size(marks);
	int n = 0;

	for (size_t i = 0; i < all; i++) {
		uint32_t m = (uint32_t)json_integer_value(json_array_get(marks, i));

		if ((m & MARK_EVENTS) && !with_events)
			continue;
		ns[n] = json_number_value(json_array_get(series, i));
		mark[n++] = m & rule->disturbed;
	}
	return n || with_events ? n : choose_blocks(series, marks, rule, true, ns, mark);
}

struct series {
	double *ns;
	uint32_t *mark;
	int n;
};

static struct series series_of(const json_t *point, const char *name, const struct rule *rule)
{
	const json_t *marks = json_object_get(point, "marks");
	size_t all = json_array_size(marks);
	struct series s = { calloc(all + 1, sizeof(*s.ns)), calloc(all + 1, sizeof(*s.mark)), 0 };

	CHECK(s.ns && s.mark, "memory of %zu blocks", all);
	s.n = choose_blocks(json_object_get(point, name), marks, rule, false, s.ns, s.mark);
	return s;
}

static void series_release(struct series *s)
{
	free(s->ns);
	free(s->mark);
}

/* No blocks: NaN. */
static struct process_value value_of(const struct series *s, const struct rule *rule)
{
	struct process_value v;

	if (process_value_of(&v, s->ns, s->mark, s->n))
		v = (struct process_value){ .marked_share = NAN };
	v.noisy |= rule->few_are_noisy && v.marked_share > 0.5;
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

static json_t *summary_by(const struct rule *rule, const json_t *point)
{
	struct series enqs = series_of(point, "t_enq_ns", rule);
	struct series totals = series_of(point, "t_total_ns", rule);
	struct process_value enq = value_of(&enqs, rule), total = value_of(&totals, rule);
	json_t *o = json_pack("{s:I, s:o, s:b, s:o, s:o, s:o}", "n", (json_int_t)total.used.n,
			      "share_marked", json_number(round(1e4 * total.marked_share) / 1e4),
			      "noisy", total.noisy, "modes", modes_json(&totals), "t_enq_ns",
			      sample_json(&enq.used), "t_total_ns", sample_json(&total.used));

	series_release(&enqs);
	series_release(&totals);
	return o;
}

json_t *assemble_summary(const json_t *point)
{
	return summary_by(&rule_now, point);
}

json_t *assemble_former_summary(const json_t *point)
{
	return summary_by(&rule_before, point);
}

json_t *point_summary(const json_t *point)
{
	if (json_array_size(json_object_get(point, "marks")))
		return assemble_summary(point);
	return json_incref(json_object_get(point, "summary"));
}

double summary_median(const json_t *summary, const char *series)
{
	const json_t *median = json_object_get(json_object_get(summary, series), "median");

	return json_is_number(median) ? json_number_value(median) : NAN;
}

/* ---- turns ------------------------------------------------------------------------------ */

const char *const turn_series[TURN_SERIES] = { "t_total_ns", "t_enq_ns" };

/* Is block i of the round, and neither disturbed nor one with events? */
static bool is_good(const json_t *rounds, const json_t *marks, size_t i, int round)
{
	json_int_t mark = json_integer_value(json_array_get(marks, i));

	return json_integer_value(json_array_get(rounds, i)) == round &&
	       !(mark & (MARK_DISTURBED | MARK_EVENTS));
}

static double median_of_blocks(const json_t *point, const char *name, int round)
{
	const json_t *rounds = json_object_get(point, "round_of_block"), *of;
	const json_t *ns = json_object_get(point, name), *marks = json_object_get(point, "marks");
	double *of_round = calloc(json_array_size(rounds) + 1, sizeof(*of_round)), median;
	int n = 0, good = 0;
	size_t i;

	CHECK(of_round, "memory of %zu blocks", json_array_size(rounds));
	json_array_foreach(rounds, i, of) good += is_good(rounds, marks, i, round);
	json_array_foreach(rounds, i, of)
	{
		if (good ? is_good(rounds, marks, i, round) : json_integer_value(of) == round)
			of_round[n++] = json_number_value(json_array_get(ns, i));
	}
	median = median_of(of_round, n);
	free(of_round);
	return median;
}

double point_turn_ns(const json_t *point, int series, int round)
{
	const json_t *kept = json_object_get(json_object_get(point, "turns"), turn_series[series]);
	const json_t *ns = json_array_get(kept, (size_t)round);

	if (kept)
		return json_is_number(ns) ? json_number_value(ns) : NAN;
	return median_of_blocks(point, turn_series[series], round);
}

double point_host_ns(const json_t *point)
{
	const json_t *all = json_object_get(point, "host_canary_ns"), *v;
	double *ns = calloc(json_array_size(all) + 1, sizeof(*ns)), median;
	size_t i;

	CHECK(ns, "memory of %zu canaries", json_array_size(all));
	json_array_foreach(all, i, v) ns[i] = json_number_value(v);
	median = median_of(ns, (int)json_array_size(all));
	free(ns);
	return median;
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

/* What the table says that a point makes of its visits. */
static void take_field(json_t *o, json_t *const *visit, int rounds, const struct record_field *f)
{
	if (f->flags & FIELD_JOINED)
		json_object_set_new(o, f->name, join_rounds(visit, rounds, f->name));
	if (f->flags & FIELD_SUMMED)
		json_object_set_new(o, f->name, sum_visits(visit, rounds, f->name));
	if (f->flags & FIELD_ALIKE)
		copy_first(o, visit, rounds, f->name);
}

json_t *assemble_point(json_t *const *visit, int rounds)
{
	json_t *o = json_object(), *check;
	bool failed;
	int seen = 0;

	for (int r = 0; r < rounds; r++)
		seen += visit[r] != NULL;
	check = worst_check(visit, rounds, &failed);
	json_object_set_new(o, "status", json_string(failed ? "check_failed" : "ok"));
	json_object_set_new(o, "rounds", json_integer(seen));
	for (const struct record_field *f = record_fields; f->record; f++)
		if (!strcmp(f->record, "point"))
			take_field(o, visit, rounds, f);
	if (json_is_null(json_array_get(json_object_get(o, "sm_clock_mhz"), 0)))
		json_object_set_new(o, "sm_clock_mhz", json_null());
	json_object_set_new(o, "round_of_block", rounds_of_blocks(visit, rounds));
	json_object_set_new(
		o, "blocks",
		json_integer((json_int_t)json_array_size(json_object_get(o, "t_total_ns"))));
	json_object_set_new(o, "check", check);
	json_object_set_new(o, "summary", assemble_summary(o));
	return o;
}

/* ---- what a workload counts of a step --------------------------------------------------- */

static json_t *copies_json(const struct copies *c)
{
	return json_pack("{s:f, s:f}", "calls", c->calls, "bytes", c->bytes);
}

json_t *work_count_json(const struct cost *c)
{
	return json_pack("{s:f, s:o, s:o, s:o, s:b, s:f}", "launches", c->launches, "to_device",
			 copies_json(&c->to_device), "to_host", copies_json(&c->to_host), "within",
			 copies_json(&c->within), "pageable", c->pageable, "allocations",
			 c->allocations);
}

void work_count_take(struct cost *out, const json_t *step)
{
	struct cost c = { 0 };
	int pageable;

	if (step &&
	    !json_unpack((json_t *)(uintptr_t)step,
			 "{s:F, s:{s:F, s:F}, s:{s:F, s:F}, s:{s:F, s:F}, s:b, s:F}", "launches",
			 &c.launches, "to_device", "calls", &c.to_device.calls, "bytes",
			 &c.to_device.bytes, "to_host", "calls", &c.to_host.calls, "bytes",
			 &c.to_host.bytes, "within", "calls", &c.within.calls, "bytes",
			 &c.within.bytes, "pageable", &pageable, "allocations", &c.allocations)) {
		c.pageable = pageable;
		*out = c;
	}
}

/* ---- summaries as CSV ------------------------------------------------------------------- */

void csv_value(FILE *out, const json_t *v)
{
	char *text;

	if (json_is_string(v)) {
		const char *s = json_string_value(v);

		if (!strpbrk(s, ",\"\n")) {
			fputs(s, out);
			return;
		}
		fputc('"', out);
		for (; *s; s++)
			fprintf(out, *s == '"' ? "\"\"" : "%c", *s);
		fputc('"', out);
		return;
	}
	if (!v || json_is_null(v))
		return;
	text = json_dumps(v, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(10));
	CHECK(text, "memory of a value");
	/* a list of numbers: its commas are no columns */
	fprintf(out, strchr(text, ',') ? "\"%s\"" : "%s", text);
	free(text);
}

/* A name of a column, or its value in o; after a comma, except at the beginning of a line. */
static void put_cell(struct csv_points *c, const json_t *o, const char *of, const char *name)
{
	if (!c->at_start)
		fputc(',', c->out);
	c->at_start = false;
	if (o)
		csv_value(c->out, json_object_get(o, name));
	else
		fprintf(c->out, "%s%s%s", of, *of ? "_" : "", name);
}

/* The parameters and other axes of the first point. */
static void put_axes(struct csv_points *c, const json_t *axes)
{
	for (size_t i = 0; i < json_array_size(c->columns); i++)
		put_cell(c, axes, "", json_string_value(json_array_get(c->columns, i)));
}

static const json_t *part(const json_t *o, const char *name)
{
	const json_t *value = json_object_get(o, name);

	return value || !o ? value : json_null();
}

/*
 * The columns of a record in the table of fields: of o, or their names if o is NULL. `of` comes
 * before a name: there are two medians.
 */
static void put_columns(struct csv_points *c, const char *record, const json_t *o, const char *of)
{
	for (const struct record_field *f = record_fields; f->record; f++) {
		const char *parts = field_parts(f);

		if (strcmp(f->record, record) || !(f->flags & FIELD_COLUMN))
			continue;
		if (!strcmp(f->name, "axes"))
			put_axes(c, part(o, f->name));
		else if (parts)
			put_columns(c, parts, part(o, f->name),
				    strcmp(parts, "series") ? "" : f->name);
		else
			put_cell(c, o, of, f->name);
	}
}

static void put_line(struct csv_points *c, const json_t *point)
{
	c->at_start = true;
	put_columns(c, "point", point, "");
	fputc('\n', c->out);
}

static json_t *names_of(const json_t *axes)
{
	json_t *names = json_array(), *v;
	const char *name;

	json_object_foreach((json_t *)(uintptr_t)axes, name, v)
	{
		json_array_append_new(names, json_string(name));
	}
	return names;
}

void csv_point(struct csv_points *c, const json_t *point)
{
	const char *side = json_string_value(json_object_get(point, "side"));
	json_t *today;

	if (c->side && side && strcmp(side, c->side))
		return;
	if (!c->columns) {
		c->columns = names_of(json_object_get(point, "axes"));
		put_line(c, NULL);
	}
	today = json_copy((json_t *)(uintptr_t)point);
	json_object_set_new(today, "summary", point_summary(point));
	put_line(c, today);
	json_decref(today);
}

void csv_points_release(struct csv_points *c)
{
	json_decref(c->columns);
	*c = (struct csv_points){ 0 };
}
