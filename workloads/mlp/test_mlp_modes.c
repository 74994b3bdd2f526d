/*
 * test_mlp_modes.c - the same bits in every mode, at every depth, forked or not; the same network
 * in few launches and in many.
 */
#include "tests/plain.h"
#include "tests/races.h"
#include "workloads/mlp/test_mlp.h"

TestSuite(small_mlp_modes, .timeout = 300);
TestSuite(large_mlp_modes, .timeout = 300);

/* n steps, one by one, in graphs of 1, n / 2 and n: the same weights and velocities. */
static void expect_same_bits(struct mlp_opts o, int n)
{
	const int depth[] = { 1, n / 2, n };
	struct run *r = run_begin(o);
	uint64_t bits;

	run_steps(r, n);
	bits = run_bits(r);
	for (int i = 0; i < 3; i++) {
		run_reset(r);
		cr_assert(run_bits(r) != bits, "the reset does nothing");
		run_graphs(r, depth[i], n / depth[i]);
		cr_assert(mlp_steps_done(&r->s) == (uint64_t)n, "%lu steps",
			  (unsigned long)mlp_steps_done(&r->s));
		cr_assert(run_bits(r) == bits, "graphs of %d differ", depth[i]);
	}
	run_end(r);
}

Test(small_mlp_modes, stream_and_graph_give_the_same_bits)
{
	static const int64_t width[] = { 12, 9, 8 };
	struct mlp_opts o = hidden_opts(3, width);

	need_device();
	o.batch = 9;
	expect_same_bits(o, 4);
	o.launches = MLP_MANY;
	expect_same_bits(o, 4);
}

Test(large_mlp_modes, so_do_all_variants)
{
	static const int64_t width[] = { 40, 24, 16 };
	struct mlp_opts o = hidden_opts(3, width);

	need_device();
	o.batch = 37;
	expect_same_bits(o, 24);
	o.fork = MLP_FORK_ALWAYS;
	expect_same_bits(o, 24);
	o.epilogues = MLP_EPILOGUES_NO;
	expect_same_bits(o, 24);
	o.launches = MLP_MANY;
	expect_same_bits(o, 24);
	o.input = MLP_HOST;
	expect_same_bits(o, 24);
	expect_same_bits(default_opts(), 24);
}

static uint64_t weight_bits(struct mlp_opts o, int64_t steps)
{
	struct run *r = run_begin(o);
	uint64_t bits;

	run_steps(r, steps);
	bits = run_bits(r);
	run_end(r);
	return bits;
}

Test(small_mlp_modes, a_fork_changes_no_bit_and_a_seed_does)
{
	static const int64_t width[] = { 12, 9, 8 };
	struct mlp_opts o = hidden_opts(3, width), other;
	uint64_t bits;

	need_device();
	o.batch = 9;
	bits = weight_bits(o, 3);
	other = o;
	other.fork = MLP_FORK_ALWAYS;
	cr_assert(weight_bits(other, 3) == bits, "forked");
	other = o;
	other.seed = 2;
	cr_assert(weight_bits(other, 3) != bits, "another seed");
	other = o;
	other.data_seed = 2;
	cr_assert(weight_bits(other, 3) != bits, "other images");
	other = o;
	other.momentum = 0.8;
	cr_assert(weight_bits(other, 3) != bits, "another momentum");
	other = o;
	other.rate = 0.021;
	cr_assert(weight_bits(other, 3) != bits, "another rate");
}

/* All variants are one network: weights after 8 steps agree to rounding. */
Test(small_mlp_modes, few_and_many_launches_agree)
{
	static const int64_t width[] = { 16, 12 };
	struct mlp_opts o = hidden_opts(2, width);
	struct run *r[4];
	double *w[4];

	need_device();
	o.batch = 10;
	for (int i = 0; i < 4; i++) {
		o.epilogues = i == 3 ? MLP_EPILOGUES_YES : i;
		o.launches = i == 3 ? MLP_MANY : MLP_FEW;
		r[i] = run_begin(o);
		run_steps(r[i], 8);
		w[i] = fetch_numbers(r[i], r[i]->s.weight);
	}
	for (int i = 1; i < 4; i++) {
		struct mlp_norms n = { 0, 0 };

		for (size_t k = 0; k < r[0]->s.net.numbers; k++)
			mlp_compare(&n, w[i][k], w[0][k]);
		cr_assert(mlp_relative(&n) < 1e-4, "variant %d is off by %g", i, mlp_relative(&n));
	}
	for (int i = 0; i < 4; i++) {
		free(w[i]);
		run_end(r[i]);
	}
}

/* A launch for each operation, or a few: what is counted is what README.md says. */
Test(small_mlp_modes, launches_are_as_few_as_promised)
{
	static const int64_t width[] = { 16, 16, 16 };

	need_device();
#ifndef RIFT_CPU_DEVICE
	cr_skip("on a GPU a product may be two kernels");
#endif
	for (int hidden = 1; hidden <= (RACES ? 1 : 3); hidden++) {
		struct mlp_opts o = hidden_opts(hidden, width);
		struct run *r = run_begin(o);

		cr_assert(r->s.kernels == 3 * hidden + 2, "%d hidden: %d", hidden, r->s.kernels);
		run_end(r);
		o.epilogues = MLP_EPILOGUES_FORWARD;
		r = run_begin(o);
		cr_assert(r->s.kernels == 4 * hidden + 1, "%d hidden: %d", hidden, r->s.kernels);
		run_end(r);
		o.epilogues = MLP_EPILOGUES_NO;
		r = run_begin(o);
		cr_assert(r->s.kernels == 3 * hidden + 2 + 2 * hidden - 1, "%d hidden: %d", hidden,
			  r->s.kernels);
		run_end(r);
		o.launches = MLP_MANY;
		r = run_begin(o);
		cr_assert(r->s.kernels == 14 + 11 * hidden, "%d hidden: %d", hidden, r->s.kernels);
		run_end(r);
	}
}

/* ---- launches=one ---------------------------------------------------------------------- */

/* The network that it is made for, on a GPU that has room for it. */
static struct mlp_opts one_opts(int64_t batch)
{
	struct mlp_opts o = default_opts();
	const char *refused;

	need_device();
	refused = mlp_one_refused();
	if (refused)
		cr_skip("%s", refused);
	o.batch = batch;
	o.launches = MLP_ONE;
	return o;
}

/* However many minibatches a launch has: the same bits. */
static void expect_same_bits_fused(struct mlp_opts o, int n)
{
	const int at_once[] = { n, n / 2, 1 };
	struct run *r = run_begin(o);
	uint64_t bits;

	run_steps(r, n);
	bits = run_bits(r);
	for (int i = 0; i < 3; i++) {
		run_reset(r);
		for (int done = 0; done < n; done += at_once[i])
			cr_assert(!mlp_fused(&r->o, &r->s, r->s.own, at_once[i]));
		CUDA(cudaDeviceSynchronize());
		cr_assert(mlp_steps_done(&r->s) == (uint64_t)n);
		cr_assert(run_bits(r) == bits, "%d at once differ", at_once[i]);
	}
	run_end(r);
}

Test(small_mlp_modes, one_launch_gives_the_same_bits)
{
	expect_same_bits(one_opts(64), 24);
	expect_same_bits_fused(one_opts(64), 24);
	expect_same_bits_fused(one_opts(17), 24);
}

/* Every step of 40, with minibatches that fill their tiles and such that do not. */
Test(small_mlp_modes, one_launch_passes_the_check)
{
	static const int64_t batch[] = { 64, 63, 17, 16, 1 };

	for (int i = 0; i < 5; i++) {
		struct run *r = run_begin(one_opts(batch[i]));
		struct verdict v;

		run_steps(r, 40);
		v = run_verdict(r, 40, true);
		cr_assert(v.passed, "batch of %ld: %g of what is allowed, %s", (long)batch[i],
			  v.error, v.worst);
		run_end(r);
	}
}

Test(small_mlp_modes, one_launch_is_the_network_of_a_few)
{
	struct mlp_opts o = one_opts(64);
	struct mlp_norms n = { 0, 0 };
	struct run *r[2];
	double *w[2];

	for (int i = 0; i < 2; i++) {
		o.launches = i ? MLP_ONE : MLP_FEW;
		r[i] = run_begin(o);
		run_steps(r[i], 20);
		w[i] = fetch_numbers(r[i], r[i]->s.weight);
	}
	for (size_t k = 0; k < r[0]->s.net.numbers; k++)
		mlp_compare(&n, w[1][k], w[0][k]);
	cr_assert(mlp_relative(&n) < 1e-4, "off by %g", mlp_relative(&n));
	for (int i = 0; i < 2; i++) {
		free(w[i]);
		run_end(r[i]);
	}
}
