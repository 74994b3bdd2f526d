/*
 * platform.h - what machine a figure was taken on. What cannot be found out is NULL, NaN or -1
 * and becomes null in JSON: never a silent zero.
 */
#ifndef RIFT_PLATFORM_H
#define RIFT_PLATFORM_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct platform {
	/* device 0, after platform_device() */
	bool is_gpu; /* false: the CPU device, whose figures say nothing about a GPU */
	char device[256];
	int cc_major, cc_minor; /* compute capability; 0.0 on the CPU device */
	int sms;		/* multiprocessors, or worker threads of the CPU device */
	int64_t memory_bytes;
	int runtime_version, driver_version; /* 1000 * major + 10 * minor */
	/* host, after platform_host() */
	char kernel[128];    /* release; "" unknown */
	char cpu_model[128]; /* "" unknown */
	int logical_cpus;
	int hypervisor;	       /* 1: CPUID says so, 0: it does not, -1: unknown */
	bool wsl;	       /* by the kernel's release */
	const char *container; /* "docker", "podman", "other", or NULL: no marker found */
};

/*
 * Makes device 0 current and describes it. Returns 0, or -ENODEV after one line that says why
 * there is none and what to do.
 */
int platform_device(struct platform *out);

/* The host; cannot fail. */
void platform_host(struct platform *out);

/* {name, kind: "cpu" or "cuda", compute_capability, ...} and {kernel, ...}. New references. */
json_t *platform_device_json(const struct platform *p);
json_t *platform_host_json(const struct platform *p);

/* "CPU device" or "CUDA": what this binary was built for. */
const char *platform_build(void);

/* What every output with figures of the CPU device ends with; no newline. */
extern const char platform_not_gpu[];

#endif
