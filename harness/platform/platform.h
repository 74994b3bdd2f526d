/*
 * platform.h - what machine a figure was taken on: the record's header, and what tables show of
 * it. The parts are in the other files here. What cannot be found out is unknown with a reason:
 * never a silent zero.
 *
 *   struct platform p = { .declared = "vm, passthrough" };
 *   if (!platform_device(&p)) {
 *           platform_host(&p);
 *           platform_details(&p);
 *           json_object_update_new(header, platform_json(&p));
 *   }
 *   platform_release(&p);
 */
#ifndef RIFT_PLATFORM_PLATFORM_H
#define RIFT_PLATFORM_PLATFORM_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "harness/platform/gpu.h"
#include "harness/platform/host.h"
#include "harness/platform/libraries.h"
#include "harness/platform/virt.h"

/* Zeroed but for the first two before the first call. */
struct platform {
	const char *declared; /* what the user says that this platform is; NULL: nothing */
	bool host_name;	      /* the host's name in plain, not as a hash */

	/* device 0, after platform_open() or platform_device() */
	bool is_gpu; /* false: the CPU device, whose figures say nothing about a GPU */
	char device[256];
	int cc_major, cc_minor; /* compute capability; 0.0 on the CPU device */
	int sms;		/* multiprocessors, or worker threads of the CPU device */
	int64_t memory_bytes;
	int runtime_version, driver_version; /* 1000 * major + 10 * minor */
	int cuda_error;			     /* why there is none; 0 */

	/* after platform_layers(): those of rift that this process runs under, as in a record */
	json_t *layers;

	/* after platform_host() */
	struct host host;
	struct virt virt;

	/* after platform_details() */
	struct gpu gpu;
	struct libraries libraries;
};

/*
 * Makes device 0 current and describes it. NULL, or why there is none (of p->cuda_error; 0 where
 * CUDA works and shows no device); nothing is printed.
 */
const char *platform_open(struct platform *p);

/* The same, but prints one line with what to do. 0 or -ENODEV. */
int platform_device(struct platform *p);

/*
 * Finds the layers that this process runs under (harness/platform/in_force.h) and asks whether they
 * are in force; may be called again. Needs an open device. 0, or -ENODEV after one line for one
 * that is not.
 */
int platform_layers(struct platform *p);

/* The host: files only, a few ms. Cannot fail. */
void platform_host(struct platform *p);

/*
 * The rest: NVML (up to a second where the driver starts for it), a digest of libcuda, loaded
 * libraries. Needs platform_open() and platform_host(); where no device is open, it says so in
 * every field.
 */
void platform_details(struct platform *p);

/* What --platform's NAME must be and this one is not, or NULL: 1 to 64 bytes, none a control. */
const char *platform_name_refused(const char *name);

/* Is this a NAME for --platform? 0, or -EINVAL after one line. */
int platform_declared(const char *name);

/* {name, kind: "cpu" or "cuda", compute_capability, ...}: the device in brief. New reference. */
json_t *platform_device_json(const struct platform *p);

/*
 * {git_commit, git_dirty, build, boot_id, host, virt, gpu, libraries, env, cuda_flags}, and layers
 * where there are any, as in the header of a record. A null has its reason in the "why_null" beside
 * it. New reference.
 */
json_t *platform_json(const struct platform *p);

/*
 * A copy of such an object without what changes from minute to minute (load, free memory, clocks,
 * other processes): what must be equal for two processes to have run on one platform. New
 * reference.
 */
json_t *platform_lasting(const json_t *platform);

void platform_release(struct platform *p);

/* "CPU device" or "CUDA": what this binary was built for. */
const char *platform_build(void);

/* What every output with figures of the CPU device ends with; no newline. */
extern const char platform_not_gpu[];

#endif
