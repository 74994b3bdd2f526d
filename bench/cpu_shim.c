/*
 * cpu_shim.c - what the layer shim adds to a call, beside a runtime that does nothing.
 *
 *   taskset -c 1 build/cpu/bench/cpu_shim
 *
 * Fresh processes call cudaLaunchKernel of the runtime of stubs (tests/layers/stubs.c), with the
 * shim before it and without, in turn. Each takes the median of batches; what the two medians of
 * processes differ by is the shim's. Nothing is asserted.
 */
#include <cuda_runtime_api.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/check.h"
#include "harness/stats/stats.h"

enum { PAIRS = 9, BATCHES = 100, CALLS = 100000 };

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* The runtime of stubs looks at no argument. */
static int call_and_print(void)
{
	const dim3 one = { 1, 1, 1 };
	double ns[BATCHES];

	for (int b = 0; b < BATCHES; b++) {
		double start = now_ns();

		for (int i = 0; i < CALLS; i++)
			(void)cudaLaunchKernel(NULL, one, one, NULL, 0, NULL);
		ns[b] = (now_ns() - start) / CALLS;
	}
	printf("%.3f\n", median_of(ns, BATCHES));
	return 0;
}

/* This program again, with these preloaded. */
static double child(const char *self, const char *preloaded)
{
	char command[4 * PATH_MAX];
	double ns = 0;
	FILE *out;

	snprintf(command, sizeof(command), "LD_PRELOAD='%s' '%s' calls", preloaded, self);
	out = popen(command, "r");
	CHECK(out && fscanf(out, "%lf", &ns) == 1 && !pclose(out), "%s", command);
	return ns;
}

int main(int argc, char **argv)
{
	char self[PATH_MAX], stubs[PATH_MAX + 64], both[2 * PATH_MAX + 128];
	double without[PAIRS], with[PAIRS], difference[PAIRS];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	CHECK(n > 0, "/proc/self/exe");
	self[n] = '\0';
	if (argc > 1 && !strcmp(argv[1], "calls"))
		return call_and_print();
	slash = strrchr(self, '/');
	snprintf(stubs, sizeof(stubs), "%.*s/../tests/layers/stubs.so", (int)(slash - self), self);
	snprintf(both, sizeof(both), "%.*s/../layers/shim.so:%s", (int)(slash - self), self, stubs);
	for (int i = 0; i < PAIRS; i++) {
		without[i] = child(self, stubs);
		with[i] = child(self, both);
		difference[i] = with[i] - without[i];
	}
	printf("a call of a runtime that does nothing, medians of %d processes of %d calls\n",
	       PAIRS, BATCHES * CALLS);
	printf("  without the shim  %6.2f ns\n", median_of(without, PAIRS));
	printf("  with the shim     %6.2f ns\n", median_of(with, PAIRS));
	printf("  the shim adds     %6.2f ns\n", median_of(difference, PAIRS));
	return 0;
}
