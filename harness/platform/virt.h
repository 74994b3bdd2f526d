/*
 * virt.h - what stands between this process and the machine: hypervisor, WSL, container, a kernel
 * in user space. Everything found is kept as evidence; what it says together is one word a layer.
 */
#ifndef RIFT_PLATFORM_VIRT_H
#define RIFT_PLATFORM_VIRT_H

#include "harness/platform/fact.h"

enum virt_layer {
	VIRT_HYPERVISOR,   /* "kvm", "vmware", "hyper-v", "xen", ...; "none" */
	VIRT_CLOUD,	   /* "aws", "gcp", "azure", ...: whose machine it is */
	VIRT_WSL,	   /* "wsl1", "wsl2" */
	VIRT_CONTAINER,	   /* "docker", "podman", "containerd", "lxc", ... */
	VIRT_ORCHESTRATOR, /* "kubernetes", "slurm" */
	VIRT_SANDBOX,	   /* "gvisor": another kernel answers the system calls */
	VIRT_GPU,	   /* "passthrough", "vgpu", "mig", "mps", "gpu-pv", "nvproxy" */
	VIRT_LAYERS
};

enum { VIRT_EVIDENCE_MAX = 64 };

struct evidence {
	enum virt_layer layer;
	char says[24];	 /* the word */
	char source[96]; /* where it was read */
	char text[112];	 /* what was read; may be "" */
};

struct virt {
	struct fact layer[VIRT_LAYERS]; /* decided; unknown where nothing was found */
	struct fact cpuid;		/* signatures, separated by ", " */
	struct fact sys_vendor, product_name, product_version, board_vendor, bios_vendor;
	int n;
	struct evidence evidence[VIRT_EVIDENCE_MAX]; /* the strongest of a layer first */
};

/* Looks for every layer but the GPU's. */
void virt_read(struct virt *v, const struct place *p);

/* Adds evidence; the first of a layer decides it. */
void virt_note(struct virt *v, enum virt_layer layer, const char *says, const char *source,
	       const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/* Parts of virt_read(). */
void virt_read_hypervisor(struct virt *v, const struct place *p);
void virt_read_container(struct virt *v, const struct place *p);
void virt_read_kernel(struct virt *v, const struct place *p);

/* The word, or NULL where the layer is unknown or "none". */
const char *virt_word(const struct virt *v, enum virt_layer layer);

json_t *virt_json(const struct virt *v);

#endif
