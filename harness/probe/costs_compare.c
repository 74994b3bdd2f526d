/*
 * costs_compare.c - two costs files or grids: what do calls cost on B over A, for people and for
 * machines. What grids have of their own is in grid_compare.c.
 */
#include "harness/probe/costs_compare_impl.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "common/plural.h"
#include "harness/base/json.h"
#include "harness/base/row.h"
#include "harness/base/text.h"
#include "harness/compare/compare.h"
#include "harness/compare/format.h"
#include "harness/compare/parameters.h"
#include "harness/compare/environment_diff.h"
#include "harness/platform/platform.h"
#include "harness/probe/grid.h"
#include "harness/record/environment.h"
#include "harness/record/recorded.h"
#include "harness/stats/interval_json.h"

/* ---- pairs ------------------------------------------------------------------------------ */

static bool is_rate(const struct costs_pair *p)
{
	return !strcmp(p->unit, "GB/s");
}

/* us; of a rate of 1 GB/s a megabyte takes a millisecond. */
static double time_of(const struct costs_pair *p, double value)
{
	return is_rate(p) ? 1e3 / value : value;
}

/* Times are judged; numbers of launches and bytes are shown. */
static bool is_time(const struct costs_pair *p)
{
	return is_rate(p) || !strcmp(p->unit, "us");
}

bool costs_pair_times(const struct costs_comparison *c, struct costs_pair *p,
		      struct process_times *t)
{
	for (int k = 0; k < 2; k++) {
		int n = costs_processes(c->costs[k]);
		double copy[COSTS_PROCESSES_MAX];

		if (!costs_values(c->costs[k], p->row[k], t->of[k]) || !all_finite(t->of[k], n))
			return false;
		memcpy(copy, t->of[k], (size_t)n * sizeof(*copy));
		p->value[k] = median_of(copy, n);
		for (int i = 0; i < n; i++)
			t->of[k][i] = time_of(p, t->of[k][i]);
	}
	return true;
}

void costs_pair_judge(const struct costs_comparison *c, const struct contrast *by,
		      struct costs_pair *p, const struct process_times *t)
{
	struct point_pair values = { .b = t->of[PAIR_B], .a = t->of[PAIR_A] };
	bool has_floor = !is_rate(p) && p->kind != GRID_SLOPE;

	if (!is_time(p) || contrast_ratio(&p->ratio, by, &values))
		return;
	if (contrast_difference(&p->difference, by, &values))
		p->difference = interval_unknown(0);
	p->judged = contrast_judge(by, &values, c->options.margin,
				   has_floor ? 1e-3 * PARAMETER_FLOOR_NS : 0);
}

void costs_pair_init(struct costs_pair *p)
{
	p->ratio = p->difference = interval_unknown(0);
	p->judged = judged_unknown();
	p->value[0] = p->value[1] = NAN;
}

static void compare_pair(const struct costs_comparison *c, const struct contrast *by,
			 struct costs_pair *p)
{
	struct process_times t = { .of = { { 0 } } };

	costs_pair_init(p);
	p->known = costs_pair_times(c, p, &t);
	if (p->known)
		costs_pair_judge(c, by, p, &t);
}

/* ---- which rows ------------------------------------------------------------------------- */

static bool is_on_page(const json_t *row)
{
	for (const struct costs_line *l = costs_lines; l->workload; l++)
		if (!strcmp(l->workload, json_get_text(row, "workload")) &&
		    !strcmp(l->name, json_get_text(row, "name")))
			return true;
	return false;
}

/* line: NULL for rows that are not on the page. False where B has no such row. */
static bool add_pair(struct costs_comparison *c, const json_t *row, const struct costs_line *line,
		     const char *section)
{
	const char *workload = json_get_text(row, "workload"), *name = json_get_text(row, "name");
	const json_t *other = costs_row(c->costs[PAIR_B], workload, name);

	if (!other)
		return false;
	c->pair[c->n++] = (struct costs_pair){
		.row = { row, other },
		.workload = workload,
		.name = name,
		.section = line ? section : workload,
		.label = line ? line->label : name,
		.unit = json_get_text(row, "unit"),
		.decides = line && line->decides,
	};
	return true;
}

static void pair_rows(struct costs_comparison *c)
{
	const json_t *rows = json_object_get(c->costs[PAIR_A], "rows"), *row;
	const char *section = "";
	size_t i;

	c->pair = calloc(json_array_size(rows) + 1, sizeof(*c->pair));
	CHECK(c->pair, "memory of %zu rows", json_array_size(rows));
	for (const struct costs_line *l = costs_lines; l->workload; l++) {
		section = l->section ? l->section : section;
		row = costs_row(c->costs[PAIR_A], l->workload, l->name);
		if (row)
			c->left_out[PAIR_A] += !add_pair(c, row, l, section);
	}
	json_array_foreach(rows, i, row)
	{
		if (!is_on_page(row))
			c->left_out[PAIR_A] += !add_pair(c, row, NULL, NULL);
	}
	c->left_out[PAIR_B] =
		(int)json_array_size(json_object_get(c->costs[PAIR_B], "rows")) - c->n;
}

/* ---- what it comes to ------------------------------------------------------------------- */

/* What only informs is not corrected, and says what its interval says by itself. */
static void decide_outcome(struct costs_comparison *c)
{
	struct judged **all = calloc((size_t)c->n + 1, sizeof(*all));
	int n = 0;

	CHECK(all, "memory of %d verdicts", c->n);
	for (int i = 0; i < c->n; i++) {
		struct costs_pair *p = &c->pair[i];

		if (p->judged.known && (p->decides || c->options.strict))
			all[n++] = &p->judged;
		else
			p->judged.verdict = p->judged.alone;
	}
	judge(all, n, p_adjust_holm, JUDGE_LEVEL);
	c->tests = n;
	/* of nothing nothing is known */
	c->outcome = n ? outcome_of(all, n, NULL) : OUTCOME_INCONCLUSIVE;
	free(all);
}

enum exit_code costs_compare_exit_code(const struct costs_comparison *c)
{
	bool failed = json_array_size(json_object_get(c->costs[0], "failed")) ||
		      json_array_size(json_object_get(c->costs[1], "failed"));

	if (c->outcome == OUTCOME_SLOWER)
		return RIFT_CHECK_FAILED;
	return c->outcome == OUTCOME_INCONCLUSIVE || failed ? RIFT_FAILED_POINTS : RIFT_OK;
}

static int refuse_pair(const json_t *a, const json_t *b, bool force)
{
	int err = force ? 0 : environment_diff_refuse_devices(a, b);

	if (!err && grid_is_one(a))
		err = grid_refuse_pair(a, b);
	if (!err && json_equal(json_object_get(a, "session_id"), json_object_get(b, "session_id")))
		err = complain(EINVAL, "both are the same call costs (%s)",
			       json_get_text(a, "session_id"));
	if (!err && !force && strcmp(json_get_text(a, "sync"), json_get_text(b, "sync")))
		err = complain(EPROTONOSUPPORT,
			       "not comparable: A was taken with --sync %s, B with --sync %s; "
			       "--force compares them all the same",
			       json_get_text(a, "sync"), json_get_text(b, "sync"));
	return err;
}

static json_t *how_taken(const json_t *costs)
{
	return json_pack("{s:s, s:i}", "sync", json_get_text(costs, "sync"), "processes",
			 costs_processes(costs));
}

static json_t *list_warnings(const json_t *a, const json_t *b)
{
	const json_t *of_a = json_object_get(json_object_get(a, "build"), "binary_sha256");
	const json_t *of_b = json_object_get(json_object_get(b, "build"), "binary_sha256");
	json_t *texts = json_array();

	if (!json_equal(of_a, of_b))
		json_array_append_new(
			texts, json_string("the binaries differ: what is found may come from the "
					   "build, not from the platform"));
	return texts;
}

int costs_compare(struct costs_comparison *c, const json_t *a, const json_t *b,
		  const struct compare_options *options)
{
	struct contrast by;
	int err = refuse_pair(a, b, options->force);

	*c = (struct costs_comparison){ .costs = { a, b }, .options = *options };
	if (err)
		return err;
	c->environment_diff = environment_diff_rows(a, b, how_taken(a), how_taken(b));
	c->warnings = list_warnings(a, b);
	contrast_init(&by, costs_processes(b), costs_processes(a), false, 1);
	by.apart = contrast_apart(options->session_sd);
	if (grid_is_one(a))
		grid_compare_pairs(c, &by);
	else
		pair_rows(c);
	for (int i = 0; i < c->n; i++)
		if (c->pair[i].kind == COSTS_ROW)
			compare_pair(c, &by, &c->pair[i]);
	c->level = by.level;
	contrast_release(&by);
	decide_outcome(c);
	return 0;
}

void costs_compare_release(struct costs_comparison *c)
{
	json_decref(c->environment_diff);
	json_decref(c->warnings);
	free(c->pair);
	*c = (struct costs_comparison){ .n = 0 };
}

/* ---- two costs files for people and for machines ----------------------------------------- */

enum { NAMED = 3 }; /* rows in the finding */

/* ---- the finding ------------------------------------------------------------------------ */

/* Is it what the outcome comes from? */
static bool is_decisive(const struct costs_comparison *c, const struct costs_pair *p)
{
	if (!p->judged.known || !(p->decides || c->options.strict))
		return false;
	switch (c->outcome) {
	case OUTCOME_SLOWER:
		return p->judged.verdict == VERDICT_SLOWER;
	case OUTCOME_FASTER:
		return p->judged.verdict == VERDICT_FASTER;
	case OUTCOME_INCONCLUSIVE:
		return !p->judged.not_slower;
	default:
		return false;
	}
}

/* A ratio to what may be nothing says little. */
static struct figure differs_by(const struct costs_pair *p)
{
	struct interval ns = p->difference;

	if (p->ratio.known && p->ratio.lo > 0)
		return figure_ratio(&p->ratio);
	ns.value *= 1e3;
	ns.lo *= 1e3;
	ns.hi *= 1e3;
	return figure_difference(&ns, true);
}

static void format_finding(const struct costs_comparison *c, char *out, size_t size)
{
	static const char *const titles[] = {
		"B costs the same as A within %.3g %%",
		"B costs more than A by over %.3g %%",
		"B costs less than A by over %.3g %%, or the same",
		"B costs the same as A within %.3g %%, or less",
		"Inconclusive: B may or may not cost more than A by over %.3g %%",
	};
	size_t used = (size_t)snprintf(out, size, titles[c->outcome], 100 * c->options.margin);
	int said = 0, more = 0;

	for (int i = 0; i < c->n; i++) {
		const struct costs_pair *p = &c->pair[i];

		if (!is_decisive(c, p) || used >= size)
			continue;
		if (said == NAMED) {
			more++;
			continue;
		}
		used += (size_t)snprintf(out + used, size - used, "%s %s (%s), %s",
					 said++ ? ";" : ":", text_shown(p->label).s,
					 text_shown(p->section).s, differs_by(p).s);
	}
	if (more && used < size)
		snprintf(out + used, size - used, "; and %d more", more);
}

/* ---- a table ---------------------------------------------------------------------------- */

static void print_costs(const struct costs_comparison *c, int k, FILE *out)
{
	const json_t *costs = c->costs[k], *virt = json_object_get(costs, "virt");
	const char *declared = json_get_text(virt, "declared_platform");
	char layers[LAYERS_TEXT];

	environment_layers(costs, layers);
	row(out, k ? "B" : "A", "%s: %s%s%s, n = %s, taken %s", c->path[k], declared,
	    *declared ? ", " : "", json_get_text(json_object_get(costs, "device"), "name"),
	    counted(costs_processes(costs), "process").s, json_get_text(costs, "start_utc"));
	if (*layers)
		row(out, "", "%s", layers);
}

static void print_terms(const struct costs_comparison *c, FILE *out)
{
	int a = costs_processes(c->costs[0]), b = costs_processes(c->costs[1]);
	int needed = contrast_processes_needed(JUDGE_LEVEL / fmax(1, c->tests), false);

	row(out, "terms",
	    "margin %.3g %%, and 20 ns; %.3g %% intervals over processes, widened by %.3g %% for "
	    "what call costs of one system differ by (sd %.3g %% a file, assumed, not measured); "
	    "%d rows decide (Holm, 5 %% for each direction)",
	    100 * c->options.margin, 100 * c->level,
	    100 * (contrast_apart(c->options.session_sd) - 1), 100 * c->options.session_sd,
	    c->tests);
	if ((a < b ? a : b) < needed)
		row(out, "",
		    "n = %d is too few: among so many rows a verdict takes %d processes a file "
		    "(rift probe --processes %d)",
		    a < b ? a : b, needed, needed);
}

/* In parentheses where it only informs. */
static void print_pair(const struct costs_comparison *c, const struct costs_pair *p, FILE *out)
{
	bool counts = p->decides || c->options.strict;
	const char *why = json_get_text(p->row[0], "text");

	fprintf(out, "  %-15s %-29s ", text_escaped(p->section).s, text_escaped(p->label).s);
	if (!p->known) {
		fprintf(out, "%s\n",
			*why ? text_escaped(why).s : "not measured by every process of both");
		return;
	}
	fprintf(out, "%13s ", costs_number(p->value[0], p->unit));
	fprintf(out, "%13s  ", costs_number(p->value[1], p->unit));
	if (!isfinite(p->difference.value))
		fprintf(out, "%s\n", p->value[0] == p->value[1] ? "equal" : "differs");
	else
		fprintf(out, "%-34s %s%s%s\n", differs_by(p).s, counts ? "" : "(",
			verdict_names[p->judged.verdict], counts ? "" : ")");
}

static void print_rows(const struct costs_comparison *c, bool all, FILE *out)
{
	fprintf(out, "\n  %-15s %-29s %13s %13s  %s\n", "", "", "A", "B", "time B / A");
	for (int i = 0; i < c->n; i++)
		/* of the page, or what differs */
		if (all || c->pair[i].label != c->pair[i].name || c->pair[i].decides ||
		    c->pair[i].judged.verdict == VERDICT_SLOWER ||
		    c->pair[i].judged.verdict == VERDICT_FASTER)
			print_pair(c, &c->pair[i], out);
}

void costs_compare_print(const struct costs_comparison *c, bool all, FILE *out)
{
	char finding[1024];

	format_finding(c, finding, sizeof(finding));
	fprintf(out, "%s\n", finding);
	print_costs(c, 0, out);
	print_costs(c, 1, out);
	print_terms(c, out);
	environment_diff_print(c->environment_diff, c->warnings, out);
	if (grid_is_one(c->costs[PAIR_A]))
		grid_compare_print(c, all, out);
	else
		print_rows(c, all, out);
	fprintf(out, "  what is in parentheses informs, the others decide; --strict: all do%s\n",
		all ? "" : "; --all shows every row");
	if (c->left_out[0] || c->left_out[1])
		fprintf(out, "  left out: %s that only A has, %d that only B has\n",
			counted(c->left_out[0],
				grid_is_one(c->costs[PAIR_A]) ? "configuration" : "row")
				.s,
			c->left_out[1]);
}

/* ---- JSON ------------------------------------------------------------------------------- */

static json_t *row_json(const struct costs_pair *p)
{
	return json_pack("{s:s, s:s, s:s, s:b, s:o, s:o, s:o, s:o, s:s, s:s}", "workload",
			 p->workload, "name", p->name, "unit", p->unit, "decides", p->decides, "a",
			 json_number(p->value[0]), "b", json_number(p->value[1]), "time_ratio",
			 interval_json(&p->ratio), "time_difference_us",
			 interval_json(&p->difference), "verdict", verdict_names[p->judged.verdict],
			 "verdict_alone", verdict_names[p->judged.alone]);
}

/* Of a grid also what it is of: a configuration, all of them, or a part of a line. */
static json_t *pair_json(const struct costs_pair *p)
{
	json_t *o = row_json(p);

	if (p->kind != COSTS_ROW)
		json_object_set_new(o, "of", json_string(p->section));
	return o;
}

json_t *costs_compare_json(const struct costs_comparison *c)
{
	json_t *rows = json_array();
	char finding[1024];

	format_finding(c, finding, sizeof(finding));
	for (int i = 0; i < c->n; i++)
		json_array_append_new(rows, pair_json(&c->pair[i]));
	return json_pack("{s:s, s:s, s:i, s:f, s:f, s:i, s:s, s:s, s:O, s:O, s:o}", "verdict",
			 outcome_name(c->outcome), "finding", finding, "exit_code",
			 (int)costs_compare_exit_code(c), "margin", c->options.margin, "session_sd",
			 c->options.session_sd, "tests", c->tests, "a", c->path[0], "b", c->path[1],
			 "environment", c->environment_diff, "warnings", c->warnings, "rows", rows);
}
