/*
 * pathtrace.c - the pathtrace workload: its parameters, what they allow, and its entry.
 *
 * A step is one launch that adds samples= paths to every pixel (kernels.cu):
 *
 *   for each pixel and sample: follow a ray from the eye from surface to surface, add the light
 *   that arrives, until the path leaves the scene, is absorbed, or has bounces= bounces
 *
 * The sums of all steps stay on the device, as integers. scene.c has the scenes, reference.c walks
 * the same paths in double for check.c; app_image.c writes a picture.
 */
#include "workloads/pathtrace/pathtrace.h"

#include <errno.h>

#include "common/check.h"
#include "workloads/workload.h"

static const char *const scenes[] = { "box", "furnace", "sphere", NULL };

/* clang-format off */
static const struct param params[] = {
	PARAM_AXIS(pathtrace_opts, samples, "paths", "16", 1, 32768,
		   "1,2,4,8,16,32,64,128,256,512,1k,2k,4k,8k,16k,32k",
		   "paths that a step adds to every pixel"),
	PARAM_INT(pathtrace_opts, width, "pixels", "256", 1, 4096, "width of the picture"),
	PARAM_INT(pathtrace_opts, height, "pixels", "256", 1, 4096, "height of the picture"),
	PARAM_INT(pathtrace_opts, bounces, "bounces", "8", 0, PT_BOUNCES_MAX,
		  "bounces after which a path ends; 0: only light seen directly"),
	PARAM_INT(pathtrace_opts, rr, "bounces", "3", 0, 1000,
		  "first bounce at which dim paths end by chance; bounces or more: none"),
	PARAM_INT(pathtrace_opts, nee, "1", "1", 0, 1,
		  "1: dull surfaces ask a lamp for light; 0: paths meet lamps by chance"),
	PARAM_CHOICE(pathtrace_opts, scene, "box", scenes,
		     "a room with balls; walls that all shine alike; a ball before a sky"),
	PARAM_INT(pathtrace_opts, seed, "1", "1", 0, 9007199254740992.0, "seed of the random "
									 "numbers"),
	PARAM_REAL(pathtrace_opts, limit_ms, "ms", "0", 0, 3600e3,
		   "longest launch that a sweep tries; 0: 1000, under a watchdog 500"),
	PARAM_PATH_OUT(pathtrace_opts, image, "picture to write: .ppm, .png, or .pfm with all bits"),
	PARAM_END
};
/* clang-format on */

static int limits(const void *opts, struct limits *out)
{
	const struct pathtrace_opts *o = opts;

	if (o->image && pathtrace_format(o->image) == PT_NO_FORMAT)
		return complain(EINVAL, "image=%s: the name must end in .ppm, .png or .pfm",
				o->image);
	out->depth_max = PT_SAMPLES_MAX / o->samples;
	out->depth_why = "a pixel takes at most 2^31 samples";
	/* Windows resets a GPU after 2 s */
	out->launch_max_ms = o->limit_ms > 0 ? o->limit_ms : 1000;
	out->launch_max_watched_ms = o->limit_ms > 0 ? o->limit_ms : 500;
	return 0;
}

static int step(const void *opts, void *state, cudaStream_t stream)
{
	const struct pathtrace_opts *o = opts;
	const struct pathtrace_state *s = state;

	pathtrace_launch(&s->job, (uint32_t)o->samples, s->threads, stream);
	return 0;
}

static int fused(const void *opts, void *state, cudaStream_t stream, int64_t n)
{
	const struct pathtrace_opts *o = opts;
	const struct pathtrace_state *s = state;

	if (n * o->samples > PT_SAMPLES_MAX)
		return complain(EINVAL, "%ld steps of %ld samples: a pixel takes at most %ld",
				(long)n, (long)o->samples, (long)PT_SAMPLES_MAX);
	pathtrace_launch(&s->job, (uint32_t)(n * o->samples), s->threads, stream);
	return 0;
}

const struct workload workload_pathtrace = {
	.name = "pathtrace",
	.summary = "a room with mirror and glass, seen by following light from the eye",
	.source = "Kajiya 1986; in the place that Blender has in NVIDIA's article on WSL2",
	.step_unit = "launch",
	.params = params,
	.opts_size = sizeof(struct pathtrace_opts),
	.state_size = sizeof(struct pathtrace_state),
	.limits = limits,
	.setup = pathtrace_setup,
	.reset = pathtrace_reset,
	.step = step,
	.fused = fused,
	.check = pathtrace_check,
	.report = pathtrace_report,
	.plot = pathtrace_plot,
	.cost = pathtrace_cost,
	.teardown = pathtrace_teardown,
};
