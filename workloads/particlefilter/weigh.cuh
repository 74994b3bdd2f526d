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

/* Sums of one level: the numbers before `at` come off t, which goes over to the unit below. */
static __device__ inline double descend(const double *sum, int at, double t, const double *scale)
{
	t -= at ? sum[at - 1] : 0;
	return scale ? t / scale[at] : t;
}

/*
 * Particle whose share of the weights the threshold (u + j) / N falls into. Each level has a
 * number that is t or more: a threshold that rounding puts above the last one becomes it, so
 * that a particle without weight is never found.
 */
static __device__ inline int64_t find_ancestor(const struct pf_filter &f,
					       const struct pf_buffer &b, const double *tile,
					       double total, double u, int64_t j)
{
	double t = (u + (double)j) / (double)f.particles * total;
	int at = first_from(tile, f.tiles, t);
	int first = at * f.tile_chunks;
	int n = f.chunks - first < f.tile_chunks ? f.chunks - first : f.tile_chunks;

	t = descend(tile, at, t, f.shifted ? f.tile_scale : NULL);
	at = first_from(b.chunk + first, n, t);
	t = descend(b.chunk + first, at, t, f.shifted ? b.scale + first : NULL);

	int64_t start = (int64_t)(first + at) * f.chunk;
	const real *c = (const real *)b.c + start;

	n = f.particles - start < f.chunk ? (int)(f.particles - start) : f.chunk;
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

/* Of consecutive masses, each thread's own: their inclusive sums, and what they add up to. */
static __device__ inline double add_masses(const struct pf_filter &f, int first, int end,
					   double max, double v[SUMS])
{
	double s = 0;

	for (int i = first; i < end; i++) {
		struct pf_mass a = f.mass[i];
		double unit = f.shifted ? exp(a.m - max) : 1;

		f.tile_scale[i] = unit;
		s += a.s * unit;
		f.tile[i] = s;
		v[0] += a.w * unit;
		v[1] += a.x * unit;
		v[2] += a.y * unit;
		v[3] += a.squares * unit * unit;
	}
	return s;
}

static __device__ inline void write_estimate(const struct pf_filter &f, int k, double max,
					     double u, const double v[SUMS])
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

	for (int i = first; i < end; i++)
		f.tile[i] += before;
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
}
