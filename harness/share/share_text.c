/* share_text.c - what sharing costs, for people and for machines. */
#include <math.h>
#include <string.h>

#include "harness/base/command.h"
#include "common/plural.h"
#include "harness/base/json.h"
#include "harness/base/text.h"
#include "harness/share/fault.h"
#include "harness/share/findings.h"
#include "harness/share/promise.h"
#include "harness/share/share_file.h"
#include "harness/share/share_words.h"
#include "harness/share/window.h"
#include "harness/stats/interval_json.h"

enum { ARM_COLUMN = 14 };

static const char own_devices[] =
	"on the CPU device each process has a device of its own: processes share only the "
	"processors";

/* ---- texts ------------------------------------------------------------------------------ */

static struct text percent_text(double share)
{
	struct text t = { "-" };

	if (isfinite(share))
		snprintf(t.s, sizeof(t.s), "%+.1f %%", 100 * share);
	return t;
}

static struct text time_text(double ns)
{
	struct text none = { "-" };

	return isfinite(ns) ? text_time(ns) : none;
}

static struct text_line mix_text(const struct share *s)
{
	struct text_line all = { "" };
	size_t used = 0;

	for (int i = 0; i < s->plan.mixes && used < sizeof(all.s); i++)
		used += (size_t)snprintf(all.s + used, sizeof(all.s) - used, "%s%.200s",
					 i ? " and " : "", share_workload_text(&s->plan.mix[i]).s);
	return all;
}

/* With one client there is a set for each workload. */
static struct text_line set_workload(const struct share *s, const struct share_set *set)
{
	return set->n == 1 && s->plan.mixes > 1 ? share_workload_text(&s->plan.mix[set->first])
						: (struct text_line){ "" };
}

/* ---- tables ----------------------------------------------------------------------------- */

static void put_head(const struct share_found *e, FILE *out)
{
	fprintf(out, "%-*s%3d", ARM_COLUMN, share_arms[e->of->set.arm].name, e->of->set.n);
}

static void put_base(const struct share_found *e, FILE *out)
{
	const char *base = share_arms[share_arms[e->of->set.arm].base].name;

	if (e->has_base)
		fprintf(out, "%s x %s: %s", share_number(e->over_base.ratio.value).s, base,
			verdict_names[e->over_base.judged.verdict]);
}

static void put_costs(const struct share *s, const struct share_findings *f, FILE *out)
{
	struct text level = { "" };

	if (isfinite(f->level))
		snprintf(level.s, sizeof(level.s), "%.3g %%", 100 * f->level);
	fprintf(out, "\n%-*s%3s  %9s  %-12s%9s  %6s  %10s  %s\n", ARM_COLUMN, "method", "n",
		"slowdown", level.s, "over 1/n", "STP", "turnaround", "against the base");
	for (int i = 0; i < f->sets; i++) {
		const struct share_found *e = &f->set[i];
		struct text_line workload = set_workload(s, &e->of->set);

		if (!e->known)
			continue;
		put_head(e, out);
		fprintf(out, "  %9s  %-12s%9s  %6s  %10s  ", share_number(e->slowdown.value).s,
			share_range(&e->slowdown).s, percent_text(e->overhead).s,
			share_number(e->stp).s, share_number(e->mean_slowdown).s);
		put_base(e, out);
		fprintf(out, "%s%s%s\n", e->has_base && *workload.s ? "  " : "", workload.s,
			e->passed ? "" : "  check failed");
	}
}

/* Sets with too few windows to be sure that unfair treatment is found, however bad it is. */
static void put_too_few(const struct share *s, const struct share_findings *f, FILE *out)
{
	int clients = 0;

	for (int i = 0; i < f->sets; i++) {
		int n = f->set[i].of->set.n;

		if (f->set[i].known && n > 1 && f->set[i].fairness == FAIRNESS_OPEN &&
		    f->units < share_fairness_needs(n) && n > clients)
			clients = n;
	}
	if (clients)
		fprintf(out,
			"not resolved: %s may be too few to show that one of %d clients is "
			"treated unfairly; %d are enough, by %s\n",
			counted(f->units, f->units == s->plan.starts ? "start" : "window").s,
			clients, share_fairness_needs(clients),
			f->units == s->plan.starts ? "--starts" : "--repetitions");
}

static void put_fairness(const struct share *s, const struct share_findings *f, FILE *out)
{
	fprintf(out, "\n%-*s%3s  %-14s%6s  %8s  %9s  %9s  %10s  %8s  %9s  %12s\n", ARM_COLUMN,
		"method", "n", "fairness", "Jain", "max/min", "GPU busy", "memory", "processors",
		"daemons", "CPU/step", "daemons/step");
	for (int i = 0; i < f->sets; i++) {
		const struct share_found *e = &f->set[i];

		if (!e->known)
			continue;
		put_head(e, out);
		fprintf(out, "  %-14s%6s  %8s  %9s  %9s  %10s  %8s  %9s  %12s\n",
			e->of->set.n > 1 ? share_fairness_names[e->fairness] : "",
			share_number(e->jain).s, share_number(e->max_min).s,
			share_number(e->busy).s,
			isfinite(e->memory) ? text_bytes(e->memory).s : "-",
			share_number(e->processors).s, share_number(e->daemons).s,
			time_text(e->cpu_ns).s, time_text(e->daemons_ns).s);
	}
	put_too_few(s, f, out);
}

static void put_client(const struct share *s, const struct share_found *e, int client, FILE *out)
{
	const struct share_set *set = &e->of->set;
	const struct share_client_found *c = &e->client[client];
	bool mixed = s->plan.mixes > 1;

	fprintf(out, "%-*s%3d  %6d  %10s  %8s  %8s  %9s  %9s  %9s", ARM_COLUMN,
		client ? "" : share_arms[set->arm].name, set->n, client + 1, text_count(c->rate).s,
		share_number(c->slowdown).s,
		set->n > 1 ? share_number(c->against_mean.ratio.value).s : "",
		time_text(c->quantile_ns[SHARE_P50]).s, time_text(c->quantile_ns[SHARE_P95]).s,
		time_text(c->quantile_ns[SHARE_P99]).s);
	if (mixed)
		fprintf(out, "  %s",
			share_workload_text(&s->plan.mix[share_client_mix(&s->plan, set, client)])
				.s);
	if (s->plan.layer_of[client] && set->n > 1)
		fprintf(out, "  under %s", text_shown(s->plan.layer_of[client]).s);
	fputc('\n', out);
}

static void put_clients(const struct share *s, const struct share_findings *f, FILE *out)
{
	fprintf(out, "\n%-*s%3s  %6s  %10s  %8s  %8s  %9s  %9s  %9s\n", ARM_COLUMN, "method", "n",
		"client", "steps/s", "slowdown", "of mean", "p50", "p95", "p99");
	for (int i = 0; i < f->sets; i++)
		for (int k = 0; k < f->set[i].of->set.n && f->set[i].known; k++)
			put_client(s, &f->set[i], k, out);
}

static void put_not_run(const struct share *s, FILE *out)
{
	const char *before = "\n";

	for (int i = 0; i < s->sets; i++) {
		const struct share_measured *m = &s->set[i];

		if (share_set_is_whole(s, m) && !*m->not_run)
			continue;
		fprintf(out, "%s%-*s%3d  not %srun%s%s\n", before, ARM_COLUMN,
			share_arms[m->set.arm].name, m->set.n, *m->not_run ? "" : "yet ",
			*m->not_run ? ": " : "", m->not_run);
		before = "";
	}
}

/* ---- harm ------------------------------------------------------------------------------- */

static void put_neighbours(const json_t *fault, FILE *out)
{
	const json_t *clients = json_object_get(fault, "clients");

	for (size_t i = 1; i < json_array_size(clients); i++) {
		const json_t *c = json_array_get(clients, i);
		bool lost = *json_get_text(c, "lost");

		fprintf(out, "%-*s%3s  %6zu  %-18s%8s  %8s  %s\n", ARM_COLUMN, "", "", i + 1,
			share_harm(c),
			lost ? "-" : share_number(share_times_as_long(c, "during")).s,
			lost ? "-" : share_number(share_times_as_long(c, "after")).s,
			text_escaped(json_get_text(c, "lost")).s);
	}
}

static void put_faults(const struct share *s, FILE *out)
{
	if (s->plan.fault == FAULT_NONE)
		return;
	fprintf(out,
		"\none client: %s; the others' time meanwhile and after over before\n%-*s%3s  %6s  "
		"%-18s%8s  %8s\n",
		share_fault_names[s->plan.fault], ARM_COLUMN, "method", "n", "client", "",
		"meanwhile", "after");
	for (int i = 0; i < s->sets; i++) {
		const struct share_measured *m = &s->set[i];
		const json_t *first = json_array_get(json_object_get(m->fault, "clients"), 0);

		if (!m->fault)
			continue;
		fprintf(out, "%-*s%3d  %6d  did it: %s; a new client: %s\n", ARM_COLUMN,
			share_arms[m->set.arm].name, m->set.n, 1,
			*json_get_text(first, "lost") ? text_escaped(json_get_text(first, "lost")).s
						      : "goes on",
			json_is_null(json_object_get(m->fault, "newcomer"))
				? "not tried"
				: text_escaped(json_get_text(m->fault, "newcomer")).s);
		put_neighbours(m->fault, out);
	}
}

/* ---- the answer in a line ----------------------------------------------------------------- */

/* The client that a set slows most; -1: not known, or its results are wrong. */
static int slowed_most(const struct share_found *e)
{
	int most = -1;

	for (int k = 0; k < e->of->set.n && e->known && e->passed; k++)
		if (isfinite(e->client[k].slowdown) &&
		    (most < 0 || e->client[k].slowdown > e->client[most].slowdown))
			most = k;
	return most;
}

static int most_clients(const struct share_findings *f)
{
	int n = 0;

	for (int i = 0; i < f->sets; i++)
		if (f->set[i].of->set.n > n && slowed_most(&f->set[i]) >= 0)
			n = f->set[i].of->set.n;
	return n;
}

/* ", 94.1 % interval 3.51 to 3.80, n = 7 windows" */
static void put_interval(const struct share_findings *f, const struct interval *i, FILE *out)
{
	if (i->known)
		fprintf(out, "%.3g %% interval %s to %s, ", 100 * f->level, share_number(i->lo).s,
			share_number(i->hi).s);
	fprintf(out, "n = %s", counted(f->units, f->unit).s);
}

/* "3.69 times as long as alone under mps (mlp; 94.1 % interval 3.51 to 3.80, n = 7 windows)" */
static void put_slowed(const struct share *s, const struct share_findings *f,
		       const struct share_found *e, FILE *out)
{
	const struct share_set *set = &e->of->set;
	int client = slowed_most(e);

	fprintf(out, "%s times as long as alone under %s (",
		share_number(e->client[client].slowdown).s, share_arms[set->arm].name);
	if (s->plan.mixes > 1)
		fprintf(out, "%s; ",
			share_workload_text(&s->plan.mix[share_client_mix(&s->plan, set, client)])
				.s);
	put_interval(f, &e->client[client].over_alone.ratio, out);
	fputc(')', out);
}

static double slowed_by(const struct share_found *e)
{
	return e->client[slowed_most(e)].slowdown;
}

/* Do the intervals of the clients that each slows most have something in common? */
static bool is_tie(const struct share_found *a, const struct share_found *b)
{
	const struct interval *x = &a->client[slowed_most(a)].over_alone.ratio;
	const struct interval *y = &b->client[slowed_most(b)].over_alone.ratio;

	return !(x->known && y->known) || (x->lo <= y->hi && y->lo <= x->hi);
}

/* "; not shown to differ: streams, remote+mps" */
static void put_ties(const struct share_findings *f, const struct share_found *e, FILE *out)
{
	int said = 0;

	for (int i = 0; i < f->sets; i++) {
		const struct share_found *o = &f->set[i];

		if (o == e || o->of->set.n != e->of->set.n || slowed_most(o) < 0 || !is_tie(e, o))
			continue;
		fprintf(out, "%s%s", said++ ? ", " : " (not shown to differ from it: ",
			share_arms[o->of->set.arm].name);
	}
	fputs(said ? ")" : "", out);
}

/* Of the sets with the most clients: what the worst served one of them gets, at best and at worst.
 */
static void put_answer(const struct share *s, const struct share_findings *f, FILE *out)
{
	const struct share_found *best = NULL, *worst = NULL;
	int n = most_clients(f);

	for (int i = 0; i < f->sets && n > 1; i++) {
		const struct share_found *e = &f->set[i];

		if (e->of->set.n != n || slowed_most(e) < 0)
			continue;
		if (!best || slowed_by(e) < slowed_by(best))
			best = e;
		if (!worst || slowed_by(e) > slowed_by(worst))
			worst = e;
	}
	if (!best)
		return;
	fprintf(out, "Of %d clients the one that is slowed most takes ", n);
	put_slowed(s, f, best, out);
	if (worst != best) {
		fputs(", the best way of sharing measured", out);
		put_ties(f, best, out);
		fputs(", and ", out);
		put_slowed(s, f, worst, out);
		fputs(", the worst", out);
	}
	fputc('\n', out);
}

/* Nothing runs faster beside others than alone: its time alone was another one. */
static void put_faster(const struct share *s, const struct share_findings *f, FILE *out)
{
	const struct share_client_found *least = NULL;
	const struct share_found *in = NULL;

	for (int i = 0; i < f->sets; i++)
		for (int k = 0; f->set[i].known && k < f->set[i].of->set.n; k++) {
			const struct share_client_found *c = &f->set[i].client[k];

			if (f->set[i].of->set.n < 2 ||
			    c->over_alone.judged.verdict != VERDICT_FASTER ||
			    (least && least->slowdown <= c->slowdown))
				continue;
			least = c;
			in = &f->set[i];
		}
	if (!least)
		return;
	fprintf(out, "%s ran faster under %s than alone (%s times as long, ",
		share_workload_text(&s->plan.mix[share_client_mix(&s->plan, &in->of->set,
								  (int)(least - in->client))])
			.s,
		share_arms[in->of->set.arm].name, share_number(least->slowdown).s);
	put_interval(f, &least->over_alone.ratio, out);
	fputs("): its time alone may be off\n", out);
}

void share_answer_print(const struct share *s, FILE *out)
{
	struct share_findings f;

	if (share_plan_has_promise(&s->plan)) {
		promise_answer_print(s, out);
		return;
	}
	share_findings_init(&f, s);
	put_answer(s, &f, out);
	put_faster(s, &f, out);
	share_findings_release(&f);
}

void share_print(const struct share *s, FILE *out)
{
	struct share_findings f;

	if (share_plan_has_promise(&s->plan)) {
		promise_print(s, out);
		return;
	}
	share_findings_init(&f, s);
	put_answer(s, &f, out);
	put_faster(s, &f, out);
	fprintf(out, "%s: %s, depth %ld, %s%s%s of %g s or longer per configuration, %s\n",
		mix_text(s).s, text_escaped(share_device(s)).s, (long)s->plan.depth,
		s->plan.sync ? s->plan.sync : "", s->plan.sync ? " waits, " : "",
		counted(share_plan_windows(&s->plan), "window").s, s->plan.window_s,
		counted(s->plan.starts, "start").s);
	if (share_is_cpu(s))
		fprintf(out, "%s\n", own_devices);
	put_costs(s, &f, out);
	put_fairness(s, &f, out);
	put_clients(s, &f, out);
	put_not_run(s, out);
	put_faults(s, out);
	share_findings_release(&f);
}

/* ---- the plan --------------------------------------------------------------------------- */

/* Starting a set takes a second or two on a GPU: guessed, not measured. */
enum { START_S = 2 };

/* Five processes that take memory in some hundred calls: guessed, too. */
enum { MEMORY_S = 15 };

/* Three windows, and a client that starts. */
static double harm_s(const struct share_plan *p)
{
	double hang_s = p->fault == FAULT_HANG ? FAULT_HANG_S : 0;

	return p->fault == FAULT_NONE ? 0 : 3 * p->window_s + START_S + hang_s;
}

static double plan_s(const struct share *s)
{
	double idle_s = share_plan_has_promise(&s->plan) ? WINDOW_IDLE_S : 0;
	double sum = s->plan.allow.memory > 0 ? MEMORY_S : 0;

	for (int i = 0; i < s->sets; i++) {
		const struct share_set *set = &s->set[i].set;

		sum += START_S * s->plan.starts;
		sum += (window_planned_s(&s->plan, set) + idle_s) * share_plan_windows(&s->plan);
		sum += set->n > 1 ? harm_s(&s->plan) : 0;
	}
	return sum;
}

void share_plan_print(const struct share *s, FILE *out)
{
	int missing = 0;

	for (int i = 0; i < s->sets; i++)
		missing += share_arm_missing(s->set[i].set.arm) != NULL;
	fprintf(out, "%s: %s, %d not available here; about %s\n", mix_text(s).s,
		counted(s->sets, "configuration").s, missing,
		text_time(plan_s(s) * (s->sets ? 1 - missing / (double)s->sets : 1) * 1e9).s);
}

/* Each arm of it, with what it is and why it cannot be had. */
void share_dry_print(const struct share *s, FILE *out)
{
	share_plan_print(s, out);
	for (int i = 0; i < ARMS; i++) {
		const char *missing = share_arm_missing((enum share_arm)i);

		if (s->plan.arm[i])
			fprintf(out, "  %-*s%s%s%s\n", ARM_COLUMN, share_arms[i].name,
				share_arms[i].what, missing ? "; not run: " : "",
				missing ? missing : "");
	}
}

/* ---- JSON ------------------------------------------------------------------------------- */

static json_t *judged_json(const struct judged_point *p)
{
	json_t *o = interval_json(&p->ratio);

	json_object_set_new(o, "verdict", json_string(verdict_names[p->judged.verdict]));
	return o;
}

static json_t *client_json(const struct share *s, const struct share_found *e, int client)
{
	const struct share_client_found *c = &e->client[client];
	const struct share_set *set = &e->of->set;
	json_t *o =
		json_pack("{s:i, s:O, s:o, s:o, s:o, s:o, s:o}", "client", client + 1, "workload",
			  s->plan.mix[share_client_mix(&s->plan, set, client)].words, "steps_per_s",
			  json_number(c->rate), "slowdown", json_number(c->slowdown), "p50_ns",
			  json_number(c->quantile_ns[SHARE_P50]), "p95_ns",
			  json_number(c->quantile_ns[SHARE_P95]), "p99_ns",
			  json_number(c->quantile_ns[SHARE_P99]));

	if (set->n > 1)
		json_object_set_new(o, "against_mean", judged_json(&c->against_mean));
	if (s->plan.layer_of[client] && set->n > 1)
		json_object_set_new(o, "layer", json_text(s->plan.layer_of[client]));
	return o;
}

static json_t *found_json(const struct share *s, const struct share_found *e)
{
	const struct share_set *set = &e->of->set;
	json_t *o = share_line("set", set), *clients = json_array();

	json_object_del(o, "record");
	json_object_set_new(o, "not_run",
			    *e->of->not_run ? json_text(e->of->not_run)
			    : e->known	    ? json_null()
					    : json_string("not yet"));
	for (int i = 0; i < set->n && e->known; i++)
		json_array_append_new(clients, client_json(s, e, i));
	json_object_set_new(o, "slowdown", interval_json(&e->slowdown));
	json_object_set_new(o, "overhead", json_number(e->overhead));
	json_object_set_new(o, "stp", json_number(e->stp));
	json_object_set_new(o, "mean_slowdown", json_number(e->mean_slowdown));
	json_object_set_new(o, "jain", json_number(e->jain));
	json_object_set_new(o, "max_min", json_number(e->max_min));
	json_object_set_new(o, "fairness",
			    set->n > 1 && e->known ? json_string(share_fairness_names[e->fairness])
						   : json_null());
	json_object_set_new(o, "fairness_needs",
			    set->n > 1 ? json_integer(share_fairness_needs(set->n)) : json_null());
	json_object_set_new(o, "busy", json_number(e->busy));
	json_object_set_new(o, "processors", json_number(e->processors));
	json_object_set_new(o, "daemons", json_number(e->daemons));
	json_object_set_new(o, "cpu_step_ns", json_number(e->cpu_ns));
	json_object_set_new(o, "daemons_step_ns", json_number(e->daemons_ns));
	json_object_set_new(o, "memory", json_number(e->memory));
	json_object_set_new(o, "passed", json_boolean(e->passed));
	json_object_set_new(o, "base",
			    e->has_base ? json_string(share_arms[share_arms[set->arm].base].name)
					: json_null());
	json_object_set_new(o, "over_base", e->has_base ? judged_json(&e->over_base) : json_null());
	json_object_set_new(o, "clients", clients);
	return o;
}

static json_t *fault_json(const struct share_measured *m)
{
	json_t *o = json_deep_copy(m->fault), *client;
	size_t i;

	json_object_del(o, "record");
	json_object_del(o, "crc32");
	json_array_foreach(json_object_get(o, "clients"), i, client)
	{
		json_object_set_new(client, "harm",
				    i ? json_string(share_harm(client)) : json_null());
	}
	return o;
}

json_t *share_json(const struct share *s)
{
	struct share_findings f;
	json_t *sets, *faults;

	if (share_plan_has_promise(&s->plan))
		return promise_json(s);
	sets = json_array();
	faults = json_array();
	share_findings_init(&f, s);
	for (int i = 0; i < f.sets; i++)
		json_array_append_new(sets, found_json(s, &f.set[i]));
	for (int i = 0; i < s->sets; i++)
		if (s->set[i].fault)
			json_array_append_new(faults, fault_json(&s->set[i]));
	share_findings_release(&f);
	return json_pack("{s:s, s:s, s:s, s:b, s:b, s:s, s:o, s:i, s:o, s:o}", "version",
			 RIFT_VERSION, "command", "share", "device", share_device(s), "is_cpu",
			 share_is_cpu(s), "own_devices", share_is_cpu(s), "record",
			 s->file.path ? s->file.path : "", "plan", share_plan_json(&s->plan),
			 "exit_code", share_exit_code(s), "sets", sets, "faults", faults);
}

json_t *share_dry_json(const struct share *s)
{
	json_t *sets = json_array();

	for (int i = 0; i < s->sets; i++) {
		const char *missing = share_arm_missing(s->set[i].set.arm);
		json_t *o = share_line("set", &s->set[i].set);

		json_object_del(o, "record");
		json_object_set_new(o, "not_run", json_text(missing));
		json_array_append_new(sets, o);
	}
	return json_pack("{s:s, s:s, s:o, s:f, s:o}", "version", RIFT_VERSION, "command", "share",
			 "plan", share_plan_json(&s->plan), "predicted_s", plan_s(s), "sets", sets);
}
