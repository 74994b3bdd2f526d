/*
 * weigh.cuh - what a block does with its particles: weights, their sums, and the look back for an
 * ancestor.
 */
#include "workloads/particlefilter/particle.cuh"

namespace pf
{
/* Of a thread, and by sum_tile() of a block: sums in units of e^m, m in units of L's. */
struct sums {
	int m;
	double v[SUMS]; /* of w, w x, w y, w^2 */
};

static __device__ inline double loglik_of(const struct pf_filter &f, int score)
{
	return f.loglik_unit * (double)score;
}

/* What sums in units of e^from are worth in units of e^to. */
static __device__ inline double unit_of(const struct pf_filter &f, int from, int to)
{
	return from == to ? 1 : exp(loglik_of(f, from - to));
}

static __device__ inline void add_particle(struct sums *a, real w, double unit, real x, real y)
{
	double v = unit * (double)w;

	a->v[0] += v;
	a->v[1] += v * (double)x;
	a->v[2] += v * (double)y;
	a->v[3] += v * v;
}

/* Sums so far go over to a larger unit. */
static __device__ inline void raise_unit(const struct pf_filter &f, struct sums *a, int m)
{
	double unit = unit_of(f, a->m, m);

	for (int i = 0; i < SUMS - 1; i++)
		a->v[i] *= unit;
	a->v[SUMS - 1] *= unit * unit;
	a->m = m;
}

/* Of a chunk: m, the block's maximum where there are shifts at all. */
static __device__ inline int chunk_shift(const struct pf_filter &f, int score, bool live,
					 struct scratch *s)
{
	return f.shifted ? max_block(live ? score : (int)0x80000000, s) : 0;
}

/* ---- ancestors --------------------------------------------------------------------------- */

/* The frame before, as its ancestors are looked up. */
struct past {
	struct pf_buffer b;
	double total, u;
};

/*
 * Inclusive sums over tiles, [tiles], in shared or global memory. On their own, because nvcc 13.0
 * takes struct past's other pointers for shared ones as soon as one of them is.
 */
typedef const double *tile_sums;

/* A chunk and its tile. */
struct spot {
	int tile, chunk;
};

/* Threshold j, in units of all sums; rounding must not put the last one above them. */
static __device__ inline double threshold(const struct pf_filter &f, const struct past &p,
					  int64_t j)
{
	double t = (p.u + (double)j) * f.share * p.total;

	return t > p.total ? p.total : t;
}

static __device__ inline double sum_before(tile_sums tiles, int tile)
{
	return tile ? tiles[tile - 1] : 0;
}

/* Sum of all weights up to the end of a chunk. The last one of a tile ends where the tile does. */
static __device__ inline double sum_through(const struct pf_filter &f, const struct past &p,
					    tile_sums tiles, int tile, int chunk)
{
	bool last = chunk == f.chunks - 1 || chunk == (tile + 1) * f.tile_chunks - 1;
	double own = last ? 0 : p.b.chunk[chunk];

	if (last)
		return tiles[tile];
	return sum_before(tiles, tile) + (f.shifted ? own * f.tile_scale[tile] : own);
}

/* The first chunk whose sum is t or more. */
static __device__ inline struct spot find_spot(const struct pf_filter &f, const struct past &p,
					       tile_sums tiles, double t)
{
	int tile = first_from(tiles, f.tiles, t);
	int low = tile * f.tile_chunks, high = low + f.tile_chunks - 1;

	high = high < f.chunks ? high : f.chunks - 1;
	while (low < high) {
		int middle = (low + high) / 2;

		if (sum_through(f, p, tiles, tile, middle) >= t)
			high = middle;
		else
			low = middle + 1;
	}
	struct spot found = { tile, low };

	return found;
}

/* The same, known to be one of first to last: most often they are one, or of one tile. */
static __device__ inline struct spot find_between(const struct pf_filter &f, const struct past &p,
						  tile_sums tiles, double t, struct spot first,
						  struct spot last)
{
	bool one_tile = first.tile == last.tile;

	while (first.chunk < last.chunk) {
		int middle = (first.chunk + last.chunk) / 2;
		int tile = one_tile ? first.tile : middle / f.tile_chunks;

		if (sum_through(f, p, tiles, tile, middle) >= t)
			last.chunk = middle;
		else
			first.chunk = middle + 1;
	}
	if (!one_tile)
		first.tile = first.chunk / f.tile_chunks;
	return first;
}

/*
 * The particle of a chunk whose sum is t or more. A threshold that rounding puts above the last
 * sum becomes it, so that no particle without weight is found.
 */
static __device__ inline int64_t find_in_chunk(const struct pf_filter &f, const struct past &p,
					       tile_sums tiles, double t, struct spot at)
{
	int64_t start = (int64_t)at.chunk * f.chunk;
	int n = f.particles - start < f.chunk ? (int)(f.particles - start) : f.chunk;
	const real *c = (const real *)p.b.c + start;

	t -= sum_before(tiles, at.tile);
	if (f.shifted)
		t /= f.tile_scale[at.tile];
	if (at.chunk != at.tile * f.tile_chunks)
		t -= p.b.chunk[at.chunk - 1];
	if (f.shifted)
		t /= p.b.scale[at.chunk];
	t = t > (double)c[n - 1] ? (double)c[n - 1] : t;
	return start + first_from(c, n, t);
}

/* ---- all blocks --------------------------------------------------------------------------- */

/* The largest unit of all masses, in e^max. */
static __device__ inline double largest_unit(const struct pf_filter &f, int n, struct scratch *s)
{
	double m = f.mass[0].m;

	if (!f.shifted)
		return 0;
	for (int i = (int)threadIdx.x; i < n; i += (int)blockDim.x)
		m = f.mass[i].m > m ? f.mass[i].m : m;
	return max_block(m, s);
}

static __device__ inline double tile_unit(const struct pf_filter &f, double m, double max)
{
	return f.shifted ? exp(m - max) : 1;
}

/* What consecutive masses, each thread's own, add up to. Nothing is stored: loads overlap. */
static __device__ inline double add_masses(const struct pf_filter &f, int first, int end,
					   double max, double v[SUMS])
{
	double s = 0;

	for (int i = first; i < end; i++) {
		struct pf_mass a = f.mass[i];
		double unit = tile_unit(f, a.m, max);

		s += a.s * unit;
		v[0] += a.w * unit;
		v[1] += a.x * unit;
		v[2] += a.y * unit;
		v[3] += a.squares * unit * unit;
	}
	return s;
}

/* The same masses' inclusive sums, given what those of the threads before add up to. */
static __device__ inline void store_sums(const struct pf_filter &f, int first, int end, double max,
					 double before)
{
	double s = 0;

	for (int i = first; i < end; i++) {
		double unit = tile_unit(f, f.mass[i].m, max);

		s += f.mass[i].s * unit;
		f.tile_scale[i] = unit;
		f.tile[i] = before + s;
	}
}

static __device__ inline void write_estimate(const struct pf_filter &f, int k, double max, double u,
					     const double v[SUMS])
{
	struct pf_estimate e;

	e.xe = v[1] / v[0];
	e.ye = v[2] / v[0];
	e.sum = v[0] / (double)f.particles;
	e.max = max;
	e.ess = v[0] * v[0] / v[3];
	e.u = u;
	f.ring[k - 1] = e;
}

/* One block ends the frame: the n masses of all others become inclusive sums and an estimate. */
static __device__ inline void end_frame(const struct pf_filter &f, int n, uint32_t step,
					struct scratch *s)
{
	int each = (n + (int)blockDim.x - 1) / (int)blockDim.x;
	int first = (int)threadIdx.x * each, k = frame_of(f, step);
	int end = first + each < n ? first + each : n;
	double max = largest_unit(f, n, s), total, v[SUMS] = { 0, 0, 0, 0 };
	double own = add_masses(f, first, end, max, v);
	double before = scan_block(own, s, &total);

	store_sums(f, first, end, max, before);
	if (end == n && first < n)
		f.head->total = before + own;
	sum_block(v, s);
	if (threadIdx.x)
		return;
	double u = offset_of(f, k, f.head->drawn);

	write_estimate(f, k, max, u, v);
	f.head->u = u;
	f.head->step = step_after(f, step);
	f.head->done = 0;
}
} // namespace pf
