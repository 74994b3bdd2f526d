/*
 * kernels_update.cu - stochastic gradient descent with momentum on all tensors in one launch.
 *
 * In pseudo-code, for each block:
 *
 *   last block: loss[step] = mean of the samples' losses; count the step
 *   others: tensor = that whose blocks include this one; for each element:
 *     gradient = its value, or the sum of its parts: warp w adds parts w, w + 8, ...
 *     velocity = momentum x velocity + gradient; weight -= rate x velocity
 *     bf16 copy of the weight, if the tensor has one
 *
 * mlp_check_update() of check.c computes the same in double, from gradients of mlp_reference().
 */
#include "workloads/mlp/real.cuh"

/*
 * Elements of a block: four per thread. Where the gradient comes in parts, one for each lane of a
 * warp; the block's warps share their parts.
 */
enum { EACH = 4, WHOLE = EACH * MLP_THREADS, PARTED = MLP_LANES };

static __device__ inline float gradient_at(const struct mlp_tensor &t, size_t i)
{
#ifdef __CUDACC__
	if (t.half)
		return __bfloat162float(((const __nv_bfloat16 *)t.gradient)[i]);
#endif
	return ((const float *)t.gradient)[i];
}

/* Updates one element, whose velocity and weight have been loaded. */
static __device__ inline void update_element(const struct mlp_tensor &t, uint32_t i, float gradient,
					     float velocity, float weight,
					     const struct mlp_update &u)
{
	float v = u.momentum * velocity + gradient, w = weight - u.rate * v;

	t.velocity[i] = v;
	t.weight[i] = w;
#ifdef __CUDACC__
	if (t.copy)
		((__nv_bfloat16 *)t.copy)[i] = __float2bfloat16(w);
#endif
}

/* A thread's loads are in flight before its first store. */
static __device__ inline void update_whole(const struct mlp_tensor &t, uint32_t block,
					   const struct mlp_update &u)
{
	float gradient[EACH], velocity[EACH], weight[EACH];

	for (uint32_t k = 0; k < EACH; k++) {
		uint32_t i = block * WHOLE + k * MLP_THREADS + threadIdx.x;
		bool is_active = i < t.n;

		gradient[k] = is_active ? gradient_at(t, i) : 0;
		velocity[k] = is_active ? t.velocity[i] : 0;
		weight[k] = is_active ? t.weight[i] : 0;
	}
	for (uint32_t k = 0; k < EACH; k++) {
		uint32_t i = block * WHOLE + k * MLP_THREADS + threadIdx.x;

		if (i < t.n)
			update_element(t, i, gradient[k], velocity[k], weight[k], u);
	}
}

/* The sum of parts p, p + MLP_WARPS, ... of element i: MLP_AHEAD of them, loaded at once. */
static __device__ inline float parts_from(const struct mlp_tensor &t, uint32_t p, uint32_t i)
{
	float v[MLP_AHEAD], sum = 0;

	for (uint32_t k = 0; k < MLP_AHEAD; k++) {
		uint32_t at = p + k * MLP_WARPS;

		v[k] = at < t.parts ? ((const float *)t.gradient)[at * t.stride + i] : 0;
	}
	for (uint32_t k = 0; k < MLP_AHEAD; k++)
		sum += v[k];
	return sum;
}

/* Warp w adds parts w, w + 8, ...; then the first one adds up the warps. */
static __device__ inline void update_parted(const struct mlp_tensor &t, uint32_t block,
					    const struct mlp_update &u, float *shared)
{
	uint32_t lane = threadIdx.x % MLP_LANES, i = block * PARTED + lane;
	bool is_active = threadIdx.x < MLP_LANES && i < t.n;
	float velocity = is_active ? t.velocity[i] : 0, weight = is_active ? t.weight[i] : 0,
	      sum = 0;

	for (uint32_t p = threadIdx.x / MLP_LANES; i < t.n && p < t.parts;
	     p += MLP_AHEAD * MLP_WARPS)
		sum += parts_from(t, p, i);
	shared[threadIdx.x] = sum;
	__syncthreads();
	if (!is_active)
		return;
	for (uint32_t w = 1; w < MLP_WARPS; w++)
		sum += shared[w * MLP_LANES + lane];
	update_element(t, i, sum, velocity, weight, u);
}

/* The sum of losses r, r + MLP_THREADS, ...: MLP_AHEAD of them, loaded at once. */
static __device__ inline float losses_from(const struct mlp_update &u, uint32_t r)
{
	float v[MLP_AHEAD], sum = 0;

	for (uint32_t k = 0; k < MLP_AHEAD; k++) {
		uint32_t at = r + k * MLP_THREADS;

		v[k] = at < u.batch ? u.loss[at] : 0;
	}
	for (uint32_t k = 0; k < MLP_AHEAD; k++)
		sum += v[k];
	return sum;
}

/* The mean loss of the batch; then the step is over. */
static __device__ inline void finish_step(const struct mlp_update &u, float *shared)
{
	float sum = 0;

	for (uint32_t r = threadIdx.x; r < u.batch; r += MLP_AHEAD * MLP_THREADS)
		sum += losses_from(u, r);
	sum = block_sum(sum, shared);
	if (threadIdx.x)
		return;
	uint64_t step = u.progress->step;

	u.progress->loss[step % MLP_LOSSES] = sum / (float)u.batch;
	u.progress->step = step + 1;
}

/* The last block finishes the step: nothing else in this kernel looks at it. */
extern "C" __global__ void mlp_update_tensors(struct mlp_update u)
{
	SHARED_ARRAY(float, shared, [MLP_THREADS]);
	uint32_t at = 0;

	if (blockIdx.x == gridDim.x - 1) {
		finish_step(u, shared);
		return;
	}
	while (at + 1 < u.tensors && blockIdx.x >= u.tensor[at + 1].first_block)
		at++;
	const struct mlp_tensor t = u.tensor[at];

	if (t.parts > 1)
		update_parted(t, blockIdx.x - t.first_block, u, shared);
	else
		update_whole(t, blockIdx.x - t.first_block, u);
}
KERNEL(mlp_update_tensors);

static uint32_t tensor_blocks(const struct mlp_tensor *t)
{
	uint32_t each = t->parts > 1 ? PARTED : WHOLE;

	return (t->n + each - 1) / each;
}

void mlp_update_blocks(struct mlp_update *u)
{
	uint32_t next = 0;

	for (uint32_t i = 0; i < u->tensors; i++) {
		u->tensor[i].first_block = next;
		next += tensor_blocks(&u->tensor[i]);
	}
}

void mlp_update(const struct mlp_update *u, cudaStream_t stream)
{
	const struct mlp_tensor *last = &u->tensor[u->tensors - 1];

	CUDA(LAUNCH(mlp_update_tensors, last->first_block + tensor_blocks(last) + 1, MLP_THREADS, 0,
		    stream, *u));
}
