/*
 * calls.c - do the probes of the microworkloads find what a program written by hand finds?
 *
 *   build/cuda/bench/calls [TURNS [WORKLOAD [SIZE]]]     SIZE: nodes or bytes
 *
 * Both take their figures in turns, in one process: the host's speed comes and goes for seconds at
 * a time, and turns share it, so that the ratio of neighbours shows what medians of separate
 * programs cannot.
 *
 * Instantiating is malloc() a node, whose caches the two find in different states: on the CPU
 * device that is -13 % at 10 nodes and -23 % at 100. Without the cache of threads -7 % (0.03 us)
 * and -1 % are left:
 * GLIBC_TUNABLES=glibc.malloc.tcache_count=0 build/cuda/bench/calls 31 graph
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/calls.h"
#include "common/cuda_check.h"
#include "harness/measure/measure.h"
#include "harness/measure/submit.h"
#include "harness/base/param.h"
#include "harness/stats/stats.h"
#include "workloads/workload.h"

enum { TURNS = 15, TURNS_MAX = 1000, FIGURES = 6, BLOCKS = 15, WARMUP = 10 };

/* Figures that are taken together. */
struct group {
	const char *workload;
	const char *args[3]; /* name=value; of a group without rows all but dir and host */
	void (*by_hand)(cudaStream_t stream, int64_t size, double *us);
	int64_t size;
	const char *name[FIGURES],
		*row[FIGURES]; /* of the figure here; of the probe. NULL: a run */
};

/* clang-format off */
static const struct group groups[] = {
	{ "launch", { "probe=yes" }, calls_launch, 0, { "launch call" }, { "launch call" } },
	{ "graph", { "probe=yes", "length=10" }, calls_graph, 10,
	  { "instantiate 10", "graph call 10" }, { "instantiate", "launch call" } },
	{ "graph", { "probe=yes", "length=100" }, calls_graph, 100,
	  { "instantiate 100", "graph call 100" }, { "instantiate", "launch call" } },
	{ "graph", { "probe=yes", "length=1025" }, calls_graph, 1025,
	  { "instantiate 1025", "graph call 1025" }, { "instantiate", "launch call" } },
	{ "transfer", { "probe=quick" }, calls_copy, 4,
	  { "h2d pinned 4 B", "d2h pinned 4 B", "h2d pageable 4 B", "d2h pageable 4 B",
	    "h2d cudaMemcpy 4 B", "d2h cudaMemcpy 4 B" },
	  { "h2d pinned 4 B", "d2h pinned 4 B", "h2d pageable 4 B", "d2h pageable 4 B",
	    "h2d pageable 4 B cudaMemcpy", "d2h pageable 4 B cudaMemcpy" } },
	{ "transfer", { "bytes=64M" }, calls_copy, 64 << 20,
	  { "h2d pinned 64 MiB", "d2h pinned 64 MiB", "h2d pageable 64 MiB",
	    "d2h pageable 64 MiB" }, { NULL } },
	{ "memory", { "probe=yes", "bytes=4M" }, calls_memory, 4 << 20,
	  { "cudaMalloc 4 MiB", "cudaFree 4 MiB" }, { "cudaMalloc", "cudaFree" } },
};
/* clang-format on */

/* ---- by rift -------------------------------------------------------------------------------- */

/* A workload that has been set up. */
struct ready {
	const struct workload *w;
	struct params params;
	void *opts, *state;
};

static struct ready set_up(const struct group *g, const char *const more[2])
{
	struct ready r = { .w = workloads[0] };

	for (int i = 0; strcmp(r.w->name, g->workload); i++)
		CHECK((r.w = workloads[i]), "no workload %s", g->workload);
	r.opts = calloc(1, r.w->opts_size);
	r.state = calloc(1, r.w->state_size);
	CHECK(r.opts && r.state, "memory of %s", g->workload);
	params_init(&r.params, r.w->params, r.w->name, r.opts);
	for (int i = 0; i < 3 && g->args[i]; i++)
		CHECK(!params_assign(&r.params, g->args[i]), "%s", g->args[i]);
	for (int i = 0; i < 2 && more; i++)
		CHECK(!params_assign(&r.params, more[i]), "%s", more[i]);
	CHECK(!r.w->setup(r.opts, r.state), "%s", g->workload);
	return r;
}

static void tear_down(struct ready *r)
{
	r->w->teardown(r->state);
	params_release(&r->params);
	free(r->opts);
	free(r->state);
}

/* Rows of a probe that are in us, as all of them here are. */
static void by_probe(const struct group *g, double *us)
{
	struct ready r = set_up(g, NULL);
	struct report *report = calloc(1, sizeof(*report));

	CHECK(report && !r.w->report(r.opts, r.state, report), "report of %s", g->workload);
	for (int k = 0; k < FIGURES && g->row[k]; k++) {
		us[k] = NAN;
		for (int i = 0; i < report->n; i++)
			if (!strcmp(report->row[i].name, g->row[k]))
				us[k] = report->row[i].value;
	}
	free(report);
	tear_down(&r);
}

/* A step, from blocks of one. */
static double step_us(const struct group *g, const char *const more[2], cudaStream_t stream)
{
	struct ready r = set_up(g, more);
	const struct instance instance = { .workload = r.w,
					   .opts = r.opts,
					   .state = r.state,
					   .stream = stream,
					   .launches = 1,
					   .sync = SYNC_SPIN };
	double us[BLOCKS];
	struct submission s;
	struct block b;

	CHECK(!submission_init(&s, &instance, MODE_STREAM, 1), "submission");
	for (int i = -WARMUP; i < BLOCKS; i++) { /* as many warm up as by hand */
		CHECK(!measure_block(&s, &b), "block");
		us[i < 0 ? 0 : i] = 1e-3 * (double)b.total_ns;
	}
	submission_release(&s);
	tear_down(&r);
	return median_of(us, BLOCKS);
}

static void by_runs(const struct group *g, cudaStream_t stream, double *us)
{
	static const char *const more[][2] = { { "dir=h2d", "host=pinned" },
					       { "dir=d2h", "host=pinned" },
					       { "dir=h2d", "host=pageable" },
					       { "dir=d2h", "host=pageable" } };

	for (int k = 0; k < 4; k++)
		us[k] = step_us(g, more[k], stream);
}

/* ---- in turns ------------------------------------------------------------------------------- */

static void take_turn(const struct group *g, cudaStream_t stream, int turn, double *hand,
		      double *rift)
{
	for (int who = 0; who < 2; who++) {
		CUDA(cudaDeviceSynchronize());
		if ((who + turn) % 2)
			g->by_hand(stream, g->size, hand);
		else if (g->row[0])
			by_probe(g, rift);
		else
			by_runs(g, stream, rift);
	}
}

static void print_figure(const char *name, int turns, const double *hand, const double *rift)
{
	double ratio[TURNS_MAX], centre;
	int lo = (int)fmax(0, (turns - 1.96 * sqrt(turns)) / 2); /* binomial */

	for (int t = 0; t < turns; t++)
		ratio[t] = rift[t] / hand[t];
	centre = median_of(ratio, (size_t)turns); /* sorts */
	printf("%-20s %10.4f %10.4f %+8.2f %%   %+.2f to %+.2f %%\n", name,
	       median_of((double *)hand, (size_t)turns), median_of((double *)rift, (size_t)turns),
	       100 * (centre - 1), 100 * (ratio[lo] - 1), 100 * (ratio[turns - 1 - lo] - 1));
}

static void compare(const struct group *g, cudaStream_t stream, int turns)
{
	static double hand[FIGURES][TURNS_MAX], rift[FIGURES][TURNS_MAX];
	double a[FIGURES], b[FIGURES];

	for (int t = -1; t < turns; t++) { /* the first warms up */
		take_turn(g, stream, t + 1, a, b);
		for (int k = 0; k < FIGURES; k++) {
			hand[k][t < 0 ? 0 : t] = a[k];
			rift[k][t < 0 ? 0 : t] = b[k];
		}
	}
	for (int k = 0; k < FIGURES && g->name[k]; k++)
		print_figure(g->name[k], turns, hand[k], rift[k]);
	fflush(stdout);
}

/* Opens the device as the harness does: flags first. */
int main(int argc, char **argv)
{
	int turns = argc > 1 ? atoi(argv[1]) : TURNS;
	struct cudaDeviceProp prop;
	cudaStream_t stream;

	if (turns < 5 || turns > TURNS_MAX) {
		fprintf(stderr, "calls: TURNS=%s: 5 to %d\n", argv[1], (int)TURNS_MAX);
		return 3;
	}
	CUDA(cudaGetDeviceProperties(&prop, 0));
	if (prop.major)
		CUDA(cudaSetDeviceFlags(cudaDeviceScheduleSpin));
	CUDA(cudaSetDevice(0));
	CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	printf("%s%s\n\nus, medians of %d turns\n%-20s %10s %10s %10s   %s\n", prop.name,
	       prop.major ? "" : ": these are not GPU figures", turns, "call", "by hand", "rift",
	       "ratio - 1", "95 % interval");
	for (size_t i = 0; i < sizeof(groups) / sizeof(*groups); i++)
		if ((argc < 3 || !strcmp(argv[2], groups[i].workload)) &&
		    (argc < 4 || atoll(argv[3]) == groups[i].size))
			compare(&groups[i], stream, turns);
	CUDA(cudaStreamDestroy(stream));
	return 0;
}
