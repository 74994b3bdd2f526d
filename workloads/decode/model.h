/*
 * model.h - the shape of a language model of Llama's kind, and where its weights lie.
 *
 * All weights lie in one array, the *arena*, in the precision of storage (2 bytes: bfloat16, 4:
 * float). A matrix lies row by row, out x in, so that row r makes element r of the product. Each
 * row begins at a multiple of DECODE_GROUP elements and is filled up to one with zeros. Norms are
 * one row.
 *
 * Tensors lie in the order of enum decode_part, layer after layer, and begin at multiples of
 * DECODE_ALIGN elements. K and V do not: they follow the last row of Q and of K at once, so that
 * the three are one matrix of (heads + 2 kv_heads) head_dim rows.
 */
#ifndef RIFT_DECODE_MODEL_H
#define RIFT_DECODE_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
	DECODE_GROUP = 8,  /* elements that a thread loads at a time; rows are whole groups */
	DECODE_ALIGN = 64, /* elements */
	DECODE_DIM_MAX = 16384,
	DECODE_LAYERS_MAX = 128,
	DECODE_HEADS_MAX = 256,
	DECODE_HEAD_DIM_MAX = 256,
	DECODE_HIDDEN_MAX = 57344,
	DECODE_VOCAB_MAX = 1 << 20,
	DECODE_POSITIONS_MAX = 1 << 20,
};

/* d, h, k, e, f and V of the specification of the step (decode.c). */
struct decode_model {
	uint32_t dim, layers, heads, kv_heads, head_dim, hidden, vocab;
	bool tied;	    /* logits by the rows of the embedding */
	double theta, eps;  /* of the rotation; of the norms */
	uint32_t positions; /* that the model was made for; 0: not said */
	/*
	 * Llama 3.1's scaling of the rotation, or all 0: what turns less than rope_low times in
	 * rope_positions positions turns rope_factor times slower, what turns more than rope_high
	 * times as before, and what lies between by a straight line.
	 */
	double rope_factor, rope_low, rope_high;
	uint32_t rope_positions;
};

/* One of each layer, but for the first, which the model has once, and the last two. */
enum decode_part {
	DECODE_EMBEDDING, /* vocab x dim */
	DECODE_NORM_ATT,  /* 1 x dim */
	DECODE_Q,	  /* heads head_dim x dim */
	DECODE_K,	  /* kv_heads head_dim x dim */
	DECODE_V,	  /* the same */
	DECODE_O,	  /* dim x heads head_dim */
	DECODE_NORM_FFN,  /* 1 x dim */
	DECODE_GATE,	  /* hidden x dim */
	DECODE_UP,	  /* the same */
	DECODE_DOWN,	  /* dim x hidden */
	DECODE_NORM_OUT,  /* 1 x dim */
	DECODE_HEAD,	  /* vocab x dim; with tied the embedding itself */
	DECODE_PARTS
};

struct decode_tensor {
	enum decode_part part;
	uint32_t layer; /* 0 for what the model has once */
	uint32_t rows, cols, stride;
	size_t at; /* of the first element in the arena */
};

/* A tensor and its place; `layer` is below m->layers, and 0 for what the model has once. */
struct decode_tensor decode_find(const struct decode_model *m, enum decode_part part,
				 uint32_t layer);

/* The angle by which pair i of a head, i < head_dim / 2, is turned for each position. */
double decode_frequency(const struct decode_model *m, uint32_t i);

/* Elements of the arena, a multiple of DECODE_ALIGN. */
size_t decode_arena(const struct decode_model *m);

/* Weights, without what fills rows up. */
uint64_t decode_parameters(const struct decode_model *m);

/* Tensors that have memory of their own, in the order in which they lie; i from 0 on. */
uint32_t decode_tensors(const struct decode_model *m);
struct decode_tensor decode_tensor_at(const struct decode_model *m, uint32_t i);

static inline uint32_t decode_padded(uint32_t n)
{
	return (n + DECODE_GROUP - 1) / DECODE_GROUP * DECODE_GROUP;
}

#ifdef __cplusplus
}
#endif
#endif
