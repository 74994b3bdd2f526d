/* watch.h - a session while it is measured: the GPU's own view of it, and how far it is. */
#ifndef RIFT_SESSION_WATCH_H
#define RIFT_SESSION_WATCH_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* ---- the GPU's own view ----------------------------------------------------------------- */

/*
 * Clocks, power, temperature, and why a clock is held down. From libnvidia-ml, loaded at run time;
 * where it is missing or refuses, the record says so and nothing else changes.
 */

enum { WATCH_EVERY_NS = 100000000 };

struct watch;

/*
 * The device at this PCI address, as "0000:1b:00.0". Never NULL: a failure is kept and goes into
 * the record.
 */
struct watch *watch_open(const char *pci_bus_id);

/* With another distance between samples. */
struct watch *watch_open_every(const char *pci_bus_id, int64_t every_ns);

/* Takes a sample where the last one is WATCH_EVERY_NS old, or what was given. */
void watch_sample(struct watch *w, int64_t now_ns);

/*
 * What was sampled since the last call, a value each in {t_ms (since the first), sm_mhz, mem_mhz,
 * power_mw, temperature_c, event_reasons}; null where the device does not say. {error} where there
 * is no NVML. New reference.
 */
json_t *watch_take(struct watch *w);

void watch_close(struct watch *w);

/* ---- how far it is ---------------------------------------------------------------------- */

/* One changing line with a bar on a terminal, else a line for each process. */

enum { SHOW_SEEN = 16 };

struct show {
	bool quiet, terminal;
	double predicted_ns, done_ns;	      /* of this run, by prediction */
	double planned_ns;		      /* the same, before points were left out */
	int64_t begun_ns, start_ns, shown_ns; /* the command's start; the first process's */
	int points, points_done;	      /* visits' points that have a record */
	int process, processes;		      /* under way, of how many */
	char *seen[SHOW_SEEN];		      /* workers' complaints, each shown once */
};

void show_start(struct show *s, bool quiet);

/* "[####....] 120/369 points, process 3 of 10, 2 min left: myocyte cells=32 graph depth 16" */
void show_progress(struct show *s, const char *at);

/* Predicted time that is left, corrected by how wrong predictions were so far. */
double show_left_ns(const struct show *s);

/* One line where stderr is no terminal, unless quiet. */
void show_line(struct show *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* A worker's complaint: shown, the first time. */
void show_complaint(struct show *s, const char *line);

void show_end(struct show *s);

/* "45 s", "12 min", "3.2 h" into out, 16 bytes. */
const char *show_duration(double ns, char out[16]);

#endif
