/* head.cuh - a warp and a row of the output layer: logits, softmax, loss. */
#ifndef RIFT_MLP_HEAD_CUH
#define RIFT_MLP_HEAD_CUH

#include "workloads/mlp/real.cuh"

/* A warp's own room. */
struct mlp_scratch {
	float part[MLP_CLASSES * MLP_LANES];  /* of 32 inputs' products with W, as W lies */
	float z[MLP_CLASSES], e[MLP_CLASSES]; /* e = exp(z - the largest) */
};

/*
 * z = a W + b for one row, by a warp. It reads W as it lies, 32 rows at a time: a lane's i-th
 * number of these 320 belongs to the same class each time. Then lanes 0 to 9 add up a class each.
 */
template <class T>
static __device__ inline void row_logits(const T *a, const float *weight, const float *bias,
					 uint32_t width, uint32_t lane, struct mlp_scratch *s)
{
	float sum[MLP_CLASSES] = { 0 };

	for (uint32_t first = 0; first < width; first += MLP_LANES)
		for (uint32_t i = 0; i < MLP_CLASSES; i++) {
			uint32_t at = i * MLP_LANES + lane, k = first + at / MLP_CLASSES;

			if (k < width)
				sum[i] += widen(a[k]) * weight[(size_t)first * MLP_CLASSES + at];
		}
	for (uint32_t i = 0; i < MLP_CLASSES; i++)
		s->part[i * MLP_LANES + lane] = sum[i];
	__syncwarp();
	if (lane < MLP_CLASSES) {
		float z = bias[lane];

		for (uint32_t i = 0; i < MLP_LANES; i++)
			z += s->part[i * MLP_CLASSES + lane];
		s->z[lane] = z;
	}
	__syncwarp();
}

/* The largest of z; the first of several. */
static __device__ inline int largest_class(const float z[MLP_CLASSES])
{
	int most = 0;

	for (int c = 1; c < MLP_CLASSES; c++)
		if (z[c] > z[most])
			most = c;
	return most;
}

/*
 * ln P of class c, from e[i] = exp(z[i] - most), `top` being the largest. Nothing cancels where the
 * answer is nearly certain: e[top] is 1, and the others are added by themselves.
 */
static __device__ inline float log_share(const float z[MLP_CLASSES], const float e[MLP_CLASSES],
					 int top, int c)
{
	float others = 0;

	for (int i = 0; i < MLP_CLASSES; i++)
		others += i == top ? 0 : e[i];
	return z[c] - z[top] - log1pf(others);
}

/* dloss/dz[c], by ln P: P - 1 of the right class, P of the others. */
static __device__ inline float delta_of(float log_p, bool right)
{
	return right ? expm1f(log_p) : expf(log_p);
}

#endif
