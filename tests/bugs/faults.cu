/*
 * faults.cu - kernels that cannot go on: the CPU device itself names kernel, block and thread
 * (see bugs.cuh).
 */
#include "tests/bugs/bugs.cuh"

#undef NDEBUG
#include <assert.h>
#include <signal.h>
#include <unistd.h>

/* Half of a warp waits at a barrier, the other half for the whole warp: never ends. */
extern "C" __global__ void half_at_barrier(int *p)
{
	if (threadIdx.x % 32 < 16)
		__syncthreads();
	else
		*p = __ballot_sync(0xffffffff, 1);
}
KERNEL(half_at_barrier);

static void deadlock(void)
{
	CUDA(LAUNCH(half_at_barrier, 2, 64, 0, 0, zeroed_ints(1)));
}

extern "C" __global__ void vote_or_shuffle(int *p)
{
	if (threadIdx.x < 16)
		*p = __any_sync(0xffffffff, 1);
	else
		*p = __shfl_sync(0xffffffff, 1, 0);
}
KERNEL(vote_or_shuffle);

static void mismatch(void)
{
	CUDA(LAUNCH(vote_or_shuffle, 2, 32, 0, 0, zeroed_ints(1)));
}

extern "C" __global__ void half_mask(int *p)
{
	*p = __any_sync(0x0000ffff, 1);
}
KERNEL(half_mask);

static void outside_mask(void)
{
	CUDA(LAUNCH(half_mask, 2, 32, 0, 0, zeroed_ints(1)));
}

/* ---- memory that is not there ----------------------------------------------------------- */

extern "C" __global__ void touch(int *p, long where)
{
	if (blockIdx.x == 1 && threadIdx.x == 3)
		p[where] = 1;
}
KERNEL(touch);

static void touch_there(int *p, long where)
{
	CUDA(LAUNCH(touch, 2, 32, 0, 0, p, where));
}

static void null_pointer(void)
{
	touch_there(nullptr, 5);
}

static void freed_pointer(void)
{
	int *p = zeroed_ints(1 << 20);

	CUDA(cudaFree(p));
	touch_there(p, 1000);
}

static void far_away(void)
{
	touch_there((int *)0x10000000000, 0);
}

static void no_pointer(void)
{
	touch_there((int *)0x1234567812345678, 0);
}

static void just_beyond(void)
{
	touch_there(zeroed_ints(1 << 20), 1 << 20);
}

/* Only in strict mode. */
static void small_beyond(void)
{
	touch_there(zeroed_ints(64), 64);
}

extern "C" __global__ void touch_static(int index)
{
	SHARED_ARRAY(int, a, [64]);
	int *p = a;

	p[index] = 1;
}
KERNEL(touch_static);

static void shared_beyond(void)
{
	CUDA(LAUNCH(touch_static, 1, 1, 0, 0, 64));
}

extern "C" __global__ void touch_dynamic(int index)
{
	DYN_SHARED(int, a);

	a[index] = 1;
}
KERNEL(touch_dynamic);

static void dynamic_beyond(void)
{
	CUDA(LAUNCH(touch_dynamic, 1, 1, 64 * sizeof(int), 0, 64));
}

static __device__ int deep(int n)
{
	volatile char locals[1000];

	locals[n % 1000] = (char)n;
	return n ? deep(n - 1) + locals[n % 1000] : 0;
}

extern "C" __global__ void dive(int *p, int n)
{
	__syncthreads();
	*p = deep(n);
}
KERNEL(dive);

static void stack_overflow(void)
{
	CUDA(LAUNCH(dive, 1, 32, 0, 0, zeroed_ints(1), 100));
}

/* A graph outlives the memory that its copy names. */
static void graph_copies_freed(void)
{
	int *from = zeroed_ints(1 << 20), *to = zeroed_ints(1 << 20);
	cudaStream_t s = new_stream();
	cudaGraph_t g;
	cudaGraphExec_t exec;

	CUDA(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
	CUDA(cudaMemcpyAsync(to, from, 4 << 20, cudaMemcpyDeviceToDevice, s));
	CUDA(cudaStreamEndCapture(s, &g));
	CUDA(cudaGraphInstantiate(&exec, g, 0));
	CUDA(cudaFree(from));
	CUDA(cudaGraphLaunch(exec, s));
}

/* ---- arithmetic, assertions ------------------------------------------------------------- */

extern "C" __global__ void divide(int *p, int by)
{
	p[threadIdx.x] = 7 / ((int)threadIdx.x - by);
}
KERNEL(divide);

static void division_by_zero(void)
{
	CUDA(LAUNCH(divide, 1, 32, 0, 0, zeroed_ints(32), 3));
}

extern "C" __global__ void expect_less(int bound)
{
	assert((int)threadIdx.x < bound);
}
KERNEL(expect_less);

static void failed_assertion(void)
{
	CUDA(LAUNCH(expect_less, 1, 32, 0, 0, 3));
}

/* ---- the host's own faults --------------------------------------------------------------- */

static void host_null_pointer(void)
{
	volatile int *volatile p = nullptr;

	touch_there(zeroed_ints(1), 0);
	CUDA(cudaDeviceSynchronize());
	*p = 1;
}

static void own_handler(int signal)
{
	static const char text[] = "own handler\n";

	(void)!write(STDERR_FILENO, text, sizeof(text) - 1);
	_exit(signal == SIGSEGV ? 7 : 8);
}

static void null_pointer_handled(void)
{
	signal(SIGSEGV, own_handler);
	touch_there(nullptr, 0);
}

#define DEVICE(name)                                                                               \
	{                                                                                          \
#name, "device", name                                                              \
	}
const struct bug fault_bugs[] = {
	DEVICE(deadlock),
	DEVICE(mismatch),
	DEVICE(outside_mask),
	DEVICE(null_pointer),
	DEVICE(freed_pointer),
	DEVICE(far_away),
	DEVICE(no_pointer),
	DEVICE(just_beyond),
	DEVICE(small_beyond),
	DEVICE(shared_beyond),
	DEVICE(dynamic_beyond),
	DEVICE(stack_overflow),
	DEVICE(graph_copies_freed),
	DEVICE(division_by_zero),
	DEVICE(failed_assertion),
	DEVICE(host_null_pointer),
	DEVICE(null_pointer_handled),
	{},
};
