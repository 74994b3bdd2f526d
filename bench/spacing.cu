/*
 * spacing.cu - what a launch costs by how far launches stand apart: the base of any cost that is
 * added to each launch.
 *
 *   build/cuda/bench/spacing
 *   build/cuda/bench/spacing 40 60
 *   build/cuda/bench/spacing 40 60 2000
 *
 * Blocks of 64 launches of an empty kernel, then a synchronize. Before each launch the thread spins
 * until the spacing has passed since the launch before. Printed is what the call itself takes, the
 * median of a block's mean over n blocks, in turns over the spacings; and by how much a launch and
 * its wait together are longer than the spacing: what the host takes away.
 *
 * Then the same with so long a spin after each call, as a layer adds it: what a launch takes beside
 * its spin. Then with a synchronize behind each launch and the spin after both: what the two take.
 * Where that grows with the spin, a session that finds more than was added is right.
 *
 * With two lengths of spin in us: by how much calls behind the longer one take longer themselves, a
 * pair of blocks at a time, of 64 calls or of as many as a third word says. Long blocks show what a
 * host becomes in fractions of a second, short ones do not. A spin comes before each launch, before
 * each launch with its wait, before each wait in an idle stream, before each copy of 4 bytes, and
 * before each cudaMalloc of 1 MiB with its cudaFree. Under the layer emulate that one spends the
 * time, by costs that change from block to block. So both sides of a pair are the same process, and
 * what is found beyond the difference is the layer's fault, or the calls' own. Nothing is asserted.
 */
#include "common/cuda_check.h"
#include "common/gpu.h"
#include "layers/emulate/costs.h"

#include <algorithm>
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { TURNS = 101, LAUNCHES = 64, COPY_BYTES = 4, MEMORY_BYTES = 1 << 20 };

extern "C" __global__ void spacing_empty()
{
}
KERNEL(spacing_empty);

static const double spacings_us[] = { 0, 5, 7.5, 10, 15, 20, 40, 100 };
enum { SPACINGS = sizeof(spacings_us) / sizeof(*spacings_us) };

static double now_ns()
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

/* What a spacing is: from one call to the next, or a spin after a call, or after a call and a wait.
 */
enum spaced { APART, AFTER_CALL, AFTER_WAIT, WAYS };

struct block {
	double call_ns, turn_ns; /* a launch, with its wait; from one launch to the next */
};

static struct block time_block(double spacing_ns, enum spaced way, cudaStream_t stream)
{
	double begin = now_ns(), due = begin, sum = 0;

	for (int i = 0; i < LAUNCHES; i++) {
		double start = now_ns();

		while (start < due)
			start = now_ns();
		CUDA(LAUNCH(spacing_empty, dim3(1), dim3(32), 0, stream));
		if (way == AFTER_WAIT)
			CUDA(cudaStreamSynchronize(stream));
		double end = now_ns();
		sum += end - start;
		due = (way == APART ? start : end) + spacing_ns;
	}
	while (now_ns() < due)
		;
	struct block b = { sum / LAUNCHES, (now_ns() - begin) / LAUNCHES };
	CUDA(cudaStreamSynchronize(stream));
	return b;
}

/* The rank's value of n; the values are sorted. */
static double ranked(double *ns, double share)
{
	std::sort(ns, ns + TURNS);
	return ns[(int)(share * (TURNS - 1))];
}

static void measure(enum spaced way, cudaStream_t stream)
{
	static const char *const title[WAYS] = {
		"a launch call by how far launches stand apart",
		"a launch by how long a spin follows its call",
		"a launch and its wait by how long a spin follows",
	};
	static double call_ns[SPACINGS][TURNS], more_ns[SPACINGS][TURNS];

	for (int turn = -5; turn < TURNS; turn++)
		for (int s = 0; s < SPACINGS; s++) {
			struct block b = time_block(1000 * spacings_us[s], way, stream);

			if (turn < 0)
				continue;
			call_ns[s][turn] = b.call_ns;
			more_ns[s][turn] = b.turn_ns - 1000 * spacings_us[s];
		}
	printf("%s; n = %d blocks of %d\n", title[way], TURNS, LAUNCHES);
	for (int s = 0; s < SPACINGS; s++) {
		double mean = 0;

		for (int turn = 0; turn < TURNS; turn++)
			mean += more_ns[s][turn] / TURNS;
		printf("%6.1f us%s: call %7.1f ns (quartiles %.1f to %.1f); beyond it: %.1f ns "
		       "(quartiles %.1f to %.1f, mean %.1f)\n",
		       spacings_us[s], way == APART ? " apart" : " spun", ranked(call_ns[s], 0.5),
		       ranked(call_ns[s], 0.25), ranked(call_ns[s], 0.75), ranked(more_ns[s], 0.5),
		       ranked(more_ns[s], 0.25), ranked(more_ns[s], 0.75), mean);
	}
}

/* ---- two lengths of spin ------------------------------------------------------------------ */

struct ends {
	int calls; /* of a block */
	cudaStream_t stream;
	char *host, *device;
};

static void launch(const struct ends *e)
{
	CUDA(LAUNCH(spacing_empty, dim3(1), dim3(32), 0, e->stream));
}

static void launch_and_wait(const struct ends *e)
{
	launch(e);
	CUDA(cudaStreamSynchronize(e->stream));
}

static void copy(const struct ends *e)
{
	CUDA(cudaMemcpyAsync(e->device, e->host, COPY_BYTES, cudaMemcpyHostToDevice, e->stream));
}

static void allocate_and_free(const struct ends *)
{
	void *memory;

	CUDA(cudaMalloc(&memory, MEMORY_BYTES));
	CUDA(cudaFree(memory));
}

static void synchronize(const struct ends *e)
{
	CUDA(cudaStreamSynchronize(e->stream));
}

/* A call, and which of the layer's costs is the spin before it. */
static const struct work {
	const char *name;
	void (*call)(const struct ends *);
	size_t cost; /* where in struct emulate_costs */
} works[] = {
	{ "launch", launch, offsetof(struct emulate_costs, call_ns) },
	{ "launch and wait", launch_and_wait, offsetof(struct emulate_costs, call_ns) },
	{ "wait", synchronize, offsetof(struct emulate_costs, sync_ns) },
	{ "copy", copy, offsetof(struct emulate_costs, copy_ns) },
	{ "cudaMalloc, Free", allocate_and_free, offsetof(struct emulate_costs, alloc_ns) },
};

/* NULL without the layer. */
static struct emulate_shared *layer()
{
	void *found = dlsym(RTLD_DEFAULT, EMULATE_SHARED_FUNCTION);

	return found ? ((emulate_shared_function *)found)() : NULL;
}

static double &layers_cost(struct emulate_shared *layer, const struct work *w)
{
	return *(double *)((char *)&layer->costs + w->cost);
}

/* ns of what a call takes beside the spin before it, the mean of a block. */
static double behind_spin_ns(const struct work *w, const struct ends *e, double spin_ns)
{
	struct emulate_shared *emulated = layer();
	double own_spin_ns = emulated ? 0 : spin_ns;

	if (emulated)
		layers_cost(emulated, w) = spin_ns;
	double begin = now_ns(), due = begin + own_spin_ns;
	for (int i = 0; i < e->calls; i++) {
		while (now_ns() < due)
			;
		w->call(e);
		due = now_ns() + own_spin_ns;
	}
	double took = now_ns() - begin;
	if (emulated)
		layers_cost(emulated, w) = 0;
	CUDA(cudaStreamSynchronize(e->stream));
	return took / e->calls - spin_ns;
}

/* The interval is of the median, by ranks: TURNS / 2 -+ 0.98 sqrt(TURNS). */
static void compare(const struct work *w, const struct ends *e, const double *spin_ns)
{
	static double ns[2][TURNS], more_ns[TURNS];

	for (int turn = -5; turn < TURNS; turn++) {
		int at = turn < 0 ? 0 : turn, first = at % 2;

		for (int i = 0; i < 2; i++)
			ns[i ^ first][at] = behind_spin_ns(w, e, spin_ns[i ^ first]);
		more_ns[at] = ns[1][at] - ns[0][at];
	}
	printf("%-17s behind %g us: %.0f ns; behind %g us: %.0f; longer by %.0f ns (%.0f to %.0f), "
	       "n = %d pairs of %d\n",
	       w->name, spin_ns[0] / 1e3, ranked(ns[0], 0.5), spin_ns[1] / 1e3, ranked(ns[1], 0.5),
	       ranked(more_ns, 0.5), ranked(more_ns, 0.4), ranked(more_ns, 0.6), TURNS, e->calls);
}

static void compare_all(cudaStream_t stream, const double *spin_ns, int calls)
{
	struct ends e = { calls, stream, NULL, NULL };

	CUDA(cudaMallocHost((void **)&e.host, COPY_BYTES));
	CUDA(cudaMalloc((void **)&e.device, COPY_BYTES));
	for (const struct work &w : works)
		compare(&w, &e, spin_ns);
	CUDA(cudaFreeHost(e.host));
	CUDA(cudaFree(e.device));
}

int main(int argc, char **argv)
{
	cudaStream_t stream;

	CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	if (argc == 2 || argc > 4 || (argc == 4 && atoi(argv[3]) < 1)) {
		fprintf(stderr, "usage: spacing [US US [CALLS]]\n");
		return 3;
	}
	if (argc >= 3) {
		const double spin_ns[] = { 1000 * atof(argv[1]), 1000 * atof(argv[2]) };

		compare_all(stream, spin_ns, argc > 3 ? atoi(argv[3]) : LAUNCHES);
	} else {
		for (int way = APART; way < WAYS; way++)
			measure((enum spaced)way, stream);
	}
	CUDA(cudaStreamDestroy(stream));
	return 0;
}
