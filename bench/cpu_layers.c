/*
 * cpu_layers.c - what a layer adds to a call, beside a runtime that does nothing.
 *
 *   taskset -c 1 build/cpu/bench/cpu_layers
 *
 * Fresh processes call cudaLaunchKernel of the runtime of stubs (tests/layers/stubs.c) under each
 * layer and under none, in turn. Printed are the median of a process's batches, and of single calls
 * the median and the 99th percentile; each less what it is without a layer, as medians of
 * processes. Single calls are timed by two readings of the clock, which both have. Nothing is
 * asserted.
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

enum { TURNS = 9, BATCHES = 20, CALLS = 20000, SINGLES = 20000 };

static const struct arm {
	const char *layer;
	double asked_ns;
} arms[] = {
	{ "none", 0 },
	{ "shim", 0 },
	{ "emulate", 0 },
	{ "emulate call=0.1", 100 },
	{ "emulate call=1", 1000 },
	{ "emulate call=5", 5000 },
};

enum { ARMS = sizeof(arms) / sizeof(*arms) };

struct figures {
	double mean_ns, p50_ns, p99_ns;
};

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* The runtime of stubs looks at no argument. */
static void call(void)
{
	const dim3 one = { 1, 1, 1 };

	(void)cudaLaunchKernel(NULL, one, one, NULL, 0, NULL);
}

static int call_and_print(void)
{
	static double batch[BATCHES], single[SINGLES];
	struct sample sample;

	for (int b = 0; b < BATCHES; b++) {
		double start = now_ns();

		for (int i = 0; i < CALLS; i++)
			call();
		batch[b] = (now_ns() - start) / CALLS;
	}
	for (int i = 0; i < SINGLES; i++) {
		double start = now_ns();

		call();
		single[i] = now_ns() - start;
	}
	CHECK(!sample_of(&sample, single, SINGLES), "%d calls", SINGLES);
	printf("%.3f %.3f %.3f\n", median_of(batch, BATCHES), sample.median, sample.p99);
	return 0;
}

/* This program again, under a layer and on the stubs. */
static struct figures child(const char *folder, const char *layer)
{
	char command[4 * PATH_MAX];
	struct figures f = { 0 };
	FILE *out;

	snprintf(
		command, sizeof(command),
		"'%s/../rift' layer --quiet %s -- sh -c "
		"'LD_PRELOAD=\"$LD_PRELOAD:%s/../tests/layers/stubs.so\" exec %s/cpu_layers calls'",
		folder, layer, folder, folder);
	out = popen(command, "r");
	CHECK(out && fscanf(out, "%lf %lf %lf", &f.mean_ns, &f.p50_ns, &f.p99_ns) == 3 &&
		      !pclose(out),
	      "%s", command);
	return f;
}

static double median_less(const struct figures *with, const struct figures *without, size_t field,
			  double asked_ns)
{
	double difference[TURNS];

	for (int i = 0; i < TURNS; i++)
		difference[i] = *(const double *)(const void *)((const char *)&with[i] + field) -
				*(const double *)(const void *)((const char *)&without[i] + field) -
				asked_ns;
	return median_of(difference, TURNS);
}

static void print_arm(const struct figures all[ARMS][TURNS], int arm)
{
	double mean[TURNS];

	for (int i = 0; i < TURNS; i++)
		mean[i] = all[arm][i].mean_ns;
	printf("%-18s %8.2f", arms[arm].layer, median_of(mean, TURNS));
	printf(" %+10.2f %+10.2f %+10.2f\n",
	       median_less(all[arm], all[0], offsetof(struct figures, mean_ns), arms[arm].asked_ns),
	       median_less(all[arm], all[0], offsetof(struct figures, p50_ns), arms[arm].asked_ns),
	       median_less(all[arm], all[0], offsetof(struct figures, p99_ns), arms[arm].asked_ns));
}

int main(int argc, char **argv)
{
	static struct figures all[ARMS][TURNS];
	char folder[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", folder, sizeof(folder) - 1);

	CHECK(n > 0, "/proc/self/exe");
	folder[n] = '\0';
	*strrchr(folder, '/') = '\0';
	if (argc > 1 && !strcmp(argv[1], "calls"))
		return call_and_print();
	for (int i = 0; i < TURNS; i++)
		for (int arm = 0; arm < ARMS; arm++)
			all[arm][i] = child(folder, arms[arm].layer);
	printf("a call of a runtime that does nothing, ns; n = %d processes of %d calls, medians\n"
	       "%-18s %8s %10s %10s %10s\n",
	       TURNS, BATCHES * CALLS, "under", "a call", "added less", "p50", "p99");
	for (int arm = 0; arm < ARMS; arm++)
		print_arm((const struct figures(*)[TURNS])all, arm);
	return 0;
}
