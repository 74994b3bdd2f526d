/*
 * test_launch_probe.c - probe=yes: every row has a figure with its n, or a reason; a launch queue
 * that ends is found; nothing hangs. No time is judged beyond > 0.
 */
#include "tests/plain.h"
#include "common/latch.h"
#include "tests/races.h"
#include "tests/rows.h"
#include "workloads/launch/probe.h"
#include "workloads/launch/test_steps.h"

#include <dlfcn.h>
#include <sched.h>

TestSuite(small_launch_probe, .timeout = 300);

/* ---- a layer below that misbehaves ------------------------------------------------------ */

static const void *counted; /* launches of this kernel are counted */
static int launches;	    /* of it, behind the one that holds the stream */
static int room = -1;	    /* so many fit, -1: any */
static int lost = -1;	    /* number of the launch that is lost, -1: none */
static bool silent;	    /* the kernel that is to tell the host tells nothing */
static bool held, waits;    /* the holder was launched; each launch waits for its end */
static uint32_t *words;	    /* the latch's mapped memory: the last one that was asked for */

typedef cudaError_t launch_fn(const void *, dim3, dim3, void **, size_t, cudaStream_t);
typedef cudaError_t alloc_fn(void **, size_t, unsigned);

cudaError_t cudaHostAlloc(void **p, size_t bytes, unsigned flags)
{
	alloc_fn *real = (alloc_fn *)dlsym(RTLD_NEXT, "cudaHostAlloc");
	cudaError_t err = real(p, bytes, flags);

	words = (uint32_t *)*p;
	return err;
}

static void wait_for_the_watchdog(void)
{
	while (!__atomic_load_n(words, __ATOMIC_ACQUIRE))
		sched_yield();
}

cudaError_t cudaLaunchKernel(const void *func, dim3 grid, dim3 block, void **args, size_t shared,
			     cudaStream_t stream)
{
	launch_fn *real = (launch_fn *)dlsym(RTLD_NEXT, "cudaLaunchKernel");
	cudaError_t err;

	if (func == counted && !lost--)
		return cudaSuccess;
	if (func == launch_teller() && silent)
		return cudaSuccess;
	if (func == counted && held && launches++ == room)
		wait_for_the_watchdog();
	held = held || func == latch_kernel();
	err = real(func, grid, block, args, shared, stream);
	if (waits && func == latch_kernel())
		cudaStreamSynchronize(stream);
	return err;
}

/* ---- rows ------------------------------------------------------------------------------- */

static struct report report;

static int probe_as(struct launch_opts o, int probing)
{
	struct run *r;
	int err;

	o.probe = probing;
	r = run_begin(o);
	counted = r->s.kernel;
	memset(&report, 0, sizeof(report));
	err = workload_launch.report(&r->o, &r->s, &report);
	run_end(r);
	return err;
}

static int probe(struct launch_opts o)
{
	return probe_as(o, LAUNCH_PROBE_YES);
}

/* A fifth of the samples, where they do not matter. */
static int probe_quickly(void)
{
	return probe_as(default_opts(), LAUNCH_PROBE_QUICK);
}

static const struct report_row *row(const char *name)
{
	return report_row(&report, name);
}

static bool on_gpu(void)
{
	struct cudaDeviceProp prop;

	CUDA(cudaGetDeviceProperties(&prop, 0));
	return prop.major > 0;
}

/* A figure with its n; on the CPU device, for some, the reason why there is none. */
static void has_figure(const char *name, int64_t n, bool gpu_only)
{
	const struct report_row *r = row(name);

	if (gpu_only && !on_gpu())
		cr_assert(!strncmp(r->text, "not applicable: ", 16) && !r->n, "%s: %s", name,
			  r->text);
	else
		cr_assert(!*r->text && r->value > 0 && isfinite(r->value) && r->n == n && *r->unit,
			  "%s: %g, n=%ld, %s", name, r->value, (long)r->n, r->text);
}

static void has_all_rows(void)
{
	static const char *const sampled[] = { "idle stream sync", "idle device sync",
					       "idle event sync",  "idle stream query",
					       "event record",	   "to stream sync",
					       "to device sync",   "to event sync",
					       "to stream query",  "to mapped flag" };

	has_figure("first launch", 1, true);
	has_figure("next first launch", LAUNCH_FIRSTS - 1, true);
	has_figure("launch call", PROBE_BLOCKS, false);
	has_figure("launch pace", PROBE_BLOCKS, false);
	for (size_t i = 0; i < sizeof(sampled) / sizeof(*sampled); i++)
		has_figure(sampled[i], PROBE_SAMPLES, false);
	has_figure("cycles per us", 11, true);
	cr_assert(*row("launch queue")->text || row("launch queue")->n == 1, "launch queue");
	cr_assert(row("device gap")->n > 1 && isfinite(row("device gap")->value), "gap");
	cr_assert(report.n == 17, "%d rows", report.n);
}

Test(small_launch_probe, every_row_has_a_figure_or_a_reason)
{
	need_device();
	cr_assert(!probe(default_opts()), "empty");
	has_all_rows();
}

Test(small_launch_probe, of_any_kernel)
{
	struct launch_opts o = opts_for(LAUNCH_FILL_WORK, 1, 1);

	need_device();
	if (RACES)
		return;
	o.args = LAUNCH_ARGS_4096;
	o.entry = LAUNCH_ENTRY_LAUNCHEX;
	cr_assert(!probe(o), "work");
	has_all_rows();
}

/* ---- the queue -------------------------------------------------------------------------- */

Test(small_launch_probe, a_queue_that_ends_is_found_and_let_go)
{
	need_device();
	room = 100;
	cr_assert(!probe_quickly(), "probe");
	cr_assert(row("launch queue")->value == 100 && row("launch queue")->n == 1, "%g, %s",
		  row("launch queue")->value, row("launch queue")->text);
}

Test(small_launch_probe, a_platform_whose_launches_wait_has_no_queue)
{
	need_device();
	waits = true;
	cr_assert(!probe_quickly(), "probe");
	cr_assert(!strncmp(row("launch queue")->text, "not measured: a launch waits", 28), "%s",
		  row("launch queue")->text);
}

/* ---- kernels that do not run ------------------------------------------------------------ */

Test(small_launch_probe, a_lost_launch_is_noticed)
{
	const char *text;
	int err;

	need_device();
	lost = 1000;
	divert_stderr();
	err = probe_quickly();
	text = diverted_stderr();
	cr_assert(err == -EIO && is_one_complaint(text) && strstr(text, "runs"), "%d: %s", err,
		  text);
}

/* The planted deadlock of the flag: the host polls for what never comes, and gives up. */
Test(small_launch_probe, a_flag_that_never_comes_is_not_waited_for)
{
	int err;

	need_device();
	if (RACES)
		return;
	silent = true;
	err = probe_quickly();
	cr_assert(!err, "the other rows are measured: %d", err);
	cr_assert(strstr(row("to mapped flag")->text, "not supported"), "%s",
		  row("to mapped flag")->text);
}
