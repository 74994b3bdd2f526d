/*
 * kernels_one.cu - small batches of short pairs in one launch: a warp a pair (warp_pair.cuh), from
 * letters to runs.
 *
 * Pairs that a band does not prove are tried with one twice as wide; a pair that 128 rows do not
 * prove stays not_done, and setup chooses this kernel for no such batch.
 */
#include "workloads/alignment/kernels.h"

#include "workloads/alignment/warp_pair.cuh"

template <bool CIGAR>
static __device__ void one_align(const struct alignment_part &part, const uint8_t *letters,
				 struct warp_task &t, uint2 *trace, uint32_t *room)
{
	enum alignment_class c = alignment_class_of(part.band, &t.p);
	uint32_t bad;

	t.r = { ALIGN_UNKNOWN, ALIGN_LONG_SEQUENCE, 0, 0, 0 };
	if (c == ALIGN_CLASSES)
		return;
	bad = lane_pair(letters, part.fold, t.p, t.query, t.target);
	t.r.status = ALIGN_NOT_DONE;
	if (bad < t.p.m + t.p.n) {
		t.r.status = ALIGN_BAD_CHARACTER;
		t.r.at = bad;
		return;
	}
	if (c == ALIGN_S1 && warp_try<1, CIGAR>(part, t, trace, room))
		return;
	if (c <= ALIGN_S2 && warp_try<2, CIGAR>(part, t, trace, room))
		return;
	if (c <= ALIGN_S4)
		warp_try<4, CIGAR>(part, t, trace, room);
}

/*
 * Runs of the pairs before this one: each pair makes its number known together with that of the
 * batch, and waits for those before it, of which each lane reads one.
 */
static __device__ inline uint32_t one_place(const struct alignment_part &part, uint32_t batch,
					    uint32_t runs)
{
	const uint32_t pair = blockIdx.x, lane = threadIdx.x;
	uint32_t counted = 0;

	if (lane == 0 && pair + 1 < part.n)
		store_release(&part.counters->counted[pair], batch << 10 | runs);
	if (lane < pair)
		do
			counted = load_acquire(&part.counters->counted[lane]);
		while ((counted ^ batch << 10) >> 10);
	__syncwarp();
	counted &= 1023;
	for (int other = 16; other; other /= 2)
		counted += __shfl_xor_sync(ALL_LANES, counted, other);
	/* The last pair has heard of all others, and none of them looks at this number again. */
	if (lane == 0 && pair + 1 == part.n)
		part.counters->batches = batch;
	return counted;
}

/*
 * The batch: pairs, their order, letters. A small one is taken in whole: from the host's memory
 * that is one journey, where letters after the pair that says where they are would be two.
 */
static __device__ inline const uint8_t *one_batch(const struct alignment_part &part, uint32_t *head)
{
	const uint32_t *batch = (const uint32_t *)part.pair;
	uint32_t word[ALIGN_ONE_HEAD / 128];

	if (part.bytes > ALIGN_ONE_HEAD)
		return (const uint8_t *)batch;
	for (uint32_t k = 0; k < ALIGN_ONE_HEAD / 128; k++)
		if (128 * k + 4 * threadIdx.x < part.bytes)
			word[k] = batch[32 * k + threadIdx.x];
	for (uint32_t k = 0; k < ALIGN_ONE_HEAD / 128; k++)
		if (128 * k + 4 * threadIdx.x < part.bytes)
			head[32 * k + threadIdx.x] = word[k];
	__syncwarp();
	return (const uint8_t *)head;
}

template <bool CIGAR>
static __device__ inline void one_pair(const struct alignment_part &part, uint2 *trace,
				       uint32_t *room, uint32_t *head)
{
	uint32_t number = 0, runs;
	const uint8_t *batch = one_batch(part, head);
	struct warp_task t;

	if (CIGAR || blockIdx.x == 0)
		number = part.counters->batches + 1;
	t.p = ((const struct alignment_pair *)batch)[blockIdx.x];
	one_align<CIGAR>(part, batch + part.n * (sizeof(t.p) + sizeof(*part.order)), t, trace,
			 room);
	runs = t.r.runs;
	__syncwarp();
	if (CIGAR) {
		uint32_t place = one_place(part, number, runs);

		if (runs)
			t.r.at = place;
		if ((uint64_t)place + runs > part.runs_max && runs)
			t.r.status = ALIGN_RESULT_TRUNCATED;
		else
			for (uint32_t i = threadIdx.x; i < runs; i += 32)
				part.runs[place + i] = room[ALIGN_WARP_RUNS - runs + i];
	}
	if (threadIdx.x)
		return;
	part.result[blockIdx.x] = t.r;
	if (!CIGAR && blockIdx.x == 0)
		part.counters->batches = number;
}

extern "C" __global__ void __launch_bounds__(32) alignment_one_distance(struct alignment_part part)
{
	SHARED_ARRAY(uint32_t, head, [ALIGN_ONE_HEAD / 4]);

	one_pair<false>(part, NULL, NULL, head);
}
KERNEL(alignment_one_distance);

extern "C" __global__ void __launch_bounds__(32) alignment_one_cigar(struct alignment_part part)
{
	DYN_SHARED(uint2, trace);
	SHARED_ARRAY(uint32_t, room, [ALIGN_WARP_RUNS]);
	SHARED_ARRAY(uint32_t, head, [ALIGN_ONE_HEAD / 4]);

	one_pair<true>(part, trace, room, head);
}
KERNEL(alignment_one_cigar);

const void *alignment_one_kernel(bool cigar)
{
	return cigar ? (const void *)alignment_one_cigar : (const void *)alignment_one_distance;
}
