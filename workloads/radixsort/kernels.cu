/*
 * kernels.cu - onesweep: sorts more pairs than one block can hold, with tiles of one of five sizes.
 *
 * In pseudo-code:
 *
 *   count (kernels_count.cu): the bins of all four digits, in one reading of the keys
 *   for each of four passes of 8 bits (pass.cuh), for each block = tile:
 *     load the tile's keys; stage its values in shared memory
 *     count[digit] = keys of the tile with that digit; publish it as the tile's status
 *     rank each key among those of its digit, by matches within a warp (tile.cuh)
 *     before[digit] = decoupled look-back over the statuses of earlier tiles (look_back.cuh);
 *       for the first tile: exclusive scan of the bins
 *     publish before + count as the tile's inclusive prefix
 *     write each pair to before[digit] + its rank
 *
 * The naive version that it is tested against is radixsort_reference_sort() of reference.c, a merge
 * sort. kernels_one.cu sorts what fits one block.
 */
#include "workloads/radixsort/pass.cuh"

/*
 * Where there is an SM for every tile (132 of an H200), warps of their own look back, and smaller
 * tiles are done sooner. With more tiles than that, two on an SM hide each other's latency: broad
 * ones as long as all are resident at once. Wide tiles cost less a pair: in shared memory 24 /
 * ITEMS accesses for the counts of warps, in global memory 4 KiB a tile and pass for looking back.
 * Their runs of equal digits are longer, too. docs/lab/h200-variants.md has what was
 * measured; bench/radixsort_cub tiles tries others.
 */
typedef radixsort_shape<256, 8, 2, 8, true> tiny;
typedef radixsort_shape<256, 16, 2, 8, true> narrow;
typedef radixsort_shape<512, 16, 1, 4, true> middle;
typedef radixsort_shape<512, 16, 2, 8> broad;
typedef radixsort_shape<384, 31, 2, 3> wide;

KERNEL(radixsort_pass<tiny>);
KERNEL(radixsort_pass<narrow>);
KERNEL(radixsort_pass<middle>);
KERNEL(radixsort_pass<broad>);
KERNEL(radixsort_pass<wide>);

struct size {
	int64_t from; /* pairs */
	size_t bytes; /* of shared memory */
	int64_t (*board_bytes)(int64_t n);
	void (*load)(const struct radixsort_launch *l);
	void (*sort)(const struct radixsort_launch *l, cudaStream_t stream);
};

#define SIZE(S, from)                                                                              \
	{                                                                                          \
		from, sizeof(pass_smem<S>), radixsort_board_bytes_of<S>, radixsort_load_pass<S>,   \
			radixsort_sort_by<S>                                                       \
	}

/* In the order of enum radixsort_size. */
static const struct size sizes[RADIXSORT_SIZES] = {
	SIZE(tiny, 0),
	SIZE(narrow, (128 << 10) + 1),
	SIZE(middle, 132 * narrow::TILE + 1),
	SIZE(broad, 132 * middle::TILE + 1),
	SIZE(wide, 2 * 132 * broad::TILE + 1),
};

enum radixsort_size radixsort_size_for(int64_t n)
{
	int size = RADIXSORT_SIZES - 1;

	while (n < sizes[size].from)
		size--;
	return (enum radixsort_size)size;
}

size_t radixsort_tile_bytes(enum radixsort_size size)
{
	return sizes[size].bytes;
}

int64_t radixsort_board_bytes(int64_t n, enum radixsort_size size)
{
	return n <= RADIXSORT_ONE_MAX ? 0 : sizes[size].board_bytes(n);
}

int radixsort_launches(int64_t n)
{
	return n <= RADIXSORT_ONE_MAX ? 1 : 1 + PASSES;
}

void radixsort_load_kernels(const struct radixsort_launch *l)
{
	sizes[l->size].load(l);
	radixsort_load_count();
	radixsort_load_one();
	radixsort_load_inputs();
}

void radixsort_sort(const struct radixsort_launch *l, cudaStream_t stream)
{
	if (l->n <= RADIXSORT_ONE_MAX)
		radixsort_sort_one(l, stream);
	else
		sizes[l->size].sort(l, stream);
}
