/* platform.c - what machine a figure was taken on. */
#include "harness/platform/platform.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/check.h"
#include "common/device.h"
#include "harness/base/json.h"
#include "harness/base/text.h"
#include "harness/platform/build.h"
#include "harness/platform/libraries.h"
#include "harness/platform/in_force.h"

const char platform_not_gpu[] = "CPU device: these are not GPU figures.";

const char *platform_build(void)
{
#ifdef RIFT_CPU_DEVICE
	return "CPU device";
#else
	return "CUDA";
#endif
}

/* ---- the device ------------------------------------------------------------------------- */

static const char *no_device(struct platform *p, cudaError_t err)
{
	p->cuda_error = (int)err;
	cudaGetLastError();
	return device_why_none(err);
}

const char *platform_open(struct platform *p)
{
	struct cudaDeviceProp prop;
	int count = 0;
	cudaError_t err = cudaGetDeviceCount(&count);

	cudaRuntimeGetVersion(&p->runtime_version);
	cudaDriverGetVersion(&p->driver_version);
	if (err || count < 1)
		return no_device(p, err);
	/* opens the device: fails where it is taken exclusively or its memory is gone */
	err = cudaSetDevice(0);
	if (!err)
		err = cudaGetDeviceProperties(&prop, 0);
	if (err)
		return no_device(p, err);
	snprintf(p->device, sizeof(p->device), "%s", prop.name);
	p->cc_major = prop.major;
	p->cc_minor = prop.minor;
	p->sms = prop.multiProcessorCount;
	p->memory_bytes = (int64_t)prop.totalGlobalMem;
	/* asked of the runtime, not of the build: either binary may find the other library */
	p->is_gpu = prop.major > 0;
	return NULL;
}

int platform_device(struct platform *p)
{
	const char *why = platform_open(p);

	if (!why)
		return 0;
#ifdef RIFT_CPU_DEVICE
	return complain(ENODEV, "no CPU device: %s", why);
#else
	return complain(ENODEV,
			"no CUDA device: %s; `rift doctor` says more, `make DEVICE=cpu` builds for "
			"the CPU device",
			why);
#endif
}

int platform_layers(struct platform *p)
{
	json_decref(p->layers);
	p->layers = layers_in_force();
	return layers_refuse(p->layers);
}

static json_t *version_json(int packed)
{
	struct fact version = fact_cuda_version(packed);

	return fact_known(&version) ? json_string(version.text) : json_null();
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

/* ---- the whole -------------------------------------------------------------------------- */

void platform_host(struct platform *p)
{
	const struct place here = place_here();

	host_read(&p->host, &here, p->host_name);
	virt_read(&p->virt, &here);
}

void platform_details(struct platform *p)
{
	const struct place here = place_here();

	if (*p->device)
		gpu_read(&p->gpu, &here, &p->virt);
	else
		gpu_missing(&p->gpu, &here, &p->virt, "no device is open");
	libraries_read(&p->libraries, &here);
}

const char *platform_name_refused(const char *name)
{
	size_t n = strlen(name);

	if (n < 1 || n > 64)
		return "1 to 64 bytes";
	for (const char *c = name; *c; c++)
		if (iscntrl((unsigned char)*c))
			return "without control characters";
	return NULL;
}

int platform_declared(const char *name)
{
	const char *why = platform_name_refused(name);

	return why ? complain(EINVAL, "--platform='%s': must be %s", text_shown(name).s, why) : 0;
}

static void set_field(json_t *o, const char *key, json_t *value)
{
	json_object_set_new(o, key, value);
}

/* What belongs to no part. */
static json_t *origin_json(const struct place *here, const struct build *build)
{
	struct fact boot_id = place_line(here, "/proc/sys/kernel/random/boot_id");
	json_t *o = json_object();

	facts_add(o, "git_commit", fact_json(&build->git_commit), build->git_commit.text);
	facts_add(o, "git_dirty", fact_json(&build->git_dirty), build->git_dirty.text);
	facts_add(o, "boot_id", fact_json(&boot_id), boot_id.text);
	return o;
}

json_t *platform_json(const struct platform *p)
{
	const struct place here = place_here();
	struct build build;
	json_t *o, *virt = virt_json(&p->virt), *gpu = gpu_json(&p->gpu);

	build_read(&build);
	o = origin_json(&here, &build);
	facts_add(virt, "declared_platform", json_text(p->declared), "--platform was not given");
	set_field(gpu, "libcuda", libcuda_json(&p->libraries));
	set_field(o, "build", build_json(&build));
	set_field(o, "host", host_json(&p->host));
	set_field(o, "virt", virt);
	set_field(o, "gpu", gpu);
	set_field(o, "cuda_flags", gpu_flags_json(&p->gpu));
	set_field(o, "libraries", libraries_json(&p->libraries));
	set_field(o, "env", environment_json(&here));
	if (json_array_size(p->layers))
		json_object_set(o, "layers", p->layers);
	return o;
}

json_t *platform_lasting(const json_t *platform)
{
	static const char *const changing[][2] = {
		{ "host", "uptime_s" },	      { "host", "load" },
		{ "host", "steal_share" },    { "host", "mem_available_bytes" },
		{ "gpu", "mem_free_bytes" },  { "gpu", "sm_clock_mhz" },
		{ "gpu", "clock_limits" },    { "gpu", "busy_percent" },
		{ "gpu", "other_processes" }, { "gpu", "link_gen_cur" },
	};
	json_t *o = json_deep_copy(platform);

	for (size_t i = 0; i < sizeof(changing) / sizeof(*changing); i++) {
		json_t *part = json_object_get(o, changing[i][0]);

		json_object_del(part, changing[i][1]);
		json_object_del(json_object_get(part, "why_null"), changing[i][1]);
		if (!json_object_size(json_object_get(part, "why_null")))
			json_object_del(part, "why_null");
	}
	return o;
}

void platform_release(struct platform *p)
{
	json_decref(p->layers);
	host_release(&p->host);
	libraries_release(&p->libraries);
}
