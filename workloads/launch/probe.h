/*
 * probe.h - what the parts of probe=yes share. Every figure is the median of n samples, in
 * microseconds unless its row says otherwise.
 */
#ifndef RIFT_LAUNCH_PROBE_H
#define RIFT_LAUNCH_PROBE_H

#include "common/refusal.h"
#include "workloads/launch/launch.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
	PROBE_SAMPLES = 501,
	PROBE_SAMPLES_QUICK = 101,
	PROBE_BLOCKS = 51, /* samples that are blocks of launches */
	PROBE_BLOCKS_QUICK = 21,
	PROBE_BLOCK = 256,  /* launches in one: a quarter of the usual queue */
	PROBE_US_MAX = 100, /* kernels of all probes then take some 2 s */
};

#define PROBE_US 1e-3 /* microseconds in a nanosecond */

/* Words of mapped host memory. */
enum { PROBE_FLAG, PROBE_WORDS };

struct probe {
	const struct launch_opts *o;
	struct launch_state *s;
	struct report *out;
	cudaStream_t stream;
	cudaEvent_t event; /* NULL: refused */
	int samples, blocks;
	int64_t steps;		     /* launched since the reset */
	uint32_t *word;		     /* PROBE_WORDS, mapped; NULL: the device cannot */
	uint32_t *on_device;	     /* the same words there */
	char unmapped[REFUSAL_TEXT]; /* why word is NULL, where that was refused */
};

/* A row with a number: the median of n, in `unit`; or with a reason why there is none. */
void launch_probe_add(struct probe *p, const char *name, const char *unit, double value, int64_t n);
void launch_probe_text(struct probe *p, const char *name, const char *why);

/* Calls fn(arg), which adds the row; where that is refused the row says so. */
void launch_probe_row(struct probe *p, const char *name, int (*fn)(void *), void *arg);

/* One step of the workload. */
void launch_probe_step(struct probe *p);

/* ---- waits (probe_wait.c) --------------------------------------------------------------- */

/* Rows for calls on an idle stream, and for a launch with each way to wait for it. */
void launch_probe_waits(struct probe *p);

/*
 * A row for a kernel that writes a flag and a host that polls it: the cheapest notice there is.
 * Where the flag does not come within 2 s the row says so.
 */
void launch_probe_flag(struct probe *p);

/* ---- the device's gap (probe_gap.c) ----------------------------------------------------- */

/* Returns 0, or a negative errno after one line. */
int launch_probe_gap(struct probe *p);

/* ---- the launch queue (probe_queue.c) --------------------------------------------------- */

/*
 * Launches that the queue accepted behind a kernel that runs on, from how long each call took. The
 * last call ended only when that kernel was let go. Returns n - 1 where it took more than 20 times
 * the median of the others, else -1.
 */
int64_t launch_queue_depth(const int64_t *call_ns, int64_t n);

void launch_probe_queue(struct probe *p);

#ifdef __cplusplus
}
#endif
#endif
