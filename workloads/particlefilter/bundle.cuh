/*
 * bundle.cuh - the PF_EACH particles of a thread, with granularity=frame: what concerns one of them
 * is done for all before the next thing is, so that dependent operations and loads run in parallel.
 * Included by kernels.cuh.
 */

/* Particles of one thread, next to each other. */
struct bundle {
	struct position at[PF_EACH];
	struct normals z[PF_EACH];
	int points[PF_EACH];
	real w[PF_EACH], c[PF_EACH];
	int first, live; /* live: so many are particles */
};

/* One store for them all: arrays end with a whole chunk. */
struct __align__(PF_EACH * sizeof(real)) reals
{
	real v[PF_EACH];
};

static __device__ inline void store_bundle(void *array, int first, const real v[PF_EACH])
{
	struct reals all;

	UNROLLED
	for (int i = 0; i < PF_EACH; i++)
		all.v[i] = v[i];
	((struct reals *)array)[first / PF_EACH] = all;
}

/* A bundle starts at the positions of its ancestors in the frame before. */
static __device__ inline void resample(const struct pf_filter &f, const struct past &p,
				       const struct tile_sums &tiles, const struct stage *stage,
				       struct bundle *q)
{
	double t[PF_EACH];
	int from[PF_EACH];

	UNROLLED
	for (int i = 0; i < PF_EACH; i++) {
		int j = q->first + i;

		t[i] = threshold(f, p, j < f.particles ? j : (int)f.particles - 1);
	}
	if (stage->chunks)
		find_staged(f, stage, t, from);
	UNROLLED
	for (int i = 0; i < PF_EACH && !stage->chunks; i++)
		from[i] = find_ancestor(f, p, tiles, t[i]);
	UNROLLED
	for (int i = 0; i < PF_EACH; i++) {
		q->at[i].x = ((const real *)p.b.x)[from[i]];
		q->at[i].y = ((const real *)p.b.y)[from[i]];
	}
}

static __device__ inline void start_bundle(const struct pf_filter &f, struct bundle *q)
{
	const struct position start = { real(f.rules.start_row), real(f.rules.start_col) };

	UNROLLED
	for (int i = 0; i < PF_EACH; i++)
		q->at[i] = start;
}

/* Moves and scores. All loads of the sums of all particles go before the first addition. */
static __device__ inline void move_bundle(const struct pf_filter &f, int k, struct bundle *q)
{
	const uint32_t *sums = frame_sums(f, k);
	int r[PF_EACH], c[PF_EACH], sum[PF_EACH];
	bool inside = true;

	UNROLLED
	for (int i = 0; i < PF_EACH; i++) {
		move_by(f, q->z[i], &q->at[i].x, &q->at[i].y);
		r[i] = nearest_pixel(q->at[i].x, f.rules.rounds);
		c[i] = nearest_pixel(q->at[i].y, f.rules.rounds);
		inside = inside && is_inside(f, r[i], c[i]);
	}
	if (inside) {
		UNROLLED
		for (int i = 0; i < PF_EACH; i++)
			sum[i] = sum_radius_5(f, sums, r[i], c[i]);
	}
	UNROLLED
	for (int i = 0; i < PF_EACH && !inside; i++)
		sum[i] = sum_disk(f, r[i], c[i], k);
	UNROLLED
	for (int i = 0; i < PF_EACH; i++)
		q->points[i] = disk_score(f, sum[i]);
}

static __device__ inline void store_positions(const struct pf_buffer &to, const struct bundle *q)
{
	real x[PF_EACH], y[PF_EACH];

	UNROLLED
	for (int i = 0; i < PF_EACH; i++) {
		x[i] = q->at[i].x;
		y[i] = q->at[i].y;
	}
	store_bundle(to.x, q->first, x);
	store_bundle(to.y, q->first, y);
}

/* Weights, in units of e^m; adds them up for the thread, and returns their sum. */
static __device__ inline real weigh_bundle(const struct pf_filter &f, int m, struct bundle *q,
					   struct sums *a)
{
	real sum = 0;

	if (m > a->m)
		raise_unit(f, a, m);
	double unit = unit_ratio(f, m, a->m);

	UNROLLED
	for (int i = 0; i < PF_EACH; i++) {
		q->w[i] = i < q->live ? weight(f, q->points[i], m) : real(0);
		sum += q->w[i];
		add_particle(a, q->w[i], unit, q->at[i].x, q->at[i].y);
	}
	return sum;
}

static __device__ inline int best_score(const struct bundle *q)
{
	int best = (int)0x80000000;

	UNROLLED
	for (int i = 0; i < PF_EACH; i++)
		best = i < q->live && q->points[i] > best ? q->points[i] : best;
	return best;
}

static __device__ inline void begin_bundle(const struct pf_filter &f, int chunk, struct bundle *q)
{
	q->first = chunk * PF_CHUNK + (int)threadIdx.x * PF_EACH;
	q->live = (int)f.particles - q->first;
}

/* Numbers of a bundle need nothing that has to be waited for. */
static __device__ inline void draw_bundle(const struct pf_filter &f, int k, uint32_t step,
					  struct bundle *q)
{
	UNROLLED
	for (int i = 0; i < PF_EACH; i++)
		q->z[i] = particle_normals(f, q->first + i, k, step, i < q->live);
}
