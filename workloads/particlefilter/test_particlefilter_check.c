/* test_particlefilter_check.c - the check passes what is right and finds what is not. */
/* sanitizers: seen elsewhere */
#include "tests/plain.h"

#include <criterion/redirect.h>

#include "tests/races.h"
#include "workloads/particlefilter/test_run.h"

TestSuite(small_particlefilter_check, .timeout = 300);
TestSuite(large_particlefilter_check, .timeout = 400);

/* With blocks of one size; right_runs_pass has the larger ones. */
enum { N = RACES ? 300 : 1500 };

static struct run *stepped_run(int64_t particles, enum pf_granularity granularity, int64_t steps)
{
	struct particlefilter_opts o = default_opts();
	struct run *r;

	o.particles = particles;
	o.granularity = granularity;
	r = run_begin(o);
	run_steps(r, steps);
	return r;
}

static void passes(struct particlefilter_opts o, int64_t steps)
{
	struct run *r = run_begin(o);
	struct verdict v;

	run_steps(r, steps);
	v = run_check(r, steps, false);
	cr_assert(v.passed, "particles=%ld variant=%d granularity=%d precision=%d: %g, %s",
		  (long)o.particles, o.variant, o.granularity, o.precision, v.error, v.worst);
	cr_assert(v.compared == v.total && v.total == o.particles * (steps < 9 ? steps : 9),
		  "%ld of %ld", (long)v.compared, (long)v.total);
	run_end(r);
}

Test(small_particlefilter_check, right_runs_pass)
{
	struct particlefilter_opts o = default_opts();

	need_device();
	for (int i = 0; i < 24; i += RACES ? 5 : 1) {
		o.particles = i % 2 ? 1100 : 100;
		o.granularity = i / 2 % 2;
		o.variant = i / 4 % 3;
		o.precision = i / 12;
		o.rng = o.variant == PF_RODINIA && o.precision ? PF_RNG_PHILOX : PF_RNG_AUTO;
		passes(o, i % 3 ? 4 : 11);
	}
}

/* Where everything takes too long: the last frame, a sample of its particles. */
Test(large_particlefilter_check, large_runs_are_sampled)
{
	struct run *r;
	struct verdict v;

	need_device();
	r = stepped_run(400000, PF_BY_FRAME, 4);
	v = run_check(r, 4, false);
	cr_assert(v.passed, "%g, %s", v.error, v.worst);
	cr_assert(v.compared >= 18 && v.compared < 1000 && v.total == 1600000, "%ld of %ld",
		  (long)v.compared, (long)v.total);
	run_end(r);
}

/* ---- what must be found --------------------------------------------------------------------- */

static void fails(struct run *r, int64_t steps, const char *what)
{
	struct verdict v = run_check(r, steps, false);

	cr_assert(!v.passed, "%s passes: %g", what, v.error);
	cr_assert(*v.worst, "%s: not described", what);
	run_end(r);
}

static void poke(void *device, double value)
{
	CUDA(cudaMemcpy(device, &value, sizeof(value), cudaMemcpyHostToDevice));
}

static double peek(const void *device)
{
	double value;

	CUDA(cudaMemcpy(&value, device, sizeof(value), cudaMemcpyDeviceToHost));
	return value;
}

Test(small_particlefilter_check, a_wrong_estimate_is_found)
{
	struct run *r;

	need_device();
	r = stepped_run(N, PF_BY_FRAME, 5);
	poke(&r->s.filter.ring[2].xe, peek(&r->s.filter.ring[2].xe) * (1 + 1e-8));
	fails(r, 5, "an estimate");
	r = stepped_run(500, PF_BY_FRAME, 5);
	poke(&r->s.filter.ring[4].ye, NAN);
	fails(r, 5, "NaN");
}

Test(small_particlefilter_check, a_wrong_particle_is_found)
{
	struct run *r;
	double *x;

	need_device();
	r = stepped_run(N, PF_BY_FRAME, 5);
	x = (double *)r->s.filter.buffer[0].x + 77; /* of steps 1, 3 and 5 */
	poke(x, peek(x) + 1e-6);
	fails(r, 5, "a particle");
	r = stepped_run(N, PF_BY_SPLIT, 5);
	x = (double *)r->s.filter.buffer[0].y + N - 1;
	poke(x, NAN);
	fails(r, 5, "a particle that is NaN");
}

Test(small_particlefilter_check, a_wrong_number_of_steps_is_found)
{
	need_device();
	fails(stepped_run(N, PF_BY_FRAME, 5), 4, "a step too many");
	fails(stepped_run(N, PF_BY_SPLIT, 5), 6, "a step too few");
}

Test(small_particlefilter_check, without_steps_nothing_passes)
{
	need_device();
	fails(stepped_run(100, PF_BY_FRAME, 0), 0, "no step");
}

/* The filter on the device follows other rules than those that were asked for. */
static void spoil(int what, struct pf_filter *f)
{
	switch (what) {
	case 0:
		f->rules.rounds = !f->rules.rounds;
		break;
	case 1:
		f->rules.spread_col *= 1 + 1e-6;
		break;
	case 2:
		f->rules.drift_row += 1e-6;
		break;
	case 3:
		f->rules.seed++;
		break;
	case 4:
		f->rules.object--;
		break;
	default:
		f->loglik_unit *= 1 + 1e-6;
	}
}

/* The check's own rules are the options'. */
Test(small_particlefilter_check, other_rules_are_found)
{
	need_device();
	for (int what = 0; what < 6; what += RACES ? 6 : 1) {
		struct particlefilter_opts o = default_opts();
		struct run *r = run_begin(o);
		struct verdict v;

		spoil(what, &r->s.filter);
		run_steps(r, 4);
		v = run_check(r, 4, false);
		cr_assert(!v.passed, "case %d passes: %g", what, v.error);
		run_end(r);
	}
}

/* Before the video is made. */
Test(small_particlefilter_check, what_does_not_fit_is_refused)
{
	struct particlefilter_opts o = default_opts();
	struct particlefilter_state s = { 0 };
	const char *text;

	need_device();
	cr_redirect_stderr();
	o.frames = 1000000000; /* 82 TB */
	cr_assert(workload_particlefilter.setup(&o, &s) == -ENOMEM, "accepted");
	workload_particlefilter.teardown(&s);
	text = captured_stderr();
	cr_assert(strstr(text, "particles=1000 and 1000000000 frames of 128 x 128 pixels need"),
		  "%s", text);
	cr_assert(strchr(text, '\n') == text + strlen(text) - 1, "one line: %s", text);
}

/* ---- weights of a like size ------------------------------------------------------------------ */

/* Three frames of noise, 64 x 64, which a dim object hardly tells apart. */
static const char *write_noise(void)
{
	static char path[64];
	int fd = mkstemp(strcpy(path, "/tmp/rift-particlefilter-noise-XXXXXX"));
	FILE *f = fdopen(fd, "wb");
	uint32_t s = 1;

	cr_assert(f, "%s", path);
	for (int i = 0; i < 3 * 64 * 64; i++) {
		s = 1664525 * s + 1013904223;
		fputc(90 + (int)(s >> 24) % 21, f);
	}
	fclose(f);
	return path;
}

/* Maxima of chunks and tiles that differ by little: every shift counts. */
static void shifts_are_right(int64_t particles)
{
	struct particlefilter_opts o = default_opts();

	o.input = write_noise();
	o.raw = (struct param_list){ 2, { 64, 64 } };
	o.object = 140;
	o.particles = particles;
	for (int split = 0; split < 2; split++) {
		struct run *r;
		struct verdict v;

		o.granularity = split ? PF_BY_SPLIT : PF_BY_FRAME;
		r = run_begin(o);
		run_steps(r, 2);
		v = run_check(r, 2, true);
		cr_assert(r->s.filter.shifted && v.passed, "split=%d: %g, %s", split, v.error,
			  v.worst);
		run_end(r);
	}
	cr_assert(!unlink(o.input), "%s", o.input);
}

Test(small_particlefilter_check, shifts_that_are_small_are_right)
{
	need_device();
	shifts_are_right(900);
	if (!RACES)
		shifts_are_right(3000);
}

Test(large_particlefilter_check, shifts_of_many_chunks_are_right)
{
	need_device();
	shifts_are_right(140000);
}
