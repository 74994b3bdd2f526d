/* profile_text.c - an analysed trace for people and for machines. */
#include <math.h>
#include <string.h>
#include <sys/wait.h>

#include "common/plural.h"
#include "harness/base/command.h"
#include "harness/base/json.h"
#include "harness/base/row.h"
#include "harness/base/text.h"
#include "harness/stats/interval_json.h"
#include "harness/profile/profile.h"

enum { BAR_WIDTH = 30 };

/* From which share on it is said that the kind leaves out what is outside. */
#define OUTSIDE_TOLD 0.05

/* ---- text --------------------------------------------------------------------------------- */

struct text profile_ended(int status)
{
	struct text t;

	if (WIFSIGNALED(status))
		snprintf(t.s, sizeof(t.s), "ended by signal %d (%s)", WTERMSIG(status),
			 strsignal(WTERMSIG(status)));
	else
		snprintf(t.s, sizeof(t.s), "exited with %d", WEXITSTATUS(status));
	return t;
}

const char *profile_retimed(const struct profile *p)
{
	return !p->retimed	       ? "as recorded"
	       : p->trace.is_estimated ? "re-timed at call costs estimated from the trace"
				       : "re-timed without the recorder";
}

const char *profile_program(const struct trace *t)
{
	return *t->program     ? t->program
	       : t->is_foreign ? "not named in the trace"
			       : "not named: the trace is anonymous";
}

/* The largest shares of the whole time: "94.2 % are kernels, 4.3 % before its first call and after
 * its last". */
static void print_largest(const struct shares *s, FILE *out)
{
	static const char *const words[SHARES] = {
		[SHARE_KERNELS] = "kernels",
		[SHARE_COPIES] = "copies",
		[SHARE_STREAM] = "memsets and host functions",
		[SHARE_GAPS] = "gaps between kernels",
		[SHARE_API] = "launch calls",
		[SHARE_INTERRUPTED] = "interrupted launch calls",
		[SHARE_SYNC] = "waits",
		[SHARE_COPY_CALLS] = "copy calls",
		[SHARE_MEMORY] = "allocations and loading of code",
		[SHARE_OTHER] = "other calls",
		[SHARE_HOST] = "the host's own work",
		[SHARE_OUTSIDE] = "before its first call and after its last",
	};

	enum { MOST = 3 };
	const double least = 0.02;
	bool said[SHARES] = { false };

	for (int n = 0; n < MOST; n++) {
		int largest = 0;

		while (said[largest])
			largest++;
		for (int i = largest; i < SHARES; i++)
			if (!said[i] && s->ns[i] > s->ns[largest])
				largest = i;
		if (n && share_of(s, (enum share)largest) < least)
			return;
		said[largest] = true;
		fprintf(out, "%s%.1f %% %s%s", n ? ", " : "",
			100 * share_of(s, (enum share)largest), n ? "" : "are ", words[largest]);
	}
}

/* Where the whole time goes, and what kind of program that makes it. */
static void print_finding(const struct profile *p, FILE *out)
{
	if (!p->has_kind)
		return;
	fprintf(out, "%s: of %s, ",
		!program_kind_is_worth(&p->shares, p->kind) ? "Hardly any of it is CUDA"
		: p->kind == KIND_MIXED			    ? "Mixed"
							    : program_kind_names[p->kind],
		text_time(p->shares.total_ns).s);
	print_largest(&p->shares, out);
	fputs("\n\n", out);
}

static void print_what(const struct profile *p, FILE *out)
{
	const struct trace *t = &p->trace;
	const struct shares *s = &p->shares;

	row(out, "program", "%s", profile_program(t));
	if (t->exit_status > 0)
		row(out, "", "it %s", profile_ended((int)t->exit_status).s);
	row(out, "recorded", "by %s: %s, %s, %s, %s%s", json_get_text(t->header, "recorder"),
	    counted(t->calls, "call").s, counted(t->ops, "operation").s,
	    counted(t->threads, "thread").s, counted(t->streams, "stream").s,
	    t->finished ? "" : "; no end");
	if (*t->under)
		row(out, "", "under %s, whose time counts as the program's own",
		    text_escaped(t->under).s);
	if (t->is_foreign && t->orphans)
		row(out, "left out", "%s whose calls are not in the file",
		    counted(t->orphans, "operation").s);
	if (t->device_times)
		row(out, "work", "%s, median %s; %s, %s, %s", counted(s->kernels, "kernel").s,
		    isnan(s->kernel_median_ns) ? "-" : text_time(s->kernel_median_ns).s,
		    counted(s->launches, "launch").s, counted(s->syncs, "wait").s,
		    counted(s->copies, "copy").s);
	else
		row(out, "work", "%s, %s, %s; kernels and their times are not known",
		    counted(s->launches, "launch").s, counted(s->syncs, "wait").s,
		    counted(s->copies, "copy").s);
	if (s->overlapped_ns > 0)
		row(out, "overlap", "%.1f %% of the time, two or more kernels run at once",
		    100 * s->overlapped_ns / s->total_ns);
	if (p->steps.inferred)
		row(out, "threads", "%s of one thread for another inferred from times",
		    counted(p->steps.inferred, "wait").s);
}

/* Those that it may be, or those that it cannot be; "none". */
static void print_kinds(const struct profile *p, const char *label, bool may_be, FILE *out)
{
	char text[256] = "";
	size_t n = 0;

	for (int i = 0; i < KIND_MIXED; i++)
		if (program_kind_may_be(&p->shares, &p->rules, (enum program_kind)i) == may_be)
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s", n ? ", " : "",
					      program_kind_names[i]);
	row(out, label, "%s", n ? text : "none");
}

/* "CPU-bound"; "mixed: other and host" */
static void print_name(const struct profile *p, FILE *out)
{
	enum share largest[2];

	shares_largest(&p->shares, largest);
	if (p->kind == KIND_MIXED)
		row(out, "bottleneck", "mixed: %s and %s", share_names[largest[0]],
		    share_names[largest[1]]);
	else
		row(out, "bottleneck", "%s", program_kind_names[p->kind]);
	if (share_of(&p->shares, SHARE_OUTSIDE) >= OUTSIDE_TOLD)
		row(out, "", "of the %s between its first call and its last",
		    text_time(p->shares.total_ns - p->shares.ns[SHARE_OUTSIDE]).s);
	if (!p->trace.finished)
		row(out, "",
		    "of what is there: the trace has no end, and its program was killed or "
		    "still runs");
}

static void print_advice(const struct profile *p, FILE *out)
{
	double saves_ns = program_kind_saves_ns(&p->shares, p->kind);

	if (!program_kind_is_worth(&p->shares, p->kind)) {
		row(out, "advice",
		    "look before its first call and after its last; between them less than %.0f %% "
		    "can be saved",
		    100 * KIND_WORTH);
		row(out, "", "--range NAME profiles an NVTX range of it");
		return;
	}
	row(out, "advice", "%s", program_kind_advice[p->kind]);
	row(out, "", "saves %s at most, %.1f %% of the whole", text_time(saves_ns).s,
	    100 * saves_ns / p->shares.total_ns);
	row(out, "a layer touches", "%s", program_kind_touched[p->kind]);
}

static void print_kind(const struct profile *p, FILE *out)
{
	if (!p->has_kind) {
		row(out, "bottleneck", "unknown: %s",
		    p->trust == TRUST_REFUSED ? "the self-check refused the re-timed trace"
					      : "what the device did is not in the trace");
		if (p->shares.calls_alone) {
			print_kinds(p, "may be", true, out);
			print_kinds(p, "is not", false, out);
		}
		return;
	}
	print_name(p, out);
	print_advice(p, out);
}

static void print_share(const struct shares *s, enum share what, FILE *out)
{
	double share = share_of(s, what);
	int stars = (int)(share * BAR_WIDTH + 0.5);
	char bar[BAR_WIDTH + 1];

	if (!share_is_known(s, what)) {
		fprintf(out, "  %-11s %8s  %10s  %-*s  %s\n", share_names[what], "-", "-",
			BAR_WIDTH, "", share_text(s, what));
		return;
	}
	memset(bar, '#', sizeof(bar));
	bar[stars < 0 ? 0 : stars > BAR_WIDTH ? BAR_WIDTH : stars] = '\0';
	fprintf(out, "  %-11s %6.1f %%  %10s  %-*s  %s\n", share_names[what], 100 * share,
		text_time(s->ns[what]).s, BAR_WIDTH, bar, share_text(s, what));
}

static void print_shares(const struct profile *p, FILE *out)
{
	fprintf(out, "\nshares of %s, %s%s\n", text_time(p->shares.total_ns).s, profile_retimed(p),
		p->shares.calls_alone ? ", of the main thread; the device's are not known" : "");
	for (int i = 0; i < SHARES; i++)
		print_share(&p->shares, (enum share)i, out);
	if (p->shares.copied_ns > 0)
		fprintf(out, "  of the copies %.0f %% are of pageable memory\n",
			100 * p->shares.pageable_ns / p->shares.copied_ns);
}

static void print_costs(const struct profile *p, FILE *out)
{
	if (!p->retimed)
		return;
	fprintf(out, "\n1 us more for       makes it longer by\n");
	for (int i = 0; i < PROFILE_COSTS; i++)
		fprintf(out, "  %-32s %6.2f %%\n", profile_cost_texts[i],
			100 * p->cost_ns[i] / p->shares.total_ns);
}

void profile_interval_print(FILE *out, const char *label, const struct interval *i)
{
	if (i->known)
		row(out, label, "%s (%s to %s)", text_time(i->value).s, text_time(i->lo).s,
		    text_time(i->hi).s);
	else
		row(out, label, "%s", text_time(i->value).s);
}

static void print_check(const struct profile *p, FILE *out)
{
	fputc('\n', out);
	row(out, "with recorder", "%s", text_time(p->recorded_ns).s);
	if (p->retimed)
		profile_interval_print(out, "re-timed", &p->predicted);
	if (p->trace.recordings > 1)
		row(out, "", "the median one of %d recordings, and as far as these differ",
		    p->trace.recordings);
	if (p->trace.host_runs)
		row(out, "host times", "of %s with calls alone, for %lld of %s",
		    counted(p->trace.host_runs, "run").s, (long long)p->host_gaps,
		    counted(p->trace.calls, "call").s);
	if (p->steps.graph_factor < 1)
		row(out, "", "graphs take %.3g of what was recorded, by these runs",
		    p->steps.graph_factor);
	if (p->measured.n) {
		char label[32];

		snprintf(label, sizeof(label), "without, n = %d", p->measured.n);
		profile_interval_print(out, label, &p->measured);
	}
	row(out, "self-check", "%s",
	    p->trace.device_times ? trust_names[p->trust] : "none: calls alone are not re-timed");
	if (p->ratio.known)
		row(out, "", "re-timed over without: %.3f (%.3f to %.3f)", p->ratio.value,
		    p->ratio.lo, p->ratio.hi);
	if (p->trust == TRUST_REFUSED)
		row(out, "", "by that interval they are more than %.0f %% apart",
		    100 * PROFILE_SELF_MARGIN);
	if (p->trust == TRUST_REFUSED && !p->trace.is_cpu && !p->trace.host_runs)
		row(out, "",
		    "--host-runs 2 runs the program with its calls alone recorded, too, "
		    "which slows it less");
	for (int i = 0; i < DOUBTS; i++)
		if (p->doubts & 1u << i)
			row(out, "", "%s", doubt_texts[i]);
}

void profile_print(const struct profile *p, FILE *out)
{
	print_finding(p, out);
	print_what(p, out);
	print_kind(p, out);
	print_shares(p, out);
	print_costs(p, out);
	ranges_print(&p->ranges, &p->trace, out);
	print_check(p, out);
}

/* ---- JSON --------------------------------------------------------------------------------- */

json_t *profile_interval_json(const struct interval *i)
{
	return json_pack("{s:o, s:o, s:o, s:i}", "value_ns", json_number(i->value), "lo_ns",
			 json_number(i->known ? i->lo : NAN), "hi_ns",
			 json_number(i->known ? i->hi : NAN), "n", i->n);
}

static json_t *work_json(const struct profile *p)
{
	const struct shares *s = &p->shares;
	const struct trace *t = &p->trace;

	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:f, s:f, s:I}",
			 "calls", (json_int_t)t->calls, "operations", (json_int_t)t->ops, "threads",
			 (json_int_t)t->threads, "streams", (json_int_t)t->streams, "kernels",
			 (json_int_t)s->kernels, "launches", (json_int_t)s->launches, "waits",
			 (json_int_t)s->syncs, "copies", (json_int_t)s->copies, "dropped",
			 (json_int_t)t->dropped, "kernel_median_ns",
			 json_number(s->kernel_median_ns), "kernels_per_wait",
			 json_number(s->kernels_per_sync), "overlapped_ns", s->overlapped_ns,
			 "pageable_ns", s->pageable_ns, "inferred_waits",
			 (json_int_t)p->steps.inferred);
}

static json_t *shares_json(const struct shares *s)
{
	json_t *o = json_object();

	for (int i = 0; i < SHARES; i++)
		json_object_set_new(o, share_names[i],
				    share_is_known(s, (enum share)i)
					    ? json_pack("{s:f, s:f}", "ns", s->ns[i], "share",
							share_of(s, (enum share)i))
					    : json_pack("{s:n, s:n}", "ns", "share"));
	return o;
}

/* For calls alone; else the verdict says it. */
static json_t *may_be_json(const struct profile *p)
{
	json_t *list = p->shares.calls_alone ? json_array() : json_null();

	for (int i = 0; p->shares.calls_alone && i < KIND_MIXED; i++)
		if (program_kind_may_be(&p->shares, &p->rules, (enum program_kind)i))
			json_array_append_new(list, json_string(program_kind_names[i]));
	return list;
}

static json_t *costs_json(const struct profile *p)
{
	json_t *o = json_object();

	for (int i = 0; i < PROFILE_COSTS; i++)
		json_object_set_new(o, profile_cost_names[i],
				    json_pack("{s:o, s:o}", "longer_ns", json_number(p->cost_ns[i]),
					      "share",
					      json_number(p->cost_ns[i] / p->shares.total_ns)));
	return o;
}

static json_t *doubts_json(const struct profile *p)
{
	json_t *list = json_array();

	for (int i = 0; i < DOUBTS; i++)
		if (p->doubts & 1u << i)
			json_array_append_new(list, json_string(doubt_texts[i]));
	return list;
}

/* NULL: there was one. */
static json_t *recordings_json(const struct trace *t)
{
	json_t *list = t->recordings ? json_array() : NULL;

	for (int i = 0; i < t->recordings; i++)
		json_array_append_new(list, json_number(t->retimed_wall_ns[i]));
	return list;
}

/* NULL: gaps are the recording's. */
static json_t *host_runs_json(const struct profile *p)
{
	if (!p->trace.host_runs)
		return NULL;
	return json_pack("{s:i, s:I, s:f}", "runs", p->trace.host_runs, "gaps",
			 (json_int_t)p->host_gaps, "graph_factor", p->steps.graph_factor);
}

json_t *profile_json(const struct profile *p)
{
	return json_pack(
		"{s:s, s:s, s:o, s:o, s:o, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:f, "
		"s:f, s:o, s:o*, s:o*, s:o, "
		"s:s, s:o, s:o, s:o, s:o}",
		"version", RIFT_VERSION, "command", "profile", "trace", json_text(p->trace.path),
		"program", json_text(p->trace.program), "recorder",
		json_text(json_get_text(p->trace.header, "recorder")), "retimed", p->retimed,
		"work", work_json(p), "verdict",
		p->has_kind ? json_string(program_kind_names[p->kind]) : json_null(), "may_be",
		may_be_json(p), "advice",
		p->has_kind ? json_string(program_kind_advice[p->kind]) : json_null(), "touched",
		p->has_kind ? json_string(program_kind_touched[p->kind]) : json_null(), "shares",
		shares_json(&p->shares), "one_us_more", costs_json(p), "ranges",
		ranges_json(&p->ranges, &p->trace), "total_ns", p->shares.total_ns, "recorded_ns",
		p->recorded_ns, "predicted", profile_interval_json(&p->predicted), "recordings_ns",
		recordings_json(&p->trace), "host_runs", host_runs_json(p), "without_recorder",
		profile_interval_json(&p->measured), "self_check", trust_names[p->trust], "ratio",
		interval_json(&p->ratio), "doubts", doubts_json(p), "under",
		*p->trace.under ? json_text(p->trace.under) : json_null(), "advice_saves_ns",
		json_number(p->has_kind ? program_kind_saves_ns(&p->shares, p->kind) : NAN));
}
