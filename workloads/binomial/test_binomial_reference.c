/*
 * test_binomial_reference.c - known answers of the references in double, computed by separate
 * programs; the options; and the plans by which kernels go through trees.
 */
/* sanitizers: one thread */
#include "tests/plain.h"
#include "workloads/binomial/reference.h"

#include "common/fnv.h"
#include "workloads/binomial/inputs.h"
#include "workloads/binomial/plan.h"

TestSuite(small_binomial_reference, .timeout = 300);

/* As floats, of which the separate programs made their doubles. */
static const double rate = 0.06f, volatility = 0.1f;

static void near(const char *what, int64_t n, double got, double want, double within)
{
	cr_assert(fabs(got - want) <= within, "%s, %ld: %.12g, known %.12g", what, (long)n, got,
		  want);
}

static struct binomial_case make_case(uint32_t i, uint64_t seed)
{
	struct binomial_input in = binomial_input(i, 0, seed);

	return (struct binomial_case){ in.S, in.X, in.T, rate, volatility };
}

static double tree(const struct binomial_case *c, int64_t steps)
{
	static double workspace[BINOMIAL_STEPS_MAX + 1];

	return binomial_tree(c, steps, workspace);
}

static double sum(const struct binomial_case *c, int64_t steps)
{
	static double logs[BINOMIAL_STEPS_MAX + 1];
	static int64_t of;

	if (of != steps)
		binomial_logs(steps, logs);
	of = steps;
	return binomial_sum(c, steps, logs);
}

/* ---- single options --------------------------------------------------------------------- */

struct known {
	uint32_t i;
	int64_t steps;
	double price;
};

static const struct known known[] = {
	{ 0, 16, 17.792634353 },   { 0, 256, 17.792634353 },  { 0, 2048, 17.792634353 },
	{ 0, 8192, 17.792634353 }, { 1, 16, 0.000921969 },    { 1, 64, 0.004852063 },
	{ 1, 256, 0.006101577 },   { 1, 1024, 0.006399365 },  { 1, 2048, 0.006433217 },
	{ 1, 8192, 0.006477643 },  { 2, 16, 0.038519938 },    { 2, 2048, 0.059130953 },
	{ 3, 16, 21.998686104 },   { 3, 2048, 21.998686170 },
};

Test(small_binomial_reference, prices_are_the_known_ones)
{
	struct binomial_case c;

	for (size_t k = 0; k < sizeof(known) / sizeof(*known); k++) {
		c = make_case(known[k].i, 1);
		near("sum", known[k].steps, sum(&c, known[k].steps), known[k].price, 2e-9);
		if (known[k].steps <= 2048)
			near("tree", known[k].steps, tree(&c, known[k].steps), known[k].price,
			     1e-9);
	}
	c = make_case(1, 1);
	near("limit", 1, binomial_limit(&c), 0.006492392, 1e-9);
}

/* Hull, "Options, Futures, and Other Derivatives". */
Test(small_binomial_reference, a_textbook_option)
{
	static const struct known hull[] = { { 0, 4, 4.825663968 },
					     { 0, 5, 4.747584526 },
					     { 0, 32, 4.747352194 },
					     { 0, 256, 4.760104791 },
					     { 0, 2048, 4.759459336 } };
	const struct binomial_case c = { 42, 40, 0.5, 0.1, 0.2 };

	for (size_t k = 0; k < sizeof(hull) / sizeof(*hull); k++) {
		near("tree", hull[k].steps, tree(&c, hull[k].steps), hull[k].price, 1e-9);
		near("sum", hull[k].steps, sum(&c, hull[k].steps), hull[k].price, 1e-9);
	}
	near("limit", 0, binomial_limit(&c), 4.759422393, 1e-9);
}

/* ---- many ------------------------------------------------------------------------------- */

static double total(uint32_t options, int64_t steps, uint64_t seed)
{
	double all = 0;

	for (uint32_t i = 0; i < options; i++) {
		struct binomial_case c = make_case(i, seed);

		all += sum(&c, steps);
	}
	return all;
}

Test(small_binomial_reference, sums_are_the_known_ones)
{
	near("64 options", 16, total(64, 16, 1), 164.235252362, 1e-8);
	near("64 options", 64, total(64, 64, 1), 164.934996574, 1e-8);
	near("64 options", 256, total(64, 256, 1), 165.110608500, 1e-8);
	near("64 options", 1024, total(64, 1024, 1), 165.161362336, 1e-8);
	near("256 options", 2048, total(256, 2048, 1), 638.437824340, 1e-7);
	near("16 options", 8192, total(16, 8192, 1), 66.064356774, 1e-8);
	near("16 options, seed 7", 2048, total(16, 2048, 7), 98.754517384, 1e-8);
}

/* The price by all nodes of the tree, and by its leaves alone. */
Test(small_binomial_reference, tree_and_sum_agree)
{
	static const int64_t steps[] = { 4, 5, 64, 257 };

	for (size_t k = 0; k < sizeof(steps) / sizeof(*steps); k++)
		for (uint32_t i = 0; i < 64; i++) {
			struct binomial_case c = make_case(i, 3);

			near("tree", steps[k], tree(&c, steps[k]), sum(&c, steps[k]), 1e-10);
		}
}

/* First order: four times the steps leave a quarter of the distance. */
Test(small_binomial_reference, trees_converge_to_the_formula)
{
	static const int64_t steps[] = { 16, 64, 256, 1024 };
	static const double distance[] = { 5.7e-3, 1.5e-3, 4.1e-4, 9.9e-5 };

	for (int k = 0; k < 4; k++) {
		double off = 0, all = 0;

		for (uint32_t i = 0; i < 64; i++) {
			struct binomial_case c = make_case(i, 1);
			double limit = binomial_limit(&c);

			off += fabs(sum(&c, steps[k]) - limit);
			all += limit;
		}
		near("distance", steps[k], off / all, distance[k], 0.03 * distance[k]);
	}
}

/* ---- options ---------------------------------------------------------------------------- */

static void hash_is(uint32_t options, uint64_t seed, uint64_t want)
{
	uint64_t hash = FNV_START;

	for (uint32_t i = 0; i < options; i++) {
		struct binomial_input in = binomial_input(i, 0, seed);

		hash = fnv_add(hash, &in, sizeof(in));
	}
	cr_assert(hash == want, "%u options, seed %lu: %016lx", options, (unsigned long)seed,
		  (unsigned long)hash);
}

Test(small_binomial_reference, options_are_the_known_ones)
{
	struct binomial_input in = binomial_input(0, 0, 1);

	cr_assert(in.S == 18.6137943f && in.X == 1.34826875f && in.T == 8.26431179f, "option 0");
	hash_is(64, 1, 0x000d830b3fa38a95);
	hash_is(256, 1, 0x6b2d811194c04a2b);
	hash_is(16, 7, 0x1e22ead75e30dcc7);
}

/* ---- plans ------------------------------------------------------------------------------ */

/* What is known of the nodes that are left covers them, at the end of every panel. */
static void plan_is_right(int64_t steps)
{
	struct binomial_plan p = binomial_plan(steps);
	int64_t left = steps + 1;

	for (uint32_t i = 0; i < p.panels; i++) {
		int64_t read = 32 * p.panel[i].width + 1, apart = read - p.panel[i].steps;

		left -= p.panel[i].steps;
		cr_assert(p.panel[i].steps >= 1 && apart >= 1 && p.warps * apart >= left,
			  "steps=%ld: panel %u of %u steps, width %u, leaves %ld nodes",
			  (long)steps, i, p.panel[i].steps, p.panel[i].width, (long)left);
		cr_assert((p.warps - 1) * apart + read <= p.smem_floats, "steps=%ld: shared memory",
			  (long)steps);
		cr_assert(p.panel[i].width <= p.widest, "steps=%ld: widest", (long)steps);
	}
	cr_assert(left == 1, "steps=%ld: %ld nodes are left", (long)steps, (long)left);
	cr_assert(p.smem_floats > steps && p.smem_floats <= 4 * 2081, "steps=%ld: %u floats",
		  (long)steps, p.smem_floats);
}

Test(small_binomial_reference, plans_lead_to_the_root)
{
	for (int64_t steps = 1; steps <= BINOMIAL_STEPS_MAX; steps++)
		plan_is_right(steps);
}

/* Nine of ten nodes that are computed are of use. */
Test(small_binomial_reference, plans_waste_little)
{
	struct binomial_plan p = binomial_plan(2048);

	near("of use", 2048, binomial_useful(&p), 0.921, 1e-3);
	p = binomial_plan(8192);
	near("of use", 8192, binomial_useful(&p), 0.897, 1e-3);
	p = binomial_plan(1);
	near("of use", 1, binomial_useful(&p), 1.0 / 32, 1e-12);
}
