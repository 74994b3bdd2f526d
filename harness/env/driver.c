/* driver.c - NVIDIA's driver as the kernel shows it, and what may be wrong with it. */
#include "harness/env/driver.h"

#include <ctype.h>
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
		return "the GPU is set aside for a virtual machine (vfio-pci): run rift in there";
	if (fact_is(&d->pci_driver, "nouveau"))
		return "the driver in use is nouveau, which has no CUDA: install NVIDIA's driver "
		       "and restart";
	return "there is a GPU but no driver for it: install NVIDIA's driver (modprobe nvidia if "
	       "it is installed)";
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
	if (d->container && !d->control_file)
		return "no GPU is to be seen in this container: if its host has one, start it with "
		       "--gpus all (Docker, Podman with CDI), a limit nvidia.com/gpu (Kubernetes) "
		       "or --nv (Apptainer); `make DEVICE=cpu` builds for the CPU device";
	if (d->pci_gpus && !fact_known(&d->module_version) && !d->control_file)
		return without_module(d);
	if (!driver_gpu_here(d))
		return "no NVIDIA GPU is to be seen here; `make DEVICE=cpu` builds for the CPU "
		       "device";
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
		      : "see that nvidia-smi works; if it does, the toolkit's version may not fit "
			"the driver";
}
