/*
 * spacing.cu - what a launch costs by how far launches stand apart: the base of any cost that is
 * added to each launch.
 *
 *   build/cuda/bench/spacing
 *
 * Blocks of 64 launches of an empty kernel, then a synchronize. Before each launch the thread spins
 * until the spacing has passed since the launch before. Printed is what the call itself takes, the
 * median of a block's mean over n blocks, in turns over the spacings; and by how much a launch and
 * its wait together are longer than the spacing: what the host takes away.
 *
 * Then the same with so long a spin after each call, as a layer adds it: what a launch takes beside
 * its spin. Then with a synchronize behind each launch and the spin after both: what the two take.
 * Where that grows with the spin, a session that finds more than was added is right.
 * Nothing is asserted.
 */
#include "common/cuda_check.h"
#include "common/gpu.h"

#include <algorithm>
#include <stdio.h>
#include <time.h>

enum { TURNS = 101, LAUNCHES = 64 };

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

int main()
{
	cudaStream_t stream;

	CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	for (int way = APART; way < WAYS; way++)
		measure((enum spaced)way, stream);
	CUDA(cudaStreamDestroy(stream));
	return 0;
}
