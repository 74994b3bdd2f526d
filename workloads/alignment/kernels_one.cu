/*
 * kernels_one.cu - small batches of short pairs in one launch: one warp per pair, from letters to
 * runs.
 *
 * In pseudo-code, for each block of one warp:
 *
 *   letters of the pair -> bit planes in registers (lane_letters.cuh)
 *   try a band of 32 rows, then 64, then 128, until one proves the distance (warp_pair.cuh)
 *   publish the number of runs; add those of all pairs before this one: the first run's index
 *   copy the runs there and store the result
 *
 * Tested against alignment_distance() and alignment_path() of reference.c.
 *
 * Pairs that a band does not prove are tried with one twice as wide; a pair that 128 rows do not
 * prove stays not_done, and setup chooses this kernel for no such batch.
 */
#include "workloads/alignment/kernels.h"

#include "workloads/alignment/warp_pair.cuh"

template <bool CIGAR>
static __device__ void one_align(const struct alignment_part &part, const uint8_t *letters,
				 struct warp_task &t, uint2 *trace, uint32_t *smem_runs)
{
	enum alignment_class c = alignment_first_class(part.band, &t.p);
	uint32_t bad;

	t.r = { ALIGN_UNKNOWN, ALIGN_LONG_SEQUENCE, 0, 0, 0 };
	if (c == ALIGN_CLASSES)
		return;
	if (part.packed) {
		t.query = lane_packed(letters + t.p.query / 4, t.p.m);
		t.target = lane_packed(letters + t.p.target / 4, t.p.n);
		bad = ALIGN_UNKNOWN;
	} else {
		bad = lane_pair(letters, part.fold, t.p, t.query, t.target);
	}
	t.r.status = ALIGN_NOT_DONE;
	if (bad < t.p.m + t.p.n) {
		t.r.status = ALIGN_BAD_CHARACTER;
		t.r.at = bad;
		return;
	}
	if (c == ALIGN_S1 && warp_try<1, CIGAR>(part, t, trace, smem_runs))
		return;
	if (c <= ALIGN_S2 && warp_try<2, CIGAR>(part, t, trace, smem_runs))
		return;
	if (c <= ALIGN_S4)
		warp_try<4, CIGAR>(part, t, trace, smem_runs);
}

/*
 * Runs of the pairs before this one. Each pair publishes its number of runs with the number of the
 * batch, and waits for the pairs before it: each lane reads one.
 */
static __device__ inline uint32_t one_first_run(const struct alignment_part &part, uint32_t batch,
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
	/* The last pair has read all others' numbers; none of them reads this one again. */
	if (lane == 0 && pair + 1 == part.n)
		part.counters->batches = batch;
	return counted;
}

/*
 * The batch: pairs, their order, letters. A small one is loaded whole: from mapped host memory that
 * costs one latency. The pair first, and then the letters that it points to, would cost two.
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
				       uint32_t *smem_runs, uint32_t *head)
{
	uint32_t number = 0, runs;
	const uint8_t *batch = one_batch(part, head);
	struct warp_task t;

	if (CIGAR || blockIdx.x == 0)
		number = part.counters->batches + 1;
	t.p = ((const struct alignment_pair *)batch)[blockIdx.x];
	one_align<CIGAR>(part, batch + part.n * (sizeof(t.p) + sizeof(*part.order)), t, trace,
			 smem_runs);
	runs = t.r.runs;
	__syncwarp();
	if (CIGAR) {
		uint32_t first_run = one_first_run(part, number, runs);

		if (runs)
			t.r.at = first_run;
		if ((uint64_t)first_run + runs > part.runs_max && runs)
			t.r.status = ALIGN_RESULT_TRUNCATED;
		else
			for (uint32_t i = threadIdx.x; i < runs; i += 32)
				part.runs[first_run + i] = smem_runs[ALIGN_WARP_RUNS - runs + i];
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
	SHARED_ARRAY(uint32_t, smem_runs, [ALIGN_WARP_RUNS]);
	SHARED_ARRAY(uint32_t, head, [ALIGN_ONE_HEAD / 4]);

	one_pair<true>(part, trace, smem_runs, head);
}
KERNEL(alignment_one_cigar);

const void *alignment_one_kernel(bool cigar)
{
	return cigar ? (const void *)alignment_one_cigar : (const void *)alignment_one_distance;
}
