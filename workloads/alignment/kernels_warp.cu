/*
 * kernels_warp.cu - banded alignment, one warp per pair.
 *
 * For batches of so few pairs that one thread per pair would leave most of the device idle.
 * warp_pair.cuh has it in pseudo-code. The naive version that it is tested against is
 * alignment_distance() and alignment_path() of reference.c.
 */
#include "workloads/alignment/kernels.h"

#include "workloads/alignment/warp_pair.cuh"

/* Copies the runs of a pair from the end of `smem_runs` to staging. */
static __device__ inline void warp_stage(const struct alignment_part &part, uint32_t pair,
					 const struct alignment_result &r,
					 const uint32_t *smem_runs)
{
	uint64_t first_run = 0;

	if (threadIdx.x == 0) {
		struct runs_writer w;

		if (runs_begin(part, pair, r.distance, w)) {
			first_run = (uint64_t)(w.at - part.staging) - r.runs + 1;
			part.slot[pair] = (uint32_t)first_run - 1;
			part.result[pair].runs = r.runs;
		}
	}
	first_run = __shfl_sync(ALL_LANES, first_run, 0);
	if (first_run)
		for (uint32_t i = threadIdx.x; i < r.runs; i += 32)
			part.staging[first_run - 1 + i] = smem_runs[ALIGN_WARP_RUNS - r.runs + i];
}

/* `c` is the class to go to where this band is too narrow. */
template <int NW, bool CIGAR>
static __device__ void warp_pair(const struct alignment_part &part, uint32_t pair, int c,
				 uint2 *trace, uint32_t *smem_runs)
{
	struct warp_task t;
	uint32_t runs;
	bool proven;

	t.r = part.result[pair];
	if (t.r.status != ALIGN_NOT_DONE)
		return;
	t.p = part.pair[pair];
	for (int k = 0; k < 3; k++) {
		t.query.plane[k] = plane_word(query_letters(part, pair), (int)threadIdx.x, k);
		t.target.plane[k] = plane_word(target_letters(part, pair), (int)threadIdx.x, k);
	}
	proven = warp_try<NW, CIGAR>(part, t, trace, smem_runs);
	runs = t.r.runs;
	t.r.runs = 0;
	__syncwarp();
	if (threadIdx.x == 0)
		part.result[pair] = t.r;
	if (threadIdx.x == 0 && !proven)
		short_spill(part, pair, c);
	t.r.runs = runs;
	if (CIGAR && proven && t.r.status == ALIGN_OK)
		warp_stage(part, pair, t.r, smem_runs);
	__syncwarp();
}

template <int NW, bool CIGAR>
static __device__ inline void warp_list(const struct alignment_part &part, int c, uint2 *trace,
					uint32_t *smem_runs)
{
	uint32_t n = part.counters->listed[c];

	for (uint32_t i = blockIdx.x; i < n; i += gridDim.x)
		warp_pair<NW, CIGAR>(part, part.list[c][i], c + 1, trace, smem_runs);
}

#define WARP_KERNEL(words)                                                                         \
	extern "C" __global__ void __launch_bounds__(32)                                           \
		alignment_warp_##words##_cigar(struct alignment_part part)                         \
	{                                                                                          \
		DYN_SHARED(uint2, trace);                                                          \
		SHARED_ARRAY(uint32_t, smem_runs, [ALIGN_WARP_RUNS]);                              \
                                                                                                   \
		warp_list<words, true>(part, ALIGN_S##words, trace, smem_runs);                    \
	}                                                                                          \
	KERNEL(alignment_warp_##words##_cigar);                                                    \
	extern "C" __global__ void __launch_bounds__(32)                                           \
		alignment_warp_##words##_distance(struct alignment_part part)                      \
	{                                                                                          \
		warp_list<words, false>(part, ALIGN_S##words, NULL, NULL);                         \
	}                                                                                          \
	KERNEL(alignment_warp_##words##_distance)

WARP_KERNEL(1);
WARP_KERNEL(2);
WARP_KERNEL(4);

const void *alignment_warp_kernel(enum alignment_class c, bool cigar)
{
	static const void *const table[][2] = {
		{ (const void *)alignment_warp_1_distance, (const void *)alignment_warp_1_cigar },
		{ (const void *)alignment_warp_2_distance, (const void *)alignment_warp_2_cigar },
		{ (const void *)alignment_warp_4_distance, (const void *)alignment_warp_4_cigar },
	};

	return table[c][cigar];
}
