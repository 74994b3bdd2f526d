/*
 * head.cuh - the output layer forward: logits of a few rows by each warp of a block, softmax, loss.
 *
 * A lane takes four columns of each 128. Weights pass through shared memory, a strip of columns at
 * a time, so that what is read there serves all rows of a warp.
 */
#ifndef RIFT_MLP_HEAD_CUH
#define RIFT_MLP_HEAD_CUH

#include "workloads/mlp/real.cuh"

enum {
	MLP_WARP_COLUMNS = 4 * MLP_LANES, /* columns that a warp reads at once */
	MLP_STRIP = 4 * MLP_WARP_COLUMNS, /* columns in shared memory at a time */
	MLP_STRIP_PITCH = MLP_STRIP + 4,  /* staged by columns, they lie in different banks so */
	MLP_STAGED = MLP_STRIP * MLP_CLASSES / MLP_THREADS, /* of these, a thread */
	MLP_PAIR = 2,			   /* rows whose logits a warp adds up at a time */
	MLP_ENDS = MLP_PAIR * MLP_CLASSES, /* their logits: a lane for each */
};

/* Shared memory of a warp for a pair of rows. */
struct mlp_scratch {
	float part[MLP_ENDS][MLP_LANES + 4]; /* each lane's share of a logit */
	float z[MLP_ENDS], e[MLP_ENDS];	     /* logits; e = exp(z - the row's largest) */
};

/* Shared memory of a block. Weights of no more than a strip are read once and stay. */
struct alignas(16) mlp_smem {
	float strip[MLP_CLASSES][MLP_STRIP_PITCH];
	struct mlp_scratch scratch[MLP_WARPS];
};

/*
 * Stages the weights of the columns from `first` on, class by class; 0 up to a whole vec4. All
 * loads are in flight before the first is stored. All threads of a block call it: it ends with a
 * barrier. The caller puts one before it where the strip before was read.
 */
static __device__ inline void stage_strip(const struct mlp_head &h, uint32_t first,
					  struct mlp_smem *smem)
{
	const float *weight = h.weight + (size_t)first * MLP_CLASSES;
	uint32_t columns = least(h.width - first, MLP_STRIP), n = columns * MLP_CLASSES;
	uint32_t column = threadIdx.x / MLP_CLASSES, c = threadIdx.x % MLP_CLASSES;
	float v[MLP_STAGED];

	for (uint32_t k = 0; k < MLP_STAGED; k++) {
		uint32_t i = k * MLP_THREADS + threadIdx.x;

		v[k] = i < n ? weight[i] : 0;
	}
	for (uint32_t k = 0; k < MLP_STAGED; k++) {
		if (column < (columns + 3) / 4 * 4)
			smem->strip[c][column] = v[k];
		column += MLP_THREADS / MLP_CLASSES;
		c += MLP_THREADS % MLP_CLASSES;
		if (c >= MLP_CLASSES) {
			c -= MLP_CLASSES;
			column++;
		}
	}
	__syncthreads();
}

/* Columns k to k + 3 of a row; 0 beyond its end. */
template <class T>
static __device__ inline vec4<T> row_vec4(const T *row, uint32_t k, uint32_t width)
{
	vec4<T> q = {};

	if (width % 4 == 0 && k < width)
		return *(const vec4<T> *)(row + k);
	for (uint32_t i = 0; i < 4 && k + i < width; i++)
		q.v[i] = row[k + i];
	return q;
}

/* Loads the lane's columns of a warp's 128, in the first `rows` of R rows. */
template <class T, int R>
static __device__ inline void read_span(vec4<T> (&q)[R], const struct mlp_head &h, const T *a,
					uint32_t rows, uint32_t k)
{
	for (uint32_t r = 0; r < R; r++)
		q[r] = r < rows ? row_vec4(a + (size_t)r * h.width, k, h.width) : vec4<T>{};
}

/* Adds the products of the lane's columns with their weights in each class. */
template <class T, int R>
static __device__ inline void add_span(float (&sum)[R][MLP_CLASSES], const vec4<T> (&q)[R],
				       const float *strip)
{
	for (int c = 0; c < MLP_CLASSES; c++) {
		vec4<float> w = *(const vec4<float> *)(strip + c * MLP_STRIP_PITCH);

		for (int r = 0; r < R; r++)
			for (int i = 0; i < 4; i++)
				sum[r][c] += widen(q[r].v[i]) * w.v[i];
	}
}

/*
 * Each lane's share of the logits of the warp's R rows from `row` on; `rows` of them exist. All
 * threads of a block call it, as they stage the weights. staged: the first strip is there already.
 * The next columns are loaded while these are multiplied, or weights are staged.
 */
template <class T, int R>
static __device__ inline void row_products(float (&sum)[R][MLP_CLASSES], const struct mlp_head &h,
					   uint32_t row, uint32_t rows, bool staged,
					   struct mlp_smem *smem)
{
	const T *a = (const T *)h.input + (size_t)row * h.width;
	uint32_t at = threadIdx.x % MLP_LANES * 4;
	vec4<T> next[R], now[R];

	read_span(next, h, a, rows, at);
	for (uint32_t first = 0; first < h.width; first += MLP_STRIP) {
		if (!staged) {
			__syncthreads();
			stage_strip(h, first, smem);
		}
		for (uint32_t k = 0; k < MLP_STRIP; k += MLP_WARP_COLUMNS) {
			if (first + k >= h.width)
				break;
			for (int r = 0; r < R; r++)
				now[r] = next[r];
			read_span(next, h, a, rows, first + k + MLP_WARP_COLUMNS + at);
			if (first + k + at < h.width)
				add_span(sum, now, &smem->strip[0][k + at]);
		}
	}
}

/* Adds the lanes' shares to s->z of a pair of rows; `rows` of them exist. */
static __device__ inline void pair_logits(const float sum[][MLP_CLASSES], uint32_t rows,
					  const float *bias, struct mlp_scratch *s)
{
	uint32_t lane = threadIdx.x % MLP_LANES;

	for (uint32_t r = 0; r < rows; r++)
		for (uint32_t c = 0; c < MLP_CLASSES; c++)
			s->part[r * MLP_CLASSES + c][lane] = sum[r][c];
	__syncwarp();
	if (lane < rows * MLP_CLASSES) {
		float z = bias[lane % MLP_CLASSES];

		for (uint32_t i = 0; i < MLP_LANES; i++)
			z += s->part[lane][i];
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
static __device__ inline float loss_delta(float log_p, bool right)
{
	return right ? expm1f(log_p) : expf(log_p);
}

#endif
