/* kernels.h - what the radixsort workload's files of kernels call in each other. */
#ifndef RIFT_RADIXSORT_KERNELS_H
#define RIFT_RADIXSORT_KERNELS_H

#include "workloads/radixsort/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Make the driver load the kernels of one file. */
void radixsort_load_count(void);
void radixsort_load_one(void);
void radixsort_load_inputs(void);

/* Enqueues: adds to board->count, which was zero, and clears the tile statuses behind it. */
void radixsort_count_digits(const struct radixsort_launch *launch, uint32_t statuses,
			    cudaStream_t stream);

/* Enqueues: up to RADIXSORT_ONE_MAX pairs, as many sorts as the launch says. */
void radixsort_sort_one(const struct radixsort_launch *launch, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
