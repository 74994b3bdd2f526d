/* program_report.c - a program's price on another platform, for people and for machines. */
#include <math.h>

#include "common/plural.h"
#include "harness/base/command.h"
#include "harness/base/json.h"
#include "harness/base/row.h"
#include "harness/base/text.h"
#include "harness/profile/price_spread.h"
#include "harness/record/recorded.h"

static const char *const remedy_texts[REMEDIES] = {
	[REMEDY_GRAPHS] = "launches in a row become one graph launch",
	[REMEDY_BATCH] = "one synchronize in N is left",
	[REMEDY_PINNED] = "pageable copies use pinned memory",
	[REMEDY_POOL] = "allocations and frees cost nothing",
	[REMEDY_SYNC] = "synchronizes wait with this policy",
	[REMEDY_MERGE] = "N launches of a kernel become one larger one",
	[REMEDY_KERNELS] = "kernels last this many times as long",
	[REMEDY_OVERLAP] = "the host works before it waits, not after",
};

/* ---- text --------------------------------------------------------------------------------- */

static const char *sync_of(const struct program_price *p)
{
	return sync_names[p->sources->b->grid->j->plan.point[0].sync];
}

/* Does B's session hold the gap between queued kernels? Else it is as on A. */
static bool has_gap(const struct program_price *p)
{
	return p->sources->b->param[MODEL_G].identified;
}

static void print_platforms(const struct program_price *p, FILE *out)
{
	const struct price_sources *s = p->sources;
	char name[160];

	session_platform(s->b->grid->j, s->b->grid->side, name, sizeof(name));
	row(out, "program", "%s", profile_program(&p->profile->trace));
	row(out, "on B", "%s: side %s of %s, n = %s", name, journal_side_name(s->b->grid->side),
	    text_shown(s->b->grid->j->path).s, counted(s->b->n, "process").s);
	if (s->a)
		row(out, "launch costs", "the trace's own, and what B adds to A, side %s of %s",
		    journal_side_name(s->a->grid->side), text_shown(s->a->grid->j->path).s);
	else
		row(out, "launch costs", "B's launches as they are (--from A takes what B adds)");
	row(out, "other calls", "%s",
	    s->costs_b ? "copies, allocations and event records by the call costs of both"
		       : "copies, allocations and event records cost on B what they cost on A "
			 "(unless --costs and --from-costs are given)");
	row(out, "assumed", "kernels last as long on B as on A, and the host computes as fast");
	row(out, "", "its waits are as those of B's session: --sync %s", sync_of(p));
	if (!has_gap(p))
		row(out, "",
		    "gaps between queued kernels are as on A: B's session does not have g");
}

/* A narrower interval needs no advice. */
#define SPREAD_TOLD 0.01

/* What would make the interval narrower; the other parts add to it as squares. */
static void print_spread(const struct program_price *p, FILE *out)
{
	enum price_spread widest = price_spread_widest(p);

	if (!(interval_half_width(&p->b_ns) > SPREAD_TOLD) || !(p->spread_ns[widest] > 0))
		return;
	row(out, "", "its interval comes mostly from %s (+-%.1f %% alone); to narrow it, %s",
	    price_spread_texts[widest], 100 * p->spread_ns[widest] / p->b_ns.value,
	    price_spread_remedies[widest]);
	if (interval_half_width(&p->b_ns) > PRICE_WIDE)
		row(out, "", "an interval wider than +-%.0f %% is too wide to decide by",
		    100 * PRICE_WIDE);
}

static void print_times(const struct program_report *r, FILE *out)
{
	const struct program_price *p = r->price;

	fputc('\n', out);
	profile_interval_print(out, p->profile->measured.n ? "measured on A" : "re-timed on A",
			       &p->a_ns);
	profile_interval_print(out, "predicted on B", &p->b_ns);
	print_spread(p, out);
	row(out, "B / A", "%.3f", p->b_ns.value / p->a_ns.value);
	if (isfinite(r->measured_ns))
		row(out, "measured on B", "%s, predicted %+.1f %%: %s", text_time(r->measured_ns).s,
		    100 * (p->b_ns.value / r->measured_ns - 1), text_shown(r->measured_path).s);
}

static void print_confidence(const struct program_price *p, FILE *out)
{
	row(out, "confidence", "%s",
	    p->profile->trust == TRUST_FULL && !program_price_doubtful(p)
		    ? "passed its self-check on A"
		    : "low");
	for (int i = 0; i < DOUBTS; i++)
		if (p->profile->doubts & 1u << i)
			row(out, "", "%s", doubt_texts[i]);
	if (p->a_device)
		row(out, "",
		    "the trace is of %s, the costs are of %s: kernels are assumed to last as long "
		    "on both",
		    text_shown(p->a_device).s, text_shown(p->b_device).s);
	if (p->reordered)
		row(out, "", "kernels overlap, and B may order them differently");
	if (p->copies_in_turn)
		row(out, "",
		    "copies of pageable memory are predicted as alternating copies, whose "
		    "directions share a block of the host: on A they take %.1f times as long as "
		    "those in --from-costs",
		    p->copies_ratio);
	else if (p->slow_copies)
		row(out, "",
		    "copies of pageable memory take %.1f times as long as in --from-costs: both "
		    "directions may share a block of the host, and its cost on B is unknown",
		    p->copies_ratio);
	if (p->dear_copies)
		row(out, "",
		    "%.0f %% of the time on B is the extra or saved cost of copies that nothing "
		    "waits for, which is known for copies alone, not next to kernels and other "
		    "copies",
		    100 * p->copies_share);
}

static void print_shares(const struct program_price *p, FILE *out)
{
	const struct shares *a = &p->profile->shares, *b = &p->shares_b;

	fprintf(out, "\n  %-11s %8s %8s %10s\n", "share", "on A", "on B", "longer by");
	for (int i = 0; i < SHARES; i++)
		fprintf(out, "  %-11s %6.1f %% %6.1f %% %10s  %s\n", share_names[i],
			100 * share_of(a, (enum share)i), 100 * share_of(b, (enum share)i),
			text_time(b->ns[i] - a->ns[i]).s, share_texts[i]);
	fprintf(out, "\n1 us more on B for  makes it longer by\n");
	for (int i = 0; i < PROFILE_COSTS; i++)
		fprintf(out, "  %-32s %6.2f %%\n", profile_cost_texts[i],
			100 * p->cost_ns[i] / p->b_ns.value);
}

static void print_ranges(const struct program_price *p, FILE *out)
{
	const struct ranges *a = &p->ranges_a, *b = &p->ranges_b;

	if (!a->n)
		return;
	fprintf(out, "\n%-26s %9s %11s %11s %8s\n", "ranges", "times", "on A", "on B", "B / A");
	for (int64_t i = 0; i < a->n && i < RANGES_SHOWN; i++) {
		double a_ns = a->list[i].retimed_ns, b_ns = b->list[i].retimed_ns;

		fprintf(out, "  %-24.24s %9ld %11s %11s ",
			text_escaped(trace_name(&p->profile->trace, a->list[i].name)).s,
			(long)a->list[i].times, text_time(a_ns).s, text_time(b_ns).s);
		if (a_ns > 0)
			fprintf(out, "%8.3f\n", b_ns / a_ns);
		else
			fprintf(out, "%8s\n", "-");
	}
	if (a->n > RANGES_SHOWN)
		fprintf(out, "  %ld more\n", (long)(a->n - RANGES_SHOWN));
}

/* "-12.3 %", or why there is none. */
static void print_change(double with_ns, double without_ns, FILE *out)
{
	if (isfinite(with_ns))
		fprintf(out, " %+8.1f %%", 100 * (with_ns / without_ns - 1));
	else
		fprintf(out, " %10s", "unknown");
}

/* "graphs", "batch=4", "sync=blocking" */
static void remedy_text(const struct remedy *r, char *out, size_t size)
{
	if (r->kind == REMEDY_BATCH || r->kind == REMEDY_MERGE)
		snprintf(out, size, "%s=%ld", remedy_names[r->kind], (long)r->n);
	else if (r->kind == REMEDY_KERNELS)
		snprintf(out, size, "%s=%g", remedy_names[r->kind], r->factor);
	else if (r->kind == REMEDY_SYNC)
		snprintf(out, size, "%s=%s", remedy_names[r->kind], sync_names[r->sync]);
	else
		snprintf(out, size, "%s", remedy_names[r->kind]);
}

/* How long the larger kernels are taken to last. */
static void print_merged(const struct remedy *r, FILE *out)
{
	if (r->sloped)
		fprintf(out, "  %-13s %s by their kernels' times over thread blocks\n", "",
			counted(r->sloped, "launch").s);
	if (r->calls > r->sloped)
		fprintf(out, "  %-13s %s: kernel times are added up, as on a full device\n", "",
			counted(r->calls - r->sloped, "launch").s);
}

static void print_remedies(const struct program_report *r, FILE *out)
{
	if (!r->remedies)
		return;
	fprintf(out, "\n  %-13s %10s %10s %8s\n", "change", "on A", "on B", "calls");
	for (int i = 0; i < r->remedies; i++) {
		const struct remedy *what = &r->remedy[i];
		char name[32];

		remedy_text(what, name, sizeof(name));
		fprintf(out, "  %-13s", name);
		print_change(what->a_ns, r->price->a_ns.value, out);
		print_change(what->b_ns, r->price->b_ns.value, out);
		fprintf(out, " %8ld  %s\n", (long)what->calls, remedy_texts[what->kind]);
		if (what->kind == REMEDY_MERGE)
			print_merged(what, out);
	}
}

void program_report_print(const struct program_report *r, FILE *out)
{
	print_platforms(r->price, out);
	print_times(r, out);
	print_confidence(r->price, out);
	print_ranges(r->price, out);
	print_shares(r->price, out);
	print_remedies(r, out);
}

/* ---- JSON --------------------------------------------------------------------------------- */

static json_t *shares_json(const struct program_price *p)
{
	json_t *o = json_object();

	for (int i = 0; i < SHARES; i++)
		json_object_set_new(o, share_names[i],
				    json_pack("{s:f, s:f}", "a_ns", p->profile->shares.ns[i],
					      "b_ns", p->shares_b.ns[i]));
	return o;
}

static json_t *costs_json(const struct program_price *p)
{
	json_t *o = json_object();

	for (int i = 0; i < PROFILE_COSTS; i++)
		json_object_set_new(o, profile_cost_names[i],
				    json_pack("{s:o}", "longer_ns", json_number(p->cost_ns[i])));
	return o;
}

static json_t *spreads_json(const struct program_price *p)
{
	static const char *const names[PRICE_SPREADS] = { "runs",	"starts", "launches_a",
							  "launches_b", "calls",  "session" };
	json_t *o = json_object();

	for (int i = 0; i < PRICE_SPREADS; i++)
		json_object_set_new(o, names[i], json_number(p->spread_ns[i]));
	return o;
}

static json_t *priced_ranges_json(const struct program_price *p)
{
	const struct ranges *a = &p->ranges_a, *b = &p->ranges_b;
	json_t *list = json_array();

	for (int64_t i = 0; i < a->n; i++)
		json_array_append_new(
			list, json_pack("{s:o, s:I, s:o, s:o}", "name",
					json_text(trace_name(&p->profile->trace, a->list[i].name)),
					"times", (json_int_t)a->list[i].times, "a_ns",
					json_number(a->list[i].retimed_ns), "b_ns",
					json_number(b->list[i].retimed_ns)));
	return list;
}

static json_t *remedies_json(const struct program_report *r)
{
	json_t *list = json_array();

	for (int i = 0; i < r->remedies; i++) {
		const struct remedy *what = &r->remedy[i];

		json_t *o = json_pack("{s:s, s:I, s:s?, s:I, s:o, s:o}", "remedy",
				      remedy_names[what->kind], "n", (json_int_t)what->n, "sync",
				      what->kind == REMEDY_SYNC ? sync_names[what->sync] : NULL,
				      "calls", (json_int_t)what->calls, "a_ns",
				      json_number(what->a_ns), "b_ns", json_number(what->b_ns));

		if (what->kind == REMEDY_KERNELS)
			json_object_set_new(o, "factor", json_number(what->factor));
		if (what->kind == REMEDY_MERGE)
			json_object_set_new(o, "sloped", json_integer(what->sloped));
		json_array_append_new(list, o);
	}
	return list;
}

json_t *program_report_json(const struct program_report *r)
{
	const struct program_price *p = r->price;
	const struct grid *b = p->sources->b->grid;
	json_t *out = json_pack(
		"{s:s, s:s, s:o, s:o, s:o, s:s, s:b, s:s, s:b, s:b, s:o, s:b, s:o, s:o, "
		"s:o, s:o, s:o, s:o, s:o}",
		"version", RIFT_VERSION, "command", "predict", "trace",
		json_text(p->profile->trace.path), "program", json_text(p->profile->trace.program),
		"parameters_session", json_text(b->j->path), "parameters_side",
		journal_side_name(b->side), "beyond_a", p->sources->a != NULL, "self_check",
		trust_names[p->profile->trust], "reordered", p->reordered, "slow_copies",
		p->slow_copies, "copies_ratio", json_number(p->copies_ratio), "dear_copies",
		p->dear_copies, "copies_share", json_number(p->copies_share), "a",
		profile_interval_json(&p->a_ns), "b", profile_interval_json(&p->b_ns),
		"b_measured_ns", json_number(r->measured_ns), "shares", shares_json(p),
		"one_us_more", costs_json(p), "remedies", remedies_json(r));

	json_object_set_new(out, "start_longer_ns", json_number(p->start_ns));
	json_object_set_new(out, "interval_parts_ns", spreads_json(p));
	if (p->a_device)
		json_object_set_new(out, "other_device", json_text(p->b_device));
	json_object_set_new(out, "sync", json_string(sync_of(p)));
	json_object_set_new(out, "gap_priced", json_boolean(has_gap(p)));
	if (p->ranges_a.n)
		json_object_set_new(out, "ranges", priced_ranges_json(p));
	if (p->copies_in_turn)
		json_object_set_new(out, "copies_in_turn", json_true());
	return out;
}
