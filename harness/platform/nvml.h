/*
 * nvml.h - NVIDIA's management library, loaded when asked for: rift runs without it. Nothing here
 * fails; what the library or the driver does not offer is an unknown fact with the reason.
 */
#ifndef RIFT_PLATFORM_NVML_H
#define RIFT_PLATFORM_NVML_H

#include "harness/platform/fact.h"

struct nvml {
	void *library; /* NULL: not open */
	void *device;  /* nvmlDevice_t; NULL: none chosen */
	char why[160]; /* why library or device is NULL */
	int error;     /* of nvmlInit: 18 is "driver and library differ"; 0 */
};

/*
 * Loads the library ("libnvidia-ml.so.1"; a test has another) and starts it. False with n->why
 * where that fails; nvml_close() takes back either.
 */
bool nvml_open(struct nvml *n, const char *library);
void nvml_close(struct nvml *n);

/* Chooses the device at "0000:3b:00.0". False with n->why. */
bool nvml_choose(struct nvml *n, const char *pci_bus_id);

/*
 * What functions of these forms return, by their names:
 *   system_text   (char *, unsigned bytes)
 *   text          (device, char *, unsigned bytes)
 *   number        (device, unsigned *)
 *   first         (device, unsigned *, unsigned *): the first; the current mode, not the pending
 *   clock         (device, 1, unsigned *): of the SMs, MHz
 *   bits          (device, unsigned long long *)
 */
struct fact nvml_system_text(const struct nvml *n, const char *function);
struct fact nvml_text(const struct nvml *n, const char *function);
struct fact nvml_number(const struct nvml *n, const char *function);
struct fact nvml_first(const struct nvml *n, const char *function);
struct fact nvml_clock(const struct nvml *n, const char *function);
struct fact nvml_bits(const struct nvml *n, const char *function);

/*
 * Locks the clock of the multiprocessors at so many MHz, 0: at the base clock, which power always
 * allows; sets it free again, also from a lock of somebody else's. True, or unknown with the
 * reason: it takes root.
 */
struct fact nvml_lock_clock(const struct nvml *n, unsigned mhz);
struct fact nvml_free_clock(const struct nvml *n);

/* Confidential computing of all the system's GPUs: "off", "on", "on, development tools allowed". */
struct fact nvml_confidential(const struct nvml *n);

/* Share of the last sample period in which kernels ran, percent. */
struct fact nvml_busy_percent(const struct nvml *n);

/* Bytes of the device's memory that are taken, by whomever, with what the driver holds back. */
struct fact nvml_memory_used(const struct nvml *n);

/*
 * Processes with a context on the device, compute and graphics, other than this one. Unknown where
 * this one, which has a context, is not listed either: then processes are hidden from it.
 */
struct fact nvml_other_processes(const struct nvml *n, bool has_context);

#endif
