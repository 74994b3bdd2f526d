/*
 * test_system.c - harness/platform/system.h with CUDA calls that this program answers: what keeps a
 * GPU awake, and its address. Files, clocks and processors are this program's too.
 */
#include "tests/test.h"
#include "harness/platform/system.h"

#include <cuda_runtime.h>
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "tests/folder.h"

TestSuite(small_system, .timeout = 300);

static int devices = 1, major = 9, compute_mode = cudaComputeModeDefault, opened;

/* In place of the library's. */
cudaError_t cudaGetDeviceCount(int *count)
{
	*count = devices;
	return devices < 0 ? cudaErrorInvalidValue : cudaSuccess;
}

cudaError_t cudaSetDevice(int device)
{
	(void)device;
	opened++;
	return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device)
{
	if (device)
		return cudaErrorInvalidDevice;
	switch ((int)attribute) {
	case cudaDevAttrComputeCapabilityMajor:
		*value = major;
		return cudaSuccess;
	case cudaDevAttrComputeMode:
		*value = compute_mode;
		return cudaSuccess;
	case cudaDevAttrPciDomainId:
		*value = 1;
		return cudaSuccess;
	case cudaDevAttrPciBusId:
		*value = 0x3b;
		return cudaSuccess;
	case cudaDevAttrPciDeviceId:
		*value = 0x1f;
		return cudaSuccess;
	default:
		return cudaErrorInvalidValue;
	}
}

/* How often it was opened. */
static int kept(char pci[32], int want)
{
	int err;

	opened = 0;
	divert_stderr();
	err = keep_device_alive(pci);
	diverted_stderr();
	cr_assert(eq(int, err, want), "%d", err);
	return opened;
}

/* One process alone may use it in another mode than the default: that one is the worker. */
Test(small_system, a_gpu_is_kept_awake_where_others_may_use_it)
{
	char pci[32] = "x";

	cr_assert(eq(int, kept(pci, 0), 1), "default");
	cr_assert(eq(str, pci, "0001:3b:1f.0"), "%s", pci);
	compute_mode = 3; /* exclusive process */
	cr_assert(zero(int, kept(pci, 0)), "exclusive");
	cr_assert(eq(str, pci, "0001:3b:1f.0"), "%s", pci);
	compute_mode = cudaComputeModeDefault;
	major = 0;
	cr_assert(zero(int, kept(pci, 0)), "the CPU device does not sleep");
	cr_assert(eq(str, pci, ""), "%s", pci);
	devices = 0;
	cr_assert(zero(int, kept(pci, -ENODEV)), "none");
	devices = -1;
	cr_assert(zero(int, kept(pci, -ENODEV)), "none to be asked");
}

/* ---- files ---------------------------------------------------------------------------------- */

TEST_FOLDER(folder);

TestSuite(small_system_files, .init = make_folder, .fini = remove_folder, .timeout = 300);

/* Those of /proc in the folder, in place of the kernel's. */
FILE *fopen(const char *path, const char *mode)
{
	FILE *(*real)(const char *, const char *);
	char full[PATH_MAX];
	bool ours = *folder && !strncmp(path, "/proc/", 6);

	*(void **)&real = dlsym(RTLD_NEXT, "fopen");
	snprintf(full, sizeof(full), "%s%s", ours ? folder : "", path);
	return real(full, mode);
}

static void write_file(const char *path, const char *text)
{
	FILE *f;

	shell(NULL, "mkdir -p $(dirname '%s%s')", folder, path);
	f = fopen(path, "w");
	cr_assert(ne(ptr, f, NULL), "%s", path);
	fputs(text, f);
	fclose(f);
}

Test(small_system_files, stolen_time)
{
	cr_expect(eq(i64, system_steal_ticks(), -1), "no file");
	write_file("/proc/stat", "cpu  1 2 3 4 5 6 7 8 9 10\ncpu0 1 1 1 1 1 1 1 1 1 1\n");
	cr_expect(eq(i64, system_steal_ticks(), 8));
	write_file("/proc/stat", "cpu  1 2 3 4 5 6 7\n");
	cr_expect(eq(i64, system_steal_ticks(), -1), "too few");
}

/* The name of a program may hold blanks and parentheses. */
Test(small_system_files, when_a_process_started)
{
	cr_expect(eq(i64, system_start(7), -1), "no file");
	write_file("/proc/7/stat", "7 (a) R (b) S 1 2 3 4 -1 6 7 8 9 10 11 12 13 14 15 16 17 18 "
				   "123456789012 20 21\n");
	cr_expect(eq(i64, system_start(7), 123456789012));
	write_file("/proc/7/stat", "7 (a) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18\n");
	cr_expect(eq(i64, system_start(7), -1), "too few");
	write_file("/proc/7/stat", "7 a\n");
	cr_expect(eq(i64, system_start(7), -1), "no name");
}

Test(small_system_files, the_identity_of_a_boot)
{
	cr_expect(eq(str, (char *)system_boot_id(), ""), "no file");
	write_file("/proc/sys/kernel/random/boot_id", "12-ab\n");
	cr_expect(eq(str, (char *)system_boot_id(), "12-ab"));
}

/* The first processor's flags count. */
Test(small_system_files, clocks_that_go_on)
{
	static const struct {
		const char *cpuinfo;
		int invariant;
	} rows[] = {
		{ "x : 1\nflags\t: fpu constant_tsc nonstop_tsc\n", 1 },
		{ "flags\t: fpu constant_tsc\nflags\t: constant_tsc nonstop_tsc\n", 0 },
		{ "flags\t: fpu nonstop_tsc\n", 0 },
		{ "flagged : constant_tsc nonstop_tsc\n", 0 },
		{ "", 0 },
	};

	cr_expect(zero(int, system_tsc_is_invariant()), "no file");
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		write_file("/proc/cpuinfo", rows[i].cpuinfo);
		cr_expect(eq(int, system_tsc_is_invariant(), rows[i].invariant), "%s",
			  rows[i].cpuinfo);
	}
}

/* ---- what a thread has used -------------------------------------------------------------------
 */

static bool usage_refused;

int getrusage(__rusage_who_t who, struct rusage *r)
{
	*r = (struct rusage){ .ru_nivcsw = 6, .ru_utime = { 2, 3 }, .ru_stime = { 4, 5 } };
	return who == RUSAGE_THREAD && !usage_refused ? 0 : -1;
}

Test(small_system, what_a_thread_has_used)
{
	struct usage u = system_usage();

	cr_expect(eq(i64, u.involuntary, 6));
	cr_expect(eq(i64, u.utime_us, 2000003));
	cr_expect(eq(i64, u.stime_us, 4000005));
	usage_refused = true;
	u = system_usage();
	cr_expect(zero(i64, u.involuntary | u.utime_us | u.stime_us), "refused");
}

/* ---- clocks --------------------------------------------------------------------------------- */

/* Set: the clock's next readings, nanoseconds after 3 s. */
static const long *next_reading;
static int sleeps;

int clock_gettime(clockid_t clock, struct timespec *t)
{
	if (!next_reading)
		return (int)syscall(SYS_clock_gettime, clock, t);
	*t = (struct timespec){ 3, *next_reading++ };
	return 0;
}

int nanosleep(const struct timespec *t, struct timespec *left)
{
	(void)left;
	sleeps += t->tv_sec == 0 && t->tv_nsec == 100000000;
	return 0;
}

Test(small_system, nanoseconds_of_a_clock)
{
	static const long readings[] = { 7, 10, 25 };
	int64_t now, canary;

	next_reading = readings;
	now = clock_ns();
	canary = host_canary_run();
	next_reading = NULL;
	cr_expect(eq(i64, now, 3000000007));
	cr_expect(eq(i64, canary, 15));
}

/* Each batch has a reading more than it has steps. */
enum { BATCH = 2001, PROBE = 5 * BATCH };

static int readings, slow_probes;

/* Of a probe's five batches the last one is the fastest. */
static int64_t fifth_is_fast(void)
{
	static int64_t now;

	return now += readings++ < 4 * BATCH ? 1000 : readings <= PROBE ? 100 : 10;
}

static int64_t slow_at_first(void)
{
	static int64_t now;

	return now += readings++ < slow_probes * PROBE ? 5001 : 5000;
}

Test(small_system, a_clock_by_the_fastest_of_five_batches)
{
	struct clock_probe c = clock_probe_of(fifth_is_fast);

	cr_expect(ieee_ulp_eq(dbl, c.cost_ns, 100, 4));
	cr_expect(eq(i64, c.tick_ns, 100));
	cr_expect(zero(int, sleeps));
}

/* 5 us a reading is no longer early; after thirty times a tenth of a second it is the clock's. */
Test(small_system, a_clock_that_is_slow_at_first)
{
	static const struct {
		int slow, sleeps;
		double cost_ns, early_ns;
	} rows[] = {
		{ 0, 0, 5000, 0 }, { 1, 1, 5000, 5001 }, { 30, 30, 5000, 5001 }, { 31, 30, 5001, 0 }
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct clock_probe c;

		readings = sleeps = 0;
		slow_probes = rows[i].slow;
		c = clock_probe_of(slow_at_first);
		cr_expect(ieee_ulp_eq(dbl, c.cost_ns, rows[i].cost_ns, 4), "%d", rows[i].slow);
		cr_expect(ieee_ulp_eq(dbl, c.early_ns, rows[i].early_ns, 4), "%d", rows[i].slow);
		cr_expect(eq(int, sleeps, rows[i].sleeps), "%d", rows[i].slow);
	}
}

/* ---- pinning -------------------------------------------------------------------------------- */

static cpu_set_t allowed, set_to;
static bool get_refused, set_refused;

int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set)
{
	memcpy(set, &allowed, size);
	return pid || get_refused ? -1 : 0;
}

int sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *set)
{
	memcpy(&set_to, set, size);
	return pid || set_refused ? -1 : 0;
}

static void allow(const char *cpus)
{
	system_read_cpus(cpus, &allowed);
	CPU_ZERO(&set_to);
}

/* Those that were set last are these. */
static void was_set(const char *cpus)
{
	cpu_set_t want;

	system_read_cpus(cpus, &want);
	cr_expect(ne(int, CPU_EQUAL(&set_to, &want), 0), "%s", cpus);
}

Test(small_system, the_last_processor_is_pinned_to)
{
	allow("0-2");
	system_free_processor(NULL, false);
	was_set("");
	cr_expect(eq(int, system_pin(), 2));
	was_set("2");
	system_unpin();
	was_set("0-1");
	system_free_processor(NULL, true);
	was_set("0-1");
	set_refused = true;
	cr_expect(eq(int, system_pin(), -1));
	allow("0-2");
	system_free_processor(NULL, true); /* its threads would stay on it */
	set_refused = false;
	cr_expect(eq(int, system_pin(), -1));
	allow("0-2");
	get_refused = true;
	system_free_processor(NULL, false);
	cr_expect(eq(int, system_pin(), -1));
	was_set("");
}

/* Near the device, which may be the very first. */
Test(small_system_files, the_first_processor_is_pinned_to)
{
	char address[128];

	shell(NULL, "echo 0 >%s/local_cpulist", folder);
	snprintf(address, sizeof(address), "../../../..%s", folder);
	allow("0-1");
	system_free_processor(address, false);
	cr_expect(eq(int, system_pin(), access("/sys/bus/pci/devices", F_OK) ? 1 : 0));
	system_unpin();
	was_set(access("/sys/bus/pci/devices", F_OK) ? "0" : "1");
}
