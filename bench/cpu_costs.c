/*
 * cpu_costs.c - does the harness find a cost that is known because it was added?
 *
 *   build/cpu/bench/cpu_costs
 *
 * For each kind of call: blocks of a workload that makes just these calls, timed by the harness
 * in a process with the cost raised and in one without, in turn. What the calls differ by should
 * be what it was raised by, within 5 %. Nothing is asserted: on a busy machine the table shows
 * that.
 *
 * Queueing has a cost to begin with in both: a call that follows another at once takes 0.06 us,
 * but 0.5 us where the stream's thread, on another core, has caught up in between. Raised from
 * nothing, the cost would be found 0.4 us too large, which is no error of the harness. For the
 * same reason the two threads are kept on processors of their own.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/cuda_check.h"
#include "harness/measure/measure.h"
#include "harness/measure/submit.h"
#include "harness/stats/stats.h"
#include "workloads/workload.h"

const void *k_nothing(void);

enum { APART_NS = 2000 }; /* enough for the stream's thread to catch up */
enum { PAIRS = 5, BLOCKS = 101, WARMUP_BLOCKS = 20 };

/* ---- a workload that calls -------------------------------------------------------------- */

enum call { LAUNCH, COPY, ALLOCATE };

struct opts {
	enum call call;
};

struct state {
	char *device;
	char host[64];
};

static int reset(const void *opts, void *state, cudaStream_t stream)
{
	(void)opts, (void)state, (void)stream;
	return 0;
}

/* Allocating is against the contract of a step, which is no matter in stream mode. */
static int step(const void *opts, void *state, cudaStream_t stream)
{
	const struct opts *o = opts;
	const dim3 one = { 1, 1, 1 };
	struct state *s = state;
	void *p;

	switch (o->call) {
	case LAUNCH:
		CUDA(cudaLaunchKernel(k_nothing(), one, one, NULL, 0, stream));
		break;
	case COPY:
		CUDA(cudaMemcpyAsync(s->device, s->host, sizeof(s->host), cudaMemcpyHostToDevice,
				     stream));
		break;
	case ALLOCATE:
		CUDA(cudaMalloc(&p, sizeof(s->host)));
		CUDA(cudaFree(p));
		break;
	}
	return 0;
}

static const struct workload calls = { .name = "calls", .reset = reset, .step = step };

/* ---- what is tried ---------------------------------------------------------------------- */

static const struct trial {
	const char *what, *variable;
	int64_t from_ns, set_ns; /* without, and what is added to it */
	enum call call;
	enum mode mode;
	bool total;    /* look at t_total, not t_enq */
	int64_t depth; /* steps a block */
	int64_t calls; /* that the cost is on, a block */
} trials[] = {
	{ "launch", "RIFT_CPU_LAUNCH_NS", APART_NS, 5000, LAUNCH, MODE_STREAM, false, 100, 100 },
	{ "launch, to the end", "RIFT_CPU_LAUNCH_NS", APART_NS, 5000, LAUNCH, MODE_STREAM, true,
	  100, 100 },
	{ "graph launch", "RIFT_CPU_LAUNCH_NS", APART_NS, 5000, LAUNCH, MODE_GRAPH, false, 16384,
	  16 },
	{ "synchronize", "RIFT_CPU_SYNC_NS", 0, 20000, LAUNCH, MODE_STREAM, true, 1, 1 },
	{ "copy, asynchronous", "RIFT_CPU_COPY_NS", APART_NS, 5000, COPY, MODE_STREAM, false, 100,
	  100 },
	{ "allocate and free", "RIFT_CPU_ALLOC_NS", 0, 50000, ALLOCATE, MODE_STREAM, false, 20,
	  40 },
};
enum { TRIALS = sizeof(trials) / sizeof(*trials) };

/* A stream whose thread runs on other processors than the caller, where there are two. */
static cudaStream_t stream_apart(void)
{
	cudaStream_t stream;
	cpu_set_t all, mine;
	int cpu = 0;

	CHECK(!sched_getaffinity(0, sizeof(all), &all), "no processors");
	while (!CPU_ISSET(cpu, &all))
		cpu++;
	CPU_ZERO(&mine);
	CPU_SET(cpu, &mine);
	if (CPU_COUNT(&all) > 1)
		CPU_CLR(cpu, &all);
	sched_setaffinity(0, sizeof(all), &all); /* threads inherit it */
	CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	sched_setaffinity(0, sizeof(mine), &mine);
	return stream;
}

static double median_block_ns(const struct trial *t)
{
	const struct opts opts = { t->call };
	struct state state = { 0 };
	struct instance instance = {
		.workload = &calls, .opts = &opts, .state = &state, .launches = 1
	};
	struct submission s;
	struct blocks warm, timed;

	CUDA(cudaMalloc((void **)&state.device, sizeof(state.host)));
	instance.stream = stream_apart();
	CHECK(!submission_init(&s, &instance, t->mode, t->depth), "%s", t->what);
	CHECK(!measure_blocks(&s, WARMUP_BLOCKS, &warm), "%s", t->what);
	CHECK(!measure_blocks(&s, BLOCKS, &timed), "%s", t->what);
	return stats_of(t->total ? timed.total_ns : timed.enq_ns, BLOCKS, 1).median;
}

/* Settings are read once a process: each measurement has one of its own. */
static void in_child(const struct trial *t, bool with, double *block_ns)
{
	int status;
	pid_t pid = fork();

	CHECK(pid >= 0, "no process");
	if (!pid) {
		char text[24];

		snprintf(text, sizeof(text), "%ld", (long)(t->from_ns + (with ? t->set_ns : 0)));
		setenv(t->variable, text, 1);
		*block_ns = median_block_ns(t);
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && !status, "%s: status %d", t->what, status);
}

/* Per call, of the median pair; pairs in turn, so that what drifts moves both alike. */
static double found_ns(const struct trial *t, double block_ns[2])
{
	int64_t more_ns[PAIRS];

	for (int i = 0; i < PAIRS; i++) {
		in_child(t, i % 2, &block_ns[i % 2]);
		in_child(t, !(i % 2), &block_ns[!(i % 2)]);
		more_ns[i] = (int64_t)(block_ns[1] - block_ns[0]);
	}
	return stats_of(more_ns, PAIRS, (double)t->calls).median;
}

int main(void)
{
	double *block_ns = mmap(NULL, 2 * sizeof(*block_ns), PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	CHECK(block_ns != MAP_FAILED, "no memory to share");
	printf("costs added to calls of the CPU device, as the harness measures them:\n"
	       "median of %d pairs of processes, %d blocks each\n\n",
	       (int)PAIRS, (int)BLOCKS);
	printf("%-26s %-20s %-8s %9s %12s %10s\n", "calls", "setting", "seen in", "added, ns",
	       "found, ns", "deviation");
	for (int i = 0; i < TRIALS; i++) {
		const struct trial *t = &trials[i];
		double found = found_ns(t, block_ns);

		printf("%-26s %-20s %-8s %9ld %12.0f %+9.1f %%\n", t->what, t->variable,
		       t->total ? "t_total" : "t_enq", (long)t->set_ns, found,
		       100 * (found / (double)t->set_ns - 1));
		fflush(stdout);
	}
	return 0;
}
