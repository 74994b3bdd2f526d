/*
 * cpu_device.cu - what the CPU device costs: threads, barriers, warp operations, submission.
 *
 *   build/cpu/bench/cpu_device
 *
 * Prints each figure for one worker and for as many as the settings say (RIFT_CPU_WORKERS; all
 * processors), and the one that the design was based on (AMD EPYC Zen 4, gcc 12, one worker,
 * nothing else running). Each is the best of several runs: on a shared machine the smallest
 * time is the least disturbed. Nothing is asserted; these are not GPU figures.
 */
#include "common/cuda_check.h"
#include "common/gpu.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { BLOCKS = 1024, THREADS = 256, N = BLOCKS * THREADS, REPEATS = 7, WAITS = 200 };

/* ---- kernels ---------------------------------------------------------------------------- */

extern "C" __global__ void empty()
{
}
KERNEL(empty);

extern "C" __global__ void axpy(float *y, const float *x, float a, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		y[i] += a * x[i];
}
KERNEL(axpy);

extern "C" __global__ void twenty_exp(double *y)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	double v = y[i];

	for (int k = 0; k < 20; k++)
		v += 1e-3 * (exp(-v) - v * v);
	y[i] = v;
}
KERNEL(twenty_exp);

extern "C" __global__ void barriers(int n, float *y)
{
	for (int i = 0; i < n; i++)
		__syncthreads();
	if (y)
		y[0] = 1;
}
KERNEL(barriers);

extern "C" __global__ void shuffles(int n, float *y)
{
	float v = threadIdx.x;

	for (int i = 0; i < n; i++)
		v += __shfl_xor_sync(0xffffffff, v, 1 + (i & 15));
	y[blockIdx.x * blockDim.x + threadIdx.x] = v;
}
KERNEL(shuffles);

/* Sum of 256 elements a block, 9 barriers. */
extern "C" __global__ void reduce(const float *x, float *y)
{
	SHARED_ARRAY(float, s, [THREADS]);
	int t = threadIdx.x;

	s[t] = x[blockIdx.x * THREADS + t];
	__syncthreads();
	for (int half = THREADS / 2; half; half /= 2) {
		if (t < half)
			s[t] += s[t + half];
		__syncthreads();
	}
	if (t == 0)
		y[blockIdx.x] = s[0];
}
KERNEL(reduce);

/* The same with shuffles inside warps, one barrier. */
extern "C" __global__ void warp_reduce(const float *x, float *y)
{
	SHARED_ARRAY(float, part, [8]);
	int t = threadIdx.x;
	float v = x[blockIdx.x * THREADS + t];

	for (int d = 16; d; d /= 2)
		v += __shfl_down_sync(0xffffffff, v, d);
	if (t % 32 == 0)
		part[t / 32] = v;
	__syncthreads();
	if (t >= 32)
		return;
	v = t < 8 ? part[t] : 0;
	for (int d = 4; d; d /= 2)
		v += __shfl_down_sync(0xffffffff, v, d);
	if (t == 0)
		y[blockIdx.x] = v;
}
KERNEL(warp_reduce);

/* ---- measuring -------------------------------------------------------------------------- */

static double now_ns()
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

/* Best time of calls of submit() and the synchronize after them, divided by n. */
template <class F> static double best_ns(double n, F submit, int calls = 1)
{
	double best = INFINITY;

	for (int r = 0; r < REPEATS; r++) {
		double start = now_ns();

		for (int i = 0; i < calls; i++)
			submit();
		CUDA(cudaDeviceSynchronize());
		best = fmin(best, now_ns() - start);
	}
	return best / n;
}

/* What the two processes found, in memory that they share with the one that prints it. */
struct figures {
	int n;
	struct {
		char what[40];
		double here[2]; /* one worker, all workers */
		const char *design, *unit;
	} row[32];
};
static struct figures *figures;
static int column;

static void add_row(const char *what, double here, const char *design, const char *unit)
{
	auto *r = &figures->row[figures->n++];

	snprintf(r->what, sizeof(r->what), "%s", what);
	r->here[column] = here;
	r->design = design;
	r->unit = unit;
}

static void threads(float *x, float *y, double *d)
{
	add_row("empty kernel", best_ns(N, [] { CUDA(LAUNCH(empty, BLOCKS, THREADS, 0, 0)); }),
		"0.5-0.6", "ns/thread");
	add_row("axpy",
		best_ns(N, [=] { CUDA(LAUNCH(axpy, BLOCKS, THREADS, 0, 0, y, x, 2.0f, N)); }),
		"1.15", "ns/thread");
	add_row("20 exp", best_ns(N, [=] { CUDA(LAUNCH(twenty_exp, BLOCKS, THREADS, 0, 0, d)); }),
		"209", "ns/thread");
	add_row("start, one barrier, exit",
		best_ns(N, [] { CUDA(LAUNCH(barriers, BLOCKS, THREADS, 0, 0, 1, nullptr)); }), "43",
		"ns/thread");
	add_row("reduction with 9 barriers",
		best_ns(N, [=] { CUDA(LAUNCH(reduce, BLOCKS, THREADS, 0, 0, x, y)); }), "133",
		"ns/thread");
	add_row("reduction with shuffles",
		best_ns(N, [=] { CUDA(LAUNCH(warp_reduce, BLOCKS, THREADS, 0, 0, x, y)); }), "150",
		"ns/thread");
}

struct size {
	int n;
	const char *design;
};

static void waiting(float *y)
{
	static const struct size sizes[] = { { 32, "6.6" }, { 256, "8.7" }, { 1024, "9" } };

	for (auto s : sizes) {
		char what[40];

		snprintf(what, sizeof(what), "__syncthreads, %d threads a block", s.n);
		add_row(what,
			best_ns(64.0 * s.n * WAITS,
				[=] {
					CUDA(LAUNCH(barriers, 64, s.n, 0, 0, (int)WAITS, nullptr));
				}),
			s.design, "ns/thread/barrier");
	}
	add_row("__shfl_xor_sync",
		best_ns(64.0 * THREADS * WAITS,
			[=] { CUDA(LAUNCH(shuffles, 64, THREADS, 0, 0, (int)WAITS, y)); }),
		"15.9", "ns/thread/operation");
}

static void submission(cudaStream_t s)
{
	cudaGraph_t graph;
	cudaGraphExec_t exec;

	auto launch = [=] { CUDA(LAUNCH(empty, 1, 1, 0, s)); };
	auto launch_and_wait = [=] {
		launch();
		CUDA(cudaStreamSynchronize(s));
	};

	add_row("queue a launch, 10000 in a row", best_ns(10000, launch, 10000), "75-150",
		"ns/launch");
	add_row("launch and synchronize", best_ns(1000, launch_and_wait, 1000), "9000",
		"ns (5000 wanted)");
	CUDA(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
	for (int i = 0; i < 100; i++)
		launch();
	CUDA(cudaStreamEndCapture(s, &graph));
	CUDA(cudaGraphInstantiate(&exec, graph, 0));
	add_row("graph of 100 empty kernels",
		best_ns(
			100 * 100, [=] { CUDA(cudaGraphLaunch(exec, s)); }, 100),
		"27-60", "ns/node");
	CUDA(cudaGraphExecDestroy(exec));
	CUDA(cudaGraphDestroy(graph));
}

/* Blocks of about 7 us. The host waits after each launch, as it does between batches. */
static void sharing(double *d)
{
	static const struct size grids[] = {
		{ 4, "27" }, { 16, "107" }, { 64, "430" }, { 512, "3400" }
	};

	for (auto g : grids) {
		auto launch_and_wait = [=] {
			CUDA(LAUNCH(twenty_exp, g.n, 32, 0, 0, d));
			CUDA(cudaDeviceSynchronize());
		};
		char what[40];

		snprintf(what, sizeof(what), "launch of %d blocks, synchronize", g.n);
		add_row(what, best_ns(100 * 1000, launch_and_wait, 100), g.design, "us");
	}
}

static void measure()
{
	cudaStream_t stream;
	double *d;

	CUDA(cudaMalloc(&d, 2 * N * sizeof(*d)));
	CUDA(cudaMemset(d, 0, 2 * N * sizeof(*d)));
	CUDA(cudaStreamCreate(&stream));
	float *x = (float *)(d + N), *y = x + N;

	figures->n = 0;
	threads(x, y, d);
	waiting(y);
	submission(stream);
	sharing(d);
}

/* A process each, as settings are read once. */
static void in_child(int which)
{
	int status = -1;
	pid_t pid = fork();

	if (!pid) {
		if (which == 0)
			setenv("RIFT_CPU_WORKERS", "1", 1);
		column = which;
		measure();
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && !status, "no process, or it failed");
}

int main()
{
	struct cudaDeviceProp prop;

	figures = (struct figures *)mmap(NULL, sizeof(*figures), PROT_READ | PROT_WRITE,
					 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(figures != MAP_FAILED, "no memory to share");
	in_child(0);
	in_child(1);
	CUDA(cudaGetDeviceProperties(&prop, 0));
	printf("%s, and with one\n\n%-38s %10s %10s %8s %8s\n", prop.name, "", "1 worker", "all",
	       "ratio", "design");
	for (int i = 0; i < figures->n; i++) {
		const auto *r = &figures->row[i];

		printf("%-38s %10.4g %10.4g %8.2f %8s  %s\n", r->what, r->here[0], r->here[1],
		       r->here[0] / r->here[1], r->design, r->unit);
	}
	return 0;
}
