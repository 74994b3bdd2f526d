/* fault.h - what a client does to its neighbours: an illegal address, a kernel that hangs, all
 * memory. */
#ifndef RIFT_SHARE_FAULT_H
#define RIFT_SHARE_FAULT_H

#include <cuda_runtime_api.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How long a kernel hangs, s: then it ends by itself, as nothing resets the GPU. */
enum { FAULT_HANG_S = 10 };

/* Enqueues a kernel that writes where nothing is. */
void fault_crash(cudaStream_t stream);

/* Enqueues a kernel of one thread that ends after FAULT_HANG_S. */
void fault_hang(cudaStream_t stream);

/* Takes all memory of the device that is free, in pieces down to 1 MiB; bytes. It stays taken until
 * the process ends. */
int64_t fault_take_memory(void);

#ifdef __cplusplus
}
#endif
#endif
