/*
 * watch.c - the GPU's own view while a process measures.
 *
 * Names, numbers and structs are those of NVIDIA's nvml.h; the library itself belongs to the
 * driver, so it is neither linked nor needed.
 */
#include "harness/session/watch.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/check.h"
#include "harness/json.h"

enum { CLOCK_SM = 1, CLOCK_MEM = 2, TEMPERATURE_GPU = 0 };

static const char *const names[] = { "t_ms",	 "sm_mhz",	  "mem_mhz",
				     "power_mw", "temperature_c", "event_reasons" };
enum { T_MS, SM, MEM, POWER, TEMPERATURE, REASONS, SERIES };

struct watch {
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
static void *find(struct watch *w, const char *name, const char *older)
{
	void *f = dlsym(w->library, name);

	if (!f && older)
		f = dlsym(w->library, older);
	if (!f && !*w->error)
		snprintf(w->error, sizeof(w->error), "libnvidia-ml has no %s", name);
	return f;
}

static void load(struct watch *w)
{
	w->library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!w->library) {
		snprintf(w->error, sizeof(w->error), "%.150s", dlerror());
		return;
	}
	*(void **)&w->init = find(w, "nvmlInit_v2", NULL);
	*(void **)&w->shutdown = find(w, "nvmlShutdown", NULL);
	*(void **)&w->error_text = find(w, "nvmlErrorString", NULL);
	*(void **)&w->find = find(w, "nvmlDeviceGetHandleByPciBusId_v2", NULL);
	*(void **)&w->clock = find(w, "nvmlDeviceGetClockInfo", NULL);
	*(void **)&w->power = find(w, "nvmlDeviceGetPowerUsage", NULL);
	*(void **)&w->temperature = find(w, "nvmlDeviceGetTemperature", NULL);
	*(void **)&w->reasons = find(w, "nvmlDeviceGetCurrentClocksEventReasons",
				     "nvmlDeviceGetCurrentClocksThrottleReasons");
}

static void begin(struct watch *w, const char *pci_bus_id)
{
	int err = w->init();

	if (!err) {
		err = w->find(pci_bus_id, &w->device);
		if (err)
			w->shutdown();
	}
	if (err)
		snprintf(w->error, sizeof(w->error), "%.150s", w->error_text(err));
}

static void start_series(struct watch *w)
{
	for (int i = 0; i < SERIES; i++)
		w->series[i] = json_array();
	w->start_ns = w->last_ns = 0;
}

struct watch *watch_open(const char *pci_bus_id)
{
	struct watch *w = calloc(1, sizeof(*w));

	CHECK(w, "memory");
	if (*pci_bus_id)
		load(w);
	else
		snprintf(w->error, sizeof(w->error), "no GPU");
	if (!*w->error)
		begin(w, pci_bus_id);
	start_series(w);
	return w;
}

static void keep(struct watch *w, int series, int err, json_int_t value)
{
	json_array_append_new(w->series[series], err ? json_null() : json_integer(value));
}

void watch_sample(struct watch *w, int64_t now_ns)
{
	unsigned v = 0;
	unsigned long long bits = 0;
	int err;

	if (*w->error || (w->start_ns && now_ns - w->last_ns < WATCH_EVERY_NS))
		return;
	if (!w->start_ns)
		w->start_ns = now_ns;
	w->last_ns = now_ns;
	keep(w, T_MS, 0, (now_ns - w->start_ns) / 1000000);
	err = w->clock(w->device, CLOCK_SM, &v);
	keep(w, SM, err, v);
	err = w->clock(w->device, CLOCK_MEM, &v);
	keep(w, MEM, err, v);
	err = w->power(w->device, &v);
	keep(w, POWER, err, v);
	err = w->temperature(w->device, TEMPERATURE_GPU, &v);
	keep(w, TEMPERATURE, err, v);
	err = w->reasons(w->device, &bits);
	keep(w, REASONS, err, (json_int_t)bits);
}

json_t *watch_take(struct watch *w)
{
	json_t *o = json_object();

	if (*w->error) {
		json_object_set_new(o, "error", json_text(w->error));
		return o;
	}
	for (int i = 0; i < SERIES; i++)
		json_object_set_new(o, names[i], w->series[i]);
	start_series(w);
	return o;
}

void watch_close(struct watch *w)
{
	if (!w)
		return;
	for (int i = 0; i < SERIES; i++)
		json_decref(w->series[i]);
	if (w->library && !*w->error)
		w->shutdown();
	/* the library stays loaded: unloading it is known to be fragile */
	free(w);
}
