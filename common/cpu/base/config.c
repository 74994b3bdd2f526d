/*
 * config.c - the CPU device's settings, from the environment, and what they do to calls: costs that
 * are added, and errors.
 *
 *   RIFT_CPU_WORKERS=N                threads that run blocks of one launch, 1..256 (default:
 *                                     the processors this process may use)
 *   RIFT_CPU_ORDER=up|down|random     order in which the threads of a block run (default up)
 *   RIFT_CPU_SEED=N                   seed of the random order; printed when chosen here
 *   RIFT_CPU_SPIN_US=N                how long a waiting thread polls before it sleeps,
 *                                     0..1000000 microseconds (default 200)
 *   RIFT_CPU_MEMORY_MIB=N             the device's memory (default: the host's), in MiB
 *   RIFT_CPU_STRICT=1                 all device and shared memory ends at a page that faults
 *
 * Costs that calls of the host are given on top of their own, 0..1000000000 ns (default 0). The
 * calling thread spends them after the call's own work and wait, and only where it succeeded:
 *
 *   RIFT_CPU_LAUNCH_NS=N              launches of kernels, captured or not, and of graphs
 *   RIFT_CPU_LAUNCH_NS_BESIDE=N       the same, while another process that has launched with
 *                                     this setting is there ($TMPDIR tells which)
 *   RIFT_CPU_SYNC_NS=N                cudaStream-, cudaEvent- and cudaDeviceSynchronize
 *   RIFT_CPU_ALLOC_NS=N               allocations, frees; pinning of the host's memory
 *   RIFT_CPU_COPY_NS=N                copies and cudaMemset, Async or not
 *   RIFT_CPU_RAMP_NS=N, _RAMP_MS=N    a launch after N ms without any; less and less of it while
 *                                     others follow for as long
 *
 * Calls that fail, as they do where a layer lacks them; nothing of such a call is done:
 *
 *   RIFT_CPU_FAIL=CALL=ERROR,...      cudaGraphInstantiate=cudaErrorNotSupported, for example
 *
 * A value that makes no sense, or a name that is none of these, ends the process with one line and
 * status 3: a measurement with another setting than the one that was meant would be worse.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "common/cpu/base/base.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static struct config settings;
atomic_int_least64_t host_spin_ns;

__attribute__((noreturn, format(printf, 1, 2))) static void refuse(const char *format, ...)
{
	va_list args;

	fputs("rift: CPU device: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(3);
}

static const char *const known[] = { "WORKERS",
				     "ORDER",
				     "SEED",
				     "SPIN_US",
				     "STRICT",
				     "LAUNCH_NS",
				     "SYNC_NS",
				     "ALLOC_NS",
				     "COPY_NS",
				     "FAIL",
				     "SYNC_NS_PER_PINNED_MIB",
				     "SYNC_NS_PER_PINNED",
				     "PINNED_LEAK",
				     "LAUNCH_NS_BESIDE",
				     "MEMORY_MIB",
				     "RAMP_NS",
				     "RAMP_MS",
				     "DEVICES" };

/* Is NAME of RIFT_CPU_NAME=VALUE a setting? */
static bool is_known(const char *name)
{
	size_t n = strcspn(name, "=");

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (strlen(known[i]) == n && !strncmp(name, known[i], n))
			return true;
	return false;
}

static void refuse_unknown_names(void)
{
	static const char prefix[] = "RIFT_CPU_";
	const size_t n = sizeof(prefix) - 1;

	for (char **e = environ; e && *e; e++)
		if (!strncmp(*e, prefix, n) && !is_known(*e + n))
			refuse("unknown setting %.*s; there are RIFT_CPU_WORKERS, _ORDER, _SEED, "
			       "_SPIN_US, _STRICT, _LAUNCH_NS, _SYNC_NS, _ALLOC_NS, _COPY_NS, "
			       "_FAIL, _SYNC_NS_PER_PINNED_MIB, _SYNC_NS_PER_PINNED, _PINNED_LEAK, "
			       "_LAUNCH_NS_BESIDE, _MEMORY_MIB, _RAMP_NS, _RAMP_MS, _DEVICES",
			       (int)strcspn(*e, "="), *e);
}

static uint64_t number(const char *name, uint64_t lowest, uint64_t highest, uint64_t fallback)
{
	const char *text = getenv(name);
	char *end;

	if (!text || !*text)
		return fallback;
	unsigned long long value = strtoull(text, &end, 10);

	if (*end || *text == '-' || value < lowest || value > highest)
		refuse("%s=%s: must be a number from %llu to %llu", name, text,
		       (unsigned long long)lowest, (unsigned long long)highest);
	return value;
}

static unsigned processors(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) || CPU_COUNT(&set) < 1)
		return 1;
	return (unsigned)CPU_COUNT(&set) < 256 ? (unsigned)CPU_COUNT(&set) : 256;
}

static enum thread_order order(void)
{
	const char *text = getenv("RIFT_CPU_ORDER");

	if (!text || !*text || !strcmp(text, "up"))
		return ORDER_UP;
	if (!strcmp(text, "down"))
		return ORDER_DOWN;
	if (!strcmp(text, "random"))
		return ORDER_RANDOM;
	refuse("RIFT_CPU_ORDER=%s: must be up, down or random", text);
}

static void load_costs(void)
{
	static const char *const name[COSTS] = {
		[COST_LAUNCH] = "RIFT_CPU_LAUNCH_NS",
		[COST_SYNC] = "RIFT_CPU_SYNC_NS",
		[COST_ALLOC] = "RIFT_CPU_ALLOC_NS",
		[COST_COPY] = "RIFT_CPU_COPY_NS",
	};

	for (int i = 0; i < COSTS; i++)
		settings.cost_ns[i] = (int64_t)number(name[i], 0, 1000000000, 0);
	settings.per_pinned_mib_ns =
		(int64_t)number("RIFT_CPU_SYNC_NS_PER_PINNED_MIB", 0, 1000000000, 0);
	settings.per_pinned_ns = (int64_t)number("RIFT_CPU_SYNC_NS_PER_PINNED", 0, 1000000000, 0);
	settings.beside_ns = (int64_t)number("RIFT_CPU_LAUNCH_NS_BESIDE", 0, 1000000000, 0);
	settings.ramp_ns = (int64_t)number("RIFT_CPU_RAMP_NS", 0, 1000000000, 0);
	settings.ramp_ms = (int64_t)number("RIFT_CPU_RAMP_MS", 1, 60000, 100);
	settings.memory_mib = number("RIFT_CPU_MEMORY_MIB", 1, 1 << 30, 0);
	settings.pinned_leak = number("RIFT_CPU_PINNED_LEAK", 0, 1, 0) != 0;
}

/* RIFT_CPU_FAIL=CALL=ERROR,CALL=ERROR: load() sees to it that every ERROR is one. */
bool injection_is_valid(const char *text)
{
	while (*text) {
		const char *name = text + strcspn(text, "=,");
		size_t n = strcspn(name, ",");

		if (*name != '=' || name == text || !error_named(name + 1, n - 1))
			return false;
		text = name[n] ? name + n + 1 : name + n;
	}
	return true;
}

/* As CUDA takes its variable: what is behind a number that is none is not there. */
static void load_visible(const char *text, int all)
{
	settings.devices = 0;
	while (settings.devices < DEVICES_MAX) {
		char *end;
		long device = strtol(text, &end, 10);

		if (end == text || device < 0 || device >= all || (*end && *end != ','))
			return;
		settings.device[settings.devices++] = (int)device;
		if (!*end)
			return;
		text = end + 1;
	}
}

/* Where there are several to test programs by, CUDA's own variable chooses among them. */
static void load_devices(void)
{
	const char *visible = getenv("CUDA_VISIBLE_DEVICES");

	settings.devices = (int)number("RIFT_CPU_DEVICES", 1, DEVICES_MAX, 1);
	for (int i = 0; i < settings.devices; i++)
		settings.device[i] = i;
	if (getenv("RIFT_CPU_DEVICES") && visible)
		load_visible(visible, settings.devices);
}

static void load(void)
{
	refuse_unknown_names();
	load_costs();
	load_devices();
	settings.workers = (unsigned)number("RIFT_CPU_WORKERS", 1, 256, processors());
	settings.spin_ns = 1000 * (int64_t)number("RIFT_CPU_SPIN_US", 0, 1000000, 200);
	settings.order = order();
	settings.fail = getenv("RIFT_CPU_FAIL");
	if (settings.fail && !injection_is_valid(settings.fail))
		refuse("RIFT_CPU_FAIL=%s: must be CALL=ERROR, as cudaGraphLaunch="
		       "cudaErrorNotSupported; several with commas between them",
		       settings.fail);
	settings.strict = number("RIFT_CPU_STRICT", 0, 1, 0) != 0;
	if (settings.order == ORDER_RANDOM) {
		settings.seed = number("RIFT_CPU_SEED", 0, UINT64_MAX, (uint64_t)clock_ns());
		fprintf(stderr, "rift: CPU device: RIFT_CPU_ORDER=random RIFT_CPU_SEED=%llu\n",
			(unsigned long long)settings.seed);
	}
	atomic_store(&host_spin_ns, settings.spin_ns);
}

const struct config *config(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, load);
	return &settings;
}

/* ---- costs ----------------------------------------------------------------------------- */

/*
 * What a slower platform would do to the host, and the truth that measurements are compared with:
 * by the clock alone at the end, no pause and no yield. Before that a long cost leaves the core to
 * others.
 */
static void spend(int64_t ns)
{
	const int64_t long_ns = 5000000, polled_ns = 1000000;
	int64_t end = clock_ns() + ns, asleep = ns - polled_ns;

	if (ns >= long_ns)
		nanosleep(&(struct timespec){ asleep / 1000000000, asleep % 1000000000 }, NULL);
	while (clock_ns() < end)
		;
}

static atomic_int_least64_t pinned_bytes, pinned_count; /* that are paid for */

void pinned_changes(int64_t bytes, int count)
{
	if (count < 0 && config()->pinned_leak)
		return;
	atomic_fetch_add(&pinned_bytes, bytes);
	atomic_fetch_add(&pinned_count, count);
}

/* A layer that goes through all pinned memory at each synchronize. */
static int64_t of_pinned_ns(void)
{
	const struct config *c = config();

	if (!c->per_pinned_mib_ns && !c->per_pinned_ns)
		return 0;
	return (int64_t)((double)pinned_bytes / (1 << 20) * (double)c->per_pinned_mib_ns) +
	       pinned_count * c->per_pinned_ns;
}

/*
 * A device that others slow by their mere presence: who launches, locks a byte of a file, which the
 * kernel unlocks when the process ends.
 */
static int presence = -1;

static void be_present(void)
{
	const char *folder = getenv("TMPDIR");
	struct flock mine = { .l_type = F_RDLCK, .l_start = getpid(), .l_len = 1 };
	char path[4200];

	snprintf(path, sizeof(path), "%s/rift-cpu-present-%d", folder && *folder ? folder : "/tmp",
		 (int)getuid());
	presence = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (presence < 0 || fcntl(presence, F_OFD_SETLK, &mine)) {
		fprintf(stderr, "rift: CPU device: cannot lock %s\n", path);
		exit(3);
	}
}

static bool others_are_present(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct flock any = { .l_type = F_WRLCK };

	pthread_once(&once, be_present);
	return !fcntl(presence, F_OFD_GETLK, &any) && any.l_type != F_UNLCK;
}

static int64_t of_others_ns(void)
{
	int64_t ns = config()->beside_ns;

	return ns && others_are_present() ? ns : 0;
}

/*
 * A clock that falls while nothing runs, and comes back while something does: a launch after so
 * long without one pays all, the others what of the time is left, in a straight line.
 */
static int64_t of_ramp_ns(void)
{
	static atomic_int_least64_t woken_ns, last_ns;
	const struct config *c = config();
	int64_t now = clock_ns(), ramp = 1000000 * c->ramp_ms, up;

	if (!c->ramp_ns)
		return 0;
	if (!last_ns || now - last_ns > ramp)
		woken_ns = now;
	last_ns = now;
	up = now - woken_ns;
	return up < ramp ? (int64_t)((double)c->ramp_ns * (double)(ramp - up) / (double)ramp) : 0;
}

static int64_t of_launch_ns(void)
{
	return of_others_ns() + of_ramp_ns();
}

cudaError_t charge(enum cost cost, cudaError_t error)
{
	int64_t ns = config()->cost_ns[cost] + (cost == COST_SYNC     ? of_pinned_ns()
						: cost == COST_LAUNCH ? of_launch_ns()
								      : 0);

	if (ns && !error)
		spend(ns);
	return error;
}

/* ---- errors that calls are told to return ---------------------------------------------- */

atomic_bool injects = true;

cudaError_t injected_error(const char *call)
{
	const char *text = config()->fail;
	size_t length = strlen(call);

	if (!text || !*text)
		atomic_store(&injects, false);
	while (text && *text) {
		size_t n = strcspn(text, ",");

		if (n > length && text[length] == '=' && !strncmp(text, call, length))
			return error_named(text + length + 1, n - length - 1);
		text += text[n] ? n + 1 : n;
	}
	return cudaSuccess;
}
