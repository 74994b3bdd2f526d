/*
 * kernels.h - launches of the decode workload's kernels, each in a stream. half: weights and cache
 * are bfloat16, else float. overlaps: the launch may begin before the one before it has ended
 * (common/programmatic.h).
 */
#ifndef RIFT_DECODE_KERNELS_H
#define RIFT_DECODE_KERNELS_H

#include "workloads/decode/device.h"

#ifdef __cplusplus
extern "C" {
#endif

enum decode_product {
	DECODE_QKV,
	DECODE_OUT,
	DECODE_GATE_UP,
	DECODE_BACK,
	DECODE_LOGITS,
	DECODE_PRODUCTS
};

/*
 * Products of launches=few, each with what comes before and after it:
 *   DECODE_QKV      norm, products, rotation; q, and a row of the cache
 *   DECODE_OUT      product of what attention left, added to x
 *   DECODE_GATE_UP  norm, products, silu(gate) up
 *   DECODE_BACK     product of that, added to x
 *   DECODE_LOGITS   norm, product, the best of each block
 */
void decode_multiply(enum decode_product which, const struct decode_device *d,
		     const struct decode_layer *l, bool half, bool overlaps, cudaStream_t stream);

/* narrow: att is left in the precision of storage. */
void decode_attend(const struct decode_device *d, const struct decode_layer *l, bool half,
		   bool narrow, bool overlaps, cudaStream_t stream);

/* The best of all blocks' best: it is noted, its embedding is the next x, and the step is counted.
 */
void decode_choose(const struct decode_device *d, bool half, bool overlaps, cudaStream_t stream);

/* x from these tokens, [batch] on the device, at this position; no steps yet. */
void decode_begin(const struct decode_device *d, const uint32_t *token, uint32_t position,
		  bool half, cudaStream_t stream);

/* Rows of a cache from `start` on become NaN; what fills them up stays zeros. */
void decode_poison(const struct decode_device *d, void *cache, uint32_t layers, bool half,
		   cudaStream_t stream);

/* ---- launches=many: what a framework launches beside the library's products --------------- */

/* out[batch][dim], as stored, from x. */
void decode_many_norm(const struct decode_device *d, const void *weight, void *out, bool half,
		      cudaStream_t stream);

/* q[batch][heads head_dim] to d->q, and k in place. */
void decode_many_rotate(const struct decode_device *d, const float *q, float *k,
			cudaStream_t stream);

/* k and v [batch][kv_heads head_dim] into the cache. */
void decode_many_append(const struct decode_device *d, const struct decode_layer *l, const float *k,
			const float *v, bool half, cudaStream_t stream);

void decode_many_add(const struct decode_device *d, const float *y, cudaStream_t stream);
void decode_many_silu(const struct decode_device *d, const float *gate, const float *up, bool half,
		      cudaStream_t stream);
void decode_many_best(const struct decode_device *d, cudaStream_t stream);

/* ---- inputs -------------------------------------------------------------------------------- */

/* A tensor of generated weights, at its place in the arena. */
void decode_fill_weights(const struct decode_tensor *t, void *arena, float deviation, uint64_t seed,
			 bool half, cudaStream_t stream);

/* Keys or values of `layers` layers below `start`, generated; by tag. */
void decode_fill_cache(const struct decode_device *d, void *cache, uint32_t layers, uint32_t tag,
		       uint64_t seed, bool half, cudaStream_t stream);

/* Loads what both have; the products of few, for this shape; what many has besides. */
void decode_load(bool half);
void decode_load_products(const struct decode_device *d, bool half);
void decode_load_many(bool half);

/* Sequences that a block multiplies at a time, with rows of so many numbers. */
uint32_t decode_chunk(const struct decode_device *d, uint32_t stride);

#ifdef __cplusplus
}
#endif
#endif
