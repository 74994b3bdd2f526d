/*
 * pattern.h - bytes that say where they belong: 8-byte words, the same on host and device, so that
 * memory is filled and compared on either side without a copy.
 */
#ifndef RIFT_PATTERN_H
#define RIFT_PATTERN_H

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __CUDACC__
#define PATTERN_FN static inline __host__ __device__
#else
#define PATTERN_FN static inline
#endif

/* What stands where nothing is meant to be. */
#define PATTERN_GUARD 0xa5a5a5a5a5a5a5a5ull
enum { PATTERN_GUARD_BYTE = 0xa5 };

/*
 * The word at this place: the finalizer of MurmurHash3 (Appleby), a bijection in which half of the
 * bits change with each bit of the place. No place is shifted onto another.
 */
PATTERN_FN uint64_t pattern_word(uint64_t place)
{
	uint64_t v = place + 0x9e3779b97f4a7c15ull;

	v = (v ^ v >> 33) * 0xff51afd7ed558ccdull;
	v = (v ^ v >> 33) * 0xc4ceb9fe1a85ec53ull;
	return v ^ v >> 33;
}

/*
 * Word k of memory that holds so many bytes of the pattern, from word `first` of it on, and guards
 * behind them.
 */
PATTERN_FN uint64_t pattern_expected(uint64_t k, uint64_t first, uint64_t bytes)
{
	uint64_t left = bytes > 8 * k ? bytes - 8 * k : 0, mask;

	if (left >= 8)
		return pattern_word(first + k);
	mask = (1ull << 8 * left) - 1; /* of the lower addresses: little-endian */
	return (pattern_word(first + k) & mask) | (PATTERN_GUARD & ~mask);
}

#ifdef __cplusplus
extern "C" {
#endif

/* ---- memory of the device (pattern.cu); addresses and sizes are multiples of 8 ------------ */

/*
 * Words that are not as they should be. On the device all are taken to be wrong until a kernel has
 * found them right: a comparison that did not run, or not to its end, must not pass.
 */
struct pattern_wrong {
	unsigned long long words; /* how many */
	unsigned long long first; /* the first one that was found; all bits set: none */
};

/* Before `size` bytes are compared. */
static inline struct pattern_wrong pattern_all_wrong(size_t size)
{
	struct pattern_wrong all = { size / 8, ~0ull };

	return all;
}

/* Makes the driver load the kernels. */
void pattern_load_kernels(void);

/* Enqueues: `size` bytes become pattern_expected(k, first, bytes). */
void pattern_fill(void *dst, size_t size, uint64_t first, uint64_t bytes, cudaStream_t stream);

/*
 * Enqueues: what of `size` bytes is so is taken from out->words, the first that is not goes into
 * out->first; device memory.
 */
void pattern_compare(const void *src, size_t size, uint64_t first, uint64_t bytes,
		     struct pattern_wrong *out, cudaStream_t stream);

/* The same on the host, at once. */
struct pattern_wrong pattern_compare_host(const void *src, size_t size, uint64_t first,
					  uint64_t bytes);

#ifdef __cplusplus
}
#endif
#endif
