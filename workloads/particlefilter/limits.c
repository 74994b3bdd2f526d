/* limits.c - which options of the particle filter contradict each other. */
#include <errno.h>
#include <string.h>

#include "common/check.h"
#include "common/output.h"
#include "workloads/particlefilter/particlefilter.h"
#include "workloads/workload.h"

/* Pixels of all frames: positions in them are 31 bits wide. */
static const double pixels_max = 2147483647.0;

static int check_files(const struct particlefilter_opts *o)
{
	const char *const out[][2] = { { "track", o->track }, { "particles8", o->particles8 } };

	for (int i = 0; i < 2; i++)
		if (output_same_file(o->input, out[i][1]))
			return complain(EINVAL, "%s=%s is read as input=: write to another file",
					out[i][0], out[i][1]);
	if (output_same_file(o->track, o->particles8))
		return complain(EINVAL, "track= and particles8= both name %s; give two files",
				o->track);
	return 0;
}

static int check_video(const struct particlefilter_opts *o)
{
	int64_t side = 2 * o->radius - 1;
	double pixels = (double)o->rows * (double)o->cols * (double)o->frames;

	if (o->input)
		return 0;
	if (o->rows < side || o->cols < side)
		return complain(EINVAL,
				"rows=%ld cols=%ld: the object, %ld x %ld pixels, is larger than a "
				"frame",
				(long)o->rows, (long)o->cols, (long)side, (long)side);
	if (pixels > pixels_max)
		return complain(EINVAL,
				"rows=%ld cols=%ld frames=%ld: %.3g pixels; at most %.0f can be "
				"addressed",
				(long)o->rows, (long)o->cols, (long)o->frames, pixels, pixels_max);
	return 0;
}

static int check_input(const struct particlefilter_opts *o)
{
	const int64_t *raw = o->raw.value;

	if (o->raw.n != 2 || !raw[0] != !raw[1])
		return complain(EINVAL, "raw= needs rows,cols, both 1 or more");
	if (o->object == o->background)
		return complain(
			EINVAL,
			"object=%ld background=%ld: must differ, or there is nothing to see",
			(long)o->object, (long)o->background);
	return 0;
}

static int check_generators(const struct particlefilter_opts *o)
{
	bool by_clock;
	int64_t clock;

	if (o->precision == PF_FLOAT && particlefilter_uses_lcg(o))
		return complain(EINVAL, "precision=float: needs rng=philox; rng=lcg repeats the "
					"original's doubles");
	return particlefilter_read_clock(o, &by_clock, &clock);
}

int particlefilter_limits(const void *opts, struct limits *out)
{
	const struct particlefilter_opts *o = opts;
	int err = check_video(o);

	if (!err)
		err = check_input(o);
	if (!err)
		err = check_files(o);
	if (!err)
		err = check_generators(o);
	if (o->granularity == PF_BY_SPLIT)
		out->mode_refused[MODE_FUSED] = "granularity=split is four launches a frame";
	else if (o->particles > PF_ONE_BLOCK)
		out->mode_refused[MODE_FUSED] =
			"more than 1024 particles take several blocks, which meet between frames";
	out->depth_run = o->input ? 0 : o->frames - 1; /* the whole video */
	return err;
}
