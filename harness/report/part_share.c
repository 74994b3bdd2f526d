/* part_share.c - several clients on one GPU: what sharing costs each, by which way of sharing. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "common/plural.h"
#include "harness/base/json.h"
#include "harness/base/text.h"
#include "harness/compare/format.h"
#include "harness/report/part.h"
#include "harness/share/findings.h"
#include "harness/share/share_chart.h"
#include "harness/share/share_file.h"
#include "harness/share/promise.h"
#include "harness/share/share_words.h"

static const struct share *of(const void *found)
{
	return found;
}

static int read_share(void **found, const char *path)
{
	struct share *s = calloc(1, sizeof(*s));

	CHECK(s, "memory of a record");
	*found = s;
	return share_read(s, path);
}

static void release(void *found)
{
	if (found)
		share_release(found);
	free(found);
}

/* ---- the finding ------------------------------------------------------------------------ */

static void print_finding(const void *found, FILE *out)
{
	share_answer_print(of(found), out);
}

static void finding(const void *found, struct page *p)
{
	const struct share *s = of(found);
	char *text = part_printed(print_finding, s);

	if (*text)
		part_findings(p, TONE_PLAIN, text);
	else
		page_finding(p, TONE_PLAIN, "No configuration of several clients has a result.");
	free(text);
	if (share_plan_has_promise(&s->plan))
		page_small(p, "%s; allowed %s, under %s; %s", share_device(s),
			   allow_text(&s->plan.allow).s, allow_layers_text(&s->plan.allow).s,
			   s->file.path ? s->file.path : "");
	else
		page_small(p, "%s; %s of %g s or longer per configuration, %s; depth %ld; %s",
			   share_device(s), counted(share_plan_windows(&s->plan), "window").s,
			   s->plan.window_s, counted(s->plan.starts, "start").s,
			   (long)s->plan.depth, s->file.path ? s->file.path : "");
}

/* ---- tables ----------------------------------------------------------------------------- */

/* What a row begins with: the way of sharing, how many clients, and of one alone which. */
static void put_head(struct page *p, const struct share *s, const struct share_found *e)
{
	const struct share_set *set = &e->of->set;

	if (set->n == 1)
		page_cell(p, "alone: %s", share_workload_text(&s->plan.mix[set->first]).s);
	else
		page_cell(p, "%s", share_arms[set->arm].name);
	page_cell(p, "%d", set->n);
}

/* "3.69 (3.51 to 3.80)"; "-" */
static struct text range_text(const struct interval *i)
{
	struct text t = { "-" };

	if (isfinite(i->value) && i->known)
		snprintf(t.s, sizeof(t.s), "%.12s (%.12s to %.12s)", share_number(i->value).s,
			 share_number(i->lo).s, share_number(i->hi).s);
	else if (isfinite(i->value))
		snprintf(t.s, sizeof(t.s), "%.12s (no interval)", share_number(i->value).s);
	return t;
}

/* The client that is furthest from the mean of those that are shown to be; -1: none is. */
static int most_unfair(const struct share_found *e)
{
	int most = -1;

	for (int k = 0; k < e->of->set.n; k++) {
		const struct judged_point *p = &e->client[k].against_mean;
		bool shown =
			p->judged.verdict == VERDICT_SLOWER || p->judged.verdict == VERDICT_FASTER;

		if (shown &&
		    (most < 0 || fabs(log(p->ratio.value)) >
					 fabs(log(e->client[most].against_mean.ratio.value))))
			most = k;
	}
	return most;
}

static void put_fairness(struct page *p, const struct share_found *e)
{
	int most = e->of->set.n > 1 ? most_unfair(e) : -1;

	if (most >= 0)
		page_cell(p, "%s: client %d takes %s times the mean",
			  share_fairness_names[e->fairness], most + 1,
			  range_text(&e->client[most].against_mean.ratio).s);
	else
		page_cell(p, "%s", e->of->set.n > 1 ? share_fairness_names[e->fairness] : "-");
}

static void put_set(struct page *p, const struct share *s, const struct share_found *e)
{
	const char *base = share_arms[share_arms[e->of->set.arm].base].name;

	put_head(p, s, e);
	if (!e->passed)
		page_cell_of(p, TONE_WRONG, "wrong results");
	else
		page_cell(p, "%s", range_text(&e->slowdown).s);
	put_fairness(p, e);
	if (e->has_base)
		page_cell_of(p, part_tone(e->over_base.judged.verdict),
			     "%s times as long as %s: %s", range_text(&e->over_base.ratio).s, base,
			     verdict_names[e->over_base.judged.verdict]);
	else
		page_cell(p, "-");
	page_cell(p, "%d", e->slowdown.n);
}

/* ---- what was promised ------------------------------------------------------------------ */

static void put_promise_row(struct page *p, const struct share *s, const struct promise_row *r)
{
	double promised = s->plan.allow.compute;
	const struct interval *i = &r->judged.ratio;

	page_cell(p, "%d", r->of->set.n);
	page_cell(p, "%d: %s", r->client + 1,
		  share_workload_text(
			  &s->plan.mix[share_client_mix(&s->plan, &r->of->set, r->client)])
			  .s);
	page_cell(p, "%s", r->how == TIMELINE_QUEUED ? "queued" : "waited for");
	if (i->known)
		page_cell(p, "%.1f %% (%.1f to %.1f %%)", 100 * r->share, 100 * i->lo * promised,
			  100 * i->hi * promised);
	else
		page_cell(p, "%.1f %% (no interval)", 100 * r->share);
	page_cell_of(p,
		     r->verdict == PROMISE_MORE || r->verdict == PROMISE_LESS ? TONE_SLOWER
		     : r->verdict == PROMISE_HOLDS			      ? TONE_SAME
									      : TONE_PLAIN,
		     "%s", promise_names[r->verdict]);
	page_cell(p, "%d", s->plan.starts);
}

static void promise_table(const struct share *s, struct page *p)
{
	static const char *const heads[] = { "clients", "client",  "steps are",
					     "share",	"verdict", "n" };
	struct promise found;
	char caption[240];

	if (!(s->plan.allow.compute > 0))
		return;
	promise_init(&found, s);
	snprintf(caption, sizeof(caption),
		 "share of the device's time: a client's steps per second over those of a client "
		 "without the layers whose steps are queued; in parentheses the %.3g %% interval "
		 "over starts; n: starts",
		 100 * found.level);
	page_table(p, caption, heads, 6);
	for (int i = 0; i < found.rows; i++)
		if (found.row[i].known)
			put_promise_row(p, s, &found.row[i]);
	promise_release(&found);
}

static void table(const void *found, struct page *p)
{
	static const char *const heads[] = { "way of sharing", "clients",	   "slowdown",
					     "fairness",       "against its base", "n" };
	const struct share *s = of(found);
	struct share_findings f;
	char caption[320];

	if (share_plan_has_promise(&s->plan)) {
		promise_table(s, p);
		return;
	}
	share_findings_init(&f, s);
	snprintf(caption, sizeof(caption),
		 "slowdown of all clients together: 1 is one client alone, and n clients that "
		 "share without loss or gain have n; in parentheses the %.3g %% interval, of "
		 "fairness %.3g %%; n: %ss",
		 100 * f.level, 100 * f.pair_level, f.unit);
	page_table(p, caption, heads, 6);
	for (int i = 0; i < f.sets; i++)
		if (f.set[i].known)
			put_set(p, s, &f.set[i]);
	share_findings_release(&f);
}

static void put_step(struct page *p, const struct interval *of, double median_ns)
{
	struct interval own = *of;

	if (!of->known)
		own.value = median_ns;
	page_cell(p, "%s", figure_own(&own, true).s);
}

static void put_client(struct page *p, const struct share *s, const struct share_found *e,
		       int client)
{
	const struct share_client_found *c = &e->client[client];
	const struct share_set *set = &e->of->set;

	put_head(p, s, e);
	page_cell(p, "%d: %s", client + 1,
		  share_workload_text(&s->plan.mix[share_client_mix(&s->plan, set, client)]).s);
	page_cell(p, "%s", range_text(set->n > 1 ? &c->over_alone.ratio : &e->slowdown).s);
	put_step(p, &c->median_ns, c->quantile_ns[SHARE_P50]);
	put_step(p, &c->p99_ns, c->quantile_ns[SHARE_P99]);
}

static void tables(const void *found, struct page *p)
{
	static const char *const heads[] = { "way of sharing", "clients",
					     "client",	       "times as long as alone",
					     "median step",    "99 % of steps within" };
	const struct share *s = of(found);
	struct share_findings f;
	char caption[240];

	if (share_plan_has_promise(&s->plan))
		return;
	share_findings_init(&f, s);
	snprintf(caption, sizeof(caption),
		 "each client, n = %s; in parentheses the interval over them, %.3g %% of what is "
		 "over the time alone, %.3g %% of a step",
		 counted(f.units, f.unit).s, 100 * f.level, 100 * f.pair_level);
	page_table(p, caption, heads, 6);
	for (int i = 0; i < f.sets; i++)
		for (int k = 0; f.set[i].known && k < f.set[i].of->set.n; k++)
			put_client(p, s, &f.set[i], k);
	share_findings_release(&f);
}

/* ---- the others ------------------------------------------------------------------------- */

static int charts(const void *found, struct page *p, const char *folder)
{
	struct picture picture[SHARE_CHARTS] = { 0 };
	int err;

	if (share_plan_has_promise(&of(found)->plan))
		return 0;
	err = share_charts_write(picture, of(found), folder);

	for (int i = 0; i < SHARE_CHARTS && !err; i++)
		err = part_picture(p, &picture[i], 0);
	share_charts_release(picture);
	return err;
}

static void differs(const void *found, struct page *p)
{
	const struct share *s = of(found);

	for (int i = 0; i < ARMS; i++)
		if (s->plan.arm[i])
			page_item(p, "%s: %s", share_arms[i].name, share_arms[i].what);
}

static void promise_how(struct page *p)
{
	page_item(p, "Clients idle for a second before each window, then work without a pause. "
		     "Shares are of its second half, when what was saved up is spent.");
	page_item(p, "Steps are counted where they end on the device, and compared with a client "
		     "without the layers. Neither the layers nor their clocks are asked.");
	page_item(p,
		  "A promise holds if the whole interval is within %.0f %% of it, corrected for "
		  "the number of rows.",
		  100 * PROMISE_MARGIN);
}

static void how(const void *found, struct page *p)
{
	struct share_findings f;

	if (share_plan_has_promise(&of(found)->plan)) {
		promise_how(p);
		return;
	}
	share_findings_init(&f, of(found));
	page_item(p, "Clients are started, warmed up and then timed together in windows. A client "
		     "steps without a pause, so this is the largest load that it can be.");
	page_item(p,
		  "Intervals are over %ss. One over the time of another configuration has %.3g "
		  "%%, and one within a configuration %.3g %%.",
		  f.unit, 100 * f.level, 100 * f.pair_level);
	page_item(p,
		  "A client is treated unfairly if it is slowed by over %.0f %% more, or less, "
		  "than the mean of its neighbours, tested and corrected for their number.",
		  100 * SHARE_FAIR_MARGIN);
	share_findings_release(&f);
}

static void lacks(const void *found, struct page *p)
{
	const struct share *s = of(found);

	for (int i = 0; i < s->sets; i++) {
		const struct share_measured *m = &s->set[i];

		if (share_set_is_whole(s, m) && !*m->not_run)
			continue;
		page_item(p, "%s with %s: not run%s%s", share_arms[m->set.arm].name,
			  counted(m->set.n, "client").s, *m->not_run ? ": " : " yet", m->not_run);
	}
	page_item(p, "Other neighbours than these, and neighbours that pause.");
	if (share_is_cpu(s))
		page_item(p,
			  "A GPU: this is the CPU device, where each process has a device of its "
			  "own. These are not GPU figures.");
}

static void repeat(const void *found, struct page *p)
{
	const struct share *s = of(found);

	part_command(p, "rift share --from", (const char *const[]){ s->file.path, NULL });
}

static void print(const void *found, FILE *out)
{
	share_print(of(found), out);
}

const struct part_kind part_share = {
	.what = "What sharing costs",
	.finding = finding,
	.table = table,
	.charts = charts,
	.tables = tables,
	.differs = differs,
	.how = how,
	.lacks = lacks,
	.repeat = repeat,
	.print = print,
	.print_by = "rift share --from",
	.is = share_file_is,
	.read = read_share,
	.release = release,
};
