/*
 * warp.cuh - operations of the 32 threads of a warp, in CUDA's _sync form. The mask names exactly
 * the lanes that arrive; lanes that meet in different operations end the program with a report.
 */
#ifndef RIFT_CPU_WARP_CUH
#define RIFT_CPU_WARP_CUH

#include "../cpudev.h"

#include <string.h>

static inline void __syncwarp(unsigned mask = 0xffffffff)
{
	cpudev_warp(CPUDEV_SYNCWARP, mask, 0, 0);
}

static inline unsigned __ballot_sync(unsigned mask, int predicate)
{
	return cpudev_warp(CPUDEV_BALLOT, mask, predicate != 0, 0);
}

static inline int __any_sync(unsigned mask, int predicate)
{
	return __ballot_sync(mask, predicate) != 0;
}

static inline int __all_sync(unsigned mask, int predicate)
{
	return __ballot_sync(mask, !predicate) == 0;
}

/* Which lane each variant reads from is worked out here; the library only moves values. */
namespace cpudev
{
static inline unsigned lane()
{
	unsigned row = threadIdx.z * blockDim.y + threadIdx.y;

	return (row * blockDim.x + threadIdx.x) % 32;
}

template <class T> static inline uint64_t to_bits(T value)
{
	static_assert(sizeof(T) == 4 || sizeof(T) == 8, "32 or 64 bits, as on a GPU");
	uint64_t bits = 0;

	memcpy(&bits, &value, sizeof(value));
	return bits;
}

template <class T> static inline T shuffle(unsigned mask, T value, unsigned source)
{
	uint64_t bits = cpudev_warp(CPUDEV_SHUFFLE, mask, to_bits(value), source);

	memcpy(&value, &bits, sizeof(value));
	return value;
}
} // namespace cpudev

/* width: a power of two; lanes of a segment of that size exchange among themselves. */
template <class T> static inline T __shfl_sync(unsigned mask, T value, int lane, int width = 32)
{
	unsigned segment = cpudev::lane() & ~(width - 1);

	return cpudev::shuffle(mask, value, segment | (lane & (width - 1)));
}

template <class T>
static inline T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32)
{
	unsigned self = cpudev::lane(), rank = self & (width - 1);

	return cpudev::shuffle(mask, value, delta > rank ? self : self - delta);
}

template <class T>
static inline T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32)
{
	unsigned self = cpudev::lane(), left = width - 1 - (self & (width - 1));

	return cpudev::shuffle(mask, value, delta > left ? self : self + delta);
}

template <class T> static inline T __shfl_xor_sync(unsigned mask, T value, int bits, int width = 32)
{
	unsigned self = cpudev::lane(), source = self ^ (unsigned)bits;

	return cpudev::shuffle(mask, value, source > (self | (width - 1)) ? self : source);
}

template <class T> static inline unsigned __match_any_sync(unsigned mask, T value)
{
	return cpudev_warp(CPUDEV_MATCH, mask, cpudev::to_bits(value), 0);
}

#endif
