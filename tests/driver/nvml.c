/*
 * nvml.c - stands in for NVIDIA's management library in tests: one GPU at 0000:3b:00.0.
 *
 * $FAKE_NVML changes what it says, words separated by blanks:
 *   mismatch   nvmlInit fails: the library is not the driver's
 *   vgpu       virtualization mode 2, and no link, power or MIG, as in a guest with a vGPU
 *   mig        MIG is on; processes only for root
 *   busy       another process, 87 percent, hot
 *   crowd      more processes than there is room for
 *   hidden     processes are listed, but not this one
 *   denied     clocks are not for this user to lock, nor memory to see
 *   stuck      they cannot be set free
 *   confidential  confidential computing is on; devtools: with development tools
 * $FAKE_NVML_LOG is a file: what was done to the clock is added to it, a line each.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	OK = 0,
	NOT_SUPPORTED = 3,
	NO_PERMISSION = 4,
	NOT_FOUND = 6,
	INSUFFICIENT_SIZE = 7,
	MISMATCH = 18
};

struct process {
	unsigned pid;
	unsigned long long bytes;
	unsigned gpu_instance, compute_instance;
};

static int is_asked(const char *word)
{
	const char *words = getenv("FAKE_NVML");

	return words && strstr(words, word);
}

static const char *const the_gpu = "the gpu";

int nvmlInit_v2(void)
{
	return is_asked("mismatch") ? MISMATCH : OK;
}

int nvmlShutdown(void)
{
	return OK;
}

const char *nvmlErrorString(int error)
{
	switch (error) {
	case NOT_SUPPORTED:
		return "Not Supported";
	case NO_PERMISSION:
		return "Insufficient Permissions";
	case NOT_FOUND:
		return "Not Found";
	case MISMATCH:
		return "Driver/library version mismatch";
	default:
		return "Unknown Error";
	}
}

int nvmlDeviceGetHandleByPciBusId_v2(const char *bus, const char **device)
{
	*device = the_gpu;
	return strstr(bus, ":3b:00.0") ? OK : NOT_FOUND;
}

static int copy_text(char *to, unsigned bytes, const char *from)
{
	snprintf(to, bytes, "%s", from);
	return OK;
}

int nvmlSystemGetDriverVersion(char *to, unsigned bytes)
{
	return copy_text(to, bytes, "580.82.07");
}

int nvmlSystemGetNVMLVersion(char *to, unsigned bytes)
{
	return copy_text(to, bytes, "13.580.82.07");
}

int nvmlDeviceGetVbiosVersion(const char *device, char *to, unsigned bytes)
{
	(void)device;
	return copy_text(to, bytes, "96.00.A5.00.01");
}

/* A number that a vGPU does not have. */
#define NUMBER(name, number)                                                                       \
	int name(const char *device, unsigned *value)                                              \
	{                                                                                          \
		*value = number;                                                                   \
		return device != the_gpu || is_asked("vgpu") ? NOT_SUPPORTED : OK;                 \
	}

NUMBER(nvmlDeviceGetCurrPcieLinkGeneration, 1)
NUMBER(nvmlDeviceGetMaxPcieLinkGeneration, 5)
NUMBER(nvmlDeviceGetCurrPcieLinkWidth, is_asked("busy") ? 8 : 16)
NUMBER(nvmlDeviceGetMaxPcieLinkWidth, 16)
NUMBER(nvmlDeviceGetEnforcedPowerLimit, 700500)
NUMBER(nvmlDeviceGetPersistenceMode, !is_asked("busy"))
NUMBER(nvmlDeviceGetPowerUsage, 412345)

int nvmlDeviceGetTemperature(const char *device, int sensor, unsigned *celsius)
{
	(void)device;
	*celsius = is_asked("busy") ? 88 : 61;
	return sensor ? NOT_SUPPORTED : OK;
}

int nvmlDeviceGetVirtualizationMode(const char *device, unsigned *mode)
{
	(void)device;
	*mode = is_asked("vgpu") ? 2 : 1;
	return OK;
}

struct confidential {
	unsigned environment, feature, development;
};

int nvmlSystemGetConfComputeState(struct confidential *c)
{
	if (is_asked("vgpu"))
		return NOT_SUPPORTED;
	*c = (struct confidential){ 2, is_asked("confidential") != 0, is_asked("devtools") != 0 };
	return 0;
}

int nvmlDeviceGetMigMode(const char *device, unsigned *now, unsigned *pending)
{
	(void)device;
	*now = is_asked("mig") != 0;
	*pending = 1;
	return is_asked("vgpu") ? NOT_SUPPORTED : OK;
}

int nvmlDeviceGetClockInfo(const char *device, int clock, unsigned *mhz)
{
	(void)device;
	*mhz = clock == 1 ? 345 : 1;
	return OK;
}

int nvmlDeviceGetMaxClockInfo(const char *device, int clock, unsigned *mhz)
{
	(void)device;
	*mhz = clock == 1 ? 1980 : 1;
	return OK;
}

static void log_call(const char *what, unsigned mhz)
{
	const char *path = getenv("FAKE_NVML_LOG");
	FILE *f = path ? fopen(path, "a") : NULL;

	if (!f)
		return;
	fprintf(f, "%s %u\n", what, mhz);
	fclose(f);
}

int nvmlDeviceSetGpuLockedClocks(const char *device, unsigned least, unsigned most)
{
	(void)device;
	if (is_asked("denied"))
		return NO_PERMISSION;
	log_call(least == most ? "lock" : "a range", most);
	return OK;
}

int nvmlDeviceResetGpuLockedClocks(const char *device)
{
	(void)device;
	log_call("free", 0);
	return is_asked("stuck") ? NOT_SUPPORTED : OK;
}

int nvmlDeviceGetCurrentClocksEventReasons(const char *device, unsigned long long *bits)
{
	(void)device;
	*bits = is_asked("busy") ? 0x04 | 0x40 : 0x01;
	return OK;
}

int nvmlDeviceGetUtilizationRates(const char *device, unsigned *gpu_and_memory)
{
	(void)device;
	gpu_and_memory[0] = is_asked("busy") ? 87 : 0;
	gpu_and_memory[1] = 1;
	return is_asked("mig") ? NOT_SUPPORTED : OK;
}

int nvmlDeviceGetMemoryInfo(const char *device, unsigned long long *total_free_used)
{
	(void)device;
	total_free_used[0] = 80ULL << 30;
	total_free_used[1] = 78ULL << 30;
	total_free_used[2] = 2ULL << 30;
	return is_asked("denied") ? NO_PERMISSION : OK;
}

int nvmlDeviceGetComputeRunningProcesses_v3(const char *device, unsigned *n, struct process *list)
{
	(void)device;
	*n = 0;
	if (is_asked("mig"))
		return NO_PERMISSION;
	if (is_asked("crowd"))
		return INSUFFICIENT_SIZE;
	if (!is_asked("hidden"))
		list[(*n)++].pid = (unsigned)getpid();
	if (is_asked("busy"))
		list[(*n)++].pid = (unsigned)getppid();
	return OK;
}

int nvmlDeviceGetGraphicsRunningProcesses_v3(const char *device, unsigned *n, struct process *list)
{
	(void)device;
	*n = 0;
	if (is_asked("busy"))
		list[(*n)++].pid = 1;
	return OK;
}
