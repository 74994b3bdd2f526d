/*
 * test_launch_reference.c - the reference of the launch workload against numbers worked out in
 * other ways, and the formulas that size its kernels.
 */
/* sanitizers: one thread */
#include "tests/plain.h"
#include "workloads/launch/probe.h"

TestSuite(small_launch_reference, .timeout = 300);

static float as_float(uint32_t bits)
{
	float x;

	memcpy(&x, &bits, sizeof(x));
	return x;
}

/* By hand: 1/8, then 1/64 - 15/8, then the square of that less 15/8; exact so far. */
Test(small_launch_reference, chains_begin_as_worked_out_by_hand)
{
	cr_assert(as_float(launch_chain_end(0, 0)) == 0.125f, "start 0");
	cr_assert(as_float(launch_chain_end(7, 0)) == 0.5625f, "start 7");
	cr_assert(as_float(launch_chain_end(0, 1)) == -119.0f / 64, "one link");
	cr_assert(as_float(launch_chain_end(0, 2)) == 119.0f * 119 / 4096 - 15.0f / 8, "two links");
}

/* 113 bits hold x^2 - 15/8 without rounding, so the one to float is the only one. */
static float link_in_quad(float x)
{
	return (float)((__float128)x * x - (__float128)15 / 8);
}

Test(small_launch_reference, every_link_rounds_once)
{
	for (int start = 0; start < LAUNCH_STARTS; start++) {
		float x = as_float(launch_chain_end(start, 0));

		for (int64_t n = 1; n <= 3000; n++) {
			x = link_in_quad(x);
			if (n % 7 && n > 20)
				continue; /* the reference starts from the beginning every time */
			cr_assert(as_float(launch_chain_end(start, n)) == x, "start %d, link %ld",
				  start, (long)n);
		}
	}
}

/* A chain that has settled would not show a link too many. */
Test(small_launch_reference, chains_do_not_settle)
{
	const int64_t lengths[] = { 1, 100, 10000, 495000, 5000000 };

	for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++)
		for (int start = 0; start < LAUNCH_STARTS; start++) {
			float x = as_float(launch_chain_end(start, lengths[i]));
			float next = as_float(launch_chain_end(start, lengths[i] + 1));

			cr_assert(x >= -2 && x <= 2 && x != next, "start %d, %ld links: %g, %g",
				  start, (long)lengths[i], x, next);
		}
}

Test(small_launch_reference, starts_differ)
{
	for (int a = 0; a < LAUNCH_STARTS; a++)
		for (int b = 0; b < a; b++)
			cr_assert(launch_chain_end(a, 500) != launch_chain_end(b, 500), "%d and %d",
				  a, b);
}

Test(small_launch_reference, sums_of_arguments_by_hand)
{
	const uint64_t word[3] = { 7ull << 32 | 5, 10, 1ull << 63 };

	cr_assert(launch_args_sum(word, 1) == 5, "units are left out");
	cr_assert(launch_args_sum(word, 2) == 5 + 30, "two words");
	cr_assert(launch_args_sum(word, 3) == 5 + 30 + (1ull << 63), "modulo 2^64");
}

/* ---- formulas --------------------------------------------------------------------------- */

static const struct launch_device h200 = { 9, 0, 1980000, 132, 32 };
static const struct launch_device a100 = { 8, 0, 1410000, 108, 32 };
static const struct launch_device a10 = { 8, 6, 1695000, 72, 16 };
static const struct launch_device cpu = { 0, 0, 0, 2, 1 };

Test(small_launch_reference, cycles_come_from_the_device_or_the_user)
{
	const struct launch_device silent = { 9, 0, 0, 132, 32 };

	cr_assert(launch_cycles_per_us(&h200, 0) == 1980, "as the device says");
	cr_assert(launch_cycles_per_us(&h200, 345) == 345, "as the user says");
	cr_assert(launch_cycles_per_us(&cpu, 0) == 1000, "nanoseconds");
	cr_assert(launch_cycles_per_us(&silent, 0) == 0, "unknown");
	cr_assert(launch_cycles_per_us(&silent, 1000) == 1000, "unknown, but given");
}

Test(small_launch_reference, multiply_adds_by_latency_or_by_throughput)
{
	cr_assert(launch_cycles_per_fma(&h200, LAUNCH_WIDTH_BLOCK) == 4, "a warp alone");
	cr_assert(launch_cycles_per_fma(&h200, LAUNCH_WIDTH_WAVE) == 4, "a warp each");
	cr_assert(launch_cycles_per_fma(&h200, LAUNCH_WIDTH_FULL) == 8, "1024 threads, 128 units");
	cr_assert(launch_cycles_per_fma(&a100, LAUNCH_WIDTH_FULL) == 16, "1024 threads, 64 units");
	cr_assert(launch_cycles_per_fma(&a10, LAUNCH_WIDTH_FULL) == 4, "512 threads, 128 units");
	cr_assert(launch_cycles_per_fma(&cpu, LAUNCH_WIDTH_BLOCK) == 32, "one after the other");
}

Test(small_launch_reference, grids)
{
	cr_assert(launch_blocks(&h200, LAUNCH_WIDTH_BLOCK) == 1, "block");
	cr_assert(launch_blocks(&h200, LAUNCH_WIDTH_WAVE) == 132, "wave");
	cr_assert(launch_blocks(&h200, LAUNCH_WIDTH_FULL) == 4224, "full");
	cr_assert(launch_blocks(&cpu, LAUNCH_WIDTH_FULL) == 2, "CPU device");
}

/* ---- the launch queue ------------------------------------------------------------------- */

Test(small_launch_reference, the_call_that_was_stuck_ends_the_queue)
{
	int64_t call_ns[1000];

	for (int i = 0; i < 1000; i++)
		call_ns[i] = 2400 + i % 7;
	cr_assert(launch_queue_depth(call_ns, 0) == -1, "none");
	cr_assert(launch_queue_depth(call_ns, 1) == -1, "nothing to compare with");
	cr_assert(launch_queue_depth(call_ns, 1000) == -1, "none was stuck");
	call_ns[999] = 20 * 2403;
	cr_assert(launch_queue_depth(call_ns, 1000) == -1, "20 times the median");
	call_ns[999]++;
	cr_assert(launch_queue_depth(call_ns, 1000) == 999, "and more");
	/* an interrupt in between is not it */
	call_ns[500] = 400000000;
	cr_assert(launch_queue_depth(call_ns, 1000) == 999, "the last counts");
	cr_assert(call_ns[500] == 400000000, "times are left in their order");
}
