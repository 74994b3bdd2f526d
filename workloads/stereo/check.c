/*
 * check.c - are the disparities right, all of them there, and nothing written besides?
 *
 * Disparities are integers and have to be equal: in small images to those of the definition, in
 * larger ones to those by sliding sums. Where all rows would take too long, tiles (parts of rows)
 * are compared: some that are drawn, and some whose answers are not as the images were drawn. The
 * images are made anew. dataset_audit() looks at bytes that no step writes, and at copies.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "common/interrupt.h"
#include "common/pieces.h"
#include "workloads/stereo/inputs.h"
#include "workloads/stereo/reference.h"
#include "workloads/stereo/stereo.h"
#include "workloads/workload.h"

enum {
	DEFINED = 1 << 17, /* products of pixels and disparities that the definition is taken for */
	TILE = 64,	   /* columns of a tile; in height it is a row */
	LOOK = 1 << 24,	   /* pixels in which poison is looked for: 0.05 s */
	GAP = 1 << 14,	   /* of them in one go */
	ODD_LEAST = 2,	   /* tiles of a slot that hold pixels not as drawn, if there are any */
	ODD_MOST = 64,
	USE_TILES = 0, /* what is drawn */
	USE_GAPS = 1,
};

/*
 * Times on the host, ns: of an absolute difference of two pixels, and of a pixel that is made in
 * both images. All pixels are compared where that takes no longer than all_ns; else tiles for
 * some_ns.
 */
static const double sad_ns = 5, make_ns = 60, all_ns = 2e8, some_ns = 1e8;

struct audit {
	const struct stereo_opts *o;
	const struct stereo_state *s;
	struct verdict *v;
	struct dataset_audit found;
	uint32_t slot;
	uint32_t *left, *right; /* a row each */
	int32_t *got, *want;	/* likewise; got: or GAP pixels */
	int64_t wrong;
	int64_t odd[ODD_MOST]; /* pixels of the slot in hand, in ascending order */
	int odds;
};

static void *allocate_zeroed(size_t n, size_t size)
{
	void *p = calloc(n, size);

	CHECK(p, "%zu times %zu bytes", n, size);
	return p;
}

/* n pixels of a row of the slot in hand, with what they must be in a->want. */
static void compare_row(struct audit *a, int32_t from, int32_t n, int32_t y)
{
	dataset_fetch(&a->s->set, 0, a->slot, (int64_t)y * a->s->size.w + from, n, a->got);
	a->v->compared += n;
	for (int32_t i = 0; i < n; i++)
		if (a->got[i] != a->want[i] && !a->wrong++)
			snprintf(a->v->worst, sizeof(a->v->worst),
				 "pixel (%d,%d), slot %u: %d instead of %d", from + i, y, a->slot,
				 a->got[i], a->want[i]);
}

/* ---- by the definition ------------------------------------------------------------------ */

static void compare_with_definition(struct audit *a)
{
	struct stereo_size size = a->s->size;
	size_t pixels = (size_t)size.w * (size_t)size.h;
	uint32_t *left = allocate_zeroed(pixels, sizeof(*left)),
		 *right = allocate_zeroed(pixels, sizeof(*right));
	const struct stereo_pair pair = { size, left, right, (int32_t)a->o->dmin,
					  (int32_t)a->o->dmax };

	for (int32_t y = 0; y < size.h; y++) {
		const struct stereo_part row = { a->slot, y, 0, size.w };

		stereo_row(a->o, a->s, &row, left + (int64_t)y * size.w,
			   right + (int64_t)y * size.w);
	}
	for (int32_t y = 0; y < size.h; y++) {
		for (int32_t x = 0; x < size.w; x++)
			a->want[x] = stereo_defined(&pair, x, y);
		compare_row(a, 0, size.w, y);
	}
	free(left);
	free(right);
}

/* ---- by sums ---------------------------------------------------------------------------- */

static int32_t clamp_index(int32_t v, int32_t n)
{
	return v < 0 ? 0 : v < n ? v : n - 1;
}

/* Adds (sign 1) or subtracts (-1) row y, or the edge that stands for it, in the sums' columns. */
static void slide_row(const struct audit *a, struct stereo_sums *sums, int32_t y, int sign)
{
	struct stereo_size size = a->s->size;
	int32_t dmax = sums->dmin + sums->n - 1, low = sums->dmin < 0 ? sums->dmin : 0;
	const struct stereo_part part = {
		a->slot,
		clamp_index(y, size.h),
		clamp_index(sums->from - STEREO_RADIUS + low, size.w),
		clamp_index(sums->from + sums->columns - 1 + STEREO_RADIUS + (dmax > 0 ? dmax : 0),
			    size.w) +
			1,
	};

	stereo_row(a->o, a->s, &part, a->left, a->right);
	stereo_sums_row(sums, a->left, a->right, sign);
}

/* Starts over at row y. */
static void start_sums(const struct audit *a, struct stereo_sums *sums, int32_t y)
{
	stereo_sums_clear(sums);
	for (int32_t i = -STEREO_RADIUS; i <= STEREO_RADIUS; i++)
		slide_row(a, sums, y + i, 1);
}

static int compare_all_rows(struct audit *a, struct stereo_sums *sums)
{
	start_sums(a, sums, 0);
	for (int32_t y = 0; y < a->s->size.h; y++) {
		if (interrupted())
			return -EINTR;
		stereo_sums_best(sums, a->want);
		compare_row(a, 0, a->s->size.w, y);
		slide_row(a, sums, y - STEREO_RADIUS, -1);
		slide_row(a, sums, y + STEREO_RADIUS + 1, 1);
	}
	return 0;
}

static void compare_tile(struct audit *a, struct stereo_sums *sums, int32_t from, int32_t y)
{
	int32_t left = a->s->size.w - from;

	sums->from = from;
	sums->columns = left < TILE ? left : TILE;
	start_sums(a, sums, y);
	stereo_sums_best(sums, a->want);
	compare_row(a, from, sums->columns, y);
}

static int compare_numbers(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* Compares tiles that are drawn, the first and the last among them, and those with odd pixels. */
static int compare_some_tiles(struct audit *a, struct stereo_sums *sums, int64_t most)
{
	struct stereo_size size = a->s->size;
	int64_t of_row = (size.w + TILE - 1) / TILE, n = 0;
	struct pieces drawn = pieces_of(of_row * size.h, 1, most, a->v->seed, a->slot, USE_TILES);
	int64_t *tile = allocate_zeroed((size_t)(drawn.count + a->odds), sizeof(*tile));
	bool stop = false;

	for (; n < drawn.count; n++)
		tile[n] = pieces_at(&drawn, n);
	for (int i = 0; i < a->odds; i++)
		tile[n++] = a->odd[i] / size.w * of_row + a->odd[i] % size.w / TILE;
	qsort(tile, (size_t)n, sizeof(*tile), compare_numbers);
	for (int64_t i = 0; i < n && !stop; i++) {
		if (!i || tile[i] != tile[i - 1])
			compare_tile(a, sums, (int32_t)(tile[i] % of_row) * TILE,
				     (int32_t)(tile[i] / of_row));
		stop = interrupted();
	}
	free(tile);
	return stop ? -EINTR : 0;
}

/* ---- how much --------------------------------------------------------------------------- */

static int64_t answered_slots(const struct audit *a)
{
	return __builtin_popcountll(a->found.answers);
}

static double disparity_count(const struct audit *a)
{
	return (double)(a->o->dmax - a->o->dmin + 1);
}

/* A pixel by sums: a row comes in and another is taken off. */
static double pixel_ns(const struct audit *a)
{
	return 2 * (disparity_count(a) * sad_ns + make_ns);
}

/* Tiles of each slot. */
static int64_t tiles_in_time(const struct audit *a)
{
	double d = disparity_count(a), columns = TILE + 2 * STEREO_RADIUS;
	double tile_ns = STEREO_WINDOW * (columns * d * sad_ns + (columns + d) * make_ns);

	return (int64_t)(some_ns / tile_ns / (double)answered_slots(a));
}

/* How many of these are odd. */
static int odd_in_time(const struct audit *a)
{
	int64_t n = tiles_in_time(a) / 4;

	return n < ODD_LEAST ? ODD_LEAST : n > ODD_MOST ? ODD_MOST : (int)n;
}

static double defined_ns(const struct audit *a)
{
	return STEREO_WINDOW * STEREO_WINDOW * disparity_count(a) * sad_ns;
}

/* Is all of every slot compared in time, at so many ns a pixel? */
static bool fits_in_time(const struct audit *a, double ns)
{
	return (double)a->v->total * ns <= all_ns;
}

static int compare_slot(struct audit *a)
{
	struct stereo_size size = a->s->size;
	double work = (double)size.w * size.h * disparity_count(a);
	struct stereo_sums sums;
	int err;

	if (work <= DEFINED && (a->v->full || fits_in_time(a, defined_ns(a)))) {
		compare_with_definition(a);
		return 0;
	}
	sums = stereo_sums_new(size.w, (int32_t)a->o->dmin, (int32_t)a->o->dmax);
	if (a->v->full || fits_in_time(a, pixel_ns(a)))
		err = compare_all_rows(a, &sums);
	else
		err = compare_some_tiles(a, &sums, tiles_in_time(a) - a->odds);
	stereo_sums_free(&sums);
	return err;
}

/*
 * Noise changes about one disparity of 2000, and in each slot others: so these pixels show whether
 * the answers are those of another slot. Pictures from files have none.
 */
static void note_odd(struct audit *a, int64_t pixel, int32_t got)
{
	struct stereo_size size = a->s->size;
	int32_t x = (int32_t)(pixel % size.w), y = (int32_t)(pixel / size.w);

	if (!a->s->left && got != stereo_truth(x, y, size))
		a->odd[a->odds++] = pixel;
}

/* Poison is no disparity; looked for in all pixels, or in pieces of them. */
static int find_unwritten(struct audit *a)
{
	int64_t pixels = (int64_t)a->s->size.w * a->s->size.h;
	int most_odd = odd_in_time(a);
	int64_t most = a->v->full || a->v->total <= LOOK ? pixels : LOOK / answered_slots(a);
	struct pieces all = pieces_of(pixels, GAP, most, a->v->seed, a->slot, USE_GAPS);
	int32_t poison;

	a->odds = 0;
	memset(&poison, SLOTS_POISON_INTEGER, sizeof(poison));
	for (int64_t i = 0; i < all.count; i++) {
		int64_t at = pieces_at(&all, i), n = pieces_units(&all, i);

		if (interrupted())
			return -EINTR;
		dataset_fetch(&a->s->set, 0, a->slot, at, n, a->got);
		for (int64_t k = 0; k < n; k++) {
			if (a->got[k] == poison)
				dataset_flaw(&a->found, &a->s->set, "no disparity", a->slot,
					     at + k);
			if (at + k >= pixels * a->odds / most_odd)
				note_odd(a, at + k, a->got[k]);
		}
	}
	return 0;
}

static int check_slots(struct audit *a)
{
	int err = 0;

	for (int64_t slot = 0; slot < a->o->set.slots && !err; slot++) {
		if (!(a->found.answers >> slot & 1))
			continue;
		a->slot = (uint32_t)slot;
		err = find_unwritten(a);
		if (!err)
			err = compare_slot(a);
	}
	return err;
}

/* ---- the verdict ------------------------------------------------------------------------ */

static void set_verdict(struct audit *a)
{
	struct verdict *v = a->v;

	v->measure = "pixels with another disparity, and values that are not what steps leave";
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
	const struct dataset_extent extent = { steps, v->graph_steps, v->full, v->seed };
	int err = dataset_audit(&s->set, &stereo_work, opts, state, &extent, &a.found);

	if (err)
		return err;
	v->compared = 0;
	v->total = (int64_t)s->size.w * s->size.h * answered_slots(&a);
	a.left = allocate_zeroed(w, sizeof(*a.left));
	a.right = allocate_zeroed(w, sizeof(*a.right));
	a.got = allocate_zeroed(w > GAP ? w : GAP, sizeof(*a.got));
	a.want = allocate_zeroed(w, sizeof(*a.want));
	err = check_slots(&a);
	set_verdict(&a);
	free(a.left);
	free(a.right);
	free(a.got);
	free(a.want);
	return err;
}
