/*
 * device.h - what the host and the kernels of the decode workload share.
 *
 * Weights and the cache are in the precision of storage, activations in float. Vectors of
 * activations have a row a sequence, filled up with zeros to whole groups of DECODE_GROUP.
 */
#ifndef RIFT_DECODE_DEVICE_H
#define RIFT_DECODE_DEVICE_H

#include <cuda_runtime_api.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/philox.h"
#include "workloads/decode/model.h"

#ifdef __CUDACC__
#define DECODE_FN static inline __host__ __device__
#else
#define DECODE_FN static inline
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- numbers of two bytes ---------------------------------------------------------------- */

/* bfloat16: the upper half of a float. */
struct decode_bf16 {
	uint16_t bits;
};

union decode_float_bits {
	float value;
	uint32_t bits;
};

DECODE_FN float decode_widen(struct decode_bf16 v)
{
	union decode_float_bits u = { .bits = (uint32_t)v.bits << 16 };

	return u.value;
}

/* To the nearest, ties to even. A NaN stays one, whatever its lower half is. */
DECODE_FN struct decode_bf16 decode_round(float v)
{
	union decode_float_bits u = { .value = v };
	struct decode_bf16 out;

	if (v != v)
		out.bits = (uint16_t)(u.bits >> 16 | 0x40);
	else
		out.bits = (uint16_t)((u.bits + 0x7fff + (u.bits >> 16 & 1)) >> 16);
	return out;
}

/* ---- what is generated ------------------------------------------------------------------- */

/* Tags of Philox's counter beside enum decode_part, whose weights are tagged by their part. */
enum decode_tag { DECODE_TAG_KEY = 64, DECODE_TAG_VALUE, DECODE_TAG_TOKEN };

/*
 * Number i of a series: the sum of four uniform numbers of 16 bits, which is near to normal with
 * mean 0 and deviation 1 and ends at 3.46. Integers until the last operation, so that the host and
 * all devices have the same bits.
 */
DECODE_FN float decode_bell(uint64_t i, uint32_t tag, uint32_t layer, uint64_t seed)
{
	/* of a sum of four: sqrt(4 (2^32 - 1) / 12) */
	const float per_deviation = 1.0f / 37837.2266f;
	struct philox r = philox4x32((uint32_t)(i / 2), (uint32_t)(i / 2 >> 32), tag, layer, seed);
	uint32_t a = r.word[i % 2 * 2], b = r.word[i % 2 * 2 + 1];
	int32_t sum = (int32_t)((a & 0xffff) + (a >> 16) + (b & 0xffff) + (b >> 16)) - 2 * 0xffff;

	return (float)sum * per_deviation;
}

/* Series of a tensor: a norm is 1 and a little, a weight has this deviation. */
DECODE_FN float decode_weight(uint64_t i, uint32_t part, uint32_t layer, float deviation,
			      uint64_t seed)
{
	float bell = decode_bell(i, part, layer, seed);

	return part == DECODE_NORM_ATT || part == DECODE_NORM_FFN || part == DECODE_NORM_OUT
		       ? fmaf(0.05f, bell, 1) /* rounded once on every device */
		       : deviation * bell;
}

/* ---- what a step works with -------------------------------------------------------------- */

/* On the device. */
struct decode_progress {
	uint32_t step, position; /* steps since the reset; of the token in hand */
	uint32_t tickets;	 /* of blocks that have chosen in this step */
};

enum {
	DECODE_THREADS = 256,
	DECODE_WARPS = DECODE_THREADS / 32,
	DECODE_ATTENTION_THREADS =
		DECODE_HEAD_DIM_MAX, /* one an element, when parts are put together */
	DECODE_SPLITS_MAX = 32,
	DECODE_CHUNK_MAX = 8,	  /* sequences that a block multiplies at a time */
	DECODE_TENSOR_LEAST = 16, /* sequences from which on tensor cores multiply, in bf16 */
	DECODE_TENSOR_UNITS = 64, /* pairs of rows of a block of theirs */
	DECODE_TENSOR_STEP = 64,  /* columns that it takes at a time */
	DECODE_TILE = 8,	  /* sequences of a tile of activations */
	DECODE_TILE_COLUMNS = 32,
};

/* The same for all launches of a step. Pointers are the device's. */
struct decode_device {
	uint32_t dim, heads, kv_heads, head_dim, hidden, vocab;
	uint32_t dim_stride, head_stride, att_stride, hidden_stride; /* of rows, padded */
	uint32_t batch, positions, start, lap, history; /* as struct decode_shape; steps noted */
	uint32_t blocks;				/* of a product */
	uint32_t splits;				/* of a sequence's positions in attention */
	uint32_t head_lanes;  /* that hold a row of a head: a power of two */
	uint32_t shared_most; /* bytes that a block of a product may keep activations in */
	float eps, scale;
	struct decode_progress *progress;
	uint32_t *token;       /* [batch]: the input of the step in hand */
	const float *rotation; /* [positions][head_dim / 2][2]: cosine, sine */
	float *x;	       /* [batch][dim] */
	float *q;	       /* [batch][heads][head_dim] */
	void *att, *act;   /* [batch][heads head_dim], [batch][hidden]: float; `many`: as stored;
			    * for tensor cores bfloat16 in tiles */
	float *logits;	   /* [batch][vocab] */
	float *best_logit; /* [batch][blocks]: of the rows of a block */
	uint32_t *best_token;
	float *part; /* [batch][heads][splits][head_dim + 2]: sums, largest score, their sum */
	uint32_t *tickets;	 /* [batch][heads]: of splits that are done */
	uint32_t *history_token; /* [history][batch] */
	float *history_logit;
	const void *embedding, *norm_out, *head;

	/* Products on tensor cores (tensor.cuh), where `tensor` is not 0. */
	uint32_t tensor;	/* sequences that a block multiplies: 16, 32 or 64 */
	uint32_t tiles;		/* of DECODE_TILE sequences, whole blocks of them */
	uint32_t square_parts;	/* of a sequence */
	uint32_t processors;	/* multiprocessors */
	bool has_clusters;	/* of blocks, from compute capability 9.0 on */
	void *norm_x;		/* x times the next norm's weights, in tiles */
	float *squares;		/* [square_parts][DECODE_TILE tiles]: sums of squares of x */
	const void *norm_first; /* of the first layer */
};

/* Where tensor cores find the activation of sequence b and column k: in tiles of eight sequences
 * and 32 columns, a sequence after the other. Tiles lie column by column. */
DECODE_FN size_t decode_tile_place(const struct decode_device *d, uint32_t b, uint32_t k)
{
	size_t tile = (size_t)(k / DECODE_TILE_COLUMNS) * d->tiles + b / DECODE_TILE;

	return (tile * DECODE_TILE + b % DECODE_TILE) * DECODE_TILE_COLUMNS +
	       k % DECODE_TILE_COLUMNS;
}

/* Numbers of all tiles of so many columns. */
DECODE_FN size_t decode_tile_numbers(const struct decode_device *d, uint32_t columns)
{
	size_t whole = (columns + DECODE_TENSOR_STEP - 1) / DECODE_TENSOR_STEP * DECODE_TENSOR_STEP;

	return whole * d->tiles * DECODE_TILE;
}

/* One layer. */
struct decode_layer {
	const void *norm_att, *qkv, *o, *norm_ffn, *gate, *up, *down;
	const void *norm_next; /* of the next layer, or of the logits */
	void *key, *value;     /* [batch][kv_heads][positions][head_dim] */
};

#ifdef __cplusplus
}
#endif
#endif
