/*
 * test_particlefilter_modes.c - steps of the particle filter: the same bits in every mode and at
 * every depth, over the end of the video and on; resampling as it must be.
 */
#include "tests/plain.h"
#include "tests/races.h"
#include "workloads/particlefilter/test_run.h"

TestSuite(small_particlefilter_modes, .timeout = 300);
TestSuite(large_particlefilter_modes, .timeout = 400);

enum { FRAMES = 10, DEPTHS = 3 - RACES };

static const int64_t depths[] = { 1, 9, 20 };

struct result {
	struct pf_estimate ring[FRAMES - 1];
	struct pf_view view;
};

static struct result read_result(struct run *r, int64_t steps)
{
	struct result result = { .view = run_view(r, (steps - 1) % (FRAMES - 1) + 1) };

	particlefilter_read_ring(&r->s.filter, 0, sizeof(result.ring) / sizeof(*result.ring),
				 result.ring);
	return result;
}

static bool same(const struct result *a, const struct result *b)
{
	size_t n = (size_t)a->view.particles;

	return !memcmp(a->ring, b->ring, sizeof(a->ring)) &&
	       !memcmp(a->view.x, b->view.x, 5 * n * sizeof(double)) &&
	       !memcmp(a->view.ancestor, b->view.ancestor, n * sizeof(int32_t));
}

static void free_result(struct result *r)
{
	particlefilter_view_release(&r->view);
}

static struct result result_by(struct run *r, void (*steps)(struct run *, int64_t), int64_t n)
{
	run_reset(r);
	steps(r, n);
	return read_result(r, n);
}

/* n steps from the start in each mode: estimates, positions, weights, ancestors. */
static void modes_agree(struct particlefilter_opts o, bool fused)
{
	struct run *r = run_begin(o);

	for (int i = 0; i < DEPTHS; i++) {
		struct result stream = result_by(r, run_steps, depths[i]);
		struct result other = result_by(r, run_graph, depths[i]);

		cr_assert(same(&stream, &other), "depth=%ld: graph", (long)depths[i]);
		free_result(&other);
		if (fused) {
			other = result_by(r, run_fused, depths[i]);
			cr_assert(same(&stream, &other), "depth=%ld: fused", (long)depths[i]);
			free_result(&other);
		}
		free_result(&stream);
	}
	run_end(r);
}

static struct particlefilter_opts make_opts(int64_t particles, enum pf_variant variant,
					    enum pf_granularity granularity)
{
	struct particlefilter_opts o = default_opts();

	o.particles = particles;
	o.variant = variant;
	o.granularity = granularity;
	return o;
}

Test(small_particlefilter_modes, stream_graph_and_fused_give_the_same_bits)
{
	need_device();
	modes_agree(make_opts(100, PF_MATCHED, PF_BY_FRAME), true);
	modes_agree(make_opts(100, PF_RODINIA, PF_BY_FRAME), true);
	modes_agree(make_opts(1100, PF_MATCHED, PF_BY_FRAME), false);
	modes_agree(make_opts(1100, PF_RODINIA, PF_BY_FRAME), false);
	modes_agree(make_opts(100, PF_RODINIA, PF_BY_SPLIT), false);
	modes_agree(make_opts(1100, PF_MATCHED, PF_BY_SPLIT), false);
}

Test(small_particlefilter_modes, so_they_do_in_float)
{
	struct particlefilter_opts o = make_opts(100, PF_MATCHED, PF_BY_FRAME);

	need_device();
	o.precision = PF_FLOAT;
	modes_agree(o, true);
	o.particles = 1100;
	modes_agree(o, false);
	o.granularity = PF_BY_SPLIT;
	modes_agree(o, false);
}

/* After the last frame the filter starts over: the same frames, the same numbers. */
Test(small_particlefilter_modes, a_second_pass_is_the_first)
{
	struct run *r;
	struct result once, twice;

	need_device();
	r = run_begin(make_opts(RACES ? 300 : 1500, PF_RODINIA, PF_BY_FRAME));
	once = result_by(r, run_steps, FRAMES - 1);
	run_steps(r, FRAMES - 1);
	twice = read_result(r, 2 * (FRAMES - 1));
	cr_assert(same(&once, &twice), "the second pass differs");
	run_steps(r, FRAMES - 1);
	free_result(&twice);
	twice = read_result(r, 3 * (FRAMES - 1));
	cr_assert(same(&once, &twice), "the third pass differs");
	free_result(&once);
	free_result(&twice);
	run_end(r);
}

Test(small_particlefilter_modes, a_seed_is_a_track)
{
	struct particlefilter_opts o = make_opts(300, PF_MATCHED, PF_BY_FRAME);
	struct result results[3];

	need_device();
	for (int i = 0; i < 3; i++) {
		struct run *r;

		o.seed = i / 2;
		r = run_begin(o);
		results[i] = result_by(r, run_steps, 5);
		run_end(r);
	}
	cr_assert(same(&results[0], &results[1]), "one seed, two tracks");
	cr_assert(!same(&results[0], &results[2]), "two seeds, one track");
	for (int i = 0; i < 3; i++)
		free_result(&results[i]);
}

/* Two frames: every step is the first one again. A particle alone has all the weight. */
Test(small_particlefilter_modes, least_sizes_work)
{
	struct particlefilter_opts o = make_opts(1, PF_MATCHED, PF_BY_FRAME);

	need_device();
	o.rows = o.cols = 9;
	o.frames = 2;
	for (int split = 0; split < 2; split++)
		for (int64_t n = 1; n < 4; n++) {
			struct run *r;
			struct pf_view v;

			o.particles = n;
			o.granularity = split ? PF_BY_SPLIT : PF_BY_FRAME;
			r = run_begin(o);
			run_steps(r, 3);
			v = run_view(r, 1);
			cr_assert(n > 1 || (v.w[0] == 1 && v.c[0] == 1 && !v.ancestor[0]),
				  "one particle: weight %g", v.w[0]);
			cr_assert(run_check(r, 3, true).passed, "n=%ld", (long)n);
			particlefilter_view_release(&v);
			run_end(r);
		}
}

/* ---- resampling ---------------------------------------------------------------------------- */

/* Ancestors ascend, and each has as many offspring as its weight says: rounded down or up. */
static void resampling_is_systematic(struct particlefilter_opts o)
{
	struct run *r = run_begin(o);
	int64_t n = o.particles;

	for (int64_t k = 1; k < FRAMES; k++) {
		struct pf_view v;
		int64_t j = 0;

		run_steps(r, 1);
		v = run_view(r, k);
		for (int64_t i = 0; i < n; i++) {
			double expected = (double)n * v.w[i];
			int64_t offspring = 0;

			while (j < n && v.ancestor[j] == i)
				j++, offspring++;
			cr_assert((double)offspring > expected - 1 - 1e-6 &&
					  (double)offspring < expected + 1 + 1e-6,
				  "frame %ld: particle %ld of weight %g/N has %ld offspring",
				  (long)k, (long)i, expected, (long)offspring);
			cr_assert(!offspring || v.w[i] > 1e-30, "offspring without weight");
		}
		cr_assert(j == n, "frame %ld: ancestors do not ascend from output %ld", (long)k,
			  (long)j);
		particlefilter_view_release(&v);
	}
	run_end(r);
}

Test(small_particlefilter_modes, offspring_are_as_weights_say)
{
	struct particlefilter_opts o = make_opts(RACES ? 300 : 1000, PF_MATCHED, PF_BY_FRAME);

	need_device();
	resampling_is_systematic(o);
	if (RACES)
		return;
	o.particles = 5000;
	resampling_is_systematic(o);
	o.precision = PF_FLOAT;
	resampling_is_systematic(o);
	o.granularity = PF_BY_SPLIT;
	resampling_is_systematic(o);
	o = make_opts(3000, PF_RODINIA, PF_BY_FRAME);
	resampling_is_systematic(o);
}

/* Several chunks a tile: more than 396 x 512 particles. */
Test(large_particlefilter_modes, tiles_of_several_chunks_are_right)
{
	struct particlefilter_opts o = make_opts(203000, PF_MATCHED, PF_BY_FRAME);
	struct run *r;

	need_device();
	for (int single = 0; single < 2; single++) {
		o.precision = single ? PF_FLOAT : PF_DOUBLE;
		r = run_begin(o);
		cr_assert(r->s.filter.tile_chunks == 2, "%d chunks a tile",
			  r->s.filter.tile_chunks);
		run_steps(r, 2);
		cr_assert(run_check(r, 2, true).passed, "single=%d", single);
		run_end(r);
	}
}

/* Kolmogorov-Smirnov over seeds and frames: the blind spot of a test of the track alone. */
static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

Test(small_particlefilter_modes, offsets_are_uniform)
{
	enum { SEEDS = RACES ? 8 : 64, ALL = SEEDS * (FRAMES - 1) };
	struct particlefilter_opts o = make_opts(1, PF_MATCHED, PF_BY_FRAME);
	double u[ALL], worst = 0;
	struct run *r;

	need_device();
	r = run_begin(o);
	for (int seed = 0; seed < SEEDS; seed++) {
		struct pf_estimate ring[FRAMES - 1];

		r->s.filter.rules.seed = (uint64_t)seed;
		run_reset(r);
		run_fused(r, FRAMES - 1);
		particlefilter_read_ring(&r->s.filter, 0, FRAMES - 1, ring);
		for (int k = 0; k < FRAMES - 1; k++)
			u[seed * (FRAMES - 1) + k] = ring[k].u;
	}
	run_end(r);
	qsort(u, ALL, sizeof(*u), ascending);
	for (int i = 0; i < ALL; i++)
		worst = fmax(worst, fmax((i + 1.0) / ALL - u[i], u[i] - (double)i / ALL));
	cr_assert(u[0] > 0 && u[ALL - 1] < 1, "%g to %g", u[0], u[ALL - 1]);
	cr_assert(worst < 1.63 / sqrt(ALL), "distance %g from uniform", worst); /* 1 % */
}
