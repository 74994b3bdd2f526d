/* room.c - is there memory for what is asked for? */
#include "common/room.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/cuda_check.h"

static int check_bytes(int64_t bytes, int64_t free_bytes, const char *what, const char *where)
{
	if (free_bytes < 0 || bytes <= free_bytes / 100 * ROOM_PERCENT)
		return 0;
	return complain(ENOMEM,
			"%s: takes %lld bytes, more than %d %% of the %lld that are free %s", what,
			(long long)bytes, ROOM_PERCENT, (long long)free_bytes, where);
}

int room_on_device(int64_t bytes, const char *what)
{
	size_t free_bytes, total;

	CUDA(cudaMemGetInfo(&free_bytes, &total));
	return check_bytes(bytes, (int64_t)free_bytes, what, "on the device");
}

/* A line of /proc/meminfo, "MemTotal", in bytes; -1: not known. */
static int64_t meminfo(const char *name)
{
	size_t length = strlen(name);
	FILE *f = fopen("/proc/meminfo", "re");
	long long kb = -1;
	char line[128];

	while (f && kb < 0 && fgets(line, sizeof(line), f))
		if (!strncmp(line, name, length) && line[length] == ':')
			sscanf(line + length, ": %lld kB", &kb);
	if (f)
		fclose(f);
	return kb < 0 ? -1 : kb * 1024;
}

int64_t room_host_spare(void)
{
	int64_t free_bytes = meminfo("MemAvailable");

	return free_bytes < 0 ? -1 : free_bytes / 100 * ROOM_PERCENT;
}

/* The CPU device's memory is the host's: what was allocated there may not have been touched yet. */
static int64_t host_free(void)
{
	int64_t free_bytes = meminfo("MemAvailable");
#ifdef RIFT_CPU_DEVICE
	size_t left, total;

	if (free_bytes >= 0 && !cudaMemGetInfo(&left, &total) && (int64_t)left < free_bytes)
		return (int64_t)left;
#endif
	return free_bytes;
}

int room_on_host(int64_t bytes, const char *what)
{
	return check_bytes(bytes, host_free(), what, "on the host");
}

int room_on_both(int64_t device_bytes, int64_t host_bytes, const char *what)
{
	int err = room_on_device(device_bytes, what);

#ifdef RIFT_CPU_DEVICE
	host_bytes += device_bytes;
#endif
	return err ? err : room_on_host(host_bytes, what);
}

int room_for_buffers(int64_t bytes, const char *what)
{
	int64_t all = meminfo("MemTotal");

	if (all < 0 || bytes <= all / 100 * ROOM_BUFFER_PERCENT)
		return room_on_host(bytes, what);
	return complain(ENOMEM, "%s: host buffers take %lld bytes, more than %d %% of its %lld",
			what, (long long)bytes, ROOM_BUFFER_PERCENT, (long long)all);
}
