/* device.h - is there a device at all, and what does it say of itself? */
#ifndef RIFT_DEVICE_H
#define RIFT_DEVICE_H

#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* 0, or -ENODEV after one line with CUDA's reason; CUDA forgets the error. */
int device_present(void);

/* An attribute of the current device. */
int device_attribute(enum cudaDeviceAttr attribute);

/*
 * Blocks of the kernel, of so many threads and bytes of dynamic shared memory, that the current
 * device holds at a time; 0: none fits. On the CPU device a worker holds one.
 */
int64_t device_resident(const void *kernel, int threads, size_t shared_bytes);

#ifdef __cplusplus
}
#endif
#endif
