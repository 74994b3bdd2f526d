/*
 * fnv.h - FNV-1a, 64 bits (Fowler, Noll, Vo): a short name for many bytes, as known answers are
 * written down. Not for security.
 */
#ifndef RIFT_FNV_H
#define RIFT_FNV_H

#include <stddef.h>
#include <stdint.h>

#define FNV_START 0xcbf29ce484222325ull

/* The hash of what came before, FNV_START for nothing, and these bytes. */
static inline uint64_t fnv_add(uint64_t hash, const void *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		hash = (hash ^ ((const unsigned char *)bytes)[i]) * 0x100000001b3ull;
	return hash;
}

#endif
