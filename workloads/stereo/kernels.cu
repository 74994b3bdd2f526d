/*
 * kernels.cu - disparities by sums of absolute differences over windows of 17 x 17 pixels.
 *
 * In pseudo-code, for each block, which goes down a strip of 112 columns with 8 more on each side:
 *
 *   for each pass of 18 disparities, for each row of the strip:
 *     thread = (column, 6 disparities):
 *       sum[d] += |left - right| of the row that enters - that of the row that leaves (17 above)
 *       store the sums in shared memory, two disparities packed into one word
 *     store_to_smem(the next row of pixels); barrier
 *     thread = (vec4 of outputs, 2 disparities):
 *       window = 17 of these sums; key = (cost of the window, number of the disparity)
 *     the other threads = (output): disparity = that of the least key of the row before
 *
 * The naive version that it is tested against is stereo_defined() of reference.c, the definition;
 * for larger images stereo_sums_best() of the same file.
 *
 * The bound is integer operations, so none is done twice: some ten for each pixel and disparity
 * instead of 2 x 289. A column's sum is at most 13005, so five fit the 16 bits of a half word.
 * Among equal costs the key of the first disparity is the least. Double buffers of sums and keys
 * leave one barrier a row. Between passes the least keys wait in the array of disparities.
 */
#include "common/cuda_check.h"
#include "common/device.h"
#include "common/slots.cuh"
#include "workloads/stereo/inputs.h"
#include "workloads/stereo/strip.cuh"

enum { FILL_THREADS = 256 };

/* ---- disparities ------------------------------------------------------------------------ */

/* The thread's task in a pass that begins with disparity number `before`, down to row `end`. */
static __device__ inline thread_task find_task(const stereo_launch &l, strip_smem *smem,
					       uint32_t step, int32_t before, int32_t end)
{
	int64_t slot = step % l.slots * l.arrays.stride;
	int32_t i = (int32_t)threadIdx.x, x = (int32_t)blockIdx.x * OUTPUTS;
	int32_t found = x + i - FINDERS; /* column of the image */
	int32_t left = clamp(x - RADIUS + i, l.size.w), n = l.dmax - l.dmin + 1 - before;
	int32_t right = clamp(x - RADIUS + l.dmin + before + i - COLUMNS, l.size.w);
	int32_t column = i % COLUMNS, group = i / COLUMNS;
	thread_task p;

	p.from = i < COLUMNS ? l.arrays.left + slot + left : l.arrays.right + slot + right;
	p.to = i >= FINDERS && found < l.size.w ? l.arrays.out + slot + found : nullptr;
	p.w = l.size.w;
	p.rows = end + RADIUS < l.size.h ? end + RADIUS : l.size.h;
	p.dmin = l.dmin;
	p.goes_on = before > 0;
	p.ends = n <= PASS;
	p.at = column;
	p.right = COLUMNS + column + group * EACH;
	p.sum = &smem->sum[0][group * EACH / 2][0].x + column;
	p.pair = i / VEC4S;
	p.vec4 = p.pair < PAIRS ? i % VEC4S : (int32_t)VEC4S;
	p.number[0] = 2 * p.pair < n ? (uint32_t)(before + 2 * p.pair) : none;
	p.number[1] = 2 * p.pair + 1 < n ? (uint32_t)(before + 2 * p.pair + 1) : none;
	return p;
}

extern "C" __global__ void __launch_bounds__(THREADS) stereo(struct stereo_launch l)
{
	SHARED_ARRAY(strip_smem, smem, [1]);
	int32_t y = l.first + (int32_t)blockIdx.y * l.strip;
	int32_t end = y + l.strip < l.end ? y + l.strip : l.end;
	uint32_t first = slots_step(l.counter);

	if (l.advance)
		slots_advance(l.counter, l.advance);
	for (uint32_t i = 0; i < l.steps; i++)
		for (int32_t before = 0; before <= l.dmax - l.dmin; before += PASS)
			match_strip(&smem[0], find_task(l, &smem[0], first + i, before, end), y,
				    end);
}
KERNEL(stereo);

/* ---- inputs ----------------------------------------------------------------------------- */

extern "C" __global__ void __launch_bounds__(FILL_THREADS)
	stereo_inputs(uint32_t *left, uint32_t *right, struct stereo_size s, uint32_t slot,
		      uint64_t seed)
{
	int32_t x = (int32_t)(blockIdx.x * blockDim.x + threadIdx.x), y = (int32_t)blockIdx.y;
	int64_t at = (int64_t)y * s.w + x;

	if (x >= s.w)
		return;
	left[at] = stereo_left(x, y, s, slot, seed);
	right[at] = stereo_right(x, y, slot, seed);
}
KERNEL(stereo_inputs);

/* ---- for the host ----------------------------------------------------------------------- */

static uint32_t ceil_div(int32_t length, int32_t part)
{
	return (uint32_t)((length + part - 1) / part);
}

/*
 * Each strip begins with 16 rows that give nothing and cost as much as 7 that do, so tall ones do
 * less twice. But the SM with most blocks is the last one done. An SM takes as long for one block
 * as for two, which hide each other's latency.
 */
int32_t stereo_strip_for(struct stereo_size s)
{
	enum { LEAST = 4, MOST = 128, BEGINNING = 7, MULTIPROCESSORS = 132 };
	uint64_t best_time = UINT64_MAX;
	int32_t best = MOST;

	for (int32_t strip = MOST; strip >= LEAST; strip--) {
		uint32_t blocks = ceil_div(s.w, OUTPUTS) * ceil_div(s.h, strip);
		uint32_t each = (blocks + MULTIPROCESSORS - 1) / MULTIPROCESSORS;
		uint64_t time = (uint64_t)(each < 2 ? 2 : each) * (uint32_t)(strip + BEGINNING);

		if (time >= best_time)
			continue;
		best_time = time;
		best = strip;
	}
	return best;
}

void stereo_load_kernels(void)
{
	device_load_kernel((const void *)stereo);
	device_load_kernel((const void *)stereo_inputs);
}

void stereo_match(const struct stereo_launch *l, cudaStream_t stream)
{
	dim3 grid(ceil_div(l->size.w, OUTPUTS), ceil_div(l->end - l->first, l->strip));

	CUDA(LAUNCH(stereo, grid, THREADS, 0, stream, *l));
}

void stereo_fill(const struct stereo_arrays *a, struct stereo_size s, uint32_t slot, uint64_t seed,
		 cudaStream_t stream)
{
	dim3 grid(ceil_div(s.w, FILL_THREADS), (uint32_t)s.h);

	CUDA(LAUNCH(stereo_inputs, grid, FILL_THREADS, 0, stream, a->left, a->right, s, slot,
		    seed));
}
