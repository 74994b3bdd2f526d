/*
 * kernels_wave.cu - a few long pairs, whose strips many warps share.
 *
 * In pseudo-code, for each block of one warp, of the row of blocks that a pair has:
 *
 *   repeat: take the next number of a strip: strips of the first band, then of the second, ...
 *     if its band is not the one at hand: wait until all strips of that one are done; if it has
 *       proven the distance: leave; else go on to the next band (long_bands.cuh)
 *     compute the strip (long_wave.cuh), and add its part of the value at the end of the band
 *   the last block that leaves stores the result, and with CIGARs walks back through the trace
 *
 * Bands, values and results are those of the long kernel with strips of 1,024 rows, which it is
 * tested against, as well as alignment_distance() and alignment_path() of reference.c.
 */
#include "workloads/alignment/kernels.h"

#include "workloads/alignment/long_bands.cuh"
#include "workloads/alignment/long_wave.cuh"

/* A round, which has a band, as a warp sees it. */
struct wave_round {
	uint32_t number;
	int k; /* cost of the band; below 0: there are no more rounds */
	struct long_outcome out;
};

/* Lane 0 adds 1 for all. */
static __device__ inline uint32_t wave_take(uint32_t *number, int lane)
{
	uint32_t taken = lane ? 0 : atomicAdd(number, 1u);

	return __shfl_sync(0xffffffff, taken, 0);
}

/* Waits for the end of the round. All its strips have been taken. */
static __device__ inline int wave_value(const struct alignment_wave *w, uint32_t number, int lane)
{
	uint32_t value = 0;

	while (lane == 0 && !(value = load_acquire(&w->round[number].value)))
		wait_briefly();
	__syncwarp(); /* for the other lanes, too: all of that round is over */
	return (int)__shfl_sync(0xffffffff, value, 0) - 1;
}

static __device__ inline void wave_next_round(const struct alignment_part &part,
					      const struct alignment_wave *w,
					      const struct wave_task &t, struct wave_round &r)
{
	r.k = long_next_band(part, t, r.k, wave_value(w, r.number, t.lane), r.out);
	r.number++;
	if (r.k >= 0 && r.number == ALIGN_WAVE_ROUNDS) {
		r.out.status = ALIGN_NOT_DONE;
		r.k = -1;
	}
}

/* The steps of the round after this one go where those of the round before it were. */
static __device__ inline void wave_clear(const struct wave_task &t, uint32_t round, int strip,
					 uint64_t *steps)
{
	if (!round)
		return;
	for (uint64_t i = (uint64_t)t.lane; i < t.row; i += 32)
		store_relaxed(steps + (uint64_t)strip * t.row + i, (uint64_t)0);
}

/* The band of a round, and the trace of its strips. */
static __device__ inline void wave_set_band(struct wave_task &t, int k)
{
	t.band = alignment_cost_band(t.m, t.n, k);
	t.each = alignment_wave_trace(t.m, t.n, k) / 2;
}

template <bool CIGAR>
static __device__ void wave_do_strip(struct alignment_wave *w, struct wave_task &t,
				     const struct wave_round &r, uint32_t strip, uint32_t strips)
{
	uint64_t *steps = (uint64_t *)((uint8_t *)w + alignment_wave_head());
	int part_of_value;

	t.steps = steps + r.number % 2 * strips * t.row;
	wave_clear(t, r.number, (int)strip, steps + (r.number + 1) % 2 * strips * t.row);
	part_of_value = wave_run<CIGAR>(t, wave_strip(t, (int)strip));
	__syncwarp(); /* what other lanes stored is published by lane 0 */
	if (t.lane)
		return;
	atomicAdd(&w->round[r.number].sum, (uint32_t)part_of_value);
	if (atomic_add_acq_rel(&w->round[r.number].done, 1) == strips - 1)
		store_release(&w->round[r.number].value, load_relaxed(&w->round[r.number].sum) + 1);
}

/* Does the trace fit? It did at setup. */
static __device__ inline bool wave_fits(const struct alignment_part &part,
					const struct wave_task &t, struct wave_round &r,
					uint32_t strips)
{
	if (2 * t.each * strips <= part.wave_words)
		return true;
	r.out.status = ALIGN_OUT_OF_MEMORY;
	r.k = -1;
	return false;
}

/* The last block to leave stores the result, when all strips of all rounds are done. */
template <bool CIGAR>
static __device__ void wave_leave(const struct alignment_part &part, struct alignment_wave *w,
				  struct wave_task &t, const struct long_outcome &out)
{
	uint32_t before = 0;

	__syncwarp(); /* all lanes have read the status */
	if (t.lane == 0)
		before = atomic_add_acq_rel(&w->left, 1);
	__syncwarp();
	if (__shfl_sync(0xffffffff, before, 0) != gridDim.x - 1)
		return;
	wave_set_band(t, out.band);
	long_finish<32, 1, CIGAR>(part, t, out);
}

/* A row of blocks for each pair of the list. */
template <bool CIGAR> static __device__ void wave_pair(const struct alignment_part &part)
{
	struct alignment_wave *w =
		(struct alignment_wave *)(part.wave + blockIdx.y * part.wave_bytes);
	struct wave_round r = { 0, 0, { 0, 0, 0, 0 } };
	struct wave_task t;
	uint32_t strips;

	if (blockIdx.y >= part.counters->listed[ALIGN_L])
		return;
	t.pair = part.list[ALIGN_L][blockIdx.y];
	t.lane = (int)threadIdx.x;
	t.lanes = 0xffffffff;
	long_load_pair(part, t);
	t.row = alignment_wave_row(t.n);
	t.trace = (uint2 *)(part.workspace + blockIdx.y * part.wave_words);
	strips = alignment_wave_strips(t.m);
	/* Nobody writes the result before the last block has come here and left. */
	if (part.result[t.pair].status != ALIGN_NOT_DONE)
		return;
	r.k = long_first(part, t, r.out);
	while (r.k >= 0) {
		uint32_t taken = wave_take(&w->ticket, t.lane);

		while (r.k >= 0 && r.number < taken / strips)
			wave_next_round(part, w, t, r);
		if (r.k < 0)
			break;
		wave_set_band(t, r.k);
		if (!CIGAR || wave_fits(part, t, r, strips))
			wave_do_strip<CIGAR>(w, t, r, taken % strips, strips);
	}
	wave_leave<CIGAR>(part, w, t, r.out);
}

extern "C" __global__ void __launch_bounds__(32) alignment_wave_distance(struct alignment_part part)
{
	wave_pair<false>(part);
}
KERNEL(alignment_wave_distance);

extern "C" __global__ void __launch_bounds__(32) alignment_wave_cigar(struct alignment_part part)
{
	wave_pair<true>(part);
}
KERNEL(alignment_wave_cigar);

const void *alignment_wave_kernel(bool cigar)
{
	return cigar ? (const void *)alignment_wave_cigar : (const void *)alignment_wave_distance;
}
