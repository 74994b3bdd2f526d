/*
 * test_memory_options.c - what the memory workload offers and refuses, and the rows of probe=quick.
 */
#include "tests/plain.h"
#include "common/cuda_check.h"
#include "tests/cli.h"
#include "tests/rows.h"
#include "workloads/memory/measure.h"
#include "workloads/memory/test_lost.h"

TestSuite(small_memory_options, .timeout = 300);

/* ---- limits ------------------------------------------------------------------------------ */

static struct limits find_limits(enum memory_call call)
{
	struct memory_opts o = { .bytes = 4096, .call = call };
	struct limits l = { 0 };

	cr_assert(!workload_memory.limits(&o, &l), "limits");
	return l;
}

Test(small_memory_options, only_single_calls_are_steps)
{
	cr_assert(find_limits(MEMORY_MALLOC).mode_refused[MODE_GRAPH], "graph");
	cr_assert(!find_limits(MEMORY_MALLOC).mode_refused[MODE_STREAM], "stream");
	cr_assert(find_limits(MEMORY_MALLOC).depth_max == 64 && !workload_memory.fused, "depth");
	cr_assert(find_limits(MEMORY_MISS).depth_max == 1, "the second one would not miss");
}

static void is_refused(enum memory_call call, int64_t bytes, const char *says)
{
	struct memory_opts o = { .bytes = bytes, .call = call };
	struct memory_state s = { 0 };
	const char *text;
	int err;

	divert_stderr();
	err = workload_memory.setup(&o, &s);
	text = diverted_stderr();
	workload_memory.teardown(&s);
	cr_assert(err == -ENOMEM && is_one_complaint(text) && strstr(text, says), "%d: %s", err,
		  text);
}

Test(small_memory_options, more_than_there_is_is_refused_with_the_numbers)
{
	need_device();
	is_refused(MEMORY_MALLOC, 1ll << 40, "bytes=1099511627776: takes 1099511627776 bytes");
	is_refused(MEMORY_ASYNC, 1ll << 40, "80 %");
	is_refused(MEMORY_PINNED, 1ll << 50, "host");
	is_refused(MEMORY_REGISTER, 1ll << 50, "host");
}

/* ---- probe ------------------------------------------------------------------------------ */

static struct report report;

static const struct report_row *row(const char *name)
{
	return report_row(&report, name);
}

static void has_figure(const char *name, int64_t n)
{
	const struct report_row *r = row(name);

	cr_assert(!*r->text && r->value > 0 && r->n >= n && !strcmp(r->unit, "us"), "%s: %g, n=%ld",
		  name, r->value, (long)r->n);
}

Test(small_memory_options, the_probe_has_a_figure_for_every_call)
{
	static const char *const takes[] = { "cudaMalloc", "cudaMallocAsync", "cudaMallocHost",
					     "cudaHostRegister" };
	static const char *const gives[] = { "cudaFree", "cudaFreeAsync", "cudaFreeHost",
					     "cudaHostUnregister" };
	static const char *const others[] = {
		"cudaMalloc, busy",	      "cudaFree, busy",
		"cudaMallocAsync, busy",      "cudaFreeAsync, busy",
		"device memory, first touch", "device memory, next touch",
		"host memory, first touch",   "host memory, next touch"
	};
	struct memory_opts o = { .bytes = 64 << 10, .probe = MEMORY_QUICK };
	struct memory_state s = { 0 };
	char name[64];

	need_device();
	cr_assert(!workload_memory.setup(&o, &s) && !workload_memory.report(&o, &s, &report),
		  "probe");
	for (size_t i = 0; i < sizeof(takes) / sizeof(*takes); i++) {
		has_figure(takes[i], 5);
		has_figure(gives[i], 5);
		snprintf(name, sizeof(name), "%s, first", takes[i]);
		has_figure(name, 1);
		snprintf(name, sizeof(name), "%s, p99", gives[i]);
		has_figure(name, 5);
		cr_assert(row(name)->value >= row(gives[i])->value, "%s", name);
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		has_figure(others[i], 5);
	if (memory_call_refused(MEMORY_MISS))
		cr_assert(
			!strncmp(row("cudaMallocAsync, empty pool")->text, "not applicable: ", 16),
			"a reason, and no 0");
	else
		has_figure("cudaMallocAsync, empty pool", 5);
	workload_memory.teardown(&s);
}

/* On a device where freeing waits for kernels, it does so for this one; it always ends. */
Test(small_memory_options, kernels_that_keep_the_device_busy_run_and_end)
{
	struct measure_plan plan;
	struct measure_pair m;

	need_device();
	memory_measure_init(&plan, true);
	plan.samples = 5;
	cr_assert(!memory_measure_pair(&plan, MEMORY_MALLOC, 4096, 300, &m), "busy");
	cr_assert(plan.ran == 2 * 6, "%llu kernels", plan.ran);
	cr_assert(!memory_measure_release(&plan), "as many as they counted");
}

/* Where one is lost, what was to be measured beside it was not. */
Test(small_memory_options, a_kernel_that_is_lost_ends_the_probe)
{
	struct measure_plan plan;
	struct measure_pair m;
	const char *text;
	int err;

	need_device();
	memory_measure_init(&plan, true);
	plan.samples = 5;
	lost = 3;
	cr_assert(!memory_measure_pair(&plan, MEMORY_MALLOC, 4096, 300, &m), "busy");
	divert_stderr();
	err = memory_measure_release(&plan);
	text = diverted_stderr();
	cr_assert(err == -EIO && is_one_complaint(text) && strstr(text, "11 ran, not 12"), "%d: %s",
		  err, text);
}

Test(small_memory_options, a_pool_that_cannot_be_empty_is_no_mode)
{
	need_device();
	if (!memory_call_refused(MEMORY_MISS))
		cr_skip("the pool can be empty here");
	refused(3, "memory ", "run memory call=miss");
}
