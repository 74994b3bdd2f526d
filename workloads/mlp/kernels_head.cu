/*
 * kernels_head.cu - the output layer in one launch: logits, softmax, loss, and all that flows back
 * from them. With ten classes no matrix product is worth a launch of its own.
 */
#include "workloads/mlp/head.cuh"

/* ---- forward, a warp a row ------------------------------------------------------------- */

/* Loss and delta of a row; delta stays in shared memory too. */
template <class T>
static __device__ inline void head_row(const struct mlp_head &h, const struct mlp_head_out &out,
				       uint32_t row, struct mlp_scratch *s, float *delta)
{
	uint32_t lane = threadIdx.x % MLP_LANES;
	int label = h.label[row];

	row_logits((const T *)h.input + (size_t)row * h.width, h.weight, h.bias, h.width, lane, s);
	int top = largest_class(s->z);

	if (lane < MLP_CLASSES)
		s->e[lane] = expf(s->z[lane] - s->z[top]);
	__syncwarp();
	if (lane < MLP_CLASSES) {
		float log_p = log_share(s->z, s->e, top, (int)lane);
		float d = delta_of(log_p, (int)lane == label) / (float)h.batch;

		delta[lane] = d;
		out.delta[(size_t)row * MLP_CLASSES + lane] = d;
		if ((int)lane == label)
			out.loss[row] = -log_p;
	}
	__syncwarp(); /* before the next row overwrites e and z */
}

/* ---- backward, a thread a column ------------------------------------------------------- */

/* The sums of a part, over rows of which delta is [rows][10]. */
struct column {
	float weight[MLP_CLASSES], gradient[MLP_CLASSES], below;
};

/* One row's share: what flows to the layer below, and what it adds to the sums. */
static __device__ inline float column_row(struct column *c, const float delta[MLP_CLASSES], float a)
{
	float d = 0;

	for (int i = 0; i < MLP_CLASSES; i++) {
		d += delta[i] * c->weight[i];
		c->gradient[i] += delta[i] * a;
	}
	d = a > 0 ? d : 0;
	c->below += d;
	return d;
}

/* Column j of the layer's input, over the rows of this block. */
template <class T>
static __device__ inline void head_column(const struct mlp_head &h, const struct mlp_head_out &out,
					  const float *delta, uint32_t first, uint32_t rows,
					  uint32_t j)
{
	float *part = out.part + blockIdx.x * out.stride;
	const T *a = (const T *)h.input + (size_t)first * h.width + j;
	T *below = (T *)out.below + (size_t)first * h.width + j;
	struct column c = {};

	for (int i = 0; i < MLP_CLASSES; i++)
		c.weight[i] = h.weight[(size_t)j * MLP_CLASSES + i];
	for (uint32_t r = 0; r < rows; r++)
		narrow(&below[(size_t)r * h.width],
		       column_row(&c, delta + r * MLP_CLASSES, widen(a[(size_t)r * h.width])));
	for (int i = 0; i < MLP_CLASSES; i++)
		part[(size_t)j * MLP_CLASSES + i] = c.gradient[i];
	part[(size_t)(h.width + 1) * MLP_CLASSES + j] = c.below;
}

static __device__ inline void bias_part(const struct mlp_head &h, const struct mlp_head_out &out,
					const float *delta, uint32_t rows, uint32_t c)
{
	float sum = 0;

	for (uint32_t r = 0; r < rows; r++)
		sum += delta[r * MLP_CLASSES + c];
	out.part[blockIdx.x * out.stride + (size_t)h.width * MLP_CLASSES + c] = sum;
}

/* A block for each part: mlp_part_rows() rows. */
template <class T> static __global__ void mlp_head_rows(struct mlp_head h, struct mlp_head_out out)
{
	SHARED_ARRAY(struct mlp_scratch, scratch, [MLP_WARPS]);
	DYN_SHARED(float, delta);
	uint32_t warp = threadIdx.x / MLP_LANES, most = mlp_part_rows(h.batch);
	uint32_t first = blockIdx.x * most, rows = h.batch - first < most ? h.batch - first : most;

	for (uint32_t r = warp; r < rows; r += MLP_WARPS)
		head_row<T>(h, out, first + r, &scratch[warp], delta + r * MLP_CLASSES);
	__syncthreads();
	for (uint32_t j = threadIdx.x; j < h.width; j += MLP_THREADS)
		head_column<T>(h, out, delta, first, rows, j);
	if (threadIdx.x < MLP_CLASSES)
		bias_part(h, out, delta, rows, threadIdx.x);
}
KERNEL(mlp_head_rows<float>);

void mlp_head(const struct mlp_head *h, const struct mlp_head_out *out, bool half,
	      cudaStream_t stream)
{
	size_t shared = mlp_part_rows(h->batch) * MLP_CLASSES * sizeof(float);

	by_kind(half, [=](auto *kind) {
		CUDA(LAUNCH(mlp_head_rows<KIND(kind)>, mlp_parts(h->batch), MLP_THREADS, shared,
			    stream, *h, *out));
	});
}

/* ---- how many are right ---------------------------------------------------------------- */

template <class T>
static __global__ void mlp_predict_rows(struct mlp_head h, uint32_t valid, unsigned *right)
{
	SHARED_ARRAY(struct mlp_scratch, scratch, [MLP_WARPS]);
	uint32_t warp = threadIdx.x / MLP_LANES, lane = threadIdx.x % MLP_LANES;
	uint32_t row = blockIdx.x * MLP_WARPS + warp;

	if (row >= valid)
		return;
	row_logits((const T *)h.input + (size_t)row * h.width, h.weight, h.bias, h.width, lane,
		   &scratch[warp]);
	if (!lane && largest_class(scratch[warp].z) == h.label[row])
		atomicAdd(right, 1u);
}
KERNEL(mlp_predict_rows<float>);

void mlp_predict(const struct mlp_head *h, uint32_t valid, unsigned *right, bool half,
		 cudaStream_t stream)
{
	by_kind(half, [=](auto *kind) {
		CUDA(LAUNCH(mlp_predict_rows<KIND(kind)>, (valid + MLP_WARPS - 1) / MLP_WARPS,
			    MLP_THREADS, 0, stream, *h, valid, right));
	});
}
