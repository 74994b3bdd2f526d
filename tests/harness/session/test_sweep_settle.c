/*
 * test_sweep_settle.c - between the set-up of a further configuration and its first visit a worker
 * lets the device's clock settle: blocks, each followed by a canary, until that takes what it did.
 * Here what canaries take is chosen, in front of the CPU device's own calls.
 */
/* sanitizers: seen elsewhere */
#include "tests/test.h"
#include "harness/base/command.h"
#include "harness/measure/plan_record.h"
#include "harness/session/worker.h"
#include "tests/cli.h"
#include "tests/on_cpu.h"

#include <dlfcn.h>
#include <sys/wait.h>

TestSuite(small_sweep_settle, .timeout = 120);

enum { USUAL_NS = 200000, MORE = 8 };

/* Shares of the usual time that canaries take once the second configuration has its memory; 0:
 * the usual time from there on. */
static double share[MORE];
static int blocks, canaries, second; /* canaries since the first block */

/* What the worker did since then: 'b' a copy of a block, 'c' a canary, 'n' a kernel that does
 * nothing; what follows its like is left out. */
static char said[64];

static void note(char what)
{
	size_t n = strlen(said);

	if (second && n + 1 < sizeof(said) && (!n || said[n - 1] != what))
		said[n] = what;
}

static int64_t canary_takes(void)
{
	int at = second++ - 1;

	return (int64_t)(USUAL_NS * (at < MORE && share[at] > 0 ? share[at] : 1));
}

#define REAL(call, ...) ((cudaError_t(*)(__VA_ARGS__))dlsym(RTLD_NEXT, call))

cudaError_t cudaMalloc(void **out, size_t bytes)
{
	if (canaries > WARM_CANARIES && !second) /* the warm-up is over */
		second = 1;
	return REAL("cudaMalloc", void **, size_t)(out, bytes);
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
			    cudaStream_t stream)
{
	note('b');
	blocks++;
	return REAL("cudaMemcpyAsync", void *, const void *, size_t, enum cudaMemcpyKind,
		    cudaStream_t)(to, from, bytes, kind, stream);
}

static bool is_canary(struct dim3 grid, void **args)
{
	return grid.x == 1 && args[0] && *(int32_t *)args[0] == CANARY_CYCLES;
}

cudaError_t cudaLaunchKernel(const void *kernel, struct dim3 grid, struct dim3 block, void **args,
			     size_t shared, cudaStream_t stream)
{
	cudaError_t err = REAL("cudaLaunchKernel", const void *, struct dim3, struct dim3, void **,
			       size_t, cudaStream_t)(kernel, grid, block, args, shared, stream);

	if (!is_canary(grid, args)) {
		note('n');
		return err;
	}
	note('c');
	canaries += blocks > 0;
	cudaStreamSynchronize(stream);
	**(int64_t **)args[2] = second ? canary_takes() : USUAL_NS;
	return err;
}

/* Two sizes of copies, a visit each. */
static json_t *job(void)
{
	const struct workload *const transfer[] = { workload_find("transfer"), NULL };
	struct plan_request r = { .workload = transfer,
				  .size = "4k,8k",
				  .depth = "1",
				  .mode = "stream",
				  .design = design_of(true) };
	struct plan p;
	json_t *o;

	r.design.rounds = r.design.processes = 1;
	r.design.warmup_min_ns = r.design.warmup_max_ns = 1000000;
	cr_assert(zero(int, plan_make(&p, &r)), "plan");
	o = json_pack("{s:s, s:o, s:i, s:i, s:[], s:[], s:n, s:b, s:b, s:i}", "job", "measure",
		      "plan", plan_json(&p), "process", 0, "side", 0, "done", "skip", "canary_ns",
		      "check_all", 0, "takes_turns", 0, "alone", 0);
	plan_release(&p);
	return o;
}

/* What a worker of this job did, with canaries of these times. */
static const char *done(const double *shares, int n)
{
	static const struct worker_job others[] = { { NULL, NULL } };
	static char text[sizeof(said)];
	int to[2], from[2], status;
	json_t *o = job();
	FILE *in;
	pid_t pid;

	memcpy(share, shares, (size_t)n * sizeof(*share));
	cr_assert(zero(int, pipe(to)));
	cr_assert(zero(int, pipe(from)));
	pid = fork();
	if (!pid) {
		int err;

		dup2(to[0], STDIN_FILENO);
		close(to[1]);
		cr_assert(ne(ptr, freopen("/dev/null", "w", stdout), NULL));
		err = worker_main(others);
		if (write(from[1], said, sizeof(said)) != (ssize_t)sizeof(said))
			err = -1;
		_exit(err ? 1 : 0);
	}
	in = fdopen(to[1], "w");
	json_dumpf(o, in, JSON_COMPACT);
	fputc('\n', in);
	fflush(in);
	cr_assert(eq(i64, read(from[0], text, sizeof(text)), sizeof(text)), "it has ended");
	fclose(in);
	cr_assert(eq(int, waitpid(pid, &status, 0), pid));
	cr_assert(zero(int, status), "status %d", status);
	json_decref(o);
	return text;
}

static void does(const double *shares, int n, const char *want)
{
	const char *text = done(shares, n);

	cr_expect(eq(int, strncmp(text, want, strlen(want)), 0), "%s, not %s", text, want);
}

/* After what the set-up launches first the block that prepares it; each that follows is for the
 * clock; then a launch is timed. */
Test(small_sweep_settle, blocks_until_a_canary_takes_what_it_should)
{
	need_device();
	if (!ON_CPU)
		cr_skip("holds for the CPU device only: what a kernel writes can be changed");
	does((const double[]){ 1 }, 1, "nbcn");
	does((const double[]){ 1.015 }, 1, "nbcn");
	does((const double[]){ 0.985 }, 1, "nbcn");
	does((const double[]){ 1.03, 1.03, 0.97, 1 }, 4, "nbcbcbcbcn");
}
