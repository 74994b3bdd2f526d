/* kernels.h - what the files of kernels of the radixsort workload have for each other. */
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

/* Enqueues: board->count, which was zero; zero for the words behind the board. */
void radixsort_count_digits(const struct radixsort_launch *launch, uint32_t words,
			    cudaStream_t stream);

/* Enqueues: up to RADIXSORT_ONE_MAX pairs, as many sorts as the launch says. */
void radixsort_sort_one(const struct radixsort_launch *launch, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
