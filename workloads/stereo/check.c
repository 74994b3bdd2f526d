/*
 * check.c - are the disparities right, all of them there, and nothing written besides?
 *
 * Disparities are integers and have to be equal: of small images to those of the definition, of
 * larger ones to those by sums that move along, of all rows or of some. The images are made anew.
 * Bytes that no step writes, and copies, are looked at by dataset_audit().
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "common/interrupt.h"
#include "common/philox.h"
#include "workloads/stereo/reference.h"
#include "workloads/stereo/stereo.h"

enum {
	DEFINED = 1 << 17, /* products of pixels and disparities that the definition is taken for */
	ALL = 1 << 24,	   /* and all rows; 0.1 to 0.2 s each */
	STRETCHES = 64,	   /* of more: one row of each, the first and the last */
	SAMPLE_TAG = 31,
};

struct audit {
	const struct stereo_opts *o;
	const struct stereo_state *s;
	struct verdict *v;
	struct dataset_audit found;
	uint32_t slot;
	uint32_t *left, *right; /* a row each */
	int32_t *got, *want;
	int64_t wrong;
};

static void *room_for(size_t n, size_t size)
{
	void *p = calloc(n, size);

	CHECK(p, "%zu times %zu bytes", n, size);
	return p;
}

/* A row of the slot in hand, with what it must be in a->want. */
static void compare_row(struct audit *a, int32_t y)
{
	int32_t w = a->s->size.w;

	dataset_fetch(&a->s->set, 0, a->slot, (int64_t)y * w, w, a->got);
	a->v->compared += w;
	for (int32_t x = 0; x < w; x++)
		if (a->got[x] != a->want[x] && !a->wrong++)
			snprintf(a->v->worst, sizeof(a->v->worst),
				 "pixel (%d,%d), slot %u: %d instead of %d", x, y, a->slot,
				 a->got[x], a->want[x]);
}

/* ---- by the definition ------------------------------------------------------------------ */

static void compare_with_definition(struct audit *a)
{
	struct stereo_size size = a->s->size;
	size_t pixels = (size_t)size.w * (size_t)size.h;
	uint32_t *left = room_for(pixels, sizeof(*left)), *right = room_for(pixels, sizeof(*right));
	const struct stereo_pair pair = { size, left, right, (int32_t)a->o->dmin,
					  (int32_t)a->o->dmax };

	for (int32_t y = 0; y < size.h; y++)
		stereo_row(a->o, a->s, a->slot, y, left + (int64_t)y * size.w,
			   right + (int64_t)y * size.w);
	for (int32_t y = 0; y < size.h; y++) {
		for (int32_t x = 0; x < size.w; x++)
			a->want[x] = stereo_defined(&pair, x, y);
		compare_row(a, y);
	}
	free(left);
	free(right);
}

/* ---- by sums ---------------------------------------------------------------------------- */

/* The row, or the one at the edge that stands for it. */
static void move(const struct audit *a, struct stereo_sums *sums, int32_t y, int sign)
{
	int32_t h = a->s->size.h, row = y < 0 ? 0 : y < h ? y : h - 1;

	stereo_row(a->o, a->s, a->slot, row, a->left, a->right);
	stereo_sums_row(sums, a->left, a->right, sign);
}

/* Some other row than the one before, or the next. */
static void begin_at(const struct audit *a, struct stereo_sums *sums, int32_t y)
{
	stereo_sums_clear(sums);
	for (int32_t i = -STEREO_RADIUS; i <= STEREO_RADIUS; i++)
		move(a, sums, y + i, 1);
}

static int compare_all_rows(struct audit *a, struct stereo_sums *sums)
{
	begin_at(a, sums, 0);
	for (int32_t y = 0; y < a->s->size.h; y++) {
		if (interrupted())
			return -EINTR;
		stereo_sums_best(sums, a->want);
		compare_row(a, y);
		move(a, sums, y - STEREO_RADIUS, -1);
		move(a, sums, y + STEREO_RADIUS + 1, 1);
	}
	return 0;
}

/* Row i of the sample: the first, the last, or one of a stretch. */
static int32_t sampled_row(const struct audit *a, int32_t i)
{
	int64_t h = a->s->size.h, begin = h * i / STRETCHES, n = h * (i + 1) / STRETCHES - begin;
	struct philox r = philox4x32((uint32_t)i, a->slot, SAMPLE_TAG, 0, a->v->seed);

	if (!i)
		return 0;
	return i == STRETCHES - 1 ? (int32_t)h - 1 : (int32_t)(begin + r.word[0] % (n ? n : 1));
}

static int compare_some_rows(struct audit *a, struct stereo_sums *sums)
{
	for (int32_t i = 0; i < STRETCHES; i++) {
		int32_t y = sampled_row(a, i);

		if (interrupted())
			return -EINTR;
		begin_at(a, sums, y);
		stereo_sums_best(sums, a->want);
		compare_row(a, y);
	}
	return 0;
}

/* ---- the verdict ------------------------------------------------------------------------ */

static int compare_slot(struct audit *a)
{
	const struct stereo_opts *o = a->o;
	struct stereo_size size = a->s->size;
	double work = (double)size.w * size.h * (double)(o->dmax - o->dmin + 1);
	struct stereo_sums sums;
	int err;

	if (work <= DEFINED) {
		compare_with_definition(a);
		return 0;
	}
	sums = stereo_sums_new(size.w, (int32_t)o->dmin, (int32_t)o->dmax);
	err = a->v->full || work <= ALL || size.h <= STRETCHES ? compare_all_rows(a, &sums)
							       : compare_some_rows(a, &sums);
	stereo_sums_free(&sums);
	return err;
}

/* Poison is no disparity; looked for in all pixels. */
static void look_for_gaps(struct audit *a)
{
	int32_t w = a->s->size.w, poison;

	memset(&poison, SLOTS_POISON_INTEGER, sizeof(poison));
	for (int32_t y = 0; y < a->s->size.h; y++) {
		dataset_fetch(&a->s->set, 0, a->slot, (int64_t)y * w, w, a->got);
		for (int32_t x = 0; x < w; x++)
			if (a->got[x] == poison)
				dataset_flaw(&a->found, &a->s->set, "no disparity", a->slot,
					     (int64_t)y * w + x);
	}
}

static int look_at_slots(struct audit *a)
{
	int err = 0;

	for (int64_t slot = 0; slot < a->o->set.slots && !err; slot++) {
		if (!(a->found.answers >> slot & 1))
			continue;
		a->slot = (uint32_t)slot;
		look_for_gaps(a);
		err = interrupted() ? -EINTR : compare_slot(a);
	}
	return err;
}

static void judge(struct audit *a)
{
	struct verdict *v = a->v;

	v->measure = "pixels with another disparity, and values that are not what steps leave";
	v->total = (int64_t)a->s->size.w * a->s->size.h * __builtin_popcountll(a->found.answers);
	v->tolerance = 0;
	v->error = (double)(a->wrong + a->found.flaws);
	v->passed = v->error <= v->tolerance;
	if (a->found.flaws)
		snprintf(v->worst, sizeof(v->worst), "%s", a->found.first);
}

int stereo_check(const void *opts, void *state, int64_t steps, struct verdict *v)
{
	struct stereo_state *s = state;
	struct audit a = { .o = opts, .s = s, .v = v };
	size_t w = (size_t)s->size.w;
	int err =
		dataset_audit(&s->set, &stereo_work, opts, state, steps, v->graph_steps, &a.found);

	if (err)
		return err;
	v->compared = 0;
	a.left = room_for(w, sizeof(*a.left));
	a.right = room_for(w, sizeof(*a.right));
	a.got = room_for(w, sizeof(*a.got));
	a.want = room_for(w, sizeof(*a.want));
	err = look_at_slots(&a);
	judge(&a);
	free(a.left);
	free(a.right);
	free(a.got);
	free(a.want);
	return err;
}
