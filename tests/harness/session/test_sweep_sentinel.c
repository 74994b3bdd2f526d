/*
 * test_sweep_sentinel.c - harness/session/worker.h: how a worker times a launch and a synchronize
 * before its first configuration and after the last one. Both are to be warm and pinned, or they
 * cannot be compared. The worker is this process; its launches and its pinning are seen here. No
 * time is judged.
 */
#include "tests/test.h"
#include "harness/base/command.h"
#include "harness/base/json.h"
#include "harness/measure/plan_record.h"
#include "harness/session/worker.h"
#include "tests/cli.h"
#include "tests/on_cpu.h"

#include <dlfcn.h>
#include <sched.h>

TestSuite(small_sweep_sentinel, .timeout = 300);

/* ---- what is seen of the worker ----------------------------------------------------------- */

/* One launch a letter: of nothing, of a canary, of anything else; capital where it is pinned. */
enum { LAUNCHES = 1 << 20 };
static char seen[LAUNCHES];
static int n_seen;
static bool pinned;
static const void *nothing_kernel, *canary_kernel, *last_kernel;

/* In place of the library's: of four processors, whatever this machine has. */
int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set)
{
	(void)pid;
	(void)size;
	CPU_ZERO(set);
	for (int i = 0; i < 4; i++)
		CPU_SET(i, set);
	return 0;
}

int sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *set)
{
	(void)pid;
	(void)size;
	pinned = CPU_COUNT(set) == 1;
	return 0;
}

/* In front of CUDA's own. */
cudaError_t cudaLaunchKernel(const void *kernel, struct dim3 grid, struct dim3 block, void **args,
			     size_t shared, cudaStream_t stream)
{
	cudaError_t (*real)(const void *, struct dim3, struct dim3, void **, size_t, cudaStream_t) =
		(cudaError_t(*)(const void *, struct dim3, struct dim3, void **, size_t,
				cudaStream_t))dlsym(RTLD_NEXT, "cudaLaunchKernel");
	char what = kernel == nothing_kernel ? 'n' : kernel == canary_kernel ? 'c' : 'x';

	last_kernel = kernel;
	if (n_seen < LAUNCHES)
		seen[n_seen++] = (char)(pinned ? what - 'a' + 'A' : what);
	return real(kernel, grid, block, args, shared, stream);
}

static void learn_kernels(void)
{
	struct canary c;
	cudaStream_t stream;

	cr_assert(zero(int, cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking)), "stream");
	canary_init(&c, stream, !ON_CPU);
	canary_nothing(&c);
	nothing_kernel = last_kernel;
	canary_run(&c);
	canary_kernel = last_kernel;
	canary_release(&c);
	cudaStreamDestroy(stream);
	n_seen = 0;
}

/* ---- a worker ----------------------------------------------------------------------------- */

/* One configuration of launch, at one depth. */
static json_t *job(void)
{
	const struct workload *w[] = { workload_find("launch"), NULL };
	struct plan_request r = { .workload = w,
				  .size = "1",
				  .depth = "3",
				  .mode = "stream",
				  .design = design_of(true) };
	struct plan p;
	json_t *o;

	cr_assert(zero(int, plan_make(&p, &r)), "plan");
	o = json_pack("{s:s, s:o, s:i, s:i, s:s, s:[], s:[]}", "job", "measure", "plan",
		      plan_json(&p), "process", 0, "side", 0, "sync", "yield", "done", "skip");
	cr_assert(ne(ptr, o, NULL), "job");
	plan_release(&p);
	return o;
}

static void work(void)
{
	static const struct worker_job none[] = { { 0 } };
	char path[] = "/tmp/rift_sentinel_XXXXXX";
	json_t *o = job();

	close(mkstemp(path));
	cr_assert(zero(int, json_dump_file(o, path, 0)), "%s", path);
	json_decref(o);
	cr_assert(ne(ptr, freopen(path, "r", stdin), NULL), "%s", path);
	unlink(path);
	cr_assert(ne(ptr, freopen("/dev/null", "w", stdout), NULL), "stdout");
	cr_assert(zero(int, worker_main(none)), "worker");
}

/* Launches of this kind from one place on to another. */
static int count(char what, int from, int to)
{
	int n = 0;

	for (int i = from; i < to; i++)
		n += seen[i] == what;
	return n;
}

/* The next launch of one of these kinds, forwards or backwards. */
static int next_of(const char *kinds, int from, int step)
{
	int i = from;

	while (i >= 0 && i < n_seen && !strchr(kinds, seen[i]))
		i += step;
	return i;
}

Test(small_sweep_sentinel, before_and_after_are_warm_and_pinned)
{
	int first, last, reference;

	need_device();
	learn_kernels();
	work();
	/* each of the harness's own kernels was run once, the canary last of all */
	reference = next_of("cC", 0, 1) + 1;
	/* kernels of no known kind are the workload's */
	first = next_of("xX", reference, 1);
	last = next_of("xX", n_seen - 1, -1);
	cr_assert(lt(int, first, last), "a workload was measured: %.200s", seen);
	cr_assert(le(int, WARM_CANARIES, count('C', reference, first)), "it is warm");
	cr_assert(lt(int, 0, count('N', reference, first)), "before");
	cr_assert(zero(int, count('n', reference, first)), "pinned");
	for (int i = reference; i < first; i++)
		cr_assert(seen[i] == 'C' || count('C', i, first) == 0, "warm before it is timed");
	cr_assert(lt(int, 0, count('N', last, n_seen)), "after");
	cr_assert(zero(int, count('n', last, n_seen)), "pinned, too");
}
