/*
 * kernels_one.cu - launches=one: whole minibatches in one launch, by a cluster of blocks that keeps
 * the network. For 784-128-10, up to 64 images a minibatch, on GPUs of compute capability 9.0 on.
 *
 * Each of 16 blocks owns 8 hidden units and 4 of the minibatch's 64 rows. Its units' numbers, and
 * their velocities, stay in its registers and shared memory for as many minibatches as the launch
 * has. b2 is everyone's. In pseudo-code, for each minibatch:
 *
 *   z = images . W1 of own units: each of seven warps takes 112 inputs; then the warps' parts
 *   h = max(z + b1, 0); h . W2 of own units: each row's share of the logits to the row's owner
 *   own rows: logits = b2 + the shares in the order of blocks; loss; delta = dloss/dlogits, to all
 *   what flows into own units; gradient of W1, as z, and update
 *
 * Beside these products the eighth warp fetches the next minibatch, and later updates W2, b2 and
 * b1.
 *
 * Products are tensor cores' and yet of single precision: pixels are whole numbers up to 255, which
 * bf16 holds, and a float is a sum of three bf16s, so each product of theirs is exact. Every sum
 * has its order, whatever the number of minibatches. The naive version that it is tested against is
 * mlp_reference() of reference.c, in double.
 */
#include "workloads/mlp/real.cuh"

#ifdef __CUDACC__
#include "workloads/mlp/one.cuh"

/* The compiler is asked for older devices too, which have no clusters. */
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900

/* ---- the helper: minibatches in -------------------------------------------------------- */

/* Where the next minibatch to choose begins: in which epoch, and at which place of its order. */
struct one_place {
	uint64_t epoch;
	uint32_t at;
	struct mlp_order order;
};

static __device__ inline void move_place(const struct mlp_one &o, struct one_place *p)
{
	p->at += o.batch;
	if (p->at < o.images)
		return;
	for (; p->at >= o.images; p->at -= o.images)
		p->epoch++;
	p->order = mlp_epoch_order(o.images, p->epoch, o.seed);
}

/* The images of a minibatch, two rows a lane; those that are not there take the first image. */
static __device__ inline void choose_images(const struct mlp_one &o, const struct one_place &p,
					    uint32_t *image)
{
	for (uint32_t row = threadIdx.x % MLP_LANES; row < ROWS; row += MLP_LANES) {
		uint64_t at = (uint64_t)p.at + row;

		image[row] = row >= o.batch  ? 0
			     : at < o.images ? mlp_permuted_by(&p.order, (uint32_t)at)
					     : mlp_permuted((uint32_t)(at % o.images), o.images,
							    p.epoch + at / o.images, o.seed);
	}
}

/* Pixels of a minibatch whose images have been chosen: by all warps but the first two, row by row.
 */
static __device__ inline void fetch_batch(const struct mlp_one &o, struct one_smem *s,
					  uint32_t parity)
{
	const uint32_t warps = MLP_WARPS - DELTA_WARPS;
	uint32_t lane = threadIdx.x % MLP_LANES, warp = threadIdx.x / MLP_LANES - DELTA_WARPS;

	if (threadIdx.x == MLP_THREADS - 1)
		mbarrier_expect(&s->pixels_there[parity], ROWS * IMAGE_BYTES);
	for (uint32_t row = warp + lane * warps; row < ROWS; row += warps * MLP_LANES)
		fetch(s->x[parity][row], o.pixel + (size_t)s->image[parity][row] * MLP_PIXELS,
		      IMAGE_BYTES, &s->pixels_there[parity]);
}

/* The label of an own row of that minibatch, for one of the first lanes. */
static __device__ inline uint32_t own_label(const struct mlp_one &o, const struct one_smem *s,
					    uint32_t parity)
{
	uint32_t own_row = threadIdx.x % MLP_LANES % OWN_ROWS;

	return o.label[s->image[parity][blockIdx.x * OWN_ROWS + own_row]];
}

/* Beside the products: labels of minibatch k + 1, and the images of k + 2. */
static __device__ inline void help_forward(const struct mlp_one &o, struct one_smem *s,
					   struct one_place *p, int64_t k)
{
	uint32_t next = (k + 1) % 2, label = own_label(o, s, next);

	move_place(o, p);
	choose_images(o, *p, s->image[k % 2]);
	if (threadIdx.x % MLP_LANES < OWN_ROWS)
		s->label[next][threadIdx.x % OWN_ROWS] = label;
	__syncwarp();
}

/* ---- forward --------------------------------------------------------------------------- */

/*
 * This warp's inputs times their weights, for all rows. Tensor cores cut off where they add to what
 * is large, so that each tile begins at 0 and its smallest parts come first.
 */
static __device__ inline void warp_products(const struct one_weights &k, struct one_smem *s,
					    const __nv_bfloat16 (*x)[PITCH])
{
	uint32_t lane = threadIdx.x % MLP_LANES, warp = threadIdx.x / MLP_LANES;
	float z[ROW_TILES][4] = {};

	for (int t = 0; t < TILES; t++) {
		uint32_t low[PARTS], high[PARTS], a[ROW_TILES][4];
		float sum[ROW_TILES][4] = {};

		for (int m = 0; m < ROW_TILES; m++)
			load_tile<false>(a[m], &x[m * TILE][(warp * TILES + t) * TILE]);
		split_pair(low, k.w[t][0][0], k.w[t][0][1]);
		split_pair(high, k.w[t][1][0], k.w[t][1][1]);
		for (int i = PARTS - 1; i >= 0; i--)
			for (int m = 0; m < ROW_TILES; m++)
				multiply(sum[m], a[m], low[i], high[i]);
		for (int i = 0; i < ROW_TILES * 4; i++)
			z[i / 4][i % 4] += sum[i / 4][i % 4];
	}
	for (int m = 0; m < ROW_TILES; m++)
		for (int half = 0; half < 2; half++) {
			float *to = &s->part[warp][m * TILE + half * 8 + lane / 4][lane % 4 * 2];

			to[0] = z[m][2 * half];
			to[1] = z[m][2 * half + 1];
		}
}

/* The warps' parts in their order. */
static __device__ inline void hidden_units(struct one_smem *s)
{
	for (uint32_t i = threadIdx.x; i < ROWS * UNITS; i += MLP_THREADS) {
		float z = 0;

		for (int w = 0; w < WARPS; w++)
			z += (&s->part[w][0][0])[i];
		z = z * (1.0f / 255) + s->b1[i % UNITS];
		(&s->h[0][0])[i] = z > 0 ? z : 0;
	}
}

/* What own units add to four logits a thread, to the owner of their row. */
static __device__ inline void send_shares(struct one_smem *s)
{
	uint32_t owner = threadIdx.x / OWN_VEC4S, i = threadIdx.x % OWN_VEC4S;
	vec4<float> sum;

	if (owner >= BLOCKS)
		return;
	for (uint32_t k = 0; k < 4; k++) {
		uint32_t row = owner * OWN_ROWS + (4 * i + k) / MLP_CLASSES;
		uint32_t c = (4 * i + k) % MLP_CLASSES;

		sum.v[k] = 0;
		for (int u = 0; u < UNITS; u++)
			sum.v[k] += s->h[row][u] * s->w2[u][c];
	}
	send4(place_in(owner, &s->share[blockIdx.x][0][0] + 4 * i), sum,
	      place_in(owner, &s->shares_there));
}

/* A logit of an own row: its shares in the order of blocks. Lanes without a class: none. */
static __device__ inline float own_logit(const struct one_smem *s, uint32_t own_row, uint32_t c)
{
	float z;

	if (c >= MLP_CLASSES)
		return -INFINITY;
	z = s->b2[c];
	for (int b = 0; b < BLOCKS; b++)
		z += s->share[b][own_row][c];
	return z;
}

/* Over the lanes of half a warp, for each of them. */
static __device__ inline float half_sum(float v)
{
	for (int n = HALF / 2; n; n /= 2)
		v += __shfl_xor_sync(MLP_ALL_LANES, v, n, HALF);
	return v;
}

static __device__ inline float half_max(float v)
{
	for (int n = HALF / 2; n; n /= 2)
		v = fmaxf(v, __shfl_xor_sync(MLP_ALL_LANES, v, n, HALF));
	return v;
}

/* Whether this lane has the largest logit of its half warp; the first of several. */
static __device__ inline bool is_largest(float z, float top)
{
	uint32_t lane = threadIdx.x % MLP_LANES;
	uint32_t all = __ballot_sync(MLP_ALL_LANES, z == top) >> (lane / HALF * HALF);

	return (int)(lane % HALF) == __ffs((int)(all & ((1u << HALF) - 1))) - 1;
}

/*
 * Delta of own rows, two a warp, to all blocks; losses to the first. Rows that are not there: 0.
 * Nothing cancels where the answer is nearly certain: all classes but the likeliest are added by
 * themselves, and P - 1 of the right class is what the others have.
 */
static __device__ inline void send_deltas(const struct mlp_one &o, struct one_smem *s,
					  uint32_t parity)
{
	const uint32_t vec4s = 2 * MLP_CLASSES / 4;
	uint32_t warp = threadIdx.x / MLP_LANES, lane = threadIdx.x % MLP_LANES, c = lane % HALF;
	uint32_t own_row = warp * 2 + lane / HALF, row = blockIdx.x * OWN_ROWS + own_row;
	const vec4<float> *own = (const vec4<float> *)s->own_delta[warp * 2];
	uint32_t to = place_in(lane % BLOCKS, s->delta[blockIdx.x * OWN_ROWS + warp * 2]);
	uint32_t there = place_in(lane % BLOCKS, &s->deltas_there);
	bool right = c == s->label[parity][own_row], is_there = row < o.batch;
	float z = own_logit(s, own_row, c), top = half_max(z), e = expf(z - top);
	bool likeliest = is_largest(z, top);
	float rest = half_sum(likeliest ? 0 : e), sum = 1 + rest,
	      others = likeliest ? rest : sum - e;

	if (c < MLP_CLASSES)
		s->own_delta[own_row][c] =
			is_there ? (right ? -others : e) / (sum * (float)o.batch) : 0;
	if (right)
		send1(place_in(0, &s->loss[row]), is_there ? log1pf(rest) - (z - top) : 0,
		      place_in(0, &s->deltas_there));
	__syncwarp();
	for (uint32_t i = lane / BLOCKS; i < vec4s; i += MLP_LANES / BLOCKS)
		send4(to + i * sizeof(vec4<float>), own[i], there);
}

/* ---- backward -------------------------------------------------------------------------- */

/* dloss/dz of own units, one a thread: as it is, and in bf16s. */
static __device__ inline void flow_back(struct one_smem *s)
{
	uint32_t u = threadIdx.x % UNITS;
	float w[MLP_CLASSES];

	for (int c = 0; c < MLP_CLASSES; c++)
		w[c] = s->w2[u][c];
	for (uint32_t row = threadIdx.x / UNITS; row < ROWS; row += MLP_THREADS / UNITS) {
		float d = 0;

		for (int c = 0; c < MLP_CLASSES; c++)
			d += s->delta[row][c] * w[c];
		d = s->h[row][u] > 0 ? d : 0;
		s->below[row][u] = d;
		for (int p = 0; p < PARTS; p++) {
			__nv_bfloat16 near = __float2bfloat16_rn(d);

			s->d[p][u][row] = near;
			d -= __bfloat162float(near);
		}
	}
}

static __device__ inline void descend(const struct mlp_one &o, float gradient, float *v, float *w)
{
	*v = o.momentum * *v + gradient;
	*w -= o.rate * *v;
}

/* Number i of W2, b2 and b1, of own units: its value, its velocity, its place in the arrays. */
static __device__ inline void output_number(const struct mlp_one &o, struct one_smem *s, uint32_t i,
					    float **w, float **v, size_t *at)
{
	const uint32_t of_w2 = UNITS * MLP_CLASSES, of_b2 = of_w2 + MLP_CLASSES;

	if (i < of_w2) {
		*w = &s->w2[0][i];
		*v = &s->v2[0][i];
		*at = o.w2_at + blockIdx.x * of_w2 + i;
	} else if (i < of_b2) {
		*w = &s->b2[i - of_w2];
		*v = &s->vb2[i - of_w2];
		*at = o.b2_at + i - of_w2;
	} else {
		*w = &s->b1[i - of_b2];
		*v = &s->vb1[i - of_b2];
		*at = o.b1_at + blockIdx.x * UNITS + i - of_b2;
	}
}

static __device__ inline void update_output(const struct mlp_one &o, struct one_smem *s, uint32_t i,
					    float gradient, bool last)
{
	float *w, *v;
	size_t at;

	output_number(o, s, i, &w, &v, &at);
	descend(o, gradient, v, w);
	if (last)
		o.gradient[at] = gradient;
}

/*
 * Beside the products, by the helper: W2, b2 and b1; of the last minibatch the gradients stay. Four
 * lanes a unit of W2, two classes each and one of the last two; a lane each for b2 and b1.
 */
static __device__ inline void help_backward(const struct mlp_one &o, struct one_smem *s, bool last)
{
	uint32_t lane = threadIdx.x % MLP_LANES, u = lane / 4, c = lane % 4 * 2, c2 = 8 + lane % 2;
	const float *bias = lane < MLP_CLASSES ? &s->delta[0][lane] : &s->below[0][lane % UNITS];
	uint32_t stride = lane < MLP_CLASSES ? MLP_CLASSES : UNITS;
	float a = 0, b = 0, d = 0, sum = 0;

#pragma unroll 16
	for (uint32_t r = 0; r < ROWS; r++) {
		float2 two = *(const float2 *)&s->delta[r][c];
		float h = s->h[r][u];

		a += h * two.x;
		b += h * two.y;
		d += h * s->delta[r][c2];
		sum += bias[r * stride];
	}
	update_output(o, s, u * MLP_CLASSES + c, a, last);
	update_output(o, s, u * MLP_CLASSES + c + 1, b, last);
	if (lane % 4 < 2)
		update_output(o, s, u * MLP_CLASSES + c2, d, last);
	if (lane < MLP_CLASSES)
		update_output(o, s, UNITS * MLP_CLASSES + lane, sum, last);
	else if (lane >= MLP_LANES - UNITS)
		update_output(o, s, SUMS - UNITS + lane % UNITS, sum, last);
}

/* The number of W1 that element e of a half tile is, in an array of parameters. */
static __device__ inline size_t weight_place(const struct mlp_one &o, int t, int half, int e)
{
	uint32_t lane = threadIdx.x % MLP_LANES, warp = threadIdx.x / MLP_LANES;
	uint32_t input = (warp * TILES + t) * TILE + half * 8 + lane % 4 * 2 + e;

	return o.w1_at + (size_t)input * MLP_ONE_WIDTH + blockIdx.x * UNITS + lane / 4;
}

/*
 * d as the left operands: the first has the largest bf16s in its upper eight rows and the second
 * ones in the lower eight, the other the third ones.
 */
static __device__ inline void left_operands(const struct one_smem *s,
					    uint32_t (&first)[ROW_TILES][4],
					    uint32_t (&other)[ROW_TILES][4])
{
	uint32_t lane = threadIdx.x % MLP_LANES, u = lane / 4;

	for (int m = 0; m < ROW_TILES; m++)
		for (int half = 0; half < 2; half++) {
			uint32_t row = m * TILE + half * 8 + lane % 4 * 2;

			memcpy(&first[m][2 * half], &s->d[0][u][row], sizeof(uint32_t));
			memcpy(&first[m][2 * half + 1], &s->d[1][u][row], sizeof(uint32_t));
			memcpy(&other[m][2 * half], &s->d[2][u][row], sizeof(uint32_t));
			other[m][2 * half + 1] = 0;
		}
}

/* Gradients of a tile's weights: g[half][0] and [1], and what is still to be added to them. */
static __device__ inline void tile_gradient(float (&g)[2][4], const __nv_bfloat16 (*x)[PITCH],
					    uint32_t col, const uint32_t (&first)[ROW_TILES][4],
					    const uint32_t (&other)[ROW_TILES][4])
{
	float sum[ROW_TILES][2][4] = {};
	uint32_t b[ROW_TILES][4];

	for (int m = 0; m < ROW_TILES; m++)
		load_tile<true>(b[m], &x[m * TILE][col]);
	for (int i = 0; i < ROW_TILES * 2; i++)
		multiply(sum[i / 2][i % 2], other[i / 2], b[i / 2][i % 2 * 2],
			 b[i / 2][i % 2 * 2 + 1]);
	for (int i = 0; i < ROW_TILES * 2; i++)
		multiply(sum[i / 2][i % 2], first[i / 2], b[i / 2][i % 2 * 2],
			 b[i / 2][i % 2 * 2 + 1]);
	for (int m = 0; m < ROW_TILES; m++)
		for (int i = 0; i < 8; i++)
			g[i / 4][i % 4] += sum[m][i / 4][i % 4];
}

static __device__ inline void update_weights(const struct mlp_one &o, struct one_weights &k,
					     const struct one_smem *s,
					     const __nv_bfloat16 (*x)[PITCH], bool last)
{
	uint32_t warp = threadIdx.x / MLP_LANES, first[ROW_TILES][4], other[ROW_TILES][4];

	left_operands(s, first, other);
	for (int t = 0; t < TILES; t++) {
		float g[2][4] = {};

		tile_gradient(g, x, (warp * TILES + t) * TILE, first, other);
		for (int i = 0; i < 4; i++) {
			int half = i / 2, e = i % 2;
			float gradient = (g[half][e] + g[half][2 + e]) * (1.0f / 255);

			descend(o, gradient, &k.v[t][half][e], &k.w[t][half][e]);
			if (last)
				o.gradient[weight_place(o, t, half, e)] = gradient;
		}
	}
}

/* ---- what stays from launch to launch -------------------------------------------------- */

/* Calls f(number, velocity, place in the arrays) for all that is kept; W1 is in seven warps. */
template <class F>
static __device__ inline void each_kept(const struct mlp_one &o, struct one_weights &k,
					struct one_smem *s, F f)
{
	float *w, *v;
	size_t at;

	if (threadIdx.x / MLP_LANES < WARPS)
		for (int t = 0; t < TILES; t++)
			for (int i = 0; i < 4; i++)
				f(&k.w[t][i / 2][i % 2], &k.v[t][i / 2][i % 2],
				  weight_place(o, t, i / 2, i % 2));
	if (threadIdx.x < SUMS) {
		output_number(o, s, threadIdx.x, &w, &v, &at);
		f(w, v, at);
	}
}

static __device__ inline void load_kept(const struct mlp_one &o, struct one_weights &k,
					struct one_smem *s)
{
	each_kept(o, k, s, [&](float *w, float *v, size_t at) {
		*w = o.weight[at];
		*v = o.velocity[at];
	});
}

static __device__ inline void store_kept(const struct mlp_one &o, struct one_weights &k,
					 struct one_smem *s)
{
	each_kept(o, k, s, [&](float *w, float *v, size_t at) {
		o.weight[at] = *w;
		o.velocity[at] = *v;
	});
}

/* The first block's helper: the mean of the losses. */
static __device__ inline void keep_loss(const struct mlp_one &o, const struct one_smem *s,
					uint64_t step)
{
	uint32_t lane = threadIdx.x % MLP_LANES;

	if (blockIdx.x)
		return;
	float sum = s->loss[lane] + s->loss[lane + MLP_LANES];

	for (int n = MLP_LANES / 2; n; n /= 2)
		sum += __shfl_xor_sync(MLP_ALL_LANES, sum, n);
	if (!lane)
		o.progress->loss[step % MLP_LOSSES] = sum / (float)o.batch;
}

/* Activations of the last minibatch, which the check looks at. */
static __device__ inline void keep_hidden(const struct mlp_one &o, const struct one_smem *s)
{
	for (uint32_t i = threadIdx.x; i < o.batch * UNITS; i += MLP_THREADS)
		o.hidden[(size_t)(i / UNITS) * MLP_ONE_WIDTH + blockIdx.x * UNITS + i % UNITS] =
			(&s->h[0][0])[i];
}

/* ---- a minibatch, number k of the launch ----------------------------------------------- */

/* Bytes that others write here: shares of own rows, deltas of all; to the first block losses too.
 */
static __device__ inline void expect_others(struct one_smem *s)
{
	if (threadIdx.x)
		return;
	mbarrier_expect(&s->shares_there, sizeof(s->share));
	mbarrier_expect(&s->deltas_there, sizeof(s->delta) + (blockIdx.x ? 0 : sizeof(s->loss)));
}

static __device__ inline void one_forward(const struct mlp_one &o, const struct one_weights &w,
					  struct one_smem *s, struct one_place *p, int64_t k)
{
	uint32_t warp = threadIdx.x / MLP_LANES;

	mbarrier_wait(&s->pixels_there[k % 2], k / 2 % 2);
	__syncthreads(); /* the minibatch before has no part in shared memory any more */
	expect_others(s);
	if (warp < WARPS)
		warp_products(w, s, s->x[k % 2]);
	else
		help_forward(o, s, p, k);
	__syncthreads();
	hidden_units(s);
	__syncthreads();
	send_shares(s);
	if (warp < DELTA_WARPS) {
		mbarrier_wait(&s->shares_there, k % 2);
		send_deltas(o, s, k % 2);
	} else if (k + 1 < o.steps) {
		fetch_batch(o, s, (k + 1) % 2);
	}
	mbarrier_wait(&s->deltas_there, k % 2);
}

static __device__ inline void one_backward(const struct mlp_one &o, struct one_weights &w,
					   struct one_smem *s, uint64_t first, int64_t k)
{
	bool last = k + 1 == o.steps;

	flow_back(s);
	if (last)
		keep_hidden(o, s);
	__syncthreads();
	if (threadIdx.x / MLP_LANES < WARPS) {
		update_weights(o, w, s, s->x[k % 2], last);
	} else {
		help_backward(o, s, last);
		keep_loss(o, s, first + (uint64_t)k);
	}
}

/* ---- a launch -------------------------------------------------------------------------- */

/* Images of the first two minibatches, and labels of the first. */
static __device__ inline void choose_first(const struct mlp_one &o, struct one_smem *s,
					   struct one_place *p, uint64_t first)
{
	p->epoch = first * o.batch / o.images;
	p->at = (uint32_t)(first * o.batch % o.images);
	p->order = mlp_epoch_order(o.images, p->epoch, o.seed);
	choose_images(o, *p, s->image[0]);
	__syncwarp();
	if (threadIdx.x % MLP_LANES < OWN_ROWS)
		s->label[0][threadIdx.x % OWN_ROWS] = own_label(o, s, 0);
	move_place(o, p);
	choose_images(o, *p, s->image[1]);
}

static __device__ inline void begin(const struct mlp_one &o, struct one_smem *s,
				    struct one_place *p, uint64_t first)
{
	if (!threadIdx.x) {
		mbarrier_init(&s->pixels_there[0]);
		mbarrier_init(&s->pixels_there[1]);
		mbarrier_init(&s->shares_there);
		mbarrier_init(&s->deltas_there);
		asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
	}
	if (threadIdx.x / MLP_LANES == WARPS)
		choose_first(o, s, p, first);
	cooperative_groups::this_cluster().sync();
	if (threadIdx.x / MLP_LANES >= DELTA_WARPS)
		fetch_batch(o, s, 0);
}

extern "C" __global__ void __cluster_dims__(BLOCKS, 1, 1) __launch_bounds__(MLP_THREADS, 1)
	mlp_one_steps(struct mlp_one o)
{
	DYN_SHARED(struct one_smem, s);
	const uint64_t first = o.progress->step;
	struct one_weights w;
	struct one_place p;

	begin(o, s, &p, first);
	load_kept(o, w, s);
	for (int64_t k = 0; k < o.steps; k++) {
		one_forward(o, w, s, &p, k);
		one_backward(o, w, s, first, k);
	}
	__syncthreads();
	store_kept(o, w, s);
	/* all have read the step, and nobody writes into a block that has ended */
	cooperative_groups::this_cluster().sync();
	if (!blockIdx.x && !threadIdx.x)
		o.progress->step = first + (uint64_t)o.steps;
}
#else
extern "C" __global__ void mlp_one_steps(struct mlp_one)
{
	__trap();
}
#endif

static __global__ void mlp_one_pixels(const uint8_t *pixel, __nv_bfloat16 *out, size_t n)
{
	size_t i = thread_index();

	if (i < n)
		out[i] = __float2bfloat16_rn((float)pixel[i]);
}

/* ---- launches -------------------------------------------------------------------------- */

const char *mlp_one_refused(void)
{
	const size_t bytes = sizeof(struct one_smem);
	const void *kernel = (const void *)mlp_one_steps;
	cudaLaunchConfig_t config = {};
	cudaLaunchAttribute cluster = {};
	int clusters = 0;

	cluster.id = cudaLaunchAttributeClusterDimension;
	cluster.val.clusterDim = { BLOCKS, 1, 1 };
	config.gridDim = BLOCKS;
	config.blockDim = MLP_THREADS;
	config.dynamicSmemBytes = bytes;
	config.attrs = &cluster;
	config.numAttrs = 1;
	if (cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes) ||
	    cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1) ||
	    cudaOccupancyMaxActiveClusters(&clusters, kernel, &config) || !clusters) {
		cudaGetLastError();
		return "this device has no room for a cluster of 16 blocks of 227 KiB (compute "
		       "capability 9.0 has)";
	}
	return NULL;
}

void mlp_one_images(const uint8_t *pixel, uint16_t *out, int64_t images, cudaStream_t stream)
{
	size_t n = (size_t)images * MLP_PIXELS;

	CUDA(LAUNCH(mlp_one_pixels, blocks_for(n), MLP_THREADS, 0, stream, pixel,
		    (__nv_bfloat16 *)out, n));
}

void mlp_one(const struct mlp_one *o, cudaStream_t stream)
{
	CUDA(LAUNCH(mlp_one_steps, BLOCKS, MLP_THREADS, sizeof(struct one_smem), stream, *o));
}
#else
static const char needs_gpu[] = "launches=one needs a GPU with clusters of blocks";

const char *mlp_one_refused(void)
{
	return needs_gpu;
}

void mlp_one_images(const uint8_t *, uint16_t *, int64_t, cudaStream_t)
{
	CHECK(false, "%s", needs_gpu);
}

void mlp_one(const struct mlp_one *, cudaStream_t)
{
	CHECK(false, "%s", needs_gpu);
}
#endif
