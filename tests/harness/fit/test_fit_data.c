/*
 * test_fit_data.c - what a fit says does not contradict the blocks that it was fitted to: points
 * that bound a parameter, parameters that are known by a bound alone, and lines, parts and answers
 * that are refused. Sessions are made up; those that are kept are in test_fit_kept.c.
 */
/* sanitizers: one thread */
/* sanitizers: seen elsewhere */
#include "tests/test.h"
#include "tests/stacks.h"

#include "harness/fit/derive.h"
#include "harness/fit/fit_parts.h"
#include "harness/fit/report.h"
#include "harness/record/recorded.h"

TestSuite(small_fit_data, .timeout = 300);

/* ---- points that bound a parameter -------------------------------------------------------- */

/* myocyte of 1, 32 and 256 cells as a quiet CPU device has it, by graphs. */
static double myocyte_ns(double cells)
{
	return cells == 1 ? 8080 : cells == 32 ? 508e3 : 4.62e6;
}

/* Blocks of 4096 launches take 8.14 us each, beside kernels of 8.08; no kernel is shorter than p.
 */
static struct fake_session myocyte(unsigned seed)
{
	static const double v[MODEL_PARAMS] = {
		[MODEL_C] = 84,	       [MODEL_P] = 84,	      [MODEL_G] = 60,
		[MODEL_Z] = 600,       [MODEL_CLOCK] = 1,     [MODEL_Q] = 1023,
		[MODEL_GRAPH_A] = 115, [MODEL_GRAPH_B] = .2,  [MODEL_GRAPH_Z] = 500,
		[MODEL_FUSED_Z] = 700, [MODEL_FUSED_PHI] = 1,
	};
	struct fake_session s = few_processes(0.011);

	s.workload = "myocyte";
	s.kernel_ns = myocyte_ns;
	s.size = "1,32,256";
	s.depth = "1,4,16,64,256,1024,4096";
	s.queue = 1023;
	s.seed = seed;
	memcpy(s.model[0].v, v, sizeof(v));
	return s;
}

/* Larger kernels leave g open by more than the smallest ones take; these bound it to 60 ns. */
static void the_smallest_kernels_bound_it(const struct made *m, unsigned seed)
{
	const struct fit_param *g = &m->fit.param[MODEL_G];

	cr_assert(lt(dbl, fabs(m->fit.model.v[MODEL_G] - 60), 150), "seed %u: g %g", seed,
		  m->fit.model.v[MODEL_G]);
	if (!g->identified)
		cr_assert(lt(dbl, g->most, 400), "seed %u: at most %g", seed, g->most);
	for (int mode = 0; mode < MODE_COUNT; mode++)
		cr_assert(lt(dbl, fit_error(&m->fit, (enum mode)mode, NAN, NAN), 0.05),
			  "seed %u, mode %d: off by %g", seed, mode,
			  fit_error(&m->fit, (enum mode)mode, NAN, NAN));
}

/* An answer of 5 % at depth 4096 can be no larger than the smallest kernels: 60 of 8080 ns. */
static void answers_are_within_bounds(const struct made *m, unsigned seed)
{
	for (int64_t depth = 16; depth <= 4096; depth *= 4) {
		struct answer a =
			smallest_kernel_over_ideal(&m->fit, MODE_STREAM, (double)depth, 0.05);

		cr_assert(eq(int, a.kind, ANSWER_BELOW), "seed %u, depth %ld: %d", seed,
			  (long)depth, a.kind);
		cr_assert(lt(dbl, a.interval.value, 11e3), "seed %u, depth %ld: %g", seed,
			  (long)depth, a.interval.value);
	}
}

Test(small_fit_data, points_near_the_corner_bound_g)
{
	for (unsigned seed = 1; seed <= 4; seed++) {
		struct fake_session s = myocyte(seed);
		struct made m = { 0 };
		struct stack *all;

		made_fit(&m, &s);
		made_say_fit(&m.fit);
		the_smallest_kernels_bound_it(&m, seed);
		answers_are_within_bounds(&m, seed);
		all = stacks_make(&(struct stack_request){ .work = &m.grid, .own = &m.fit });
		for (int i = 0; i < m.grid.n_points; i++) {
			cr_assert(zero(int, *all[i].refused), "%s", all[i].refused);
			cr_assert(lt(dbl, fabs(stack_share(&all[i], STACK_OTHER)), 0.1), "%d", i);
		}
		free(all);
		made_release(&m);
	}
}

/* Copies of 4 B and 4 MB: the small ones outlast the call by little, the large ones say no g. */
static double copy_ns(double bytes)
{
	return bytes < 5 ? 2500 : 79400;
}

Test(small_fit_data, a_pace_that_hides_is_the_call)
{
	for (unsigned seed = 1; seed <= 8; seed++) {
		struct fake_session s = few_processes(0.02);
		struct made m = { 0 };

		s.workload = "transfer";
		s.kernel_ns = copy_ns;
		s.size = "4,4M";
		s.depth = "1,16,64";
		s.mode = "stream";
		s.seed = seed;
		s.model[0].v[MODEL_C] = s.model[0].v[MODEL_P] = 2040;
		s.model[0].v[MODEL_G] = 0;
		made_fit(&m, &s);
		made_say_fit(&m.fit);
		cr_assert(lt(dbl, fit_error(&m.fit, MODE_STREAM, NAN, NAN), 0.07),
			  "seed %u: off by %g", seed, fit_error(&m.fit, MODE_STREAM, NAN, NAN));
		made_release(&m);
	}
}

/* Small copies near the corner, on two layers; a remote link whose corner is wide. */
Test(small_fit_data, kept_sessions_bound_it_too)
{
	static const struct {
		const char *path, *workload;
		int side;
	} kept[] = {
		{ "data/sessions/atlas-h200/none-2.jsonl.gz", "transfer", 0 },
		{ "data/sessions/atlas-h200/HAMi-O2.jsonl.gz", "transfer", 1 },
		{ "data/sessions/atlas-h100/Lupine.jsonl.gz", "launch", 1 },
	};

	for (size_t i = 0; i < sizeof(kept) / sizeof(*kept); i++) {
		struct made m = { 0 };

		cr_assert(zero(int, session_read(&m.journal, kept[i].path, NULL)), "read");
		cr_assert(zero(int, grid_make(&m.grid, &m.journal, kept[i].side, kept[i].workload)),
			  "grid");
		cr_assert(zero(int, fit_make(&m.fit, &m.grid, 0)), "fit");
		cr_assert(lt(dbl, fit_error(&m.fit, MODE_STREAM, NAN, NAN), 0.05), "%s: off by %g",
			  kept[i].path, fit_error(&m.fit, MODE_STREAM, NAN, NAN));
		made_release(&m);
	}
}

/* Both known, and a point between them that noise made faster: the model is not above it. */
static double hasty_corner(const struct batch *b, int side)
{
	const struct model m = fake_model();

	(void)side;
	return b->depth >= 64 && model_regime(&m, b) == REGIME_CORNER ? 0.85 : 1;
}

Test(small_fit_data, a_point_near_the_corner_bounds_both)
{
	struct fake_session s = quiet();
	struct made m = { 0 };

	s.size = "0,1,5,20";
	s.mode = "stream";
	made_fit(&m, &s);
	made_say_fit(&m.fit);
	cr_assert(lt(int, 0, m.fit.corner), "%d near it", m.fit.corner);
	cr_assert(epsilon_eq(dbl, m.fit.model.v[MODEL_P], 2200, 5), "p");
	made_release(&m);
	m = (struct made){ 0 };
	s.factor = hasty_corner;
	made_fit(&m, &s);
	made_say_fit(&m.fit);
	cr_assert(lt(dbl, m.fit.model.v[MODEL_P], 2150), "p: %g", m.fit.model.v[MODEL_P]);
	made_release(&m);
}

/* Kernels of one size are swept at one depth of several launches: nothing checks what they say. */
static void a_single_block(const char *size, int single, enum model_param which)
{
	struct fake_session s = quiet();
	struct made m = { 0 };
	const struct fit_param *p = &m.fit.param[which];

	s.mode = "stream";
	s.size = size;
	s.depth = "1,16,256";
	fake_session_journal(&s, &m.journal);
	for (int i = 0; i < m.journal.plan.n_points; i++)
		if (m.journal.plan.point[i].depth == 256 &&
		    m.journal.plan.point[i].config == single)
			m.journal.status[i] = POINT_FAILED;
	cr_assert(zero(int, grid_make(&m.grid, &m.journal, 0, NULL)), "grid");
	cr_assert(zero(int, fit_make(&m.fit, &m.grid, 0)), "fit");
	cr_assert(not(p->identified), "%s", model_param_rows[which].name);
	cr_assert(ne(ptr, strstr(p->why, "a single sample says it: at most"), NULL), "%s", p->why);
	cr_assert(lt(dbl, fit_error(&m.fit, MODE_STREAM, NAN, NAN), 0.01), "%s: as it says",
		  model_param_rows[which].name);
	made_release(&m);
}

Test(small_fit_data, a_single_block_says_a_pace)
{
	a_single_block("0,10", 1, MODEL_G);
	a_single_block("0,10,50", 0, MODEL_P);
}

/* One more step than a power of two is a second graph, however small; half a queue is its limit. */
Test(small_fit_data, which_blocks_say_what_a_call_takes)
{
	const struct grid g = { .queue = 1024 };

	for (int depth = 1; depth <= 9; depth++) {
		const struct batch b = { MODE_GRAPH, depth, 1, 1000 };

		cr_assert(eq(int, batch_is_one_graph(&g, &b), !(depth & (depth - 1))), "%d", depth);
	}
	for (int launches = 127; launches <= 129; launches++) {
		const struct batch b = { MODE_STREAM, 4, launches, 1000 };

		cr_assert(eq(int, batch_is_half_a_queue(&g, &b), launches <= 128), "%d", launches);
	}
}

/* ---- what is known by a bound alone ------------------------------------------------------- */

Test(small_fit_data, what_hides_a_pace_bounds_it)
{
	struct fake_session s = quiet();
	struct made m = { 0 };

	s.mode = "stream";
	s.size = "10,20,50,100";
	made_fit(&m, &s);
	made_say_fit(&m.fit);
	cr_assert(epsilon_eq(dbl, m.fit.param[MODEL_P].most, 10900, 20), "p at most %g",
		  m.fit.param[MODEL_P].most);
	made_release(&m);
	m = (struct made){ 0 };
	s.size = "1,2";
	s.model[0].v[MODEL_P] = s.model[0].v[MODEL_C] = 9000;
	made_fit(&m, &s);
	made_say_fit(&m.fit);
	cr_assert(epsilon_eq(dbl, m.fit.param[MODEL_G].most, 7000, 20), "g at most %g",
		  m.fit.param[MODEL_G].most);
	cr_assert(ne(ptr, strstr(m.fit.param[MODEL_G].why, "at most 7.00 us"), NULL), "%s",
		  m.fit.param[MODEL_G].why);
	cr_assert(epsilon_eq(dbl, m.fit.most.v[MODEL_G], 7000, 20), "where it may be as large");
	made_release(&m);
}

/* Deep blocks lose Z in their noise: answers from it are what it may be at most, or none. */
Test(small_fit_data, what_is_left_open_gives_a_bound)
{
	struct fake_session s = few_processes(0.05);
	const struct fit_param *z;
	struct made m = { 0 };
	struct answer a;

	s.mode = "stream";
	s.depth = "1024,2048,4096";
	s.size = "0,1,2,5,10";
	made_fit(&m, &s);
	made_say_fit(&m.fit);
	z = &m.fit.param[MODEL_Z];
	cr_assert(not(z->identified), "Z");
	cr_assert(lt(dbl, 5800, z->most), "at most %g", z->most);
	cr_assert(ne(ptr, strstr(z->why, "at most"), NULL), "%s", z->why);
	cr_assert(eq(dbl, m.fit.most.v[MODEL_Z], z->most), "used");
	m.fit.most.v[MODEL_Z] = 3e6; /* 1 % of 1024 times 300 us */
	a = smallest_kernel_over_ideal(&m.fit, MODE_STREAM, 1024, 0.25);
	cr_assert(eq(int, a.kind, ANSWER_REFUSED), "%d", a.kind);
	m.fit.most.v[MODEL_Z] = 4e5;
	a = smallest_kernel_over_ideal(&m.fit, MODE_STREAM, 1024, 0.25);
	cr_assert(eq(int, a.kind, ANSWER_BELOW), "%d", a.kind);
	cr_assert(lt(dbl, 4000, a.interval.value), "%g", a.interval.value);
	made_release(&m);
}

/* ---- what is refused ---------------------------------------------------------------------- */

/* The first steps of particlefilter do less than the later ones. */
static double fewer_at_first(const struct batch *b, int side)
{
	(void)side;
	return b->depth == 1 ? 0.7 : b->depth == 4 ? 0.88 : 1;
}

static double particles_ns(double n)
{
	return 40 * n;
}

static struct fake_session particlefilter(void)
{
	struct fake_session s = quiet();

	s.workload = "particlefilter";
	s.kernel_ns = particles_ns;
	s.size = "1k,4k";
	s.depth = "1,4,16,64,256";
	s.mode = "stream,graph";
	s.factor = fewer_at_first;
	return s;
}

Test(small_fit_data, steps_that_do_less_are_not_stacked)
{
	struct fake_session s = particlefilter();
	struct made m = { 0 };
	struct stack_request r = { .work = &m.grid, .own = &m.fit };
	struct stack *all;

	made_fit(&m, &s);
	made_say_fit(&m.fit);
	all = stacks_make(&r);
	for (int i = 0; i < m.grid.n_points; i++) {
		bool refused = m.grid.point[i].batch.depth <= 4;

		cr_assert(eq(int, *all[i].refused != '\0', refused), "depth %g: '%s'",
			  m.grid.point[i].batch.depth, all[i].refused);
		cr_assert(eq(int, isnan(all[i].part_ns[STACK_KERNEL]), refused), "kernel");
		cr_assert(eq(int, isnan(all[i].part_ns[STACK_OTHER]), refused), "other");
	}
	cr_assert(ne(ptr, strstr(all[0].refused, "the parts come to 13"), NULL), "%s",
		  all[0].refused);
	cr_assert(has_note(&r, all, "8 of 20 samples are not taken apart"), "said");
	free(all);
	made_release(&m);
}

/* 10 us at depth 64 take a fifth less than all others say. */
static double one_is_fast(const struct batch *b, int side)
{
	(void)side;
	return b->mode == MODE_STREAM && b->depth == 64 && b->kernel_ns == 10000 ? 0.8 : 1;
}

static bool is_refused(struct answer a)
{
	return a.kind == ANSWER_REFUSED;
}

Test(small_fit_data, a_fit_gives_no_answer_that_its_blocks_deny)
{
	struct fake_session s = quiet();
	struct made m = { 0 };
	const struct fit *f = &m.fit;
	const enum mode on = MODE_STREAM, by = MODE_GRAPH;

	s.size = "0,2,10,50,200";
	s.factor = one_is_fast;
	made_fit(&m, &s);
	made_say_fit(&m.fit);
	cr_assert(lt(dbl, 0.15, fit_error(f, on, NAN, NAN)), "off");
	cr_assert(lt(dbl, fit_error(f, by, NAN, NAN), 0.02), "graphs are not");
	cr_assert(lt(dbl, fit_error(f, on, 2000, NAN), 0.02), "2 us are not");
	cr_assert(not(fit_holds(f, on, 10000, 64)), "there");
	cr_assert(fit_holds(f, on, 10000, 16), "at another depth");
	cr_assert(not(fit_holds(f, on, 30000, 100)), "next to it");
	cr_assert(fit_holds(f, on, 30000, 8), "next to others");
	cr_assert(is_refused(smallest_kernel_over_ideal(f, on, 64, 0.05)), "at depth 64");
	cr_assert(not(is_refused(smallest_kernel_over_ideal(f, on, 16, 0.05))), "at depth 16");
	cr_assert(is_refused(smallest_kernel_over(f, f, on, 64, 0.05)), "over a platform");
	cr_assert(is_refused(depth_needed(f, on, 10000, 0.25)), "for 10 us");
	cr_assert(is_refused(depth_needed(f, on, 20000, 0.25)), "between 10 and 50");
	cr_assert(not(is_refused(depth_needed(f, on, 50000, 0.05))), "for 50 us");
	cr_assert(is_refused(mode_gain(f, on, by, 10000, 64)), "gain");
	cr_assert(is_refused(mode_gain(f, by, on, 10000, 64)), "either way");
	cr_assert(not(is_refused(mode_gain(f, on, by, 10000, 16))), "gain at 16");
	cr_assert(is_refused(largest_kernel_gain(f, on, by, 64, 0.05)), "up to which");
	cr_assert(is_refused(largest_kernel_gain(f, by, on, 64, 0.05)), "either way");
	made_release(&m);
}

static bool has_sign(const struct fit_report *r, const char *name)
{
	for (int i = 0; i < r->n_diagnostics; i++)
		if (!strcmp(r->diagnostic[i].name, name))
			return true;
	return false;
}

/* Halves that predict each other do not make up for a fit that is off all of them. */
Test(small_fit_data, a_fit_that_is_off_is_not_accepted)
{
	struct fake_session s = quiet();
	const struct report_options none = { 0 };
	struct fit_report r;
	struct made m = { 0 };

	made_fit(&m, &s);
	made_say_fit(&m.fit);
	for (int off = 0; off <= 1; off++) {
		if (off)
			m.fit.model.v[MODEL_Z] *= 3;
		report_make(&r, &m.fit, &none);
		cr_assert(eq(int, r.itself.accepted, !off), "worst %g", r.itself.all.worst);
		cr_assert(eq(int, r.held_out.accepted, !off), "held out");
		cr_assert(eq(int, has_sign(&r, "off"), off), "said");
		report_release(&r);
	}
	made_release(&m);
}

/* 24 us to beyond the 200 that were swept: the lower end is known; 24 to 185: the upper one. */
Test(small_fit_data, a_wide_interval_is_a_bound)
{
	struct fake_session s = few_processes(0.01);
	struct made m = { 0 };
	struct answer a;

	s.mode = "stream";
	s.size = "0,2,5,10,20,50,100,200";
	made_fit(&m, &s);
	made_say_fit(&m.fit);
	a = smallest_kernel_over_ideal(&m.fit, MODE_STREAM, 16, 0.05);
	cr_assert(eq(int, a.kind, ANSWER_VALUE), "%d", a.kind);
	for (int i = 0; i < BOOTSTRAP_DRAWS; i++)
		m.fit.draw[i].v[MODEL_G] *= 1 + 20 * (m.fit.first[i] % 2);
	a = smallest_kernel_over_ideal(&m.fit, MODE_STREAM, 16, 0.05);
	cr_assert(eq(int, a.kind, ANSWER_LEAST), "%d", a.kind);
	cr_assert(epsilon_eq(dbl, a.interval.value, 23.6e3, 1e3), "%g", a.interval.value);
	for (int i = 0; i < BOOTSTRAP_DRAWS; i++)
		m.fit.draw[i].v[MODEL_G] *= m.fit.draw[i].v[MODEL_G] > 2000 ? 0.5 : 1;
	a = smallest_kernel_over_ideal(&m.fit, MODE_STREAM, 16, 0.05);
	cr_assert(eq(int, a.kind, ANSWER_BELOW), "%d", a.kind);
	cr_assert(epsilon_eq(dbl, a.interval.value, 185e3, 10e3), "%g", a.interval.value);
	made_release(&m);
}
