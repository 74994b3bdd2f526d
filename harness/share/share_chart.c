/* share_chart.c - see share_chart.h. */
#include "harness/share/share_chart.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "common/plural.h"
#include "harness/chart/words.h"
#include "harness/compare/format.h"
#include "harness/share/findings.h"
#include "harness/share/share_file.h"
#include "harness/share/share_words.h"
#include "workloads/workload.h"

/* ---- what is drawn ---------------------------------------------------------------------- */

/* Every arm with figures is a series. */
struct drawn {
	const struct share *s;
	const struct share_findings *f;
	enum share_arm arm[ARMS];
	int series;
	int most_clients; /* of any set with figures */
	double most;	  /* the largest slowdown, intervals included */
};

/* With one client, that of the first workload. */
static bool is_drawn(const struct share_found *f)
{
	return f->known && !f->of->set.first;
}

static void drawn_init(struct drawn *d, const struct share *s, const struct share_findings *f)
{
	*d = (struct drawn){ .s = s, .f = f, .most_clients = 1, .most = 1 };
	for (int arm = 0; arm < ARMS; arm++)
		for (int i = 0; i < f->sets; i++) {
			const struct share_found *e = &f->set[i];

			if (!is_drawn(e) || (int)e->of->set.arm != arm)
				continue;
			if (!d->series || (int)d->arm[d->series - 1] != arm)
				d->arm[d->series++] = (enum share_arm)arm;
			if (e->of->set.n > d->most_clients)
				d->most_clients = e->of->set.n;
			d->most = fmax(d->most, fmax(e->slowdown.value, d->most_clients));
			if (e->slowdown.known)
				d->most = fmax(d->most, e->slowdown.hi);
		}
}

static int series_of(const struct drawn *d, enum share_arm arm)
{
	int i = 0;

	while (d->arm[i] != arm)
		i++;
	return i + 1;
}

/* The arm's set with the most clients; NULL: it has no figures. */
static const struct share_found *largest(const struct drawn *d, enum share_arm arm)
{
	const struct share_found *found = NULL;

	for (int i = 0; i < d->f->sets; i++) {
		const struct share_found *e = &d->f->set[i];

		if (is_drawn(e) && e->of->set.arm == arm &&
		    (!found || e->of->set.n > found->of->set.n))
			found = e;
	}
	return found;
}

static void label_series(const struct drawn *d, struct plot *p)
{
	for (int i = 0; i < d->series; i++)
		plot_text(p, words_name("name", i + 1).s, "%s", share_arms[d->arm[i]].name);
	plot_count(p, "series", d->series);
}

/* "binomial: what"; `what` is a whole clause. */
static void label_title(const struct drawn *d, struct plot *p, const char *what)
{
	char words[300] = "", title[512];

	for (int i = 0; i < d->s->plan.mixes; i++)
		snprintf(words + strlen(words), sizeof(words) - strlen(words), "%s%.100s",
			 i ? " and " : "", share_workload_text(&d->s->plan.mix[i]).s);
	words_cut(words, sizeof(words), 60);
	snprintf(title, sizeof(title), "%s: %s", words, what);
	words_cut(title, sizeof(title), TITLE_CHARACTERS);
	plot_text(p, "title", "%s", title);
	plot_text(p, "made1", "%s, depth %ld, %s per configuration", share_device(d->s),
		  (long)d->s->plan.depth, counted(share_plan_windows(&d->s->plan), "window").s);
	plot_text(p, "made2", "%s",
		  share_is_cpu(d->s) ? "processes have a CPU device each, and share only the "
				       "processors"
				     : "");
}

/* ---- slowdown --------------------------------------------------------------------------- */

static int write_slowdown(const struct drawn *d, struct plot *p)
{
	struct output out;
	int err = plot_open(p, "points", "-points.csv", &out);

	if (err)
		return err;
	fprintf(out.file, "series,clients,slowdown,least,most,arm\n");
	for (int i = 0; i < d->f->sets; i++) {
		const struct share_found *e = &d->f->set[i];
		const struct interval *v = &e->slowdown;

		if (is_drawn(e))
			fprintf(out.file, "%d,%d,%.6g,%.6g,%.6g,%s\n", series_of(d, e->of->set.arm),
				e->of->set.n, v->value, v->known ? v->lo : v->value,
				v->known ? v->hi : v->value, share_arms[e->of->set.arm].name);
	}
	return output_commit(&out);
}

/* The ways of sharing that slow most and least, with the most clients, as a clause. */
static void slowdown_text(const struct drawn *d, char *out, size_t size)
{
	const struct share_found *worst = NULL, *best = NULL;

	snprintf(out, size, "one client alone");
	for (int i = 0; i < d->series; i++) {
		const struct share_found *e = largest(d, d->arm[i]);

		if (e->of->set.n < d->most_clients || e->of->set.n < 2)
			continue;
		if (!worst || e->slowdown.value > worst->slowdown.value)
			worst = e;
		if (!best || e->slowdown.value < best->slowdown.value)
			best = e;
	}
	if (!worst)
		return;
	if (worst == best)
		snprintf(out, size, "with %d clients a step takes %s (%s)", d->most_clients,
			 words_ratio(worst->slowdown.value).s, share_arms[worst->of->set.arm].name);
	else
		snprintf(out, size, "with %d clients a step takes %s (%s) to %s (%s)",
			 d->most_clients, share_number(best->slowdown.value).s,
			 share_arms[best->of->set.arm].name, words_ratio(worst->slowdown.value).s,
			 share_arms[worst->of->set.arm].name);
}

static int make_slowdown(const struct drawn *d, struct plot *p)
{
	struct levels level = { 0 };
	char text[256];

	p->script = "plots/share.gp";
	slowdown_text(d, text, sizeof(text));
	label_title(d, p, text);
	levels_add(&level, d->f->level);
	words_finding(p, "points: mean of clients, %s intervals over %ss; dashed: the ideal share",
		      levels_text(&level).s, d->f->unit);
	label_series(d, p);
	plot_count(p, "most_clients", d->most_clients);
	plot_number(p, "most", d->most);
	return write_slowdown(d, p);
}

/* ---- how long steps take ---------------------------------------------------------------- */

/* The client whose slow steps are the slowest. */
static const struct share_client_found *slowest(const struct share_found *f)
{
	const struct share_client_found *c = &f->client[0];

	for (int i = 1; i < f->of->set.n; i++)
		if (f->client[i].quantile_ns[SHARE_P99] > c->quantile_ns[SHARE_P99])
			c = &f->client[i];
	return c;
}

static int write_latency(const struct drawn *d, struct plot *p)
{
	struct output out;
	int err = plot_open(p, "points", "-points.csv", &out);

	if (err)
		return err;
	fprintf(out.file, "series,us,share,clients,arm\n");
	for (int i = 0; i < d->series; i++) {
		const struct share_found *e = largest(d, d->arm[i]);
		const struct share_client_found *c = slowest(e);

		for (int q = 0; q < SHARE_QUANTILES; q++)
			if (isfinite(c->quantile_ns[q]))
				fprintf(out.file, "%d,%.6g,%.6g,%d,%s\n", i + 1,
					c->quantile_ns[q] / 1000, share_quantile[q], e->of->set.n,
					share_arms[d->arm[i]].name);
	}
	return output_commit(&out);
}

static int make_latency(const struct drawn *d, struct plot *p)
{
	p->script = "plots/share_latency.gp";
	label_title(d, p, "how long the steps of the slowest client take");
	words_finding(p,
		      "share of steps that take at most so long, of the client with the slowest "
		      "steps among %d or fewer",
		      d->most_clients);
	label_series(d, p);
	return write_latency(d, p);
}

/* ---- files ------------------------------------------------------------------------------ */

static int make(struct picture *p, const struct drawn *d, const char *folder, const char *stem,
		int (*fill)(const struct drawn *d, struct plot *p))
{
	char *name;
	int err;

	p->asked = true;
	CHECK(asprintf(&name, "%s-%s", d->s->plan.mix[0].workload->name, stem) > 0,
	      "memory of a name");
	plot_begin(&p->plot, folder, name, share_device(d->s));
	err = fill(d, &p->plot);
	return err ? err : picture_write(p);
}

int share_charts_write(struct picture p[SHARE_CHARTS], const struct share *s, const char *folder)
{
	struct share_findings f;
	struct drawn d;
	int err;

	memset(p, 0, SHARE_CHARTS * sizeof(*p));
	share_findings_init(&f, s);
	drawn_init(&d, s, &f);
	err = d.series
		      ? make(&p[0], &d, folder, "share", make_slowdown)
		      : complain(EINVAL, "there is nothing to draw: no set of clients has figures");
	if (!err)
		err = make(&p[1], &d, folder, "share-latency", make_latency);
	share_findings_release(&f);
	return err;
}

void share_charts_release(struct picture p[SHARE_CHARTS])
{
	for (int i = 0; i < SHARE_CHARTS; i++) {
		free((char *)(uintptr_t)p[i].plot.name);
		picture_release(&p[i]);
	}
}
