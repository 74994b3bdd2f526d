/* watch.c - a session while it is measured: the GPU's own view of it, and how far it is. */
#include "harness/session/watch.h"

#include <dlfcn.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/check.h"
#include "harness/base/json.h"
#include "harness/base/text.h"
#include "harness/measure/measure.h"

/* ---- the GPU's own view ----------------------------------------------------------------- */

/*
 * Names, numbers and structs are those of NVIDIA's nvml.h; the library itself belongs to the
 * driver, so it is neither linked nor needed.
 */

enum { CLOCK_SM = 1, CLOCK_MEM = 2, TEMPERATURE_GPU = 0 };

static const char *const names[] = { "t_ms",	 "sm_mhz",	  "mem_mhz",
				     "power_mw", "temperature_c", "event_reasons" };
enum { T_MS, SM, MEM, POWER, TEMPERATURE, REASONS, SERIES };

struct watch {
	void *library, *device;
	char error[160]; /* "" while it works */
	int64_t start_ns, last_ns, every_ns;
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
static void *find_function(struct watch *w, const char *name, const char *older)
{
	void *f = dlsym(w->library, name);

	if (!f && older)
		f = dlsym(w->library, older);
	if (!f && !*w->error)
		snprintf(w->error, sizeof(w->error), "libnvidia-ml has no %s", name);
	return f;
}

static void load_functions(struct watch *w)
{
	w->library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!w->library) {
		snprintf(w->error, sizeof(w->error), "%.150s", dlerror());
		return;
	}
	*(void **)&w->init = find_function(w, "nvmlInit_v2", NULL);
	*(void **)&w->shutdown = find_function(w, "nvmlShutdown", NULL);
	*(void **)&w->error_text = find_function(w, "nvmlErrorString", NULL);
	*(void **)&w->find = find_function(w, "nvmlDeviceGetHandleByPciBusId_v2", NULL);
	*(void **)&w->clock = find_function(w, "nvmlDeviceGetClockInfo", NULL);
	*(void **)&w->power = find_function(w, "nvmlDeviceGetPowerUsage", NULL);
	*(void **)&w->temperature = find_function(w, "nvmlDeviceGetTemperature", NULL);
	*(void **)&w->reasons = find_function(w, "nvmlDeviceGetCurrentClocksEventReasons",
					      "nvmlDeviceGetCurrentClocksThrottleReasons");
}

static void begin_watch(struct watch *w, const char *pci_bus_id)
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
	return watch_open_every(pci_bus_id, WATCH_EVERY_NS);
}

struct watch *watch_open_every(const char *pci_bus_id, int64_t every_ns)
{
	struct watch *w = calloc(1, sizeof(*w));

	CHECK(w, "memory");
	w->every_ns = every_ns;
	if (*pci_bus_id)
		load_functions(w);
	else
		snprintf(w->error, sizeof(w->error), "no GPU");
	if (!*w->error)
		begin_watch(w, pci_bus_id);
	start_series(w);
	return w;
}

static void keep_value(struct watch *w, int series, int err, json_int_t value)
{
	json_array_append_new(w->series[series], err ? json_null() : json_integer(value));
}

void watch_sample(struct watch *w, int64_t now_ns)
{
	unsigned v = 0;
	unsigned long long bits = 0;
	int err;

	if (*w->error || (w->start_ns && now_ns - w->last_ns < w->every_ns))
		return;
	if (!w->start_ns)
		w->start_ns = now_ns;
	w->last_ns = now_ns;
	keep_value(w, T_MS, 0, (now_ns - w->start_ns) / 1000000);
	err = w->clock(w->device, CLOCK_SM, &v);
	keep_value(w, SM, err, v);
	err = w->clock(w->device, CLOCK_MEM, &v);
	keep_value(w, MEM, err, v);
	err = w->power(w->device, &v);
	keep_value(w, POWER, err, v);
	err = w->temperature(w->device, TEMPERATURE_GPU, &v);
	keep_value(w, TEMPERATURE, err, v);
	err = w->reasons(w->device, &bits);
	keep_value(w, REASONS, err, (json_int_t)bits);
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

/* ---- how far it is ---------------------------------------------------------------------- */

enum { BAR = 20, SHOW_EVERY_NS = 200000000 };

const char *show_duration(double ns, char out[16])
{
	double s = ns / 1e9;

	if (!isfinite(s))
		snprintf(out, 16, "unknown");
	else if (s < 100)
		snprintf(out, 16, "%.0f s", s);
	else if (s < 6000)
		snprintf(out, 16, "%.0f min", s / 60);
	else
		snprintf(out, 16, "%.1f h", s / 3600);
	return out;
}

void show_start(struct show *s, bool quiet)
{
	*s = (struct show){ .quiet = quiet, .terminal = isatty(STDERR_FILENO) };
	s->begun_ns = s->start_ns = clock_ns();
	progress_init(quiet);
}

double show_left_ns(const struct show *s)
{
	double left = s->predicted_ns - s->done_ns;
	double passed = (double)(clock_ns() - s->start_ns);

	if (s->done_ns > 0.02 * s->predicted_ns)
		left *= passed / s->done_ns;
	return fmax(left, 0);
}

void show_progress(struct show *s, const char *at)
{
	int64_t now = clock_ns();
	char bar[BAR + 1], left[16];
	int full;

	if (now - s->shown_ns < SHOW_EVERY_NS)
		return;
	s->shown_ns = now;
	full = s->predicted_ns > 0 ? (int)(BAR * fmin(s->done_ns / s->predicted_ns, 1)) : 0;
	memset(bar, '.', BAR);
	memset(bar, '#', (size_t)full);
	bar[BAR] = '\0';
	progress("[%s] %d/%d points, process %d/%d, %s left: %s", bar, s->points_done, s->points,
		 s->process, s->processes, show_duration(show_left_ns(s), left), at);
}

void show_line(struct show *s, const char *fmt, ...)
{
	va_list args;

	if (s->quiet || s->terminal)
		return;
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputc('\n', stderr);
}

void show_complaint(struct show *s, const char *line)
{
	int i;

	for (i = 0; i < SHOW_SEEN && s->seen[i]; i++)
		if (!strcmp(s->seen[i], line))
			return;
	if (i == SHOW_SEEN)
		return;
	s->seen[i] = strdup(line);
	progress_clear();
	fprintf(stderr, "%s\n", line);
}

void show_end(struct show *s)
{
	progress_clear();
	for (int i = 0; i < SHOW_SEEN; i++)
		free(s->seen[i]);
	memset(s->seen, 0, sizeof(s->seen));
}
