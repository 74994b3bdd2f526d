/*
 * test_pathtrace_modes.c - the same picture, bit by bit, however its samples are grouped: steps,
 * launches, graphs, blocks. And what exact pictures come to.
 */
#include "tests/plain.h"
#include "workloads/pathtrace/test_pathtrace.h"

TestSuite(small_pathtrace_modes, .timeout = 300);

enum { SIDE = RACES ? 16 : 32, SAMPLES = 16 };

/* Steps of so many samples each, by one of the ways there are. */
static struct pt_pixel *pixels_by(struct pathtrace_opts o, int threads,
				  void (*go)(struct run *, int64_t))
{
	struct run *r = run_begin(o);
	struct pt_pixel *pixel;

	r->s.threads = threads;
	go(r, SAMPLES / o.samples);
	pixel = run_pixels(r);
	run_end(r);
	return pixel;
}

static void same(const char *what, struct pathtrace_opts o, const struct pt_pixel *want,
		 struct pt_pixel *got)
{
	for (int64_t i = 0; i < o.width * o.height; i++)
		cr_assert(!memcmp(&got[i], &want[i], sizeof(*got)), "%s: pixel %ld differs", what,
			  (long)i);
	free(got);
}

static void all_agree(struct pathtrace_opts o)
{
	struct pathtrace_opts whole = o, few = o;
	struct pt_pixel *want;

	whole.samples = SAMPLES;
	few.samples = 4;
	want = pixels_by(o, PT_THREADS, run_steps);
	same("steps of 4", o, want, pixels_by(few, PT_THREADS, run_steps));
	same("one step", o, want, pixels_by(whole, PT_THREADS, run_steps));
	same("graph", o, want, pixels_by(o, PT_THREADS, run_graph));
	same("fused", o, want, pixels_by(o, PT_THREADS, run_fused));
	same("fused steps of 4", o, want, pixels_by(few, PT_THREADS, run_fused));
	same("blocks of 32", o, want, pixels_by(whole, 32, run_steps));
	if (!RACES)
		same("blocks of 256", o, want, pixels_by(whole, 256, run_steps));
	free(want);
}

Test(small_pathtrace_modes, a_box_has_the_same_bits_in_all)
{
	need_device();
	all_agree(make_opts(PT_BOX, SIDE, 1));
}

Test(small_pathtrace_modes, other_scenes_and_shapes_too)
{
	struct pathtrace_opts o = make_opts(PT_FURNACE, 16, 1);

	need_device();
	o.width = 19;
	o.height = 5;
	all_agree(o);
	o.scene = PT_SPHERE;
	o.nee = 0;
	all_agree(o);
}

Test(small_pathtrace_modes, a_seed_is_a_picture)
{
	struct pathtrace_opts o = make_opts(PT_BOX, 8, 4);
	uint64_t bits[3];

	need_device();
	for (int i = 0; i < 3; i++) {
		struct run *r;

		o.seed = 1 + i / 2;
		r = run_begin(o);
		run_steps(r, 1);
		bits[i] = run_totals(r).bits;
		run_end(r);
	}
	cr_assert(bits[0] == bits[1], "one seed, two pictures");
	cr_assert(bits[0] != bits[2], "two seeds, one picture");
}

/* ---- exact pictures ------------------------------------------------------------------------- */

static struct pathtrace_opts furnace(int64_t side, int64_t samples, int64_t bounces)
{
	struct pathtrace_opts o = make_opts(PT_FURNACE, side, samples);

	o.nee = 0;
	o.rr = 1000;
	o.bounces = bounces;
	return o;
}

/* 1 + 1/2 + 1/4 ..., through mirror and glass, without variance; with few bounces less. */
static void is_exact(struct pathtrace_opts o, double largest)
{
	struct run *r = run_begin(o);
	struct pt_pixel *pixel;
	double seen = 0;

	run_steps(r, 1);
	pixel = run_pixels(r);
	for (int64_t i = 0; i < o.width * o.height; i++)
		for (int k = 0; k < 3; k++) {
			double mean =
				ldexp((double)pixel[i].sum[k], -PT_FIXED_BITS) / (double)o.samples;

			cr_assert(mean <= largest + 1e-5, "pixel %ld: %.7f", (long)i, mean);
			cr_assert(o.bounces < 64 || mean >= largest - 1e-5, "pixel %ld: %.7f",
				  (long)i, mean);
			seen = fmax(seen, mean);
		}
	cr_assert(fabs(seen - largest) < 1e-5, "at most %.7f", seen);
	free(pixel);
	run_end(r);
}

Test(small_pathtrace_modes, a_furnace_loses_no_energy)
{
	need_device();
	is_exact(furnace(RACES ? 8 : 32, 4, 64), 2);
	for (int b = 0; b < 6; b++)
		is_exact(furnace(8, 2, b), 2 - ldexp(1, -b));
}

/* A ball that reflects 0.8 of a sky of 1: each sample is one or the other. */
Test(small_pathtrace_modes, a_ball_is_dull_and_the_sky_is_one)
{
	struct pathtrace_opts o = make_opts(PT_SPHERE, 33, 1);
	struct pt_pixel *pixel;
	struct run *r;

	need_device();
	o.nee = 0;
	r = run_begin(o);
	run_steps(r, 1);
	pixel = run_pixels(r);
	for (int64_t i = 0; i < 33 * 33; i++) {
		double got = ldexp((double)pixel[i].sum[0], -PT_FIXED_BITS);

		cr_assert(got == 1 || fabs(got - 0.8) < 1e-7, "pixel %ld: %.9f", (long)i, got);
	}
	cr_assert(pixel[0].sum[0] == 1 << 24, "a corner is sky");
	cr_assert(pixel[16 * 33 + 16].sum[0] != 1 << 24, "the middle is ball");
	free(pixel);
	run_end(r);
}
