/* prepare.c - from options to a video and the rules of the filter. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "workloads/particlefilter/lcg.h"
#include "workloads/particlefilter/particlefilter.h"

enum { CLOCK_DIGITS = 18 };

bool particlefilter_uses_lcg(const struct particlefilter_opts *o)
{
	return o->variant == PF_RODINIA && o->rng != PF_RNG_PHILOX;
}

bool particlefilter_has_lcg_noise(const struct particlefilter_opts *o)
{
	if (o->noise != PF_RNG_AUTO)
		return o->noise == PF_RNG_LCG;
	return o->variant == PF_RODINIA;
}

int particlefilter_read_clock(const struct particlefilter_opts *o, bool *by_clock, int64_t *clock)
{
	const char *text = o->clock ? o->clock : "1";
	size_t digits = strspn(text, "0123456789");

	*by_clock = strcmp(text, "p1") != 0;
	*clock = 0;
	if (!*by_clock)
		return 0;
	if (!digits || text[digits] || digits > CLOCK_DIGITS)
		return complain(EINVAL,
				"clock=%s: a whole number of seconds of at most %d digits, or p1",
				text, CLOCK_DIGITS);
	*clock = strtoll(text, NULL, 10);
	return 0;
}

static int count_disk(int radius)
{
	int n = 0;

	for (int r = -radius; r <= radius; r++)
		for (int c = -radius; c <= radius; c++)
			n += r * r + c * c < radius * radius;
	return n;
}

/* The original's start and motion have rows and columns exchanged against its video. */
static void set_motion(const struct particlefilter_opts *o, struct pf_rules *r)
{
	bool matched = o->variant == PF_MATCHED;
	double middle_row = (double)(r->rows / 2), middle_col = (double)(r->cols / 2);

	r->start_row = matched ? middle_row : middle_col;
	r->start_col = matched ? middle_col : middle_row;
	if (o->start_row >= 0)
		r->start_row = (double)o->start_row;
	if (o->start_col >= 0)
		r->start_col = (double)o->start_col;
	r->drift_row = matched ? o->drift_row : 1;
	r->drift_col = matched ? o->drift_col : -2;
	r->spread_row = matched ? o->spread_row : 5;
	r->spread_col = matched ? o->spread_col : 2;
}

static int make_video(const struct particlefilter_opts *o, struct pf_rules *r,
		      struct pf_video *video)
{
	struct pf_scene scene = {
		.rows = o->rows,
		.cols = o->cols,
		.frames = o->frames,
		.wraps = r->wraps,
		.lcg_noise = particlefilter_has_lcg_noise(o),
		.lcg_start = r->lcg_start,
		.seed = r->seed,
		.noise = true,
	};
	int err = particlefilter_video_make(&scene, video);

	r->lcg_start = scene.lcg_start;
	return err;
}

static int check_read(const struct particlefilter_opts *o, const struct pf_video *v)
{
	int64_t side = 2 * o->radius - 1;

	if (v->rows < side || v->cols < side)
		return complain(EINVAL,
				"radius=%ld: a disk of %ld x %ld pixels is larger than a frame of "
				"%s, %ld x %ld",
				(long)o->radius, (long)side, (long)side, o->input, (long)v->rows,
				(long)v->cols);
	if (o->start_row >= v->rows || o->start_col >= v->cols)
		return complain(
			EINVAL, "start_row=%ld start_col=%ld is outside frames of %ld x %ld pixels",
			(long)o->start_row, (long)o->start_col, (long)v->rows, (long)v->cols);
	return 0;
}

int particlefilter_prepare(const struct particlefilter_opts *o, struct pf_video *video,
			   struct pf_rules *r)
{
	int err;

	*r = (struct pf_rules){
		.radius = (int32_t)o->radius,
		.disk = count_disk((int)o->radius),
		.object = (int32_t)o->object,
		.background = (int32_t)o->background,
		.rounds = o->variant != PF_RODINIA,
		.wraps = o->variant != PF_MATCHED,
		.lcg = particlefilter_uses_lcg(o),
		.seed = (uint64_t)o->seed,
	};
	err = particlefilter_read_clock(o, &r->by_clock, &r->clock);
	if (err)
		return err;
	r->lcg_start = lcg_seed(0, r->by_clock, r->clock);
	err = o->input ? particlefilter_read_video(o, video) : make_video(o, r, video);
	if (!err && o->input)
		err = check_read(o, video);
	r->rows = video->rows;
	r->cols = video->cols;
	r->frames = video->frames;
	set_motion(o, r);
	return err;
}
