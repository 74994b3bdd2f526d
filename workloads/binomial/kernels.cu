/*
 * kernels.cu - prices by binomial trees.
 *
 * In pseudo-code, for each warp (or block of four warps, the team) and option:
 *
 *   nodes[0..N] = the payoffs at the leaves, in shared memory
 *   for each panel of H steps (plan.c):
 *     v[E] = E neighbouring nodes of the lane, in registers; next = first node of the next lane
 *     H times: v[e] = a step back from v[e] and v[e + 1]; next comes by one shuffle
 *     store v in nodes: as many as are still right
 *   price = nodes[0], discounted
 *
 * The naive version that it is tested against is binomial_tree() of reference.c, in double.
 *
 * The bound is the issue of instructions: a node is a difference and a fused multiply-add, and a
 * tree of N steps has N (N + 1) / 2 of them. The shuffle of a step is issued a step before its
 * value is needed. Registers would go on computing what is no node of the tree any more: so panels
 * lay out the nodes anew, over fewer registers. In a team each warp also computes what its right
 * neighbour needs, so that they synchronize but once a panel.
 */
#include "common/cuda_check.h"
#include "common/device.h"
#include "common/gpu.h"
#include "common/slots.cuh"
#include "workloads/binomial/device.h"

enum { LANES = 32 };

#ifdef __CUDACC__
#define PRAGMA(words) _Pragma(#words)
#define UNROLLED PRAGMA(unroll)
#define UNROLLED_BY(n) PRAGMA(unroll n)
#else
#define UNROLLED
#define UNROLLED_BY(n)
#endif

/* ---- one step back ---------------------------------------------------------------------- */

/* An option, and -1. */
struct option : binomial_option {
	float minus_one;
};

/*
 * above - v, rounded once. An H200 issues fused multiply-adds faster
 * (docs/lab/h200-variants.md), so this is one, with a factor that no compiler knows to be -1.
 */
static __device__ inline float difference(float above, float v, float minus_one)
{
#ifdef __CUDACC__
	return fmaf(v, minus_one, above);
#else
	(void)minus_one;
	return above - v;
#endif
}

template <int FORM> static __device__ inline float step_node(float v, float above, const option &o)
{
	if (FORM == BINOMIAL_TWO)
		return o.a * above + o.b * v;
	return v + o.a * difference(above, v, o.minus_one);
}

/* next: the first node of the next lane; becomes that of the next step. */
template <int E, int FORM>
static __device__ inline void step_nodes(float v[E], float &next, const option &o)
{
	float first = step_node<FORM>(v[0], E > 1 ? v[1 % E] : next, o);
	float incoming = __shfl_down_sync(0xffffffff, first, 1);

	v[0] = first;
	UNROLLED for (int e = 1; e < E; e++) v[e] =
		step_node<FORM>(v[e], e + 1 < E ? v[(e + 1) % E] : next, o);
	next = incoming;
}

/* ---- panels ----------------------------------------------------------------------------- */

/* A barrier of the threads that share a tree, which then see what they wrote. */
template <int TEAM> static __device__ inline void sync_team()
{
	if (TEAM > 1)
		__syncthreads();
	else
		__syncwarp();
}

/* A team's warps begin `apart` nodes apart: so many are right at the end of the panel. */
template <int E, int TEAM, int FORM>
static __device__ void run_panel(float *nodes, int member, int steps, const option &o)
{
	int first = threadIdx.x % LANES * E, apart = LANES * E + 1 - steps;
	float *own = nodes + member * apart + first;
	float v[E], next = own[E];

	UNROLLED for (int e = 0; e < E; e++) v[e] = own[e];
	sync_team<TEAM>();
	UNROLLED_BY((E < 8 ? 8 : E < 16 ? 4 : E < 32 ? 2 : 1))
	for (int i = 0; i < steps; i++)
		step_nodes<E, FORM>(v, next, o);
	UNROLLED for (int e = 0; e < E; e++) if (TEAM == 1 || e < apart - first) own[e] = v[e];
	sync_team<TEAM>();
}

template <int TEAM, int WIDEST, int FORM>
static __device__ inline void dispatch_panel(float *nodes, int member, binomial_panel p,
					     const option &o)
{
#define RUN(E)                                                                                     \
	case E:                                                                                    \
		if constexpr (E <= WIDEST)                                                         \
			run_panel<E, TEAM, FORM>(nodes, member, p.steps, o);                       \
		return;
	switch (p.width) {
		BINOMIAL_WIDTHS(RUN)
	}
#undef RUN
}

/* ---- a tree ----------------------------------------------------------------------------- */

/* What the option is worth at its end, after j of n steps upwards. */
static __device__ inline float leaf(const option &o, int j, int n)
{
	return fmaxf(0.0f, o.S * expf(o.up * (float)(2 * j - n)) - o.X);
}

/* Words behind the leaves are read, but no result depends on them. */
template <int TEAM, int WIDEST, int FORM>
static __device__ inline void price_tree(float *nodes, int member, const binomial_plan &p,
					 const option &o, float *out)
{
	int thread = member * LANES + threadIdx.x % LANES, n = (int)p.steps;

	for (int j = thread; j < (int)p.smem_floats; j += TEAM * LANES)
		nodes[j] = j <= n ? leaf(o, j, n) : 0;
	sync_team<TEAM>();
	for (uint32_t i = 0; i < p.panels; i++)
		dispatch_panel<TEAM, WIDEST, FORM>(nodes, member, p.panel[i], o);
	if (!thread) /* which also writes the next tree's first leaf */
		*out = FORM == BINOMIAL_TWO ? nodes[0] : nodes[0] * o.b;
}

static __device__ inline option load_option(const binomial_launch &l, int64_t at)
{
	const binomial_arrays &a = l.arrays;
	option o;

	o.S = a.in[0][at];
	o.X = a.in[1][at];
	o.up = a.in[2][at];
	o.a = a.in[3][at];
	o.b = a.in[4][at];
	o.minus_one = l.minus_one;
	return o;
}

template <int TEAM, int WIDEST, int FORM>
__global__ void __launch_bounds__(LANES *BINOMIAL_WARPS) binomial(const binomial_launch l)
{
	DYN_SHARED(float, smem);
	int warp = threadIdx.x / LANES, member = TEAM > 1 ? warp : 0;
	uint32_t i = l.first + (TEAM > 1 ? blockIdx.x : blockIdx.x * BINOMIAL_WARPS + warp);
	uint32_t step = slots_step(l.counter);
	float *nodes = smem + (TEAM > 1 ? 0 : warp * l.plan.smem_floats);

	if (l.advance)
		slots_advance(l.counter, l.advance);
	if (i >= l.end)
		return;
	for (uint32_t n = 0; n < l.steps; n++) {
		int64_t at = (step + n) % l.slots * l.arrays.stride + i;

		price_tree<TEAM, WIDEST, FORM>(nodes, member, l.plan, load_option(l, at),
					       l.arrays.out + at);
	}
}
KERNEL(binomial<1, BINOMIAL_NARROW, BINOMIAL_LERP>);
KERNEL(binomial<1, BINOMIAL_NARROW, BINOMIAL_TWO>);
KERNEL(binomial<1, BINOMIAL_WIDE, BINOMIAL_LERP>);
KERNEL(binomial<1, BINOMIAL_WIDE, BINOMIAL_TWO>);
KERNEL(binomial<BINOMIAL_WARPS, BINOMIAL_WIDE, BINOMIAL_LERP>);
KERNEL(binomial<BINOMIAL_WARPS, BINOMIAL_WIDE, BINOMIAL_TWO>);

/* ---- for the host ----------------------------------------------------------------------- */

typedef void binomial_kernel(binomial_launch);

enum { KINDS = 3, FORMS = 2 };

static binomial_kernel *find_kernel(int kind, int form)
{
	static binomial_kernel *const table[KINDS][FORMS] = {
		{ binomial<1, BINOMIAL_NARROW, BINOMIAL_LERP>,
		  binomial<1, BINOMIAL_NARROW, BINOMIAL_TWO> },
		{ binomial<1, BINOMIAL_WIDE, BINOMIAL_LERP>,
		  binomial<1, BINOMIAL_WIDE, BINOMIAL_TWO> },
		{ binomial<BINOMIAL_WARPS, BINOMIAL_WIDE, BINOMIAL_LERP>,
		  binomial<BINOMIAL_WARPS, BINOMIAL_WIDE, BINOMIAL_TWO> },
	};

	return table[kind][form];
}

void binomial_load_kernels(void)
{
	for (int i = 0; i < KINDS * FORMS; i++)
		device_load_kernel((const void *)find_kernel(i / FORMS, i % FORMS));
}

void binomial_price(const struct binomial_launch *l, enum binomial_form form, cudaStream_t stream)
{
	bool team = l->plan.warps > 1;
	int kind = team ? 2 : l->plan.widest > BINOMIAL_NARROW, each = team ? 1 : BINOMIAL_WARPS;
	uint32_t blocks = (l->end - l->first + each - 1) / each;

	CUDA(LAUNCH(find_kernel(kind, form), blocks, LANES * BINOMIAL_WARPS,
		    each * l->plan.smem_floats * sizeof(float), stream, *l));
}
