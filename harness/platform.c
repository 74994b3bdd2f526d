/* platform.c - what machine a figure was taken on. */
#include "harness/platform.h"

#include <cuda_runtime_api.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "common/cuda_check.h"
#include "harness/json.h"

const char platform_not_gpu[] = "CPU device: these are not GPU figures.";

const char *platform_build(void)
{
#ifdef RIFT_CPU_DEVICE
	return "CPU device";
#else
	return "CUDA";
#endif
}

static int no_device(cudaError_t err)
{
	const char *why = err ? cudaGetErrorString(err) : "the driver shows none";

#ifdef RIFT_CPU_DEVICE
	return complain(ENODEV, "no CPU device: %s", why);
#else
	return complain(ENODEV,
			"no CUDA device: %s; check the NVIDIA driver, or build for the CPU device "
			"with `make DEVICE=cpu`",
			why);
#endif
}

int platform_device(struct platform *out)
{
	struct cudaDeviceProp prop;
	int count = 0;
	cudaError_t err = cudaGetDeviceCount(&count);

	if (err || count < 1)
		return no_device(err);
	/* opens the device: fails where it is taken exclusively or its memory is gone */
	err = cudaSetDevice(0);
	if (!err)
		err = cudaGetDeviceProperties(&prop, 0);
	if (err)
		return no_device(err);
	CUDA(cudaRuntimeGetVersion(&out->runtime_version));
	CUDA(cudaDriverGetVersion(&out->driver_version));
	snprintf(out->device, sizeof(out->device), "%s", prop.name);
	out->cc_major = prop.major;
	out->cc_minor = prop.minor;
	out->sms = prop.multiProcessorCount;
	out->memory_bytes = (int64_t)prop.totalGlobalMem;
	/* asked of the runtime, not of the build: either binary may find the other library */
	out->is_gpu = prop.major > 0;
	return 0;
}

/* The value of the first "key : value" line of /proc/cpuinfo; false when there is none. */
static bool cpuinfo(const char *key, char *value, size_t size)
{
	char line[8192], *colon;
	bool found = false;
	FILE *f = fopen("/proc/cpuinfo", "re");

	while (f && !found && fgets(line, sizeof(line), f)) {
		colon = strchr(line, ':');
		if (!colon || strncmp(line, key, strlen(key)))
			continue;
		line[strcspn(line, "\n")] = '\0';
		snprintf(value, size, "%s", colon + (colon[1] == ' ' ? 2 : 1));
		found = true;
	}
	if (f)
		fclose(f);
	return found;
}

/* By the markers that engines leave; their absence proves nothing. */
static const char *container(void)
{
	char name[16] = "";
	FILE *f;

	if (!access("/.dockerenv", F_OK))
		return "docker";
	if (!access("/run/.containerenv", F_OK))
		return "podman";
	/* systemd's interface for container managers */
	f = fopen("/run/systemd/container", "re");
	if (f && !fgets(name, sizeof(name), f))
		name[0] = '\0';
	if (f)
		fclose(f);
	return name[0] ? "other" : NULL;
}

void platform_host(struct platform *out)
{
	struct utsname uts;
	char flags[8192];

	if (!uname(&uts))
		snprintf(out->kernel, sizeof(out->kernel), "%s", uts.release);
	if (!cpuinfo("model name", out->cpu_model, sizeof(out->cpu_model)))
		out->cpu_model[0] = '\0';
	/* no flags line (ARM): unknown, not "bare metal" */
	out->hypervisor =
		cpuinfo("flags", flags, sizeof(flags)) ? strstr(flags, " hypervisor") != NULL : -1;
	out->logical_cpus = (int)sysconf(_SC_NPROCESSORS_ONLN);
	out->wsl = strcasestr(out->kernel, "microsoft") != NULL;
	out->container = container();
}

/* CUDA packs 12.4 as 12040. */
static json_t *version_json(int version)
{
	char text[32];

	snprintf(text, sizeof(text), "%d.%d", version / 1000, version % 1000 / 10);
	return version ? json_string(text) : json_null();
}

json_t *platform_device_json(const struct platform *p)
{
	char cc[32];
	json_t *o = json_object();

	snprintf(cc, sizeof(cc), "%d.%d", p->cc_major, p->cc_minor);
	json_object_set_new(o, "name", json_text(p->device));
	json_object_set_new(o, "kind", json_string(p->is_gpu ? "cuda" : "cpu"));
	json_object_set_new(o, "compute_capability", p->is_gpu ? json_string(cc) : json_null());
	json_object_set_new(o, "multiprocessors", json_integer(p->sms));
	json_object_set_new(o, "memory_bytes", json_integer(p->memory_bytes));
	json_object_set_new(o, "runtime_version", version_json(p->runtime_version));
	json_object_set_new(o, "driver_version", version_json(p->driver_version));
	return o;
}

json_t *platform_host_json(const struct platform *p)
{
	json_t *o = json_object();

	json_object_set_new(o, "kernel", *p->kernel ? json_text(p->kernel) : json_null());
	json_object_set_new(o, "cpu_model", *p->cpu_model ? json_text(p->cpu_model) : json_null());
	json_object_set_new(o, "logical_cpus", json_integer(p->logical_cpus));
	json_object_set_new(o, "hypervisor",
			    p->hypervisor < 0 ? json_null() : json_boolean(p->hypervisor));
	json_object_set_new(o, "container", json_text(p->container));
	json_object_set_new(o, "wsl", json_boolean(p->wsl));
	return o;
}
