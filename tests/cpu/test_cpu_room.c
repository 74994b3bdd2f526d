/*
 * test_cpu_room.c - common/room.h where the device's memory is the host's: what is taken at both
 * ends counts twice, and what was allocated counts before it is touched.
 */
#include "tests/plain.h"
#include "common/room.h"

#include "common/cuda_check.h"
#include "tests/cli.h"

TestSuite(small_cpu_room, .timeout = 300);

/* A share of what the device has, in percent. */
static int64_t share(int percent)
{
	size_t left, total;

	CUDA(cudaMemGetInfo(&left, &total));
	return (int64_t)(left / 100) * percent;
}

static void is_refused(int err)
{
	const char *text = diverted_stderr();

	cr_assert(err == -ENOMEM && is_one_complaint(text), "%d: %s", err, text);
}

Test(small_cpu_room, both_ends_are_one_memory)
{
	cr_assert(!room_on_device(share(60), "a") && !room_on_host(share(60), "a"), "one");
	cr_assert(!room_on_both(share(30), share(30), "a"), "both");
	divert_stderr();
	is_refused(room_on_both(share(60), share(60), "a"));
}

Test(small_cpu_room, what_was_allocated_counts_before_it_is_touched)
{
	void *p;

	CUDA(cudaMalloc(&p, (size_t)share(60)));
	cr_assert(!room_on_host(share(50), "a"), "half of what is left");
	divert_stderr();
	is_refused(room_on_host(2 * share(90), "a"));
	CUDA(cudaFree(p));
}

Test(small_cpu_room, transfer_counts_both_its_ends)
{
	int64_t most = (int64_t)16 << 30, bytes = share(60) < most ? share(60) : most;

	if (share(60) > most)
		cr_skip("transfer's largest copy fits twice into this machine's memory");
	refused(3, "bytes=", "run transfer bytes=%ld host=pageable --samples 1 --depth 1",
		(long)bytes);
}
