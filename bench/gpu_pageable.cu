/*
 * gpu_pageable.cu - what copies of pageable memory take by what is copied around them, on a GPU.
 *
 *   build/cuda/bench/gpu_pageable
 *
 * A MiB to the device and a MiB back: each many times alone; then in turn, with a wait behind each
 * copy, behind the second alone, and with a kernel of some 20 us between the two. So a program's
 * copies differ from a probe's, which has one direction at a time. In turn, both use one block of
 * the host's memory, or two, and one of the device's, or two: what is shared may be in a cache, and
 * what is not is larger than one. The host's memory begins at a page, or 16 bytes behind one; or is
 * calloc's and untouched before.
 *
 * Printed are medians and quartiles over n. Nothing is asserted.
 */
#include "common/cuda_check.h"
#include "common/gpu.h"

#include <algorithm>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TURNS = 301, WARM_UP = 20, BYTES = 1 << 20, PAGE = 4096, CYCLES = 35000 };

extern "C" __global__ void pageable_spin(long long cycles)
{
	long long begin = clock64();

	while (clock64() - begin < cycles)
		;
}
KERNEL(pageable_spin);

static cudaStream_t stream;
static char *device[2];

static double now_us()
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

/* From the call on: until it returns, or until the stream is through. */
static double time_copy(void *to, const void *from, bool waits)
{
	double begin = now_us();

	CUDA(cudaMemcpyAsync(to, from, BYTES, cudaMemcpyDefault, stream));
	if (waits)
		CUDA(cudaStreamSynchronize(stream));
	return now_us() - begin;
}

static void print_times(const char *what, double *us)
{
	std::sort(us, us + TURNS);
	printf("  %s %.1f us (%.1f to %.1f)", what, us[TURNS / 2], us[TURNS / 4],
	       us[3 * TURNS / 4]);
}

static void alone(char *host)
{
	static double to[TURNS], back[TURNS];

	for (int i = -WARM_UP; i < TURNS; i++)
		to[std::max(i, 0)] = time_copy(device[0], host, true);
	for (int i = -WARM_UP; i < TURNS; i++)
		back[std::max(i, 0)] = time_copy(host, device[0], true);
	printf("%-52s", "alone, each waited for");
	print_times("to the device", to);
	print_times("back", back);
	printf("\n");
}

enum between { A_WAIT, NOTHING, A_KERNEL };

static void in_turn(char *host, char *second, char *device_second, enum between between)
{
	static const char *const names[] = { "each waited for", "waited for behind both",
					     "the same, a kernel between" };
	static double to[TURNS], back[TURNS], both[TURNS];
	char what[100];

	for (int i = -WARM_UP; i < TURNS; i++) {
		double begin = now_us();

		to[std::max(i, 0)] = time_copy(device[0], host, between == A_WAIT);
		if (between == A_KERNEL)
			CUDA(LAUNCH(pageable_spin, dim3(1), dim3(1), 0, stream, (long long)CYCLES));
		back[std::max(i, 0)] = time_copy(second, device_second, true);
		both[std::max(i, 0)] = now_us() - begin;
	}
	snprintf(what, sizeof(what), "in turn, %s, host %d, device %d", names[between],
		 1 + (second != host), 1 + (device_second != device[0]));
	printf("%-52s", what);
	print_times("to the device", to);
	print_times("back", back);
	print_times("both", both);
	printf("\n");
}

static void measure(const char *name, char *host, char *second)
{
	printf("%s\n", name);
	alone(host);
	for (int between = A_WAIT; between <= A_KERNEL; between++)
		in_turn(host, host, device[0], (enum between)between);
	in_turn(host, second, device[0], A_WAIT);
	in_turn(host, host, device[1], A_WAIT);
	in_turn(host, second, device[1], A_WAIT);
}

int main()
{
	char *pages = (char *)aligned_alloc(PAGE, 4 * BYTES);
	char *untouched = (char *)calloc(2, BYTES + PAGE);

	CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	for (int i = 0; i < 2; i++)
		CUDA(cudaMalloc(&device[i], BYTES));
	memset(pages, 1, 4 * BYTES);
	printf("copies of 1 MiB; n = %d, quartiles in parentheses\n", TURNS);
	measure("from the start of a page", pages, pages + 2 * BYTES);
	measure("from 16 bytes behind it", pages + 16, pages + 2 * BYTES + 16);
	measure("calloc's, untouched before", untouched, untouched + BYTES + PAGE);
	CUDA(cudaStreamDestroy(stream));
	free(untouched);
	free(pages);
	return 0;
}
