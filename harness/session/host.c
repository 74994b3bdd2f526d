/* system.c - what the operating system tells a measurement: processors, switches, stolen time. */
#include "harness/session/host.h"

#include <cuda_runtime_api.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>

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

int64_t system_start_of(int pid)
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

/* "0-7,16-23" */
static void parse_cpus(const char *text, cpu_set_t *set)
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

/* Of the allowed processors those near the device, or all where that is not known. */
static void near_device(const char *pci_bus_id, const cpu_set_t *allowed, cpu_set_t *out)
{
	char path[128], line[1024];

	*out = *allowed;
	if (!pci_bus_id || !*pci_bus_id)
		return;
	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/local_cpulist", pci_bus_id);
	if (!first_line(path, line, sizeof(line)))
		return;
	parse_cpus(line, out);
	CPU_AND(out, out, allowed);
	if (!CPU_COUNT(out))
		*out = *allowed;
}

void system_make_room(const char *pci_bus_id, bool cpu_device)
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
