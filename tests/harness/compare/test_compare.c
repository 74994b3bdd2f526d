/*
 * test_compare.c - harness/compare/compare.h: made-up sessions of which it is known what differs.
 */
/* sanitizers: one thread */
/* sanitizers: seen elsewhere */
#include "tests/test.h"
#include "tests/compared.h"

TestSuite(small_compare, .timeout = 300);
TestSuite(large_compare, .timeout = 300);

/* ---- parameters --------------------------------------------------------------------------- */

/* Five us more for every launch, and for the one that Z holds. */
static struct fake_session slower_launches(void)
{
	struct fake_session s = two_sides();

	s.model[1].v[MODEL_C] += 5000;
	s.model[1].v[MODEL_P] += 5000;
	s.model[1].v[MODEL_Z] += 5000;
	return s;
}

static void expect_difference(const struct compared *c, const char *name, double ns, double off)
{
	const struct compared_parameter *p = parameter_of(c, name);

	cr_assert(p->identified && p->judged.known, "%s: %s %s", name, p->why[0], p->why[1]);
	cr_assert(epsilon_eq(dbl, p->difference.value, ns, off), "%s: %g ns", name,
		  p->difference.value);
}

Test(small_compare, five_us_a_launch_are_found)
{
	struct fake_session s = slower_launches();
	struct compare_options o = usual_terms();
	struct compared *c = compared_sides(&s, &o, NULL);

	cr_assert(zero(int, c->err), "compare");
	expect_difference(c, "p", 5000, 100);
	expect_difference(c, "Z", 5000, 150);
	cr_assert(eq(int, parameter_of(c, "p")->judged.verdict, VERDICT_SLOWER), "p");
	cr_assert(eq(int, parameter_of(c, "gn")->judged.verdict, VERDICT_SAME), "gn");
	/* of 90, which by Holm would be none */
	cr_assert(le(int, 20, c->c.count[VERDICT_SLOWER]), "%d points", c->c.count[VERDICT_SLOWER]);
	cr_assert(eq(int, c->c.outcome, OUTCOME_SLOWER), "all");
	cr_assert(eq(int, compare_exit_code(&c->c), RIFT_CHECK_FAILED), "code");
	compared_free(c);
}

/* The other way round, B is the faster one, and that is no failure. */
Test(small_compare, faster_is_fine)
{
	struct fake_session s = slower_launches();
	struct compare_options o = usual_terms();
	struct model swapped = s.model[0];
	struct compared *c;

	s.model[0] = s.model[1];
	s.model[1] = swapped;
	s.noise = 0.001;
	o.margin = 0.1;
	c = compared_sides(&s, &o, NULL);
	expect_difference(c, "p", -5000, 100);
	cr_assert(eq(int, parameter_of(c, "p")->judged.verdict, VERDICT_FASTER), "p");
	cr_assert(eq(int, c->c.outcome, OUTCOME_FASTER), "%d", c->c.outcome);
	cr_assert(eq(int, compare_exit_code(&c->c), RIFT_OK), "code");
	compared_free(c);
}

/* Streams only: there are no parameters of graphs. */
Test(small_compare, what_is_hidden_is_not_identified)
{
	struct fake_session s = two_sides();
	struct compare_options o = usual_terms();
	struct compared *c;

	s.mode = "stream";
	for (int k = 0; k < 2; k++) {
		s.model[k].v[MODEL_C] = 300;
		s.model[k].v[MODEL_P] = 300; /* below g */
	}
	c = compared_sides(&s, &o, NULL);
	cr_assert(zero(int, c->err), "compare");
	cr_assert(not(parameter_of(c, "p")->identified), "p");
	cr_assert(ne(chr, *parameter_of(c, "p")->why[0], '\0'), "why");
	cr_assert(parameter_of(c, "c")->identified, "c");
	for (int i = 0; i < c->c.parameters.n; i++)
		cr_assert(eq(int, (int)c->c.parameters.row[i].row->mode, (int)MODE_STREAM), "%s",
			  c->c.parameters.row[i].row->name);
	compared_free(c);
}

Test(small_compare, too_few_points_for_a_model)
{
	struct fake_session s = two_sides();
	struct compare_options o = usual_terms();
	struct compared *c;
	const char *said;

	s.depth = "16";
	divert_stderr();
	c = compared_sides(&s, &o, NULL);
	said = diverted_stderr();
	cr_assert(eq(str, (char *)said, ""), "%s", said);
	cr_assert(zero(int, c->err), "there is still a comparison");
	cr_assert(zero(int, c->c.parameters.n), "no parameters");
	cr_assert(not(c->c.parameters.modelled[0].is), "no model");
	cr_assert(ne(ptr, strstr(c->c.parameters.modelled[0].why_not, "3 of a mode, at 2 depths"),
		     NULL),
		  "%s", c->c.parameters.modelled[0].why_not);
	compared_free(c);
}

/*
 * Kernels that are not empty take 300 ns more. With empty ones in the fit that is e, without them a
 * part of gaps: between grids of which one has them, that would be a difference of two equal
 * systems.
 */
Test(small_compare, both_sides_are_fitted_to_the_same_points)
{
	struct fake_session a = two_sides(), b;
	struct compare_options o = usual_terms();
	struct compared *c;

	a.sides = 1;
	a.noise = 0.0005;
	a.model[0].v[MODEL_E] = 300;
	b = a;
	b.seed = 2;
	b.size = "1,2,5,10,50";
	c = compared_sessions(&a, &b, &o);
	cr_assert(zero(int, c->err), "compare");
	expect_difference(c, "gn", 0, 30);
	cr_assert(ne(int, parameter_of(c, "gn")->judged.verdict, VERDICT_SLOWER), "gn");
	cr_assert(ne(int, c->c.outcome, OUTCOME_SLOWER), "%d", c->c.outcome);
	compared_free(c);
}

/* ---- a system against itself -------------------------------------------------------------- */

Test(large_compare, the_same_is_never_slower)
{
	struct compare_options o = usual_terms();

	for (uint64_t seed = 1; seed <= 6; seed++) {
		struct fake_session s = two_sides();
		struct compared *c;

		s.seed = seed;
		s.noise = 0.02;
		s.process_noise = 0.02;
		c = compared_sides(&s, &o, NULL);
		cr_assert(ne(int, c->c.outcome, OUTCOME_SLOWER), "seed %d", (int)seed);
		cr_assert(ne(int, c->c.outcome, OUTCOME_FASTER), "seed %d", (int)seed);
		cr_assert(zero(int, c->c.count[VERDICT_SLOWER]), "seed %d", (int)seed);
		compared_free(c);
	}
}

Test(small_compare, the_same_is_said_to_be_where_it_is_quiet)
{
	struct fake_session s = two_sides();
	struct compare_options o = usual_terms();
	struct compared *c;

	s.noise = 0.0005;
	o.margin = 0.1;
	c = compared_sides(&s, &o, NULL);
	cr_assert(eq(int, c->c.outcome, OUTCOME_SAME), "%d", c->c.outcome);
	cr_assert(eq(int, compare_exit_code(&c->c), RIFT_OK), "code");
	cr_assert(eq(int, c->c.count[VERDICT_SAME], c->c.pairs.n), "points");
	compared_free(c);
}

/* Of 4 processes 6 orders are alike. */
Test(small_compare, two_processes_prove_nothing)
{
	struct fake_session s = slower_launches();
	struct compare_options o = usual_terms();
	struct compared *c;

	s.processes = 2;
	c = compared_sides(&s, &o, NULL);
	cr_assert(eq(int, c->c.outcome, OUTCOME_INCONCLUSIVE), "%d", c->c.outcome);
	cr_assert(eq(int, compare_exit_code(&c->c), RIFT_FAILED_POINTS), "code");
	cr_assert(eq(int, c->c.count[VERDICT_INCONCLUSIVE], c->c.pairs.n), "points");
	cr_assert(not(c->c.workload[0].ratio.known), "interval");
	cr_assert(lt(dbl, 1, c->c.workload[0].ratio.value), "but the figure is there");
	compared_free(c);
}

/* ---- margins ------------------------------------------------------------------------------ */

static double three_percent(const struct batch *b, int side)
{
	(void)b;
	return side ? 1.03 : 1;
}

/* The verdict of the interval, whatever else is tested with it. */
static enum ratio_verdict verdict_at(double margin, double between)
{
	struct fake_session s = two_sides();
	struct compare_options o = usual_terms();
	struct compared *c;
	enum ratio_verdict v;

	s.factor = three_percent;
	s.noise = 0.002;
	o.margin = margin;
	o.session_sd = between;
	c = compared_sides(&s, &o, NULL);
	cr_assert(epsilon_eq(dbl, c->c.workload[0].ratio.value, 1.03, 0.002), "3 %%");
	v = c->c.workload[0].judged.alone;
	compared_free(c);
	return v;
}

/* Two sessions: 1.645 * sqrt(2) * 1 % = 2.35 % to either side. */
Test(large_compare, margins_and_what_sessions_differ_by)
{
	cr_assert(eq(int, verdict_at(0.02, 0), VERDICT_SLOWER), "2 %%");
	cr_assert(eq(int, verdict_at(0.05, 0), VERDICT_SAME), "5 %%");
	cr_assert(eq(int, verdict_at(0.03, 0), VERDICT_INCONCLUSIVE), "3 %%");
	cr_assert(eq(int, verdict_at(0.02, 0.01), VERDICT_INCONCLUSIVE), "0.6 to 5.4 %%");
	cr_assert(eq(int, verdict_at(0.05, 0.01), VERDICT_INCONCLUSIVE), "0.6 to 5.4 %%");
	cr_assert(eq(int, verdict_at(0.06, 0.01), VERDICT_SAME), "0.6 to 5.4 %%");
	cr_assert(eq(int, verdict_at(0, 0.01), VERDICT_SLOWER), "0.6 %%");
}

/* A parameter's intervals have it too, on both of their sides: 2.8 % of its value. */
Test(small_compare, what_sessions_differ_by_is_in_parameters)
{
	struct fake_session s = two_sides();
	struct compare_options o = usual_terms();
	struct compared *c[2];
	double z[2], p[2];

	s.noise = 0.001;
	for (int i = 0; i < 2; i++) {
		o.session_sd = i ? 0.01 : 0;
		c[i] = compared_sides(&s, &o, NULL);
		z[i] = parameter_of(c[i], "Z")->difference.hi;
		p[i] = parameter_of(c[i], "p")->difference.lo;
	}
	cr_assert(eq(dbl, parameter_of(c[0], "Z")->difference.value,
		     parameter_of(c[1], "Z")->difference.value),
		  "the values stay");
	cr_assert(lt(dbl, z[0], 50), "%g ns of 5800", z[0]);
	cr_assert(epsilon_eq(dbl, z[1], 0.028 * 5800, 50), "%g ns of 5800", z[1]);
	cr_assert(lt(dbl, -30, p[0]), "%g ns of 2200", p[0]);
	cr_assert(epsilon_eq(dbl, p[1], -0.028 * 2200, 30), "%g ns of 2200", p[1]);
	compared_free(c[0]);
	compared_free(c[1]);
}

/* Between nodes of a graph, 10 ns more are 2 % of 500 ns, but less than a clock can tell. */
Test(small_compare, a_few_ns_are_no_difference)
{
	struct fake_session s = two_sides();
	struct compare_options o = { .margin = 0.005 };
	struct compared *c;

	s.mode = "graph";
	s.noise = 0.0002;
	s.model[1].v[MODEL_GRAPH_G] += 10;
	c = compared_sides(&s, &o, NULL);
	cr_assert(lt(dbl, 0, parameter_of(c, "gn")->difference.lo), "it is there");
	cr_assert(eq(int, parameter_of(c, "gn")->judged.alone, VERDICT_SAME), "10 ns");
	compared_free(c);
	s.model[1].v[MODEL_GRAPH_G] += 20;
	c = compared_sides(&s, &o, NULL);
	cr_assert(eq(int, parameter_of(c, "gn")->judged.alone, VERDICT_SLOWER), "30 ns");
	compared_free(c);
}

/* A parameter has as many processes as the side with fewer. */
Test(small_compare, parameters_of_sides_of_five_and_seven)
{
	struct fake_session five = two_sides(), seven = two_sides();
	struct compare_options o = usual_terms();
	struct compared *c;

	five.sides = seven.sides = 1;
	seven.processes = 7;
	seven.seed = 2;
	for (int swapped = 0; swapped < 2; swapped++) {
		c = swapped ? compared_sessions(&seven, &five, &o)
			    : compared_sessions(&five, &seven, &o);
		cr_assert(eq(int, parameter_of(c, "Z")->difference.n, 5), "%d", swapped);
		cr_assert(eq(int, parameter_of(c, "Z")->of[PAIR_A].n, swapped ? 7 : 5), "A");
		cr_assert(parameter_of(c, "Z")->difference.known, "%d", swapped);
		compared_free(c);
	}
}
