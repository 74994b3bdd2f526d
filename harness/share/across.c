/* across.c - see across.h. */
#include "harness/share/across.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "common/plural.h"
#include "harness/base/command.h"
#include "harness/base/json.h"
#include "harness/share/share_file.h"
#include "harness/share/share_words.h"
#include "harness/stats/interval_json.h"

enum { WORKLOAD_COLUMN = 26, ARM_COLUMN = 15, CELL_COLUMN = 19 };

/* ---- reading ---------------------------------------------------------------------------- */

/* Its place among all; SHARE_MIX_MAX of each record at most, so there may be too many. */
static int place_of(struct across *a, const struct share_plan *p, int mix)
{
	struct text_line name = share_client_text(p, mix);

	for (int i = 0; i < a->workloads; i++)
		if (!strcmp(a->workload[i].s, name.s))
			return i;
	if (a->workloads == ACROSS_WORKLOADS_MAX)
		return complain(E2BIG, "--from: more than %d workloads", ACROSS_WORKLOADS_MAX);
	a->workload[a->workloads] = name;
	return a->workloads++;
}

/* Its clients would be counted twice. */
static int refuse_again(const struct across *a, const struct share *s, const char *path)
{
	for (int i = 0; i < a->records; i++)
		if (!strcmp(a->record[i].file.id, s->file.id))
			return complain(EINVAL, "--from: %s and %s are the same record (%s)",
					a->record[i].file.path, path, text_shown(s->file.id).s);
	return 0;
}

static int read_one(struct across *a, const char *path)
{
	struct share *s = &a->record[a->records];
	int err = share_read(s, path);

	err = err ? err : refuse_again(a, s, path);
	if (!err && share_plan_has_promise(&s->plan))
		err = complain(EINVAL,
			       "%s: is of --allow, as the first record is not; give records of "
			       "one kind",
			       path);
	if (err)
		return err;
	a->records++;
	share_findings_init(&a->found[a->records - 1], s);
	if (strcmp(share_device(s), share_device(&a->record[0])) != 0)
		return complain(EINVAL,
				"%s: is of another device, %s, than the first record, which is "
				"of %s",
				path, share_device(s), share_device(&a->record[0]));
	for (int i = 0; i < s->plan.mixes && !err; i++) {
		int place = place_of(a, &s->plan, i);

		err = place < 0 ? place : 0;
	}
	return err;
}

static bool is_paired(const struct across *a, int workload)
{
	struct across_client ignored;

	for (int arm = 0; arm < ARMS; arm++)
		for (int other = 0; other < a->workloads; other++)
			if (across_beside(a, (enum share_arm)arm, workload, other, &ignored))
				return true;
	return false;
}

int across_read(struct across *a, char *const *paths, int n)
{
	int err = 0;

	memset(a, 0, sizeof(*a));
	for (int i = 0; i < ACROSS_RECORDS_MAX; i++)
		a->record[i].file = LINE_FILE_NONE;
	if (n > ACROSS_RECORDS_MAX)
		return complain(E2BIG, "--from: more than %d records", ACROSS_RECORDS_MAX);
	for (int i = 0; i < n && !err; i++)
		err = read_one(a, paths[i]);
	for (int i = 0; i < a->workloads && !err; i++)
		if (is_paired(a, i))
			a->pair[a->paired++] = i;
	return err;
}

void across_release(struct across *a)
{
	for (int i = 0; i < a->records; i++)
		share_findings_release(&a->found[i]);
	/* one that could not be read is behind those that were */
	for (int i = 0; i <= a->records && i < ACROSS_RECORDS_MAX; i++)
		share_release(&a->record[i]);
	a->records = 0;
}

int across_exit_code(const struct across *a)
{
	int worst = RIFT_OK;

	for (int i = 0; i < a->records; i++) {
		int code = share_exit_code(&a->record[i]);

		if (code == RIFT_CHECK_FAILED || !worst)
			worst = code;
	}
	return worst;
}

bool across_grows(const struct across *a, int record)
{
	const struct share_plan *p = &a->record[record].plan;

	return p->mixes == 1 && !share_plan_has_layers_of(p) && p->fault == FAULT_NONE;
}

/* ---- pairs ------------------------------------------------------------------------------ */

/* Has client i of this set that workload? */
static bool has(const struct across *a, const struct share *s, const struct share_set *set,
		int client, int workload)
{
	int mix = share_client_mix(&s->plan, set, client);

	return !strcmp(share_client_text(&s->plan, mix).s, a->workload[workload].s);
}

static bool take_pair(const struct across *a, const struct share *s, const struct share_found *e,
		      int of, int beside, struct across_client *out)
{
	const struct share_set *set = &e->of->set;

	for (int i = 0; i < 2; i++) {
		if (!has(a, s, set, i, of) || !has(a, s, set, 1 - i, beside))
			continue;
		out->slowdown = of == beside ? e->slowdown : e->client[i].over_alone.ratio;
		if (!isfinite(out->slowdown.value))
			out->slowdown.value = e->client[i].slowdown;
		out->quantile_ns = e->client[i].quantile_ns;
		return true;
	}
	return false;
}

bool across_beside(const struct across *a, enum share_arm arm, int of, int beside,
		   struct across_client *out)
{
	for (int r = 0; r < a->records; r++) {
		const struct share *s = &a->record[r];

		/* a client under a layer is another client */
		for (int i = 0; i < a->found[r].sets && !share_plan_has_layers_of(&s->plan); i++) {
			const struct share_found *e = &a->found[r].set[i];

			if (e->known && e->of->set.arm == arm && e->of->set.n == 2 &&
			    take_pair(a, s, e, of, beside, out))
				return true;
		}
	}
	return false;
}

const double *across_alone(const struct across *a, int of)
{
	for (int r = 0; r < a->records; r++)
		for (int i = 0; i < a->found[r].sets; i++) {
			const struct share_found *e = &a->found[r].set[i];

			if (e->known && e->of->set.arm == ARM_PROCESSES && e->of->set.n == 1 &&
			    has(a, &a->record[r], &e->of->set, 0, of))
				return e->client[0].quantile_ns;
		}
	return NULL;
}

int across_shortest(const struct across *a)
{
	double least = INFINITY;
	int found = -1;

	for (int i = 0; i < a->paired; i++) {
		const double *ns = across_alone(a, a->pair[i]);

		if (ns && ns[SHARE_P50] < least) {
			least = ns[SHARE_P50];
			found = a->pair[i];
		}
	}
	return found;
}

bool across_has(const struct across *a, enum share_arm arm)
{
	struct across_client ignored;

	for (int i = 0; i < a->paired; i++)
		for (int k = 0; k < a->paired; k++)
			if (i != k && across_beside(a, arm, a->pair[i], a->pair[k], &ignored))
				return true;
	return false;
}

/* ---- text ------------------------------------------------------------------------------- */

static struct text cell_text(const struct interval *v)
{
	struct text t;

	snprintf(t.s, sizeof(t.s), "%.20s%s%.30s", share_number(v->value).s, v->known ? " " : "",
		 share_range(v).s);
	return t;
}

static void put_grown(const struct share *s, const struct share_found *e, FILE *out)
{
	const struct share_set *set = &e->of->set;

	fprintf(out, "%-*.*s%-*s%3d  %8s  %-12s%+8.1f %%  %8s  %10s  %8s  %s", WORKLOAD_COLUMN,
		WORKLOAD_COLUMN - 1, share_client_text(&s->plan, 0).s, ARM_COLUMN,
		share_arms[set->arm].name, set->n, share_number(e->slowdown.value).s,
		share_range(&e->slowdown).s, 100 * e->overhead, share_number(e->busy).s,
		share_number(e->processors).s, share_number(e->daemons).s,
		set->n > 1 ? share_fairness_names[e->fairness] : "");
	if (e->has_base)
		fprintf(out, "%*s%s x %s: %s",
			14 - (int)(set->n > 1 ? strlen(share_fairness_names[e->fairness]) : 0), "",
			share_number(e->over_base.ratio.value).s,
			share_arms[share_arms[set->arm].base].name,
			verdict_names[e->over_base.judged.verdict]);
	fputc('\n', out);
}

/* Clients of one workload. */
static void put_growth(const struct across *a, FILE *out)
{
	fprintf(out,
		"time of a step over that of a client alone, 95 %%; the ideal share is n\n"
		"%-*s%-*s%3s  %8s  %-12s%10s  %8s  %10s  %8s  %-12s  %s\n",
		WORKLOAD_COLUMN, "workload", ARM_COLUMN, "method", "n", "slowdown", "95 %",
		"over 1/n", "GPU busy", "processors", "daemons", "fairness", "against the base");
	for (int r = 0; r < a->records; r++)
		for (int i = 0; i < a->found[r].sets && across_grows(a, r); i++)
			if (a->found[r].set[i].known)
				put_grown(&a->record[r], &a->found[r].set[i], out);
}

static void put_matrix(const struct across *a, enum share_arm arm, FILE *out)
{
	fprintf(out, "\n%s, two clients: time of a step over that alone\n%-*s",
		share_arms[arm].name, WORKLOAD_COLUMN, "this one, beside:");
	for (int k = 0; k < a->paired; k++)
		fprintf(out, "%-*.*s", k + 1 < a->paired ? CELL_COLUMN : 0, CELL_COLUMN - 1,
			a->workload[a->pair[k]].s);
	fputc('\n', out);
	for (int i = 0; i < a->paired; i++) {
		fprintf(out, "%-*.*s", WORKLOAD_COLUMN, WORKLOAD_COLUMN - 1,
			a->workload[a->pair[i]].s);
		for (int k = 0; k < a->paired; k++) {
			struct across_client c;
			bool is = across_beside(a, arm, a->pair[i], a->pair[k], &c);

			fprintf(out, "%-*s", k + 1 < a->paired ? CELL_COLUMN : 0,
				is ? cell_text(&c.slowdown).s : "-");
		}
		fputc('\n', out);
	}
}

static void put_quantiles(const char *beside, const double *ns, FILE *out)
{
	fprintf(out, "%-*.*s%10s  %10s  %10s\n", WORKLOAD_COLUMN, WORKLOAD_COLUMN - 1, beside,
		text_time(ns[SHARE_P50]).s, text_time(ns[SHARE_P95]).s, text_time(ns[SHARE_P99]).s);
}

static void put_shortest(const struct across *a, enum share_arm arm, FILE *out)
{
	int of = across_shortest(a);
	const double *alone = of < 0 ? NULL : across_alone(a, of);
	struct across_client c;

	if (!alone)
		return;
	fprintf(out, "\n%s: a step of %.100s\n%-*s%10s  %10s  %10s\n", share_arms[arm].name,
		a->workload[of].s, WORKLOAD_COLUMN, "beside", "p50", "p95", "p99");
	put_quantiles("(alone)", alone, out);
	for (int k = 0; k < a->paired; k++)
		if (across_beside(a, arm, of, a->pair[k], &c))
			put_quantiles(a->workload[a->pair[k]].s, c.quantile_ns, out);
}

/* The neighbour that was hurt most: lost before wrong before the slowest. */
static struct text worst_harm(const json_t *fault)
{
	const json_t *clients = json_object_get(fault, "clients");
	struct text t = { "unharmed" };
	double slowest = 0;
	int rank = -1;

	for (size_t i = 1; i < json_array_size(clients); i++) {
		const json_t *c = json_array_get(clients, i);
		const char *harm = share_harm(c);
		double slow = share_times_as_long(c, "during");
		int own = !strcmp(harm, "lost") ? 3 : !strcmp(harm, "wrong results") ? 2 : 0;

		if (own < rank || (own == rank && slow <= slowest))
			continue;
		rank = own;
		slowest = slow;
		if (own)
			snprintf(t.s, sizeof(t.s), "%s", harm);
		else
			snprintf(t.s, sizeof(t.s), "%s (%.12s x)", harm, share_number(slow).s);
	}
	return t;
}

/* Each record has one kind of harm. */
static void put_harm(const struct across *a, FILE *out)
{
	const char *before = "\nthe neighbour that one client's harm hurts most\n";

	for (int r = 0; r < a->records; r++) {
		const struct share *s = &a->record[r];

		for (int i = 0; i < s->sets; i++) {
			const struct share_measured *m = &s->set[i];
			const json_t *said = json_object_get(m->fault, "newcomer");

			if (!m->fault)
				continue;
			fprintf(out, "%s%-8s  %-*s%3d  %-28s  a new client: %s\n", before,
				share_fault_names[s->plan.fault], ARM_COLUMN,
				share_arms[m->set.arm].name, m->set.n, worst_harm(m->fault).s,
				json_is_string(said) ? text_escaped(json_string_value(said)).s
						     : "not tried");
			before = "";
		}
	}
}

static void put_missing(const struct across *a, FILE *out)
{
	const char *before = "\n";

	for (int r = 0; r < a->records; r++)
		for (int i = 0; i < a->record[r].sets; i++) {
			const struct share_measured *m = &a->record[r].set[i];

			if (!*m->not_run && a->found[r].set[i].known)
				continue;
			fprintf(out, "%s%-*.*s%-*s%3d  not %srun%s%s\n", before, WORKLOAD_COLUMN,
				WORKLOAD_COLUMN - 1, share_client_text(&a->record[r].plan, 0).s,
				ARM_COLUMN, share_arms[m->set.arm].name, m->set.n,
				*m->not_run ? "" : "yet ", *m->not_run ? ": " : "", m->not_run);
			before = "";
		}
}

void across_print(const void *across, FILE *out)
{
	const struct across *a = across;

	fprintf(out, "%s: %s\n\n", counted(a->records, "record").s,
		text_escaped(share_device(&a->record[0])).s);
	put_growth(a, out);
	for (int arm = 0; arm < ARMS; arm++)
		if (across_has(a, (enum share_arm)arm)) {
			put_matrix(a, (enum share_arm)arm, out);
			put_shortest(a, (enum share_arm)arm, out);
		}
	put_harm(a, out);
	put_missing(a, out);
}

/* ---- JSON ------------------------------------------------------------------------------- */

static void add_pairs(const struct across *a, enum share_arm arm, json_t *pairs)
{
	struct across_client c;

	for (int i = 0; i < a->paired; i++)
		for (int k = 0; k < a->paired; k++)
			if (across_beside(a, arm, a->pair[i], a->pair[k], &c))
				json_array_append_new(
					pairs,
					json_pack("{s:s, s:s, s:s, s:o, s:o, s:o, s:o}", "arm",
						  share_arms[arm].name, "workload",
						  a->workload[a->pair[i]].s, "beside",
						  a->workload[a->pair[k]].s, "slowdown",
						  interval_json(&c.slowdown), "p50_ns",
						  json_number(c.quantile_ns[SHARE_P50]), "p95_ns",
						  json_number(c.quantile_ns[SHARE_P95]), "p99_ns",
						  json_number(c.quantile_ns[SHARE_P99])));
}

json_t *across_json(const void *across)
{
	const struct across *a = across;
	json_t *records = json_array(), *pairs = json_array();

	for (int r = 0; r < a->records; r++)
		json_array_append_new(records, share_json(&a->record[r]));
	for (int arm = 0; arm < ARMS; arm++)
		add_pairs(a, (enum share_arm)arm, pairs);
	return json_pack("{s:s, s:s, s:s, s:i, s:o, s:o}", "version", RIFT_VERSION, "command",
			 "share", "device", share_device(&a->record[0]), "exit_code",
			 across_exit_code(a), "pairs", pairs, "records", records);
}
