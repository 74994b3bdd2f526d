/* run.h - one configuration of one workload: set up, warmed up, timed, checked, reported. */
#ifndef RIFT_MEASURE_RUN_H
#define RIFT_MEASURE_RUN_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "harness/base/picture.h"
#include "harness/platform/platform.h"
#include "harness/measure/measure.h"
#include "harness/measure/overhead.h"
#include "harness/measure/submit.h"
#include "harness/base/param.h"
#include "workloads/workload.h"

/* ---- before the blocks that are timed --------------------------------------------------- */

/*
 * What a process pays that starts, sets a workload up and runs one block of it: what a stopwatch
 * beside a whole program sees, and timed blocks leave out.
 */

/* In ns; NAN where not known. What a process does to end is not in it: no process sees that. */
struct startup {
	double start_ns; /* from the start of the process to the workload's set-up: the CUDA
			    runtime, a context, and what rift reads of device and host */
	double setup_ns; /* the hook setup: inputs, memory, kernels */
	double block_ns; /* the first block: t_total of a block, not yet warm */
};

/*
 * Since this process was started, by the kernel's book, which counts in hundredths of a second;
 * NAN where that cannot be read.
 */
double startup_since_start_ns(void);

/* All of it. */
double startup_total_ns(const struct startup *c);

/* ---- the run ---------------------------------------------------------------------------- */

/* The options that `rift run` declares as parameter rows; 0: choose. */
struct run_options {
	int mode; /* enum mode; counts only where given */
	int64_t depth, blocks, check_steps;
	int check;	  /* 0: sample, 1: full */
	int sync;	  /* enum wait_policy; counts only where given */
	const char *plot; /* folder for the picture; NULL: none */
};

enum { RUN_DEPTH_MAX = 1 << 24 }; /* what --depth takes */

extern const struct param run_option_rows[];

/* Everything known about a run. Zeroed but for the first three before run_execute(). */
struct run {
	const struct workload *workload;
	const struct params *params;  /* of the workload; params->opts are its options */
	const struct params *options; /* run_option_rows; options->opts is a struct run_options */

	struct limits limits;
	struct platform platform;
	struct instance instance; /* lives until run_release() */
	bool allowed[MODE_COUNT];
	enum mode mode;
	int64_t depth;
	int64_t depth_cut_from;		 /* the default that was too long for a block; 0: not cut */
	int64_t graph_steps, rest_steps; /* 0 unless mode is graph */
	struct cost cost;
	struct startup startup; /* this process: rift run sets up once */
	struct warmup warmup;
	struct kernel_time kernel;
	struct blocks blocks;
	struct overhead overhead;
	struct verdict verdict;
	int64_t check_steps; /* steps that were checked */
	bool passed;	     /* the harness's own judgement; true for actions */
	struct report report;
	struct picture picture;
	int picture_error; /* 0 or a negative errno, told already; the results stand all the same */
};

/*
 * The first part of run_execute(): limits, mode, depth, device, in this order, so that wrong usage
 * is told apart from a missing device. Returns what run_execute() returns.
 */
int run_admit(struct run *r);

/* The next part: stream, memory, the workload's own set-up. Returns what run_execute() returns. */
int run_set_up(struct run *r);

/*
 * Steps that are checked: what was asked for, or for 0 those of a block, but no more than 4096,
 * and no fewer than 1024 where these take less than a second at step_ns each.
 */
int64_t check_steps_for(int64_t asked, int64_t depth, double step_ns);

/*
 * The part of run_execute() that follows the timed blocks: takes the device to check_steps, checks.
 * Returns what run_execute() returns.
 */
int run_check(struct run *r);

/*
 * Does it all. Returns 0 when there are results, of a failed check too; else a negative errno
 * after one line: -EINVAL and others bad input, -ENODEV no device, -EINTR interrupted, -ENOSYS
 * the platform lacks something that it needs.
 */
int run_execute(struct run *r);

/* Tears the workload down and frees everything; needed after every run_execute(). */
void run_release(struct run *r);

/*
 * Why the workload refuses a mode with these options, or NULL. Knows that a workload without a
 * fused() hook has no such mode.
 */
const char *mode_refused(const struct workload *w, const struct limits *limits, enum mode mode);

/* The row that makes kernels larger, or NULL. */
const struct param *workload_axis(const struct workload *w);

/*
 * Results as a table: verbosely, or in ten lines, without the host, parameters that are at their
 * defaults, and what the workload reports of its own. And as one JSON object, which has all.
 */
void run_print(const struct run *r, bool verbose, FILE *out);
json_t *run_json(const struct run *r);

/* [{name, unit, value, n, text}]: the rows of a report. New reference. */
json_t *run_report_json(const struct report *report);

#endif
