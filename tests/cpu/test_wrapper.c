/*
 * test_wrapper.c - a preloaded wrapper (wrapper.c) sees every call of the real binary, and the
 * same ones on both devices. What it logs must be exactly what the harness says it did.
 */
#include "tests/test.h"
#include "tests/cli.h"
#include "tests/wrapped.h"
#include "workloads/myocyte/device.h"

#include <jansson.h>

TestSuite(small_wrapper, .timeout = 300);

enum { DEPTH = 4, BLOCKS = 2 };

#define ATTEMPTS "cudaLaunchKernel myocyte_attempts_double "
#define START "cudaLaunchKernel myocyte_start_cells_double "
#define SYNC "cudaStreamSynchronize = 0"

/*
 * Runs rift under the wrapper; returns the number of blocks of the mode, warm-up included. Left to
 * itself the workload launches other kernels on a GPU.
 */
static long run_logged(struct log *log, const char *mode)
{
	const char *out;
	json_t *o;
	long warmup;

	out = run_wrapped(log,
			  "'%s' run myocyte spread=thread --depth %d --check-steps %d --samples %d "
			  "--mode %s --json 2>/dev/null",
			  rift(), (int)DEPTH, (int)DEPTH, (int)BLOCKS, mode);
	o = json_loads(out, 0, NULL);
	warmup = (long)json_integer_value(json_object_get(json_object_get(o, "warmup"), "blocks"));
	cr_assert(lt(long, 1, warmup), "%s", out);
	json_decref(o);
	return warmup + BLOCKS;
}

static int count_lines(const struct log *log, const char *prefix)
{
	int n = 0;

	for (int i = 0; i < log->n; i++)
		n += !strncmp(log->line[i], prefix, strlen(prefix));
	return n;
}

/* Steps over lines with that prefix and returns how many there were. */
static int skip(struct log *log, const char *prefix)
{
	int from = log->at;

	while (!strncmp(log->line[log->at], prefix, strlen(prefix)))
		log->at++;
	return log->at - from;
}

/*
 * Counts blocks of n lines with that prefix: reset, synchronize, the lines, synchronize, and
 * nothing else in between. Others, of the fused mode, launch once; a reset before a capture begins
 * none.
 */
static int count_blocks(struct log *log, const char *prefix, int n)
{
	int found = 0;

	for (log->at = 0; log->at < log->n;) {
		if (!skip(log, START)) {
			log->at++;
			continue;
		}
		if (skip(log, "cudaStreamBeginCapture"))
			continue;
		cr_assert(eq(int, skip(log, SYNC), 1), "line %d", log->at);
		int steps = skip(log, prefix), launches = skip(log, ATTEMPTS);

		cr_assert(eq(int, skip(log, SYNC), 1), "line %d: %s", log->at, log->line[log->at]);
		cr_assert(eq(int, steps == n || steps + launches == 1, 1), "line %d: %d, %d",
			  log->at, steps, launches);
		found += steps == n && !launches;
	}
	return found;
}

static void calls_succeeded(const struct log *log)
{
	for (int i = 0; i < log->n; i++) {
		const char *end = strstr(log->line[i], " = ");

		cr_assert(end && !strcmp(end, " = 0"), "line %d: %s", i, log->line[i]);
	}
	cr_assert(eq(int, count_lines(log, "cudaMalloc "), count_lines(log, "cudaFree = ")),
		  "memory");
	/* rift copies synchronously: what the runtime calls inside is not to be seen */
	cr_assert(zero(int, count_lines(log, "cudaMemcpyAsync")), "cudaMemcpyAsync");
}

/* Names and sizes, as the runtime itself tells them. */
static void kernel_is_described(const struct log *log)
{
	char want[256];

	snprintf(want, sizeof(want), ATTEMPTS "grid 1,1,1 block %d,1,1 shared 0 params %zu,%zu = 0",
		 (int)MYOCYTE_BLOCK, sizeof(struct myocyte_cells), sizeof(int64_t));
	cr_assert(eq(int, count_lines(log, ATTEMPTS), count_lines(log, want)), "no '%s'", want);
	cr_assert(eq(int, count_lines(log, "cudaLaunchKernel myocyte_"),
		     count_lines(log, "cudaLaunchKernel")),
		  "kernels of no name");
}

Test(small_wrapper, stream_mode_launches_each_step)
{
	struct log log;
	long blocks;

	need_device();
	blocks = run_logged(&log, "stream");
	calls_succeeded(&log);
	kernel_is_described(&log);
	cr_assert(eq(int, count_blocks(&log, ATTEMPTS, DEPTH), (int)blocks), "blocks");
	cr_assert(zero(int, count_lines(&log, "cudaGraphLaunch")), "graphs");
	log_release(&log);
}

Test(small_wrapper, graph_mode_captures_once_and_launches_graphs)
{
	struct log log;
	long blocks;

	need_device();
	blocks = run_logged(&log, "graph");
	calls_succeeded(&log);
	kernel_is_described(&log);
	cr_assert(eq(int, count_blocks(&log, "cudaGraphLaunch = 0", 1), (int)blocks), "blocks");
	cr_assert(eq(int, count_lines(&log, "cudaGraphLaunch"), (int)blocks), "graph launches");
	cr_assert(eq(int, count_lines(&log, "cudaStreamBeginCapture mode 0"), 1), "captures");
	cr_assert(eq(int, count_lines(&log, "cudaGraphInstantiate flags 0 = 0"), 1),
		  "instantiated");
	for (log.at = 0; !skip(&log, "cudaStreamBeginCapture"); log.at++)
		cr_assert(lt(int, log.at, log.n), "no capture");
	cr_assert(eq(int, skip(&log, ATTEMPTS), DEPTH), "steps in the graph");
	cr_assert(eq(int, skip(&log, "cudaStreamEndCapture"), 1), "%s", log.line[log.at]);
	log_release(&log);
}
