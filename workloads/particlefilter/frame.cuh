/*
 * frame.cuh - granularity=frame: one launch a frame. Included by kernels.cuh.
 *
 * What concerns all particles, the sum of the weights of the frame before, is added up by every
 * block for itself from the sums of the tiles. One block more than there are tiles makes that
 * frame's estimate meanwhile, so nothing waits for the block that is done last; the estimate of
 * the very last frame is made when somebody asks (particlefilter_close).
 */

enum { MASSES = (PF_TILES_MAX + PF_THREADS - 1) / PF_THREADS };

/* In shared memory. */
struct block {
	uint32_t step;
	double tile[PF_TILES_MAX], scale[PF_TILES_MAX]; /* sums of the frame before */
	int chunk[PF_TILE_CHUNKS_MAX + 1]; /* where ancestors of a chunk's first particle are */
	struct stage stage;
	struct scratch scratch;
};

/*
 * Which step it is. Every block says when it knows, and the last one to do so writes down the next
 * (end_frame): no block that has not looked yet can see that. Nothing else is published by it, so
 * nothing here needs a fence; and the count is not looked at before the work is done.
 */
static __device__ inline uint32_t begin_frame(const struct pf_filter &f, struct block *b,
					      uint32_t *begun)
{
	if (!threadIdx.x)
		b->step = load_relaxed(&f.head->step);
	__syncthreads();
	if (!threadIdx.x)
		*begun = atomicAdd(&f.head->begun, 1u);
	return b->step;
}

static __device__ inline void end_frame(const struct pf_filter &f, uint32_t step, uint32_t begun)
{
	if (threadIdx.x || begun != (uint32_t)f.tiles)
		return;
	atomicExch(&f.head->begun, 0u);
	atomicExch(&f.head->step, step_after(f, step));
}

/* The thread's share of the tiles' sums. */
struct masses {
	struct pf_mass of[MASSES];
};

static __device__ inline struct masses load_masses(const struct pf_filter &f,
						   const struct pf_mass *mass)
{
	struct masses own;

	UNROLLED
	for (int i = 0; i < MASSES; i++) {
		int tile = (int)threadIdx.x * MASSES + i;

		own.of[i].m = tile < f.tiles ? mass[tile].m : -INFINITY;
		own.of[i].s = tile < f.tiles ? mass[tile].s : 0;
	}
	return own;
}

/* Inclusive sums over tiles into shared memory, there after the next barrier; the sum of all. */
static __device__ inline double add_masses(const struct pf_filter &f, const struct masses &own,
					   struct block *b)
{
	double max = 0, v[MASSES], sum = 0, total;

	if (f.shifted) {
		max = own.of[0].m;
		for (int i = 1; i < MASSES; i++)
			max = own.of[i].m > max ? own.of[i].m : max;
		max = max_block(max, &b->scratch);
	}
	UNROLLED
	for (int i = 0; i < MASSES; i++) {
		double unit = tile_unit(f, own.of[i].m, max);
		int tile = (int)threadIdx.x * MASSES + i;

		v[i] = sum += own.of[i].s * unit;
		if (f.shifted && tile < PF_TILES_MAX)
			b->scale[tile] = unit;
	}
	double before = scan_block<PF_WARPS>(sum, &b->scratch, &total);

	UNROLLED
	for (int i = 0; i < MASSES; i++)
		if ((int)threadIdx.x * MASSES + i < PF_TILES_MAX)
			b->tile[threadIdx.x * MASSES + i] = before + v[i];
	return total;
}

/* Sums of the frame before, and where in it a tile's chunks have their ancestors. */
static __device__ inline struct past look_back(const struct pf_filter &f, uint32_t step, int first,
					       int chunks, struct block *b)
{
	struct past p = { buffer_before(f, step), 0, f.head->u[~step & 1] };
	struct tile_sums tiles = { b->tile, b->scale };

	p.total = add_masses(f, load_masses(f, p.b.mass), b);
	__syncthreads();
	for (int i = (int)threadIdx.x; i <= chunks; i += PF_THREADS) {
		int j = (first + i) * PF_CHUNK;

		j = j < f.particles ? j : (int)f.particles - 1;
		b->chunk[i] = find_chunk(f, p, tiles, threshold(f, p, j));
	}
	__syncthreads();
	return p;
}

/* What a block works on: a frame, its chunks from first to before end, and the one in hand. */
struct work {
	uint32_t step;
	int k, first, end, chunk;
};

/* Where the particles of a chunk come from; *p is the frame before, as of the tile's first one. */
static __device__ inline void find_starts(const struct pf_filter &f, const struct work &w,
					  struct past *p, struct block *b, struct bundle *q)
{
	struct tile_sums tiles = { b->tile, b->scale };
	const int *from = &b->chunk[w.chunk - w.first];

	if (w.chunk == w.first)
		*p = look_back(f, w.step, w.first, w.end - w.first, b);
	stage_chunks(f, *p, tiles, from[0], from[1], &b->stage);
	resample(f, *p, tiles, &b->stage, q);
}

/*
 * Where the particles of a chunk come from, and their random numbers. A multiprocessor gives warp w
 * to its scheduler w mod 4: of a block's two warps there, one draws while the other waits for
 * memory. That is 6 % of a frame of 400,000; all of them first or last takes as long as the other.
 */
static __device__ inline void begin_chunk(const struct pf_filter &f, const struct work &w,
					  struct past *p, struct block *b, struct bundle *q)
{
	int turn = warp() / 4 % 2;

	begin_bundle(f, w.chunk, q);
	ROLLED
	for (int i = 0; i < 2; i++) { /* the code of both is there once */
		if (i == turn)
			draw_bundle(f, w.k, w.step, q);
		if (i)
			break;
		if (w.k > 1) {
			find_starts(f, w, p, b, q);
			continue;
		}
		__syncthreads(); /* the scratch memory is free, see scan_block() */
		start_bundle(f, q);
	}
}

/* Positions, weights and their sums within the chunk; adds to the thread's sums. */
static __device__ inline void filter_chunk(const struct pf_filter &f, const struct work &at,
					   struct block *b, struct bundle *q, struct sums *a,
					   double *tile_sum)
{
	struct pf_buffer to = buffer_of(f, at.step);
	real total;

	move_bundle(f, at.k, q);
	int m = chunk_shift(f, best_of(q), &b->scratch);
	real sum = weigh_bundle(f, m, q, a);
	real before = scan_block<PF_WARPS>(sum, &b->scratch, &total);

	UNROLLED
	for (int i = 0; i < PF_EACH; i++)
		q->c[i] = before = before + q->w[i];
	if (q->live > 0) {
		store_places(to, q);
		store_bundle(to.c, q->first, q->c);
	}
	*tile_sum += (double)total;
	if (threadIdx.x)
		return;
	to.chunk[at.chunk] = f.shifted ? (double)total : *tile_sum;
	if (f.shifted)
		to.scale[at.chunk] = (double)m;
}

/* Chunks with shifts of their own: what was stored becomes inclusive sums in the tile's unit. */
static __device__ inline double sum_chunks(const struct pf_filter &f, const struct pf_buffer &to,
					   int first, int end, int m)
{
	double sum = 0;

	__syncthreads();
	for (int i = first + (int)threadIdx.x; i < end; i += (int)blockDim.x)
		to.scale[i] = unit_of(f, (int)to.scale[i], m);
	__syncthreads();
	for (int i = first; i < end && !threadIdx.x; i++) {
		sum += to.chunk[i] * to.scale[i];
		to.chunk[i] = sum;
	}
	return sum;
}

/* A tile's sums: each warp leaves its own moments, which saves everybody a wait. */
static __device__ inline void end_tile(const struct pf_filter &f, const struct pf_buffer &to,
				       int first, int end, struct sums *a, double sum)
{
	if (f.shifted)
		sum = sum_chunks(f, to, first, end, a->m);
	double own = sum_four(a->v);

	if (lane() % 8 == 0)
		to.moments[(int)blockIdx.x * PF_WARPS + warp()].v[lane() / 8] = own;
	if (!threadIdx.x)
		to.mass[blockIdx.x] = { loglik_of(f, a->m), sum };
}

/*
 * The block beside those of the tiles: this frame's offset, and an estimate for the frame before,
 * if there was one. That a plain filter in double has no shifts is said in so many words: left to
 * find it out by the kernel's assumptions, nvcc 12.4 compiles for ever.
 */
template <bool PLAIN>
static __device__ inline void estimate_before(const struct pf_filter &f, uint32_t step,
					      struct block *b)
{
	struct pf_buffer from = buffer_before(f, step);
	const bool may_shift = !PLAIN || is_float;

	if (!f.rules.lcg && !threadIdx.x)
		f.head->u[step & 1] = philox_offset(f, frame_of(f, step));
	if (step)
		estimate(f, from, f.tiles, frame_before(f, step), f.head->u[~step & 1],
			 may_shift ? largest_unit(f, from.mass, f.tiles, &b->scratch) : 0,
			 &b->scratch);
}

template <bool PLAIN>
static __device__ inline void run_frame(const struct pf_filter &f, struct block *b)
{
	uint32_t begun = 0, step = begin_frame(f, b, &begun);
	int first = (int)blockIdx.x * f.tile_chunks, end = first + f.tile_chunks;
	struct work w = { step, frame_of(f, step), first, end < f.chunks ? end : f.chunks, first };
	struct sums a = { f.shifted ? (int)0x80000000 / 2 : 0, { 0, 0, 0, 0 } };
	struct past p = { buffer_before(f, step), 0, 0 };
	struct bundle q;
	double sum = 0;

	if ((int)blockIdx.x == f.tiles) {
		estimate_before<PLAIN>(f, step, b);
		end_frame(f, step, begun);
		return;
	}
	for (; w.chunk < w.end; w.chunk++) {
		begin_chunk(f, w, &p, b, &q);
		filter_chunk(f, w, b, &q, &a, &sum);
	}
	end_tile(f, buffer_of(f, step), w.first, w.end, &a, sum);
	end_frame(f, step, begun);
}

extern "C" __global__ void __launch_bounds__(PF_THREADS, 3)
	PF_IN(particlefilter_frame)(const struct pf_filter f)
{
	SHARED_ARRAY(struct block, b, [1]);

	run_frame<false>(f, b);
}
KERNEL(PF_IN(particlefilter_frame));

/* For filters that are plain, see kernels.cuh. */
extern "C" __global__ void __launch_bounds__(PF_THREADS, 3)
	PF_IN(particlefilter_plain_frame)(const struct pf_filter f)
{
	SHARED_ARRAY(struct block, b, [1]);

	ASSUME(f.shifted == is_float);
	ASSUME(!f.rules.lcg);
	ASSUME(!f.rules.wraps);
	ASSUME(!f.direct);
	run_frame<true>(f, b);
}
KERNEL(PF_IN(particlefilter_plain_frame));

extern "C" __global__ void __launch_bounds__(PF_THREADS)
	PF_IN(particlefilter_close)(const struct pf_filter f)
{
	SHARED_ARRAY(struct scratch, s, [1]);
	uint32_t step = f.head->step;

	if (step)
		close_frame(f, buffer_before(f, step), f.tiles, frame_before(f, step),
			    f.head->u[~step & 1], s);
}
KERNEL(PF_IN(particlefilter_close));
