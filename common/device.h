/* device.h - is there a device at all, and what does it say of itself? */
#ifndef RIFT_DEVICE_H
#define RIFT_DEVICE_H

#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Why there is none, after this error of CUDA or none, with the variable that hides devices.
 * Static. */
const char *device_why_none(cudaError_t err);

/* 0, or -ENODEV after one line with CUDA's reason; CUDA forgets the error. */
int device_present(void);

/* An attribute of the current device. */
int device_attribute(enum cudaDeviceAttr attribute);

/*
 * So many bytes of device memory, at least one, in the pointer that `at` points to: 0; or -ENOMEM,
 * after one line that ends with the text, and the pointer is NULL: which options decide on the
 * size, "pairs=4 slots=2".
 */
int device_new(void *at, size_t bytes, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Takes NULL too: where there is no device, cudaFree(NULL) is an error. */
void device_free(void *memory);

/* 0, or -ENOTSUP after one line: do so many fused steps fit the 32 bits that a kernel counts in? */
int device_steps_fit(int64_t n);

/* Makes the driver load the kernel, which its first launch would wait for. */
void device_load_kernel(const void *kernel);

/*
 * Blocks of the kernel, of so many threads and bytes of dynamic shared memory, that the current
 * device holds at a time; 0: none fits. On the CPU device a worker holds one.
 */
int64_t device_resident(const void *kernel, int threads, size_t shared_bytes);

#ifdef __cplusplus
}
#endif
#endif
