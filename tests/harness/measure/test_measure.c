/*
 * test_measure.c - harness/measure/submit.h and measure.h: exactly depth steps a block in each
 * mode, in the right order, with nothing between the clocks but the steps.
 *
 * The CUDA calls that matter are taken over here, noted in order, and passed on.
 */
#include "tests/test.h"
#include "common/interrupt.h"
#include "harness/measure/measure.h"
#include "harness/measure/overhead.h"
#include "harness/measure/submit.h"
#include "tests/cli.h"
#include "tests/fake_workload.h"

#include <dlfcn.h>
#include <signal.h>

TestSuite(small_measure, .timeout = 300);

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

TAKE_OVER(cudaStreamSynchronize, 'S', (cudaStream_t stream), (stream))
TAKE_OVER(cudaDeviceSynchronize, 'D', (void), ())
TAKE_OVER(cudaGraphLaunch, 'G', (cudaGraphExec_t exec, cudaStream_t stream), (exec, stream))
TAKE_OVER(cudaGraphUpload, 'U', (cudaGraphExec_t exec, cudaStream_t stream), (exec, stream))
TAKE_OVER(cudaStreamBeginCapture, 'C', (cudaStream_t stream, enum cudaStreamCaptureMode mode),
	  (stream, mode))

static const int64_t depths[] = { 1, 7, 64, 100, 1025 };
enum { DEPTHS = sizeof(depths) / sizeof(*depths) };

static struct fake_opts opts;
static struct instance instance;

/* A fake that has been set up; skips the test where there is no device. */
static void set_up_fake(int64_t launches)
{
	need_device();
	opts = (struct fake_opts){ .launches = launches, .fail_errno = EINVAL };
	instance = (struct instance){ .workload = &workload_fake,
				      .opts = &opts,
				      .launches = launches };
	instance.state = calloc(1, workload_fake.state_size);
	cr_assert(zero(int, cudaStreamCreateWithFlags(&instance.stream, cudaStreamNonBlocking)),
		  "stream");
	cr_assert(zero(int, workload_fake.setup(&opts, instance.state)), "setup");
}

static void forget(void)
{
	memset(fake_log.order, 0, sizeof(fake_log.order));
}

/* Steps that the device ran since the last reset, by the workload's own count. */
static int64_t steps_ran(void)
{
	struct verdict v = { 0 };

	workload_fake.check(&opts, instance.state, 0, &v);
	return (int64_t)v.error;
}

/* What a block's events must be: reset, synchronize, n times the submitted thing, synchronize. */
static const char *block_of(char event, int64_t n)
{
	static char order[2048];
	char *end = order + 2;

	memcpy(order, "RS", 2);
	memset(end, event, (size_t)n);
	end[n] = 'S';
	end[n + 1] = '\0';
	return order;
}

static void check_block(enum mode mode, int64_t depth, char event, int64_t times)
{
	struct submission sub;
	struct block b;

	cr_assert(zero(int, submission_init(&sub, &instance, mode, depth)), "init");
	for (int i = 0; i < 2; i++) { /* the second block must not go on where the first ended */
		forget();
		cr_assert(zero(int, measure_block(&sub, &b)), "block");
		cr_assert(eq(str, fake_log.order, (char *)block_of(event, times)), "%s depth=%ld",
			  mode_name(mode), (long)depth);
		cr_assert(eq(i64, steps_ran(), depth), "%s depth=%ld", mode_name(mode),
			  (long)depth);
		cr_assert(lt(i64, 0, b.enq_ns), "clock");
		cr_assert(le(i64, b.enq_ns, b.total_ns), "order of the clocks");
	}
	submission_release(&sub);
}

Test(small_measure, stream_block)
{
	set_up_fake(1);
	for (int i = 0; i < DEPTHS; i++)
		check_block(MODE_STREAM, depths[i], 's', depths[i]);
}

Test(small_measure, fused_block_is_one_call)
{
	set_up_fake(1);
	for (int i = 0; i < DEPTHS; i++)
		check_block(MODE_FUSED, depths[i], 'F', 1);
}

Test(small_measure, graph_block_has_no_step_calls)
{
	static const int64_t graphs[DEPTHS] = { 1, 2, 1, 2, 2 }; /* 7 = 4 + 3, 1025 = 1024 + 1 */

	set_up_fake(1);
	for (int i = 0; i < DEPTHS; i++)
		check_block(MODE_GRAPH, depths[i], 'G', graphs[i]);
}

Test(small_measure, graph_block_of_steps_with_many_launches)
{
	set_up_fake(300);
	check_block(MODE_GRAPH, 7, 'G', 4); /* three graphs of 2 and one of 1 */
}

Test(small_measure, graphs_are_captured_and_uploaded_once)
{
	struct submission sub;

	set_up_fake(1);
	forget();
	cr_assert(zero(int, submission_init(&sub, &instance, MODE_GRAPH, 7)), "init");
	cr_assert(eq(str, fake_log.order, "RCssssURCsssUS"), "order");
	cr_assert(eq(i64, sub.graph_steps, 4), "graph_steps");
	cr_assert(eq(i64, sub.graph_launches, 1), "graph_launches");
	cr_assert(eq(i64, sub.rest_steps, 3), "rest_steps");
	submission_release(&sub);
}

Test(small_measure, a_step_that_fails_leaves_no_capture_behind)
{
	struct submission sub;

	set_up_fake(1);
	opts.fail = FAKE_STEP;
	divert_stderr();
	cr_assert(eq(int, submission_init(&sub, &instance, MODE_GRAPH, 7), -EINVAL), "error");
	diverted_stderr();
	submission_release(&sub);
	opts.fail = FAKE_NONE;
	check_block(MODE_STREAM, 3, 's', 3);
}

Test(small_measure, errors_of_hooks_reach_the_caller)
{
	static const struct {
		int hook;
		enum mode mode;
	} failing[] = { { FAKE_RESET, MODE_STREAM },
			{ FAKE_STEP, MODE_STREAM },
			{ FAKE_FUSED, MODE_FUSED } };
	struct submission sub;
	struct blocks blocks;

	set_up_fake(1);
	opts.fail_errno = EDOM;
	for (size_t i = 0; i < sizeof(failing) / sizeof(*failing); i++) {
		submission_init(&sub, &instance, failing[i].mode, 5);
		opts.fail = failing[i].hook;
		divert_stderr();
		cr_assert(eq(int, measure_blocks(&sub, 3, &blocks), -EDOM), "hook %d",
			  failing[i].hook);
		diverted_stderr();
		cr_assert(eq(i64, blocks.n, 0), "none ended");
		blocks_release(&blocks);
		opts.fail = FAKE_NONE;
	}
}

Test(small_measure, every_block_is_reset_and_kept)
{
	struct submission sub;
	struct blocks blocks;
	int resets;

	set_up_fake(1);
	submission_init(&sub, &instance, MODE_STREAM, 10);
	resets = fake_log.resets;
	cr_assert(zero(int, measure_blocks(&sub, 17, &blocks)), "blocks");
	cr_assert(eq(int, fake_log.resets - resets, 17), "resets");
	cr_assert(eq(i64, blocks.n, 17), "n");
	for (int i = 0; i < 17; i++) {
		cr_assert(lt(i64, 0, blocks.enq_ns[i]), "block %d", i);
		cr_assert(le(i64, blocks.enq_ns[i], blocks.total_ns[i]), "block %d", i);
	}
	blocks_release(&blocks);
}

Test(small_measure, warm_up_says_how_it_ended)
{
	struct submission sub;
	struct warmup w;

	set_up_fake(1);
	submission_init(&sub, &instance, MODE_STREAM, 10);
	cr_assert(zero(int, measure_warmup(&sub, &w)), "warm-up");
	cr_assert(le(i64, 2, w.blocks), "blocks");
	cr_assert(eq(i64, fake_log.resets, w.blocks), "resets");
	if (strcmp(w.ended_by, "steady"))
		cr_assert(le(i64, 1000000000, w.elapsed_ns), "%s", w.ended_by);
	cr_assert(lt(i64, 0, w.per_block_ns), "per block");
	cr_assert(lt(i64, 0, w.first_ns), "first block");
	cr_assert(le(i64, w.total_ns, w.per_block_ns), "a block is more than its clock");
}

Test(small_measure, interrupted_after_the_block_in_hand)
{
	struct submission sub;
	struct blocks blocks;

	set_up_fake(1);
	submission_init(&sub, &instance, MODE_STREAM, 10);
	signal(SIGINT, SIG_DFL); /* ignored where a script started this in the background */
	interrupt_install();
	raise(SIGINT);
	forget();
	cr_assert(eq(int, measure_blocks(&sub, 3, &blocks), -EINTR), "error");
	cr_assert(eq(str, fake_log.order, (char *)block_of('s', 10)), "one whole block");
	blocks_release(&blocks);
}

/* The fake's steps take no time, so blocks are made 4 times as long, again and again. */
static bool began_with(int64_t steps, int64_t first)
{
	while (steps > first && steps % 4 == 0)
		steps /= 4;
	return steps == first;
}

Test(small_measure, kernel_time_takes_the_mode_with_the_smallest_gaps)
{
	static const bool allowed[][MODE_COUNT] = { { true, true, true },
						    { true, true, false },
						    { true, false, false } };
	static const enum mode taken[] = { MODE_FUSED, MODE_GRAPH, MODE_STREAM };
	const char *captured, *block;
	struct kernel_time k;

	set_up_fake(1);
	for (int i = 0; i < 3; i++) {
		forget();
		cr_assert(zero(int, kernel_time_measure(&k, &instance, allowed[i], 2.5e4, 1, 0)),
			  "time");
		cr_assert(eq(int, k.mode, taken[i]), "case %d", i);
		cr_assert(began_with(k.steps, 10), "0.25 ms of steps of 25 us: %ld", (long)k.steps);
		cr_assert(eq(int, isnan(k.ns), k.unknown != NULL), "a figure or a reason");
		cr_assert(eq(int, k.ns <= 0, 0), "never zero");
		captured = strrchr(fake_log.order,
				   'U'); /* resets before captures are none of a block */
		block = strchr(captured ? captured : fake_log.order, 'R');
		cr_assert(zero(int, strncmp(block, "RS", 2)), "reset first");
	}
}

Test(small_measure, kernel_time_takes_half_the_depth_within_bounds)
{
	static const int64_t want[][2] = { { 1, 3 }, { 40, 20 }, { 200, 100 }, { 1000, 100 } };
	static const bool allowed[MODE_COUNT] = { true };
	struct kernel_time k;

	set_up_fake(1);
	for (int i = 0; i < 4; i++) {
		kernel_time_measure(&k, &instance, allowed, 1e5, want[i][0], 0);
		cr_assert(began_with(k.steps, want[i][1]), "depth=%ld: %ld", (long)want[i][0],
			  (long)k.steps);
	}
}

Test(small_measure, kernel_time_keeps_to_depth_max)
{
	static const bool allowed[MODE_COUNT] = { true };
	struct kernel_time k;

	set_up_fake(1);
	cr_assert(zero(int, kernel_time_measure(&k, &instance, allowed, 10, 64, 9)), "time");
	cr_assert(eq(i64, k.steps, 4), "2 * 4 <= 9");
	/* 250 steps last 0.25 ms: one block of them is allowed, two are not */
	cr_assert(zero(int, kernel_time_measure(&k, &instance, allowed, 1e3, 64, 300)), "time");
	cr_assert(eq(i64, k.steps, 150), "2 * 150 <= 300");
	cr_assert(zero(int, kernel_time_measure(&k, &instance, allowed, 10, 64, 1)), "time");
	cr_assert(isnan(k.ns) && k.unknown, "depth 1 has no slope");
}
