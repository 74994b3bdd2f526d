/*
 * driver.h - NVIDIA's driver as the kernel shows it, with or without a library that works: for
 * records, and for a person whose GPU does not.
 */
#ifndef RIFT_ENV_DRIVER_H
#define RIFT_ENV_DRIVER_H

#include "harness/env/virt.h"

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
};

void driver_read(struct driver *d, const struct place *p, const struct virt *v);

/* Does anything say that there is an NVIDIA GPU here? */
bool driver_gpu_here(const struct driver *d);

/*
 * What to do where CUDA returned this error at the start (0: it found no device). Plain sentences,
 * the likeliest cause.
 */
const char *driver_advice(const struct driver *d, int cuda_error);

#endif
