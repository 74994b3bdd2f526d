/* old_nvml.c - stands in for the management library of an older driver: little is there yet. */
#include <string.h>
#include <unistd.h>

struct process {
	unsigned pid;
	unsigned long long bytes;
	unsigned gpu_instance, compute_instance;
};

int nvmlInit_v2(void)
{
	return 0;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char *bus, const char **device)
{
	*device = bus;
	return 0;
}

int nvmlSystemGetDriverVersion(char *to, unsigned bytes)
{
	strncpy(to, "470.256.02", bytes);
	return 0;
}

int nvmlDeviceGetCurrentClocksThrottleReasons(const char *device, unsigned long long *bits)
{
	(void)device;
	*bits = 0;
	return 0;
}

int nvmlDeviceGetComputeRunningProcesses_v2(const char *device, unsigned *n, struct process *list)
{
	(void)device;
	list[0].pid = (unsigned)getpid();
	list[1].pid = list[2].pid = 1;
	*n = 3;
	return 0;
}
