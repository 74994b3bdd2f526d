/*
 * watch.h - the GPU's own view while a process measures: clocks, power, temperature, and why a
 * clock is held down. From libnvidia-ml, loaded at run time; where it is missing or refuses, the
 * record says so and nothing else changes.
 */
#ifndef RIFT_SWEEP_WATCH_H
#define RIFT_SWEEP_WATCH_H

#include <jansson.h>
#include <stdint.h>

enum { WATCH_EVERY_NS = 100000000 };

struct watch;

/*
 * The device at this PCI address, as "0000:1b:00.0". Never NULL: a failure is kept and goes into
 * the record.
 */
struct watch *watch_open(const char *pci_bus_id);

/* Takes a sample where the last one is WATCH_EVERY_NS old. */
void watch_sample(struct watch *w, int64_t now_ns);

/*
 * What was sampled since the last call, a value each in {t_ms (since the first), sm_mhz, mem_mhz,
 * power_mw, temperature_c, event_reasons}; null where the device does not say. {error} where there
 * is no NVML. New reference.
 */
json_t *watch_take(struct watch *w);

void watch_close(struct watch *w);

#endif
