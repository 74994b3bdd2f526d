/*
 * test_fit_answers.c - harness/fit/validate.h and derive.h: blocks that the fit has not seen, and
 * answers that agree with figures worked out apart from this code.
 */
/* sanitizers: one thread */
/* sanitizers: seen elsewhere */
#include "tests/test.h"
#include "harness/fit/derive.h"
#include "harness/fit/report.h"
#include "harness/fit/validate.h"
#include "tests/made_fit.h"
#include "tests/golden.h"

TestSuite(small_fit_answers, .timeout = 300);

/* ---- held out --------------------------------------------------------------------------- */

Test(small_fit_answers, held_out_points_are_predicted)
{
	struct fake_session s = fake_session();
	struct made made = { 0 };
	struct validation v;

	made_grid(&made, &s);
	validate_grid(&v, &made.grid);
	cr_assert(eq(int, v.all.n, made.grid.n_points), "each point once: %d", v.all.n);
	cr_assert(le(dbl, v.all.median, 0.01), "%g", v.all.median);
	cr_assert(v.accepted, "95 %%: %g", v.all.p95);
	validation_release(&v);
	made_release(&made);
}

/* Blocks that one half of the grid cannot know of are not predicted by magic. */
static double slow_at_odd_depths(const struct batch *b, int side)
{
	(void)side;
	return (int)log2(b->depth) % 2 ? 1.5 : 1;
}

Test(small_fit_answers, held_out_points_that_follow_no_model)
{
	struct fake_session s = few_processes(0.01);
	struct made made = { 0 };
	struct validation v;

	s.factor = slow_at_odd_depths;
	made_grid(&made, &s);
	validate_grid(&v, &made.grid);
	cr_assert(not(v.accepted), "median %g", v.all.median);
	cr_assert(lt(dbl, 0.1, v.all.median), "%g", v.all.median);
	validation_release(&v);
	made_release(&made);
}

Test(small_fit_answers, blocks_off_the_grid)
{
	struct fake_session s = few_processes(0.01), between = few_processes(0.01);
	struct made made = { 0 }, other = { 0 };
	struct validation v;
	int sum = 0;

	between.size = "3,7,30,2000";
	between.depth = "3,12,100";
	between.mode = "stream";
	made_fit(&made, &s);
	made_grid(&other, &between);
	validate_off_grid(&v, &made.fit, &other.grid);
	cr_assert(eq(int, v.all.n, 9), "%d", v.all.n);
	cr_assert(eq(int, v.outside, 3), "2000 us was not swept: %d", v.outside);
	cr_assert(lt(dbl, v.all.worst, 0.02), "%g", v.all.worst);
	cr_assert(le(dbl, v.all.median, v.all.p95), "%g, %g", v.all.median, v.all.p95);
	cr_assert(le(dbl, v.all.p95, v.all.worst), "%g, %g", v.all.p95, v.all.worst);
	cr_assert(eq(dbl, fabs(v.point[v.all.worst_point].error), v.all.worst), "which");
	for (int i = 0; i < other.grid.n_points; i++) {
		const struct grid_point *p = &other.grid.point[i];
		bool in = other.grid.size[p->size].value < 2000;

		cr_assert(eq(int, isnan(v.point[i].total_ns), !in), "%d", i);
		cr_assert(eq(int, isnan(v.point[i].error), !in), "%d", i);
		if (in)
			cr_assert(epsilon_eq(dbl, v.point[i].error,
					     v.point[i].total_ns / p->total_ns - 1, 1e-12),
				  "%d", i);
	}
	for (int r = 0; r < REGIMES; r++)
		sum += v.regime[r].n;
	cr_assert(eq(int, sum, 9), "each in one regime: %d", sum);
	validation_release(&v);
	made_release(&made);
	made_release(&other);
}

/* ---- answers ---------------------------------------------------------------------------- */

static struct model platform(double z, double p, double g)
{
	struct model m = fake_model();

	m.v[MODEL_Z] = z;
	m.v[MODEL_P] = m.v[MODEL_C] = p;
	m.v[MODEL_G] = g;
	return m;
}

static void answers(const struct answer *a, double us, double depth)
{
	cr_assert(eq(int, (int)a->kind, ANSWER_VALUE), "depth %g", depth);
	/* the figures have two or three digits */
	cr_assert(epsilon_eq(dbl, a->interval.value / 1000 / us, 1, 0.03),
		  "depth %g: %g us, not %g", depth, a->interval.value / 1000, us);
}

static const double depths[] = { 1, 4, 16, 64, 256, 1024 };

static struct fake_session wide(double z, double p, double g)
{
	struct fake_session s = few_processes(0);

	s.model[0] = platform(z, p, g);
	s.mode = "stream";
	s.size = "0,1,2,5,10,20,50,100,200,500,1000,2000";
	s.depth = "1:1024:x2";
	return s;
}

/* Figures of the same platforms from another implementation of the closed form. */
Test(small_fit_answers, smallest_kernels)
{
	static const double native[] = { 116, 43, 24, 20, 18, 18 };
	static const double wsl2[] = { 519, 145, 51, 28, 22, 21 };
	static const double over_native[] = { 397, 100, 26, 7.3, 5.2, 5.1 };
	struct fake_session a = wide(5800, 2200, 900), b = wide(26000, 6300, 1000);
	struct made on_a = { 0 }, on_b = { 0 };

	made_fit(&on_a, &a);
	made_fit(&on_b, &b);
	for (int i = 0; i < 6; i++) {
		struct answer k =
			smallest_kernel_over_ideal(&on_a.fit, MODE_STREAM, depths[i], 0.05);

		answers(&k, native[i], depths[i]);
		k = smallest_kernel_over_ideal(&on_b.fit, MODE_STREAM, depths[i], 0.05);
		answers(&k, wsl2[i], depths[i]);
		k = smallest_kernel_over(&on_b.fit, &on_a.fit, MODE_STREAM, depths[i], 0.05);
		answers(&k, over_native[i], depths[i]);
	}
	made_release(&on_a);
	made_release(&on_b);
}

static void is_unknown(struct answer a, const char *what)
{
	cr_assert(eq(int, (int)a.kind, ANSWER_UNKNOWN), "%s", what);
	cr_assert(isnan(a.interval.value) && !a.interval.known && !a.cut, "%s: %g", what,
		  a.interval.value);
}

Test(small_fit_answers, nothing_is_answered_outside_what_was_swept)
{
	struct fake_session s = few_processes(0);
	struct made made = { 0 };
	struct answer a;

	s.mode = "stream";
	s.size = "0,2,5,10,20";
	s.depth = "1,4,16,64";
	made_fit(&made, &s);
	a = smallest_kernel_over_ideal(&made.fit, MODE_STREAM, 1, 0.05); /* 116 us */
	cr_assert(eq(int, (int)a.kind, ANSWER_ABOVE), "116 us");
	cr_assert(epsilon_eq(dbl, a.interval.value, 20000, 1e-6), "%g", a.interval.value);
	a = smallest_kernel_over_ideal(&made.fit, MODE_STREAM, 64, 2);
	cr_assert(eq(int, (int)a.kind, ANSWER_BELOW), "200 %%");
	cr_assert(epsilon_eq(dbl, a.interval.value, 2000, 1e-6), "%g", a.interval.value);
	is_unknown(smallest_kernel_over_ideal(&made.fit, MODE_STREAM, 128, 0.05), "depth 128");
	is_unknown(smallest_kernel_over_ideal(&made.fit, MODE_GRAPH, 16, 0.05), "graphs");
	is_unknown(depth_needed(&made.fit, MODE_STREAM, 50000, 0.05), "50 us");
	is_unknown(depth_needed(&made.fit, MODE_STREAM, 0, 0.05), "empty kernels");
	is_unknown(depth_needed(&made.fit, MODE_GRAPH, 10000, 0.05), "graphs");
	is_unknown(mode_gain(&made.fit, MODE_STREAM, MODE_GRAPH, 2000, 16), "graphs");
	is_unknown(mode_gain(&made.fit, MODE_GRAPH, MODE_STREAM, 2000, 16), "of graphs");
	is_unknown(largest_kernel_gain(&made.fit, MODE_STREAM, MODE_GRAPH, 16, 0.05), "graphs");
	is_unknown(largest_kernel_gain(&made.fit, MODE_GRAPH, MODE_STREAM, 16, 0.05), "of graphs");
	made_release(&made);
}

/* Each platform has swept depths and kernels that the other has not. */
Test(small_fit_answers, over_a_platform_only_where_both_were_swept)
{
	struct fake_session a = wide(5800, 2200, 900), b = wide(26000, 6300, 1000);
	struct made on_a = { 0 }, on_b = { 0 };
	struct answer k;

	a.size = "0,1,2,5,10,20,50";
	a.depth = "1,4,16";
	b.size = "0,10,20,50,100,200,500";
	b.depth = "4,16,64";
	made_fit(&on_a, &a);
	made_fit(&on_b, &b);
	is_unknown(smallest_kernel_over(&on_b.fit, &on_a.fit, MODE_STREAM, 1, 0.05), "only by a");
	is_unknown(smallest_kernel_over(&on_b.fit, &on_a.fit, MODE_STREAM, 64, 0.05), "only by b");
	k = smallest_kernel_over(&on_b.fit, &on_a.fit, MODE_STREAM, 4, 0.05); /* 100 us */
	cr_assert(eq(int, (int)k.kind, ANSWER_ABOVE), "%d", k.kind);
	cr_assert(epsilon_eq(dbl, k.interval.value, 50000, 1e-6), "%g", k.interval.value);
	k = smallest_kernel_over(&on_b.fit, &on_a.fit, MODE_STREAM, 16, 1); /* 3.2 us */
	cr_assert(eq(int, (int)k.kind, ANSWER_BELOW), "%d", k.kind);
	cr_assert(epsilon_eq(dbl, k.interval.value, 10000, 1e-6), "%g", k.interval.value);
	made_release(&on_a);
	b.size = "0,50,100,200,500";
	made_release(&on_b);
	on_a = on_b = (struct made){ 0 };
	made_fit(&on_a, &a);
	made_fit(&on_b, &b);
	is_unknown(smallest_kernel_over(&on_b.fit, &on_a.fit, MODE_STREAM, 4, 0.05), "one kernel");
	made_release(&on_a);
	made_release(&on_b);
}

/* Nearly 25 us, the largest that were swept: draws that are above it end there. */
Test(small_fit_answers, an_interval_that_ends_at_a_bound_says_so)
{
	struct fake_session s = few_processes(0.05);
	struct made made = { 0 };
	struct answer a;

	s.mode = "stream";
	s.process_noise = 0.1;
	s.size = "0,2,5,10,25";
	s.depth = "1,4,16,64";
	made_fit(&made, &s);
	a = smallest_kernel_over_ideal(&made.fit, MODE_STREAM, 16, 0.05);
	cr_assert(eq(int, (int)a.kind, ANSWER_VALUE), "%g", a.interval.value);
	cr_assert(eq(dbl, a.interval.hi, 25000), "%g", a.interval.hi);
	cr_assert(a.cut, "%g to %g", a.interval.lo, a.interval.hi);
	a = smallest_kernel_over_ideal(&made.fit, MODE_STREAM, 16, 0.20);
	cr_assert(not(a.cut), "%g to %g", a.interval.lo, a.interval.hi);
	made_release(&made);
}

/* Alone and for 5 %, K is 20 Z: 116 us, and in each half of the draws another. Twice as wide as it
 * is large is still an answer; more is a bound, where one of its ends was swept. */
Test(small_fit_answers, an_interval_that_is_too_wide_is_a_bound)
{
	static const struct {
		double z[2]; /* of the draws */
		enum answer_kind kind;
		double us;
	} rows[] = {
		{ { 5000, 6000 }, ANSWER_VALUE, 116 },	{ { 2900, 14000 }, ANSWER_VALUE, 116 },
		{ { 2900, 15000 }, ANSWER_BELOW, 300 }, { { 2900, 1e6 }, ANSWER_LEAST, 58 },
		{ { 1, 1e6 }, ANSWER_REFUSED, NAN },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct fake_session s = wide(5800, 2200, 900);
		struct made made = { 0 };
		struct answer a;

		made_fit(&made, &s);
		for (int d = 0; d < BOOTSTRAP_DRAWS; d++)
			made.fit.draw[d].v[MODEL_Z] = rows[i].z[d % 2];
		a = smallest_kernel_over_ideal(&made.fit, MODE_STREAM, 1, 0.05);
		cr_expect(eq(int, (int)a.kind, rows[i].kind), "%zu: %g to %g", i, a.interval.lo,
			  a.interval.hi);
		if (isfinite(rows[i].us))
			cr_expect(epsilon_eq(dbl, a.interval.value / 1000 / rows[i].us, 1, 0.03),
				  "%zu: %g", i, a.interval.value);
		made_release(&made);
	}
}

/* With 4 launches a step 5 % at depth D takes the K that it takes at depth 4 D. */
Test(small_fit_answers, steps_of_four_launches_are_four_times_as_deep)
{
	struct fake_session one = wide(5800, 2200, 900), four = wide(5800, 2200, 900);
	struct made of_one = { 0 }, of_four = { 0 };

	four.launches = 4;
	made_fit(&of_one, &one);
	made_fit(&of_four, &four);
	cr_assert(eq(dbl, launches_of_step(&of_four.fit), 4), "launches");
	for (int i = 0; i < 5; i++) {
		struct answer a =
			smallest_kernel_over_ideal(&of_one.fit, MODE_STREAM, depths[i + 1], 0.05);
		struct answer b =
			smallest_kernel_over_ideal(&of_four.fit, MODE_STREAM, depths[i], 0.05);

		cr_assert(epsilon_eq(dbl, b.interval.value / a.interval.value, 1, 0.01),
			  "%g: %g, %g", depths[i], b.interval.value, a.interval.value);
	}
	/* (Z - g) / (eps K - g): 5 launches at 20 us and 10 % */
	cr_assert(epsilon_eq(dbl,
			     depth_needed(&of_four.fit, MODE_STREAM, 20000, 0.10).interval.value, 2,
			     0),
		  "8 launches");
	made_release(&of_one);
	made_release(&of_four);
}

/* D >= (Z - g) / (eps K - g): at 20 us and 10 %, 4900 / 1100. */
Test(small_fit_answers, depths_needed)
{
	struct fake_session s = few_processes(0);
	struct made made = { 0 };
	struct answer a;

	s.mode = "stream";
	made_fit(&made, &s);
	a = depth_needed(&made.fit, MODE_STREAM, 20000, 0.10);
	cr_assert(eq(int, (int)a.kind, ANSWER_VALUE), "20 us");
	cr_assert(epsilon_eq(dbl, a.interval.value, 5, 0), "%g", a.interval.value);
	a = depth_needed(&made.fit, MODE_STREAM, 5000, 0.10); /* g alone is 18 % */
	cr_assert(eq(int, (int)a.kind, ANSWER_NEVER), "5 us");
	a = depth_needed(&made.fit, MODE_STREAM, 500000, 0.10);
	cr_assert(eq(int, (int)a.kind, ANSWER_BELOW), "500 us");
	cr_assert(eq(dbl, a.interval.value, 1), "%g", a.interval.value);
	made_release(&made);
	/* of 5 at most 4 were swept; g alone is less than 10 % */
	s.depth = "1,2,4";
	made = (struct made){ 0 };
	made_fit(&made, &s);
	a = depth_needed(&made.fit, MODE_STREAM, 20000, 0.10);
	cr_assert(eq(int, (int)a.kind, ANSWER_ABOVE), "20 us");
	cr_assert(eq(dbl, a.interval.value, 4), "%g", a.interval.value);
	a = depth_needed(&made.fit, MODE_STREAM, 5000, 0.10);
	cr_assert(eq(int, (int)a.kind, ANSWER_NEVER), "5 us");
	cr_assert(eq(dbl, a.interval.value, 4), "%g", a.interval.value);
	made_release(&made);
}

/*
 * Stream against graph: at depth 64, T_s - 1.05 T_g is 0 where
 * 5800 + K + 63 (K + 900) = 1.05 (1000 + 64 * 30 + 4500 + 64 K + 63 * 500): K = 6736.
 */
Test(small_fit_answers, when_a_graph_pays)
{
	struct fake_session s = few_processes(0);
	struct made made = { 0 };
	struct answer a;

	made_fit(&made, &s);
	a = largest_kernel_gain(&made.fit, MODE_STREAM, MODE_GRAPH, 64, 0.05);
	answers(&a, 6.736, 64);
	a = mode_gain(&made.fit, MODE_STREAM, MODE_GRAPH, 0, 64);
	cr_assert(epsilon_eq(dbl, a.interval.value,
			     (5800 + 63 * 2200.0) / (1000 + 64 * 30 + 4500 + 63 * 500), 0.01),
		  "%g", a.interval.value);
	a = mode_gain(&made.fit, MODE_STREAM, MODE_FUSED, 10000, 64);
	cr_assert(epsilon_eq(dbl, a.interval.value,
			     (5800 + 10000 + 63 * 10900.0) / (5600 + 64 * 10000 + 63 * 60), 0.01),
		  "%g", a.interval.value);
	made_release(&made);
}

/* What a graph or a fused kernel saves is saved against a stream. */
Test(small_fit_answers, without_streams_nothing_pays)
{
	static const char *const modes[] = { "graph,fused", "stream,graph" };
	static char text[2][16384];

	for (int i = 0; i < 2; i++) {
		struct fake_session s = few_processes(0);
		struct made made = { 0 };
		struct fit_report r;
		FILE *f = fmemopen(text[i], sizeof(text[i]), "w");

		s.mode = modes[i];
		made_fit(&made, &s);
		report_make(&r, &made.fit, &(struct report_options){ 0 });
		answers_print(&r, f);
		fclose(f);
		golden_said(text[i]);
		report_release(&r);
		made_release(&made);
	}
	cr_assert(eq(ptr, strstr(text[0], "graph/stream"), NULL), "%s", text[0]);
	cr_assert(ne(ptr, strstr(text[1], "graph/stream"), NULL), "%s", text[1]);
}
