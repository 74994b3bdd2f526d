/*
 * test_particlefilter_golden.c - the kernels against the benchmark's own numbers and those of its
 * specification with counter-based streams: every frame of every golden file, by one launch a
 * frame and by four.
 */
/* sanitizers: seen elsewhere */
#include "tests/plain.h"
#include "tests/races.h"
#include "workloads/particlefilter/test_run.h"

TestSuite(small_particlefilter_golden, .timeout = 300);
TestSuite(large_particlefilter_golden, .timeout = 400);

/* Asked for: 1e-11, with equal ancestors. A GPU's exp, log and fused arithmetic stay within it. */
static const double tolerance = 1e-11;

static void golden_run(struct particlefilter_opts o, const char *track, const char *particles8)
{
	struct csv rows = golden_open(track), eight = golden_open(particles8 ? particles8 : track);
	struct run *r = run_begin(o);
	int64_t frames = r->s.filter.rules.frames;

	for (int64_t k = 1; k < frames; k++) {
		struct pf_view v;
		struct pf_row row;

		run_steps(r, 1);
		v = run_view(r, k);
		particlefilter_describe(&r->s.filter.rules, true, k, &v, &row);
		row_agrees(&rows, k - 1, &row, tolerance);
		if (particles8)
			eight_agree(&eight, k, &v, tolerance);
		particlefilter_view_release(&v);
	}
	cr_assert(rows.rows == frames - 1, "%s: %ld rows", track, (long)rows.rows);
	run_end(r);
	csv_free(&rows);
	csv_free(&eight);
}

static void agrees_by_both(struct particlefilter_opts o, const char *track, const char *particles8)
{
	o.granularity = PF_BY_FRAME;
	golden_run(o, track, particles8);
	o.granularity = PF_BY_SPLIT;
	golden_run(o, track, particles8);
}

/* All three programs agree: they differ in rounding only. */
static void programs_agree(int64_t particles, const char *clock, const char *seeding, bool eight)
{
	static const char *const programs[] = { "omp", "naive", "float" };
	struct particlefilter_opts o = rodinia_opts(particles, clock);
	char track[128], particles8[128];

	for (int i = 0; i < (RACES ? 1 : 3); i++) {
		snprintf(track, sizeof(track), "track_%s_%s_128x128x10_N%ld.csv", programs[i],
			 seeding, (long)particles);
		snprintf(particles8, sizeof(particles8), "particles8_%s_%s_128x128x10_N%ld.csv",
			 programs[i], seeding, (long)particles);
		agrees_by_both(o, track, eight ? particles8 : NULL);
	}
}

Test(small_particlefilter_golden, runs_are_the_originals)
{
	need_device();
	programs_agree(1000, "1", "T1", true);
	if (RACES)
		return;
	programs_agree(1000, "1700000001", "Todd", false);
	programs_agree(1000, "p1", "P1", false);
}

Test(small_particlefilter_golden, borders_are_the_originals)
{
	struct particlefilter_opts o = rodinia_opts(1000, "1");

	need_device();
	if (RACES)
		return;
	o.rows = 64, o.cols = 96, o.frames = 12;
	agrees_by_both(o, "track_omp_T1_64x96x12_N1000.csv",
		       "particles8_omp_T1_64x96x12_N1000.csv");
	o.rows = 32, o.cols = 32, o.frames = 28;
	agrees_by_both(o, "track_omp_T1_32x32x28_N1000.csv",
		       "particles8_omp_T1_32x32x28_N1000.csv");
	o.stencil = PF_BY_PIXELS;
	agrees_by_both(o, "track_omp_T1_32x32x28_N1000.csv",
		       "particles8_omp_T1_32x32x28_N1000.csv");
}

/* A shift of every chunk gives the same numbers: the sums of a run whose weights would overflow. */
Test(small_particlefilter_golden, shifted_weights_are_the_same)
{
	struct particlefilter_opts o = rodinia_opts(1000, "1");
	struct csv rows = golden_open("track_omp_T1_128x128x10_N1000.csv");

	need_device();
	for (int split = 0; split < 2; split++) {
		struct pf_rules rules;
		struct pf_video video = { 0 };
		struct pf_filter f;
		struct particlefilter_state s = { 0 };

		o.granularity = split ? PF_BY_SPLIT : PF_BY_FRAME;
		cr_assert(!particlefilter_prepare(&o, &video, &rules), "prepare");
		particlefilter_configure(&o, &rules, &f);
		f.shifted = true;
		cr_assert(!particlefilter_allocate(&f) && !particlefilter_upload(&video, &f),
			  "memory");
		s.filter = f;
		s.video = video;
		particlefilter_reset(&o, &s, NULL);
		for (int64_t k = 1; k < rules.frames; k++) {
			struct pf_view v;
			struct pf_row row;

			particlefilter_frame(&f, NULL);
			cr_assert(!particlefilter_view_init(&v, 1000) &&
					  !particlefilter_view_read(&f, k, &v),
				  "view");
			particlefilter_describe(&rules, true, k, &v, &row);
			row_agrees(&rows, k - 1, &row, tolerance);
			particlefilter_view_release(&v);
		}
		particlefilter_teardown(&s);
	}
	csv_free(&rows);
}

static struct particlefilter_opts philox_opts(enum pf_variant variant, int64_t particles,
					      enum pf_rng noise)
{
	struct particlefilter_opts o = default_opts();

	o.variant = variant;
	o.rng = variant == PF_RODINIA ? PF_RNG_PHILOX : PF_RNG_AUTO;
	o.noise = noise;
	o.particles = particles;
	return o;
}

Test(small_particlefilter_golden, counter_based_streams_agree)
{
	need_device();
	agrees_by_both(philox_opts(PF_MATCHED, 1000, PF_RNG_AUTO),
		       "philoxref_matched_N1000_key0.csv", NULL);
	if (RACES)
		return;
	agrees_by_both(philox_opts(PF_RODINIA, 1000, PF_RNG_AUTO),
		       "philoxref_philox_N1000_key0.csv", NULL);
	agrees_by_both(philox_opts(PF_RODINIA, 1000, PF_RNG_PHILOX),
		       "philoxref_philoxv_N1000_key0.csv", NULL);
	agrees_by_both(philox_opts(PF_ROUND, 1000, PF_RNG_AUTO), "philoxref_round_N1000_key0.csv",
		       NULL);
}

Test(large_particlefilter_golden, larger_runs_are_the_originals)
{
	need_device();
	programs_agree(10000, "1", "T1", false);
	programs_agree(10000, "1700000001", "Todd", false);
	programs_agree(10000, "p1", "P1", false);
	agrees_by_both(rodinia_opts(40000, "1"), "track_omp_T1_128x128x10_N40000.csv", NULL);
	agrees_by_both(philox_opts(PF_RODINIA, 10000, PF_RNG_AUTO),
		       "philoxref_philox_N10000_key0.csv", NULL);
	agrees_by_both(philox_opts(PF_RODINIA, 10000, PF_RNG_PHILOX),
		       "philoxref_philoxv_N10000_key0.csv", NULL);
	agrees_by_both(philox_opts(PF_MATCHED, 10000, PF_RNG_AUTO),
		       "philoxref_matched_N10000_key0.csv", NULL);
}
