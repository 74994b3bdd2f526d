/* kernels.h - addresses of the alignment workload's kernels; each takes an align_part by value. */
#ifndef RIFT_ALIGNMENT_KERNELS_H
#define RIFT_ALIGNMENT_KERNELS_H

#include "workloads/alignment/device.h"

#ifdef __cplusplus
extern "C" {
#endif

const void *align_pack_kernel(void);
const void *align_sum_kernel(void);
const void *align_gather_kernel(void);
uint32_t align_pack_blocks(uint32_t pairs);
int align_pack_threads(void);

/* c: ALIGN_S1, ALIGN_S2 or ALIGN_S4. */
const void *align_short_kernel(enum align_class c, bool cigar);
const void *align_long_kernel(enum align_strip strip, bool cigar);

#ifdef __cplusplus
}
#endif
#endif
