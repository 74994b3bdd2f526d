/*
 * device.h - what the host and the kernels of the mlp workload share.
 *
 * Matrices are row by row: activations have a row a sample, W_l has d_{l-1} rows and d_l columns.
 * Layer 0 is the input, 1 to hidden are ReLU layers, hidden + 1 is the output, of 10 classes.
 */
#ifndef RIFT_MLP_DEVICE_H
#define RIFT_MLP_DEVICE_H

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/philox.h"
#include "workloads/mlp/data.h"

#ifdef __CUDACC__
#define MLP_FN static inline __host__ __device__
#else
#define MLP_FN static inline
#endif

#ifdef __cplusplus
extern "C" {
#endif

enum {
	MLP_HIDDEN_MAX = 16,
	MLP_LAYERS_MAX = MLP_HIDDEN_MAX + 1,
	MLP_TENSORS_MAX = 2 * MLP_LAYERS_MAX, /* a W and a b for each layer */
	MLP_WIDTH_MIN = 8,
	MLP_WIDTH_MAX = 16384,
	MLP_BATCH_MAX = 65536,
	MLP_LOSSES = 16384, /* steps whose loss is kept */
};

/* Streams of random numbers, by the third word of Philox's counter. */
enum { MLP_TAG_WEIGHTS = 3, MLP_TAG_ORDER = 4 };

/* Where minibatches come from; device memory. */
struct mlp_source {
	const uint8_t *pixel, *label;
	uint32_t n;	      /* images */
	uint32_t first;	      /* of the batch, where they are taken as they lie */
	const uint64_t *step; /* NULL: as they lie; else minibatch *step of the shuffled ones */
	uint64_t seed;	      /* of the order */
};

/* What a step leaves for the next one, beside weights. */
struct mlp_progress {
	uint64_t step;		/* steps done since the reset */
	float loss[MLP_LOSSES]; /* of step k at k % MLP_LOSSES */
};

/* One W or b, and its share of the update. */
struct mlp_tensor {
	float *weight, *velocity;
	const void *gradient; /* float, or bf16 where half */
	uint16_t *copy;	      /* of the weight in bf16, or NULL */
	uint64_t stride;      /* elements from one part of the gradient to the next */
	uint32_t n, parts;    /* elements; parts whose sum the gradient is */
	uint32_t first_block; /* of the kernel that updates all tensors */
	uint32_t half;	      /* bool */
};

/* The last part of a step. */
struct mlp_update {
	struct mlp_tensor tensor[MLP_TENSORS_MAX];
	uint32_t tensors, batch;
	float rate, momentum;
	const float *loss; /* of each sample */
	struct mlp_progress *progress;
};

/*
 * Where sample i of n stands in an epoch's order: a permutation by a Feistel network of four
 * rounds over the next even number of bits, walked until it falls below n. Every epoch has keys
 * of its own.
 */
struct mlp_order {
	uint32_t key[4], bits, n;
};

MLP_FN struct mlp_order mlp_epoch_order(uint32_t n, uint64_t epoch, uint64_t seed)
{
	struct philox key =
		philox4x32((uint32_t)epoch, (uint32_t)(epoch >> 32), MLP_TAG_ORDER, 0, seed);
	struct mlp_order o = { { key.word[0], key.word[1], key.word[2], key.word[3] }, 1, n };

	while (((uint64_t)1 << 2 * o.bits) < n)
		o.bits++;
	return o;
}

MLP_FN uint32_t mlp_permuted_by(const struct mlp_order *o, uint32_t i)
{
	uint32_t mask = (1u << o->bits) - 1;

	do {
		uint32_t left = i >> o->bits, right = i & mask;

		for (int round = 0; round < 4; round++) {
			uint32_t x = (right ^ o->key[round]) * 0x9E3779B1u, was = right;

			x = (x ^ x >> 15) * 0x85EBCA77u;
			right = left ^ ((x ^ x >> 13) & mask);
			left = was;
		}
		i = left << o->bits | right;
	} while (i >= o->n);
	return i;
}

MLP_FN uint32_t mlp_permuted(uint32_t i, uint32_t n, uint64_t epoch, uint64_t seed)
{
	const struct mlp_order o = mlp_epoch_order(n, epoch, seed);

	return mlp_permuted_by(&o, i);
}

/* The image that minibatch `step`, of `batch` images, has in its row. */
MLP_FN uint32_t mlp_sample(uint64_t step, uint32_t batch, uint32_t row, uint32_t n, uint64_t seed)
{
	uint64_t at = step * batch + row;

	return mlp_permuted((uint32_t)(at % n), n, at / n, seed);
}

/*
 * Sums over a batch come in parts, of so many rows each: few enough parts to add up, enough to
 * keep a GPU busy.
 */
MLP_FN uint32_t mlp_part_rows(uint32_t batch)
{
	uint32_t rows = (batch + 127) / 128;

	return rows < 4 ? 4 : rows > 64 ? 64 : rows;
}

MLP_FN uint32_t mlp_parts(uint32_t batch)
{
	return (batch + mlp_part_rows(batch) - 1) / mlp_part_rows(batch);
}

#ifdef __cplusplus
}
#endif
#endif
