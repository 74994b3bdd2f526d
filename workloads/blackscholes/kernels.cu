/*
 * kernels.cu - pricing of all options, and the inputs.
 *
 * Meant to be bound by memory: 20 bytes an option are 240 G options/s at the 4.8 TB/s of an H200,
 * which leaves each of them 17 of its 4.2 T special functions a second; math=fast takes eight. A
 * thread prices four options, 16 bytes of each array; all of it passes through the caches once, so
 * loads and stores say that it is not to stay.
 */
#include "common/cuda_check.h"
#include "common/device.h"
#include "common/gpu.h"
#include "common/slots.cuh"
#include "workloads/blackscholes/device.h"
#include "workloads/blackscholes/formula.cuh"
#include "workloads/blackscholes/inputs.h"

enum { EACH = BLACKSCHOLES_EACH, ROUNDS_MAX = 8 };

#ifdef __CUDACC__
#define LOAD_ONCE(p) __ldcs(p)
#define STORE_ONCE(p, v) __stcs(p, v)
#define UNROLLED _Pragma("unroll")
#else
#define LOAD_ONCE(p) (*(p))
#define STORE_ONCE(p, v) (*(p) = (v))
#define UNROLLED
#endif

/* ---- four options a thread -------------------------------------------------------------- */

/* What lies behind the end is not touched; options there are priced as 1, 1, 1 and dropped. */
struct four {
	float in[BLACKSCHOLES_INPUTS][EACH];
};

static __device__ inline four load(const blackscholes_arrays &a, int64_t at, int count)
{
	four f;

	UNROLLED for (int k = 0; k < BLACKSCHOLES_INPUTS; k++)
	{
		if (count == EACH) {
			float4 v = LOAD_ONCE((const float4 *)(a.in[k] + at));

			f.in[k][0] = v.x, f.in[k][1] = v.y, f.in[k][2] = v.z, f.in[k][3] = v.w;
			continue;
		}
		UNROLLED for (int i = 0; i < EACH; i++) f.in[k][i] =
			i < count ? a.in[k][at + i] : 1.0f;
	}
	return f;
}

static __device__ inline void store(float *out, const float v[EACH], int count)
{
	if (count == EACH) {
		STORE_ONCE((float4 *)out, make_float4(v[0], v[1], v[2], v[3]));
		return;
	}
	UNROLLED for (int i = 0; i < EACH; i++) if (i < count) out[i] = v[i];
}

template <int CND, int MATH>
static __device__ inline void price_four(const blackscholes_launch &l, const four &f, int64_t at,
					 int count)
{
	float call[EACH], put[EACH];

	UNROLLED for (int i = 0; i < EACH; i++)
		price<CND, MATH>(f.in[0][i], f.in[1][i], f.in[2][i], l.market, &call[i], &put[i]);
	store(l.arrays.out[0] + at, call, count);
	store(l.arrays.out[1] + at, put, count);
}

/* Of a thread: the first of its options, and how many there are. */
struct mine {
	uint32_t i;
	int count;
};

/* The n-th time round of a grid that goes through the options. */
static __device__ inline mine mine_of(const blackscholes_launch &l, uint32_t n = 0)
{
	uint32_t i = l.first + ((n * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x) * EACH;

	return { i, i >= l.end ? 0 : l.end - i < EACH ? (int)(l.end - i) : EACH };
}

/*
 * Eight blocks are all threads that an SM of an A100 or H200 holds; accurate functions want more
 * registers.
 */
#define BOUNDS(math) __launch_bounds__(BLACKSCHOLES_THREADS, (math) == BLACKSCHOLES_FAST ? 8 : 6)

/*
 * The step is counted behind the first loads, whose way to memory hides the barrier that this
 * takes.
 */
template <int CND, int MATH> __global__ void BOUNDS(MATH) blackscholes(blackscholes_launch l)
{
	mine m = mine_of(l);
	uint32_t step = slots_step(l.counter), last = step + l.steps - 1;
	int64_t at = step % l.slots * l.arrays.stride + m.i;
	four f = load(l.arrays, at, m.count);

	if (l.advance)
		slots_advance(l.counter, l.advance);
	for (; step != last; step++) {
		price_four<CND, MATH>(l, f, at, m.count);
		at = (step + 1) % l.slots * l.arrays.stride + m.i;
		f = load(l.arrays, at, m.count);
	}
	price_four<CND, MATH>(l, f, at, m.count);
}

/*
 * A step that begins while the one before ends: inputs, which nobody writes, are loaded meanwhile,
 * by as many blocks as the SMs hold. Prices are stored when it has ended.
 *
 * programmatic_go() by one thread: said by all, a step of 1 Mi options took an H200 5.17 us, not
 * 4.75 (graphs of 128, n = 100); as it is 4.83 (of 256).
 */
template <int CND, int MATH>
__global__ void BOUNDS(MATH) blackscholes_overlapped(blackscholes_launch l)
{
	SHARED_ARRAY(uint32_t, room, [1]);
	mine m = mine_of(l);
	uint32_t step = slots_step_overlapped(l.counter, room[0]);
	int64_t at = step % l.slots * l.arrays.stride + m.i;
	four f;

	if (!threadIdx.x)
		programmatic_go();
	f = load(l.arrays, at, m.count);
	programmatic_wait();
	price_four<CND, MATH>(l, f, at, m.count);
}

/*
 * The same for two slots and more, by as many blocks as the SMs hold, which all begin as those of
 * the step before end. So the step behind has long been launched when there is room for it. Prices
 * are stored at once: the step before this one has another slot, and those before that had ended
 * when its blocks let this one begin.
 */
template <int CND, int MATH> __global__ void BOUNDS(MATH) blackscholes_ahead(blackscholes_launch l)
{
	SHARED_ARRAY(uint32_t, room, [1]);
	int64_t slot = slots_step_overlapped(l.counter, room[0]) % l.slots * l.arrays.stride;
	uint32_t round = 0;

	for (mine m = mine_of(l); m.count; m = mine_of(l, ++round)) {
		price_four<CND, MATH>(l, load(l.arrays, slot + m.i, m.count), slot + m.i, m.count);
		if (!round && !threadIdx.x) {
			programmatic_wait();
			programmatic_go();
		}
	}
}

#define KERNELS(cnd, math)                                                                         \
	KERNEL(blackscholes<cnd, math>);                                                           \
	KERNEL(blackscholes_overlapped<cnd, math>);                                                \
	KERNEL(blackscholes_ahead<cnd, math>)
KERNELS(BLACKSCHOLES_POLY, BLACKSCHOLES_FAST);
KERNELS(BLACKSCHOLES_POLY, BLACKSCHOLES_ACCURATE);
KERNELS(BLACKSCHOLES_EXACT, BLACKSCHOLES_FAST);
KERNELS(BLACKSCHOLES_EXACT, BLACKSCHOLES_ACCURATE);

extern "C" __global__ void __launch_bounds__(BLACKSCHOLES_THREADS)
	blackscholes_inputs(blackscholes_arrays a, uint32_t n, uint32_t slot, uint64_t seed)
{
	uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
	struct blackscholes_option o;

	if (i >= n)
		return;
	o = blackscholes_option(i, slot, seed);
	a.in[0][i] = o.S;
	a.in[1][i] = o.X;
	a.in[2][i] = o.T;
}
KERNEL(blackscholes_inputs);

/* ---- for the host ----------------------------------------------------------------------- */

typedef void blackscholes_kernel(blackscholes_launch);

#define OF(cnd, math)                                                                              \
	{                                                                                          \
		blackscholes<cnd, math>, blackscholes_overlapped<cnd, math>,                       \
			blackscholes_ahead<cnd, math>                                              \
	}

enum { ORDINARY, OVERLAPPED, AHEAD, KINDS };

/* By cnd, math, kind. */
static blackscholes_kernel *const kernels[2][2][KINDS] = {
	{ OF(BLACKSCHOLES_POLY, BLACKSCHOLES_FAST), OF(BLACKSCHOLES_POLY, BLACKSCHOLES_ACCURATE) },
	{ OF(BLACKSCHOLES_EXACT, BLACKSCHOLES_FAST),
	  OF(BLACKSCHOLES_EXACT, BLACKSCHOLES_ACCURATE) },
};

void blackscholes_load_kernels(void)
{
	struct cudaFuncAttributes ignored;

	for (int i = 0; i < 4 * KINDS; i++)
		CUDA(cudaFuncGetAttributes(
			&ignored, (const void *)kernels[i / KINDS / 2][i / KINDS % 2][i % KINDS]));
	CUDA(cudaFuncGetAttributes(&ignored, (const void *)blackscholes_inputs));
}

uint32_t blackscholes_resident(enum blackscholes_cnd cnd, enum blackscholes_math math)
{
	return (uint32_t)device_resident((const void *)kernels[cnd][math][AHEAD],
					 BLACKSCHOLES_THREADS, 0);
}

static uint32_t blocks_for(int64_t threads)
{
	return (uint32_t)((threads + BLACKSCHOLES_THREADS - 1) / BLACKSCHOLES_THREADS);
}

/*
 * No more blocks than the device holds begin together as they are. Of many rounds nothing is left
 * to win: on an H200 steps of 8 Mi options took 3 % less time so, of 32 Mi 3 % more, of 128 Mi 5
 * (graphs of 128, n = 11 to 100: README.md).
 */
static bool goes_ahead(const struct blackscholes_launch *l, uint32_t blocks)
{
	return l->overlaps && l->slots > 1 && blocks > l->resident &&
	       blocks <= (uint64_t)ROUNDS_MAX * l->resident;
}

void blackscholes_price(const struct blackscholes_launch *l, enum blackscholes_cnd cnd,
			enum blackscholes_math math, cudaStream_t stream)
{
	int64_t threads = ((int64_t)l->end - l->first + EACH - 1) / EACH;
	uint32_t blocks = blocks_for(threads);
	bool ahead = goes_ahead(l, blocks);
	int kind = ahead ? AHEAD : l->overlaps ? OVERLAPPED : ORDINARY;

	CUDA(LAUNCH_PROGRAMMATIC(l->overlaps, kernels[cnd][math][kind],
				 ahead ? l->resident : blocks, BLACKSCHOLES_THREADS, 0, stream,
				 *l));
}

void blackscholes_fill(const struct blackscholes_arrays *arrays, int64_t n, uint32_t slot,
		       uint64_t seed, cudaStream_t stream)
{
	CUDA(LAUNCH(blackscholes_inputs, blocks_for(n), BLACKSCHOLES_THREADS, 0, stream, *arrays,
		    (uint32_t)n, slot, seed));
}
