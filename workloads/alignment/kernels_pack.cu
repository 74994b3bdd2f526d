/*
 * kernels_pack.cu - the first kernel of a batch, and the last two: letters in, runs out.
 *
 * In pseudo-code:
 *
 *   pack:   the lanes of a pair: 32 letters -> one word of each of three bit planes; the first bad
 *           letter (of packed letters two words are there already, and none is bad); lane 0 stores
 * the pair's first status and its entry in the list of its class sum:    partial[block] = number of
 * runs of 256 pairs gather: base = sum of the partial sums of earlier blocks; end = inclusive scan
 * over the block's pairs; copy each pair's runs from staging to runs[base + end - count]
 *
 * alignment_bad_letter() of reference.c is what bad letters are tested against; the tests of
 * CIGARs cover the rest.
 */
#include "workloads/alignment/kernels.h"

#include "workloads/alignment/codes.cuh"
#include "workloads/alignment/letters.cuh"

enum { PACK_THREADS = 256, WARPS = ALIGN_GATHER_THREADS / 32 };

/* ---- letters ---------------------------------------------------------------------------- */

/* Letters 32 w to 32 w + 31 of n into three words. Returns the first that is bad, or n. */
static __device__ uint32_t pack_word(const uint32_t *letters, uint32_t n, uint32_t w, bool fold,
				     uint32_t *plane)
{
	uint32_t here = n - 32 * w < 32 ? n - 32 * w : 32, bad = n;
	uint32_t beyond = here < 32 ? 0xffffffff << here : 0;
	uint32_t word[8], p[3] = { beyond, beyond, beyond };

	for (uint32_t q = 0; q < 8; q++)
		word[q] = 4 * q < here ? letters[8 * w + q] : 0;
	for (uint32_t q = 0; q < 8; q++) {
		uint32_t count = 4 * q < here ? here - 4 * q : 0, codes;

		count = count < 4 ? count : 4;
		if (count < 4 || !four_codes(word[q], fold, &codes)) {
			uint32_t at = slow_codes(word[q], count, fold, &codes);

			bad = at < count && bad == n ? 32 * w + 4 * q + at : bad;
		}
		for (int k = 0; k < 3; k++)
			p[k] |= lowest_bits(codes >> k) << 4 * q;
	}
	for (int k = 0; k < 3; k++)
		plane[3 * w + (uint32_t)k] = p[k];
	return bad;
}

/* Of packed letters: none is bad. */
static __device__ void unpack_word(const uint32_t *packed, uint32_t n, uint32_t w, uint32_t *plane)
{
	uint32_t here = n - 32 * w, beyond = here < 32 ? 0xffffffff << here : 0;

	plane[3 * w] = packed[2 * w] | beyond;
	plane[3 * w + 1] = packed[2 * w + 1] | beyond;
	plane[3 * w + 2] = beyond;
}

static __device__ void unpack_pair(const struct alignment_part &part, uint32_t pair, uint32_t lane)
{
	const struct alignment_pair &p = part.pair[pair];
	uint32_t *query = part.planes + alignment_planes_at(p.query, 2 * (uint64_t)pair);
	uint32_t *target = part.planes + alignment_planes_at(p.target, 2 * (uint64_t)pair + 1);
	uint32_t words = (p.m + 31) / 32, all = words + (p.n + 31) / 32;

	for (uint32_t w = lane; w < all; w += part.pack_lanes)
		if (w < words)
			unpack_word((const uint32_t *)(part.letters + p.query / 4), p.m, w, query);
		else
			unpack_word((const uint32_t *)(part.letters + p.target / 4), p.n, w - words,
				    target);
}

/* The lanes of a pair pack it. Returns on each of them the first bad letter, query first, or m + n.
 */
static __device__ uint32_t pack_pair(const struct alignment_part &part, uint32_t pair,
				     uint32_t lane)
{
	const struct alignment_pair &p = part.pair[pair];
	uint32_t *query = part.planes + alignment_planes_at(p.query, 2 * (uint64_t)pair);
	uint32_t *target = part.planes + alignment_planes_at(p.target, 2 * (uint64_t)pair + 1);
	uint32_t words = (p.m + 31) / 32, all = words + (p.n + 31) / 32, bad = p.m + p.n;

	for (uint32_t w = lane; w < all; w += part.pack_lanes) {
		bool first = w < words;
		const uint32_t *from =
			(const uint32_t *)(part.letters + (first ? p.query : p.target));
		uint32_t n = first ? p.m : p.n;
		uint32_t at = pack_word(from, n, first ? w : w - words, part.fold,
					first ? query : target);

		if (at < n && at + (first ? 0 : p.m) < bad)
			bad = at + (first ? 0 : p.m);
	}
	return bad;
}

/* ---- the start of a batch --------------------------------------------------------------- */

static __device__ void start_counters(const struct alignment_part &part)
{
	for (int c = 0; c < ALIGN_CLASSES; c++)
		part.counters->listed[c] = part.first[c + 1] - part.first[c];
	part.counters->staged = 0;
	part.counters->fetched = 0;
	part.counters->batches++;
}

/* Number i of the host's order goes to the list of its class. */
static __device__ void start_list(const struct alignment_part &part, uint32_t i)
{
	for (int c = 0; c < ALIGN_CLASSES; c++)
		if (i >= part.first[c] && i < part.first[c + 1])
			part.list[c][i - part.first[c]] = part.order[i];
}

/* The first status of a pair: `bad` is the least of its lanes. */
static __device__ inline void start_result(const struct alignment_part &part, uint32_t pair,
					   uint32_t bad)
{
	struct alignment_result r = { ALIGN_UNKNOWN, ALIGN_LONG_SEQUENCE, 0, 0, 0 };
	const struct alignment_pair &p = part.pair[pair];

	if (p.m != ALIGN_TOO_LONG) {
		r.status = bad < p.m + p.n ? ALIGN_BAD_CHARACTER : ALIGN_NOT_DONE;
		r.at = bad < p.m + p.n ? bad : 0;
	}
	part.result[pair] = r;
}

/* part.pack_lanes lanes a pair. */
extern "C" __global__ void __launch_bounds__(PACK_THREADS)
	alignment_pack(struct alignment_part part)
{
	uint32_t lanes = part.pack_lanes, lane = threadIdx.x % lanes;
	uint32_t pair = blockIdx.x * (PACK_THREADS / lanes) + threadIdx.x / lanes;
	bool there = pair < part.n;
	uint32_t bad = ALIGN_UNKNOWN;

	if (blockIdx.x == 0 && threadIdx.x == 0)
		start_counters(part);
	if (there && part.pair[pair].m != ALIGN_TOO_LONG) {
		if (part.packed)
			unpack_pair(part, pair, lane);
		else
			bad = pack_pair(part, pair, lane);
	}
	for (uint32_t other = lanes / 2; other; other /= 2) {
		uint32_t theirs = __shfl_xor_sync(0xffffffff, bad, (int)other);

		bad = theirs < bad ? theirs : bad;
	}
	if (!there || lane)
		return;
	start_result(part, pair, bad);
	start_list(part, pair);
}
KERNEL(alignment_pack);

/* ---- the end of a batch ----------------------------------------------------------------- */

/*
 * Inclusive sums over the block, and the sum of all in *total. Every thread of the block calls it.
 */
static __device__ uint32_t block_scan(uint32_t *tile, uint32_t value, uint32_t *total)
{
	uint32_t sum;

	tile[threadIdx.x] = value;
	__syncthreads();
	for (uint32_t d = 1; d < ALIGN_GATHER_THREADS; d *= 2) {
		sum = tile[threadIdx.x] + (threadIdx.x >= d ? tile[threadIdx.x - d] : 0);
		__syncthreads();
		tile[threadIdx.x] = sum;
		__syncthreads();
	}
	sum = tile[threadIdx.x];
	*total = tile[ALIGN_GATHER_THREADS - 1];
	__syncthreads();
	return sum;
}

static __device__ inline uint32_t pair_runs(const struct alignment_part &part, uint32_t pair)
{
	return pair < part.n ? part.result[pair].runs : 0;
}

extern "C" __global__ void __launch_bounds__(ALIGN_GATHER_THREADS)
	alignment_sum(struct alignment_part part)
{
	SHARED_ARRAY(uint32_t, tile, [ALIGN_GATHER_THREADS]);
	uint32_t total;

	block_scan(tile, pair_runs(part, blockIdx.x * ALIGN_GATHER_THREADS + threadIdx.x), &total);
	if (threadIdx.x == 0)
		part.partial[blockIdx.x] = total;
}
KERNEL(alignment_sum);

/* Runs of all pairs before this block's. */
static __device__ uint32_t runs_before(const struct alignment_part &part, uint32_t *tile)
{
	uint32_t partial = 0, total;

	for (uint32_t b = threadIdx.x; b < blockIdx.x; b += ALIGN_GATHER_THREADS)
		partial += part.partial[b];
	block_scan(tile, partial, &total);
	return total;
}

/*
 * The warps of the blocks of a column share the copying of its pairs: some may have one run, some
 * thousands.
 */
static __device__ void copy_runs(const struct alignment_part &part, uint32_t base,
				 const uint32_t *end)
{
	uint32_t warp = threadIdx.x / 32, lane = threadIdx.x % 32;

	for (uint32_t i = blockIdx.y * WARPS + warp; i < ALIGN_GATHER_THREADS;
	     i += gridDim.y * WARPS) {
		uint32_t pair = blockIdx.x * ALIGN_GATHER_THREADS + i;
		uint32_t from = i ? end[i - 1] : 0, count = end[i] - from;

		if (!count || (uint64_t)base + end[i] > part.runs_max)
			continue;
		for (uint32_t r = lane; r < count; r += 32)
			part.runs[base + from + r] = part.staging[part.slot[pair] + r];
	}
}

extern "C" __global__ void __launch_bounds__(ALIGN_GATHER_THREADS)
	alignment_gather(struct alignment_part part)
{
	SHARED_ARRAY(uint32_t, tile, [ALIGN_GATHER_THREADS]);
	SHARED_ARRAY(uint32_t, ends, [ALIGN_GATHER_THREADS]);
	uint32_t pair = blockIdx.x * ALIGN_GATHER_THREADS + threadIdx.x, count, total, end;
	uint32_t base = runs_before(part, tile);

	count = pair_runs(part, pair);
	end = block_scan(tile, count, &total);
	ends[threadIdx.x] = end;
	__syncthreads();
	copy_runs(part, base, ends);
	if (!count || blockIdx.y)
		return;
	part.result[pair].at = base + end - count;
	if ((uint64_t)base + end > part.runs_max)
		part.result[pair].status = ALIGN_RESULT_TRUNCATED;
}
KERNEL(alignment_gather);

/* ---- for the host ----------------------------------------------------------------------- */

const void *alignment_pack_kernel(void)
{
	return (const void *)alignment_pack;
}

const void *alignment_sum_kernel(void)
{
	return (const void *)alignment_sum;
}

const void *alignment_gather_kernel(void)
{
	return (const void *)alignment_gather;
}

int alignment_pack_threads(void)
{
	return PACK_THREADS;
}
