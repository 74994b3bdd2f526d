/*
 * kernels.h - launches of the mlp workload's own kernels. Pointers are to device memory; `half`
 * says that activations and what flows back are bf16 instead of float (on a GPU only).
 */
#ifndef RIFT_MLP_KERNELS_H
#define RIFT_MLP_KERNELS_H

#include "workloads/mlp/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- both variants --------------------------------------------------------------------- */

/* Rows of a batch: pixels / 255 into x [rows][784], labels into y. */
void mlp_gather(const struct mlp_source *s, uint32_t rows, void *x, uint8_t *y, bool half,
		cudaStream_t stream);

/* He's initialisation of one layer: n weights of variance 2 / fan_in. */
void mlp_init(float *weight, uint32_t n, uint32_t fan_in, uint32_t layer, uint64_t seed,
	      cudaStream_t stream);

/* to[i] = from[i] in bf16. */
void mlp_convert(const float *from, uint16_t *to, size_t n, cudaStream_t stream);

/* The output layer: its input [batch][width], its weights, and the labels. */
struct mlp_head {
	const void *input;
	const float *weight, *bias;
	const uint8_t *label;
	uint32_t batch, width;
};

/* Adds to *right how many of the first `valid` rows are classified rightly. */
void mlp_predict(const struct mlp_head *h, uint32_t valid, unsigned *right, bool half,
		 cudaStream_t stream);

/*
 * Adds to sum[0] a number that depends on every bit of v and its place, to sum[1] how many are not
 * finite.
 */
void mlp_fingerprint(const float *v, size_t n, unsigned long long sum[2], cudaStream_t stream);

/* ---- launches=few ---------------------------------------------------------------------- */

/* What the output layer's kernel leaves. */
struct mlp_head_out {
	float *loss;  /* [batch] */
	float *delta; /* [batch][10]: dloss/dZ */
	void *below;  /* [batch][width]: dloss/dZ of the layer below, which is a ReLU layer */
	float *part;  /* mlp_parts() parts of stride each: dW [width][10], db [10], db below [width]
		       */
	uint64_t stride;
};

/* Forward, loss and backward of the output layer. */
void mlp_head(const struct mlp_head *h, const struct mlp_head_out *out, bool half,
	      cudaStream_t stream);

/* Momentum, weights, their copies; the mean loss, and the step is counted. */
void mlp_update(const struct mlp_update *u, cudaStream_t stream);

/* Fills in first_block of every tensor. */
void mlp_update_blocks(struct mlp_update *u);

/* z [rows][width] = max(z + bias, 0), where no epilogue does it. */
void mlp_bias_relu(void *z, const float *bias, uint32_t rows, uint32_t width, bool half,
		   cudaStream_t stream);

/* d = d where a > 0, else 0; and parts [mlp_parts()][width] of its sums over rows. */
void mlp_relu_gradient(void *d, const void *a, float *part, uint32_t rows, uint32_t width,
		       bool half, cudaStream_t stream);

/* ---- launches=one: whole steps in one launch, on a GPU with clusters (kernels_one.cu) ---- */

enum { MLP_ONE_WIDTH = 128, MLP_ONE_BATCH_MAX = 64 };

/* The network 784-128-10 and where its numbers are; arrays of parameters as struct mlp_net says. */
struct mlp_one {
	const uint16_t *pixel; /* of all images, as mlp_one_images() leaves them */
	const uint8_t *label;
	uint32_t images, batch;
	uint64_t seed; /* of the order */
	float rate, momentum;
	float *weight, *velocity;
	float *gradient, *hidden; /* of the last step: what the check looks at */
	size_t w1_at, b1_at, w2_at, b2_at;
	struct mlp_progress *progress;
	int64_t steps;
};

/* NULL where the device can run it, else why not. Once before the first launch. */
const char *mlp_one_refused(void);

/* Pixels as bf16, whole numbers from 0 to 255: out [images][784]. */
void mlp_one_images(const uint8_t *pixel, uint16_t *out, int64_t images, cudaStream_t stream);

void mlp_one(const struct mlp_one *o, cudaStream_t stream);

/* ---- launches=many: what a framework without fusion launches --------------------------- */

void mlp_many_gather(const struct mlp_source *s, uint32_t rows, uint8_t *pixel, uint8_t *y,
		     cudaStream_t stream);
void mlp_many_scale(const uint8_t *pixel, void *x, size_t n, bool half, cudaStream_t stream);
void mlp_many_bias(void *z, const float *bias, uint32_t rows, uint32_t width, bool half,
		   cudaStream_t stream);
void mlp_many_relu(void *z, size_t n, bool half, cudaStream_t stream);
/* ln P of each class */
void mlp_many_softmax(const float *z, float *log_p, uint32_t rows, cudaStream_t stream);
void mlp_many_loss(const float *log_p, const uint8_t *y, uint32_t rows,
		   struct mlp_progress *progress, cudaStream_t stream);
void mlp_many_delta(const float *log_p, const uint8_t *y, uint32_t rows, void *delta, bool half,
		    cudaStream_t stream);
void mlp_many_bias_gradient(const void *d, float *g, uint32_t rows, uint32_t width, bool half,
			    cudaStream_t stream);
void mlp_many_relu_gradient(void *d, const void *a, size_t n, bool half, cudaStream_t stream);
void mlp_many_momentum(float *v, const float *g, size_t n, float momentum, cudaStream_t stream);
void mlp_many_descend(float *w, const float *v, size_t n, float rate, cudaStream_t stream);
void mlp_many_count(struct mlp_progress *progress, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
