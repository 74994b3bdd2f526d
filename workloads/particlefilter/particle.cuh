/*
 * particle.cuh - what concerns one particle: motion and likelihood.
 */
#include <math.h>

#include "common/philox.h"
#include "workloads/particlefilter/block.cuh"
#include "workloads/particlefilter/device.h"
#include "workloads/particlefilter/lcg.h"

namespace pf
{
typedef PF_REAL real;

/* Frame that a step of the filter is about, and buffers: those of the step before come first. */
static __device__ inline int frame_of(const struct pf_filter &f, uint32_t step)
{
	return (int)(step % (uint32_t)(f.rules.frames - 1)) + 1;
}

static __device__ inline uint32_t step_after(const struct pf_filter &f, uint32_t step)
{
	return (step + 1) % (2 * (uint32_t)(f.rules.frames - 1));
}

static __device__ inline struct pf_buffer buffer_before(const struct pf_filter &f, uint32_t step)
{
	return step & 1 ? f.buffer[0] : f.buffer[1];
}

static __device__ inline struct pf_buffer buffer_of(const struct pf_filter &f, uint32_t step)
{
	return step & 1 ? f.buffer[1] : f.buffer[0];
}

/* ---- motion ----------------------------------------------------------------------------- */

/* In float a uniform may come out as 1, which is harmless, but never as 0. */
static __device__ inline real normal(real u, real v)
{
#ifdef __CUDACC__
	return sqrt(real(-2) * log(u)) * real(cospi(real(2) * v));
#else
	return sqrt(real(-2) * log(u)) * cos(real(6.283185307179586) * v);
#endif
}

static __device__ inline double draw(int32_t *s)
{
	*s = lcg_next(*s);
	return lcg_uniform(*s);
}

static __device__ inline int32_t lcg_of(const struct pf_filter &f, int64_t i, int k)
{
	if (k > 1)
		return f.lcg[i];
	return i ? lcg_seed(i, f.rules.by_clock, f.rules.clock) : f.rules.lcg_start;
}

static __device__ inline void move_by(const struct pf_filter &f, real z1, real z2, real *x, real *y)
{
	*x = *x + real(f.rules.drift_row) + real(f.rules.spread_row) * z1;
	*y = *y + real(f.rules.drift_col) + real(f.rules.spread_col) * z2;
}

/*
 * Particle i from where it was resampled to, to where it is in frame k. lcg is its generator,
 * which comes after all frames in the order of draws for the offset of generator 0.
 */
static __device__ inline void move(const struct pf_filter &f, int64_t i, int k, int32_t *lcg,
				   real *x, real *y)
{
	if (f.rules.lcg) {
		double u1 = draw(lcg), v1 = draw(lcg), u2 = draw(lcg), v2 = draw(lcg);

		move_by(f, normal(real(u1), real(v1)), normal(real(u2), real(v2)), x, y);
		return;
	}
	struct philox w = philox4x32((uint32_t)i, (uint32_t)k, PF_MOTION, 0, f.rules.seed);

	move_by(f, normal(real(philox_uniform(w.word[0])), real(philox_uniform(w.word[1]))),
		normal(real(philox_uniform(w.word[2])), real(philox_uniform(w.word[3]))), x, y);
}

/* The offset of frame k, but for generator 0, which draws it after its particle's motion. */
static __device__ inline double offset_of(const struct pf_filter &f, int k, double drawn)
{
	if (f.rules.lcg)
		return drawn;
	return philox_uniform(philox4x32(0, (uint32_t)k, PF_OFFSET, 0, f.rules.seed).word[0]);
}

/* ---- likelihood ------------------------------------------------------------------------- */

/* Exact in both precisions: t - floor(t) is. What is not finite is far outside. */
static __device__ inline int pixel_of(real t, bool rounds)
{
	const real far = real(1e9);

	if (!(fabs(t) < far))
		return -(int)far;
	real whole = floor(t);

	if (rounds)
		return (int)whole + (t - whole >= real(0.5));
	return (int)whole + (whole < 0 && whole < t);
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
static __device__ inline int sum_of_row(const struct pf_filter &f, int64_t r, int64_t c, int k,
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

/* A disk of radius 5 that is inside: two loads a row, without branches. */
static __device__ inline int sum_of_five(const uint32_t *centre, int64_t pitch)
{
	const int widths[] = { 2, 3, 4, 4, 4, 4, 4, 3, 2 };
	uint32_t sum = 0;

	for (int i = 0; i < 9; i++) {
		const uint32_t *row = centre + (i - 4) * pitch;

		sum += row[widths[i] + 1] - row[-widths[i]];
	}
	return (int)sum;
}

/* Sum of grey levels under the disk at pixel (r, c). */
static __device__ inline int sum_disk(const struct pf_filter &f, int64_t r, int64_t c, int k)
{
	int half = f.rules.radius - 1, sum = 0;
	int64_t rows = f.rules.rows, cols = f.rules.cols;
	bool inside = r >= half && r < rows - half && c >= half && c < cols - half;

	if (f.direct || (f.rules.wraps && !inside))
		return sum_by_pixels(f, r, c, k);
	if (inside && half == 4)
		return sum_of_five(f.row_sum + (k * rows + r) * (cols + 1) + c, cols + 1);
	for (int dr = -half; dr <= half; dr++)
		sum += sum_of_row(f, r + dr, c, k, f.half_width[dr + half]);
	return sum;
}

/*
 * L = mean of ((I - background)^2 - (I - object)^2) / 50 in units of 1 / (50 x pixels of the
 * disk): a whole number, so that the order of the pixels is of no consequence.
 */
static __device__ inline int score(const struct pf_filter &f, int k, real x, real y)
{
	const struct pf_rules &r = f.rules;
	int sum = sum_disk(f, pixel_of(x, r.rounds), pixel_of(y, r.rounds), k);

	return (r.object - r.background) * (2 * sum - r.disk * (r.object + r.background));
}

/* e^(L - m), m in the same units. */
static __device__ inline real weight(const struct pf_filter &f, int score, int m)
{
	return exp(real(f.loglik_unit) * real(score - m));
}

static __device__ inline double rescale(double from, double to)
{
	return exp(from - to);
}
} // namespace pf
