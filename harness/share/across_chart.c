/* across_chart.c - charts of several records: who hurts whom, and the shortest steps beside each.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "common/plural.h"
#include "harness/chart/words.h"
#include "harness/share/across.h"
#include "harness/share/share_file.h"
#include "harness/share/share_words.h"
#include "workloads/workload.h"

static void label(const struct across *a, struct plot *p)
{
	plot_text(p, "made1", "%s, %s", share_device(&a->record[0]),
		  counted(a->records, "record").s);
	plot_text(p, "made2", "%s",
		  share_is_cpu(&a->record[0]) ? "processes have a CPU device each, and share only "
						"the processors"
					      : "");
}

static bool wait_alike(const struct across *a)
{
	for (int r = 1; r < a->records; r++)
		if (a->record[r].plan.sync != a->record[0].plan.sync)
			return false;
	return true;
}

/* Names are short: "blocking: " (share_client_text) stays only where others wait otherwise. */
static void name_series(struct plot *p, const struct across *a, const struct text_line *workload,
			int series, int most)
{
	const char *sync = wait_alike(a) ? a->record[0].plan.sync : NULL;
	size_t n = sync ? strlen(sync) : 0;
	bool begins = n && !strncmp(workload->s, sync, n) && workload->s[n] == ':';
	char name[600];

	snprintf(name, sizeof(name), "%s", workload->s + (begins ? n + 2 : 0));
	words_cut(name, sizeof(name), most);
	plot_text(p, words_name("name", series).s, "%s", name);
}

/* ---- among its own kind ----------------------------------------------------------------- */

/* The set of one arm and number of clients; NULL: it has no figures. */
static const struct share_found *set_of(const struct across *a, int record, enum share_arm arm,
					int n)
{
	for (int i = 0; i < a->found[record].sets; i++) {
		const struct share_found *e = &a->found[record].set[i];

		if (e->known && e->of->set.arm == arm && e->of->set.n == n)
			return e;
	}
	return NULL;
}

static bool grows(const struct across *a, int record, enum share_arm arm)
{
	for (int n = 2; n <= SHARE_CLIENTS_MAX; n++)
		if (across_grows(a, record) && set_of(a, record, arm, n))
			return true;
	return false;
}

/* What is drawn: up to so many clients, and its worst. */
struct worst {
	int most_clients;
	int clients;
	double slowdown;
	const char *workload;
};

/* Its curve; adds to the largest that are drawn. */
static void put_growth(const struct across *a, int record, enum share_arm arm, int series,
		       FILE *out, struct worst *worst, double *most)
{
	for (int n = 1; n <= SHARE_CLIENTS_MAX; n++) {
		const struct share_found *e = set_of(a, record, arm, n);
		const struct interval *v = e ? &e->slowdown : NULL;

		if (!e)
			continue;
		fprintf(out, "%d,%d,%.6g,%.6g,%.6g,%s\n", series, n, v->value,
			v->known ? v->lo : v->value, v->known ? v->hi : v->value,
			share_arms[arm].name);
		worst->most_clients = n > worst->most_clients ? n : worst->most_clients;
		if (v->value > worst->slowdown) {
			worst->clients = n;
			worst->slowdown = v->value;
			worst->workload = a->record[record].plan.mix[0].workload->name;
		}
		*most = fmax(*most, fmax(n, v->known ? v->hi : v->value));
	}
}

/* The workload; with its parameters where another record is of the same. */
static void name_growth(struct plot *p, const struct across *a, int record, int series)
{
	const struct share_plan *own = &a->record[record].plan;
	const struct share_workload *mix = &own->mix[0];
	struct text_line name = share_client_text(own, 0), plain;
	bool is_alone = true;

	for (int r = 0; r < a->records; r++)
		is_alone &= r == record || a->record[r].plan.mix[0].workload != mix->workload;
	snprintf(plain.s, sizeof(plain.s), "%s", mix->workload->name);
	name_series(p, a, is_alone ? &plain : &name, series, 18);
}

static int fill_growth(const struct across *a, enum share_arm arm, struct plot *p)
{
	struct worst worst = { .most_clients = 1, .clients = 1, .workload = "a workload" };
	int series = 0, err;
	double most = 1;
	struct output out;

	p->script = "plots/share.gp";
	words_finding(p, "clients of the same workload; points: mean of clients, 95 %% intervals; "
			 "dashed: the ideal share");
	label(a, p);
	err = plot_open(p, "points", "-points.csv", &out);
	if (err)
		return err;
	fprintf(out.file, "series,clients,slowdown,least,most,arm\n");
	for (int r = 0; r < a->records; r++) {
		if (!grows(a, r, arm))
			continue;
		name_growth(p, a, r, ++series);
		put_growth(a, r, arm, series, out.file, &worst, &most);
	}
	plot_text(p, "title", "%s: with %d clients, %s takes %s", share_arms[arm].name,
		  worst.clients, worst.workload, words_ratio(worst.slowdown).s);
	plot_count(p, "series", series);
	plot_count(p, "most_clients", worst.most_clients);
	plot_number(p, "most", most);
	return output_commit(&out);
}

static bool any_grows(const struct across *a, enum share_arm arm)
{
	for (int r = 0; r < a->records; r++)
		if (grows(a, r, arm))
			return true;
	return false;
}

/* ---- who hurts whom --------------------------------------------------------------------- */

static int write_matrix(const struct across *a, enum share_arm arm, struct plot *p)
{
	struct across_client c;
	struct output out;
	int err = plot_open(p, "cells", "-cells.csv", &out);

	if (err)
		return err;
	fprintf(out.file, "column,row,slowdown,least,most,label\n");
	for (int i = 0; i < a->paired; i++)
		for (int k = 0; k < a->paired; k++) {
			const struct interval *v = &c.slowdown;

			if (!across_beside(a, arm, a->pair[i], a->pair[k], &c))
				continue;
			fprintf(out.file, "%d,%d,%.6g,%.6g,%.6g,%s\n", k, i, v->value,
				v->known ? v->lo : v->value, v->known ? v->hi : v->value,
				share_number(v->value).s);
		}
	return output_commit(&out);
}

static void label_matrix(const struct across *a, enum share_arm arm, struct plot *p)
{
	struct across_client c;
	double worst = 0;
	int of = 0, beside = 0;

	for (int i = 0; i < a->paired; i++)
		for (int k = 0; k < a->paired; k++)
			if (across_beside(a, arm, a->pair[i], a->pair[k], &c) &&
			    c.slowdown.value > worst) {
				worst = c.slowdown.value;
				of = a->pair[i];
				beside = a->pair[k];
			}
	plot_text(p, "title", "%s: beside %.40s, %.40s takes %s", share_arms[arm].name,
		  a->workload[beside].s, a->workload[of].s, words_ratio(worst).s);
}

static int fill_matrix(const struct across *a, enum share_arm arm, struct plot *p)
{
	p->script = "plots/share_matrix.gp";
	label_matrix(a, arm, p);
	words_finding(p, "time of a step over that of a client alone; 2 is the ideal share");
	label(a, p);
	for (int i = 0; i < a->paired; i++)
		name_series(p, a, &a->workload[a->pair[i]], i + 1, 22);
	plot_count(p, "workloads", a->paired);
	return write_matrix(a, arm, p);
}

/* ---- the shortest steps ----------------------------------------------------------------- */

static void put_curve(FILE *out, int series, const double *ns, const char *arm)
{
	for (int q = 0; q < SHARE_QUANTILES; q++)
		if (isfinite(ns[q]))
			fprintf(out, "%d,%.6g,%.6g,2,%s\n", series, ns[q] / 1000, share_quantile[q],
				arm);
}

static int fill_shortest(const struct across *a, enum share_arm arm, struct plot *p)
{
	int of = across_shortest(a), series = 1, beside = of, err;
	double longest_ns = 0;
	const double *alone = across_alone(a, of);
	struct across_client c;
	struct output out;

	p->script = "plots/share_latency.gp";
	words_finding(p, "share of steps that take at most so long");
	label(a, p);
	err = plot_open(p, "points", "-points.csv", &out);
	if (err)
		return err;
	fprintf(out.file, "series,us,share,clients,arm\n");
	plot_text(p, words_name("name", series).s, "alone");
	put_curve(out.file, series, alone, share_arms[ARM_PROCESSES].name);
	for (int k = 0; k < a->paired; k++) {
		if (!across_beside(a, arm, of, a->pair[k], &c))
			continue;
		name_series(p, a, &a->workload[a->pair[k]], ++series, 18);
		put_curve(out.file, series, c.quantile_ns, share_arms[arm].name);
		if (c.quantile_ns[SHARE_P50] > longest_ns) {
			longest_ns = c.quantile_ns[SHARE_P50];
			beside = a->pair[k];
		}
	}
	plot_text(p, "title", "%.40s, %s: a step takes %s alone, %s beside %.30s",
		  a->workload[of].s, share_arms[arm].name, words_time(alone[SHARE_P50]).s,
		  words_time(longest_ns).s, a->workload[beside].s);
	plot_count(p, "series", series);
	return output_commit(&out);
}

/* ---- files ------------------------------------------------------------------------------ */

static int make(struct picture *p, const struct across *a, enum share_arm arm, const char *folder,
		const char *stem,
		int (*fill)(const struct across *a, enum share_arm arm, struct plot *p))
{
	char *name;
	int err;

	p->asked = true;
	CHECK(asprintf(&name, "%s-%s", stem, share_arms[arm].name) > 0, "memory of a name");
	plot_begin(&p->plot, folder, name, share_device(&a->record[0]));
	err = fill(a, arm, &p->plot);
	return err ? err : picture_write(p);
}

int across_charts_write(struct picture p[ACROSS_CHARTS], int *n, const struct across *a,
			const char *folder)
{
	int err = 0;

	memset(p, 0, ACROSS_CHARTS * sizeof(*p));
	*n = 0;
	for (int arm = 0; arm < ARMS && !err; arm++) {
		if (any_grows(a, (enum share_arm)arm))
			err = make(&p[(*n)++], a, (enum share_arm)arm, folder, "share-growth",
				   fill_growth);
		if (err || !across_has(a, (enum share_arm)arm))
			continue;
		err = make(&p[(*n)++], a, (enum share_arm)arm, folder, "share-matrix", fill_matrix);
		if (!err && across_shortest(a) >= 0)
			err = make(&p[(*n)++], a, (enum share_arm)arm, folder, "share-beside",
				   fill_shortest);
	}
	if (!err && !*n)
		err = complain(EINVAL,
			       "there is nothing to draw: no record has figures of two clients");
	return err;
}

void across_charts_release(struct picture p[ACROSS_CHARTS])
{
	for (int i = 0; i < ACROSS_CHARTS; i++) {
		free((char *)(uintptr_t)p[i].plot.name);
		picture_release(&p[i]);
	}
}
