/*
 * test_pathtrace_reference.c - the reference against figures of another program: means, pixels, and
 * a path hit by hit, in double precision, printed to nine digits.
 */
/* sanitizers: one thread */
#include "tests/plain.h"
#include "workloads/pathtrace/test_pathtrace.h"

TestSuite(small_pathtrace_reference, .timeout = 300);

static const double digits = 1.1e-9; /* the last one printed, and rounding */

static void same(const char *what, const double *got, const double *want)
{
	for (int k = 0; k < 3; k++)
		cr_assert(fabs(got[k] - want[k]) <= digits, "%s: %.9f, not %.9f", what, got[k],
			  want[k]);
}

static const struct {
	const char *name;
	enum pt_scene_kind scene;
	int side, samples, bounces, nee, seed;
	double mean[3];
} pictures[] = {
	{ "no bounce", PT_BOX, 16, 1, 0, 1, 1, { 0.28125, 0.2578125, 0.2109375 } },
	{ "one bounce", PT_BOX, 16, 1, 1, 1, 1, { 0.394841581, 0.353359297, 0.282354713 } },
	{ "eight", PT_BOX, 16, 1, 8, 1, 1, { 0.502310308, 0.423048746, 0.327262923 } },
	{ "four samples", PT_BOX, 32, 4, 8, 1, 1, { 0.564246980, 0.476289687, 0.366933923 } },
	{ "seed 7", PT_BOX, 32, 1, 8, 1, 7, { 0.518599113, 0.439832375, 0.332296221 } },
	{ "nee=0", PT_BOX, 32, 1, 8, 0, 1, { 0.514581667, 0.412656673, 0.321996046 } },
	{ "sphere", PT_SPHERE, 33, 1, 8, 1, 1, { 0.950780533, 0.950780533, 0.950780533 } },
	{ "sphere, 64", PT_SPHERE, 32, 64, 8, 1, 1, { 0.950546265, 0.950546265, 0.950546265 } },
};

Test(small_pathtrace_reference, means_are_those_of_another_program)
{
	for (size_t i = 0; i < sizeof(pictures) / sizeof(*pictures); i++) {
		struct pathtrace_opts o =
			make_opts(pictures[i].scene, pictures[i].side, pictures[i].samples);
		double mean[3];

		o.bounces = pictures[i].bounces;
		o.nee = pictures[i].nee;
		o.seed = pictures[i].seed;
		ref_mean(&o, mean);
		same(pictures[i].name, mean, pictures[i].mean);
	}
}

Test(small_pathtrace_reference, pixels_are_those_of_another_program)
{
	static const struct {
		int64_t pixel;
		double mean[3];
	} want[] = {
		{ 0, { 0.207936917, 0.069066296, 0.056067320 } },
		{ 528, { 0.395165899, 0.337608761, 0.275030368 } },
		{ 600, { 0.200501567, 0.229245559, 0.153756936 } },
		{ 790, { 0.032619406, 0.050628459, 0.077746350 } },
		{ 1023, { 0.102945559, 0.223180148, 0.082093484 } },
	};
	struct pathtrace_opts o = make_opts(PT_BOX, 32, 4);
	struct pt_ref r = make_ref(&o);

	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
		struct pt_ref_rays rays = { 0 };
		double mean[3];
		char name[32];

		cr_assert(!pathtrace_ref_pixel(&r, want[i].pixel, 4, mean, &rays), "interrupted");
		snprintf(name, sizeof(name), "pixel %ld", (long)want[i].pixel);
		same(name, mean, want[i].mean);
	}
}

/* Back wall, mirror, dull ball, left wall, glass; then roulette ends it. */
Test(small_pathtrace_reference, a_path_goes_where_another_program_says)
{
	static const struct {
		double t, p[3];
	} want[] = {
		{ 4.401890329, { .0816709, .9001585, -1 } },
		{ .873746277, { -.0886960, .5244130, -.2296903 } },
		{ .872744246, { -.1916217, .1718820, .5620282 } },
		{ .834143621, { -1, .3467584, .6708055 } },
	};
	struct pathtrace_opts o = make_opts(PT_BOX, 32, 1);
	struct pt_ref r = make_ref(&o);
	struct pt_ref_path path;

	pathtrace_ref_path(&r, 528, 0, &path);
	cr_assert(path.segments == 5, "%d segments", path.segments);
	for (int i = 0; i < 4; i++) {
		cr_assert(fabs(path.hit[i].t - want[i].t) < digits, "hit %d: t = %.9f", i,
			  path.hit[i].t);
		for (int k = 0; k < 3; k++)
			cr_assert(fabs(path.hit[i].p[k] - want[i].p[k]) < 1e-7, "hit %d: p %d", i,
				  k);
	}
	cr_assert(fabs(path.hit[4].t - 1.218666009) < digits, "glass: t = %.9f", path.hit[4].t);
	cr_assert(fabs(path.hit[1].light[0] - .247486572) < digits, "light at the mirror");
	cr_assert(fabs(path.hit[2].carried[0] - .6935) < digits, "carried to the ball");
	same("carried to the glass", path.hit[4].carried, (double[]){ .65, .05, .02 });
	same("light", path.light, (double[]){ .344597313, .236599587, .188801549 });
}

/* In a closed room whose walls emit 1 and reflect half, every path sees 1 + 1/2 + 1/4 ... */
Test(small_pathtrace_reference, a_furnace_is_two)
{
	struct pathtrace_opts o = make_opts(PT_FURNACE, 8, 1);
	double mean[3];

	o.nee = 0;
	o.rr = 1000;
	o.bounces = 64;
	ref_mean(&o, mean);
	same("64 bounces", mean, (double[]){ 2, 2, 2 });
}

/* ---- cost ------------------------------------------------------------------------------- */

static double flops_of_a_path(int64_t side, int64_t seed)
{
	struct pathtrace_opts o = make_opts(PT_BOX, side, 4);
	struct pathtrace_state s;
	struct cost cost;

	o.seed = seed;
	memset(&s, 0, sizeof(s));
	s.ref = make_ref(&o);
	cr_assert(!workload_pathtrace.cost(&o, &s, &cost), "cost");
	return cost.flops / cost.evaluations;
}

/* A single pixel counts many paths, not one again and again: that differs by a third. */
Test(small_pathtrace_reference, cost_depends_on_the_seed_hardly)
{
	for (int64_t side = 1; side <= 80; side += 79)
		for (int64_t seed = 2; seed <= 3; seed++)
			cr_assert(fabs(flops_of_a_path(side, seed) / flops_of_a_path(side, 1) - 1) <
					  .05,
				  "side %ld, seed %ld", (long)side, (long)seed);
}
