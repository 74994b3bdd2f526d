/*
 * test_launch_check.c - the workload's check passes on what is right, and on nothing else: lost
 * and doubled launches, arguments and chains with one bit off, spins that are too short.
 */
#include "tests/plain.h"
#include "workloads/launch/test_steps.h"

#include <dlfcn.h>

TestSuite(small_launch_check, .timeout = 300);

/* A launch that does not happen, or happens twice: what a faulty layer below would do. */
static int launches_until_fault = -1;
static bool doubled;

typedef cudaError_t launch_fn(const void *, dim3, dim3, void **, size_t, cudaStream_t);

cudaError_t cudaLaunchKernel(const void *func, dim3 grid, dim3 block, void **args, size_t shared,
			     cudaStream_t stream)
{
	launch_fn *real = (launch_fn *)dlsym(RTLD_NEXT, "cudaLaunchKernel");

	if (launches_until_fault < 0 || launches_until_fault--)
		return real(func, grid, block, args, shared, stream);
	return doubled ? real(func, grid, block, args, shared, stream),
	       real(func, grid, block, args, shared, stream) : cudaSuccess;
}

/* ---- passes ----------------------------------------------------------------------------- */

static void passes(struct launch_opts o, int64_t steps)
{
	struct run *r = run_begin(o);
	struct verdict v;

	run_steps(r, steps);
	v = run_check_all(r, steps);
	cr_assert(v.passed, "%ld steps: %s", (long)steps, v.worst);
	run_end(r);
}

Test(small_launch_check, passes_at_any_number_of_steps)
{
	const int64_t steps[] = { 0, 1, 2, 15, 16, 40 };

	need_device();
	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		passes(opts_for(LAUNCH_FILL_SPIN, 0, 1), steps[i]);
		passes(opts_for(LAUNCH_FILL_SPIN, 3, 2), steps[i]);
		passes(opts_for(LAUNCH_FILL_WORK, 3, 3), steps[i]);
	}
}

Test(small_launch_check, passes_with_the_longest_kernels)
{
	need_device();
	passes(opts_for(LAUNCH_FILL_SPIN, LAUNCH_US_MAX, 1), 1);
	passes(opts_for(LAUNCH_FILL_WORK, LAUNCH_US_MAX, 1), 1);
}

Test(small_launch_check, passes_with_another_clock)
{
	struct launch_opts o = opts_for(LAUNCH_FILL_SPIN, 2, 1);

	need_device();
	o.mhz = 100;
	passes(o, 20);
	o.kernel = LAUNCH_FILL_WORK;
	passes(o, 20);
}

/* ---- and fails -------------------------------------------------------------------------- */

/* The check after so many steps must name this. */
static void fails(struct run *r, int64_t steps, const char *names)
{
	struct verdict v = run_check_all(r, steps);

	cr_assert(!v.passed, "passes, where '%s' is wrong", names);
	cr_assert(tells(v.worst, names), "'%s' in: %s", names, v.worst);
}

static void loses_or_doubles(struct launch_opts o, int fault, bool twice, const char *names)
{
	struct run *r = run_begin(o);

	launches_until_fault = fault;
	doubled = twice;
	run_steps(r, 10);
	cr_assert(launches_until_fault < 0, "the fault came");
	fails(r, 10, names);
	run_end(r);
}

Test(small_launch_check, fails_on_a_lost_or_doubled_launch)
{
	need_device();
	loses_or_doubles(default_opts(), 0, false, "runs 9, not 10");
	loses_or_doubles(default_opts(), 9, false, "runs 9, not 10");
	loses_or_doubles(default_opts(), 4, true, "runs 11, not 10");
	loses_or_doubles(opts_for(LAUNCH_FILL_SPIN, 1, 1), 4, false, "runs 9, not 10");
	loses_or_doubles(opts_for(LAUNCH_FILL_WORK, 1, 1), 4, true, "runs 11, not 10");
	/* the other streams' launches come first, the harness's last */
	loses_or_doubles(opts_for(LAUNCH_FILL_WORK, 1, 4), 20, false, "stream 1, block 0: runs 9");
	loses_or_doubles(opts_for(LAUNCH_FILL_WORK, 1, 4), 22, true, "stream 3, block 0: runs 11");
	loses_or_doubles(opts_for(LAUNCH_FILL_WORK, 1, 4), 23, false, "stream 0, block 0: runs 9");
}

Test(small_launch_check, fails_when_steps_are_one_off)
{
	struct run *r;

	need_device();
	r = run_begin(opts_for(LAUNCH_FILL_SPIN, 1, 2));
	run_steps(r, 10);
	fails(r, 9, "runs 10, not 9");
	fails(r, 11, "runs 10, not 11");
	cr_assert(run_check_all(r, 10).passed, "as it should be");
	run_end(r);
}

/* One bit of one word of the last stream's arguments, at one launch of ten. */
static void wrong_argument(enum launch_args args, int word, uint64_t bit)
{
	struct launch_opts o = opts_for(LAUNCH_FILL_SPIN, 0, 3);
	struct run *r;

	o.args = args;
	o.width = LAUNCH_WIDTH_WAVE;
	r = run_begin(o);
	run_steps(r, 9);
	r->s.args[2][word] ^= bit;
	run_steps(r, 1);
	r->s.args[2][word] ^= bit;
	fails(r, 10, "stream 2, block 0: *arguments");
	run_end(r);
}

Test(small_launch_check, fails_on_one_wrong_bit_of_the_arguments)
{
	need_device();
	wrong_argument(LAUNCH_ARGS_8, 0, 1 << 8);
	wrong_argument(LAUNCH_ARGS_8, 0, 1u << 31);
	wrong_argument(LAUNCH_ARGS_256, 1, 1);
	wrong_argument(LAUNCH_ARGS_256, 31, 1ull << 63);
	wrong_argument(LAUNCH_ARGS_4096, 32, 1);
	wrong_argument(LAUNCH_ARGS_4096, 511, 1ull << 63);
}

Test(small_launch_check, fails_on_arguments_that_changed_places)
{
	struct launch_opts o = default_opts();
	struct run *r;
	uint64_t word;

	need_device();
	o.args = LAUNCH_ARGS_4096;
	r = run_begin(o);
	word = r->s.args[0][100];
	r->s.args[0][100] = r->s.args[0][101];
	r->s.args[0][101] = word;
	run_steps(r, 3);
	r->s.args[0][101] = r->s.args[0][100];
	r->s.args[0][100] = word;
	fails(r, 3, "arguments");
	run_end(r);
}

/* Kernels that do something else than the check believes. */
static void wrong_kernel(struct launch_opts o, int cycles, int links, const char *names)
{
	struct run *r = run_begin(o);

	r->s.config.cycles += (unsigned long long)(int64_t)cycles;
	r->s.config.chain += (uint32_t)links;
	run_reset(r);
	run_steps(r, 20);
	r->s.config.cycles -= (unsigned long long)(int64_t)cycles;
	r->s.config.chain -= (uint32_t)links;
	fails(r, 20, names);
	run_end(r);
}

Test(small_launch_check, fails_on_chains_that_are_one_link_off)
{
	const int64_t durations[] = { 1, 10, 1000 };

	need_device();
	for (int i = 0; i < 3; i++) {
		wrong_kernel(opts_for(LAUNCH_FILL_WORK, durations[i], 1), 0, 1, "chains");
		wrong_kernel(opts_for(LAUNCH_FILL_WORK, durations[i], 1), 0, -1, "chains");
	}
}

/* The check asks for 1000 times what was spun: nothing on the way delays kernels so much. */
Test(small_launch_check, fails_on_spins_that_are_too_short)
{
	struct run *r;

	need_device();
	r = run_begin(opts_for(LAUNCH_FILL_SPIN, 20, 1));
	run_steps(r, 20);
	r->s.config.cycles *= 1000;
	fails(r, 20, "shortest spin");
	run_end(r);
}

/* The bound is only for a GPU: elsewhere a spin may be late for reasons of its own. */
Test(small_launch_check, fails_on_spins_that_are_too_long_where_that_is_known)
{
	struct run *r;
	bool gpu;

	need_device();
	r = run_begin(opts_for(LAUNCH_FILL_SPIN, 50, 1));
	gpu = r->s.device.major > 0;
	r->s.config.cycles *= 2;
	run_reset(r);
	run_steps(r, 20);
	r->s.config.cycles /= 2;
	if (gpu)
		fails(r, 20, "shortest spin");
	else
		cr_assert(run_check_all(r, 20).passed, "late is allowed");
	run_end(r);
}

/* Another number in the last block's trace. */
static void spoil(unsigned long long *at, unsigned long long v)
{
	CUDA(cudaMemcpy(at, &v, sizeof(v), cudaMemcpyHostToDevice));
}

Test(small_launch_check, fails_on_one_wrong_block)
{
	struct launch_slot *slot;
	struct run *r;

	need_device();
	r = run_begin(opts_for(LAUNCH_FILL_SPIN, 2, 2));
	run_steps(r, 8);
	spoil(&r->s.config.slot[1].cycles, 8 * r->s.config.cycles - 1);
	fails(r, 8, "stream 1, block 0: cycles spun");
	spoil(&r->s.config.shortest[1], r->s.config.cycles - 1);
	fails(r, 8, "stream 1, block 0: shortest spin");
	spoil(&r->s.config.shortest[1], (unsigned long long)(2e6 * r->s.cycles_per_us));
	fails(r, 8, "stream 1, block 0: shortest spin");
	run_end(r);
	r = run_begin(opts_for(LAUNCH_FILL_WORK, 2, 2));
	run_steps(r, 8);
	slot = run_traces(r);
	spoil(&r->s.config.slot[1].work, slot[1].work ^ 1);
	fails(r, 8, "stream 1, block 0: *chains");
	free(slot);
	run_end(r);
}

/* What a thread would add whose chain is not a number. */
Test(small_launch_check, fails_on_nan)
{
	const float nan = NAN;
	struct launch_slot *slot;
	uint32_t bits;
	struct run *r;

	need_device();
	memcpy(&bits, &nan, sizeof(bits));
	r = run_begin(opts_for(LAUNCH_FILL_WORK, 2, 1));
	run_steps(r, 1);
	slot = run_traces(r);
	spoil(&r->s.config.slot[0].work,
	      slot[0].work - launch_chain_end(0, r->s.config.chain) + bits);
	fails(r, 1, "chains");
	free(slot);
	run_end(r);
}

Test(small_launch_check, counts_every_wrong_block)
{
	struct launch_opts o = opts_for(LAUNCH_FILL_SPIN, 0, 2);
	struct verdict v;
	struct run *r;

	need_device();
	o.width = LAUNCH_WIDTH_FULL;
	r = run_begin(o);
	run_steps(r, 3);
	v = run_check_all(r, 4);
	cr_assert(v.error == (double)v.total && v.total == (int64_t)(2 * r->s.config.blocks),
		  "%g of %ld", v.error, (long)v.total);
	run_end(r);
}
