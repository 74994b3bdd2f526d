/*
 * kernels.cu - more pairs than one block can hold: digits are counted (kernels_count.cu), then four
 * passes (pass.cuh) sort by one after the other, with tiles of one of three sizes (onesweep).
 */
#include "workloads/radixsort/pass.cuh"

typedef radixsort_shape<RADIXSORT_WIDE_THREADS, RADIXSORT_WIDE_ITEMS, RADIXSORT_WIDE_BLOCKS,
			RADIXSORT_WIDE_LOOK>
	wide;
typedef radixsort_shape<RADIXSORT_MIDDLE_THREADS, RADIXSORT_MIDDLE_ITEMS, RADIXSORT_MIDDLE_BLOCKS>
	middle;
typedef radixsort_shape<RADIXSORT_NARROW_THREADS, RADIXSORT_NARROW_ITEMS, RADIXSORT_NARROW_BLOCKS>
	narrow;

KERNEL(radixsort_pass<wide>);
KERNEL(radixsort_pass<middle>);
KERNEL(radixsort_pass<narrow>);

enum radixsort_size radixsort_size_for(int64_t n)
{
	return n >= RADIXSORT_WIDE_FROM	    ? RADIXSORT_WIDE
	       : n >= RADIXSORT_MIDDLE_FROM ? RADIXSORT_MIDDLE
					    : RADIXSORT_NARROW;
}

int64_t radixsort_board_bytes(int64_t n, enum radixsort_size size)
{
	if (n <= RADIXSORT_ONE_MAX)
		return 0;
	return size == RADIXSORT_WIDE	  ? radixsort_board_bytes_of<wide>(n)
	       : size == RADIXSORT_MIDDLE ? radixsort_board_bytes_of<middle>(n)
					  : radixsort_board_bytes_of<narrow>(n);
}

int radixsort_launches(int64_t n)
{
	return n <= RADIXSORT_ONE_MAX ? 1 : 1 + PASSES;
}

void radixsort_load_kernels(void)
{
	radixsort_load_pass<wide>();
	radixsort_load_pass<middle>();
	radixsort_load_pass<narrow>();
	radixsort_load_count();
	radixsort_load_one();
	radixsort_load_inputs();
}

void radixsort_sort(const struct radixsort_launch *l, cudaStream_t stream)
{
	if (l->n <= RADIXSORT_ONE_MAX)
		radixsort_sort_one(l, stream);
	else if (l->size == RADIXSORT_WIDE)
		radixsort_sort_by<wide>(l, stream);
	else if (l->size == RADIXSORT_MIDDLE)
		radixsort_sort_by<middle>(l, stream);
	else
		radixsort_sort_by<narrow>(l, stream);
}
