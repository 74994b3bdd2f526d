/*
 * test_profiler.c - the layer profiler: its library switches CUPTI on when the driver asks, counts
 * what that records, and says why where it cannot. CUPTI is a stub (cupti.c).
 */
/* sanitizers: seen elsewhere */
#include "tests/test.h"

#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <fcntl.h>
#if !defined RIFT_CPU_DEVICE && __has_include(<cupti.h>)
#include <cupti.h>
#define HAVE_CUPTI_HEADER 1
#endif

#include "layers/layer.h"
#include "layers/profiler/records.h"
#include "tests/cli.h"
#include "tests/under_layer.h"

TestSuite(small_profiler, .init = layers_apart, .timeout = 120);

extern const struct layer layer_profiler;

/* ---- what there is -------------------------------------------------------------------------- */

static const char *library(void)
{
	static char path[4200];
	const char *slash = strrchr(rift(), '/');

	snprintf(path, sizeof(path), "%.*s/layers/profiler.so", slash ? (int)(slash - rift()) : 1,
		 slash ? rift() : ".");
	return path;
}

/* A folder as enter() leaves it; the variables are set. */
static const char *folder(void)
{
	static char made[256];
	char path[300];
	int fd;

	snprintf(made, sizeof(made), "%s", getenv("XDG_RUNTIME_DIR"));
	snprintf(path, sizeof(path), "%s/records", made);
	fd = open(path, O_RDWR | O_CREAT, 0600);
	cr_assert(zero(int, ftruncate(fd, sizeof(struct profiler_counts))), "%s", path);
	close(fd);
	setenv(PROFILER_COUNTS, path, 1);
	setenv(PROFILER_CUPTI, beside_tests("layers/cupti.so"), 1);
	return made;
}

/*
 * tests/layers/caller under the library, and with the stub's functions at hand: as under the layer,
 * but that the driver's call is the first word.
 */
static int call(const char *variables, const char *calls)
{
	char stub[4096], caller[4096];
	const char *out;
	int rc;

	snprintf(stub, sizeof(stub), "%s", beside_tests("layers/cupti.so"));
	snprintf(caller, sizeof(caller), "%s", beside_tests("layers/caller"));
	rc = shell(&out,
		   "LD_PRELOAD='%s:%s' ASAN_OPTIONS=\"$ASAN_OPTIONS:verify_asan_link_order=0\" %s "
		   "'%s' calls %s 2>&1",
		   library(), stub, variables, caller, calls);
	cr_assert(eq(str, (char *)out, ""));
	return rc;
}

static void reports(const char *made, const char *want)
{
	char detail[LAYER_DETAIL] = "";

	layer_profiler.report(made, detail);
	cr_assert(eq(str, detail, (char *)want));
}

/* ---- the list ------------------------------------------------------------------------------- */

Test(small_profiler, is_listed_and_says_why_it_cannot_be_had)
{
	const char *out;

	cr_assert(zero(int, run_rift(OUT, &out, "layer profiler")));
	cr_assert(strstr(out, "profiler   real   records all calls and kernels") == out, "%s", out);
	cr_assert(strstr(out, "kinds=all ") && strstr(out, "(all, calls, work)"), "%s", out);
	refused(3, "kinds", "layer profiler kinds=some -- true");
	refused(3, "did you mean 'kinds'", "layer profiler kind=all -- true");
#ifdef RIFT_CPU_DEVICE
	refused(125, "layer profiler: not available here: the CPU device has no CUPTI",
		"layer profiler -- true");
	refused(4, "the CPU device has no CUPTI", "run launch us=0 --layer profiler");
	refused(4, "the CPU device has no CUPTI", "sweep launch --dry-run --layer profiler");
#else
	setenv("CUDA_INJECTION64_PATH", "/nowhere", 1);
	refused(125, "a profiler is already loaded", "layer profiler -- true");
#endif
	cr_assert(layers_gone(0));
}

#ifndef RIFT_CPU_DEVICE

/* Where LD_LIBRARY_PATH has one, that is it. */
Test(small_profiler, a_command_gets_cupti_and_the_library)
{
	const char *out, *slash;
	char stub[4096];
	int rc;

	snprintf(stub, sizeof(stub), "%s", beside_tests("layers/cupti.so"));
	rc = shell(&out,
		   "mkdir -p '%s/lib' && ln -sf \"$(realpath '%s')\" '%s/lib/libcupti.so.%d' && "
		   "LD_LIBRARY_PATH='%s/lib'${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} '%s' layer "
		   "profiler kinds=work -- sh -c 'echo "
		   "$RIFT_LAYER_PROFILER_CUPTI $RIFT_LAYER_PROFILER_KINDS $CUDA_INJECTION64_PATH'",
		   getenv("XDG_RUNTIME_DIR"), stub, getenv("XDG_RUNTIME_DIR"),
		   CUDART_VERSION / 1000, getenv("XDG_RUNTIME_DIR"), rift());
	cr_assert(zero(int, rc), "%s", out);
	slash = strrchr(out, '/');
	cr_assert(strstr(out, "layers/cupti.so work /") != NULL, "%s", out);
	cr_assert(eq(str, (char *)slash, "/profiler.so\n"));
}

#endif

/* ---- counts --------------------------------------------------------------------------------- */

Test(small_profiler, what_cupti_records_is_counted_by_class)
{
	const char *made = folder();

	cr_assert(zero(int, call("", "InitializeInjection=1 stub_launch=5 stub_copy=2 stub_set=1 "
				     "stub_lose=3")));
	reports(made, "made 24 records in 1 process; kernel 5; copy 2; set 1; runtime 8; driver 8; "
		      "3 lost");
}

Test(small_profiler, kinds_choose_what_is_recorded)
{
	const char *made = folder();

	cr_assert(zero(int, call("RIFT_LAYER_PROFILER_KINDS=work",
				 "InitializeInjection=1 stub_launch=5 stub_copy=2")));
	reports(made, "made 7 records in 1 process; kernel 5; copy 2");
	cr_assert(zero(int, call("RIFT_LAYER_PROFILER_KINDS=calls",
				 "InitializeInjection=1 stub_launch=5")));
	reports(made, "made 17 records in 2 processes; kernel 5; copy 2; runtime 5; driver 5");
}

/* 960,000 of 32 bytes: more than fits into three buffers. */
Test(small_profiler, none_is_lost_between_buffers)
{
	const char *made = folder();

	cr_assert(zero(int, call("", "InitializeInjection=1 stub_many=320")));
	reports(made, "made 960000 records in 1 process; kernel 320000; runtime 320000; driver "
		      "320000");
}

/* A shell, say: the driver never asks. */
Test(small_profiler, a_process_without_cuda_has_no_cupti)
{
	const char *made = folder();

	cr_assert(zero(int, call("", "stub_launch=5")));
	reports(made, "made 0 records in 0 processes");
}

Test(small_profiler, asked_twice_it_is_switched_on_once)
{
	const char *made = folder();

	cr_assert(zero(int, call("", "InitializeInjection=2 stub_launch=1")));
	reports(made, "made 3 records in 1 process; kernel 1; runtime 1; driver 1");
}

/* The program runs all the same. */
Test(small_profiler, without_cupti_nothing_is_recorded)
{
	const char *made = folder();

	cr_assert(zero(int, call("RIFT_LAYER_PROFILER_CUPTI=/nowhere/libcupti.so",
				 "InitializeInjection=1 stub_launch=1")));
	cr_assert(zero(int, call("env -u RIFT_LAYER_PROFILER_CUPTI",
				 "InitializeInjection=1 stub_launch=1")));
	cr_assert(zero(int, call("RIFT_LAYER_PROFILER=/nowhere/records",
				 "InitializeInjection=1 stub_launch=1")));
	reports(made, "made 0 records in 0 processes");
}

Test(small_profiler, without_a_file_there_is_no_report)
{
	char detail[LAYER_DETAIL] = "";

	layer_profiler.report("/nowhere", detail);
	cr_assert(eq(str, detail, ""));
}

/* ---- in force ------------------------------------------------------------------------------- */

/* In this very process, whose driver calls nothing: the test does. */
static void load(bool ask)
{
	void *loaded = dlopen(library(), RTLD_NOW | RTLD_GLOBAL);
	int (*initialize)(void);

	cr_assert(loaded != NULL, "%s", dlerror());
	*(void **)&initialize = dlsym(loaded, "InitializeInjection");
	if (ask)
		cr_assert(eq(int, initialize(), 1));
}

static void is_not_in_force(const char *want)
{
	char detail[LAYER_DETAIL];

	cr_assert(zero(int, layer_profiler.in_force(NULL, detail)));
	cr_assert(eq(str, detail, (char *)want));
}

Test(small_profiler, not_in_force_without_its_library)
{
	is_not_in_force("its library is not loaded");
}

Test(small_profiler, not_in_force_where_the_driver_does_not_ask)
{
	folder();
	load(false);
	is_not_in_force("CUPTI is not switched on: the driver has not asked for it "
			"(CUDA_INJECTION64_PATH)");
}

Test(small_profiler, not_in_force_where_a_kind_is_refused)
{
	folder();
	setenv("STUB_CUPTI_REFUSES", "10", 1);
	load(true);
	is_not_in_force("CUPTI is not switched on: cuptiActivityEnable(10): CUPTI error 13");
}

Test(small_profiler, not_in_force_where_nothing_is_recorded)
{
	need_device();
	folder();
	load(true);
	is_not_in_force("CUPTI has made 0 records of a kernel and a set");
}

Test(small_profiler, in_force_where_calls_make_records)
{
	char detail[LAYER_DETAIL];

	need_device();
	folder();
	setenv("STUB_CUPTI_BUSY", "yes", 1);
	load(true);
	cr_assert(eq(int, layer_profiler.in_force(NULL, detail), 1), "%s", detail);
	cr_assert(eq(str, detail, "CUPTI has made 5 records of a kernel and a set"));
}

/* ---- what the library declares of CUPTI ------------------------------------------------------ */

#ifdef HAVE_CUPTI_HEADER

Test(small_profiler, it_declares_what_cupti_does)
{
	cr_assert(eq(int, CUPTI_ACTIVITY_KIND_MEMCPY, 1));
	cr_assert(eq(int, CUPTI_ACTIVITY_KIND_MEMSET, 2));
	cr_assert(eq(int, CUPTI_ACTIVITY_KIND_KERNEL, 3));
	cr_assert(eq(int, CUPTI_ACTIVITY_KIND_DRIVER, 4));
	cr_assert(eq(int, CUPTI_ACTIVITY_KIND_RUNTIME, 5));
	cr_assert(eq(int, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 10));
	cr_assert(eq(int, CUPTI_ACTIVITY_FLAG_FLUSH_FORCED, 1));
	cr_assert(zero(sz, offsetof(CUpti_Activity, kind)));
	cr_assert(eq(sz, sizeof(((CUpti_Activity *)0)->kind), sizeof(int)));
}

#endif
