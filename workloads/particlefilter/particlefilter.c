/*
 * particlefilter.c - the particlefilter workload: its parameters and its entry in the table.
 *
 * A step filters one frame of a video, for all particles:
 *
 *   resample   ancestors of the frame before, by its cumulative weights
 *   move       each particle by normally distributed numbers
 *   weigh      by the pixels of a disk around it; sums of weights
 *   estimate   the object's position, of the frame before
 *
 * One launch a frame (frame.cuh), or n frames in one block for few particles (one_block.cuh), or
 * the classic four launches (split.cuh). reference.c is what check.c compares with.
 *
 * The problem is that of the "particlefilter" benchmark of the Rodinia suite; the method is the
 * bootstrap filter of Gordon, Salmond and Smith, IEE Proc. F 140 (1993) 107, with systematic
 * resampling.
 */
#include "workloads/particlefilter/particlefilter.h"
#include "workloads/workload.h"

static const char *const variants[] = { "matched", "rodinia", "round", NULL };
static const char *const generators[] = { "auto", "lcg", "philox", NULL };
static const char *const granularities[] = { "frame", "split", NULL };
static const char *const precisions[] = { "double", "float", NULL };
static const char *const stencils[] = { "rows", "pixels", NULL };

/* clang-format off */
static const struct param params[] = {
	PARAM_AXIS(particlefilter_opts, particles, "particles", "1000", 1, PF_PARTICLES_MAX,
		   "256,1k,4k,16k,64k,256k,1M,8M", "particles of the cloud"),
	PARAM_INT(particlefilter_opts, rows, "pixels", "128", 1, 65536, "height of a frame"),
	PARAM_INT(particlefilter_opts, cols, "pixels", "128", 1, 65536, "width of a frame"),
	PARAM_INT(particlefilter_opts, frames, "frames", "10", 2, 1000000,
		  "frames of the video; the first one is not filtered"),
	PARAM_CHOICE(particlefilter_opts, variant, "matched", variants,
		     "the right filter; Rodinia's; Rodinia's with positions rounded"),
	PARAM_CHOICE_ASIDE(particlefilter_opts, granularity, "frame", granularities, "split",
			   "one launch per frame, or the classic four"),
	PARAM_CHOICE_ASIDE(particlefilter_opts, precision, "double", precisions, "float",
			   "precision of positions and weights; sums over chunks are always "
			   "double"),
	PARAM_CHOICE(particlefilter_opts, stencil, "rows", stencils,
		     "a disk's pixels by sums along its rows, or one by one"),
	PARAM_CHOICE(particlefilter_opts, rng, "auto", generators,
		     "random numbers of the particles; auto: lcg, Rodinia's own"),
	PARAM_CHOICE(particlefilter_opts, noise, "auto", generators,
		     "random numbers of the video's noise; auto: lcg with Rodinia's filter, else "
		     "philox"),
	PARAM_TEXT(particlefilter_opts, clock, "T or p1",
		   "T: generator i starts at T x i, as with T seconds on the clock (1); or p1: at i + 1"),
	PARAM_INT(particlefilter_opts, seed, "1", "0", 0, 9007199254740992.0, "seed of philox"),
	PARAM_REAL(particlefilter_opts, drift_row, "pixels", "-2", -1000, 1000,
		   "expected downward motion per frame"),
	PARAM_REAL(particlefilter_opts, drift_col, "pixels", "1", -1000, 1000,
		   "expected motion to the right per frame"),
	PARAM_REAL(particlefilter_opts, spread_row, "pixels", "2", 0, 1000,
		   "standard deviation of the motion along rows"),
	PARAM_REAL(particlefilter_opts, spread_col, "pixels", "5", 0, 1000,
		   "standard deviation of the motion along columns"),
	PARAM_PATH(particlefilter_opts, input,
		   "grey video to read: PGM images (P5) one after the other; or with raw="),
	PARAM_LIST(particlefilter_opts, raw, "pixels", "0,0", 0, 65536,
		   "rows,cols: input is bytes without headers, in frames of this size; 0,0: PGM"),
	PARAM_INT(particlefilter_opts, radius, "pixels", "5", 1, PF_RADIUS_MAX,
		  "radius of the object: its pixels are less than this far from its centre"),
	PARAM_INT(particlefilter_opts, object, "1", "228", 0, 255, "grey level of the object"),
	PARAM_INT(particlefilter_opts, background, "1", "100", 0, 255,
		  "grey level of everything else"),
	PARAM_INT(particlefilter_opts, start_row, "pixels", "-1", -1, 65535,
		  "row of the object in the first frame; -1: the middle"),
	PARAM_INT(particlefilter_opts, start_col, "pixels", "-1", -1, 65535,
		  "column of the object in the first frame; -1: the middle"),
	PARAM_PATH_OUT(particlefilter_opts, track, "CSV to write: a row per frame, with what the "
						   "filter found"),
	PARAM_PATH_OUT(particlefilter_opts, particles8,
		   "CSV to write: the first eight particles in every frame"),
	PARAM_END
};
/* clang-format on */

static const struct param_need needs[] = {
	{ "rows", "!input" },
	{ "cols", "!input" },
	{ "frames", "!input" },
	{ "noise", "!input" },
	{ "raw", "input" },
	{ "radius", "input" },
	{ "object", "input" },
	{ "background", "input" },
	{ "start_row", "input" },
	{ "start_col", "input" },
	{ "rng", "variant=rodinia" },
	{ "clock", "variant=rodinia" },
	{ "clock", "rng=auto|lcg" },
	{ "drift_row", "variant=matched" },
	{ "drift_col", "variant=matched" },
	{ "spread_row", "variant=matched" },
	{ "spread_col", "variant=matched" },
	{ NULL, NULL },
};

static int step(const void *opts, void *state, cudaStream_t stream)
{
	const struct particlefilter_state *s = state;

	(void)opts;
	particlefilter_frame(&s->filter, stream);
	return 0;
}

static int fused(const void *opts, void *state, cudaStream_t stream, int64_t n)
{
	const struct particlefilter_state *s = state;

	(void)opts;
	particlefilter_frames(&s->filter, n, stream);
	return 0;
}

const struct workload workload_particlefilter = {
	.name = "particlefilter",
	.summary = "a disk tracked through a noisy video by a cloud of weighted particles",
	.source = "Gordon, Salmond and Smith 1993; Rodinia's particlefilter",
	.step_unit = "frame",
	.params = params,
	.needs = needs,
	.opts_size = sizeof(struct particlefilter_opts),
	.state_size = sizeof(struct particlefilter_state),
	.limits = particlefilter_limits,
	.setup = particlefilter_setup,
	.reset = particlefilter_reset,
	.step = step,
	.fused = fused,
	.check = particlefilter_check,
	.report = particlefilter_report,
	.plot = particlefilter_plot,
	.cost = particlefilter_cost,
	.scratch = particlefilter_scratch,
	.teardown = particlefilter_teardown,
};
