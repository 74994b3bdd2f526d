/*
 * test_binomial_values.c - prices by the kernels: trees of any size, both forms, other markets, and
 * the known answers.
 */
/* sanitizers: seen elsewhere */
#include "tests/plain.h"
#include "workloads/binomial/test_binomial.h"

TestSuite(small_binomial_values, .timeout = 300);
TestSuite(large_binomial_values, .timeout = 300);

static void prices(struct binomial_opts o)
{
	struct run *r = run_begin(o);

	run_steps(r, 1);
	run_passes(r, 1);
	run_end(r);
}

/*
 * Around the widths of panels, where the wider kernel begins, and where a team does. In small trees
 * every leaf counts.
 */
Test(small_binomial_values, any_number_of_steps)
{
	static const int64_t steps[] = { 4,  5,	 8,  16,  31,  32,  33,	 63,
					 64, 96, 97, 160, 288, 544, 545, 1055 };

	need_device();
	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++)
		prices(make_opts(steps[i], steps[i] < 100 ? 64 : 17));
}

/* With little drift a tree may have one step. */
Test(small_binomial_values, the_smallest_trees)
{
	need_device();
	for (int64_t steps = 1; steps < 4; steps++) {
		struct binomial_opts o = make_opts(steps, 33);

		o.rate = 0.01;
		prices(o);
	}
}

Test(small_binomial_values, both_forms_and_other_markets)
{
	static const struct {
		double rate, volatility;
		int64_t steps;
	} market[] = { { 0.06, 0.1, 64 }, { -0.1, 0.5, 100 }, { 0, 0.01, 40 }, { 0.3, 1, 257 } };

	need_device();
	for (int form = 0; form < 2; form++)
		for (size_t i = 0; i < sizeof(market) / sizeof(*market); i++) {
			struct binomial_opts o = make_opts(market[i].steps, 20);

			o.form = form;
			o.rate = market[i].rate;
			o.volatility = market[i].volatility;
			o.seed = 7 + (int64_t)i;
			o.set.slots = 1;
			prices(o);
		}
}

/* ---- known answers ---------------------------------------------------------------------- */

struct known {
	int64_t steps;
	double price[4]; /* of options 0 to 3; NAN: not known */
};

/* A float form is off by up to 7.6e-5 at 2048 steps, and 2.4e-4 at 8192. */
static void known_prices(const struct known *k, double within)
{
	struct run *r = run_begin(make_opts(k->steps, 4));
	float price[4];

	run_steps(r, 1);
	CUDA(cudaMemcpy(price, device_out(r, 0), sizeof(price), cudaMemcpyDeviceToHost));
	for (int i = 0; i < 4; i++)
		cr_assert(isnan(k->price[i]) || fabs(price[i] - k->price[i]) <= within,
			  "steps=%ld option %d: %.9g, known %.9g", (long)k->steps, i, price[i],
			  k->price[i]);
	run_end(r);
}

Test(small_binomial_values, known_answers)
{
	static const struct known known[] = {
		{ 16, { 17.792634353, 0.000921969, 0.038519938, 21.998686104 } },
		{ 256, { 17.792634353, 0.006101577, NAN, NAN } },
	};

	need_device();
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		known_prices(&known[i], 2e-5);
}

Test(small_binomial_values, known_answers_of_2048_steps)
{
	static const struct known known = {
		2048, { 17.792634353, 0.006433217, 0.059130953, 21.998686170 }
	};

	need_device();
	known_prices(&known, 1e-4);
}

Test(large_binomial_values, known_answers_of_8192_steps)
{
	static const struct known known = { 8192, { 17.792634353, 0.006477643, NAN, NAN } };

	need_device();
	known_prices(&known, 3e-4);
}

/* Where one warp is followed by four, and both forms of large trees. */
Test(large_binomial_values, large_trees)
{
	static const int64_t steps[] = { 2047, 2048, 2049, 3000, 4097, 8191 };

	need_device();
	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		struct binomial_opts o = make_opts(steps[i], 3);

		o.form = i % 2 ? BINOMIAL_TWO : BINOMIAL_LERP;
		prices(o);
	}
}
