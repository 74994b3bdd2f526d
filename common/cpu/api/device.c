/* device.c - the one device: the processors and the memory that this process may use. */
#include "common/cpu/base/base.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- memory ----------------------------------------------------------------------------- */

/* The number after `key` in a file, or SIZE_MAX where there is none ("max", no such file). */
static size_t number_in_file(const char *path, const char *key)
{
	char line[128];
	size_t value = SIZE_MAX;
	FILE *f = fopen(path, "re");

	while (f && value == SIZE_MAX && fgets(line, sizeof(line), f))
		if (!strncmp(line, key, strlen(key)))
			sscanf(line + strlen(key), "%zu", &value);
	if (f)
		fclose(f);
	return value;
}

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

static size_t host_bytes(void)
{
	size_t pages = (size_t)sysconf(_SC_PHYS_PAGES), page = (size_t)sysconf(_SC_PAGESIZE);

	return smaller(pages * page, number_in_file("/sys/fs/cgroup/memory.max", ""));
}

/* Of the host, and no more than RIFT_CPU_MEMORY_MIB says. */
static size_t device_bytes(void)
{
	return config()->memory_mib ? (size_t)config()->memory_mib << 20 : SIZE_MAX;
}

size_t memory_total_bytes(void)
{
	return smaller(host_bytes(), device_bytes());
}

/* What the system can give out now without swapping. */
static size_t available_bytes(void)
{
	size_t kib = number_in_file("/proc/meminfo", "MemAvailable:");
	size_t limit = number_in_file("/sys/fs/cgroup/memory.max", "");
	size_t used = number_in_file("/sys/fs/cgroup/memory.current", "");
	size_t bytes = kib == SIZE_MAX ? host_bytes() : kib * 1024;

	if (limit == SIZE_MAX || used == SIZE_MAX)
		return bytes;
	return smaller(bytes, limit > used ? limit - used : 0);
}

/* Allocations count in full from the start, though the system sees only what is touched. */
size_t memory_free_bytes(void)
{
	static atomic_size_t at_start;
	size_t now = available_bytes(), none = 0, given = allocation_total_bytes();

	/* What was free at the first call is all that is ever given out. */
	atomic_compare_exchange_strong(&at_start, &none, smaller(now + given, device_bytes()));
	return smaller(now, at_start > given ? at_start - given : 0);
}

/* ---- the device ------------------------------------------------------------------------- */

cudaError_t cudaGetDeviceCount(int *count)
{
	INJECT();
	if (!count)
		return result(cudaErrorInvalidValue);
	*count = 1;
	return cudaSuccess;
}

cudaError_t cudaGetDevice(int *device)
{
	INJECT();
	if (!device)
		return result(cudaErrorInvalidValue);
	*device = 0;
	return cudaSuccess;
}

cudaError_t cudaSetDevice(int device)
{
	INJECT();
	return result(device ? cudaErrorInvalidDevice : cudaSuccess);
}

/* As they were set; host memory can always be mapped. */
static atomic_uint device_flags = cudaDeviceMapHost;

cudaError_t cudaGetDeviceFlags(unsigned *flags)
{
	INJECT();
	if (!flags)
		return result(cudaErrorInvalidValue);
	*flags = device_flags;
	return cudaSuccess;
}

/* How synchronizing host threads wait. */
cudaError_t cudaSetDeviceFlags(unsigned flags)
{
	INJECT();
	const unsigned known = cudaDeviceScheduleMask | cudaDeviceMapHost |
			       cudaDeviceLmemResizeToMax | cudaDeviceSyncMemops;
	unsigned wait = flags & cudaDeviceScheduleMask;

	if (flags & ~known || (wait & (wait - 1)))
		return result(cudaErrorInvalidValue);
	if (wait == cudaDeviceScheduleSpin)
		host_spin_ns = INT64_MAX;
	else if (wait == cudaDeviceScheduleBlockingSync)
		host_spin_ns = 0;
	else
		host_spin_ns = config()->spin_ns; /* polling yields the core in any case */
	device_flags = flags | cudaDeviceMapHost;
	return cudaSuccess;
}

static cudaError_t get_version(int *version)
{
	if (!version)
		return cudaErrorInvalidValue;
	*version = CUDART_VERSION;
	return cudaSuccess;
}

/* There is no driver below; programs compare the two. */
cudaError_t cudaDriverGetVersion(int *version)
{
	INJECT();
	return result(get_version(version));
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
	INJECT();
	return result(get_version(version));
}

cudaError_t cudaDeviceSynchronize(void)
{
	INJECT();
	cudaError_t error = device_wide_call();

	if (error)
		return result(error);
	streams_wait_all(false);
	return charge(COST_SYNC, cudaSuccess);
}

/* Everything of this process goes: handles, memory, the error. */
cudaError_t cudaDeviceReset(void)
{
	INJECT();
	streams_wait_all(false);
	for (struct stream *s; (s = handle_close_any(HANDLE_STREAM));) {
		capture_drop(s);
		stream_quit(s);
		stream_unref(s);
	}
	events_close_all();
	graphs_close_all();
	execs_close_all();
	allocations_free_all();
	forget_error();
	return cudaSuccess;
}
