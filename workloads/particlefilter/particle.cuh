/*
 * particle.cuh - what concerns one particle: motion and likelihood.
 */
#include "workloads/particlefilter/block.cuh"
#include "workloads/particlefilter/device.h"
#include "workloads/particlefilter/functions.cuh"
#include "workloads/particlefilter/lcg.h"

namespace pf
{
typedef PF_REAL real;
static const bool is_float = sizeof(real) == sizeof(float);

/*
 * A step of the filter counts from 0, at the start, to 2 (frames - 1) and on from 1: it decides
 * which frame is filtered, which of the two buffers are written, and whether there was a frame
 * before.
 */
static __device__ inline int step_frame(const struct pf_filter &f, uint32_t step)
{
	return (int)(step % (uint32_t)(f.rules.frames - 1)) + 1;
}

/* The frame of the step before this one, which may be the last one of the video. */
static __device__ inline int frame_before(const struct pf_filter &f, uint32_t step)
{
	return step_frame(f, step + (uint32_t)f.rules.frames - 2);
}

static __device__ inline uint32_t step_after(const struct pf_filter &f, uint32_t step)
{
	return step % (2 * (uint32_t)(f.rules.frames - 1)) + 1;
}

/* Pointer by pointer: indexing an array of parameters would put both structs into local memory. */
static __device__ inline struct pf_buffer step_buffer(const struct pf_filter &f, uint32_t step)
{
	const struct pf_buffer &a = f.buffer[0], &b = f.buffer[1];
	bool odd = step & 1;
	struct pf_buffer chosen;

	chosen.x = odd ? b.x : a.x;
	chosen.y = odd ? b.y : a.y;
	chosen.c = odd ? b.c : a.c;
	chosen.chunk = odd ? b.chunk : a.chunk;
	chosen.scale = odd ? b.scale : a.scale;
	chosen.mass = odd ? b.mass : a.mass;
	chosen.moments = odd ? b.moments : a.moments;
	return chosen;
}

static __device__ inline struct pf_buffer buffer_before(const struct pf_filter &f, uint32_t step)
{
	return step_buffer(f, step + 1);
}

/* ---- motion ----------------------------------------------------------------------------- */

/* What a particle's motion in one frame is made of. */
struct normals {
	real z1, z2;
};

/* A normal number from the benchmark's uniforms, which may be 0 and have no fixed number of bits.
 */
static __device__ inline real normal(real u, real v)
{
#ifdef __CUDACC__
	return sqrt(real(-2) * log(u)) * real(cospi(real(2) * v));
#else
	return sqrt(real(-2) * log(u)) * cos(real(6.283185307179586) * v);
#endif
}

static __device__ inline double draw_lcg(int32_t *s)
{
	*s = lcg_next(*s);
	return lcg_uniform(*s);
}

static __device__ inline int32_t particle_lcg(const struct pf_filter &f, int64_t i, int k)
{
	if (k > 1)
		return f.lcg[i];
	return i ? lcg_seed(i, f.rules.by_clock, f.rules.clock) : f.rules.lcg_start;
}

static __device__ inline struct normals lcg_normals(int32_t *lcg)
{
	double u1 = draw_lcg(lcg), v1 = draw_lcg(lcg), u2 = draw_lcg(lcg), v2 = draw_lcg(lcg);
	struct normals z = { normal(real(u1), real(v1)), normal(real(u2), real(v2)) };

	return z;
}

static __device__ inline struct normals philox_normals(const struct pf_filter &f, int64_t i, int k)
{
	struct philox w = philox4x32((uint32_t)i, (uint32_t)k, PF_MOTION, 0, f.rules.seed);
	struct normals z;

	make_normal(w.word[0], w.word[1], &z.z1);
	make_normal(w.word[2], w.word[3], &z.z2);
	return z;
}

/* Normal numbers of particle i in frame k, which is that of step; advances the benchmark's
 * generators. */
static __device__ inline struct normals particle_normals(const struct pf_filter &f, int64_t i,
							 int k, uint32_t step, bool live)
{
	struct normals z = { 0, 0 };

	if (!f.rules.lcg)
		return philox_normals(f, i, k);
	if (!live)
		return z;
	int32_t lcg = particle_lcg(f, i, k);

	z = lcg_normals(&lcg);
	if (!i)
		f.head->u[step & 1] = draw_lcg(&lcg); /* after the motion of its particle */
	f.lcg[i] = lcg;
	return z;
}

/* From where a particle was resampled to, to where it is now. */
static __device__ inline void move_by(const struct pf_filter &f, const struct normals &z, real *x,
				      real *y)
{
	*x = *x + real(f.rules.drift_row) + real(f.rules.spread_row) * z.z1;
	*y = *y + real(f.rules.drift_col) + real(f.rules.spread_col) * z.z2;
}

/* Frame k is resampled with it; with the benchmark's generators number 0 draws it, see above. */
static __device__ inline double philox_offset(const struct pf_filter &f, int k)
{
	return philox_uniform(philox4x32(0, (uint32_t)k, PF_OFFSET, 0, f.rules.seed).word[0]);
}

/* ---- likelihood ------------------------------------------------------------------------- */

/*
 * The nearest whole number, halves up, or the one towards 0. What is not finite is far outside.
 * Adding 1.5 x 2^52 leaves the nearest whole number, halves to even, in the low bits of a sum;
 * what is left of t then shows the correction.
 */
static __device__ inline int nearest_pixel(real t, bool rounds)
{
	const int far = 1000000000;
	const double shifter = 6755399441055744;
	double wide = (double)t, sum = wide + shifter, rest = wide - (sum - shifter);
	int nearest = (int)(uint32_t)as_bits(sum);
	int up = rounds ? rest >= 0.5 : wide < 0 && rest > 0,
	    down = !rounds && wide >= 0 && rest < 0;

	return fabs(wide) < (double)far ? nearest + up - down : -far;
}

/* Where the original's storage has the pixel: mirrored at 0 as one number, 0 beyond the end. */
static __device__ inline int wrapped_pixel(const struct pf_filter &f, int64_t r, int64_t c, int k)
{
	int64_t plane = f.rules.rows * f.rules.cols, all = plane * f.rules.frames;
	int64_t q = (r * f.rules.cols + c) * f.rules.frames + k;

	q = q < 0 ? -q : q;
	q = q >= all ? 0 : q;
	return f.video[q % f.rules.frames * plane + q / f.rules.frames];
}

static __device__ inline int pixel(const struct pf_filter &f, int64_t r, int64_t c, int k)
{
	bool inside = r >= 0 && r < f.rules.rows && c >= 0 && c < f.rules.cols;

	if (!inside)
		return f.rules.wraps ? wrapped_pixel(f, r, c, k) : f.rules.background;
	return f.video[(k * f.rules.rows + r) * f.rules.cols + c];
}

static __device__ inline int sum_by_pixels(const struct pf_filter &f, int64_t r, int64_t c, int k)
{
	int half = f.rules.radius - 1, sum = 0;

	for (int dr = -half; dr <= half; dr++) {
		int width = f.half_width[dr + half];

		for (int dc = -width; dc <= width; dc++)
			sum += pixel(f, r + dr, c + dc, k);
	}
	return sum;
}

/* Pixels c - width to c + width of a row, of those inside; background stands for the others. */
static __device__ inline int sum_row(const struct pf_filter &f, int64_t r, int64_t c, int k,
				     int width)
{
	int64_t cols = f.rules.cols;
	int64_t low = c - width < 0 ? 0 : c - width, high = c + width + 1;
	int all = 2 * width + 1;

	high = high > cols ? cols : high;
	if (r < 0 || r >= f.rules.rows || low >= high)
		return all * f.rules.background;
	const uint32_t *row = f.row_sum + (k * f.rules.rows + r) * (cols + 1);

	return (int)(row[high] - row[low]) + (all - (int)(high - low)) * f.rules.background;
}

/* May the short way to a disk's sum be taken? Then radius is 5, and the disk is inside. */
static __device__ inline bool is_inside(const struct pf_filter &f, int r, int c)
{
	return (uint32_t)(r - 4) < f.inner_rows && (uint32_t)(c - 4) < f.inner_cols;
}

/* The short way: two loads a row, by 32-bit offsets from the frame's first sum. */
static __device__ inline int sum_radius_5(const struct pf_filter &f, const uint32_t *sums, int r,
					  int c)
{
	const int widths[] = { 2, 3, 4, 4, 4, 4, 4, 3, 2 };
	uint32_t sum = 0, at = (uint32_t)(r - 4) * f.pitch + 4 * (uint32_t)c;

	for (int i = 0; i < 9; i++, at += f.pitch) {
		const uint32_t *row = (const uint32_t *)((const char *)sums + at);

		sum += row[widths[i] + 1] - row[-widths[i]];
	}
	return (int)sum;
}

/* The general case: other radii, a disk that is partly outside, the benchmark's addresses. */
static __device__ inline int sum_disk(const struct pf_filter &f, int64_t r, int64_t c, int k)
{
	int half = f.rules.radius - 1, sum = 0;
	int64_t rows = f.rules.rows, cols = f.rules.cols;
	bool inside = r >= half && r < rows - half && c >= half && c < cols - half;

	if (f.direct || (f.rules.wraps && !inside))
		return sum_by_pixels(f, r, c, k);
	for (int dr = -half; dr <= half; dr++)
		sum += sum_row(f, r + dr, c, k, f.half_width[dr + half]);
	return sum;
}

static __device__ inline const uint32_t *frame_sums(const struct pf_filter &f, int k)
{
	return f.row_sum + k * f.rules.rows * (f.rules.cols + 1);
}

/*
 * L = mean of ((I - background)^2 - (I - object)^2) / 50 in units of 1 / (50 x pixels of the
 * disk): a whole number, so that the order of the pixels is of no consequence.
 */
static __device__ inline int disk_score(const struct pf_filter &f, int sum)
{
	const struct pf_rules &r = f.rules;

	return (r.object - r.background) * (2 * sum - r.disk * (r.object + r.background));
}

/* The score of the disk around a position in frame k. */
static __device__ inline int score(const struct pf_filter &f, int k, real x, real y)
{
	int r = nearest_pixel(x, f.rules.rounds), c = nearest_pixel(y, f.rules.rounds);

	return disk_score(f, is_inside(f, r, c) ? sum_radius_5(f, frame_sums(f, k), r, c)
						: sum_disk(f, r, c, k));
}

/* e^(L - m), m in the same units. */
static __device__ inline real weight(const struct pf_filter &f, int score, int m)
{
	return exponential(real(f.loglik_unit) * real(score - m));
}
} // namespace pf
