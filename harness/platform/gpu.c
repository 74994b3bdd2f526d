/* gpu.c - the GPU: its driver as the kernel shows it, and what is known of the device. */
#include "harness/platform/gpu.h"

#include <ctype.h>
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the kernel's module ---------------------------------------------------------------- */

/* "580.159.04": digits, a dot, a digit. */
static bool is_version(const char *word)
{
	const char *dot = word + strspn(word, "0123456789");

	return *dot == '.' && isdigit((unsigned char)dot[1]);
}

/*
 * "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.183.01  Sun May 12 19:39:15 UTC 2024" or
 * "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.82.07  Release Build ...".
 */
static void read_module(struct driver *d, const struct place *p)
{
	static const char path[] = "/proc/driver/nvidia/version";
	struct fact f = place_value(p, path, "NVRM version");
	const char *at;

	d->module_version = d->module_kind = f;
	if (!fact_known(&f))
		return;
	d->module_kind = fact_text(strstr(f.text, "Open Kernel Module") ? "open" : "proprietary");
	/* x86_64 is the only other word with a digit, and has no dot */
	for (at = f.text; *at && !is_version(at); at += strspn(at, " "))
		at += strcspn(at, " ");
	d->module_version = *at ? fact_text("%.*s", (int)strcspn(at, " "), at)
				: fact_unknown("no version in %s", path);
}

/* ---- the bus ---------------------------------------------------------------------------- */

/* 0x03....: display controllers, which compute accelerators count among. */
static bool is_nvidia_gpu(const struct place *p, const char *device)
{
	struct fact vendor = place_line(p, "/sys/bus/pci/devices/%s/vendor", device);
	struct fact class = place_line(p, "/sys/bus/pci/devices/%s/class", device);

	return fact_is(&vendor, "0x10de") && !strncmp(fact_or(&class, ""), "0x03", 4);
}

static void read_bus(struct driver *d, const struct place *p)
{
	int n;
	struct dirent **names = place_names(p, "/sys/bus/pci/devices", &n);

	d->pci_first = fact_unknown("no NVIDIA GPU on the PCI bus");
	for (int i = 0; i < n; i++) {
		const char *name = names[i]->d_name;

		if (!is_nvidia_gpu(p, name) || d->pci_gpus++)
			continue;
		d->pci_first = fact_text("%.60s", name);
		d->pci_driver = place_link(p, "/sys/bus/pci/devices/%.60s/driver", name);
	}
	place_names_free(names, n);
}

/* ---- device files ----------------------------------------------------------------------- */

static bool may_open(const struct place *p, const char *path)
{
	char full[PATH_MAX];

	snprintf(full, sizeof(full), "%s%s", p->root, path);
	return !access(full, R_OK | W_OK);
}

/* A container may have been given any of the GPUs. */
static bool has_gpu_file(const struct place *p)
{
	int n, found = 0;
	struct dirent **names = place_names(p, "/dev", &n);

	for (int i = 0; i < n; i++)
		found += !strncmp(names[i]->d_name, "nvidia", 6) &&
			 isdigit((unsigned char)names[i]->d_name[6]);
	place_names_free(names, n);
	return found > 0;
}

void driver_read(struct driver *d, const struct place *p, const struct virt *v)
{
	*d = (struct driver){ 0 };
	read_module(d, p);
	read_bus(d, p);
	d->control_file = place_has(p, "/dev/nvidiactl");
	d->gpu_file = has_gpu_file(p);
	d->uvm_file = place_has(p, "/dev/nvidia-uvm");
	d->dxg = place_has(p, "/dev/dxg");
	d->allowed = d->dxg ? may_open(p, "/dev/dxg")
			    : !d->control_file || may_open(p, "/dev/nvidiactl");
	d->container = virt_word(v, VIRT_CONTAINER) != NULL;
	d->visible = place_env(p, "CUDA_VISIBLE_DEVICES");
	d->given = place_env(p, "NVIDIA_VISIBLE_DEVICES");
}

bool driver_gpu_here(const struct driver *d)
{
	return d->pci_gpus || d->control_file || d->gpu_file || d->dxg ||
	       fact_known(&d->module_version);
}

/* ---- advice ----------------------------------------------------------------------------- */

/* Errors of the CUDA runtime, by their numbers: the CPU device's header has few of them. */
enum {
	STUB_LIBRARY = 34,
	INSUFFICIENT_DRIVER = 35,
	DEVICES_UNAVAILABLE = 46,
	SYSTEM_NOT_READY = 802,
	SYSTEM_DRIVER_MISMATCH = 803,
	COMPAT_NOT_SUPPORTED = 804,
};

/* What the error alone says. An old driver it also reports where there is none at all. */
static const char *by_error(int cuda_error)
{
	switch (cuda_error) {
	case STUB_LIBRARY:
		return "the toolkit's stub of libcuda was found instead of the driver's: take the "
		       "stubs folder out of LD_LIBRARY_PATH";
	case DEVICES_UNAVAILABLE:
		return "another process has the GPU to itself, or none may use it: see "
		       "`nvidia-smi -q -d COMPUTE`; `nvidia-smi -c DEFAULT` as root shares it";
	case SYSTEM_NOT_READY:
		return "GPUs with NVSwitch need the fabric manager: systemctl start "
		       "nvidia-fabricmanager";
	case SYSTEM_DRIVER_MISMATCH:
		return "the driver was updated while its old module is loaded: restart the "
		       "machine, or the container with libraries of the module's version";
	case COMPAT_NOT_SUPPORTED:
		return "the compatibility libraries for newer CUDA do not support this GPU: update "
		       "the driver instead";
	default:
		return NULL;
	}
}

static const char *without_module(const struct driver *d)
{
	if (fact_is(&d->pci_driver, "vfio-pci"))
		return "the GPU is set aside for a virtual machine (vfio-pci): run rift in it";
	if (fact_is(&d->pci_driver, "nouveau"))
		return "the driver in use is nouveau, which has no CUDA: install NVIDIA's driver "
		       "and restart";
	return "there is a GPU but no driver for it: install NVIDIA's driver (modprobe nvidia if "
	       "it is installed)";
}

/* As the container runtime reads it. */
static bool is_given_none(const struct driver *d)
{
	return d->given && (!*d->given || !strcmp(d->given, "void") || !strcmp(d->given, "none"));
}

/* What is missing between the GPU and this process, the outermost first. */
static const char *by_files(const struct driver *d)
{
	if (d->dxg)
		return d->allowed ? "WSL: install NVIDIA's driver in Windows, none in here; then "
				    "/usr/lib/wsl/lib has libcuda.so.1"
				  : "WSL: /dev/dxg may not be opened by this user";
	if (!d->allowed)
		return "/dev/nvidiactl may not be opened by this user: join the group that owns "
		       "it (ls -l /dev/nvidiactl)";
	if (d->container && !d->control_file && is_given_none(d))
		return "NVIDIA_VISIBLE_DEVICES keeps GPUs from this container: start it with "
		       "NVIDIA_VISIBLE_DEVICES=all, or without it and with --gpus all";
	if (d->container && !d->control_file)
		return "no GPU is visible in this container: if its host has one, start it with "
		       "--gpus all (Docker, Podman with CDI), a limit nvidia.com/gpu (Kubernetes) "
		       "or --nv (Apptainer); `make DEVICE=cpu` builds for the CPU device";
	if (d->pci_gpus && !fact_known(&d->module_version) && !d->control_file)
		return without_module(d);
	if (!driver_gpu_here(d))
		return "no NVIDIA GPU is visible here; `make DEVICE=cpu` builds for the CPU device";
	if (!d->gpu_file)
		return "the driver is loaded, but shows no GPU: see its messages in the kernel's "
		       "log (dmesg | grep NVRM)";
	if (!d->uvm_file)
		return "/dev/nvidia-uvm is missing: modprobe nvidia-uvm, or run nvidia-smi as root "
		       "once";
	return NULL;
}

const char *driver_advice(const struct driver *d, int cuda_error)
{
	const char *advice = by_error(cuda_error);

	if (d->visible && (!*d->visible || *d->visible == '-'))
		return "CUDA_VISIBLE_DEVICES hides every GPU: unset it";
	if (!advice)
		advice = by_files(d);
	if (!advice && cuda_error == INSUFFICIENT_DRIVER)
		advice = "the driver is older than this CUDA runtime, or its library libcuda.so.1 "
			 "is missing (in a container: NVIDIA_DRIVER_CAPABILITIES without compute): "
			 "update the driver, or build with an older toolkit";
	return advice ? advice
		      : "check that nvidia-smi works; if it does, the toolkit's version may not "
			"fit the driver";
}

/* ---- the CUDA runtime ------------------------------------------------------------------- */

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
	g->cuda_runtime = fact_cuda_version(runtime);
	g->cuda_driver_api = fact_cuda_version(driver);
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
	/* the control daemon's pipe; programs become clients wherever they find it. A folder may be
	 * a layer's, and another in each process: the variable says which. */
	snprintf(control, sizeof(control), "%.200s/control", pipe ? pipe : "/tmp/nvidia-mps");
	if (place_has(p, control))
		virt_note(v, VIRT_GPU, "mps", pipe ? "CUDA_MPS_PIPE_DIRECTORY" : control, "%s", "");
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
		ROW(confidential),
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

/* ---- what NVML says of the device ------------------------------------------------------- */

/* A number that means one of these words. */
static struct fact number_word(struct fact number, const char *const *words, int n)
{
	if (!fact_known(&number))
		return number;
	if (number.number < 0 || number.number >= n)
		return fact_unknown("value %d is new to rift", (int)number.number);
	return fact_text("%s", words[number.number]);
}

static struct fact on_or_off(struct fact number)
{
	return fact_known(&number) ? fact_bool(number.number) : number;
}

/* Bits of nvmlClocksEventReasons, in their order; one without a name is of no interest. */
static struct fact clock_limits(const struct nvml *nvml)
{
	static const char *const reasons[] = { "idle",
					       "application clocks",
					       "power cap",
					       "hardware slowdown",
					       "sync boost",
					       "temperature (software)",
					       "temperature (hardware)",
					       "power brake",
					       "display" };
	struct fact bits = nvml_bits(nvml, "nvmlDeviceGetCurrentClocksEventReasons");
	char text[200] = "";

	if (!fact_known(&bits))
		bits = nvml_bits(nvml, "nvmlDeviceGetCurrentClocksThrottleReasons");
	if (!fact_known(&bits))
		return bits;
	for (size_t i = 0; i < sizeof(reasons) / sizeof(*reasons); i++)
		if (bits.number >> i & 1)
			snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s",
				 *text ? ", " : "", reasons[i]);
	return fact_text("%s", *text ? text : "none");
}

void gpu_ask_nvml(struct gpu *g, const struct nvml *n)
{
	static const char *const virtualization[] = { "none", "passthrough", "vgpu", "host vgpu",
						      "host vsga" };
	struct fact mw = nvml_number(n, "nvmlDeviceGetEnforcedPowerLimit");

	g->link_gen_cur = nvml_number(n, "nvmlDeviceGetCurrPcieLinkGeneration");
	g->link_gen_max = nvml_number(n, "nvmlDeviceGetMaxPcieLinkGeneration");
	g->link_width_cur = nvml_number(n, "nvmlDeviceGetCurrPcieLinkWidth");
	g->link_width_max = nvml_number(n, "nvmlDeviceGetMaxPcieLinkWidth");
	g->mig = on_or_off(nvml_first(n, "nvmlDeviceGetMigMode"));
	g->persistence = on_or_off(nvml_number(n, "nvmlDeviceGetPersistenceMode"));
	g->confidential = nvml_confidential(n);
	g->power_limit_w = fact_known(&mw) ? fact_real((double)mw.number / 1000) : mw;
	g->sm_clock_mhz = nvml_clock(n, "nvmlDeviceGetClockInfo");
	g->sm_clock_max_mhz = nvml_clock(n, "nvmlDeviceGetMaxClockInfo");
	g->clock_limits = clock_limits(n);
	g->vbios = nvml_text(n, "nvmlDeviceGetVbiosVersion");
	g->driver_version = nvml_system_text(n, "nvmlSystemGetDriverVersion");
	g->nvml_version = nvml_system_text(n, "nvmlSystemGetNVMLVersion");
	g->other_processes = nvml_other_processes(n, true);
	g->busy_percent = nvml_busy_percent(n);
	g->virtualization =
		number_word(nvml_number(n, "nvmlDeviceGetVirtualizationMode"), virtualization, 5);
}
