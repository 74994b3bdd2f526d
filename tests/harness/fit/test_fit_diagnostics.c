/*
 * test_fit_diagnostics.c - harness/fit/diagnostics.h: sessions that depart from the model in a
 * known way are called by that name, and those that do not, not.
 */
/* sanitizers: one thread */
#include "tests/test.h"
#include "harness/measure/model.h"
#include "harness/fit/diagnostics.h"
#include "tests/fake_session.h"
#include "tests/golden.h"

TestSuite(small_fit_signs, .timeout = 300);

static struct diagnostic diagnostic[DIAGNOSTICS_MAX];

static struct fake_session quiet_session(void)
{
	struct fake_session s = fake_session();

	s.processes = 5;
	s.noise = 0.02;
	s.mode = "stream";
	return s;
}

/* Returns how many diagnostics. */
static int diagnostics(const struct fake_session *s, double drift)
{
	struct journal j;
	struct grid g;
	struct fit f;
	int n;

	fake_session_journal(s, &j);
	j.drift_most[0] = drift;
	j.drift_most[1] = 0.5; /* of the other side */
	cr_assert(zero(int, grid_make(&g, &j, 0, NULL)), "grid");
	cr_assert(zero(int, fit_make(&f, &g, 0)), "fit");
	n = diagnostics_find(&f, diagnostic);
	for (int i = 0; i < n; i++)
		golden_said(diagnostic[i].text);
	fit_release(&f);
	grid_release(&g);
	journal_release(&j);
	return n;
}

static void is_only(const struct fake_session *s, const char *name, const char *says)
{
	int n = diagnostics(s, 0);

	cr_assert(eq(int, n, 1), "%s: %d signs: %s", name, n, n ? diagnostic[0].text : "");
	cr_assert(eq(str, (char *)diagnostic[0].name, (char *)name), "%s", diagnostic[0].text);
	cr_assert(tells(diagnostic[0].text, says), "%s: %s", name, diagnostic[0].text);
}

Test(small_fit_signs, none_where_the_model_holds)
{
	struct fake_session s = quiet_session();

	for (s.seed = 1; s.seed <= 3; s.seed++)
		cr_assert(zero(int, diagnostics(&s, 0.002)), "seed %lu: %s", (unsigned long)s.seed,
			  diagnostic[0].text);
}

/* Launches wait for something that holds 64 of them, of which the probe knows nothing. */
static double beyond_64(const struct batch *b, int side)
{
	const struct model m = fake_model();

	(void)side;
	return 1 + fmax(0, b->depth * b->launches - 64) * 3000 / recursion_block(&m, b).total_ns;
}

Test(small_fit_signs, a_window)
{
	struct fake_session s = quiet_session();

	s.factor = beyond_64;
	is_only(&s, "window", "beyond 64 launches each costs ");
}

static double flush_every_16(const struct batch *b, int side)
{
	const struct model m = fake_model();

	(void)side;
	return 1 +
	       floor((b->depth * b->launches - 1) / 16) * 40000 / recursion_block(&m, b).total_ns;
}

/* Depths that are no powers of two tell steps from a slope. */
Test(small_fit_signs, batches)
{
	struct fake_session s = quiet_session();

	s.factor = flush_every_16;
	s.size = "0,1,2,5";
	s.depth = "1,2,4,8,12,15,16,17,20,24,31,32,33,40,47,48,49,64,65,96,97";
	is_only(&s, "batching", " 16 launches ");
}

Test(small_fit_signs, batches_look_like_a_window_at_powers_of_two)
{
	struct fake_session s = quiet_session();

	s.factor = flush_every_16;
	is_only(&s, "window", "powers of two");
}

static double fast_up_to_4(const struct batch *b, int side)
{
	const struct model m = fake_model();

	(void)side;
	return b->depth * b->launches <= 4 ? 1 - 4000 / recursion_block(&m, b).total_ns : 1;
}

Test(small_fit_signs, first_calls)
{
	struct fake_session s = quiet_session();

	s.factor = fast_up_to_4;
	is_only(&s, "first calls", " 4 launches * 3.98");
}

static double slower_with_depth(const struct batch *b, int side)
{
	(void)side;
	return b->kernel_ns > 0 ? 1 + 0.01 * log2(b->depth * b->launches) : 1;
}

Test(small_fit_signs, depth)
{
	struct fake_session s = quiet_session();

	s.factor = slower_with_depth;
	is_only(&s, "depth", " % *doubling");
}

/* What counts are launches, however many a step has. */
Test(small_fit_signs, steps_of_two_launches)
{
	struct fake_session s = quiet_session();

	s.launches = 2;
	cr_assert(zero(int, diagnostics(&s, 0.002)), "%s", diagnostic[0].text);
	s.factor = beyond_64;
	is_only(&s, "window", "beyond 64 launches each costs ");
	s.factor = fast_up_to_4;
	is_only(&s, "first calls", " 4 launches * 3.9");
	s.factor = slower_with_depth;
	is_only(&s, "depth", "take 1.");
	s.factor = flush_every_16;
	s.size = "0,1,2,5";
	s.depth = "1,2,4,6,7,8,9,10,12,15,16,17,20,24,25,32,33,40,41,48,49";
	is_only(&s, "batching", " 16 launches ");
}

static double slow_corner(const struct batch *b, int side)
{
	const struct model m = fake_model();

	(void)side;
	return model_regime(&m, b) == REGIME_CORNER && b->depth > 1 ? 1.12 : 1;
}

Test(small_fit_signs, corner)
{
	struct fake_session s = quiet_session();

	s.factor = slow_corner;
	is_only(&s, "corner", "12 % longer");
}

Test(small_fit_signs, clocks)
{
	struct fake_session s = quiet_session();

	cr_assert(eq(int, diagnostics(&s, -0.034), 1), "drift");
	cr_assert(ne(ptr, strstr(diagnostic[0].text, "drifted by -3.4 %"), NULL), "%s",
		  diagnostic[0].text);
	s.model[0].v[MODEL_CLOCK] = 1.12;
	is_only(&s, "clocks", "1.12");
}
