/*
 * kernels.cu - pricing of all options, and the inputs.
 *
 * In pseudo-code:
 *
 *   blackscholes: for each thread, an index range of four options:
 *     load one vec4 each of S, X, T; compute call and put (formula.cuh); store one vec4 each
 *   blackscholes_pdl: the same by programmatic dependent launch: loads run while the step before
 *     ends, stores wait for it
 *   blackscholes_ahead: the same by as many blocks as the SMs hold, each in several rounds; the
 *     next step is launched as this one begins
 *
 * The naive version that they are tested against is blackscholes_reference() of reference.c, the
 * formula in double, one option at a time.
 *
 * The bound is memory: 20 bytes an option are 240 G options/s at the 4.8 TB/s of an H200. That
 * leaves an option 17 of its 4.2 T special functions a second; math=fast takes eight. Data passes
 * through the caches once, so loads and stores carry the streaming hint.
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

/* Inputs of four options. What is behind the end is not read: 1, 1, 1 is priced and dropped. */
struct vec4 {
	float in[BLACKSCHOLES_INPUTS][EACH];
};

static __device__ inline vec4 load_vec4(const blackscholes_arrays &a, int64_t at, int count)
{
	vec4 f;

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

static __device__ inline void store_vec4(float *out, const float v[EACH], int count)
{
	if (count == EACH) {
		STORE_ONCE((float4 *)out, make_float4(v[0], v[1], v[2], v[3]));
		return;
	}
	UNROLLED for (int i = 0; i < EACH; i++) if (i < count) out[i] = v[i];
}

template <int CND, int MATH>
static __device__ inline void price_vec4(const blackscholes_launch &l, const vec4 &f, int64_t at,
					 int count)
{
	float call[EACH], put[EACH];

	UNROLLED for (int i = 0; i < EACH; i++) price_option<CND, MATH>(
		f.in[0][i], f.in[1][i], f.in[2][i], l.market, &call[i], &put[i]);
	store_vec4(l.arrays.out[0] + at, call, count);
	store_vec4(l.arrays.out[1] + at, put, count);
}

/* The options of a thread: the first one and their number, up to 4. */
struct index_range {
	uint32_t i;
	int count;
};

/* The thread's index range in round n of a grid-stride loop over the options. */
static __device__ inline index_range own_range(const blackscholes_launch &l, uint32_t n = 0)
{
	uint32_t i = l.first + ((n * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x) * EACH;

	return { i, i >= l.end ? 0 : l.end - i < EACH ? (int)(l.end - i) : EACH };
}

/*
 * Eight blocks are all threads that an SM of an A100 or H200 holds; accurate functions want more
 * registers.
 */
#define BOUNDS(math) __launch_bounds__(BLACKSCHOLES_THREADS, (math) == BLACKSCHOLES_FAST ? 8 : 6)

/* The step is counted behind the first loads, whose latency hides the barrier that this takes. */
template <int CND, int MATH> __global__ void BOUNDS(MATH) blackscholes(blackscholes_launch l)
{
	index_range m = own_range(l);
	uint32_t step = slots_step(l.counter), last = step + l.steps - 1;
	int64_t at = step % l.slots * l.arrays.stride + m.i;
	vec4 f = load_vec4(l.arrays, at, m.count);

	if (l.advance)
		slots_advance(l.counter, l.advance);
	for (; step != last; step++) {
		price_vec4<CND, MATH>(l, f, at, m.count);
		at = (step + 1) % l.slots * l.arrays.stride + m.i;
		f = load_vec4(l.arrays, at, m.count);
	}
	price_vec4<CND, MATH>(l, f, at, m.count);
}

/*
 * A step that begins while the one before ends (programmatic dependent launch). Inputs, which
 * nobody writes, are loaded meanwhile, by as many blocks as the SMs hold. Prices are stored when it
 * has ended.
 *
 * One thread calls programmatic_go(): where all did, a step of 1 Mi options took an H200 5.17 us,
 * not 4.75 (graphs of 128, n = 100); as it is 4.83 (of 256).
 */
template <int CND, int MATH> __global__ void BOUNDS(MATH) blackscholes_pdl(blackscholes_launch l)
{
	SHARED_ARRAY(uint32_t, shared_step, [1]);
	index_range m = own_range(l);
	uint32_t step = slots_step_overlapped(l.counter, shared_step[0]);
	int64_t at = step % l.slots * l.arrays.stride + m.i;
	vec4 f;

	if (!threadIdx.x)
		programmatic_go();
	f = load_vec4(l.arrays, at, m.count);
	programmatic_wait();
	price_vec4<CND, MATH>(l, f, at, m.count);
}

/*
 * The same for two slots and more, by as many blocks as the SMs hold, which all begin as those of
 * the step before end. So the next step has long been launched when SMs become free for it. Prices
 * are stored at once: the step before this one has another slot. Those before that had ended when
 * its blocks let this one begin.
 */
template <int CND, int MATH> __global__ void BOUNDS(MATH) blackscholes_ahead(blackscholes_launch l)
{
	SHARED_ARRAY(uint32_t, shared_step, [1]);
	int64_t slot = slots_step_overlapped(l.counter, shared_step[0]) % l.slots * l.arrays.stride;
	uint32_t round = 0;

	for (index_range m = own_range(l); m.count; m = own_range(l, ++round)) {
		price_vec4<CND, MATH>(l, load_vec4(l.arrays, slot + m.i, m.count), slot + m.i,
				      m.count);
		if (!round && !threadIdx.x) {
			programmatic_wait();
			programmatic_go();
		}
	}
}

#define KERNELS(cnd, math)                                                                         \
	KERNEL(blackscholes<cnd, math>);                                                           \
	KERNEL(blackscholes_pdl<cnd, math>);                                                       \
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

#define KERNEL_SET(cnd, math)                                                                      \
	{                                                                                          \
		blackscholes<cnd, math>, blackscholes_pdl<cnd, math>,                              \
			blackscholes_ahead<cnd, math>                                              \
	}

enum { ORDINARY, PDL, AHEAD, KINDS };

/* By cnd, math, kind. */
static blackscholes_kernel *const kernels[2][2][KINDS] = {
	{ KERNEL_SET(BLACKSCHOLES_POLY, BLACKSCHOLES_FAST),
	  KERNEL_SET(BLACKSCHOLES_POLY, BLACKSCHOLES_ACCURATE) },
	{ KERNEL_SET(BLACKSCHOLES_EXACT, BLACKSCHOLES_FAST),
	  KERNEL_SET(BLACKSCHOLES_EXACT, BLACKSCHOLES_ACCURATE) },
};

void blackscholes_load_kernels(void)
{
	for (int i = 0; i < 4 * KINDS; i++)
		device_load_kernel((const void *)kernels[i / KINDS / 2][i / KINDS % 2][i % KINDS]);
	device_load_kernel((const void *)blackscholes_inputs);
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
 * Blocks that the device holds at once need no rounds: they begin together anyway. Many rounds win
 * nothing. On an H200 steps of 8 Mi options took 3 % less time ahead, 32 Mi 3 % more, 128 Mi 5 %
 * more. (Graphs of 128, n = 11 to 100: docs/lab/h200-variants.md.)
 */
static bool is_ahead(const struct blackscholes_launch *l, uint32_t blocks)
{
	return l->pdl && l->slots > 1 && blocks > l->resident &&
	       blocks <= (uint64_t)ROUNDS_MAX * l->resident;
}

void blackscholes_price(const struct blackscholes_launch *l, enum blackscholes_cnd cnd,
			enum blackscholes_math math, cudaStream_t stream)
{
	int64_t threads = ((int64_t)l->end - l->first + EACH - 1) / EACH;
	uint32_t blocks = blocks_for(threads);
	bool ahead = is_ahead(l, blocks);
	int kind = ahead ? AHEAD : l->pdl ? PDL : ORDINARY;

	CUDA(LAUNCH_PROGRAMMATIC(l->pdl, kernels[cnd][math][kind], ahead ? l->resident : blocks,
				 BLACKSCHOLES_THREADS, 0, stream, *l));
}

void blackscholes_fill(const struct blackscholes_arrays *arrays, int64_t n, uint32_t slot,
		       uint64_t seed, cudaStream_t stream)
{
	CUDA(LAUNCH(blackscholes_inputs, blocks_for(n), BLACKSCHOLES_THREADS, 0, stream, *arrays,
		    (uint32_t)n, slot, seed));
}
