/*
 * reference.h - the network in double on the host, sample by sample: what gradients are checked
 * against. Written apart from the kernels; shares with them where parameters lie (struct mlp_net).
 */
#ifndef RIFT_MLP_REFERENCE_H
#define RIFT_MLP_REFERENCE_H

#include "workloads/mlp/mlp.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A batch: input [batch][784], labels. */
struct mlp_batch {
	int64_t batch;
	double *input;
	uint8_t *label;
};

/*
 * Which side of 0 the device's activations were on. It decides where the reference's own are so
 * near 0, `slack` times the root mean square of the row, that rounding may: else one of millions
 * on the other side would look like a wrong gradient. [l]: [batch][width] of a hidden layer.
 */
struct mlp_sides {
	const float *activation[MLP_LAYERS_MAX + 1];
	double slack;
};

/* Minibatch `step` of the images. To be freed. */
struct mlp_batch mlp_batch_new(const struct mlp_images *im, uint64_t step, uint32_t batch,
			       uint64_t seed);
void mlp_batch_free(struct mlp_batch *b);

/*
 * Mean loss of the batch; and its gradient into an array as net says, where that is not NULL; and
 * where reach is not NULL the largest sum of magnitudes that a logit's terms have. sides may be
 * NULL. About 6 x parameters x batch operations, 2 x without the gradient.
 */
double mlp_reference(const struct mlp_net *net, const double *weight, const struct mlp_batch *b,
		     const struct mlp_sides *sides, double *gradient, double *reach);

/* Weight i of layer l at the start. */
double mlp_reference_init(const struct mlp_net *net, int l, uint32_t i, uint64_t seed);

#ifdef __cplusplus
}
#endif
#endif
