/* finding.c - the verdict of a comparison and what it comes from, in one line. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "common/plural.h"
#include "harness/compare/compare.h"
#include "harness/compare/format.h"
#include "harness/measure/model.h"
#include "harness/measure/plan_record.h"
#include "harness/record/environment.h"
#include "harness/record/trust.h"
#include "workloads/workload.h"

struct line {
	char *text;
	size_t size, used;
	int said, more; /* clauses; those that are left out */
};

enum { CLAUSES = 3 };

static void append_text(struct line *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void append_text(struct line *l, const char *fmt, ...)
{
	va_list args;
	int n = 0;

	va_start(args, fmt);
	if (l->used < l->size)
		n = vsnprintf(l->text + l->used, l->size - l->used, fmt, args);
	va_end(args);
	l->used += n > 0 ? (size_t)n : 0;
}

/* Before a clause; false: there are enough of them. */
static bool begin_clause(struct line *l)
{
	if (l->said == CLAUSES) {
		l->more++;
		return false;
	}
	append_text(l, "%s", l->said++ ? "; " : "");
	return true;
}

/* ---- results that are wrong or missing ---------------------------------------------------- */

static void add_distrust(struct line *l, const struct comparison *c)
{
	char why[TRUST_TEXT];

	bool both = *session_distrust(&c->side[PAIR_A]->view, why) &&
		    *session_distrust(&c->side[PAIR_B]->view, why);

	append_text(l, "%s", both ? "Neither side can be trusted: " : "");
	for (int k = 0; k < 2; k++)
		if (*session_distrust(&c->side[k]->view, why))
			append_text(l, both ? "of %c %s%s" : "%c cannot be trusted: %s%s", 'A' + k,
				    why, both && !k ? ", " : ". ");
}

static void add_faults(struct line *l, const struct comparison *c)
{
	const struct faults *a = &c->faults[PAIR_A], *b = &c->faults[PAIR_B];

	add_distrust(l, c);
	if (b->wrong)
		append_text(l, "B computes wrong results: %d of %d fail their check (%s). ",
			    b->wrong, b->results, b->wrong_of);
	if (a->wrong)
		append_text(l, "A computes wrong results: %d of %d fail their check (%s). ",
			    a->wrong, a->results, a->wrong_of);
	for (int k = 0; k < 2; k++) {
		const struct faults *f = &c->faults[k];

		if (f->lacking)
			append_text(l, "%c lacks %s (%d of %d results). ", 'A' + k, f->lacks,
				    f->lacking, f->results);
		if (f->missing)
			append_text(l, "%c has no result in %d of %d cases (%s). ", 'A' + k,
				    f->missing, f->results, f->missing_of);
	}
	if (l->used)
		append_text(l, "By time, ");
}

/* ---- times -------------------------------------------------------------------------------- */

static void add_title(struct line *l, const struct comparison *c)
{
	static const char *const titles[] = {
		"B is the same as A within %.3g %%: ",
		"B is slower than A by more than %.3g %%: ",
		"B is faster than A by more than %.3g %%, or the same: ",
		"B is the same as A within %.3g %%, or faster: ",
		"Inconclusive: B may or may not be slower than A by more than %.3g %%: ",
	};
	const char *title = titles[c->by_time];

	if (l->used && c->by_time == OUTCOME_INCONCLUSIVE) /* in the middle of a line */
		title = "it is open whether B is slower than A by more than %.3g %%: ";
	append_text(l, title, 100 * c->options.margin);
}

/* "launch takes 1.46 times as long (96.9 % interval 1.40 to 1.52, n = 6 pairs)" */
static void add_ratio(struct line *l, const struct comparison *c, const struct compared_workload *w)
{
	const struct interval *r = &w->ratio;

	append_text(l, "takes %s times as long (", figure_times(r->value).s);
	if (r->known)
		append_text(l, "%.3g %% interval %s to %s", 100 * c->contrast.level,
			    figure_times(r->lo).s, figure_times(r->hi).s);
	else
		append_text(l, "no interval");
	append_text(l, ", n = %d%s)", r->n, c->contrast.paired ? " pairs" : "");
}

static void add_workload(struct line *l, const struct comparison *c,
			 const struct compared_workload *w)
{
	append_text(l, "%s ", w->workload->name);
	if (w->points)
		add_ratio(l, c, w);
	else
		append_text(l, "has no point with a good result of every process");
}

/* ---- in time, and not as a ratio ---------------------------------------------------------- */

/* "5.01 us more (95 % interval 4.97 us to 5.10 us, n = 6)" */
static void add_more(struct line *l, const struct interval *d, double level)
{
	bool less = d->value < 0;
	double lo = less ? -d->hi : d->lo, hi = less ? -d->lo : d->hi;

	append_text(l, "%s %s", text_time(fabs(d->value)).s, less ? "less" : "more");
	if (d->known)
		append_text(l, " (%.3g %% interval %s to %s, n = %d)", 100 * level, text_time(lo).s,
			    text_time(hi).s, d->n);
}

/* May be more or less, or none. */
static bool is_open(const struct interval *d)
{
	return d->known && d->lo <= 0 && 0 <= d->hi;
}

/* What a launch costs more, where both sides' points tell; NULL: they do not. */
static const struct compared_parameter *launch_cost(const struct comparison *c)
{
	for (int i = 0; i < c->parameters.n; i++) {
		const struct compared_parameter *p = &c->parameters.row[i];

		if (p->row == &model_param_rows[MODEL_C] && p->identified &&
		    isfinite(p->difference.value))
			return p;
	}
	return NULL;
}

/* The deepest point in stream mode, the first of those as deep; NULL: none. */
static const struct compared_point *deepest_stream(const struct comparison *c)
{
	const struct plan *plan = &c->side[PAIR_A]->view.plan;
	const struct compared_point *deepest = NULL;
	int depth = 0;

	for (int i = 0; i < c->pairs.n; i++) {
		const struct compared_point *p = &c->point[i];
		const struct plan_point *at = &plan->point[p->pair->at[PAIR_A]];

		if (at->mode == MODE_STREAM && at->depth > depth && isfinite(p->ratio.value)) {
			deepest = p;
			depth = (int)at->depth;
		}
	}
	return deepest;
}

/* The difference in a unit that a driver's engineer knows: a launch's time, else a step's. */
static void add_difference(struct line *l, const struct comparison *c)
{
	const struct compared_parameter *p = launch_cost(c);
	const struct compared_point *point = p ? NULL : deepest_stream(c);
	const struct point_pair values = { .b = point ? point->pair->value[PAIR_B] : NULL,
					   .a = point ? point->pair->value[PAIR_A] : NULL };
	struct interval d;
	char where[160];

	if (p && !is_open(&p->difference)) {
		append_text(l, "; a launch costs ");
		add_more(l, &p->difference, 0.95);
		append_text(l, ", by the model");
	} else if (point && !contrast_difference(&d, &c->contrast, &values) && !is_open(&d)) {
		plan_point_text(&c->side[PAIR_A]->view.plan, point->pair->at[PAIR_A], where,
				sizeof(where));
		append_text(l, "; a step of %s takes ", where);
		add_more(l, &d, c->contrast.level);
	}
}

/* Is it what the outcome comes from? */
static bool is_decisive(const struct comparison *c, const struct judged *j)
{
	switch (c->by_time) {
	case OUTCOME_SLOWER:
		return j->verdict == VERDICT_SLOWER;
	case OUTCOME_FASTER:
		return j->verdict == VERDICT_FASTER;
	case OUTCOME_INCONCLUSIVE:
		return !j->not_slower;
	default:
		return false;
	}
}

static bool has_mean(const struct comparison *c)
{
	return c->pairs.n_workloads > 1 && c->whole.points;
}

static void add_mean(struct line *l, const struct comparison *c)
{
	if (!has_mean(c) || !begin_clause(l))
		return;
	append_text(l, "on average over %d workloads a step ", c->whole.points);
	add_ratio(l, c, &c->whole);
}

/* The next of a list of names: some of them, after its lead. */
static void add_name(struct line *l, int *said, const char *lead, const struct compared_workload *w)
{
	if (*said < CLAUSES)
		append_text(l, "%s%s", *said ? ", " : lead, w->workload->name);
	++*said;
}

static void end_names(struct line *l, int said)
{
	if (said > CLAUSES)
		append_text(l, " and %d more", said - CLAUSES);
}

/* "; open: memory, alignment, mlp and 4 more": a table below has their ratios. */
static void add_names(struct line *l, const struct comparison *c)
{
	const char *lead = c->by_time == OUTCOME_SLOWER	  ? "; slower: "
			   : c->by_time == OUTCOME_FASTER ? "; faster: "
							  : "; open: ";
	int said = 0;

	for (int i = 0; i < c->pairs.n_workloads; i++)
		if (is_decisive(c, &c->workload[i].judged))
			add_name(l, &said, lead, &c->workload[i]);
	end_names(l, said);
}

/* Where nothing differs: how far that is known, by workloads. */
static void add_workloads(struct line *l, const struct comparison *c)
{
	bool all = c->by_time == OUTCOME_SAME || c->by_time == OUTCOME_NOT_SLOWER;

	if (has_mean(c)) {
		add_names(l, c);
		return;
	}
	for (int i = 0; i < c->pairs.n_workloads; i++)
		if ((all || is_decisive(c, &c->workload[i].judged)) && begin_clause(l))
			add_workload(l, c, &c->workload[i]);
}

static void add_points(struct line *l, const struct comparison *c)
{
	int n = 0;

	for (int i = 0; i < c->pairs.n; i++)
		n += is_decisive(c, &c->point[i].judged);
	if (c->options.strict && n && begin_clause(l))
		append_text(l, "%d of %d points", n, c->pairs.n);
}

/* ---- too few processes -------------------------------------------------------------------- */

/* "; in all 5 pairs launch, matmul and 3 more are beyond 2 %, too few to prove each" */
static void add_beyond(struct line *l, const struct comparison *c)
{
	char lead[128];
	int said = 0;

	snprintf(lead, sizeof(lead), "; in all %s ",
		 counted(c->contrast.nb, c->contrast.paired ? "pair" : "process").s);
	for (int i = 0; i < c->pairs.n_workloads; i++) {
		const struct compared_workload *w = &c->workload[i];

		if (w->all_slower || w->all_faster)
			add_name(l, &said, lead, w);
	}
	end_names(l, said);
	if (said)
		append_text(l, " %s beyond %.3g %%, too few to prove %s", said > 1 ? "are" : "is",
			    100 * c->options.margin, said > 1 ? "each" : "it");
}

/* How many processes a side could decide, where these are fewer. */
static void add_needed(struct line *l, const struct comparison *c)
{
	int n = c->contrast.nb < c->contrast.na ? c->contrast.nb : c->contrast.na;
	int times = c->side[PAIR_A]->half != HALF_BOTH ? 2 : 1;

	if (n >= c->needed)
		return;
	if (c->by_time == OUTCOME_INCONCLUSIVE) {
		append_text(l, "; n = %d is too few: ", n);
		if (c->pairs.n_workloads > 1 && n < c->needed_by_mean)
			append_text(l, "%d can decide the mean, ", times * c->needed_by_mean);
		append_text(l, "%d can decide%s (--processes %d)", times * c->needed,
			    c->pairs.n_workloads > 1 ? " each workload" : "", times * c->needed);
	}
	add_beyond(l, c);
}

/* What a reader has to know before the figures: who made them. */
static void add_caveats(struct line *l, const struct comparison *c)
{
	bool a = side_is_model(c->side[PAIR_A]), b = side_is_model(c->side[PAIR_B]);
	char what[160];

	if (a && b)
		append_text(l, "; both are imitated: their layers have the costs of others");
	else if (a || b)
		append_text(l, "; %c is imitated: its layer has the costs of another one",
			    a ? 'A' : 'B');
	if (environment_field_differs(side_header(c->side[PAIR_A]), side_header(c->side[PAIR_B]),
				      "build", "binary_sha256", what, sizeof(what)))
		append_text(l, "; the binaries differ");
}

void compare_finding(const struct comparison *c, char *out, size_t size)
{
	struct line l = { .text = out, .size = size };

	*out = '\0';
	add_faults(&l, c);
	add_title(&l, c);
	add_mean(&l, c);
	add_workloads(&l, c);
	add_points(&l, c);
	if (l.more)
		append_text(&l, "; and %d more", l.more);
	add_difference(&l, c);
	add_needed(&l, c);
	add_caveats(&l, c);
}
