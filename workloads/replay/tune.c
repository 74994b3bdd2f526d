/*
 * tune.c - how many ticks of the clock a kernel spins, so that it lasts as long as one of the
 * trace. Nothing that is counted or compared depends on it.
 */
#include <math.h>

#include "common/cuda_check.h"
#include "common/timing.h"
#include "workloads/replay/replay.h"

/* ---- ticks in a ns ------------------------------------------------------------------------ */

static double try_clocks(unsigned long long *out, cudaStream_t stream)
{
	const unsigned long long ticks = 2000000; /* 1 ms and more, where a timer's tick is 1 us */
	unsigned long long found[2];

	replay_launch_clocks(out, ticks, stream);
	CUDA(cudaMemcpyAsync(found, out, sizeof(found), cudaMemcpyDeviceToHost, stream));
	CUDA(cudaStreamSynchronize(stream));
	return found[1] ? (double)found[0] / (double)found[1] : NAN;
}

/* Until two trials agree: a device that idled begins with a lower clock. */
static double ticks_per_ns(unsigned long long *out, cudaStream_t stream)
{
	enum { TRIALS = 200 };
	const double agree = 0.002;
	double before = 0, now = 0;

	for (int i = 0; i < TRIALS; i++) {
		now = try_clocks(out, stream);
		if (fabs(now - before) <= agree * before)
			break;
		before = now;
	}
	return now;
}

/* ---- what a kernel lasts beyond its spin -------------------------------------------------- */

enum { NODES = 256, SPIN_NS = 1000 };

/* A line of kernels that spin for so many ticks, or of empty ones. */
static cudaGraphExec_t make_line(unsigned long long *count, unsigned long long ticks,
				 cudaStream_t stream)
{
	cudaGraphExec_t exec;
	cudaGraph_t graph;

	CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
	for (int i = 0; i < NODES; i++)
		if (ticks)
			replay_launch(count, ticks, 1, 1, stream);
		else
			replay_launch_nothing(stream);
	CUDA(cudaStreamEndCapture(stream, &graph));
	CUDA(cudaGraphInstantiate(&exec, graph, 0));
	CUDA(cudaGraphUpload(exec, stream));
	CUDA(cudaGraphDestroy(graph));
	return exec;
}

static double time_line(cudaGraphExec_t exec, cudaStream_t stream)
{
	int64_t begin = timing_now_ns();

	CUDA(cudaGraphLaunch(exec, stream));
	CUDA(cudaStreamSynchronize(stream));
	return (double)(timing_now_ns() - begin);
}

/*
 * The count, and the turn of the loop in which the spin ends. Both lines have the same launch, wait
 * and gaps; the least of some trials is that of a machine that did nothing else.
 */
static double beyond_spin_ns(unsigned long long *count, double ticks_a_ns, cudaStream_t stream)
{
	enum { TRIALS = 12 };
	unsigned long long ticks = (unsigned long long)(SPIN_NS * ticks_a_ns);
	cudaGraphExec_t line[2] = { make_line(count, 0, stream), make_line(count, ticks, stream) };
	double least[2] = { INFINITY, INFINITY }, beyond;

	for (int i = 0; i < 2 * TRIALS; i++)
		least[i % 2] = fmin(least[i % 2], time_line(line[i % 2], stream));
	for (int i = 0; i < 2; i++)
		CUDA(cudaGraphExecDestroy(line[i]));
	beyond = (least[1] - least[0]) / NODES - (double)ticks / ticks_a_ns;
	return beyond > 0 && beyond < SPIN_NS ? beyond : 0;
}

struct replay_tuning replay_tune(void)
{
	struct replay_tuning t;
	unsigned long long *out;
	cudaStream_t stream;

	CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	CUDA(cudaMalloc((void **)&out, 2 * sizeof(*out)));
	t.ticks_per_ns = ticks_per_ns(out, stream);
	t.beyond_ns = t.ticks_per_ns > 0 ? beyond_spin_ns(out, t.ticks_per_ns, stream) : 0;
	CUDA(cudaFree(out));
	CUDA(cudaStreamDestroy(stream));
	return t;
}

unsigned long long replay_ticks(const struct replay_tuning *t, double ns)
{
	ns -= t->beyond_ns;
	return ns > 0 ? (unsigned long long)llround(ns * t->ticks_per_ns) : 0;
}
