/*
 * infer.h - work=inference: the network, its numbers, and what host and kernels share.
 *
 * The shape is tiny-cuda-nn's "fully fused MLP" (Mueller, Rousselle, Novak and Keller, 2021):
 * hidden layers of one width with ReLU, 16 outputs without, and no biases. A step is one forward
 * pass over a batch.
 *
 * Matrices lie row by row: inputs have a row per sample, W_l a row per unit of layer l, one W
 * right after the other. Every input and weight has few enough bits for fp16, so that both
 * precisions start from the same numbers, and the host can make them again.
 */
#ifndef RIFT_MLP_INFER_H
#define RIFT_MLP_INFER_H

#include "common/slots.h"
#include "workloads/mlp/device.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
	MLP_OUTPUTS = 16,
	MLP_INFER_HIDDEN_MIN = 2,
	MLP_INFER_HIDDEN_MAX = 8,
	MLP_INFER_WIDTH_MAX = 128,
	MLP_INFER_BATCH_MAX = 1 << 20,
};

/* Streams of random numbers, as the others of device.h. */
enum { MLP_TAG_INFER_WEIGHTS = 5, MLP_TAG_INFER_INPUTS = 6 };

struct mlp_infer_net {
	uint32_t features, width, hidden; /* of the input; of each of so many hidden layers */
};

/* Columns and rows of W_l, l from 1 to hidden + 1, and where it begins. */
MLP_FN uint32_t mlp_infer_in(const struct mlp_infer_net *n, uint32_t l)
{
	return l == 1 ? n->features : n->width;
}

MLP_FN uint32_t mlp_infer_out(const struct mlp_infer_net *n, uint32_t l)
{
	return l > n->hidden ? (uint32_t)MLP_OUTPUTS : n->width;
}

MLP_FN uint32_t mlp_infer_at(const struct mlp_infer_net *n, uint32_t l)
{
	return l == 1 ? 0 : n->width * (n->features + (l - 2) * n->width);
}

MLP_FN uint32_t mlp_infer_weights(const struct mlp_infer_net *n)
{
	return mlp_infer_at(n, n->hidden + 1) + n->width * (uint32_t)MLP_OUTPUTS;
}

/* ---- numbers --------------------------------------------------------------------------- */

/* Number i of a batch, in row i / features: one of 512 in [-1, 1). */
MLP_FN float mlp_infer_input(uint32_t i, uint32_t slot, uint64_t seed)
{
	struct philox r = philox4x32(i / 4, slot, MLP_TAG_INFER_INPUTS, 0, seed);

	return (float)((int32_t)(r.word[i % 4] >> 23) - 256) * (1.0f / 256);
}

/*
 * Weight i of all: one of 2048 in [-1/4, 1/4). Their variance is 1/48, with which the outputs of
 * networks of 2 to 8 hidden layers are about 0.08 (width 64) to 3 (width 128) in root mean square.
 */
MLP_FN float mlp_infer_weight(uint32_t i, uint64_t seed)
{
	struct philox r = philox4x32(i / 4, 0, MLP_TAG_INFER_WEIGHTS, 0, seed);

	return (float)((int32_t)(r.word[i % 4] >> 21) - 1024) * (1.0f / 4096);
}

/* ---- weights in the order of tensor cores ------------------------------------------------ */

enum {
	MLP_TILE = 16,		     /* inputs of a product of tensor cores, m16n8k16 */
	MLP_UNIT = 2 * 8 * MLP_TILE, /* weights that a warp loads at a time: 16 outputs of it */
};

/*
 * The weight, counted as above, that the fused kernel keeps at place i. A warp takes a unit in one
 * load of 16 bytes per lane: operand B of two products side by side. Its layout is that of PTX's
 * mma.m16n8k16: lane 4 g + t has rows 2 t, 2 t + 1, 2 t + 8 and 2 t + 9 of column g.
 *
 * Within a layer the sum may take its inputs in any order, and outputs may be dealt to columns in
 * any order. So inputs come in the order in which a lane loads them from DRAM, 8 numbers at a time,
 * and a lane's 4 outputs of a row lie side by side.
 */
MLP_FN uint32_t mlp_infer_source(const struct mlp_infer_net *n, uint32_t i)
{
	uint32_t l =
		i < mlp_infer_at(n, 2) ? 1 : 2 + (i - mlp_infer_at(n, 2)) / (n->width * n->width);
	uint32_t in = mlp_infer_in(n, l), at = i - mlp_infer_at(n, l);
	uint32_t unit = at / MLP_UNIT, lane = at / 8 % 32, g = lane / 4, t = lane % 4;
	uint32_t tile = at / 4 % 2, high = at / 2 % 2, odd = at % 2; /* which product; row 8 on */
	uint32_t pair = unit / (in / MLP_TILE), step = unit % (in / MLP_TILE);
	uint32_t row = pair * 16 + tile * 8 + g, col = step * MLP_TILE + high * 8 + 2 * t + odd;

	if (l == 1)
		col = 8 * (t + 4 * (step / 2)) + 2 * (2 * (step % 2) + high) + odd;
	if (l > n->hidden)
		row = 4 * (g / 2) + 2 * tile + g % 2;
	return mlp_infer_at(n, l) + row * in + col;
}

/* ---- launches (kernels_infer.cu) --------------------------------------------------------- */

/* Device memory; half: all numbers are fp16, else fp32. */
struct mlp_infer_launch {
	struct mlp_infer_net net;
	uint32_t batch, slots, steps; /* steps: of this launch; slots are taken in turn */
	const void *x;		      /* [batch][features], of slot 0 */
	void *y;		      /* [batch][16] */
	int64_t x_stride, y_stride;   /* bytes from one slot to the next */
	const void *weight;	      /* fp16: in the order of tensor cores */
	struct slots_counter *counter;
	int processors;	    /* of the device: SMs */
	size_t shared_most; /* likewise: bytes of shared memory that a block may have */
};

/* NULL, or why the device cannot run it. Fills in what the device decides; once, before the rest.
 */
const char *mlp_infer_prepare(struct mlp_infer_launch *l, bool half);

/* All layers in one launch. */
void mlp_infer(const struct mlp_infer_launch *l, bool half, cudaStream_t stream);

/* Enqueues n inputs of a slot, or all weights, in the order of tensor cores where packed. */
void mlp_infer_fill(void *x, uint32_t n, uint32_t slot, uint64_t seed, bool half,
		    cudaStream_t stream);
void mlp_infer_fill_weights(void *w, const struct mlp_infer_net *n, bool packed, uint64_t seed,
			    bool half, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
