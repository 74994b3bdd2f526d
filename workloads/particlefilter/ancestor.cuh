/*
 * ancestor.cuh - resampling: which particle of the frame before a particle descends from.
 */
#include "workloads/particlefilter/weigh.cuh"

namespace pf
{
/* The frame before, as its ancestors are looked up. */
struct past {
	struct pf_buffer b;
	double total, u;
};

/* Threshold j, in units of all sums; rounding must not put the last one above them. */
static __device__ inline double threshold(const struct pf_filter &f, const struct past &p, int j)
{
	double t = (p.u + (double)j) * f.share * p.total;

	return t > p.total ? p.total : t;
}

/* The range of cumulative weights that a chunk covers. */
struct chunk_range {
	double through; /* sum of all weights up to the end of the chunk */
	double before;	/* and to its beginning */
	double unit;	/* what the chunk's unit is in those */
	double last;	/* last sum of the chunk, in its unit */
};

static __device__ inline struct chunk_range find_chunk_range(const struct pf_filter &f,
							     const struct past &p,
							     const struct tile_sums &tiles,
							     int tile, int chunk)
{
	bool first = chunk == tile * f.tile_chunks;
	bool last = chunk == f.chunks - 1 || chunk == (tile + 1) * f.tile_chunks - 1;
	int64_t end = (int64_t)(chunk + 1) * f.chunk;
	double before = tile ? tiles.sum[tile - 1] : 0, scale = f.shifted ? tiles.scale[tile] : 1;
	struct chunk_range w;

	/* the last one of a tile ends where the tile does */
	w.through = last ? tiles.sum[tile] : before + scale * p.b.chunk[chunk];
	w.before = first ? before : before + scale * p.b.chunk[chunk - 1];
	w.unit = f.shifted ? scale * p.b.scale[chunk] : 1;
	w.last = (double)((const real *)p.b.c)[(end < f.particles ? end : f.particles) - 1];
	return w;
}

/*
 * The threshold in the chunk's units. One that rounding puts above the chunk's last sum becomes
 * it, so that no particle without weight is found.
 */
static __device__ inline double to_chunk_units(const struct pf_filter &f,
					       const struct chunk_range &w, double t)
{
	t -= w.before;
	if (f.shifted)
		t /= w.unit;
	return t > w.last ? w.last : t;
}

/* The first chunk whose sum is t or more. */
static __device__ inline int find_chunk(const struct pf_filter &f, const struct past &p,
					const struct tile_sums &tiles, double t)
{
	int tile = first_from(tiles.sum, f.tiles, t);
	int low = tile * f.tile_chunks, high = low + f.tile_chunks - 1;

	high = high < f.chunks ? high : f.chunks - 1;
	while (low < high) {
		int middle = (low + high) / 2;

		if (find_chunk_range(f, p, tiles, tile, middle).through >= t)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* The particle whose sum is t or more, by global memory alone. */
static __device__ inline int find_ancestor(const struct pf_filter &f, const struct past &p,
					   const struct tile_sums &tiles, double t)
{
	int chunk = find_chunk(f, p, tiles, t), start = chunk * f.chunk;
	int n = (int)f.particles - start < f.chunk ? (int)f.particles - start : f.chunk;
	const real *c = (const real *)p.b.c + start;
	struct chunk_range w = find_chunk_range(f, p, tiles, chunk / f.tile_chunks, chunk);

	return start + first_from(c, n, to_chunk_units(f, w, t));
}

/*
 * ---- a chunk's ancestors -------------------------------------------------------------------
 *
 * Neighbours have neighbours for ancestors: those of a chunk's particles are most often in one or
 * two chunks of the frame before. Their cumulative weights are loaded into shared memory, all at
 * once, instead of a dependent load for every step of every search.
 */
struct stage {
	real c[PF_STAGED][PF_CHUNK];
	struct chunk_range range[PF_STAGED];
	int first, chunks; /* chunks: 0 where they are too many */
};

/* Chunks first to last; all threads wait until they are there. */
static __device__ inline void stage_chunks(const struct pf_filter &f, const struct past &p,
					   const struct tile_sums &tiles, int first, int last,
					   struct stage *to)
{
	int n = last - first + 1 <= PF_STAGED ? last - first + 1 : 0;
	int start = first * PF_CHUNK, live = (int)f.particles - start, i = (int)threadIdx.x;
	const real *c = (const real *)p.b.c + start;
	real *sums = &to->c[0][0]; /* chunk after chunk */
	struct chunk_range own;	   /* its loads are in flight while sums are copied */

	if (i < n)
		own = find_chunk_range(f, p, tiles, (first + i) / f.tile_chunks, first + i);
	for (int j = i; j < n * PF_CHUNK; j += PF_THREADS)
		sums[j] = j < live ? c[j] : real(INFINITY);
	if (i < n)
		to->range[i] = own;
	if (!threadIdx.x) {
		to->first = first;
		to->chunks = n;
	}
	__syncthreads();
}

/* Which of the staged chunks a threshold leads to; most often there are one or two. */
static __device__ inline int staged_chunk(const struct stage *from, double t)
{
	int i = 0;

	while (i < from->chunks - 1 && from->range[i].through < t)
		i++;
	return i;
}

/*
 * For each of a thread's thresholds the particle whose sum is t or more: there is one in the chunk,
 * to_chunk_units() sees to that. Step by step for all of them, as each step waits for shared
 * memory.
 */
static __device__ inline void find_staged(const struct pf_filter &f, const struct stage *from,
					  const double t[PF_EACH], int found[PF_EACH])
{
	const real *c[PF_EACH];
	double within[PF_EACH];
	int chunk[PF_EACH];

	UNROLLED
	for (int i = 0; i < PF_EACH; i++) {
		chunk[i] = staged_chunk(from, t[i]);
		within[i] = to_chunk_units(f, from->range[chunk[i]], t[i]);
		c[i] = from->c[chunk[i]];
		found[i] = 0;
	}
	UNROLLED
	for (int step = PF_CHUNK / 2; step; step /= 2) {
		UNROLLED
		for (int i = 0; i < PF_EACH; i++)
			found[i] += (double)c[i][found[i] + step - 1] < within[i] ? step : 0;
	}
	UNROLLED
	for (int i = 0; i < PF_EACH; i++)
		found[i] += (from->first + chunk[i]) * PF_CHUNK;
}
} // namespace pf
