/*
 * weigh.cuh - weights and their sums: of a thread, of a tile, of a frame.
 */
#include "workloads/particlefilter/particle.cuh"

namespace pf
{
/* Sums of a thread, in units of e^m; m in units of L. */
struct sums {
	int m;
	double v[SUMS]; /* of w, w x, w y, w^2 */
};

static __device__ inline double score_loglik(const struct pf_filter &f, int score)
{
	return f.loglik_unit * (double)score;
}

/* What sums in units of e^from are worth in units of e^to. */
static __device__ inline double unit_ratio(const struct pf_filter &f, int from, int to)
{
	return from == to ? 1 : exp(score_loglik(f, from - to));
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
	double unit = unit_ratio(f, a->m, m);

	for (int i = 0; i < SUMS - 1; i++)
		a->v[i] *= unit;
	a->v[SUMS - 1] *= unit * unit;
	a->m = m;
}

/* The shift of a chunk: the block's best score; 0 where there are no shifts. */
static __device__ inline int chunk_shift(const struct pf_filter &f, int best, struct scratch *s)
{
	return f.shifted ? max_block(best, s) : 0;
}

/* ---- a frame ------------------------------------------------------------------------------ */

/* The largest unit of n masses, in e^max; all threads wait. */
static __device__ inline double largest_unit(const struct pf_filter &f, const struct pf_mass *mass,
					     int n, struct scratch *s)
{
	double m = mass[0].m;

	if (!f.shifted)
		return 0;
	for (int i = (int)threadIdx.x; i < n; i += (int)blockDim.x)
		m = mass[i].m > m ? mass[i].m : m;
	return max_block(m, s);
}

static __device__ inline double tile_unit(const struct pf_filter &f, double m, double max)
{
	return f.shifted ? exp(m - max) : 1;
}

/* Inclusive sums over tiles, and the tiles' units; both in shared or both in global memory. */
struct tile_sums {
	double *sum, *scale;
};

/*
 * The n masses of a frame become inclusive sums, each thread adding up some consecutive ones. All
 * threads of the block call it and have the total; sums are there after the next barrier.
 */
static __device__ inline double sum_tiles(const struct pf_filter &f, const struct pf_mass *mass,
					  int n, double max, const struct tile_sums &to,
					  struct scratch *s)
{
	int each = (n + (int)blockDim.x - 1) / (int)blockDim.x;
	int first = (int)threadIdx.x * each, end = first + each < n ? first + each : n;
	double own = 0, total;

	for (int i = first; i < end; i++)
		own += mass[i].s * tile_unit(f, mass[i].m, max);
	double before = scan_block(own, s, &total);

	own = 0;
	for (int i = first; i < end; i++) {
		double unit = tile_unit(f, mass[i].m, max);

		own += mass[i].s * unit;
		to.sum[i] = before + own;
		if (f.shifted)
			to.scale[i] = unit;
	}
	return total;
}

/*
 * What the sums of weights, rows, columns and squares in scratch memory make. Four warps have a
 * division each, as one after the other they would hold up the next frame.
 */
static __device__ inline void write_estimate(const struct pf_filter &f, int k, double max, double u,
					     const struct scratch *s)
{
	struct pf_estimate *e = &f.ring[k - 1];

	for (int i = warp(); i < SUMS; i += warps()) {
		double w = sum_warp_sums(s, 0), other = sum_warp_sums(s, i);
		double *to = i == 0 ? &e->sum : i == 1 ? &e->xe : i == 2 ? &e->ye : &e->ess;

		if (!lane())
			*to = i == 0 ? w / (double)f.particles
				     : (i == 3 ? w * w : other) / (i == 3 ? other : w);
	}
	if (threadIdx.x)
		return;
	e->max = max;
	e->u = u;
}

/* The moments of all n tiles or chunks, so many of each, are the estimate of a frame. By one block.
 */
static __device__ inline void estimate(const struct pf_filter &f, const struct pf_buffer &from,
				       int n, int k, double u, double max, struct scratch *s)
{
	int parts = f.split ? 1 : PF_WARPS;
	double v[SUMS] = { 0, 0, 0, 0 };

	for (int i = (int)threadIdx.x; i < n * parts; i += (int)blockDim.x) {
		double unit = tile_unit(f, from.mass[i / parts].m, max);

		for (int j = 0; j < SUMS; j++)
			v[j] += from.moments[i].v[j] * unit * (j == PF_SQUARES ? unit : 1);
	}
	sum_warps(v, s);
	write_estimate(f, k, max, u, s);
}

/* One block closes a frame: its n masses become inclusive sums, and an estimate. */
static __device__ inline void close_frame(const struct pf_filter &f, const struct pf_buffer &from,
					  int n, int k, double u, struct scratch *s)
{
	struct tile_sums to = { f.tile, f.tile_scale };
	double max = largest_unit(f, from.mass, n, s);
	double total = sum_tiles(f, from.mass, n, max, to, s);

	estimate(f, from, n, k, u, max, s);
	if (!threadIdx.x)
		f.head->total = total;
}
} // namespace pf
