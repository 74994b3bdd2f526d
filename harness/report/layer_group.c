/* layer_group.c - the rows of an atlas by what is proven of them, in words. */
#include "harness/report/layer_group.h"

#include <math.h>
#include <stdlib.h>

#include "common/check.h"
#include "harness/compare/format.h"
#include "harness/report/part.h"
#include "workloads/workload.h"

/* ---- one row ---------------------------------------------------------------------------- */

const struct compared_workload *layer_mean(const struct comparison *c)
{
	return c->pairs.n_workloads > 1 && c->whole.points ? &c->whole : &c->workload[0];
}

static bool is_mixed(const struct comparison *c)
{
	const struct programs n = programs_of(c);

	return n.slower && n.faster;
}

static enum layer_group open_group(const struct comparison *c, const struct judged *mean)
{
	return mean->alone == VERDICT_SLOWER	 ? LAYER_LIKELY
	       : is_mixed(c)			 ? LAYER_MIXED
	       : mean->verdict == VERDICT_SAME	 ? LAYER_MEAN_SAME
	       : mean->verdict == VERDICT_FASTER ? LAYER_MEAN_FASTER
	       : mean->not_slower		 ? LAYER_MEAN_NOT_SLOWER
						 : LAYER_OPEN;
}

enum layer_group layer_group(const struct atlas_entry *e)
{
	const struct judged *mean = &layer_mean(&e->c)->judged;

	switch (e->c.by_time) {
	case OUTCOME_SLOWER:
		return mean->verdict == VERDICT_SLOWER ? LAYER_SLOWER : LAYER_PROGRAMS;
	case OUTCOME_SAME:
		return LAYER_SAME;
	case OUTCOME_FASTER:
		return LAYER_FASTER;
	case OUTCOME_NOT_SLOWER:
		return LAYER_NOT_SLOWER;
	default:
		return open_group(&e->c, mean);
	}
}

enum page_tone layer_tone(enum layer_group group)
{
	static const enum page_tone tones[] = {
		[LAYER_SLOWER] = TONE_SLOWER,
		[LAYER_PROGRAMS] = TONE_SLOWER,
		[LAYER_SAME] = TONE_SAME,
		[LAYER_NOT_SLOWER] = TONE_SAME,
		[LAYER_FASTER] = TONE_FASTER,
		[LAYER_LIKELY] = TONE_SLOWER,
		[LAYER_MEAN_SAME] = TONE_OPEN,
		[LAYER_MEAN_FASTER] = TONE_OPEN,
		[LAYER_MEAN_NOT_SLOWER] = TONE_OPEN,
		[LAYER_MIXED] = TONE_OPEN,
		[LAYER_OPEN] = TONE_OPEN,
	};

	return tones[group];
}

struct programs programs_of(const struct comparison *c)
{
	struct programs n = { .all = c->pairs.n_workloads };

	for (int i = 0; i < n.all; i++) {
		const struct judged *j = &c->workload[i].judged;

		n.slower += j->alone == VERDICT_SLOWER;
		n.faster += j->alone == VERDICT_FASTER;
		n.open += j->alone == VERDICT_INCONCLUSIVE;
	}
	return n;
}

struct text_line layer_sure(const struct atlas_entry *e)
{
	static const char *const texts[] = {
		[LAYER_SLOWER] = "slower: proven",
		[LAYER_PROGRAMS] = "slower in some program: proven",
		[LAYER_SAME] = "no difference: proven",
		[LAYER_NOT_SLOWER] = "not slower: proven; may be faster",
		[LAYER_FASTER] = "faster, and no program slower: proven",
		[LAYER_LIKELY] = "slower by its interval, not proven",
		[LAYER_MEAN_SAME] = "average: no difference",
		[LAYER_MEAN_NOT_SLOWER] = "average: not slower",
		[LAYER_MEAN_FASTER] = "average: faster",
		[LAYER_MIXED] = "mixed",
		[LAYER_OPEN] = "not decided",
	};
	enum layer_group group = layer_group(e);
	const struct programs n = programs_of(&e->c);
	struct text_line t;

	if (group < LAYER_MEAN_SAME || group == LAYER_OPEN)
		snprintf(t.s, sizeof(t.s), "%s", texts[group]);
	else if (group == LAYER_MIXED)
		snprintf(t.s, sizeof(t.s), "%s: %d of %d programs slower, %d faster", texts[group],
			 n.slower, n.all, n.faster);
	else if (n.slower)
		snprintf(t.s, sizeof(t.s), "%s, but %d of %d programs slower; not decided",
			 texts[group], n.slower, n.all);
	else
		snprintf(t.s, sizeof(t.s), "%s; %d of %d programs not decided", texts[group],
			 n.open, n.all);
	return t;
}

const struct compared_workload *layer_carrier(const struct atlas_entry *e, struct interval *rest)
{
	enum layer_group group = layer_group(e);
	bool has_effect = group == LAYER_SLOWER || group == LAYER_LIKELY || group == LAYER_FASTER ||
			  group == LAYER_MEAN_FASTER || group == LAYER_MIXED;

	return has_effect ? compare_carrier(&e->c, rest) : NULL;
}

/* ---- all of them, those that take longest first ----------------------------------------- */

double layers_margin(const struct atlas *a)
{
	return a->n ? 100 * a->entry[0].c.options.margin : 0;
}

static double cost_of(const struct atlas_entry *e)
{
	double r = layer_mean(&e->c)->ratio.value;

	return isfinite(r) ? r : -1;
}

static int dearest_first(const void *x, const void *y)
{
	double a = cost_of(*(const struct atlas_entry *const *)x);
	double b = cost_of(*(const struct atlas_entry *const *)y);

	return (a < b) - (a > b);
}

const struct atlas_entry **layers_sorted(const struct atlas *a)
{
	const struct atlas_entry **e = calloc((size_t)a->n + 1, sizeof(*e));

	CHECK(e, "memory of %d rows", a->n);
	for (int i = 0; i < a->n; i++)
		e[i] = &a->entry[i];
	qsort(e, (size_t)a->n, sizeof(*e), dearest_first);
	return e;
}

static int count_group(const struct atlas *a, enum layer_group group)
{
	int in = 0;

	for (int i = 0; i < a->n; i++)
		in += layer_group(&a->entry[i]) == group;
	return in;
}

/* ---- the finding ------------------------------------------------------------------------ */

/* ": A, B and C", with "(by one program alone, memory)" behind whom that is so; of many none. */
static void say_names(const struct atlas *a, enum layer_group group, FILE *out)
{
	enum { NAMED_MOST = 6 };
	const struct atlas_entry **e = layers_sorted(a);
	int in = count_group(a, group), said = 0;

	for (int i = 0; i < a->n && in <= NAMED_MOST; i++) {
		const struct compared_workload *by;
		struct interval rest;

		if (layer_group(e[i]) != group)
			continue;
		by = group == LAYER_MIXED ? NULL : layer_carrier(e[i], &rest);
		fprintf(out, "%s%s", !said ? ": " : said + 1 < in ? ", " : " and ", e[i]->name);
		said++;
		if (by)
			fprintf(out, " (by one program alone, %s)", by->workload->name);
	}
	free(e);
}

/* " Under neighbour-spin a step takes 20.2 times as long (90.7 % interval 19.9 to 20.5, n = 6)." */
static void say_dearest(const struct atlas *a, FILE *out)
{
	const struct atlas_entry **e = layers_sorted(a), *most = NULL;

	for (int i = 0; i < a->n && !most; i++)
		most = layer_group(e[i]) == LAYER_SLOWER ? e[i] : NULL;
	if (most) {
		const struct interval *r = &layer_mean(&most->c)->ratio;

		fprintf(out, " Under %s a step takes %s times as long (", most->name,
			figure_times(r->value).s);
		if (r->known)
			fprintf(out, "%.3g %% interval %s to %s, ", 100 * most->c.contrast.level,
				figure_times(r->lo).s, figure_times(r->hi).s);
		fprintf(out, "n = %d%s).", r->n, most->c.contrast.paired ? " pairs" : "");
	}
	free(e);
}

/* "Of the other 10, 2 are slower by the interval, ...: A and B; 4 ...: ...": one clause a group. */
static void say_others(const struct atlas *a, FILE *out)
{
	static const struct {
		enum layer_group group;
		const char *words;
	} rows[] = {
		{ LAYER_PROGRAMS, "slower in some program" },
		{ LAYER_LIKELY, "slower by the interval, but not proven to be" },
		{ LAYER_MIXED, "mixed, some programs being faster and others slower" },
		{ LAYER_SAME, "without a difference of that size" },
		{ LAYER_NOT_SLOWER, "not slower by that much" },
		{ LAYER_FASTER, "faster, and slower in no program" },
		{ LAYER_MEAN_SAME,
		  "without a difference on average, though single programs may be slower" },
		{ LAYER_MEAN_NOT_SLOWER, "not slower on average, though single programs may be" },
		{ LAYER_MEAN_FASTER, "faster on average, though single programs may be slower" },
		{ LAYER_OPEN, "not decided" },
	};
	int others = a->n - count_group(a, LAYER_SLOWER), said = 0;

	if (!others)
		return;
	fprintf(out, others < a->n ? "\nOf the other %d, " : "\nOf these %d, ", others);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		int in = count_group(a, rows[i].group);

		if (!in)
			continue;
		fprintf(out, "%s%d %s %s", said++ ? "; " : "", in, in == 1 ? "is" : "are",
			rows[i].words);
		say_names(a, rows[i].group, out);
	}
	fputc('.', out);
}

static void say_wrong(const struct atlas *a, FILE *out)
{
	for (int i = 0; i < a->n; i++) {
		const struct faults *f = &a->entry[i].c.faults[PAIR_B];

		if (f->wrong)
			fprintf(out, "\nUnder %s, %d of %d results are wrong.", a->entry[i].name,
				f->wrong, f->results);
	}
}

static double start_of(const struct atlas_entry *e)
{
	const struct atlas_cost *c = &e->cost[ATLAS_START];

	return c->state == ATLAS_KNOWN && c->of.value > 0 ? c->of.value : -1;
}

static int slowest_start_first(const void *x, const void *y)
{
	double a = start_of(*(const struct atlas_entry *const *)x);
	double b = start_of(*(const struct atlas_entry *const *)y);

	return (a < b) - (a > b);
}

/* "Starting a program, a cost of each run that no step includes, takes longer under A (295 ms)." */
static void say_starts(const struct atlas *a, FILE *out)
{
	const struct atlas_entry **e = layers_sorted(a);
	int n = 0;

	qsort(e, (size_t)a->n, sizeof(*e), slowest_start_first);
	while (n < a->n && start_of(e[n]) > 0)
		n++;
	for (int i = 0; i < n; i++)
		fprintf(out, "%s%s (%s)",
			!i	    ? "\nStarting a program, a cost of each run that no step "
				      "includes, takes longer under "
			: i + 1 < n ? ", "
				    : " and ",
			e[i]->name, text_time(start_of(e[i])).s);
	fputs(n ? "; their intervals are in the table of cold starts." : "", out);
	free(e);
}

struct distrusted layers_distrusted(const struct atlas *a)
{
	struct distrusted d = { 0 };
	char name[ATLAS_NAME + 32];

	distrusted_add(&d, "the base", &a->base.side[PAIR_B].view);
	for (int i = 0; i < a->n; i++) {
		const struct atlas_entry *e = &a->entry[i];

		snprintf(name, sizeof(name), "%.28s without it", e->name);
		if (e->own_base)
			distrusted_add(&d, name, &e->side[PAIR_A].view);
		distrusted_add(&d, e->name, &e->side[PAIR_B].view);
	}
	return d;
}

void layers_finding(const void *found, FILE *out)
{
	const struct atlas *a = found;
	const struct distrusted d = layers_distrusted(a);
	int slower = count_group(a, LAYER_SLOWER);

	distrusted_print(&d, out);
	fprintf(out,
		"%d of %d layers %s proven to make programs slower by more than %.3g %% on "
		"average",
		slower, a->n, slower == 1 ? "is" : "are", layers_margin(a));
	say_names(a, LAYER_SLOWER, out);
	fputc('.', out);
	say_dearest(a, out);
	say_wrong(a, out);
	say_others(a, out);
	say_starts(a, out);
}
