/*
 * nvml.c - the GPU's own view while a process measures.
 *
 * Names, numbers and structs are those of NVIDIA's nvml.h; the library itself belongs to the
 * driver, so it is neither linked nor needed.
 */
#include "harness/sweep/nvml.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/check.h"
#include "harness/json.h"

enum { CLOCK_SM = 1, CLOCK_MEM = 2, TEMPERATURE_GPU = 0 };

static const char *const names[] = { "t_ms",	 "sm_mhz",	  "mem_mhz",
				     "power_mw", "temperature_c", "event_reasons" };
enum { T_MS, SM, MEM, POWER, TEMPERATURE, REASONS, SERIES };

struct nvml {
	void *library, *device;
	char error[160]; /* "" while it works */
	int64_t start_ns, last_ns;
	json_t *series[SERIES];
	int (*init)(void), (*shutdown)(void);
	const char *(*error_text)(int);
	int (*find)(const char *, void **);
	int (*clock)(void *, int, unsigned *);
	int (*power)(void *, unsigned *);
	int (*temperature)(void *, int, unsigned *);
	int (*reasons)(void *, unsigned long long *);
};

/* The function, or NULL and an error that names it. Older drivers have the last one only by its old
 * name. */
static void *find(struct nvml *n, const char *name, const char *older)
{
	void *f = dlsym(n->library, name);

	if (!f && older)
		f = dlsym(n->library, older);
	if (!f && !*n->error)
		snprintf(n->error, sizeof(n->error), "libnvidia-ml has no %s", name);
	return f;
}

static void load(struct nvml *n)
{
	n->library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!n->library) {
		snprintf(n->error, sizeof(n->error), "%.150s", dlerror());
		return;
	}
	*(void **)&n->init = find(n, "nvmlInit_v2", NULL);
	*(void **)&n->shutdown = find(n, "nvmlShutdown", NULL);
	*(void **)&n->error_text = find(n, "nvmlErrorString", NULL);
	*(void **)&n->find = find(n, "nvmlDeviceGetHandleByPciBusId_v2", NULL);
	*(void **)&n->clock = find(n, "nvmlDeviceGetClockInfo", NULL);
	*(void **)&n->power = find(n, "nvmlDeviceGetPowerUsage", NULL);
	*(void **)&n->temperature = find(n, "nvmlDeviceGetTemperature", NULL);
	*(void **)&n->reasons = find(n, "nvmlDeviceGetCurrentClocksEventReasons",
				     "nvmlDeviceGetCurrentClocksThrottleReasons");
}

static void begin(struct nvml *n, const char *pci_bus_id)
{
	int err = n->init();

	if (!err) {
		err = n->find(pci_bus_id, &n->device);
		if (err)
			n->shutdown();
	}
	if (err)
		snprintf(n->error, sizeof(n->error), "%.150s", n->error_text(err));
}

static void start_series(struct nvml *n)
{
	for (int i = 0; i < SERIES; i++)
		n->series[i] = json_array();
	n->start_ns = n->last_ns = 0;
}

struct nvml *nvml_open(const char *pci_bus_id)
{
	struct nvml *n = calloc(1, sizeof(*n));

	CHECK(n, "memory");
	if (*pci_bus_id)
		load(n);
	else
		snprintf(n->error, sizeof(n->error), "no GPU");
	if (!*n->error)
		begin(n, pci_bus_id);
	start_series(n);
	return n;
}

static void keep(struct nvml *n, int series, int err, json_int_t value)
{
	json_array_append_new(n->series[series], err ? json_null() : json_integer(value));
}

void nvml_sample(struct nvml *n, int64_t now_ns)
{
	unsigned v = 0;
	unsigned long long bits = 0;
	int err;

	if (*n->error || (n->start_ns && now_ns - n->last_ns < NVML_EVERY_NS))
		return;
	if (!n->start_ns)
		n->start_ns = now_ns;
	n->last_ns = now_ns;
	keep(n, T_MS, 0, (now_ns - n->start_ns) / 1000000);
	err = n->clock(n->device, CLOCK_SM, &v);
	keep(n, SM, err, v);
	err = n->clock(n->device, CLOCK_MEM, &v);
	keep(n, MEM, err, v);
	err = n->power(n->device, &v);
	keep(n, POWER, err, v);
	err = n->temperature(n->device, TEMPERATURE_GPU, &v);
	keep(n, TEMPERATURE, err, v);
	err = n->reasons(n->device, &bits);
	keep(n, REASONS, err, (json_int_t)bits);
}

json_t *nvml_take(struct nvml *n)
{
	json_t *o = json_object();

	if (*n->error) {
		json_object_set_new(o, "error", json_text(n->error));
		return o;
	}
	for (int i = 0; i < SERIES; i++)
		json_object_set_new(o, names[i], n->series[i]);
	start_series(n);
	return o;
}

void nvml_close(struct nvml *n)
{
	if (!n)
		return;
	for (int i = 0; i < SERIES; i++)
		json_decref(n->series[i]);
	if (n->library && !*n->error)
		n->shutdown();
	/* the library stays loaded: unloading it is known to be fragile */
	free(n);
}
