/* system.c - the machine around a measurement: processors, stolen time, the GPU awake, its clock.
 */
#include "harness/platform/system.h"

#include <cuda_runtime_api.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/check.h"
#include "harness/base/command.h"
#include "harness/platform/nvml.h"
#include "harness/platform/platform.h"

/* ---- the clock -------------------------------------------------------------------------- */

int64_t clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return (int64_t)t.tv_sec * SECOND_NS + t.tv_nsec;
}

enum { BATCHES = 5, READINGS = 2000 };

/* The fastest batch: others were interrupted. */
static struct clock_probe probe_now(int64_t (*now_ns)(void))
{
	struct clock_probe out = { .cost_ns = 1e18, .tick_ns = INT64_MAX };

	for (int b = 0; b < BATCHES; b++) {
		int64_t start = now_ns(), before = start, now = start;

		for (int i = 0; i < READINGS; i++, before = now) {
			now = now_ns();
			if (now > before && now - before < out.tick_ns)
				out.tick_ns = now - before;
		}
		if ((double)(now - start) / READINGS < out.cost_ns)
			out.cost_ns = (double)(now - start) / READINGS;
	}
	return out;
}

struct clock_probe clock_probe_of(int64_t (*now_ns)(void))
{
	enum { EARLY_NS = 5000, TRIES = 30 };
	const struct timespec tenth = { .tv_nsec = 100000000 };
	struct clock_probe out = probe_now(now_ns);
	double first_ns = out.cost_ns;

	for (int i = 0; i < TRIES && out.cost_ns > EARLY_NS; i++) {
		nanosleep(&tenth, NULL);
		out = probe_now(now_ns);
	}
	if (first_ns > EARLY_NS && out.cost_ns <= EARLY_NS)
		out.early_ns = first_ns;
	return out;
}

struct clock_probe clock_probe(void)
{
	return clock_probe_of(clock_ns);
}

/* ---- what the operating system tells ---------------------------------------------------- */

struct usage system_usage(void)
{
	struct usage u = { 0 };
	struct rusage r;

	if (getrusage(RUSAGE_THREAD, &r))
		return u;
	u.involuntary = r.ru_nivcsw;
	u.utime_us = (int64_t)r.ru_utime.tv_sec * 1000000 + r.ru_utime.tv_usec;
	u.stime_us = (int64_t)r.ru_stime.tv_sec * 1000000 + r.ru_stime.tv_usec;
	return u;
}

/* The first line of a small file, without its end; false where there is none. */
static bool first_line(const char *path, char *line, int size)
{
	FILE *f = fopen(path, "re");
	bool got = f && fgets(line, size, f);

	if (f)
		fclose(f);
	if (got)
		line[strcspn(line, "\n")] = '\0';
	return got;
}

int64_t system_steal_ticks(void)
{
	char line[256];
	long long steal;

	if (!first_line("/proc/stat", line, sizeof(line)) ||
	    sscanf(line, "cpu %*d %*d %*d %*d %*d %*d %*d %lld", &steal) != 1)
		return -1;
	return steal;
}

const char *system_boot_id(void)
{
	static char id[64];

	if (!*id && !first_line("/proc/sys/kernel/random/boot_id", id, sizeof(id)))
		*id = '\0';
	return id;
}

int64_t system_start(int pid)
{
	char path[64], line[1024], *after;
	long long start;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	if (!first_line(path, line, sizeof(line)))
		return -1;
	after = strrchr(line, ')'); /* the name before it may hold anything */
	if (!after || sscanf(after + 1,
			     " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d "
			     "%*d %*d %*d %lld",
			     &start) != 1)
		return -1;
	return start;
}

int64_t host_canary_run(void)
{
	enum { LINKS = 20000 }; /* of 4 to 5 cycles: a multiplication and an addition */
	int64_t start = clock_ns();
	uint64_t x = (uint64_t)start;

	for (int i = 0; i < LINKS; i++) {
		x = x * 6364136223846793005u + 1442695040888963407u;
		__asm__ volatile("" : "+r"(x)); /* no link may be folded into the next */
	}
	return clock_ns() - start;
}

bool system_tsc_is_invariant(void)
{
	char line[8192];
	FILE *f = fopen("/proc/cpuinfo", "re");
	bool invariant = false;

	while (f && fgets(line, sizeof(line), f)) {
		if (strncmp(line, "flags", 5))
			continue;
		invariant = strstr(line, " constant_tsc") && strstr(line, " nonstop_tsc");
		break;
	}
	if (f)
		fclose(f);
	return invariant;
}

void system_pci_address(char out[32])
{
	static const enum cudaDeviceAttr attributes[] = { cudaDevAttrPciDomainId,
							  cudaDevAttrPciBusId,
							  cudaDevAttrPciDeviceId };
	int v[3];

	*out = '\0';
	for (int i = 0; i < 3; i++) {
		if (cudaDeviceGetAttribute(&v[i], attributes[i], 0)) {
			cudaGetLastError();
			return;
		}
	}
	snprintf(out, 32, "%04x:%02x:%02x.0", (unsigned)v[0], (unsigned)v[1], (unsigned)v[2]);
}

/* ---- pinning ----------------------------------------------------------------------------- */

static int chosen = -1;
static cpu_set_t unpinned; /* all that were allowed but that one */

void system_read_cpus(const char *text, cpu_set_t *set)
{
	CPU_ZERO(set);
	while (*text) {
		char *end;
		long first = strtol(text, &end, 10), last = first;

		if (end == text)
			return;
		if (*end == '-')
			last = strtol(end + 1, &end, 10);
		for (long i = first; i <= last && i < CPU_SETSIZE; i++)
			CPU_SET((int)i, set);
		text = *end == ',' ? end + 1 : end;
	}
}

/* The allowed processors near the device, or all of them where that is not known. */
static void near_device(const char *pci_bus_id, const cpu_set_t *allowed, cpu_set_t *out)
{
	char path[128], line[1024];

	*out = *allowed;
	if (!pci_bus_id || !*pci_bus_id)
		return;
	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/local_cpulist", pci_bus_id);
	if (!first_line(path, line, sizeof(line)))
		return;
	system_read_cpus(line, out);
	CPU_AND(out, out, allowed);
	if (!CPU_COUNT(out))
		*out = *allowed;
}

void system_free_processor(const char *pci_bus_id, bool cpu_device)
{
	cpu_set_t allowed, candidates;

	chosen = -1;
	if (sched_getaffinity(0, sizeof(allowed), &allowed))
		return;
	if (CPU_COUNT(&allowed) < (cpu_device ? 3 : 2))
		return;
	near_device(pci_bus_id, &allowed, &candidates);
	/* the last one: the first few serve most interrupts */
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &candidates))
			chosen = i;
	CPU_CLR(chosen, &allowed);
	unpinned = allowed;
	if (cpu_device && sched_setaffinity(0, sizeof(allowed), &allowed))
		chosen = -1;
}

int system_pin(void)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	if (chosen < 0)
		return -1;
	CPU_SET(chosen, &one);
	return sched_setaffinity(0, sizeof(one), &one) ? -1 : chosen;
}

void system_unpin(void)
{
	/* refused: what follows is slower, no more */
	if (chosen >= 0)
		(void)sched_setaffinity(0, sizeof(unpinned), &unpinned);
}

/* ---- a GPU kept awake between processes ------------------------------------------------- */

int keep_device_alive(char pci[32])
{
	struct platform ignored = { 0 };
	int mode = cudaComputeModeDefault, count = 0, major = 0;

	*pci = '\0';
	if (cudaGetDeviceCount(&count) || count < 1)
		return platform_device(&ignored); /* says why */
	cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0);
	if (!major)
		return 0;
	system_pci_address(pci);
	cudaDeviceGetAttribute(&mode, cudaDevAttrComputeMode, 0);
	cudaGetLastError(); /* a question that was not answered is no failure of the sweep */
	return mode == cudaComputeModeDefault ? platform_device(&ignored) : 0;
}

/* ---- the guard, which locks the GPU's clock and outlives whoever asked for it ----------- */

static int lock(struct nvml *n, const char *pci_bus_id, int mhz)
{
	struct fact locked;

	if (!nvml_open(n, "libnvidia-ml.so.1") || !nvml_choose(n, pci_bus_id))
		return complain(ENODEV, "--lock-clocks: %s", n->why);
	locked = nvml_lock_clock(n, (unsigned)mhz);
	if (fact_known(&locked))
		return 0;
	return complain(EPERM,
			"--lock-clocks: %s; it needs root, and in a guest or container often the "
			"host: lock the clock there (nvidia-smi -lgc), or leave the option out",
			locked.text);
}

static void wait_for_end_of_stdin(void)
{
	char byte;
	ssize_t n;

	do
		n = read(STDIN_FILENO, &byte, 1);
	while (n > 0 || (n < 0 && errno == EINTR));
}

int cmd_clocks(int argc, char **argv)
{
	static const int ignored[] = { SIGINT, SIGTERM, SIGHUP, SIGPIPE };
	struct nvml n = { 0 };
	struct fact set_free;
	int err;

	if (argc != 3)
		return exit_code_of(complain(EINVAL, "rift sweep-clocks is started by rift sweep"));
	for (size_t i = 0; i < sizeof(ignored) / sizeof(*ignored); i++)
		signal(ignored[i], SIG_IGN);
	err = lock(&n, argv[1], atoi(argv[2]));
	if (!err) {
		printf("locked\n");
		fflush(stdout);
		wait_for_end_of_stdin();
		set_free = nvml_free_clock(&n);
		if (!fact_known(&set_free))
			err = complain(EIO,
				       "--lock-clocks: the clock is still locked: %s; nvidia-smi "
				       "-rgc unlocks it",
				       set_free.text);
	}
	nvml_close(&n);
	return exit_code_of(err);
}

/* ---- who asks for a locked clock -------------------------------------------------------- */

/* Without opening the device. */
static bool find_gpu(char pci_bus_id[32])
{
	int count = 0, major = 0;

	*pci_bus_id = '\0';
	if (!cudaGetDeviceCount(&count) && count)
		cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0);
	if (major)
		system_pci_address(pci_bus_id);
	cudaGetLastError(); /* that there is none is said below */
	return *pci_bus_id;
}

/* In the child: a session of its own, so that no terminal ends it. */
static void become_guard(int in, int out, const char *pci_bus_id, int mhz)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", mhz);
	setsid();
	if (dup2(in, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0)
		execl("/proc/self/exe", "rift", "sweep-clocks", pci_bus_id, text, (char *)NULL);
	fprintf(stderr, "rift: --lock-clocks: cannot start a guard: %s\n", strerror(errno));
	_exit(127);
}

/* Has it said that it has locked the clock? */
static bool has_locked(int said)
{
	char byte;
	ssize_t n;

	do
		n = read(said, &byte, 1);
	while (n < 0 && errno == EINTR);
	return n == 1;
}

int clocks_lock(struct clocks *c, int mhz)
{
	int in[2] = { -1, -1 }, out[2] = { -1, -1 };
	char pci_bus_id[32];
	bool locked;

	*c = (struct clocks){ 0 };
	if (!find_gpu(pci_bus_id))
		return complain(EINVAL, "--lock-clocks: needs a GPU, and none is available");
	/* the ends that stay here are closed in every worker: it is held by this process alone */
	if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC))
		return complain(errno, "--lock-clocks: cannot start a guard: %s", strerror(errno));
	c->keepalive = in[1];
	c->guard = fork();
	if (!c->guard)
		become_guard(in[0], out[1], pci_bus_id, mhz);
	close(in[0]);
	close(out[1]);
	locked = c->guard > 0 && has_locked(out[0]);
	close(out[0]);
	if (locked)
		return 0;
	clocks_free(c);
	return -EPERM; /* it has said why */
}

void clocks_free(struct clocks *c)
{
	if (!c->guard)
		return;
	close(c->keepalive);
	while (c->guard > 0 && waitpid(c->guard, NULL, 0) < 0 && errno == EINTR)
		;
	*c = (struct clocks){ 0 };
}
