/*
 * workload.h - the contract: the only thing a workload and the harness share.
 *
 * A workload is a folder workloads/NAME/ that defines `const struct workload workload_NAME`.
 * The build finds the folder and makes the table; nothing else is edited. A workload includes
 * this header and common/, never the harness and never another workload. tools/new_workload.sh
 * makes a folder to begin with.
 *
 * What a workload does: a *step*, its natural unit (a solver attempt, a frame, a batch), which
 * the harness enqueues, captures into a graph, counts and times. The harness owns clocks,
 * streams, repetition, option parsing and output.
 *
 * Every int hook returns 0 or a negative errno, the latter after one line for the user
 * (complain() in common/check.h). -ENODEV means "no such device" (exit code 4), -EINVAL,
 * -ENOMEM and all others "bad input" (exit code 3). What can only be a bug aborts (CHECK, CUDA).
 * setup, check and report ask interrupted() (common/interrupt.h) at least once a second of work
 * and, where it says so, return -EINTR without a line (exit code 75).
 */
#ifndef RIFT_WORKLOAD_H
#define RIFT_WORKLOAD_H

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "common/cost.h"
#include "common/mode.h"
#include "common/param.h"
#include "common/plot.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- what hooks fill in --------------------------------------------------------------- */

/* What a configuration allows. Arrives zeroed: everything allowed. */
struct limits {
	const char *device_refused;	      /* NULL: runs on this build's device; else why not */
	const char *mode_refused[MODE_COUNT]; /* NULL: allowed; else why not, one line */
	int64_t depth_max;		      /* steps a synchronize; 0: any */
	const char *depth_why;		      /* reason of depth_max */
	int64_t depth_run; /* depth that `rift run` takes by default: enough to see something */
	/* Steps that options ask for (total=): the depth of a run and of a sweep where the user
	 * gives none, however long it takes; 0: they do not. */
	int64_t depth_asked;
	/* A sweep leaves out launches that are predicted to take longer, ms, as nothing can
	 * interrupt them; the second where a watchdog ends kernels. Depth 1 stays for steps
	 * below it, however long its blocks take. 0: no such limit. */
	double launch_max_ms, launch_max_watched_ms;
	bool action; /* options ask for an action: setup, report, teardown; nothing is timed */
};

/* The result of a check. The harness sets the first three fields, the hook the others. */
struct verdict {
	bool full;	     /* compare everything, however long it takes */
	uint64_t seed;	     /* of the sample, where not everything is compared */
	int64_t graph_steps; /* in the longest graph launched since the reset; 0: graphs, if any,
				are younger than it */
	bool passed;	     /* error <= tolerance, written so that NaN fails */
	double error, tolerance;
	const char *measure;	 /* what error is: "largest relative difference of a state" */
	int64_t compared, total; /* units (cells, frames, pairs) compared, of how many */
	char worst[96];		 /* where the largest error is, for the user */
};

enum { REPORT_ROWS_MAX = 96 };

/* Rows that a workload adds to the table of `rift run`. text, where set, replaces the number. */
struct report {
	int n;
	struct report_row {
		const char *name, *unit;
		double value;
		int64_t n; /* samples that value is the median of; 0: it is no median */
		char text[160];
	} row[REPORT_ROWS_MAX];
};

/* Device memory, or parts of it, that hooks leave otherwise in one mode than in another. */
enum { SCRATCH_MAX = 8 };

struct scratch {
	int n;
	struct scratch_part {
		const void *at; /* NULL: nothing */
		size_t bytes;
	} part[SCRATCH_MAX];
};

/* ---- the workload --------------------------------------------------------------------- */

struct workload {
	const char *name, *summary;
	bool hidden;			/* left out of `rift list`, but not of the tests */
	const char *source;		/* paper, data set or code that it follows */
	const char *step_unit;		/* what a step is: "attempt of the solver" */
	const struct param *params;	/* ends with PARAM_END */
	const struct param_need *needs; /* optional; ends with a NULL name */
	const struct preset *presets;	/* likewise */
	/*
	 * Optional; ends with NULL: parameters that came when there were sessions of this workload.
	 * At their defaults they are no part of a point's key, so that those sessions still compare
	 * with new ones. The defaults must mean what there was before.
	 */
	const char *const *added;
	size_t opts_size; /* bytes; the harness allocates both structs, zeroed */
	size_t state_size;

	/*
	 * Optional (NULL: all is allowed): refuses contradictory options; says what the others
	 * allow. Before setup, no CUDA call. Called through workload_limits().
	 */
	int (*limits)(const void *opts, struct limits *out);

	/*
	 * Reads or makes inputs, allocates everything once on host and device, uploads, loads
	 * every kernel. Must not depend on time, clock or an unseeded generator. May synchronize;
	 * the harness waits for the device behind it.
	 */
	int (*setup)(const void *opts, void *state);

	/*
	 * Enqueues what brings device state back to the start. Must not synchronize. A capture
	 * follows a reset too, and graphs are launched after another one.
	 */
	int (*reset)(const void *opts, void *state, cudaStream_t stream);

	/*
	 * Enqueues exactly one step. Must not synchronize, allocate or read results on the host:
	 * it is captured into graphs, so progress counters live on the device. After the natural
	 * end (span, last frame) a step starts over on the device: every step does full work.
	 *
	 * Each launch of a step counts: one that is lost must fail the check, and so must a step
	 * that is left out or done twice. Without data sets in turn (common/slots.h) a step folds
	 * in what the one before has left; with as many of them as steps each step's answers are
	 * there to be looked at. A launch that is done twice may leave what once leaves, but then
	 * all of it.
	 */
	int (*step)(const void *opts, void *state, cudaStream_t stream);

	/*
	 * Optional (NULL: the mode is refused): enqueues n steps as one launch of the
	 * kernel that step launches. All device memory but what scratch() names must have the same
	 * bits. The launch must do n times the work of a step: no step may be left out because its
	 * answers are known, or will be written over. Steps in other modes can follow.
	 *
	 * tests/test_conformance.c and test_cpu_conformance.c hold all hooks to this. They compare
	 * the modes' device memory, poison what steps write, and lose and double launches. They
	 * ask the CPU device how long its threads computed in n and in 16 n fused steps. On a GPU
	 * bench/gpu_fused.c compares the times of fused steps and of launched ones.
	 */
	int (*fused)(const void *opts, void *state, cudaStream_t stream, int64_t n);

	/*
	 * After a synchronize, `steps` steps after a reset: compares with an independent
	 * reference. Must not pass on NaN. Compares everything where the reference takes under
	 * 0.2 s or verdict->full is set, else at least 16 units and the first and last.
	 */
	int (*check)(const void *opts, void *state, int64_t steps, struct verdict *verdict);

	/*
	 * Optional. After a synchronize and the check, outside any clock: adds rows, writes what
	 * path options ask for (may run steps of its own). Files appear whole or not at all.
	 */
	int (*report)(const void *opts, void *state, struct report *out);

	/*
	 * Optional. The picture of `rift run --plot`, called like report, after it: writes data
	 * files into plot->folder and names the script and its values (common/plot.h). Whoever
	 * looks at the picture should read in its title what it shows, and on which device.
	 */
	int (*plot)(const void *opts, void *state, struct plot *plot);

	/* Counts; after setup, so that sizes are known. */
	int (*cost)(const void *opts, const void *state, struct cost *out);

	/*
	 * Optional: what may differ between modes, or after another reset: counts of launches,
	 * values that only the inside of a step wants. No answers.
	 */
	void (*scratch)(const void *opts, const void *state, struct scratch *out); /* may copy */

	/* Frees everything; also after a failed setup, when state may be partly filled or zero. */
	void (*teardown)(void *state);
};

/* What these options allow, or a negative errno after one line. */
static inline int workload_limits(const struct workload *w, const void *opts, struct limits *out)
{
	memset(out, 0, sizeof(*out));
	return w->limits ? w->limits(opts, out) : 0;
}

/* All workloads by name, then NULL; generated by the build. */
extern const struct workload *const workloads[];

#ifdef __cplusplus
}
#endif
#endif
