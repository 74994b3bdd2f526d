/* dtype.h - the types of a file's elements, and how they become those of the arena. */
#ifndef RIFT_DECODE_DTYPE_H
#define RIFT_DECODE_DTYPE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum dtype { DTYPE_OTHER, DTYPE_F32, DTYPE_F16, DTYPE_BF16 };

/* By its name in safetensors, "BF16". */
enum dtype decode_dtype_named(const char *name);

/* Bytes of an element; 0 of DTYPE_OTHER. */
size_t decode_dtype_bytes(enum dtype type);

/*
 * n elements as they are in a file, which need not be aligned, to bfloat16 (bytes 2) or float (4).
 * float to bfloat16 rounds to the nearest, ties to even; a NaN stays one; all else is exact.
 */
void decode_dtype_convert(enum dtype type, const void *from, size_t n, int bytes, void *out);

#ifdef __cplusplus
}
#endif
#endif
