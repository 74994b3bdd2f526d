/*
 * stereo.c - the stereo workload: its parameters, what they allow and cost, and its entry in the
 * table.
 *
 * A step finds the disparities of the pair of images of one slot (kernels.cu):
 *
 *   data=streamed  copy both images to the device; with overlap= in chunks of rows
 *   match          for each pixel the disparity with the least sum of absolute differences over a
 *                  window of 17 x 17 pixels; one launch a chunk
 *   data=streamed  copy the disparities back
 *
 * Slots are taken in turn; a counter on the device holds how many steps were made. step.c enqueues
 * it, reference.c is what check.c compares with.
 */
#include "workloads/stereo/stereo.h"

#include <errno.h>
#include <string.h>

#include "common/check.h"
#include "workloads/stereo/app_ppm.h"
#include "workloads/workload.h"

/* clang-format off */
static const struct param params[] = {
	PARAM_AXIS(stereo_opts, width, "pixels", "640", 1, STEREO_SIDE_MAX,
		   "160,320,640,1280,4096,8192,16384", "width of the images"),
	PARAM_SIZE(stereo_opts, height, "pixels", "0", 0, STEREO_SIDE_MAX,
		   "height of the images; 0: the one that goes with the width"),
	PARAM_INT(stereo_opts, dmin, "pixels", "-16", -STEREO_DISPARITY_MAX, STEREO_DISPARITY_MAX,
		  "least disparity: what is at x in the left image is at x + d in the right"),
	PARAM_INT(stereo_opts, dmax, "pixels", "0", -STEREO_DISPARITY_MAX, STEREO_DISPARITY_MAX,
		  "largest disparity"),
	PARAM_INT(stereo_opts, strip, "rows", "0", 0, STEREO_STRIP_MAX,
		  "rows that a block goes down; 0: by the size"),
	PARAM_INT(stereo_opts, seed, "1", "1", 0, 9007199254740992.0, "seed of the images"),
	PARAM_PATH(stereo_opts, left, "PPM file to match instead; with right="),
	PARAM_PATH(stereo_opts, right, "PPM file of the same size"),
	PARAM_INT(stereo_opts, upload_output, "1", "0", 0, 1,
		  "1: zeros as large as the output are copied in too, as the sample does"),
	DATASET_PARAMS(stereo_opts),
	PARAM_END
};
/* clang-format on */

static const struct param_need needs[] = {
	{ "left", "right" },   { "right", "left" }, { "width", "!left" },
	{ "height", "!left" }, { "seed", "!left" }, { "upload_output", "data=streamed" },
	DATASET_NEEDS,	       { NULL, NULL },
};

/* The sizes of the vmCUDA paper: table 1, and what its largest series of transfers begins with. */
static const struct preset presets[] = {
	{ "vmcuda-table1", "width=4096 height=2048 upload_output=1 data=streamed total=3328M",
	  "the paper's 2496 MiB in and 832 MiB out: 26 pairs" },
	{ "vmcuda-large", "width=4096 height=2048 upload_output=1 data=streamed total=12800M",
	  "a set of 64 MiB 100 times: 12.5 GiB" },
	{ NULL, NULL, NULL },
};

/* ---- sizes ------------------------------------------------------------------------------ */

/* Those of the paper and of the sample's photographs; of others the photographs' proportions. */
int32_t stereo_height_for(int32_t width)
{
	static const struct stereo_size known[] = {
		{ 160, 120 }, { 320, 240 }, { 4096, 2048 }, { 8192, 4096 }, { 16384, 9984 },
	};
	int32_t height = width * 5 / 6;

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (known[i].w == width)
			return known[i].h;
	return height ? height : 1;
}

static int size_of_files(const struct stereo_opts *o, struct stereo_size *size)
{
	struct stereo_size other;
	int err = stereo_ppm_size(o->left, STEREO_SIDE_MAX, size);

	if (!err)
		err = stereo_ppm_size(o->right, STEREO_SIDE_MAX, &other);
	if (err)
		return err;
	if (other.w != size->w || other.h != size->h)
		return complain(EINVAL, "%s has %d x %d pixels, and %s %d x %d: must be the same",
				o->left, size->w, size->h, o->right, other.w, other.h);
	return 0;
}

int stereo_image_size(const struct stereo_opts *o, struct stereo_size *size)
{
	if (o->left && o->right)
		return size_of_files(o, size);
	size->w = (int32_t)o->width;
	size->h = o->height ? (int32_t)o->height : stereo_height_for(size->w);
	return 0;
}

/* Windows of a chunk's last rows reach into the next one's. */
struct dataset_shape stereo_layout(const struct stereo_opts *o, struct stereo_size size)
{
	int64_t words = (int64_t)size.w * size.h;
	const struct dataset_array image = { words, size.w, STEREO_RADIUS };
	const struct dataset_array plain = { words, size.w, 0 };
	struct dataset_shape s = {
		.inputs = 2,
		.outputs = 1,
		.array = { image, image, plain, plain },
		.poison = SLOTS_POISON_INTEGER,
		.unit = "pixel",
	};

	s.inputs += o->upload_output != 0;
	return s;
}

/* ---- limits and cost -------------------------------------------------------------------- */

static int limits(const void *opts, struct limits *out)
{
	const struct stereo_opts *o = opts;
	struct dataset_shape layout;
	struct stereo_size size;
	int err;

	if (o->dmin > o->dmax)
		return complain(EINVAL, "dmin=%ld dmax=%ld: the least is above the largest",
				(long)o->dmin, (long)o->dmax);
	err = stereo_image_size(o, &size);
	if (err)
		return err;
	layout = stereo_layout(o, size);
	out->mode_refused[MODE_GRAPH] = dataset_graph_refused(&o->set, &layout);
	out->mode_refused[MODE_FUSED] = dataset_fused_refused(&o->set);
	out->depth_asked = dataset_steps(&o->set, &layout);
	return dataset_opts_check(&o->set, &layout);
}

static int cost(const void *opts, const void *state, struct cost *out)
{
	const struct stereo_opts *o = opts;
	const struct stereo_state *s = state;
	const struct dataset_shape *layout = &s->set.shape;
	struct dataset_copies in = dataset_copies_in(&o->set, layout);
	struct dataset_copies back = dataset_copies_out(&o->set, layout);
	double pixels = (double)s->size.w * s->size.h;

	*out = (struct cost){
		.launches = dataset_chunks(&o->set),
		.bytes_moved = 12 * pixels,
		.bytes_transferred = in.bytes + back.bytes,
		.to_device = { in.calls, in.bytes },
		.to_host = { back.calls, back.bytes },
		.pageable = o->set.data == STREAMED_STREAMED && o->set.memory == STREAMED_PAGEABLE,
		.evaluations = pixels,
		.evaluation = "pixel",
		.formula =
			"two pixels and a disparity of 4 B; about 10 integer operations for each "
			"pixel and disparity; streamed: each array copied once",
	};
	return 0;
}

/* Launches are counted in it, and a fused one is one. */
static void scratch(const void *opts, const void *state, struct scratch *out)
{
	const struct stereo_state *s = state;

	(void)opts;
	out->part[out->n++] = (struct scratch_part){ s->set.counter, sizeof(*s->set.counter) };
}

const struct workload workload_stereo = {
	.name = "stereo",
	.summary = "disparities of two images by block matching: integer operations on few bytes",
	.source =
		"block matching by sums of absolute differences; NVIDIA's stereoDisparity sample, "
		"as in the vmCUDA paper",
	.step_unit = "disparities of the pair of images of a slot",
	.params = params,
	.needs = needs,
	.presets = presets,
	.opts_size = sizeof(struct stereo_opts),
	.state_size = sizeof(struct stereo_state),
	.limits = limits,
	.setup = stereo_setup,
	.reset = stereo_reset,
	.step = stereo_step,
	.fused = stereo_fused,
	.check = stereo_check,
	.report = stereo_report,
	.cost = cost,
	.scratch = scratch,
	.teardown = stereo_teardown,
};
