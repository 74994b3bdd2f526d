/*
 * kernels_head.cu - the output layer in one launch: logits, softmax, loss, and all gradients.
 *
 * In pseudo-code, for each block, a part of the batch's rows:
 *
 *   forward: R rows per warp (head.cuh), for each strip of 512 columns staged in shared memory:
 *     each lane adds products of its columns for R rows x 10 classes
 *   logits = sums over the lanes + bias; loss = -ln P of the right class
 *   delta = dloss/dz = P, less 1 for the right class, over the batch; kept in shared memory
 *   backward: two columns per thread, for each row:
 *     below = delta . weights of the column, where the input is above 0; dW += delta x input
 *   write the part's sums of dW, db, and of what flows back
 *
 * The naive version that it is tested against is mlp_reference() of reference.c, in double. With
 * ten classes no matrix product is worth a launch of its own.
 */
#include "workloads/mlp/head.cuh"

enum {
	DELTA = 12, /* floats of a row's delta in shared memory: three vec4s */
	COLUMNS = MLP_STRIP / MLP_THREADS,
	ROWS = 4, /* that a thread reads at a time */
};

/* ---- forward, some rows a warp --------------------------------------------------------- */

/* Loss and delta of a pair of rows, of which `rows` are there; delta stays in shared memory too. */
static __device__ inline void head_pair(const struct mlp_head &h, const struct mlp_head_out &out,
					uint32_t row, uint32_t rows, struct mlp_scratch *s,
					float *delta)
{
	uint32_t lane = threadIdx.x % MLP_LANES, r = lane / MLP_CLASSES, c = lane % MLP_CLASSES;
	const float *z = s->z + r * MLP_CLASSES, *e = s->e + r * MLP_CLASSES;
	bool is_active = r < rows;
	int top = is_active ? largest_class(z) : 0;

	if (is_active)
		s->e[lane] = expf(z[c] - z[top]);
	__syncwarp();
	if (is_active) {
		float log_p = log_share(z, e, top, (int)c);
		bool right = h.label[row + r] == c;
		float d = loss_delta(log_p, right) / (float)h.batch;

		delta[r * DELTA + c] = d;
		out.delta[(size_t)(row + r) * MLP_CLASSES + c] = d;
		if (right)
			out.loss[row + r] = -log_p;
	}
	__syncwarp(); /* before the next pair overwrites e and z */
}

/* R rows a warp, of the block's from `first` to `end`; delta is that of `first`. */
template <class T, int R>
static __device__ inline void head_rows(const struct mlp_head &h, const struct mlp_head_out &out,
					uint32_t first, uint32_t end, bool staged,
					struct mlp_smem *smem, float *delta)
{
	uint32_t warp = threadIdx.x / MLP_LANES, row = first + warp * R;
	uint32_t rows = least(row < end ? end - row : 0, R);
	float sum[R][MLP_CLASSES] = {};

	row_products<T, R>(sum, h, row, rows, staged, smem);
	for (uint32_t r = 0; r < R; r += MLP_PAIR) {
		uint32_t left = r < rows ? rows - r : 0;

		pair_logits(sum + r, least(R - r, MLP_PAIR), h.bias, &smem->scratch[warp]);
		head_pair(h, out, row + r, least(left, MLP_PAIR), &smem->scratch[warp],
			  delta + (warp * R + r) * DELTA);
	}
}

/* ---- backward, a thread two columns ---------------------------------------------------- */

/* The sums of a part, over rows of which delta is [rows][DELTA]. */
struct column {
	float weight[MLP_CLASSES], gradient[MLP_CLASSES], below;
};

/* One row's share: what flows to the layer below, and what it adds to the sums. */
static __device__ inline float column_row(struct column *c, const vec4<float> delta[DELTA / 4],
					  float a)
{
	float d = 0;

	for (int i = 0; i < MLP_CLASSES; i++) {
		float share = delta[i / 4].v[i % 4];

		d += share * c->weight[i];
		c->gradient[i] += share * a;
	}
	d = a > 0 ? d : 0;
	c->below += d;
	return d;
}

/* Loads some rows of n columns, MLP_THREADS apart. */
template <class T>
static __device__ inline void read_rows(T (&v)[ROWS][COLUMNS], uint32_t n, const T *a,
					uint32_t rows, uint32_t width)
{
	for (uint32_t r = 0; r < ROWS; r++)
		for (uint32_t k = 0; k < COLUMNS; k++)
			if (r < rows && k < n)
				v[r][k] = a[(size_t)r * width + k * MLP_THREADS];
}

/* The columns share the reading of delta. */
template <class T>
static __device__ inline void column_rows(struct column (&c)[COLUMNS], uint32_t n,
					  const T (&v)[ROWS][COLUMNS], T *below, const float *delta,
					  uint32_t rows, uint32_t width)
{
	for (uint32_t r = 0; r < ROWS; r++) {
		vec4<float> q[DELTA / 4];

		if (r >= rows)
			break;
		for (int i = 0; i < DELTA / 4; i++)
			q[i] = ((const vec4<float> *)(delta + r * DELTA))[i];
		for (uint32_t k = 0; k < COLUMNS; k++)
			if (k < n)
				narrow(&below[(size_t)r * width + k * MLP_THREADS],
				       column_row(&c[k], q, widen(v[r][k])));
	}
}

/*
 * The n columns of a thread, from j on, of the layer's input over the block's rows. The next rows
 * are loaded while these are computed.
 */
template <class T>
static __device__ inline void
head_columns(const struct mlp_head &h, const struct mlp_head_out &out, struct column (&c)[COLUMNS],
	     uint32_t n, const float *delta, uint32_t first, uint32_t rows, uint32_t j)
{
	const T *a = (const T *)h.input + (size_t)first * h.width + j;
	T *below = (T *)out.below + (size_t)first * h.width + j;
	T next[ROWS][COLUMNS], now[ROWS][COLUMNS];

	read_rows(next, n, a, rows, h.width);
	for (uint32_t r = 0; r < rows; r += ROWS) {
		for (uint32_t i = 0; i < ROWS; i++)
			for (uint32_t k = 0; k < COLUMNS; k++)
				now[i][k] = next[i][k];
		a += (size_t)ROWS * h.width;
		read_rows(next, n, a, rows - r > ROWS ? rows - r - ROWS : 0, h.width);
		column_rows(c, n, now, below, delta + r * DELTA, rows - r, h.width);
		below += (size_t)ROWS * h.width;
	}
}

/* A strip's sums into the block's part: through shared memory, so that they are written in a row.
 */
static __device__ inline void write_sums(const struct mlp_head &h, const struct mlp_head_out &out,
					 const struct column (&c)[COLUMNS], uint32_t n,
					 uint32_t strip, struct mlp_smem *smem)
{
	float *part = out.part + blockIdx.x * out.stride, *sums = smem->strip[0];
	uint32_t all = least(h.width - strip, MLP_STRIP) * MLP_CLASSES;

	__syncthreads(); /* weights have been read */
	for (uint32_t k = 0; k < COLUMNS; k++) {
		uint32_t j = k * MLP_THREADS + threadIdx.x;

		if (k >= n)
			break;
		for (uint32_t i = 0; i < MLP_CLASSES; i++)
			sums[j * MLP_CLASSES + i] = c[k].gradient[i];
		part[(size_t)(h.width + 1) * MLP_CLASSES + strip + j] = c[k].below;
	}
	__syncthreads();
	for (uint32_t i = threadIdx.x; i < all; i += MLP_THREADS)
		part[(size_t)strip * MLP_CLASSES + i] = sums[i];
}

/* All columns, a strip at a time; delta is that of the block's rows. */
template <class T>
static __device__ inline void head_back(const struct mlp_head &h, const struct mlp_head_out &out,
					const float *delta, uint32_t first, uint32_t rows,
					struct mlp_smem *smem)
{
	for (uint32_t strip = 0; strip < h.width; strip += MLP_STRIP) {
		uint32_t j = strip + threadIdx.x, n = 0;
		struct column c[COLUMNS];

		__syncthreads();
		if (h.width > MLP_STRIP)
			stage_strip(h, strip, smem);
		for (uint32_t k = 0; k < COLUMNS && j + k * MLP_THREADS < h.width; k++, n++) {
			c[k] = {};
			for (int i = 0; i < MLP_CLASSES; i++)
				c[k].weight[i] = smem->strip[i][k * MLP_THREADS + threadIdx.x];
		}
		if (n)
			head_columns<T>(h, out, c, n, delta, first, rows, j);
		write_sums(h, out, c, n, strip, smem);
	}
}

static __device__ inline void bias_part(const struct mlp_head &h, const struct mlp_head_out &out,
					const float *delta, uint32_t rows, uint32_t c)
{
	float sum = 0;

	for (uint32_t r = 0; r < rows; r++)
		sum += delta[r * DELTA + c];
	out.part[blockIdx.x * out.stride + (size_t)h.width * MLP_CLASSES + c] = sum;
}

/* A block for each part: mlp_part_rows() rows, R of them a warp at a time. */
template <class T, int R>
static __global__ void __launch_bounds__(MLP_THREADS, 2)
	mlp_head_rows(struct mlp_head h, struct mlp_head_out out)
{
	SHARED_ARRAY(struct mlp_smem, smem, [1]);
	DYN_SHARED(float, delta);
	uint32_t most = mlp_part_rows(h.batch), first = blockIdx.x * most;
	uint32_t rows = least(h.batch - first, most);

	for (uint32_t r = 0; r < rows; r += R * MLP_WARPS)
		head_rows<T, R>(h, out, first + r, first + rows, r && h.width <= MLP_STRIP, smem,
				delta + r * DELTA);
	head_back<T>(h, out, delta, first, rows, smem);
	if (threadIdx.x < MLP_CLASSES)
		bias_part(h, out, delta, rows, threadIdx.x);
}
KERNEL(mlp_head_rows<float, 1>);
KERNEL(mlp_head_rows<float, 2>);
KERNEL(mlp_head_rows<float, 4>);

template <class T, int R>
static void launch_head(const struct mlp_head *h, const struct mlp_head_out *out,
			cudaStream_t stream)
{
	size_t shared = mlp_part_rows(h->batch) * DELTA * sizeof(float);

	CUDA(LAUNCH((mlp_head_rows<T, R>), mlp_parts(h->batch), MLP_THREADS, shared, stream, *h,
		    *out));
}

/* As many rows a warp as leave none of the block's idle. */
void mlp_head(const struct mlp_head *h, const struct mlp_head_out *out, bool half,
	      cudaStream_t stream)
{
	uint32_t each = mlp_part_rows(h->batch) / MLP_WARPS;

	by_kind(half, [=](auto *kind) {
		using T = KIND(kind);

		(each >= 4   ? launch_head<T, 4>
		 : each >= 2 ? launch_head<T, 2>
			     : launch_head<T, 1>)(h, out, stream);
	});
}

/* ---- how many are right ---------------------------------------------------------------- */

/* A warp for each row. */
template <class T>
static __global__ void mlp_predict_rows(struct mlp_head h, uint32_t valid, unsigned *right)
{
	SHARED_ARRAY(struct mlp_smem, smem, [1]);
	uint32_t warp = threadIdx.x / MLP_LANES, row = blockIdx.x * MLP_WARPS + warp;
	struct mlp_scratch *s = &smem->scratch[warp];
	float sum[1][MLP_CLASSES] = {};

	row_products<T, 1>(sum, h, row, row < valid, false, smem);
	pair_logits(sum, 1, h.bias, s);
	if (row < valid && threadIdx.x % MLP_LANES == 0 && largest_class(s->z) == h.label[row])
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
