/* report.c - what `rift run` prints about disparities: how fast, how many are as drawn, copies. */
#include <stdio.h>
#include <stdlib.h>

#include "common/check.h"
#include "workloads/stereo/inputs.h"
#include "workloads/stereo/stereo.h"
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

/* The share of pixels of slot 0 as drawn; some step has written that slot. */
static double share_as_drawn(const struct stereo_state *s)
{
	int32_t w = s->size.w, h = s->size.h, *row = malloc((size_t)w * sizeof(*row));
	int64_t same = 0;

	CHECK(row, "%d disparities", w);
	for (int32_t y = 0; y < h; y++) {
		dataset_fetch(&s->set, 0, 0, (int64_t)y * w, w, row);
		for (int32_t x = 0; x < w; x++)
			same += row[x] == stereo_truth(x, y, s->size);
	}
	free(row);
	return (double)same / ((double)w * h);
}

int stereo_report(const void *opts, void *state, struct report *out)
{
	const struct stereo_opts *o = opts;
	struct stereo_state *s = state;
	double pixels = (double)s->size.w * s->size.h;
	int64_t n;
	double ns = dataset_step_ns(stereo_step, opts, state, &n);
	struct report_row *strips;

	add_row(out, "pixels", "G/s", pixels / ns)->n = n;
	if (o->set.data == STREAMED_STREAMED)
		add_row(out, "copied", "GB/s", (double)dataset_bytes(&s->set.shape) / ns)->n = n;
	strips = add_row(out, "strips", "", 0);
	snprintf(strips->text, sizeof(strips->text), "of %d rows, of an image of %d x %d", s->strip,
		 s->size.w, s->size.h);
	if (!s->left)
		add_row(out, "as drawn", "%", 100 * share_as_drawn(s));
	dataset_touched_text(&s->set, add_row(out, "working set", "", 0)->text);
	if (o->set.data == STREAMED_STREAMED)
		dataset_copies_text(&s->set, add_row(out, "copies a step", "", 0)->text);
	return 0;
}
