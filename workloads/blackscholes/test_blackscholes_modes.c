/*
 * test_blackscholes_modes.c - steps of data=resident: the same bits in every mode, slots in turn,
 * sizes with a tail, and what the check finds.
 */
#include "tests/plain.h"
#include "workloads/blackscholes/test_options.h"

#include "tests/races.h"

TestSuite(small_blackscholes_modes, .timeout = 300);
TestSuite(large_blackscholes_modes, .timeout = 300);

enum { N = 1 << 14 };

/* Fewer steps than slots, as many, and more. */
Test(small_blackscholes_modes, stream_graph_and_fused_give_the_same_bits)
{
	static const int64_t depths[] = { 1, 2, 3, 7 };
	struct blackscholes_opts o = make_opts(RACES ? 2051 : 5000);
	struct run *r;

	need_device();
	o.set.slots = 3;
	r = run_begin(o);
	for (size_t i = 0; i < sizeof(depths) / sizeof(*depths); i++)
		run_modes_agree(r, depths[i], 3);
	run_end(r);
}

Test(small_blackscholes_modes, graphs_go_on_where_the_last_one_ended)
{
	run_graphs_go_on(make_opts(1000));
}

/*
 * Sizes around the four options of a thread, the 1024 of a block, and the 64 that arrays end at.
 * The largest has more blocks than the step counter has parts (common/slots.h).
 */
Test(small_blackscholes_modes, any_number_of_options)
{
	static const int64_t sizes[] = { 1,  2,	 3,   4,    5,	  7,	63,   64,
					 65, 67, 255, 1023, 1024, 1025, 2047, 66 * 1024 + 1 };

	need_device();
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i += RACES ? 3 : 1) {
		struct run *r = run_begin(make_opts(sizes[i]));

		run_steps(r, 3);
		run_passes(r, 3);
		run_end(r);
	}
}

Test(small_blackscholes_modes, every_function_and_market)
{
	need_device();
	for (int kind = 0; kind < 4; kind++) {
		struct blackscholes_opts o = make_opts(RACES ? 2048 : N);
		struct run *r;

		o.cnd = kind / 2;
		o.math = kind % 2;
		o.set.slots = 1;
		o.rate = kind ? 0.05 * kind : -0.1;
		o.volatility = kind ? 0.1 * kind : 0.5;
		o.seed = 7 + kind;
		r = run_begin(o);
		run_steps(r, 2);
		run_passes(r, 2);
		run_end(r);
	}
}

enum { SOME = 3 * 1024 + 1, MOST = 8 * 1024 + 1 }; /* options: of 4 and 9 blocks */

/* Prices of slot 2 after six steps. Gives the blocks of a launch that took tickets, 0: none did. */
static uint32_t six_steps(struct blackscholes_opts o, uint32_t resident, float put[MOST])
{
	struct run *r = run_begin(o);
	struct slots_counter c;

	r->s.resident = resident;
	run_steps(r, 2);
	run_graphs(r, 2, 2);
	run_passes(r, 6);
	run_fails(r, 5, "6 steps were counted, not 5");
	CUDA(cudaMemcpy(&c, r->s.set.counter, sizeof(c), cudaMemcpyDeviceToHost));
	CUDA(cudaMemcpy(put, device_out(r, 1, o.set.slots - 1), (size_t)o.options * sizeof(*put),
			cudaMemcpyDeviceToHost));
	run_end(r);
	return c.part[0].tickets ? c.part[0].blocks : 0;
}

/*
 * The same bits, however many blocks a launch has: one for each 1024 options; or, of two slots and
 * more, as many as the device is said to hold, which go through the options.
 */
Test(small_blackscholes_modes, dependent_launches_give_the_same_bits)
{
	static const struct {
		int64_t options, slots;
		uint32_t resident, blocks;
	} cases[] = {
		{ 1, 3, 2, 1 },	       { 1023, 3, 2, 1 }, { SOME, 3, 4, 4 },
		{ SOME, 3, 3, 3 },     { SOME, 2, 2, 2 }, { SOME, 1, 2, 4 },
		{ MOST - 1, 2, 1, 1 }, { MOST, 2, 1, 9 }, /* more than eight rounds */
	};
	static float want[MOST], got[MOST];

	need_device();
	if (programmatic_check(PROGRAMMATIC_YES))
		cr_skip("launches overlap from compute capability 9.0 on");
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct blackscholes_opts o = make_opts(cases[i].options);

		o.set.slots = cases[i].slots;
		cr_assert(!six_steps(o, cases[i].resident, want), "tickets, but nothing overlaps");
		o.launch = PROGRAMMATIC_YES;
		cr_assert(six_steps(o, cases[i].resident, got) == cases[i].blocks, "case %zu", i);
		cr_assert(!memcmp(want, got, (size_t)o.options * sizeof(*got)), "case %zu", i);
	}
}

/* ---- what the check finds --------------------------------------------------------------- */

static void spoil(struct run *r, float *p, float value)
{
	(void)r;
	CUDA(cudaMemcpy(p, &value, sizeof(value), cudaMemcpyHostToDevice));
}

static void again(struct run *r)
{
	run_reset(r);
	run_steps(r, 1);
	run_passes(r, 1);
}

Test(small_blackscholes_modes, the_check_finds_what_is_wrong)
{
	enum { LAST = 2047 }; /* of 2048 in two slots, of which one step comes to the first */
	struct run *r;
	float *call, *put;

	need_device();
	r = run_begin(make_opts(LAST + 1));
	call = device_out(r, 0, 0);
	put = device_out(r, 1, 0);
	again(r);
	spoil(r, put + LAST, 12345);
	run_fails(r, 1, "put of option 2047, slot 0: off by");
	again(r);
	CUDA(cudaMemset(call + LAST, SLOTS_POISON_REAL, sizeof(float)));
	run_fails(r, 1, "no price, slot 0, option 2047");
	again(r);
	spoil(r, call + LAST + 1, 0);
	run_fails(r, 1, "written where nothing was to be, slot 0, option 2048");
	again(r);
	spoil(r, device_out(r, 1, 1) + 5, 0);
	run_fails(r, 1, "written where nothing was to be, slot 1, option 5");
	run_reset(r);
	run_fails(r, 1, "0 steps were counted, not 1");
	run_end(r);
}

/* A price that is off by little, in many options, shows in the sums alone. */
Test(small_blackscholes_modes, the_check_finds_many_small_errors)
{
	enum { MANY = 4096 };
	float value[MANY];
	struct run *r;

	need_device();
	r = run_begin(make_opts(MANY));
	run_steps(r, 1);
	CUDA(cudaMemcpy(value, device_out(r, 0, 0), sizeof(value), cudaMemcpyDeviceToHost));
	for (int i = 0; i < MANY; i++)
		value[i] += 2e-5f;
	CUDA(cudaMemcpy(device_out(r, 0, 0), value, sizeof(value), cudaMemcpyHostToDevice));
	run_fails(r, 1, "off by");
	run_end(r);
}

/* Above 2^20 options a sample is compared; all outputs are looked at for poison. */
Test(large_blackscholes_modes, a_sample_of_many_is_compared)
{
	struct blackscholes_opts o = make_opts((1 << 20) + 12345);
	struct verdict v;
	struct run *r;

	need_device();
	o.set.slots = 1;
	r = run_begin(o);
	run_steps(r, 1);
	v = run_check(r, 1, false);
	cr_assert(v.passed && v.compared < v.total && v.compared >= 1 << 20, "%g: %s, %ld", v.error,
		  v.worst, (long)v.compared);
	CUDA(cudaMemset(device_out(r, 1, 0) + 999999, SLOTS_POISON_REAL, sizeof(float)));
	v = run_check(r, 1, false);
	cr_assert(!v.passed && strstr(v.worst, "no price, slot 0, option 999999"), "%s", v.worst);
	run_end(r);
}
