/* device.h - is there a device at all, and what does it say of itself? */
#ifndef RIFT_DEVICE_H
#define RIFT_DEVICE_H

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

/* 0, or -ENODEV after one line with CUDA's reason; CUDA forgets the error. */
int device_present(void);

/* Of the current device. */
int device_attribute(enum cudaDeviceAttr attribute);

#ifdef __cplusplus
}
#endif
#endif
