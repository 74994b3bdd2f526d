/* gpu.h - the GPU: its driver as the kernel shows it, and what is known of the device. */
#ifndef RIFT_PLATFORM_GPU_H
#define RIFT_PLATFORM_GPU_H

#include <cuda_runtime_api.h>

#include "harness/platform/nvml.h"
#include "harness/platform/virt.h"

/* ---- the driver as the kernel shows it -------------------------------------------------- */

/*
 * NVIDIA's driver as the kernel shows it, with or without a library that works: for records, and
 * for a person whose GPU does not.
 */

struct driver {
	struct fact module_version; /* "580.159.04", of the kernel's module */
	struct fact module_kind;    /* "open" or "proprietary" */
	int pci_gpus;		    /* NVIDIA's display controllers and accelerators on the bus */
	struct fact pci_first;	    /* address of the first */
	struct fact pci_driver;	    /* its driver, "nvidia", "nouveau", "vfio-pci" */
	bool control_file, gpu_file, uvm_file; /* /dev/nvidiactl, nvidia0 or the like, nvidia-uvm */
	bool allowed;			       /* to be opened by this user */
	bool dxg;			       /* /dev/dxg: WSL */
	bool container;
	const char *visible; /* CUDA_VISIBLE_DEVICES, or NULL */
	const char *given; /* NVIDIA_VISIBLE_DEVICES, which a container is started with, or NULL */
};

void driver_read(struct driver *d, const struct place *p, const struct virt *v);

/* Does anything say that there is an NVIDIA GPU here? */
bool driver_gpu_here(const struct driver *d);

/*
 * What to do where CUDA returned this error at the start (0: it found no device). Plain sentences,
 * the likeliest cause.
 */
const char *driver_advice(const struct driver *d, int cuda_error);

/* ---- the device ------------------------------------------------------------------------- */

/*
 * The device that figures are taken on, by what the CUDA runtime, NVML and the kernel say of it.
 * Names and units as in the record.
 */

struct gpu {
	struct fact uuid, name, pci_bus_id, numa_node;
	struct fact link_gen_cur, link_gen_max, link_width_cur, link_width_max;
	struct fact cc, sms, l2_bytes, mem_bytes, mem_free_bytes;
	struct fact ecc, mig, mig_profile, persistence; /* mig: of the whole GPU */
	struct fact confidential; /* by NVML: "off", "on", "on, development tools allowed" */
	struct fact power_limit_w, sm_clock_mhz, sm_clock_max_mhz;
	struct fact clock_limits; /* why the clock is not higher, at this moment */
	struct fact vbios, driver_version, module_version, module_kind, nvml_version;
	struct fact cuda_driver_api, cuda_runtime;
	struct fact compute_mode, other_processes, busy_percent, visible_devices;
	struct fact virtualization; /* by NVML: "none", "passthrough", "vgpu", "host vgpu" */
	struct fact sync_flag, loading_mode;
};

/*
 * Describes device 0, which is open. Never fails and never prints; of the CPU device little is
 * known. What it shows of sharing and virtualization is noted in v.
 */
void gpu_read(struct gpu *g, const struct place *p, struct virt *v);

/* Its parts, for tests: of a device with these properties, with NVML open or not. */
void gpu_describe(struct gpu *g, const struct cudaDeviceProp *prop, const struct nvml *nvml);
void gpu_ask_nvml(struct gpu *g, const struct nvml *nvml);
void gpu_note_sharing(const struct gpu *g, const struct place *p, struct virt *v);

/* A GPU that cannot be opened: all unknown for this reason but what the kernel says. */
void gpu_missing(struct gpu *g, const struct place *p, const struct virt *v, const char *why);

/* Without libcuda, which libraries.h describes; and {"sync_flag", "loading_mode"}. */
json_t *gpu_json(const struct gpu *g);
json_t *gpu_flags_json(const struct gpu *g);

#endif
