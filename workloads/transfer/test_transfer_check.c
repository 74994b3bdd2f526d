/*
 * test_transfer_check.c - the check passes on copies that came, and on nothing else: copies that
 * are lost, short, long, from or to a wrong place, and single bits.
 */
#include "tests/plain.h"
#include "tests/races.h"
#include "workloads/transfer/measure.h"
#include "workloads/transfer/test_copies.h"

#include <dlfcn.h>

TestSuite(small_transfer_check, .timeout = 300);
TestSuite(large_transfer_check, .timeout = 300);

/* ---- a layer below that misbehaves ------------------------------------------------------ */

enum fault { NONE, LOST, SHORT, LONG, FROM_ELSEWHERE, TO_ELSEWHERE };

static enum fault fault;
static int copies_until_fault;
static int lost_kind = -1; /* of enum cudaMemcpyKind: all such copies are lost */

typedef cudaError_t copy_fn(void *, const void *, size_t, enum cudaMemcpyKind, cudaStream_t);

cudaError_t cudaMemcpyAsync(void *dst, const void *src, size_t bytes, enum cudaMemcpyKind kind,
			    cudaStream_t stream)
{
	copy_fn *real = (copy_fn *)dlsym(RTLD_NEXT, "cudaMemcpyAsync");
	enum fault now = fault && !copies_until_fault-- ? fault : NONE;

	now = (int)kind == lost_kind ? LOST : now;
	switch (now) {
	case LOST:
		return cudaSuccess;
	case SHORT:
		return real(dst, src, bytes - 1, kind, stream);
	case LONG:
		return real(dst, src, bytes + 1, kind, stream);
	case FROM_ELSEWHERE:
		return real(dst, (const char *)src + 8, bytes, kind, stream);
	case TO_ELSEWHERE:
		return real((char *)dst + 1, src, bytes, kind, stream);
	default:
		return real(dst, src, bytes, kind, stream);
	}
}

static bool blind; /* no launch does anything */

cudaError_t cudaLaunchKernel(const void *func, dim3 grid, dim3 block, void **args, size_t shared,
			     cudaStream_t stream)
{
	cudaError_t (*real)(const void *, dim3, dim3, void **, size_t, cudaStream_t) =
		(cudaError_t(*)(const void *, dim3, dim3, void **, size_t, cudaStream_t))dlsym(
			RTLD_NEXT, "cudaLaunchKernel");

	return blind ? cudaSuccess : real(func, grid, block, args, shared, stream);
}

/* ---- passes ----------------------------------------------------------------------------- */

static void passes(struct transfer_opts o, int64_t steps)
{
	struct run *r = run_begin(o);
	struct verdict v;

	run_steps(r, steps);
	v = run_verdict(r, steps);
	cr_assert(v.passed, "%ld bytes, %ld steps: %s", (long)o.bytes, (long)steps, v.worst);
	/* a second block goes on where the first one ended */
	run_reset(r);
	run_steps(r, 3);
	v = run_verdict(r, 3);
	cr_assert(v.passed, "again, %ld bytes: %s", (long)o.bytes, v.worst);
	run_end(r);
}

Test(small_transfer_check, passes_in_each_direction_at_any_size)
{
	const int64_t bytes[] = { 1, 4, 7, 8, 9, 255, 4096, 10001 };

	need_device();
	for (int dir = 0; dir < TRANSFER_DIRS; dir++)
		for (int host = 0; host < TRANSFER_HOSTS; host++)
			for (size_t i = 0; i < sizeof(bytes) / sizeof(*bytes); i += RACES ? 3 : 1)
				passes(make_copy_opts((enum transfer_dir)dir,
						      (enum transfer_host)host, bytes[i]),
				       5);
}

Test(small_transfer_check, passes_at_any_number_of_steps)
{
	const int64_t steps[] = { 0, 1, 63, 64, 65, 200, 1000 };

	need_device();
	for (size_t i = 0; i < (RACES ? 5 : sizeof(steps) / sizeof(*steps)); i++) {
		passes(make_copy_opts(TRANSFER_H2D, TRANSFER_PINNED, 300), steps[i]);
		passes(make_copy_opts(TRANSFER_D2H, TRANSFER_PAGEABLE, 300), steps[i]);
	}
}

Test(small_transfer_check, passes_in_blocks_and_by_cudaMemcpy)
{
	struct transfer_opts o =
		make_copy_opts(TRANSFER_H2D, TRANSFER_REGISTERED, RACES ? 5000 : 100000);

	need_device();
	for (o.split = 1000; o.split <= 1000000; o.split *= 10)
		passes(o, 4);
	o.call = TRANSFER_SYNC;
	passes(o, 4);
	o.dir = TRANSFER_D2H;
	passes(o, 4);
}

static struct transfer_opts strided(int64_t bytes, int64_t stride)
{
	struct transfer_opts o = make_copy_opts(TRANSFER_D2D, TRANSFER_PINNED, bytes);

	o.call = TRANSFER_KERNEL;
	o.stride = stride;
	return o;
}

/* Strides that divide the words and that do not, more than there are words, and no whole word. */
Test(small_transfer_check, passes_by_a_kernel_at_any_stride)
{
	const int64_t bytes[] = { 1, 4, 7, 9, 300, 4096, 10001 };
	const int64_t strides[] = { 1, 2, 3, 32, 1000, 2501, TRANSFER_STRIDE_MAX };
	struct transfer_opts o;

	need_device();
	for (size_t i = 0; i < sizeof(bytes) / sizeof(*bytes); i += RACES ? 3 : 1)
		for (size_t k = 0; k < sizeof(strides) / sizeof(*strides) - RACES; k++)
			passes(strided(bytes[i], strides[k]), 3);
	o = strided(10000, 3);
	o.split = 1004;
	passes(o, 3);
}

/* With as many slots as there is room for, and fewer. */
Test(large_transfer_check, passes_with_large_copies)
{
	need_device();
	for (int dir = 0; dir < TRANSFER_DIRS; dir++)
		for (int64_t bytes = (1 << 20) - 1; bytes <= (1 << 20) + 1; bytes++)
			passes(make_copy_opts((enum transfer_dir)dir, TRANSFER_PAGEABLE, bytes),
			       70);
}

/* A copy that has more room than its neighbours needs is one slot. */
Test(large_transfer_check, passes_where_there_is_one_slot)
{
	need_device();
	passes(make_copy_opts(TRANSFER_D2D, TRANSFER_PINNED, 70 << 20), 3);
}

/* ---- fails ------------------------------------------------------------------------------ */

static void fails(struct transfer_opts o, enum fault what, int at, const char *says)
{
	struct run *r = run_begin(o);
	struct verdict v;

	fault = what;
	copies_until_fault = at;
	run_steps(r, 10);
	fault = NONE;
	v = run_verdict(r, 10);
	cr_assert(!v.passed && v.error > 0 && tells(v.worst, says), "fault %d, direction %d: %s",
		  what, o.dir, v.worst);
	run_end(r);
}

Test(small_transfer_check, fails_on_copies_that_go_wrong)
{
	static const char *const says[] = { "",		 "byte 0 ", "byte 296 ",
					    "byte 296 ", "byte 0 ", "byte 0 " };

	need_device();
	for (int dir = 0; dir < TRANSFER_DIRS; dir++)
		for (int what = LOST; what <= TO_ELSEWHERE; what += RACES ? 2 : 1)
			fails(make_copy_opts((enum transfer_dir)dir, TRANSFER_PINNED, 300),
			      (enum fault)what, 7, says[what]);
}

/* A kernel copies by launches, which may be lost too. */
Test(small_transfer_check, fails_on_a_kernels_copy_that_is_lost)
{
	struct run *r;
	struct verdict v;

	need_device();
	r = run_begin(strided(300, 7));
	run_steps(r, 3);
	blind = true;
	run_steps(r, 1);
	blind = false;
	v = run_verdict(r, 4);
	cr_assert(!v.passed && tells(v.worst, "copy 3 to slot 3: *byte 0"), "%s", v.worst);
	run_end(r);
}

/* One block of many, of the last step. */
Test(small_transfer_check, fails_on_one_block_that_is_lost)
{
	struct transfer_opts o = make_copy_opts(TRANSFER_H2D, TRANSFER_PINNED, 8000);

	o.split = 1000;
	need_device();
	fails(o, LOST, 9 * 8 + 3, "copy 9 to slot 9: *byte 3000");
}

/* A slot that is used again: what lies there is of an earlier copy. */
Test(small_transfer_check, fails_on_a_lost_copy_to_a_used_slot)
{
	struct run *r;

	need_device();
	r = run_begin(make_copy_opts(TRANSFER_D2H, TRANSFER_PINNED, 64));
	run_steps(r, 3 * r->s.slots);
	run_reset(r);
	fault = LOST;
	copies_until_fault = 5;
	run_steps(r, r->s.slots);
	fault = NONE;
	cr_assert(run_verdict(r, r->s.slots).error == 8, "8 words");
	run_end(r);
}

/* Good copies that the device did not look at: no proof, no pass. */
Test(small_transfer_check, fails_where_nothing_was_compared)
{
	struct run *r;
	struct verdict v;

	need_device();
	r = run_begin(make_copy_opts(TRANSFER_H2D, TRANSFER_PINNED, 64));
	run_steps(r, 4);
	blind = true;
	v = run_verdict(r, 4);
	blind = false;
	cr_assert(v.error == (double)r->s.slots * (double)r->s.stride / 8 &&
			  strstr(v.worst, "slot 0: "),
		  "%g: %s", v.error, v.worst);
	run_end(r);
}

Test(small_transfer_check, fails_on_a_missing_step)
{
	struct run *r;
	struct verdict v;

	need_device();
	r = run_begin(make_copy_opts(TRANSFER_H2D, TRANSFER_PINNED, 64));
	run_steps(r, 4);
	v = run_verdict(r, 5);
	cr_assert(!v.passed && tells(v.worst, "4 copies *5"), "%s", v.worst);
	run_end(r);
}

Test(small_transfer_check, fails_on_one_bit)
{
	struct run *r;
	char byte;

	need_device();
	r = run_begin(make_copy_opts(TRANSFER_H2D, TRANSFER_PINNED, 5000));
	run_steps(r, 4);
	CUDA(cudaMemcpy(&byte, r->s.dst.base + 2 * r->s.stride + 4321, 1, cudaMemcpyDeviceToHost));
	byte ^= 0x10;
	CUDA(cudaMemcpy(r->s.dst.base + 2 * r->s.stride + 4321, &byte, 1, cudaMemcpyHostToDevice));
	cr_assert(tells(run_verdict(r, 4).worst, "copy 2 to slot 2: *byte 4320"), "one bit");
	run_end(r);
}

/* ---- copies in turn --------------------------------------------------------------------- */

/* What transfer_measure_turns() returns where all copies of a kind are lost; -1: none. */
static int measure_turns_without(int kind)
{
	enum { BYTES = 10000 };
	static char block[BYTES];
	struct transfer_opts o = make_copy_opts(TRANSFER_D2D, TRANSFER_PAGEABLE, BYTES);
	struct measure_plan plan = transfer_measure_plan(true, NULL);
	struct transfer_state s = { .bytes = 0 };
	struct measure_turns t = { .n = 0 };
	int err = transfer_prepare(&o, &s, true);

	plan.budget_ns = 0;
	lost_kind = kind;
	if (!err)
		err = transfer_measure_turns(BYTES, &s, block, &plan, &t);
	lost_kind = -1;
	cr_assert(err || (t.n >= 5 && t.to_host_us > 0 && t.to_device_us > 0), "%ld turns",
		  (long)t.n);
	transfer_teardown(&s);
	return err;
}

Test(small_transfer_check, copies_in_turn_pass)
{
	need_device();
	cr_assert(measure_turns_without(-1) == 0, "checked");
}

Test(small_transfer_check, copies_in_turn_fail_where_one_direction_is_lost)
{
	need_device();
	cr_assert(measure_turns_without(cudaMemcpyDeviceToHost) == -EIO, "to the host");
	cr_assert(measure_turns_without(cudaMemcpyHostToDevice) == -EIO, "to the device");
}
