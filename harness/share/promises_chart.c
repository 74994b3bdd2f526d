/* promises_chart.c - share of the device's time asked for against share got, for plots/promises.gp.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "common/check.h"
#include "common/plural.h"
#include "harness/chart/words.h"
#include "harness/compare/format.h"
#include "harness/share/promises.h"
#include "harness/share/share_file.h"

/* A series has a layer, a number of clients, and a way of waiting. */
enum { SERIES_MAX = 24 };

struct series {
	struct text_line layer;
	int clients;
	enum timeline_how how;
};

struct drawn {
	const struct promises *p;
	struct series each[SERIES_MAX];
	int series;
	bool layers; /* there are several: then steps that are queued alone are drawn */
	double most; /* the largest share, intervals included; % */
	double level;
};

/* The number of a row's series, of d->series if it is in none so far; -1: it is not drawn. */
static int series_of(const struct drawn *d, const struct share *s, const struct promise_row *r)
{
	struct text_line layer = allow_layers_name(&s->plan.allow);
	int i = 0;

	if (!r->known || (d->layers && r->how != TIMELINE_QUEUED))
		return -1;
	while (i < d->series && !(d->each[i].clients == r->of->set.n && d->each[i].how == r->how &&
				  !strcmp(d->each[i].layer.s, layer.s)))
		i++;
	return i < SERIES_MAX ? i : -1;
}

static void take_row(struct drawn *d, const struct share *s, const struct promise_row *r)
{
	double promised = s->plan.allow.compute;
	int at = series_of(d, s, r);

	if (at < 0)
		return;
	if (at == d->series)
		d->each[d->series++] =
			(struct series){ allow_layers_name(&s->plan.allow), r->of->set.n, r->how };
	d->most = fmax(d->most, 100 * fmax(r->share, promised));
	if (r->judged.ratio.known)
		d->most = fmax(d->most, 100 * r->judged.ratio.hi * promised);
}

static void drawn_init(struct drawn *d, const struct promises *p)
{
	struct text_line first = allow_layers_name(&p->record[0].plan.allow);

	*d = (struct drawn){ .p = p, .level = NAN };
	for (int i = 1; i < p->records; i++)
		d->layers |= strcmp(allow_layers_name(&p->record[i].plan.allow).s, first.s) != 0;
	for (int i = 0; i < p->records; i++)
		for (int k = 0; k < p->found[i].rows; k++)
			if (p->found[i].row[k].known) {
				take_row(d, &p->record[i], &p->found[i].row[k]);
				d->level = p->found[i].level;
			}
}

static int write_points(const struct drawn *d, struct plot *plot)
{
	struct output out;
	int err = plot_open(plot, "points", "-points.csv", &out);

	if (err)
		return err;
	fprintf(out.file, "series,asked,got,least,most,client,verdict\n");
	for (int i = 0; i < d->p->records; i++)
		for (int k = 0; k < d->p->found[i].rows; k++) {
			const struct promise_row *r = &d->p->found[i].row[k];
			const struct interval *v = &r->judged.ratio;
			double promised = 100 * d->p->record[i].plan.allow.compute;
			int series = series_of(d, &d->p->record[i], r);

			if (series >= 0)
				fprintf(out.file, "%d,%.6g,%.6g,%.6g,%.6g,%d,%s\n", series + 1,
					promised, 100 * r->share,
					v->known ? v->lo * promised : 100 * r->share,
					v->known ? v->hi * promised : 100 * r->share, r->client + 1,
					promise_names[r->verdict]);
		}
	return output_commit(&out);
}

/* The row that is off by most. */
static void title_of(const struct drawn *d, char *out, size_t size)
{
	const struct promise_row *worst = NULL;
	double promised = 1;

	for (int i = 0; i < d->p->records; i++)
		for (int k = 0; k < d->p->found[i].rows; k++) {
			const struct promise_row *r = &d->p->found[i].row[k];
			double asked = d->p->record[i].plan.allow.compute;

			if (series_of(d, &d->p->record[i], r) < 0 || r->verdict == PROMISE_UNUSED ||
			    r->verdict == PROMISE_CROWDED)
				continue;
			if (!worst ||
			    fabs(r->share / asked - 1) > fabs(worst->share / promised - 1)) {
				worst = r;
				promised = asked;
			}
		}
	snprintf(out, size, "limits of compute, asked for and got");
	if (worst)
		snprintf(out, size, "asked for %.4g %% of the device, a client gets %.1f %%: %s",
			 100 * promised, 100 * worst->share, promise_names[worst->verdict]);
}

static int fill(struct plot *plot, const struct drawn *d)
{
	const struct share *s = &d->p->record[0];
	struct levels level = { 0 };
	char title[256];

	plot->script = "plots/promises.gp";
	title_of(d, title, sizeof(title));
	words_cut(title, sizeof(title), TITLE_CHARACTERS);
	plot_text(plot, "title", "%s", title);
	levels_add(&level, d->level);
	words_finding(plot, "points: a client, %s intervals over starts; dashed: as asked for",
		      levels_text(&level).s);
	plot_text(plot, "made1", "%s, %.100s", share_device(s),
		  share_workload_text(&s->plan.mix[0]).s);
	plot_text(plot, "made2", "%.100s",
		  d->layers ? "steps queued; in parentheses: clients at the same time"
			    : allow_layers_text(&s->plan.allow).s);
	for (int i = 0; i < d->series; i++) {
		const struct series *e = &d->each[i];

		if (d->layers)
			plot_text(plot, words_name("name", i + 1).s, "%.60s (%d)", e->layer.s,
				  e->clients);
		else
			plot_text(plot, words_name("name", i + 1).s, "%s, %s",
				  counted(e->clients, "client").s,
				  e->how == TIMELINE_QUEUED ? "queued" : "waited for");
	}
	plot_count(plot, "series", d->series);
	plot_number(plot, "most", d->most);
	return write_points(d, plot);
}

int promises_chart_write(struct picture *picture, const struct promises *p, const char *folder)
{
	struct drawn d;
	int err;

	memset(picture, 0, sizeof(*picture));
	drawn_init(&d, p);
	if (!d.series)
		return complain(EINVAL,
				"there is nothing to draw: no client's share has been measured");
	picture->asked = true;
	plot_begin(&picture->plot, folder, "limits", share_device(&p->record[0]));
	err = fill(&picture->plot, &d);
	return err ? err : picture_write(picture);
}
