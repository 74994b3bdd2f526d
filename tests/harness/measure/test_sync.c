/*
 * test_sync.c - harness/measure/submit.h: each way to wait makes the calls it is named after, and
 * the device's flag is set before anything opens the device.
 */
#include "tests/test.h"
#include "common/cuda_check.h"
#include "harness/measure/measure.h"
#include "harness/measure/run.h"
#include "tests/cli.h"
#include "tests/fake_workload.h"

#include <dlfcn.h>
#include <time.h>

TestSuite(small_sync, .timeout = 300);

/* cudaError_t NAME declaration: notes LETTER, then calls CUDA's own NAME with args. */
#define TAKE_OVER(name, letter, declaration, args)                                                 \
	cudaError_t name declaration                                                               \
	{                                                                                          \
		cudaError_t(*real) declaration =                                                   \
			(cudaError_t(*) declaration)dlsym(RTLD_NEXT, #name);                       \
                                                                                                   \
		fake_note(letter);                                                                 \
		return real args;                                                                  \
	}

static unsigned flags_set;
static bool refuse_flags;

TAKE_OVER(cudaStreamSynchronize, 'S', (cudaStream_t stream), (stream))
TAKE_OVER(cudaStreamQuery, 'Q', (cudaStream_t stream), (stream))
TAKE_OVER(cudaEventRecord, 'r', (cudaEvent_t event, cudaStream_t stream), (event, stream))
TAKE_OVER(cudaEventSynchronize, 'E', (cudaEvent_t event), (event))
TAKE_OVER(cudaSetDevice, 'd', (int device), (device))

cudaError_t cudaSetDeviceFlags(unsigned flags)
{
	fake_note('f');
	flags_set = flags;
	return refuse_flags ? cudaErrorNotSupported : cudaSuccess;
}

/* ---- a block ---------------------------------------------------------------------------- */

static void slow(void *unused)
{
	const struct timespec ms = { 0, 1000000 };

	(void)unused;
	nanosleep(&ms, NULL);
}

/* The calls of a block of two steps, runs of the same call as one. */
static const char *calls_of(enum wait_policy kind)
{
	static char order[64];
	struct fake_opts opts = { .launches = 1 };
	struct instance s = { .workload = &workload_fake, .opts = &opts, .launches = 1 };
	struct submission sub;
	struct block b;
	size_t n = 0;

	s.sync = kind;
	s.event = sync_event(kind);
	s.state = calloc(1, workload_fake.state_size);
	CUDA(cudaStreamCreateWithFlags(&s.stream, cudaStreamNonBlocking));
	cr_assert(zero(int, submission_init(&sub, &s, MODE_STREAM, 2)), "init");
	memset(&fake_log, 0, sizeof(fake_log));
	cr_assert(zero(int, measure_block(&sub, &b)), "block");
	for (const char *c = fake_log.order; *c; c++)
		if (!n || order[n - 1] != *c)
			order[n++] = *c;
	order[n] = '\0';
	/* and it has waited: what comes after the wait is not noted in between */
	cr_assert(eq(int, cudaStreamQuery(s.stream), cudaSuccess), "%s", sync_names[kind]);
	if (s.event)
		CUDA(cudaEventDestroy(s.event));
	CUDA(cudaStreamDestroy(s.stream));
	free(s.state);
	return order;
}

Test(small_sync, a_block_ends_with_the_calls_of_its_kind)
{
	need_device();
	cr_assert(eq(str, (char *)calls_of(SYNC_SPIN), "RSsS"), "spin");
	cr_assert(eq(str, (char *)calls_of(SYNC_YIELD), "RSsS"), "yield");
	cr_assert(eq(str, (char *)calls_of(SYNC_BLOCKING), "RSsS"), "blocking");
	cr_assert(eq(str, (char *)calls_of(SYNC_EVENT), "RSsrE"), "event");
	cr_assert(eq(str, (char *)calls_of(SYNC_POLL), "RSsQ"), "poll");
}

Test(small_sync, each_kind_waits_to_the_end_and_leaves_no_error)
{
	cudaStream_t stream;

	need_device();
	CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	for (int kind = 0; kind < SYNC_COUNT; kind++) {
		cudaEvent_t event = sync_event((enum wait_policy)kind);

		CUDA(cudaLaunchHostFunc(stream, slow, NULL));
		sync_wait((enum wait_policy)kind, stream, event);
		cr_assert(eq(int, cudaPeekAtLastError(), cudaSuccess), "%s", sync_names[kind]);
		cr_assert(eq(int, cudaStreamQuery(stream), cudaSuccess), "%s", sync_names[kind]);
		cr_assert(eq(int, event != NULL, kind == SYNC_EVENT), "%s", sync_names[kind]);
		if (event)
			CUDA(cudaEventDestroy(event));
	}
	CUDA(cudaStreamDestroy(stream));
}

/* ---- the device's flag ------------------------------------------------------------------ */

static struct run run;
static struct params params, options;

/* A run of the fake with one more option, or NULL for none. */
static int run_with(const char *option)
{
	static struct fake_opts opts;
	static struct run_options values;
	int err;

	memset(&opts, 0, sizeof(opts));
	memset(&values, 0, sizeof(values));
	memset(&fake_log, 0, sizeof(fake_log));
	params_init(&params, workload_fake.params, "fake", &opts);
	params_init(&options, run_option_rows, "rift run", &values);
	params_assign(&options, "samples=1");
	params_assign(&options, "depth=1");
	if (option)
		cr_assert(zero(int, params_assign(&options, option)), "%s", option);
	run = (struct run){ .workload = &workload_fake, .params = &params, .options = &options };
	err = run_execute(&run);
	return err;
}

Test(small_sync, flags_are_set_before_the_device_is_opened)
{
	static const unsigned want[SYNC_COUNT] = {
		cudaDeviceScheduleSpin, cudaDeviceScheduleYield, cudaDeviceScheduleBlockingSync,
		cudaDeviceScheduleSpin, cudaDeviceScheduleSpin,
	};
	char option[32];

	need_device();
	for (int kind = 0; kind < SYNC_COUNT; kind++) {
		snprintf(option, sizeof(option), "sync=%s", sync_names[kind]);
		cr_assert(zero(int, run_with(option)), "%s", option);
		cr_assert(eq(int, run.instance.sync, kind), "%s", option);
		cr_assert(eq(uint, flags_set, want[kind]), "%s", option);
		cr_assert(zero(int, strncmp(fake_log.order, "fd", 2)), "%s: %.16s", option,
			  fake_log.order);
		run_release(&run);
	}
}

Test(small_sync, without_the_option_it_is_spin_on_a_gpu_and_yield_here)
{
	need_device();
	cr_assert(zero(int, run_with(NULL)), "run");
	cr_assert(eq(int, run.instance.sync, run.platform.is_gpu ? SYNC_SPIN : SYNC_YIELD), "kind");
	run_release(&run);
}

Test(small_sync, a_device_that_refuses_the_flag_is_one_line)
{
	const char *text;
	int err;

	need_device();
	refuse_flags = true;
	divert_stderr();
	err = run_with("sync=blocking");
	text = diverted_stderr();
	cr_assert(eq(int, err, -ENOTSUP), "%s", text);
	cr_assert(is_one_complaint(text), "%s", text);
	cr_assert(ne(ptr, strstr(text, "--sync=blocking"), NULL), "%s", text);
	run_release(&run);
}
