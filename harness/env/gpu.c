/* gpu.c - the device that figures are taken on. */
#include "harness/env/gpu.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- the CUDA runtime ------------------------------------------------------------------- */

/* CUDA packs 12.4 as 12040; 0 is "none". */
static struct fact version(int packed)
{
	return packed > 0 ? fact_text("%d.%d", packed / 1000, packed % 1000 / 10)
			  : fact_unknown("none is installed");
}

/* As nvidia-smi writes it; a MIG device has one of its own. */
static struct fact uuid(const struct cudaDeviceProp *prop)
{
	const unsigned char *b = (const unsigned char *)prop->uuid.bytes;
	bool mig = strstr(prop->name, " MIG ") != NULL;
	char hex[40];
	int at = 0;

	for (int i = 0; i < 16; i++)
		at += snprintf(hex + at, sizeof(hex) - (size_t)at, "%s%02x",
			       i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", b[i]);
	return fact_text("%s-%s", mig ? "MIG" : "GPU", hex);
}

/* "NVIDIA A100-SXM4-40GB MIG 1g.5gb" */
static struct fact mig_profile(const char *name)
{
	const char *mig = strstr(name, " MIG ");

	return mig ? fact_text("%s", mig + strlen(" MIG ")) : fact_unknown("not a MIG device");
}

static void describe_properties(struct gpu *g, const struct cudaDeviceProp *prop)
{
	g->name = fact_text("%.250s", prop->name);
	g->sms = fact_int(prop->multiProcessorCount);
	g->mem_bytes = fact_int((int64_t)prop->totalGlobalMem);
	g->l2_bytes = prop->l2CacheSize ? fact_int(prop->l2CacheSize)
					: fact_unknown("the device reports none");
	if (!prop->major) {
		g->uuid = g->pci_bus_id = g->cc = g->ecc = g->mig_profile =
			fact_unknown("the CPU device has none");
		return;
	}
	g->uuid = uuid(prop);
	g->pci_bus_id = fact_text("%04x:%02x:%02x.0", (unsigned)prop->pciDomainID,
				  (unsigned)prop->pciBusID, (unsigned)prop->pciDeviceID);
	g->cc = fact_text("%d.%d", prop->major, prop->minor);
	g->ecc = fact_bool(prop->ECCEnabled);
	g->mig_profile = mig_profile(prop->name);
}

/* Asks the runtime what it does not tell with the properties. */
static void ask_runtime(struct gpu *g)
{
	static const char *const modes[] = { "default", "exclusive", "prohibited",
					     "exclusive process" };
	static const char *const waits[] = { [cudaDeviceScheduleAuto] = "auto",
					     [cudaDeviceScheduleSpin] = "spin",
					     [cudaDeviceScheduleYield] = "yield",
					     [cudaDeviceScheduleBlockingSync] = "blocking" };
	int value = 0, runtime = 0, driver = 0;
	unsigned flags = 0;
	size_t free_bytes, bytes;
	const char *wait;

	cudaRuntimeGetVersion(&runtime);
	cudaDriverGetVersion(&driver);
	g->cuda_runtime = version(runtime);
	g->cuda_driver_api = version(driver);
	g->mem_free_bytes = cudaMemGetInfo(&free_bytes, &bytes) ? fact_unknown("cudaMemGetInfo "
									       "failed")
								: fact_int((int64_t)free_bytes);
	if (!cudaGetDeviceCount(&value))
		g->visible_devices = fact_int(value);
	if (!cudaDeviceGetAttribute(&value, cudaDevAttrComputeMode, 0) && value >= 0 && value < 4)
		g->compute_mode = fact_text("%s", modes[value]);
	flags = cudaGetDeviceFlags(&flags) ? ~0u : flags & cudaDeviceScheduleMask;
	wait = flags < sizeof(waits) / sizeof(*waits) ? waits[flags] : NULL;
	g->sync_flag = wait ? fact_text("%s", wait) : fact_unknown("cudaGetDeviceFlags failed");
	/* what failed here must not be found by a later call */
	cudaGetLastError();
}

/* By the driver's library, which is loaded if there is one. */
static struct fact loading_mode(void)
{
	enum { EAGER = 1, LAZY = 2 };
	void *lib = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
	int (*get)(int *) = lib ? (int (*)(int *))dlsym(lib, "cuModuleGetLoadingMode") : NULL;
	int mode = 0, err = get ? get(&mode) : -1;

	if (lib)
		dlclose(lib);
	if (!lib)
		return fact_unknown("libcuda.so.1 is not loaded");
	if (!get)
		return fact_unknown("a driver before CUDA 11.7: eager");
	if (err || (mode != EAGER && mode != LAZY))
		return fact_unknown("cuModuleGetLoadingMode: error %d, mode %d", err, mode);
	return fact_text(mode == LAZY ? "lazy" : "eager");
}

/* ---- the whole -------------------------------------------------------------------------- */

void gpu_describe(struct gpu *g, const struct cudaDeviceProp *prop, const struct nvml *nvml)
{
	*g = (struct gpu){ 0 };
	describe_properties(g, prop);
	gpu_ask_nvml(g, nvml);
}

static void add_module(struct gpu *g, const struct place *p, const struct virt *v)
{
	struct driver d;

	driver_read(&d, p, v);
	g->module_version = d.module_version;
	g->module_kind = d.module_kind;
	/* the library's version is the driver's; the kernel's where that is silent */
	if (!fact_known(&g->driver_version) && fact_known(&d.module_version))
		g->driver_version = d.module_version;
	if (fact_known(&g->pci_bus_id))
		g->numa_node =
			place_number(p, "/sys/bus/pci/devices/%.20s/numa_node", g->pci_bus_id.text);
	if (fact_known(&g->numa_node) && g->numa_node.number < 0)
		g->numa_node = fact_unknown("the firmware does not say");
}

/* A vGPU is named "NVIDIA A100-40C" or "GRID T4-16Q": gigabytes and the series. */
static bool named_like_vgpu(const char *name)
{
	const char *dash = strrchr(name, '-');
	size_t n = dash ? strspn(dash + 1, "0123456789") : 0;

	return n && strchr("ABCQ", dash[1 + n]) && dash[1 + n] && !dash[2 + n];
}

void gpu_note_sharing(const struct gpu *g, const struct place *p, struct virt *v)
{
	const char *pipe = place_env(p, "CUDA_MPS_PIPE_DIRECTORY");
	char control[256];

	if (fact_known(&g->virtualization) && !fact_is(&g->virtualization, "none"))
		virt_note(v, VIRT_GPU, g->virtualization.text, "NVML", "virtualization mode");
	if (fact_known(&g->name) && named_like_vgpu(g->name.text))
		virt_note(v, VIRT_GPU, "vgpu", "device name", "%s", g->name.text);
	if (fact_known(&g->mig_profile))
		virt_note(v, VIRT_GPU, "mig", "device name", "%s", g->mig_profile.text);
	/* the control daemon's pipe; programs become clients wherever they find it */
	snprintf(control, sizeof(control), "%.200s/control", pipe ? pipe : "/tmp/nvidia-mps");
	if (place_has(p, control))
		virt_note(v, VIRT_GPU, "mps", control, "%s", "");
}

void gpu_missing(struct gpu *g, const struct place *p, const struct virt *v, const char *why)
{
	struct fact *f = (struct fact *)g;

	for (size_t i = 0; i < sizeof(*g) / sizeof(*f); i++)
		f[i] = fact_unknown("%s", why);
	add_module(g, p, v);
}

void gpu_read(struct gpu *g, const struct place *p, struct virt *v)
{
	struct cudaDeviceProp prop;
	struct nvml nvml = { .why = "the CPU device has none" };

	if (cudaGetDeviceProperties(&prop, 0)) {
		cudaGetLastError();
		gpu_missing(g, p, v, "no properties");
		return;
	}
	if (prop.major) {
		char bus[24];

		snprintf(bus, sizeof(bus), "%08x:%02x:%02x.0", (unsigned)prop.pciDomainID,
			 (unsigned)prop.pciBusID, (unsigned)prop.pciDeviceID);
		if (nvml_open(&nvml, "libnvidia-ml.so.1"))
			nvml_choose(&nvml, bus);
	}
	gpu_describe(g, &prop, &nvml);
	nvml_close(&nvml);
	ask_runtime(g);
	g->loading_mode = prop.major ? loading_mode() : fact_unknown("the CPU device has none");
	if (!prop.major) {
		g->module_version = g->module_kind = g->numa_node = g->pci_bus_id;
		return;
	}
	add_module(g, p, v);
	gpu_note_sharing(g, p, v);
}

#define ROW(name)                                                                                  \
	{                                                                                          \
#name, offsetof(struct gpu, name)                                                  \
	}

json_t *gpu_json(const struct gpu *g)
{
	static const struct fact_row rows[] = {
		ROW(uuid),
		ROW(name),
		ROW(pci_bus_id),
		ROW(numa_node),
		ROW(link_gen_cur),
		ROW(link_gen_max),
		ROW(link_width_cur),
		ROW(link_width_max),
		ROW(cc),
		ROW(sms),
		ROW(l2_bytes),
		ROW(mem_bytes),
		ROW(mem_free_bytes),
		ROW(ecc),
		ROW(mig),
		ROW(mig_profile),
		ROW(persistence),
		ROW(power_limit_w),
		ROW(sm_clock_mhz),
		ROW(sm_clock_max_mhz),
		ROW(clock_limits),
		ROW(vbios),
		ROW(driver_version),
		ROW(module_version),
		ROW(module_kind),
		ROW(nvml_version),
		ROW(cuda_driver_api),
		ROW(cuda_runtime),
		ROW(compute_mode),
		ROW(other_processes),
		ROW(busy_percent),
		ROW(visible_devices),
		ROW(virtualization),
		{ 0 },
	};

	return facts_json(rows, g);
}

json_t *gpu_flags_json(const struct gpu *g)
{
	static const struct fact_row rows[] = { ROW(sync_flag), ROW(loading_mode), { 0 } };

	return facts_json(rows, g);
}
