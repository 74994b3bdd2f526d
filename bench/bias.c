/*
 * bias.c - what the harness itself adds to a block: the same empty launches timed by hand and by
 * measure_block(), in turns, in one process.
 *
 *   build/cuda/bench/bias
 *
 * The host's speed comes and goes for seconds at a time; turns of a few blocks share it, so the
 * ratio of neighbours shows what medians of separate programs (bench/yardstick.sh) cannot. Both
 * use the state that the workload set up, so the trace lies in the same memory.
 */
#include <stdio.h>
#include <stdlib.h>

#include "common/cuda_check.h"
#include "harness/measure/measure.h"
#include "harness/measure/submit.h"
#include "harness/stats/stats.h"
#include "workloads/launch/launch.h"

enum { TURNS = 101, BLOCKS = 9 };
static const int depths[] = { 1, 16, 256, 1024 };

static struct launch_opts opts;
static struct launch_state state;
static struct instance instance;

struct by_hand {
	int depth;
	cudaGraphExec_t graph; /* NULL: stream mode */
};

static void launch_empty(int n)
{
	const void *kernel = launch_kernel(LAUNCH_EMPTY, LAUNCH_ARGS_8);
	uint64_t word = 1ull << 32; /* one unit, stream 0 */
	void *args[] = { &word };
	const dim3 grid = { 1, 1, 1 }, block = { LAUNCH_THREADS, 1, 1 };

	for (int i = 0; i < n; i++)
		CUDA(cudaLaunchKernel(kernel, grid, block, args, 0, instance.stream));
}

static struct by_hand hand_init(enum mode mode, int depth)
{
	struct by_hand h = { depth, NULL };
	cudaGraph_t graph;

	if (mode == MODE_STREAM)
		return h;
	CUDA(cudaStreamBeginCapture(instance.stream, cudaStreamCaptureModeGlobal));
	launch_empty(depth);
	CUDA(cudaStreamEndCapture(instance.stream, &graph));
	CUDA(cudaGraphInstantiate(&h.graph, graph, 0));
	CUDA(cudaGraphUpload(h.graph, instance.stream));
	CUDA(cudaGraphDestroy(graph));
	return h;
}

static double hand_block_ns(const struct by_hand *h)
{
	int64_t begin;

	CHECK(!launch_reset(&opts, &state, instance.stream), "reset");
	CUDA(cudaStreamSynchronize(instance.stream));
	begin = clock_ns();
	if (h->graph)
		CUDA(cudaGraphLaunch(h->graph, instance.stream));
	else
		launch_empty(h->depth);
	CUDA(cudaStreamSynchronize(instance.stream));
	return (double)(clock_ns() - begin);
}

static double harness_block_ns(const struct submission *s)
{
	struct block b;

	CHECK(!measure_block(s, &b), "block");
	return (double)b.total_ns;
}

/* Either first, by turns: who comes second finds warmer caches. */
static void take_turn(int turn, const struct by_hand *h, const struct submission *s,
		      double *hand_ns, double *harness_ns)
{
	double a[BLOCKS], b[BLOCKS];

	for (int who = 0; who < 2; who++)
		for (int i = 0; i < BLOCKS; i++) {
			if ((who + turn) % 2)
				a[i] = hand_block_ns(h);
			else
				b[i] = harness_block_ns(s);
		}
	*hand_ns = median_of(a, BLOCKS);
	*harness_ns = median_of(b, BLOCKS);
}

static void compare(enum mode mode, int depth)
{
	double hand[TURNS], harness[TURNS], ratio[TURNS], centre;
	struct by_hand h = hand_init(mode, depth);
	struct submission s;

	CHECK(!submission_init(&s, &instance, mode, depth), "submission");
	for (int i = -2; i < TURNS; i++) { /* the first two warm up */
		int at = i < 0 ? 0 : i;

		take_turn(i + 2, &h, &s, &hand[at], &harness[at]);
		ratio[at] = harness[at] / hand[at];
	}
	/* the 41st and 61st of 101 hold the median in 95 % of cases (binomial) */
	centre = median_of(ratio, TURNS);
	printf("%-7s %5d  %9.4f  %9.4f  %+7.2f %%  %+.2f to %+.2f %%\n", mode_name(mode), depth,
	       median_of(hand, TURNS) / depth / 1e3, median_of(harness, TURNS) / depth / 1e3,
	       100 * (centre - 1), 100 * (ratio[40] - 1), 100 * (ratio[60] - 1));
	submission_release(&s);
	if (h.graph)
		CUDA(cudaGraphExecDestroy(h.graph));
}

/* As the harness opens a device: flags first; a GPU's host spins. */
static void open_device(void)
{
	struct cudaDeviceProp prop;

	CUDA(cudaGetDeviceProperties(&prop, 0));
	if (prop.major)
		CUDA(cudaSetDeviceFlags(cudaDeviceScheduleSpin));
	CUDA(cudaSetDevice(0));
	printf("%s%s\n\n", prop.name, prop.major ? "" : ": these are not GPU figures");
	opts.streams = 1;
	instance.workload = &workload_launch;
	instance.opts = &opts;
	instance.state = &state;
	instance.launches = 1;
	instance.sync = SYNC_SPIN; /* cudaStreamSynchronize() */
	CUDA(cudaStreamCreateWithFlags(&instance.stream, cudaStreamNonBlocking));
	CHECK(!launch_setup(&opts, &state), "setup");
}

int main(void)
{
	open_device();
	printf("us a kernel, medians of %d turns of %d blocks\n%-7s %5s  %9s  %9s  %9s  %s\n",
	       (int)TURNS, (int)BLOCKS, "mode", "depth", "by hand", "harness", "ratio - 1",
	       "95 % interval");
	for (enum mode mode = MODE_STREAM; mode <= MODE_GRAPH; mode++)
		for (int i = 0; i < (int)(sizeof(depths) / sizeof(*depths)); i++)
			compare(mode, depths[i]);
	launch_teardown(&state);
	CUDA(cudaStreamDestroy(instance.stream));
	return 0;
}
