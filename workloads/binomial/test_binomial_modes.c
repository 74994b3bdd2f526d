/*
 * test_binomial_modes.c - steps of data=resident: the same bits in every mode, slots in turn,
 * several launches a step, and what the check finds.
 */
#include "tests/plain.h"
#include "workloads/binomial/test_binomial.h"

#include "tests/races.h"
#include "workloads/binomial/inputs.h"
#include "workloads/binomial/reference.h"

TestSuite(small_binomial_modes, .timeout = 300);
TestSuite(large_binomial_modes, .timeout = 300);

/* Fewer steps than slots, as many, and more; the last block has warps without a tree. */
Test(small_binomial_modes, stream_graph_and_fused_give_the_same_bits)
{
	static const int64_t depths[] = { 1, 3, 7 };
	struct binomial_opts o = make_opts(RACES ? 20 : 129, RACES ? 6 : 17);
	struct run *r;

	need_device();
	o.set.slots = 3;
	r = run_begin(o);
	for (size_t i = 0; i < sizeof(depths) / sizeof(*depths); i++)
		run_modes_agree(r, depths[i], 3);
	run_end(r);
}

/* A tree to all warps of a block, which exchange nodes. */
Test(small_binomial_modes, a_team_gives_the_same_bits)
{
	struct binomial_opts o = make_opts(2049, 1);
	struct run *r;

	need_device();
	r = run_begin(o);
	if (RACES) {
		run_fused(r, 1);
		run_passes(r, 1);
	} else
		run_modes_agree(r, 2, 3);
	run_end(r);
}

Test(small_binomial_modes, graphs_go_on_where_the_last_one_ended)
{
	run_graphs_go_on(make_opts(16, 10));
}

/* As many launches as it takes, the last of which counts the step. */
Test(small_binomial_modes, a_step_of_several_launches)
{
	static const int64_t most[] = { 1, 4, 7, 19, 20, 21 };
	float *want, *got;
	struct run *r;
	size_t bytes;

	need_device();
	r = run_begin(make_opts(16, 20));
	run_steps(r, 2);
	want = run_outputs(r, &bytes);
	run_end(r);
	for (size_t i = 0; i < sizeof(most) / sizeof(*most); i += RACES ? 2 : 1) {
		struct binomial_opts o = make_opts(16, 20);

		o.launch_options = most[i];
		r = run_begin(o);
		run_graph(r, 2);
		run_passes(r, 2);
		got = run_outputs(r, &bytes);
		cr_assert(!memcmp(want, got, bytes), "launch_options=%ld", (long)most[i]);
		free(got);
		run_end(r);
	}
	free(want);
}

/* ---- what the check finds --------------------------------------------------------------- */

static void again(struct run *r)
{
	run_reset(r);
	run_steps(r, 1);
	run_passes(r, 1);
}

static void put(float *p, float value)
{
	CUDA(cudaMemcpy(p, &value, sizeof(value), cudaMemcpyHostToDevice));
}

Test(small_binomial_modes, the_check_finds_what_is_wrong)
{
	enum { LAST = 7 }; /* of eight in two slots, of which one step comes to the first */
	struct run *r;
	float *out;

	need_device();
	r = run_begin(make_opts(16, LAST + 1));
	out = device_out(r, 0);
	again(r);
	put(out + LAST, 12345);
	run_fails(r, 1, "option 7, slot 0: 12345, off by");
	again(r);
	CUDA(cudaMemset(out + LAST, SLOTS_POISON_REAL, sizeof(float)));
	run_fails(r, 1, "no price, slot 0, option 7");
	again(r);
	put(out + LAST + 1, 0);
	run_fails(r, 1, "written where nothing was to be, slot 0, option 8");
	again(r);
	put(device_out(r, 1) + 5, 0);
	run_fails(r, 1, "written where nothing was to be, slot 1, option 5");
	run_reset(r);
	run_fails(r, 1, "0 steps were counted, not 1");
	run_end(r);
}

/* Prices that are off by little show in their sum alone. */
Test(small_binomial_modes, the_check_finds_many_small_errors)
{
	enum { MANY = 64 };
	float value[MANY];
	struct run *r;

	need_device();
	r = run_begin(make_opts(16, MANY));
	run_steps(r, 1);
	CUDA(cudaMemcpy(value, device_out(r, 0), sizeof(value), cudaMemcpyDeviceToHost));
	for (int i = 0; i < MANY; i++)
		value[i] += 3e-5f;
	CUDA(cudaMemcpy(device_out(r, 0), value, sizeof(value), cudaMemcpyHostToDevice));
	run_fails(r, 1, "off by");
	run_end(r);
}

/* What a float form would give, without the work of 4096 steps. */
static void put_prices(struct run *r, int64_t steps)
{
	double *logs = malloc(((size_t)steps + 1) * sizeof(*logs));
	float *price = malloc((size_t)r->o.options * sizeof(*price));

	CHECK(logs && price, "memory");
	binomial_logs(steps, logs);
	for (int64_t i = 0; i < r->o.options; i++) {
		struct binomial_input in = binomial_input((uint32_t)i, 0, 1);
		const struct binomial_case c = { in.S, in.X, in.T, 0.06, 0.1 };

		price[i] = (float)binomial_sum(&c, steps, logs);
	}
	CUDA(cudaMemcpy(device_out(r, 0), price, (size_t)r->o.options * sizeof(*price),
			cudaMemcpyHostToDevice));
	free(price);
	free(logs);
}

/* Where there are many leaves a sample is compared, with the ends; no price may be poison. */
Test(large_binomial_modes, a_sample_of_many_is_compared)
{
	enum { MANY = 6000, STEPS = 4096 };
	struct binomial_opts o = make_opts(16, MANY);
	struct verdict v;
	struct run *r;

	need_device();
	o.set.slots = 1;
	r = run_begin(o);
	run_steps(r, 1);
	r->o.steps = STEPS;
	put_prices(r, STEPS);
	v = run_check(r, 1, false);
	cr_assert(v.passed && v.compared < MANY / 2 && v.compared >= 18, "%g: %s, %ld", v.error,
		  v.worst, (long)v.compared);
	put(device_out(r, 0) + MANY - 1, 77);
	v = run_check(r, 1, false);
	cr_assert(!v.passed && strstr(v.worst, "option 5999, slot 0: 77"), "%s", v.worst);
	CUDA(cudaMemset(device_out(r, 0) + 4321, SLOTS_POISON_REAL, sizeof(float)));
	v = run_check(r, 1, false);
	cr_assert(!v.passed && strstr(v.worst, "no price, slot 0, option 4321"), "%s", v.worst);
	run_end(r);
}
