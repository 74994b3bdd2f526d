/*
 * test_pathtrace_check.c - the check passes what is right, fails what is not, and ends when asked
 * to; and how much light there is on average.
 */
#include "tests/plain.h"

#include <signal.h>

#include "common/interrupt.h"
#include "workloads/pathtrace/test_pathtrace.h"

TestSuite(small_pathtrace_check, .timeout = 300);
TestSuite(large_pathtrace_check, .timeout = 300);

static struct pathtrace_opts small(enum pt_scene_kind scene)
{
	return make_opts(scene, RACES ? 12 : 32, 4);
}

static void passes(struct pathtrace_opts o, int64_t steps)
{
	struct run *r = run_begin(o);
	struct verdict v;

	run_steps(r, steps);
	v = run_check(r, steps, true);
	cr_assert(v.passed, "error %g: %s", v.error, v.worst);
	cr_assert(v.compared == v.total && v.total == o.width * o.height, "%ld of %ld",
		  (long)v.compared, (long)v.total);
	cr_assert(run_totals(r).lost == 0, "rays lost");
	run_end(r);
}

Test(small_pathtrace_check, right_pictures_pass)
{
	struct pathtrace_opts o = small(PT_BOX);

	need_device();
	for (int scene = 0; scene <= PT_SPHERE; scene++)
		passes(small((enum pt_scene_kind)scene), 2);
	o.nee = 0;
	passes(o, 1);
	o.nee = 1;
	o.rr = 0;
	passes(o, 1);
	o.bounces = 0;
	passes(o, 1);
	passes(make_opts(PT_BOX, 1, 1), 1);
}

/* A kernel in single precision: the whole box and the whole furnace, sample by sample. */
Test(large_pathtrace_check, more_samples_pass)
{
	need_device();
	for (int scene = 0; scene <= PT_SPHERE; scene++)
		passes(make_opts((enum pt_scene_kind)scene, 20, 64), 4);
	passes(make_opts(PT_BOX, 4, 16384), 1);
}

/* Many samples or pixels: some are compared. */
Test(small_pathtrace_check, a_sample_holds_the_first_and_the_last)
{
	struct run *r;
	struct verdict v;

	need_device();
	r = run_begin(make_opts(PT_BOX, RACES ? 8 : 48, 1));
	run_steps(r, 1);
	v = run_check(r, 1, false);
	cr_assert(v.passed && v.compared == (RACES ? 64 : 1024), "%ld compared", (long)v.compared);
	run_end(r);
}

/* ---- what is wrong -------------------------------------------------------------------------- */

typedef void damage(struct pt_pixel *pixel, int64_t n);

static void is_seen(const char *what, damage *damage, const char *says)
{
	struct pathtrace_opts o = make_opts(PT_BOX, 16, 2);
	struct run *r = run_begin(o);
	size_t bytes = (size_t)(o.width * o.height) * sizeof(struct pt_pixel);
	struct pt_pixel *pixel;
	struct verdict v;

	run_steps(r, 2);
	pixel = run_pixels(r);
	damage(pixel, o.width * o.height);
	CUDA(cudaMemcpy(r->s.job.pixel, pixel, bytes, cudaMemcpyHostToDevice));
	v = run_check(r, 2, false);
	cr_assert(!v.passed, "%s passes: %g", what, v.error);
	cr_assert(strstr(v.worst, says), "%s: %s", what, v.worst);
	free(pixel);
	run_end(r);
}

static void miss_a_sample(struct pt_pixel *pixel, int64_t n)
{
	pixel[n - 1].count--;
}

static void forget_a_pixel(struct pt_pixel *pixel, int64_t n)
{
	memset(&pixel[n / 2], 0, sizeof(*pixel));
}

static void darken(struct pt_pixel *pixel, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		pixel[i].sum[1] -= pixel[i].sum[1] / 50000;
}

static void shift_some(struct pt_pixel *pixel, int64_t n)
{
	for (int64_t i = 0; i < n; i += 50)
		pixel[i].sum[2] += 1 << 20;
}

static void make_negative(struct pt_pixel *pixel, int64_t n)
{
	pixel[n / 3].sum[0] = -1;
}

static void lose(struct pt_pixel *pixel, int64_t n)
{
	pixel[n / 4].lost = 3;
}

static void walk_too_far(struct pt_pixel *pixel, int64_t n)
{
	pixel[n / 4].segments = 1000;
}

Test(small_pathtrace_check, wrong_pictures_fail)
{
	need_device();
	is_seen("a missing sample", miss_a_sample, "samples of pixel 15, 15");
	is_seen("a pixel at its start", forget_a_pixel, "samples of pixel 0, 8");
	is_seen("2e-5 less green", darken, "mean colour");
	is_seen("every 50th pixel", shift_some, "colour of pixel");
	is_seen("negative light", make_negative, "negative");
	is_seen("lost rays", lose, "rays lost");
	is_seen("too many segments", walk_too_far, "segments");
}

Test(small_pathtrace_check, other_steps_than_were_run_fail)
{
	struct run *r;

	need_device();
	r = run_begin(make_opts(PT_BOX, 8, 2));
	cr_assert(!run_check(r, 1, false).passed, "nothing ran");
	run_steps(r, 2);
	cr_assert(!run_check(r, 1, false).passed, "one step too many");
	cr_assert(!run_check(r, 0, false).passed, "no step");
	cr_assert(run_check(r, 2, false).passed, "the right number");
	run_end(r);
}

/* Light that is no number is not added, and the sample is missing. */
Test(small_pathtrace_check, light_that_is_no_number_fails)
{
	struct run *r;

	need_device();
	r = run_begin(make_opts(PT_BOX, 8, 2));
	r->s.job.surface[2].rho[0] = NAN;
	run_steps(r, 1);
	cr_assert(!run_check(r, 1, false).passed, "NaN passes");
	run_end(r);
}

Test(small_pathtrace_check, control_c_ends_it)
{
	struct verdict v = { .full = true };
	struct run *r;

	need_device();
	r = run_begin(make_opts(PT_BOX, 8, 2));
	run_steps(r, 1);
	signal(SIGINT, SIG_DFL);
	interrupt_install();
	raise(SIGINT);
	cr_assert(workload_pathtrace.check(&r->o, &r->s, 1, &v) == -EINTR, "check");
	cr_assert(!v.passed, "an interrupted check passed");
	run_end(r);
}

/* ---- statistics ----------------------------------------------------------------------------- */

/*
 * The box, 64 x 64: mean and its standard error of 8192 samples by another program. That of n
 * samples is sqrt(8192 / n) times as much.
 */
static void box_has_light(int nee, int rr, int64_t seed)
{
	static const double mean[3] = { 0.542122725, 0.456736599, 0.350234286 };
	const double error = nee ? 0.00012 : 0.00024; /* 0.00048 of 2048 without asking lamps */
	struct pathtrace_opts o = make_opts(PT_BOX, 64, 128);
	struct pt_totals t;
	struct run *r;

	o.nee = nee;
	o.rr = rr;
	o.seed = seed;
	r = run_begin(o);
	run_steps(r, 1);
	t = run_totals(r);
	for (int k = 0; k < 3; k++)
		cr_assert(fabs(t.mean[k] - mean[k]) <
				  4 * hypot(error * sqrt(8192.0 / (double)o.samples), 0.00012),
			  "nee=%d rr=%d: mean %d is %g", nee, rr, k, t.mean[k]);
	run_end(r);
}

Test(large_pathtrace_check, light_is_as_much_however_it_is_sampled)
{
	need_device();
	box_has_light(1, 3, 11);
	box_has_light(0, 3, 12);
	box_has_light(1, 1000, 13);
}

/* By another program 1.99984, with a standard error of 0.00029: of 1024 samples, these are 128. */
Test(large_pathtrace_check, roulette_in_a_furnace_loses_nothing)
{
	struct pathtrace_opts o = make_opts(PT_FURNACE, 64, 128);
	struct run *r;

	need_device();
	o.nee = 0;
	o.bounces = 64; /* of 8 a hundredth is missing */
	o.seed = 5;
	r = run_begin(o);
	run_steps(r, 1);
	cr_assert(fabs(run_totals(r).mean[0] - 2) < 4 * .00029 * sqrt(8), "%g",
		  run_totals(r).mean[0]);
	run_end(r);
}

/* Samples near corners are up to 4900 where lamps are asked: six standard errors. */
Test(large_pathtrace_check, a_furnace_is_two_on_average)
{
	struct pathtrace_opts o = make_opts(PT_FURNACE, 32, 512);
	const double error = 0.0072 * M_SQRT2;
	struct run *r;

	need_device();
	r = run_begin(o);
	run_steps(r, 1);
	cr_assert(fabs(run_totals(r).mean[0] - 2) < 6 * error, "%g", run_totals(r).mean[0]);
	run_end(r);
}
