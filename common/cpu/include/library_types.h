/* library_types.h - types of matrix elements, for the CPU device's cuBLAS. */
#ifndef RIFT_CPU_LIBRARY_TYPES_H
#define RIFT_CPU_LIBRARY_TYPES_H

typedef enum cudaDataType_t {
	CUDA_R_32F = 0,
	CUDA_R_16F = 2,
	CUDA_R_16BF = 14,
} cudaDataType;

#ifndef __cplusplus
typedef enum cudaDataType_t cudaDataType_t;
#endif

#endif
