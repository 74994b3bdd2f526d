/*
 * tensor.cuh - the products of launches=few on tensor cores, for bfloat16 and many sequences.
 *
 * A block multiplies 64 units (pairs of rows, product.cuh) with up to 64 sequences. Four warps
 * share the rows, 16 units each; two such sets of warps take turns at the columns, 32 at a time.
 * Where rows are few, the blocks of a cluster share the columns besides, and read each other's
 * sums.
 *
 * The instruction multiplies 16 rows by 8 sequences. Its rows are eight units' first and second
 * rows, so that the lane that has one of a unit's sums has both. Both sides come through shared
 * memory, in pieces of eight columns of a row, 16 bytes: so much must be under way that registers
 * do not hold it. Activations are shared by all warps; decode_tile_place() says where they lie.
 * ldmatrix hands the pieces out to lanes as the instruction wants them; with plain loads there were
 * two moves of registers for each instruction.
 *
 * Activations are bfloat16. Those of a norm are x times its weights; its factor, one of a sequence,
 * multiplies the sums.
 */
#ifndef RIFT_DECODE_TENSOR_CUH
#define RIFT_DECODE_TENSOR_CUH

#include "workloads/decode/product.cuh"

enum {
	RING_MOST = 98 << 10, /* bytes of shared memory: on a Hopper two blocks fit a
				 multiprocessor, and one on compute capability 8.6 and 8.9 */
	ROW_WARPS = 4,
	COLUMN_WARPS = DECODE_WARPS / ROW_WARPS,
	UNIT_TILES = DECODE_TENSOR_UNITS / ROW_WARPS / 8,  /* of a warp, 8 units each */
	WEIGHT_SLOTS = DECODE_WARPS * UNIT_TILES * 2 * 32, /* of 16 bytes: a step's */
	UNITS_EACH = DECODE_TENSOR_UNITS / 32,	 /* that a lane finishes of a sequence's */
	PARTS_TOGETHER = 8,			 /* loads that are under way at a time */
	SUM_PITCH = 2 * DECODE_TENSOR_UNITS + 4, /* floats of a sequence: lanes use all banks */
};
static_assert(COLUMN_WARPS * DECODE_TILE_COLUMNS == DECODE_TENSOR_STEP, "a step of all warps");

/* For N tiles of sequences. */
template <int N> struct tensor_shape {
	static constexpr int SEQUENCES = N * DECODE_TILE;
	static constexpr int X_SLOTS = COLUMN_WARPS * N * 32;
	static constexpr int SLOTS = WEIGHT_SLOTS + X_SLOTS; /* of a step */
	static constexpr int STEPS = RING_MOST / (SLOTS * (int)sizeof(uint4));
	static constexpr size_t SUM_BYTES = SEQUENCES * SUM_PITCH * sizeof(float);
	static constexpr size_t RING_BYTES = STEPS * SLOTS * sizeof(uint4);
	static constexpr size_t BYTES = RING_BYTES > SUM_BYTES ? RING_BYTES : SUM_BYTES;
};

/* ---- instructions ------------------------------------------------------------------------- */

#ifdef __CUDACC__
static __device__ inline uint32_t shared_place(const void *p)
{
	return (uint32_t)__cvta_generic_to_shared(p);
}
#endif

/* Copies 16 bytes, or zeros, into shared memory; when, copies_wait() says. */
static __device__ inline void copy_slot(uint4 *to, const void *from, bool there)
{
#ifdef __CUDACC__
#if __CUDA_ARCH__ >= 800
	asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_place(to)),
		     "l"(from), "r"(there ? 16 : 0)
		     : "memory");
#endif
#else
	*to = there ? *(const uint4 *)from : uint4{};
#endif
}

/* What was copied since the last mark is a group. */
static __device__ inline void copies_mark()
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
	asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/* Until all but the last LEFT groups of this thread have arrived. */
template <int LEFT> static __device__ inline void copies_wait()
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
	asm volatile("cp.async.wait_group %0;" ::"n"(LEFT) : "memory");
#endif
}

#ifdef __CUDACC__
/*
 * A warp loads 32 pieces of shared memory, one that each lane points to. Of the pieces of lanes 8 i
 * to 8 i + 7, out[i] of a lane has two columns: those of number lane % 4 in piece lane / 4.
 */
static __device__ inline void load_pieces(uint32_t out[4], const uint4 *piece)
{
#if __CUDA_ARCH__ >= 800
	asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
		     : "=r"(out[0]), "=r"(out[1]), "=r"(out[2]), "=r"(out[3])
		     : "r"(shared_place(piece))
		     : "memory");
#endif
}

/* Products of 16 rows, 16 columns and 8 sequences. */
static __device__ inline void multiply_tile(float sum[4], const uint32_t a[4], uint32_t b0,
					    uint32_t b1)
{
#if __CUDA_ARCH__ >= 800
	asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
		     "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
		     : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
		     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#endif
}
#endif

/* The compiler is asked for older devices too, which have no clusters. */
#if defined(__CUDACC__) && (!defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900)
#define BLOCKS_TOGETHER(n) __cluster_dims__(n, 1, 1)
#else
#define BLOCKS_TOGETHER(n)
#endif

/* All threads of the blocks that share columns; each has written what it has. */
template <int BLOCKS> static __device__ inline void meet_blocks()
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
	if (BLOCKS > 1) {
		asm volatile("barrier.cluster.arrive.release.aligned;\n"
			     "barrier.cluster.wait.acquire.aligned;" ::
				     : "memory");
		return;
	}
#endif
	__syncthreads();
}

/* A number of shared memory, of block `rank` of those. */
template <int BLOCKS> static __device__ inline float read_block(const float *p, uint32_t rank)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
	if (BLOCKS > 1) {
		uint32_t at;
		float v;

		asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
			     : "=r"(at)
			     : "r"(shared_place(p)), "r"(rank));
		asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(v) : "r"(at) : "memory");
		return v;
	}
#endif
	(void)rank;
	return *p;
}

/* ---- the five products --------------------------------------------------------------------- */

/* The weights of the norm that reads x next, times x: two neighbours from column k on. */
static __device__ inline void leave_normed(const decode_device &d, float2 norm, uint32_t b,
					   uint32_t k, float low, float high)
{
	decode_bf16 *to = (decode_bf16 *)d.norm_x + decode_tile_place(&d, b, k);

	store(to, low * norm.x);
	if (k + 1 < d.dim)
		store(to + 1, high * norm.y);
}

/*
 * norm() has the weights of a unit's two rows, which depend on no launch before; leave() leaves a
 * unit's two sums, and returns what they add to the squares of x. Of products that read what a norm
 * has left:
 */
template <class P> struct tensor_normed : P {
	static constexpr bool HAS_SQUARES = false;

	static __device__ const void *tiles(const decode_device &d)
	{
		return d.norm_x;
	}

	static __device__ float2 norm(const decode_device &, const decode_layer &, uint32_t)
	{
		return {};
	}

	static __device__ float leave(const product_context &c, uint32_t u, uint32_t b, float2 with,
				      float2, float low, float high)
	{
		P::finish(c, u, b, with, low, high);
		return 0;
	}
};

typedef tensor_normed<qkv_product<decode_bf16>> tensor_qkv;
typedef tensor_normed<logits_product<decode_bf16>> tensor_logits;

template <bool WIDE> struct tensor_residual : residual_product<decode_bf16, WIDE> {
	static constexpr bool HAS_SQUARES = true;

	static __device__ const void *tiles(const decode_device &d)
	{
		return WIDE ? d.act : d.att;
	}

	static __device__ float2 norm(const decode_device &d, const decode_layer &l, uint32_t u)
	{
		const decode_bf16 *weight =
			(const decode_bf16 *)(WIDE ? l.norm_next : l.norm_ffn) + 2 * u;

		return { widen(weight[0]), widen(weight[2 * u + 1 < d.dim]) };
	}

	static __device__ float leave(const product_context &c, uint32_t u, uint32_t b, float2 x,
				      float2 norm, float low, float high)
	{
		residual_product<decode_bf16, WIDE>::finish(c, u, b, x, low, high);
		low += x.x;
		high = 2 * u + 1 < c.d.dim ? high + x.y : 0;
		leave_normed(c.d, norm, b, 2 * u, low, high);
		return low * low + high * high;
	}
};

struct tensor_gate_up : tensor_normed<gate_up_product<decode_bf16>> {
	static __device__ float leave(const product_context &c, uint32_t u, uint32_t b, float2,
				      float2, float gate, float up)
	{
		store((decode_bf16 *)c.d.act + decode_tile_place(&c.d, b, u), silu(gate) * up);
		return 0;
	}
};

/* ---- copies -------------------------------------------------------------------------------- */

/* Where a thread is: its warp's rows and columns, its lane's of those. */
struct tensor_place {
	uint32_t lane, row_warp, column_warp, row, column;
};

static __device__ inline tensor_place find_place()
{
	const uint32_t warp = threadIdx.x / 32, lane = threadIdx.x % 32;

	return { lane, warp % ROW_WARPS, warp / ROW_WARPS, lane / 4, lane % 4 };
}

/*
 * What a block has: its number among those that share columns, rows, and a chunk of sequences.
 * Blocks of the same rows are neighbours, so that all but one find weights in the cache.
 */
struct tensor_block {
	uint32_t rank, chunk, rows;
};

template <int N, int BLOCKS>
static __device__ inline tensor_block find_block(const decode_device &d)
{
	const uint32_t chunks = d.tiles / N, pair = blockIdx.x / BLOCKS;

	return { blockIdx.x % BLOCKS, pair % chunks, pair / chunks };
}

/* Steps of columns of a block, of those that share them. */
struct tensor_steps {
	uint32_t first, n;
};

template <int BLOCKS>
static __device__ inline tensor_steps find_steps(uint32_t stride, uint32_t rank)
{
	uint32_t all = (stride + DECODE_TENSOR_STEP - 1) / DECODE_TENSOR_STEP;
	uint32_t each = (all + BLOCKS - 1) / BLOCKS, first = rank * each;

	return { first, first >= all ? 0 : all - first < each ? all - first : each };
}

/* Where one of eight rows' four pieces lies: those of the same columns in different banks. */
static __device__ inline uint32_t slot_of(uint32_t row, uint32_t piece)
{
	return row * 4 + (piece ^ (row / 2 % 4));
}

static __device__ inline uint32_t slot_of_lane()
{
	return slot_of(threadIdx.x % 32 / 4, threadIdx.x % 4);
}

/*
 * Where a lane's weights of the next step are, and columns from there on. Copies move it on by a
 * step: to find an address anew each time took more instructions than the products.
 */
struct tensor_rows {
	const decode_bf16 *row[UNIT_TILES][2];
	uint32_t column, columns;
};

template <class P>
static __device__ inline tensor_rows find_tensor_rows(const decode_device &d, const decode_layer &l,
						      const tensor_place &at, uint32_t unit,
						      uint32_t step)
{
	const uint32_t last = P::units(d) - 1;
	const uint32_t column = step * DECODE_TENSOR_STEP + at.column_warp * DECODE_TILE_COLUMNS +
				at.column * DECODE_GROUP;
	tensor_rows out;

	for (uint32_t m = 0; m < UNIT_TILES; m++) {
		uint32_t u = unit + (at.row_warp * UNIT_TILES + m) * 8 + at.row;
		unit_rows<decode_bf16> r = P::rows(d, l, u < last ? u : last);

		out.row[m][0] = r.a + column;
		out.row[m][1] = r.b + column;
	}
	out.column = column;
	out.columns = P::stride(d);
	return out;
}

/* A lane's weights of a step; what lies behind the last column are zeros. */
static __device__ inline void copy_weights(tensor_rows *rows, uint4 *slots)
{
	const bool there = rows->column < rows->columns;
	uint4 *to = slots + threadIdx.x / 32 * (UNIT_TILES * 2 * 32) + slot_of_lane();

	for (int m = 0; m < UNIT_TILES; m++)
		for (int r = 0; r < 2; r++) {
			copy_slot(to + (2 * m + r) * 32, rows->row[m][r], there);
			rows->row[m][r] += DECODE_TENSOR_STEP;
		}
	rows->column += DECODE_TENSOR_STEP;
}

/* Where a thread's first activations of the next step are. */
struct tensor_activations {
	const uint4 *next;
	size_t columns; /* pieces from 32 columns to the next 32 */
};

/* tiles: of the chunk's first sequences and of column 0. */
template <int N>
static __device__ inline tensor_activations find_activations(const decode_device &d,
							     const uint4 *tiles, uint32_t step)
{
	const size_t columns = (size_t)d.tiles * 32;
	const uint32_t first = step * COLUMN_WARPS + threadIdx.x / (N * 32);

	return { tiles + first * columns + threadIdx.x % (N * 32), columns };
}

/* The activations of a step, by all threads. */
template <int N> static __device__ inline void copy_activations(tensor_activations *x, uint4 *slots)
{
	constexpr uint32_t ALL = tensor_shape<N>::X_SLOTS;
	constexpr uint32_t COLUMNS = DECODE_THREADS / (N * 32); /* that threads copy at once */
	uint4 *to = slots + WEIGHT_SLOTS + threadIdx.x / 32 * 32 + slot_of_lane();

	for (uint32_t i = 0; i * DECODE_THREADS < ALL; i++)
		if (ALL % DECODE_THREADS == 0 || threadIdx.x < ALL)
			copy_slot(to + i * DECODE_THREADS, x->next + i * COLUMNS * x->columns,
				  true);
	x->next += COLUMN_WARPS * x->columns;
}

/* ---- products ------------------------------------------------------------------------------ */

/* A lane's sums: of a tile of units and one of sequences, its unit's two rows and two sequences. */
template <int N> struct tensor_sums {
	float of[UNIT_TILES][N][4];
};

#ifdef __CUDACC__
template <int N>
static __device__ inline void multiply_step(const uint4 *slots, const tensor_place &at,
					    tensor_sums<N> *sums)
{
	const uint32_t of = at.lane / 8, row = at.lane % 8; /* of the pieces that a lane names */
	const uint4 *w = slots + threadIdx.x / 32 * (UNIT_TILES * 2 * 32) + of % 2 * 32;
	const uint4 *x = slots + WEIGHT_SLOTS + at.column_warp * (N * 32) + slot_of(row, of);
	uint32_t a[UNIT_TILES][2][4];

	for (int m = 0; m < UNIT_TILES; m++)
		for (int half = 0; half < 2; half++)
			load_pieces(a[m][half], w + 2 * m * 32 + slot_of(row, 2 * half + of / 2));
	for (int n = 0; n < N; n += 2) {
		uint32_t b[2][4];

		load_pieces(b[0], x + n * 32);
		load_pieces(b[1], x + (n + 1) * 32);
		/* three instructions lie between two that add to the same sums */
		for (int half = 0; half < 2; half++)
			for (int t = 0; t < 2 * UNIT_TILES; t++)
				multiply_tile(sums->of[t / 2][n + t % 2], a[t / 2][half],
					      b[t % 2][2 * half], b[t % 2][2 * half + 1]);
	}
}
#else
static inline float multiply_slots(const uint4 *a, uint32_t row, const uint4 *b, uint32_t sequence)
{
	float sum = 0;

	for (uint32_t piece = 0; piece < 4; piece++) {
		float v[DECODE_GROUP], x[DECODE_GROUP];

		widen_group(raw_group<decode_bf16>{ a[slot_of(row, piece)] }, v);
		widen_group(raw_group<decode_bf16>{ b[slot_of(sequence, piece)] }, x);
		for (int i = 0; i < DECODE_GROUP; i++)
			sum += v[i] * x[i];
	}
	return sum;
}

/* The same numbers from the same places, those that other lanes have copied among them. */
template <int N>
static inline void multiply_step(const uint4 *slots, const tensor_place &at, tensor_sums<N> *sums)
{
	const uint4 *w = slots + threadIdx.x / 32 * (UNIT_TILES * 2 * 32);
	const uint4 *x = slots + WEIGHT_SLOTS + at.column_warp * (N * 32);

	for (int m = 0; m < UNIT_TILES; m++)
		for (int n = 0; n < N; n++)
			for (int i = 0; i < 4; i++)
				sums->of[m][n][i] +=
					multiply_slots(w + (2 * m + i / 2) * 32, at.row, x + n * 32,
						       2 * at.column + i % 2);
}
#endif

/* Sums in shared memory, [sequence][row][unit]: where a lane has those of two of its tiles. */
static __device__ inline float *sum_place(float *shared, const tensor_place &at, int m, int n,
					  int i)
{
	uint32_t sequence = n * DECODE_TILE + 2 * at.column + i % 2;
	uint32_t unit = (at.row_warp * UNIT_TILES + m) * 8 + at.row;

	return shared + sequence * SUM_PITCH + i / 2 * DECODE_TENSOR_UNITS + unit;
}

/* The sets of warps add what they have, one after the other. */
template <int N>
static __device__ inline void gather_sums(const tensor_sums<N> &sums, const tensor_place &at,
					  float *shared)
{
	for (uint32_t turn = 0; turn < COLUMN_WARPS; turn++) {
		if (turn)
			__syncthreads();
		if (turn != at.column_warp)
			continue;
		for (int m = 0; m < UNIT_TILES; m++)
			for (int n = 0; n < N; n++)
				for (int i = 0; i < 4; i++) {
					float *to = sum_place(shared, at, m, n, i);

					*to = (turn ? *to : 0) + sums.of[m][n][i];
				}
	}
}

/* The sum of all blocks that share columns, in their order. */
template <int BLOCKS> static __device__ inline float add_blocks(const float *p)
{
	float v[BLOCKS], sum;

	for (int r = 0; r < BLOCKS; r++)
		v[r] = read_block<BLOCKS>(p, (uint32_t)r);
	sum = v[0];
	for (int r = 1; r < BLOCKS; r++)
		sum += v[r];
	return sum;
}

/* ---- what comes before and after ------------------------------------------------------------ */

/* What the norm divides by, from the sums of squares that the launch before has left. */
template <int N>
static __device__ inline void read_factors(const decode_device &d, uint32_t first, float *factor)
{
	const uint32_t b = first + threadIdx.x;
	const uint32_t all = d.tiles * DECODE_TILE;
	float sum = 0;

	if (threadIdx.x >= tensor_shape<N>::SEQUENCES)
		return;
	for (uint32_t p = 0; p < d.square_parts; p += PARTS_TOGETHER) {
		float v[PARTS_TOGETHER];

		for (uint32_t i = 0; i < PARTS_TOGETHER; i++)
			v[i] = p + i < d.square_parts ? d.squares[(p + i) * all + b] : 0;
		for (uint32_t i = 0; i < PARTS_TOGETHER; i++)
			sum += v[i];
	}
	factor[threadIdx.x] = 1 / sqrtf(sum / (float)d.dim + d.eps);
}

/* The best of a warp's candidates for a sequence, which are a block's. */
static __device__ inline void leave_best(const decode_device &d, uint32_t block, uint32_t b,
					 candidate best)
{
	best = best_of_warp(best);
	if (threadIdx.x % 32)
		return;
	d.best_logit[(size_t)b * d.blocks + block] = best.logit;
	d.best_token[(size_t)b * d.blocks + block] = best.token;
}

/* Of a lane's units: what is loaded before their sums are there. */
struct tensor_units {
	float2 of[UNITS_EACH];
};

template <class P>
static __device__ inline tensor_units load_norms(const decode_device &d, const decode_layer &l,
						 uint32_t unit)
{
	const uint32_t last = P::units(d) - 1;
	tensor_units out;

	for (uint32_t i = 0; i < UNITS_EACH; i++) {
		uint32_t u = unit + threadIdx.x % 32 + 32 * i;

		out.of[i] = P::norm(d, l, u < last ? u : last);
	}
	return out;
}

template <class P>
static __device__ inline tensor_units load_before(const product_context &c, uint32_t unit,
						  uint32_t b)
{
	tensor_units out = {};

	for (uint32_t i = 0; b < c.d.batch && i < UNITS_EACH; i++) {
		uint32_t u = unit + threadIdx.x % 32 + 32 * i;

		/* another lane of the block writes what lies at the last unit */
		if (u < P::units(c.d))
			out.of[i] = P::before(c, u, b);
	}
	return out;
}

/* A warp finishes a sequence: all units of the block's rows. sums: that sequence's. */
template <class P, int BLOCKS>
static __device__ inline void finish_sequence(const product_context &c, uint32_t block, uint32_t b,
					      const tensor_units &norm, const tensor_units &with,
					      float factor, const float *sums)
{
	const uint32_t lane = threadIdx.x % 32, units = P::units(c.d);
	candidate best = { -INFINITY, 0 };
	float squares = 0;

	for (uint32_t i = 0; i < UNITS_EACH; i++) {
		const uint32_t at = lane + 32 * i, u = block * DECODE_TENSOR_UNITS + at;
		float low = add_blocks<BLOCKS>(sums + at) * factor;
		float high = add_blocks<BLOCKS>(sums + DECODE_TENSOR_UNITS + at) * factor;

		if (u >= units)
			continue;
		squares += P::leave(c, u, b, with.of[i], norm.of[i], low, high);
		if (P::HAS_BEST) {
			take_better(&best, low, 2 * u);
			if (2 * u + 1 < c.d.vocab)
				take_better(&best, high, 2 * u + 1);
		}
	}
	if (P::HAS_BEST)
		leave_best(c.d, block, b, best);
	if (!P::HAS_SQUARES)
		return;
	squares = sum_lanes(squares, 32);
	if (!lane)
		c.d.squares[block * (c.d.tiles * DECODE_TILE) + b] = squares;
}

/*
 * Warps take the sequences in turn, and so do blocks that share columns. What a sequence needs
 * besides its sums is loaded while the one before it is finished.
 */
template <class P, int N, int BLOCKS>
static __device__ inline void finish_sequences(const product_context &c, const tensor_block &block,
					       const tensor_units &norm, const float *factor,
					       const float *sums)
{
	constexpr uint32_t ALL = tensor_shape<N>::SEQUENCES, EVERY = DECODE_WARPS * BLOCKS;
	const uint32_t first = block.chunk * ALL, unit = block.rows * DECODE_TENSOR_UNITS;
	uint32_t s = threadIdx.x / 32 * BLOCKS + block.rank;
	tensor_units with = load_before<P>(c, unit, first + s);

	meet_blocks<BLOCKS>();
	for (; s < ALL && first + s < c.d.batch; s += EVERY) {
		const tensor_units next = load_before<P>(c, unit, first + s + EVERY);

		finish_sequence<P, BLOCKS>(c, block.rows, first + s, norm, with,
					   P::HAS_NORM ? factor[s] : 1, sums + s * SUM_PITCH);
		with = next;
	}
}

/* ---- the kernel ----------------------------------------------------------------------------- */

/* The first steps' weights, which depend on no launch before. */
template <int N>
static __device__ inline void copy_first_weights(tensor_rows *rows, uint32_t steps, uint4 *ring)
{
	using S = tensor_shape<N>;

	for (uint32_t s = 0; s < S::STEPS - 1 && s < steps; s++)
		copy_weights(rows, ring + s * S::SLOTS);
}

template <int N>
static __device__ inline void copy_first_activations(tensor_activations *x, uint32_t steps,
						     uint4 *ring)
{
	using S = tensor_shape<N>;

	for (uint32_t s = 0; s < S::STEPS - 1; s++) {
		if (s < steps)
			copy_activations<N>(x, ring + s * S::SLOTS);
		copies_mark();
	}
}

/* All steps of a block, of which the first ones' copies are under way. */
template <int N>
static __device__ inline void multiply_all(tensor_rows *rows, tensor_activations *x, uint32_t steps,
					   uint4 *ring, tensor_sums<N> *sums)
{
	using S = tensor_shape<N>;
	const tensor_place at = find_place();

	for (uint32_t s = 0; s < steps; s++) {
		const uint32_t next = s + S::STEPS - 1;
		uint4 *to = ring + next % S::STEPS * S::SLOTS;

		copies_wait<S::STEPS - 2>();
		__syncthreads();
		if (next < steps) {
			copy_weights(rows, to);
			copy_activations<N>(x, to);
		}
		copies_mark();
		multiply_step<N>(ring + s % S::STEPS * S::SLOTS, at, sums);
	}
	copies_wait<0>();
	__syncthreads();
}

template <class P, int N, int BLOCKS>
__global__ void BLOCKS_TOGETHER(BLOCKS) __launch_bounds__(DECODE_THREADS, 2)
	decode_tensor_kernel(decode_device d, decode_layer l)
{
	DYN_SHARED(uint4, ring);
	SHARED_ARRAY(float, factor, [tensor_shape<N>::SEQUENCES]);
	const tensor_block block = find_block<N, BLOCKS>(d);
	const uint32_t unit = block.rows * DECODE_TENSOR_UNITS;
	const tensor_steps steps = find_steps<BLOCKS>(P::stride(d), block.rank);
	const uint4 *tiles = (const uint4 *)P::tiles(d) + block.chunk * (N * 32);
	tensor_rows rows = find_tensor_rows<P>(d, l, find_place(), unit, steps.first);
	tensor_activations x = find_activations<N>(d, tiles, steps.first);
	tensor_sums<N> sums = {};

	programmatic_go();
	copy_first_weights<N>(&rows, steps.n, ring);
	const tensor_units norm = load_norms<P>(d, l, unit);

	programmatic_wait();
	copy_first_activations<N>(&x, steps.n, ring);
	const product_context c = { d, l, d.progress->position };

	if (P::HAS_NORM)
		read_factors<N>(d, block.chunk * tensor_shape<N>::SEQUENCES, factor);
	multiply_all<N>(&rows, &x, steps.n, ring, &sums);
	gather_sums<N>(sums, find_place(), (float *)ring);
	finish_sequences<P, N, BLOCKS>(c, block, norm, factor, (float *)ring);
	if (BLOCKS > 1)
		meet_blocks<BLOCKS>(); /* all have read what this block has */
}

#endif
