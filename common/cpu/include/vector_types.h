/*
 * vector_types.h - dim3 and the short vectors of CUDA, for the CPU device. Sizes and alignments
 * are CUDA's: a kernel argument or a buffer has the same layout on both devices.
 */
#ifndef RIFT_CPU_VECTOR_TYPES_H
#define RIFT_CPU_VECTOR_TYPES_H

#define CPUDEV_ALIGNED(bytes) __attribute__((aligned(bytes)))

/* clang-format off */
typedef struct { unsigned char x, y, z, w; } CPUDEV_ALIGNED(4) uchar4;
typedef struct { int x, y; } CPUDEV_ALIGNED(8) int2;
typedef struct { int x, y, z; } int3;
typedef struct { int x, y, z, w; } CPUDEV_ALIGNED(16) int4;
typedef struct { unsigned x, y; } CPUDEV_ALIGNED(8) uint2;
typedef struct { unsigned x, y, z; } uint3;
typedef struct { unsigned x, y, z, w; } CPUDEV_ALIGNED(16) uint4;
typedef struct { float x, y; } CPUDEV_ALIGNED(8) float2;
typedef struct { float x, y, z; } float3;
typedef struct { float x, y, z, w; } CPUDEV_ALIGNED(16) float4;
typedef struct { double x, y; } CPUDEV_ALIGNED(16) double2;
typedef struct { double x, y, z; } double3;
/* clang-format on */

#ifdef __cplusplus
struct dim3 {
	unsigned x, y, z;

	constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_)
	{
	}
	constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z)
	{
	}
	constexpr operator uint3() const
	{
		return uint3{ x, y, z };
	}
};
#else
typedef struct dim3 {
	unsigned x, y, z;
} dim3;
#endif

#endif
