/*
 * test_cpu_faults.c - what the CPU device says about kernels that cannot go on. They run in the
 * program of seeded bugs (tests/bugs), as they end it.
 */
/* sanitizers: faults on purpose */
#include "tests/plain.h"

#include <signal.h>

TestSuite(small_cpu_faults, .timeout = 300);

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define NEED_SIGNALS() cr_skip("sanitizers handle these signals themselves")
#else
#define NEED_SIGNALS()
#endif

enum {
	IN_ORDER = 0,
	BY_ITS_HANDLER = 7, /* see null_pointer_handled */
	BY_ABORT = 128 + SIGABRT,
	BY_DIVISION = 128 + SIGFPE,
	BY_FAULT = 128 + SIGSEGV,
#ifdef __SANITIZE_THREAD__
	BY_SANITIZER = 66,
#else
	BY_SANITIZER = 1,
#endif
};

/* Runs one; what it said, on either stream. Checks its exit status. */
static const char *ends(int wanted, const char *settings, const char *name)
{
	const char *said;
	int status = shell(&said, "%s exec %s %s 2>&1", settings, beside_tests("../bugs"), name);

	cr_assert(status == wanted, "status %d: %s", status, said);
	return said;
}

static void expect_text(const char *said, const char *what)
{
	cr_assert(tells(said, what), "\"%s\" is not in: %s", what, said);
}

/* ---- waiting for ever ------------------------------------------------------------------- */

Test(small_cpu_faults, deadlock_is_reported)
{
	const char *said = ends(BY_ABORT, "", "deadlock");

	expect_text(said, "deadlock *half_at_barrier, block (");
	cr_assert(!strstr(said, "abort()"), "said twice: %s", said);
	expect_text(said, "64 threads ");
	expect_text(said, "32 *thread (0,0,0) *__syncthreads");
	expect_text(said, "32 *thread (16,0,0) *vote *0xffffffff");
}

Test(small_cpu_faults, different_warp_operations_are_reported)
{
	const char *said = ends(BY_ABORT, "", "mismatch");

	expect_text(said, "kernel vote_or_shuffle, block (");
	expect_text(said, "thread (0,0,0) *vote *0xffffffff");
	expect_text(said, "thread (16,0,0) *shuffle *0xffffffff");
}

Test(small_cpu_faults, lane_outside_its_mask_is_reported)
{
	const char *said = ends(BY_ABORT, "", "outside_mask");

	expect_text(said, "kernel half_mask, block (");
	expect_text(said, "thread (16,0,0): *lane 16");
}

/* ---- memory that is not there ----------------------------------------------------------- */

static void touches(const char *settings, const char *name, const char *what)
{
	const char *said = ends(BY_FAULT, settings, name);

	expect_text(said, "kernel touch, block (1,0,0), thread (3,0,0): ");
	expect_text(said, what);
}

Test(small_cpu_faults, bad_pointers_are_named)
{
	NEED_SIGNALS();
	touches("", "null_pointer", "address 0x14: null pointer\n");
	touches("", "freed_pointer", ": freed device memory\n");
	touches("", "far_away", "address 0x10000000000: not device memory\n");
	touches("", "no_pointer", "address *: not device memory\n");
	touches("", "just_beyond", ": beyond *device memory\n");
}

Test(small_cpu_faults, strict_mode_sees_small_overruns)
{
	const char *strict = "RIFT_CPU_STRICT=1", *shared = ": beyond *shared memory\n";

	NEED_SIGNALS();
	touches(strict, "small_beyond", ": beyond *device memory\n");
	touches(strict, "freed_pointer", ": freed device memory\n");
	expect_text(ends(BY_FAULT, strict, "shared_beyond"), shared);
	expect_text(ends(BY_FAULT, strict, "dynamic_beyond"), shared);
}

Test(small_cpu_faults, correct_programs_run_in_strict_mode)
{
	expect_text(ends(IN_ORDER, "RIFT_CPU_STRICT=1", "shared_array"), "end\n");
	expect_text(ends(IN_ORDER, "RIFT_CPU_STRICT=1", "dynamic_shared"), "end\n");
	expect_text(ends(IN_ORDER, "RIFT_CPU_STRICT=1", "graph"), "end\n");
}

Test(small_cpu_faults, stack_overflow_is_named)
{
	NEED_SIGNALS();
	expect_text(ends(BY_FAULT, "", "stack_overflow"), "beyond the thread's stack");
}

Test(small_cpu_faults, copies_of_freed_memory_are_named)
{
	NEED_SIGNALS();
	const char *said = ends(BY_FAULT, "", "graph_copies_freed");

	expect_text(said, " 4194304 bytes: *address ");
	expect_text(said, ": freed device memory\n");
}

/* ---- arithmetic, assertions ------------------------------------------------------------- */

Test(small_cpu_faults, division_by_zero_is_named)
{
	NEED_SIGNALS();
	expect_text(ends(BY_DIVISION, "", "division_by_zero"),
		    "rift: CPU device: kernel divide, block (0,0,0), thread (3,0,0): integer "
		    "division by "
		    "zero");
}

Test(small_cpu_faults, failed_assertions_name_the_thread)
{
	NEED_SIGNALS();
	const char *said = ends(BY_ABORT, "", "failed_assertion");

	expect_text(said, "threadIdx.x < bound");
	expect_text(
		said,
		"rift: CPU device: kernel expect_less, block (0,0,0), thread (3,0,0): assertion "
		"failed");
}

/* ---- under a sanitizer ------------------------------------------------------------------ */

#ifdef __SANITIZE_ADDRESS__
Test(small_cpu_faults, a_bad_address_names_the_thread)
{
	expect_text(ends(BY_SANITIZER, "", "global_overrun"),
		    "rift: CPU device: kernel fill, block (1,0,0), thread (0,0,0): ran when the "
		    "sanitizer");
}

Test(small_cpu_faults, undefined_behaviour_names_the_thread)
{
	expect_text(ends(BY_SANITIZER, "", "shift_too_far"),
		    "rift: CPU device: kernel powers, block (0,0,0), thread (30,0,0): ran when");
}
#endif

#ifdef __SANITIZE_THREAD__
Test(small_cpu_faults, a_race_names_the_thread)
{
	expect_text(ends(BY_SANITIZER, "TSAN_OPTIONS=\"$TSAN_OPTIONS:halt_on_error=1\"",
			 "missing_barrier"),
		    "rift: CPU device: kernel reduce_skipping, block (");
}
#endif

/* ---- faults of the host ----------------------------------------------------------------- */

Test(small_cpu_faults, other_faults_are_left_alone)
{
	NEED_SIGNALS();
	const char *said = ends(BY_FAULT, "", "host_null_pointer");

	cr_assert(!strstr(said, "rift:"), "%s", said);
}

Test(small_cpu_faults, the_programs_own_handler_is_called)
{
	NEED_SIGNALS();
	const char *said = ends(BY_ITS_HANDLER, "", "null_pointer_handled");

	expect_text(said, ": null pointer\nown handler\n");
}

/* ---- the order of threads --------------------------------------------------------------- */

Test(small_cpu_faults, printed_seed_brings_the_order_back)
{
	char settings[128], order[512];
	unsigned long long seed = 0;
	const char *said = ends(IN_ORDER, "RIFT_CPU_ORDER=random", "thread_order");
	const char *at = strstr(said, "RIFT_CPU_SEED=");

	cr_assert(at && sscanf(at, "RIFT_CPU_SEED=%llu", &seed) == 1, "no seed: %s", said);
	at = strstr(said, "order ");
	cr_assert(at && strlen(at) < sizeof(order), "no order: %s", said);
	strcpy(order, at);
	snprintf(settings, sizeof(settings), "RIFT_CPU_ORDER=random RIFT_CPU_SEED=%llu", seed);
	expect_text(ends(IN_ORDER, settings, "thread_order"), order);
	snprintf(settings, sizeof(settings), "RIFT_CPU_ORDER=random RIFT_CPU_SEED=%llu", seed + 1);
	said = ends(IN_ORDER, settings, "thread_order");
	cr_assert(!strstr(said, order), "another seed, the same order: %s", said);
}

/* ---- settings ---------------------------------------------------------------------------- */

/* A measurement with another setting than the one meant would be worse than none. */
Test(small_cpu_faults, settings_that_make_no_sense_end_the_process)
{
	const int usage = 3;

	expect_text(ends(usage, "RIFT_CPU_LAUNCH_NS=7O00", "shared_array"),
		    "RIFT_CPU_LAUNCH_NS=7O00: * 0 to 1000000000\n");
	expect_text(ends(usage, "RIFT_CPU_SYNC_NS=20us", "shared_array"),
		    "RIFT_CPU_SYNC_NS=20us: ");
	expect_text(ends(usage, "RIFT_CPU_COPY_NS=-1", "shared_array"), "RIFT_CPU_COPY_NS=-1: ");
	expect_text(ends(usage, "RIFT_CPU_ALLOC_NS=1000000001", "shared_array"), "1000000000\n");
	expect_text(ends(usage, "RIFT_CPU_WORKERS=0", "shared_array"), "from 1 to 256\n");
	expect_text(ends(usage, "RIFT_CPU_SPIN_US=many", "shared_array"), "from 0 to 1000000\n");
	expect_text(ends(usage, "RIFT_CPU_ORDER=sideways", "shared_array"), "up, down or random\n");
	expect_text(ends(usage, "RIFT_CPU_LAUNCHNS=5", "shared_array"),
		    "unknown setting RIFT_CPU_LAUNCHNS; there are RIFT_CPU_WORKERS, ");
	expect_text(ends(IN_ORDER, "RIFT_CPU_LAUNCH_NS=7", "shared_array"), "end\n");
}
