/*
 * nvml.h - the GPU's own view while a process measures: clocks, power, temperature, and why a clock
 * is held down. From libnvidia-ml, loaded at run time; where it is missing or refuses, the record
 * says so and nothing else changes.
 */
#ifndef RIFT_SWEEP_NVML_H
#define RIFT_SWEEP_NVML_H

#include <jansson.h>
#include <stdint.h>

enum { NVML_EVERY_NS = 100000000 };

struct nvml;

/*
 * The device at this PCI address, as "0000:1b:00.0". Never NULL: a failure is kept and goes into
 * the record.
 */
struct nvml *nvml_open(const char *pci_bus_id);

/* Takes a sample where the last one is NVML_EVERY_NS old. */
void nvml_sample(struct nvml *n, int64_t now_ns);

/*
 * What was sampled since the last call, a value each in {t_ms (since the first), sm_mhz, mem_mhz,
 * power_mw, temperature_c, event_reasons}; null where the device does not say. {error} where there
 * is no NVML. New reference.
 */
json_t *nvml_take(struct nvml *n);

void nvml_close(struct nvml *n);

#endif
