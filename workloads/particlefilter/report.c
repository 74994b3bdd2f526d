/* report.c - what `rift run` prints about the track, and the files that options ask for. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "common/cuda_check.h"
#include "workloads/particlefilter/particlefilter.h"
#include "workloads/workload.h"

static struct report_row *add_row(struct report *r, const char *name, const char *unit,
				  double value)
{
	struct report_row *row = &r->row[r->n];

	CHECK(r->n < REPORT_ROWS_MAX, "%s", name);
	r->n++;
	*row = (struct report_row){ .name = name, .unit = unit, .value = value };
	return row;
}

static void add_file(struct report *r, const char *name, const char *path, int64_t rows)
{
	struct report_row *row = add_row(r, name, "", 0);

	snprintf(row->text, sizeof(row->text), "%ld rows in %s", (long)rows, path);
}

/* Frames 1 to n that the run has filtered; the reset has cleared the others. */
static int64_t filtered(const struct pf_estimate *ring, int64_t frames)
{
	int64_t n = 0;

	while (n < frames && ring[n].ess != 0)
		n++;
	return n;
}

double particlefilter_track_error(const struct pf_rules *r, const struct pf_estimate *ring,
				  int64_t n)
{
	double squares = 0;

	for (int64_t k = 1; k <= n; k++) {
		int64_t row, col;
		double off;

		particlefilter_truth(r->rows, r->cols, r->wraps, k, &row, &col);
		off = hypot(ring[k - 1].xe - (double)row, ring[k - 1].ye - (double)col);
		squares += off * off;
	}
	return sqrt(squares / (double)n);
}

/* Frames in which at least the object's centre is to be seen. */
static int64_t in_view(const struct pf_rules *r, int64_t n)
{
	int64_t seen = 0;

	for (int64_t k = 1; k <= n; k++) {
		int64_t row, col;

		particlefilter_truth(r->rows, r->cols, r->wraps, k, &row, &col);
		seen += row >= 0 && row < r->rows && col < r->cols;
	}
	return seen;
}

static void report_track(const struct particlefilter_opts *o, const struct pf_rules *rules,
			 const struct pf_estimate *ring, struct report *out)
{
	int64_t n = filtered(ring, rules->frames - 1);
	const struct pf_estimate *last = n ? &ring[n - 1] : NULL;

	add_row(out, "frames filtered", "frames", (double)n);
	if (!n)
		return;
	add_row(out, "row in the last frame", "pixels", last->xe);
	add_row(out, "column", "pixels", last->ye);
	add_row(out, "effective particles", "particles", last->ess);
	if (o->input)
		return;
	add_row(out, "error of the track", "pixels", particlefilter_track_error(rules, ring, n));
	if (in_view(rules, n) < n)
		add_row(out, "frames that show the object", "frames", (double)in_view(rules, n));
}

int particlefilter_report(const void *opts, void *state, struct report *out)
{
	const struct particlefilter_opts *o = opts;
	struct particlefilter_state *s = state;
	int64_t frames = s->rules.frames - 1;
	struct pf_estimate *ring = malloc((size_t)frames * sizeof(*ring));
	int64_t eight = o->particles < 8 ? o->particles : 8;
	int err;

	CHECK(ring, "%ld frames", (long)frames);
	particlefilter_read_ring(&s->filter, 0, frames, ring);
	report_track(o, &s->rules, ring, out);
	free(ring);
	if (!o->track && !o->particles8)
		return 0;
	err = particlefilter_write_track(o, s);
	if (!err && o->track)
		add_file(out, "track", o->track, frames);
	if (!err && o->particles8)
		add_file(out, "particles8", o->particles8, eight * frames);
	return err;
}
