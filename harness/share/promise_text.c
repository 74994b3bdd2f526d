/* promise_text.c - whether what was promised is what clients get, for people and for machines. */
#include <math.h>
#include <string.h>

#include "common/plural.h"
#include "harness/base/command.h"
#include "harness/base/json.h"
#include "harness/base/text.h"
#include "harness/share/promise.h"
#include "harness/share/share_words.h"
#include "harness/stats/interval_json.h"

static const char own_devices[] =
	"on the CPU device each process has a device of its own: each gets its share of that";

static const char *const how_texts[] = { "queued", "waited for" };

/* ---- texts ------------------------------------------------------------------------------ */

/* "29.9 %" */
static struct text share_text(double share)
{
	struct text t = { "-" };

	if (isfinite(share))
		snprintf(t.s, sizeof(t.s), "%.1f %%", 100 * share);
	return t;
}

/* "28.0-32.1 %" */
static struct text range_text(double lo, double hi)
{
	struct text t = { "-" };

	if (isfinite(lo) && isfinite(hi))
		snprintf(t.s, sizeof(t.s), "%.1f-%.1f %%", 100 * lo, 100 * hi);
	return t;
}

static struct text interval_text(const struct promise_row *r, double promised)
{
	const struct interval *i = &r->judged.ratio;

	return range_text(i->known ? i->lo * promised : NAN, i->known ? i->hi * promised : NAN);
}

static struct text seconds_text(double s)
{
	struct text none = { "-" };

	return isfinite(s) ? text_time(s * 1e9) : none;
}

static struct text_line workload_of(const struct share *s, const struct promise_row *r)
{
	return share_workload_text(
		&s->plan.mix[share_client_mix(&s->plan, &r->of->set, r->client)]);
}

/* ---- the answer in a line ----------------------------------------------------------------- */

/* The row that the verdict is of: the one that is off by most. */
static const struct promise_row *worst_row(const struct promise *l)
{
	const struct promise_row *worst = NULL;

	for (int i = 0; i < l->rows; i++) {
		const struct promise_row *r = &l->row[i];

		if (r->known && r->verdict == l->compute &&
		    (!worst ||
		     fabs(log(r->judged.ratio.value)) > fabs(log(worst->judged.ratio.value))))
			worst = r;
	}
	return worst;
}

/* Then a limit is not yet seen at work where shares are counted. */
static void put_full_speed(const struct share *s, const struct promise_row *r, FILE *out)
{
	if (r->verdict == PROMISE_MORE && r->full_s > s->plan.window_s / 2)
		fprintf(out,
			"; it ran at full speed for the first %.3g s: a longer --window shows "
			"what follows",
			r->full_s);
}

static void put_compute(const struct share *s, const struct promise *l, FILE *out)
{
	const struct promise_row *r = worst_row(l);
	double promised = s->plan.allow.compute;

	fprintf(out, "compute=%g%%: %s", 100 * promised, promise_names[l->compute]);
	if (r) {
		fprintf(out, ": %s of the device's time", share_text(r->share).s);
		if (r->judged.ratio.known)
			fprintf(out, " (%.3g %% interval %s)", 100 * l->level,
				interval_text(r, promised).s);
		fprintf(out, " from %g to %g s after its work began, with %s, %s, n = %s",
			s->plan.window_s / 2, s->plan.window_s, counted(r->of->set.n, "client").s,
			how_texts[r->how], counted(l->starts, "start").s);
		put_full_speed(s, r, out);
	}
	fputc('\n', out);
}

/* "67108864 bytes" */
static struct text bytes_text(double bytes)
{
	struct text t;

	snprintf(t.s, sizeof(t.s), "%.0f bytes", bytes);
	return t;
}

/* The largest single allocation. */
static double largest(const json_t *line, const char *when)
{
	return json_get_number(json_object_get(line, when), "one");
}

/* ", but 536870912 after kill -9", of the first time when not all was given again. */
static void put_lost(const json_t *line, FILE *out)
{
	static const char *const when[][2] = { { "freed", "cudaFree" },
					       { "exited", "the process's exit" },
					       { "killed", "kill -9" } };
	double alone = largest(line, "alone");

	for (size_t i = 0; i < sizeof(when) / sizeof(*when); i++) {
		double again = largest(line, when[i][0]);

		if (again >= alone)
			continue;
		fprintf(out, ", but %.0f after %s", again, when[i][1]);
		return;
	}
}

/* "8046772224 bytes by cudaMalloc, beside 543162368 of the process's own" */
static void put_most(const struct share *s, FILE *out)
{
	const struct promise_taken most = promise_most(s->memory);
	double context = promise_context_bytes(s->memory, s->plan.allow.memory);

	fprintf(out, ": %s by %s", bytes_text(most.bytes).s, most.by);
	if (context > 0)
		fprintf(out, ", beside %.0f of the process's own", context);
	put_lost(s->memory, out);
}

static void put_memory(const struct share *s, const struct promise *l, FILE *out)
{
	double promised = (double)s->plan.allow.memory;

	fprintf(out, "memory=%s: %s", bytes_text(promised).s,
		s->memory ? promise_names[l->memory] : "not yet measured");
	if (l->memory == PROMISE_HOLDS && largest(s->memory, "alone") == promised &&
	    promise_most(s->memory).bytes == promised)
		fputs(", to the byte", out);
	else if (s->memory)
		put_most(s, out);
	fputc('\n', out);
}

static void put_answers(const struct share *s, const struct promise *l, FILE *out)
{
	if (s->plan.allow.compute > 0)
		put_compute(s, l, out);
	if (s->plan.allow.memory > 0)
		put_memory(s, l, out);
}

/* ---- tables ----------------------------------------------------------------------------- */

static void put_base(const struct share *s, const struct promise *l, FILE *out)
{
	fprintf(out, "\n%-28s%10s  %10s\n", "without a limit", "steps/s", "waited for");
	for (int i = 0; i < s->plan.mixes; i++) {
		const struct promise_base *b = &l->base[i];

		fprintf(out, "%-28s%10s  %10s\n", share_workload_text(&s->plan.mix[i]).s,
			isfinite(b->rate) ? text_count(b->rate).s : "-", share_text(b->waits).s);
		if (!promise_is_steady(b))
			fprintf(out,
				"not steady: in windows of 100 ms it falls to %s of its median, so "
				"nothing is judged; end what else runs here\n",
				share_text(b->least).s);
	}
}

static void put_share(const struct share *s, const struct promise_row *r, FILE *out)
{
	fprintf(out, "%7d  %6d  %-11s%8s  %14s  ", r->of->set.n, r->client + 1, how_texts[r->how],
		share_text(r->share).s, interval_text(r, s->plan.allow.compute).s);
	if (s->plan.mixes > 1)
		fprintf(out, "%-24s%s\n", promise_names[r->verdict], workload_of(s, r).s);
	else
		fprintf(out, "%s\n", promise_names[r->verdict]);
}

static void put_shares(const struct share *s, const struct promise *l, FILE *out)
{
	struct text level = { "" };

	if (isfinite(l->level))
		snprintf(level.s, sizeof(level.s), "%.3g %%", 100 * l->level);
	fprintf(out, "\n%7s  %6s  %-11s%8s  %14s  %s\n", "clients", "client", "steps are", "share",
		level.s, s->plan.mixes > 1 ? "verdict                 workload" : "verdict");
	for (int i = 0; i < l->rows; i++)
		if (l->row[i].known)
			put_share(s, &l->row[i], out);
}

static void put_windows(const struct promise *l, FILE *out)
{
	fprintf(out, "\n%7s  %6s  %-11s%14s  %14s  %14s  %9s  %9s  %9s\n", "clients", "client",
		"steps are", "in 10 ms", "in 100 ms", "in 1 s", "burst", "spent in", "pause");
	for (int i = 0; i < l->rows; i++) {
		const struct promise_row *r = &l->row[i];

		if (!r->known)
			continue;
		fprintf(out, "%7d  %6d  %-11s", r->of->set.n, r->client + 1, how_texts[r->how]);
		for (int k = 0; k < PROMISE_SPANS; k++)
			fprintf(out, "%14s  ", range_text(r->spread[k].lo, r->spread[k].hi).s);
		fprintf(out, "%9s  %9s  %9s\n", seconds_text(r->burst_s).s,
			seconds_text(r->settled_s).s, seconds_text(r->pause_s).s);
	}
}

static void put_not_run(const struct share *s, FILE *out)
{
	const char *before = "\n";

	for (int i = 0; i < s->sets; i++) {
		const struct share_measured *m = &s->set[i];

		if (share_set_is_whole(s, m) && !*m->not_run)
			continue;
		fprintf(out, "%s%s, %s: not %srun%s%s\n", before, share_arms[m->set.arm].name,
			counted(m->set.n, "client").s, *m->not_run ? "" : "yet ",
			*m->not_run ? ": " : "", m->not_run);
		before = "";
	}
}

/* ---- memory ------------------------------------------------------------------------------ */

static void put_taken(const char *what, const json_t *at, const char *member_name,
		      const char *refusal, FILE *out)
{
	double bytes = json_get_number(at, member_name);
	const char *error = json_get_text(at, refusal);

	if (!isfinite(bytes))
		return;
	fprintf(out, "%-30s%16.0f  %11s%s%s\n", what, bytes, text_bytes(bytes).s,
		*error ? "  then " : "", text_escaped(error).s);
}

static void put_memory_table(const struct share *s, FILE *out)
{
	const json_t *line = s->memory, *alone = json_object_get(line, "alone");
	double context = promise_context_bytes(line, s->plan.allow.memory);

	if (!line)
		return;
	fprintf(out, "\n%-30s%16s\n", "memory", "bytes");
	put_taken("cudaMemGetInfo: total", alone, "total", "", out);
	put_taken("cudaMemGetInfo: free", alone, "free", "", out);
	if (context > 0)
		fprintf(out, "%-30s%16.0f  %11s\n", "the process's own (context)", context,
			text_bytes(context).s);
	put_taken("cudaMalloc, in one piece", alone, "one", "one_error", out);
	put_taken("cudaMalloc, in many pieces", alone, "many", "many_error", out);
	put_taken("cudaMallocAsync, in one piece", alone, "pool", "pool_error", out);
	put_taken("cudaMallocArray", alone, "array", "array_error", out);
	put_taken("a graph's memory nodes", alone, "graph", "graph_error", out);
	put_taken("again, after cudaFree", json_object_get(line, "freed"), "one", "", out);
	put_taken("beside a client that has all", json_object_get(line, "beside"), "one",
		  "one_error", out);
	put_taken("after the process's exit", json_object_get(line, "exited"), "one", "", out);
	put_taken("after kill -9", json_object_get(line, "killed"), "one", "", out);
	fprintf(out, "pinned memory is %s\n", json_get_text(alone, "pinned"));
}

/* ---- all --------------------------------------------------------------------------------- */

static void put_head(const struct share *s, FILE *out)
{
	const struct share_allow *a = &s->plan.allow;

	for (int i = 0; i < s->plan.mixes; i++)
		fprintf(out, "%s%.200s", i ? " and " : "", share_workload_text(&s->plan.mix[i]).s);
	fprintf(out, "%s%.300s: allowed %s; %s", a->layers ? " under " : "", allow_layers_text(a).s,
		allow_text(a).s, text_escaped(share_device(s)).s);
	if (a->compute > 0)
		fprintf(out, ", %s of two windows of %g s", counted(s->plan.starts, "start").s,
			s->plan.window_s);
	fputc('\n', out);
	if (share_is_cpu(s) && a->compute > 0)
		fprintf(out, "%s\n", own_devices);
}

void promise_answer_print(const struct share *s, FILE *out)
{
	struct promise l;

	promise_init(&l, s);
	put_answers(s, &l, out);
	promise_release(&l);
}

void promise_print(const struct share *s, FILE *out)
{
	struct promise l;

	promise_init(&l, s);
	put_answers(s, &l, out);
	put_head(s, out);
	if (s->plan.allow.compute > 0) {
		put_base(s, &l, out);
		put_shares(s, &l, out);
		put_windows(&l, out);
	}
	put_not_run(s, out);
	put_memory_table(s, out);
	promise_release(&l);
}

/* ---- JSON ------------------------------------------------------------------------------- */

static json_t *spread_json(const struct promise_row *r)
{
	json_t *all = json_array();

	for (int i = 0; i < PROMISE_SPANS; i++)
		json_array_append_new(all,
				      json_pack("{s:f, s:o, s:o}", "window_s", promise_span_s[i],
						"p5", json_number(r->spread[i].lo), "p95",
						json_number(r->spread[i].hi)));
	return all;
}

static json_t *row_json(const struct share *s, const struct promise_row *r)
{
	const struct share_set *set = &r->of->set;
	json_t *o = json_pack("{s:i, s:i, s:s, s:O, s:o, s:s}", "clients", set->n, "client",
			      r->client + 1, "steps", timeline_names[r->how], "workload",
			      s->plan.mix[share_client_mix(&s->plan, set, r->client)].words,
			      "share", json_number(r->share), "verdict", promise_names[r->verdict]);

	json_object_set_new(o, "over_allowed", interval_json(&r->judged.ratio));
	if (!r->known)
		return o;
	json_object_set_new(o, "windows", spread_json(r));
	json_object_set_new(o, "burst_s", json_number(r->burst_s));
	json_object_set_new(o, "spent_s", json_number(r->settled_s));
	json_object_set_new(o, "pause_s", json_number(r->pause_s));
	json_object_set_new(o, "full_speed_s", json_number(r->full_s));
	return o;
}

static json_t *base_json(const struct share *s, const struct promise_base *b, int mix)
{
	return json_pack("{s:O, s:o, s:o, s:o}", "workload", s->plan.mix[mix].words, "steps_per_s",
			 json_number(b->rate), "waits", json_number(b->waits), "least",
			 json_number(b->least));
}

static json_t *memory_json(const struct share *s)
{
	json_t *o = s->memory ? json_deep_copy(s->memory) : json_null();

	json_object_del(o, "record");
	json_object_del(o, "crc32");
	return o;
}

json_t *promise_json(const struct share *s)
{
	const struct share_allow *a = &s->plan.allow;
	json_t *rows = json_array(), *bases = json_array(), *o;
	struct promise l;

	promise_init(&l, s);
	for (int i = 0; i < l.rows; i++)
		json_array_append_new(rows, row_json(s, &l.row[i]));
	for (int i = 0; i < s->plan.mixes && a->compute > 0; i++)
		json_array_append_new(bases, base_json(s, &l.base[i], i));
	o = json_pack("{s:s, s:s, s:s, s:b, s:s, s:o, s:i, s:s, s:o, s:o, s:o, s:o, s:o}",
		      "version", RIFT_VERSION, "command", "share", "device", share_device(s),
		      "is_cpu", share_is_cpu(s), "record", s->file.path ? s->file.path : "", "plan",
		      share_plan_json(&s->plan), "exit_code", promise_exit_code(s), "verdict",
		      promise_names[l.verdict], "compute",
		      a->compute > 0 ? json_string(promise_names[l.compute]) : json_null(),
		      "memory", a->memory > 0 ? json_string(promise_names[l.memory]) : json_null(),
		      "bases", bases, "clients", rows, "taken", memory_json(s));
	promise_release(&l);
	return o;
}
