/*
 * spacing.cu - what a launch costs by how far launches stand apart: the base of any cost that is
 * added to each launch.
 *
 *   build/cuda/bench/spacing
 *
 * Blocks of 64 launches of an empty kernel, then a synchronize. Before each launch the thread spins
 * until the spacing has passed since the launch before. Printed is what the call itself takes, the
 * median of a block's mean over n blocks, in turns over the spacings. Nothing is asserted.
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

/* The calls of a block, ns each. */
static double block_ns(double spacing_ns, cudaStream_t stream)
{
	double due = now_ns(), sum = 0;

	for (int i = 0; i < LAUNCHES; i++) {
		double start = now_ns();

		while (start < due)
			start = now_ns();
		due = start + spacing_ns;
		CUDA(LAUNCH(spacing_empty, dim3(1), dim3(32), 0, stream));
		sum += now_ns() - start;
	}
	CUDA(cudaStreamSynchronize(stream));
	return sum / LAUNCHES;
}

int main()
{
	static double ns[SPACINGS][TURNS];
	cudaStream_t stream;

	CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	for (int turn = -5; turn < TURNS; turn++)
		for (int s = 0; s < SPACINGS; s++) {
			double took = block_ns(1000 * spacings_us[s], stream);

			if (turn >= 0)
				ns[s][turn] = took;
		}
	printf("a launch call by how far launches stand apart; n = %d blocks of %d\n", TURNS,
	       LAUNCHES);
	for (int s = 0; s < SPACINGS; s++) {
		std::sort(ns[s], ns[s] + TURNS);
		printf("%6.1f us apart: %7.1f ns (quartiles %.1f to %.1f)\n", spacings_us[s],
		       ns[s][TURNS / 2], ns[s][TURNS / 4], ns[s][3 * TURNS / 4]);
	}
	CUDA(cudaStreamDestroy(stream));
	return 0;
}
