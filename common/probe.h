/* probe.h - the smallest kernel that shows whether kernels run here. */
#ifndef RIFT_PROBE_H
#define RIFT_PROBE_H

#include <cuda_runtime_api.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Launches one thread that writes value to *out, in device memory. Returns the launch's error:
 * cudaErrorNoKernelImageForDevice where this binary was not built for the GPU.
 */
cudaError_t probe_launch(uint32_t *out, uint32_t value, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
