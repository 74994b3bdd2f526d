/*
 * test_particlefilter_reference.c - the generators, the video and the reference against golden
 * files: the benchmark's own numbers, recorded from its programs.
 */
/* sanitizers: one thread */
#include "tests/plain.h"
#include "workloads/particlefilter/lcg.h"
#include "workloads/particlefilter/test_particlefilter.h"

TestSuite(small_particlefilter_reference, .timeout = 300);
TestSuite(large_particlefilter_reference, .timeout = 400);

Test(small_particlefilter_reference, uniform_draws_are_the_originals)
{
	struct csv csv = golden_open("rng_uniform.csv");
	int32_t s = 0;

	for (int64_t i = 0; i < csv.rows; i++) {
		if (golden_number(&csv, i, "draw") == 0)
			s = (int32_t)golden_number(&csv, i, "seed");
		s = lcg_next(s);
		cr_assert(s == (int32_t)golden_number(&csv, i, "state_after"), "row %ld: state %d",
			  (long)i, s);
		cr_assert(lcg_uniform(s) == golden_number(&csv, i, "uniform"), "row %ld", (long)i);
	}
	cr_assert(csv.rows == 224, "%ld rows", (long)csv.rows);
	csv_free(&csv);
}

Test(small_particlefilter_reference, normal_draws_are_the_originals)
{
	struct csv csv = golden_open("rng_normal.csv");
	int32_t s = 0;

	for (int64_t i = 0; i < csv.rows; i++) {
		double u, v, want = golden_number(&csv, i, "normal"), z;

		if (golden_number(&csv, i, "draw") == 0)
			s = (int32_t)golden_number(&csv, i, "seed");
		u = lcg_uniform(s = lcg_next(s));
		v = lcg_uniform(s = lcg_next(s));
		z = sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
		cr_assert(s == (int32_t)golden_number(&csv, i, "state_after"), "row %ld: state",
			  (long)i);
		cr_assert(z == want || fabs(z - want) <= 1e-14, "row %ld: %.17g", (long)i, z);
	}
	csv_free(&csv);
}

/* ---- the video -------------------------------------------------------------------------- */

static void frame_agrees(const struct csv *csv, int64_t row, const struct pf_video *v)
{
	int64_t plane = v->rows * v->cols;
	const uint8_t *p = v->pixels + (int64_t)golden_number(csv, row, "frame") * plane;
	double sum = 0, squares = 0;

	for (int64_t i = 0; i < plane; i++) {
		sum += p[i];
		squares += (double)p[i] * p[i];
	}
	cr_assert(sum == golden_number(csv, row, "sum"), "row %ld: sum", (long)row);
	cr_assert(squares == golden_number(csv, row, "sumsq"), "row %ld: squares", (long)row);
	cr_assert(particlefilter_crc32(p, (size_t)plane) == golden_crc(csv, row, "crc32"),
		  "row %ld: CRC", (long)row);
}

static void video_of_row(const struct csv *csv, int64_t row, struct pf_video *v)
{
	struct pf_scene scene = {
		.rows = (int64_t)golden_number(csv, row, "dimX"),
		.cols = (int64_t)golden_number(csv, row, "dimY"),
		.frames = (int64_t)golden_number(csv, row, "Nfr"),
		.wraps = true,
		.lcg_noise = true,
		.lcg_start = !strcmp(csv_text(csv, row, 0), "seed0=1"),
		.noise = !strcmp(csv_text(csv, row, 1), "noisy"),
	};

	cr_assert(!particlefilter_video_make(&scene, v), "row %ld", (long)row);
}

Test(small_particlefilter_reference, videos_are_the_originals)
{
	struct csv csv = golden_open("video_checksums.csv");
	struct pf_video v = { 0 };

	for (int64_t i = 0; i < csv.rows; i++) {
		if (golden_number(&csv, i, "frame") == 0) {
			particlefilter_video_free(&v);
			video_of_row(&csv, i, &v);
		}
		frame_agrees(&csv, i, &v);
	}
	cr_assert(csv.rows == 142, "%ld rows", (long)csv.rows);
	particlefilter_video_free(&v);
	csv_free(&csv);
}

Test(small_particlefilter_reference, generator_0_is_left_where_the_original_leaves_it)
{
	static const struct {
		int64_t rows, cols, frames;
		int32_t start, end;
	} cases[] = { { 128, 128, 10, 0, -1510014976 },
		      { 128, 128, 10, 1, 70451201 },
		      { 16, 16, 3, 0, -1293995520 },
		      { 64, 96, 12, 0, 716357632 },
		      { 32, 32, 28, 0, 890019840 } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct pf_scene s = { cases[i].rows,
				      cases[i].cols,
				      cases[i].frames,
				      true,
				      true,
				      cases[i].start,
				      0,
				      true };
		struct pf_video v;

		cr_assert(!particlefilter_video_make(&s, &v), "case %zu", i);
		cr_assert(s.lcg_start == cases[i].end, "case %zu: %d", i, s.lcg_start);
		particlefilter_video_free(&v);
	}
}

Test(small_particlefilter_reference, a_tiny_video_is_the_originals_in_every_pixel)
{
	struct pf_scene s = { 16, 16, 3, true, true, 0, 0, true };
	struct csv csv = golden_open("frame_16x16x3_s0.csv");
	struct pf_video v;

	cr_assert(!particlefilter_video_make(&s, &v), "video");
	for (int64_t i = 0; i < csv.rows; i++)
		for (int c = 0; c < 16; c++)
			cr_assert(v.pixels[16 * i + c] == atoi(csv_text(&csv, i, c + 2)),
				  "row %ld, column %d", (long)i, c);
	cr_assert(csv.rows == 48, "%ld rows", (long)csv.rows);
	particlefilter_video_free(&v);
	csv_free(&csv);
}

/* ---- whole runs ------------------------------------------------------------------------- */

/* What the reference has, as a track sees it. */
static struct pf_view make_view(const struct pf_reference *r)
{
	struct pf_view v = {
		r->particles, r->x,
		r->y,	      r->loglik,
		r->w,	      r->c,
		r->ancestor,  { r->xe, r->ye, r->sum, 0, r->ess, r->u1 * (double)r->particles }
	};

	return v;
}

/* A video that the options ask for, filtered by the reference, against golden files. */
static void run_agrees(struct particlefilter_opts o, const char *track, const char *particles8)
{
	struct csv rows = golden_open(track), eight = golden_open(particles8 ? particles8 : track);
	struct pf_reference r;
	struct pf_rules rules;
	struct pf_video video = { 0 };

	cr_assert(!particlefilter_prepare(&o, &video, &rules), "%s", track);
	cr_assert(!particlefilter_ref_init(&r, &rules, video.pixels, o.particles), "%s", track);
	for (int64_t k = 1; k < rules.frames; k++) {
		struct pf_view v;
		struct pf_row row;

		particlefilter_ref_frame(&r, k);
		v = make_view(&r);
		particlefilter_describe(&rules, true, k, &v, &row);
		row_agrees(&rows, k - 1, &row, 1e-11);
		if (particles8)
			eight_agree(&eight, k, &v, 1e-11);
	}
	cr_assert(rows.rows == rules.frames - 1, "%s: %ld rows", track, (long)rows.rows);
	particlefilter_ref_release(&r);
	particlefilter_video_free(&video);
	csv_free(&rows);
	csv_free(&eight);
}

Test(small_particlefilter_reference, small_runs_are_the_originals)
{
	run_agrees(rodinia_opts(1000, "1"), "track_omp_T1_128x128x10_N1000.csv",
		   "particles8_omp_T1_128x128x10_N1000.csv");
	run_agrees(rodinia_opts(1000, "p1"), "track_omp_P1_128x128x10_N1000.csv",
		   "particles8_omp_P1_128x128x10_N1000.csv");
	run_agrees(rodinia_opts(1000, "1700000001"), "track_naive_Todd_128x128x10_N1000.csv", NULL);
	run_agrees(rodinia_opts(1000, "1"), "track_float_T1_128x128x10_N1000.csv",
		   "particles8_float_T1_128x128x10_N1000.csv");
}

Test(small_particlefilter_reference, borders_are_the_originals)
{
	struct particlefilter_opts o = rodinia_opts(1000, "1");

	o.rows = 64, o.cols = 96, o.frames = 12;
	run_agrees(o, "track_omp_T1_64x96x12_N1000.csv", "particles8_omp_T1_64x96x12_N1000.csv");
	o.rows = 32, o.cols = 32, o.frames = 28;
	run_agrees(o, "track_omp_T1_32x32x28_N1000.csv", "particles8_omp_T1_32x32x28_N1000.csv");
}

static struct particlefilter_opts philox_opts(enum pf_variant variant, int64_t particles)
{
	struct particlefilter_opts o = default_opts();

	o.variant = variant;
	o.rng = variant == PF_RODINIA ? PF_RNG_PHILOX : PF_RNG_AUTO;
	o.particles = particles;
	return o;
}

Test(small_particlefilter_reference, counter_based_runs_are_golden)
{
	struct particlefilter_opts o = philox_opts(PF_RODINIA, 1000);

	run_agrees(o, "philoxref_philox_N1000_key0.csv", NULL);
	o.noise = PF_RNG_PHILOX;
	run_agrees(o, "philoxref_philoxv_N1000_key0.csv", NULL);
	run_agrees(philox_opts(PF_ROUND, 1000), "philoxref_round_N1000_key0.csv", NULL);
	run_agrees(philox_opts(PF_MATCHED, 1000), "philoxref_matched_N1000_key0.csv", NULL);
}

Test(large_particlefilter_reference, larger_runs_are_golden)
{
	struct particlefilter_opts o = philox_opts(PF_RODINIA, 10000);

	run_agrees(o, "philoxref_philox_N10000_key0.csv", NULL);
	o.noise = PF_RNG_PHILOX;
	run_agrees(o, "philoxref_philoxv_N10000_key0.csv", NULL);
	run_agrees(philox_opts(PF_MATCHED, 10000), "philoxref_matched_N10000_key0.csv", NULL);
	run_agrees(rodinia_opts(10000, "1"), "track_omp_T1_128x128x10_N10000.csv", NULL);
	run_agrees(rodinia_opts(10000, "p1"), "track_float_P1_128x128x10_N10000.csv", NULL);
	run_agrees(rodinia_opts(40000, "1"), "track_omp_T1_128x128x10_N40000.csv", NULL);
}
