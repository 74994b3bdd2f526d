/* kernels.h - addresses of the alignment workload's kernels; each takes an alignment_part by value.
 */
#ifndef RIFT_ALIGNMENT_KERNELS_H
#define RIFT_ALIGNMENT_KERNELS_H

#include "workloads/alignment/device.h"

#ifdef __cplusplus
extern "C" {
#endif

const void *alignment_pack_kernel(void);
const void *alignment_sum_kernel(void);
const void *alignment_gather_kernel(void);
int alignment_pack_threads(void);

/* c: ALIGN_S1, ALIGN_S2 or ALIGN_S4. */
const void *alignment_short_kernel(enum alignment_class c, bool cigar);
/* Blocks of 32 threads; with CIGARs dynamic shared memory for the trace. */
const void *alignment_warp_kernel(enum alignment_class c, bool cigar);
/* A block of 32 threads a pair; with CIGARs dynamic shared memory for the trace. */
const void *alignment_one_kernel(bool cigar);
const void *alignment_long_kernel(enum alignment_strip strip, bool cigar);
/* Pairs of the long kernel's list: blocks of 32 threads, a row of them for each. */
const void *alignment_wave_kernel(bool cigar);
/* With CIGARs, for pairs whose trace did not fit the long kernel's workspace. Blocks of 32 threads,
 * one a pair. */
const void *alignment_kept_kernel(void);

#ifdef __cplusplus
}
#endif
#endif
