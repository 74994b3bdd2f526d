/*
 * test_slots.c - what workloads with data sets in turn share: the step counter, poison, copies in
 * blocks, slots of the host, and FNV-1a.
 */
#include "tests/plain.h"
#include "common/cuda_check.h"
#include "common/fnv.h"
#include "common/programmatic.h"
#include "common/slots.h"
#include "common/streamed.h"
#include "tests/cli.h"

void slots_count_launch(struct slots_counter *counter, uint32_t *seen, uint32_t n,
			uint32_t forgetful, cudaStream_t stream);

void slots_overlap_launch(struct slots_counter *counter, uint32_t *seen, uint32_t blocks,
			  uint32_t threads, uint32_t launches, uint32_t forgetful,
			  cudaStream_t stream);

TestSuite(small_slots, .timeout = 300);

/* ---- the counter ------------------------------------------------------------------------ */

enum { BLOCKS = 5 * 3, THREADS = BLOCKS * 8 * 4 };

/* All threads of a launch see the same step; the next launch sees the next. */
Test(small_slots, every_thread_sees_the_step_before_it_is_counted)
{
	struct slots_counter *counter;
	uint32_t *seen, host[THREADS], step = 0;

	need_device();
	counter = slots_counter_new();
	CUDA(cudaMalloc((void **)&seen, sizeof(host)));
	for (uint32_t n = 1; n < 4; n++) {
		slots_count_launch(counter, seen, n, BLOCKS, 0);
		CUDA(cudaMemcpy(host, seen, sizeof(host), cudaMemcpyDeviceToHost));
		for (int i = 0; i < THREADS; i++)
			cr_assert(host[i] == step, "thread %d saw %u, not %u", i, host[i], step);
		step += n;
		cr_assert(slots_counter_read(counter) == step, "after %u", step);
	}
	slots_counter_reset(counter, 0);
	cr_assert(slots_counter_read(counter) == 0, "reset");
	CUDA(cudaFree(seen));
	slots_counter_free(counter);
	slots_counter_free(NULL);
}

Test(small_slots, a_block_that_does_not_count_is_missed)
{
	struct slots_counter *counter;
	uint32_t *seen;

	need_device();
	counter = slots_counter_new();
	CUDA(cudaMalloc((void **)&seen, THREADS * sizeof(*seen)));
	slots_count_launch(counter, seen, 1, BLOCKS, 0);
	for (uint32_t block = 0; block < BLOCKS; block += BLOCKS - 1) {
		slots_counter_reset(counter, 0);
		slots_count_launch(counter, seen, 1, block, 0);
		cr_assert(slots_counter_read(counter) == UINT32_MAX, "block %u", block);
	}
	CUDA(cudaFree(seen));
	slots_counter_free(counter);
}

/* Launches that may overlap: every thread of the n-th sees n, with few blocks and with many. */
Test(small_slots, launches_that_overlap_count_by_tickets)
{
	enum { LAUNCHES = 5, MOST = 9, EACH = 32 };
	struct slots_counter *counter;
	uint32_t *seen, host[LAUNCHES * MOST * EACH];

	need_device();
	if (programmatic_check(PROGRAMMATIC_YES))
		cr_skip("launches overlap from compute capability 9.0 on");
	counter = slots_counter_new();
	CUDA(cudaMalloc((void **)&seen, sizeof(host)));
	for (uint32_t blocks = 1; blocks <= MOST; blocks++) {
		slots_counter_reset(counter, 0);
		slots_overlap_launch(counter, seen, blocks, EACH, LAUNCHES, MOST, 0);
		CUDA(cudaMemcpy(host, seen, sizeof(host), cudaMemcpyDeviceToHost));
		for (uint32_t i = 0; i < LAUNCHES * blocks * EACH; i++)
			cr_assert(host[i] == i / (blocks * EACH), "%u blocks, thread %u: %u",
				  blocks, i, host[i]);
		cr_assert(slots_counter_read(counter) == LAUNCHES, "%u blocks", blocks);
		slots_overlap_launch(counter, seen, blocks, EACH, 1, blocks - 1, 0);
		cr_assert(slots_counter_read(counter) == (blocks == 1 ? LAUNCHES : UINT32_MAX),
			  "%u blocks, the last without a ticket", blocks);
	}
	CUDA(cudaFree(seen));
	slots_counter_free(counter);
}

/* Tickets are counted beyond 2^32. */
Test(small_slots, tickets_do_not_run_out)
{
	enum { LAUNCHES = 3, EACH = 32 };
	struct slots_counter *counter, begun = { 0 };
	uint32_t *seen, last;

	need_device();
	if (programmatic_check(PROGRAMMATIC_YES))
		cr_skip("launches overlap from compute capability 9.0 on");
	counter = slots_counter_new();
	CUDA(cudaMalloc((void **)&seen, LAUNCHES * EACH * sizeof(*seen)));
	begun.part[0].tickets = UINT32_MAX - 1ull;
	begun.part[0].blocks = 1;
	CUDA(cudaMemcpy(counter, &begun, sizeof(begun), cudaMemcpyHostToDevice));
	slots_overlap_launch(counter, seen, 1, EACH, LAUNCHES, 1, 0);
	CUDA(cudaMemcpy(&last, seen + EACH, sizeof(last), cudaMemcpyDeviceToHost));
	cr_assert(last == UINT32_MAX, "%u", last);
	CUDA(cudaMemcpy(&last, seen + LAUNCHES * EACH - 1, sizeof(last), cudaMemcpyDeviceToHost));
	cr_assert(last == 0, "%u", last);
	CUDA(cudaMemcpy(&begun, counter, sizeof(begun), cudaMemcpyDeviceToHost));
	cr_assert(begun.part[0].tickets == UINT32_MAX - 1ull + LAUNCHES, "%llu",
		  begun.part[0].tickets);
	CUDA(cudaFree(seen));
	slots_counter_free(counter);
}

/* As the device would have left it: 5 blocks a launch are 2, 1, 1 and 1 of its parts. */
static uint32_t read_back(const unsigned long long tickets[SLOTS_PARTS], uint32_t blocks,
			  unsigned long long units, int part)
{
	struct slots_counter *counter = slots_counter_new(), made = { 0 };
	uint32_t steps;

	for (int i = 0; i < SLOTS_PARTS; i++)
		made.part[i].tickets = tickets[i];
	made.part[0].blocks = blocks;
	made.part[0].steps[0] = 40;
	made.part[0].steps[1] = 50;
	made.part[part].units = units;
	CUDA(cudaMemcpy(counter, &made, sizeof(made), cudaMemcpyHostToDevice));
	steps = slots_counter_read(counter);
	slots_counter_free(counter);
	return steps;
}

Test(small_slots, tickets_of_each_part_are_whole_launches)
{
	static const unsigned long long none[SLOTS_PARTS] = { 0 }, two[] = { 4, 2, 2, 2 },
					half[] = { 3, 1, 1, 1 };

	need_device();
	cr_assert(read_back(none, 0, 0, 0) == 40, "none overlapped");
	cr_assert(read_back(two, 5, 0, 0) == 42, "two that overlapped");
	cr_assert(read_back(half, 5, 0, 0) == UINT32_MAX, "one block more");
	for (int i = 1; i < SLOTS_PARTS; i++) {
		unsigned long long tickets[] = { 2, 1, 1, 1 };

		tickets[i] = 2;
		cr_assert(read_back(tickets, 5, 0, 0) == UINT32_MAX, "part %d", i);
	}
	for (int i = 0; i < SLOTS_PARTS; i++) {
		cr_assert(read_back(none, 0, 3ull << 32, i) == 50, "an odd launch, part %d", i);
		cr_assert(read_back(none, 0, 2ull << 32, i) == 40, "an even launch, part %d", i);
		cr_assert(read_back(none, 0, 1, i) == UINT32_MAX, "a share, part %d", i);
	}
}

/* ---- poison ----------------------------------------------------------------------------- */

Test(small_slots, the_first_byte_that_is_no_poison_is_found)
{
	unsigned char bytes[100];

	memset(bytes, 0x7f, sizeof(bytes));
	cr_assert(slots_poison_ends(bytes, 100, SLOTS_POISON_INTEGER) == 100, "all");
	cr_assert(slots_poison_ends(bytes, 100, SLOTS_POISON_REAL) == 0, "another poison");
	cr_assert(slots_poison_ends(bytes, 0, SLOTS_POISON_INTEGER) == 0, "nothing");
	for (size_t i = 0; i < 100; i++) {
		bytes[i] ^= 1;
		cr_assert(slots_poison_ends(bytes, 100, SLOTS_POISON_INTEGER) == i, "byte %zu", i);
		bytes[i] ^= 1;
	}
}

/* ---- copies ----------------------------------------------------------------------------- */

Test(small_slots, blocks_are_counted_as_they_are_copied)
{
	cr_assert(streamed_calls(0, 0) == 0 && streamed_calls(0, 4) == 0, "nothing");
	cr_assert(streamed_calls(1, 0) == 1 && streamed_calls(1000, 0) == 1, "in one");
	cr_assert(streamed_calls(8, 4) == 2 && streamed_calls(9, 4) == 3, "in blocks");
}

/* Every byte comes, and none behind the end. */
Test(small_slots, blocks_bring_every_byte)
{
	enum { N = 1000, GUARD = 16 };
	static const int64_t blocks[] = { 0, 1, 7, 500, 999, 1000, 1001 };
	unsigned char *from = malloc(N), *back = malloc(N + GUARD);
	void *device;

	need_device();
	cr_assert(from && back, "memory");
	for (int i = 0; i < N; i++)
		from[i] = (unsigned char)(i * 7 + i / 256);
	CUDA(cudaMalloc(&device, N + GUARD));
	for (size_t i = 0; i < sizeof(blocks) / sizeof(*blocks); i++) {
		CUDA(cudaMemset(device, 0, N + GUARD));
		streamed_copy(device, from, N, blocks[i], cudaMemcpyHostToDevice, 0);
		CUDA(cudaDeviceSynchronize());
		CUDA(cudaMemcpy(back, device, N + GUARD, cudaMemcpyDeviceToHost));
		cr_assert(!memcmp(from, back, N), "blocks of %ld", (long)blocks[i]);
		cr_assert(slots_poison_ends(back + N, GUARD, 0) == GUARD, "behind the end");
	}
	CUDA(cudaFree(device));
	free(from);
	free(back);
}

static int form_error(int64_t block, int64_t overlap, const char *says)
{
	const struct streamed_form form = { block, STREAMED_PINNED, overlap };
	const char *text;
	int err;

	divert_stderr();
	err = streamed_form_check(&form);
	text = diverted_stderr();
	cr_assert(!err ? !*text : is_one_complaint(text) && strstr(text, says), "%s", text);
	return err;
}

Test(small_slots, forms_are_judged)
{
	struct streamed_form form = { 0, STREAMED_PINNED, 0 };

	cr_assert(!form_error(0, 0, "") && !form_error(64 << 10, 16, ""), "good");
	cr_assert(form_error(32 << 10, 0, "block=32768") == -EINVAL, "small");
	cr_assert(form_error(256 << 20, 0, "block=268435456") == -EINVAL, "large");
	cr_assert(form_error(3 << 20, 0, "block=3145728") == -EINVAL, "no power of two");
	cr_assert(form_error(0, 1, "overlap=1") == -EINVAL, "one chunk");
	cr_assert(!streamed_graph_refused(&form, STREAMED_GRAPH_COPIES), "as many as fit");
	cr_assert(streamed_graph_refused(&form, STREAMED_GRAPH_COPIES + 1), "one more");
	form.memory = STREAMED_PAGEABLE;
	cr_assert(streamed_graph_refused(&form, 1), "pageable");
}

/* ---- FNV-1a ----------------------------------------------------------------------------- */

/* From the authors' list of test vectors. */
Test(small_slots, fnv_gives_the_published_hashes)
{
	cr_assert(fnv_add(FNV_START, "", 0) == 0xcbf29ce484222325, "nothing");
	cr_assert(fnv_add(FNV_START, "a", 1) == 0xaf63dc4c8601ec8c, "a");
	cr_assert(fnv_add(FNV_START, "foobar", 6) == 0x85944171f73967e8, "foobar");
	cr_assert(fnv_add(fnv_add(FNV_START, "foo", 3), "bar", 3) == 0x85944171f73967e8, "parts");
}
