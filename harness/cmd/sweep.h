/* sweep.h - what `rift sweep` was asked for, and the sweep that is made of it. */
#ifndef RIFT_CMD_SWEEP_H
#define RIFT_CMD_SWEEP_H

#include "harness/cmd/options.h"
#include "harness/measure/wait.h"
#include "harness/measure/plan.h"

/* Options that are parsed like parameters; 0 and -1: not given. */
struct sweep_values {
	int64_t processes, rounds, seed, check_steps;
	double warm_up_s, patience_s, limit_s;
};

struct sweep_args {
	struct arguments given; /* words: workloads, and assignments */
	struct sweep_values values;
	struct word_list around;
	const struct workload **workload; /* of the words; ends with NULL */
	int n_workloads;
	char **assignment; /* of the words */
	int n_assignments;
	enum wait_policy kind[SYNC_COUNT];
	int kinds; /* 0: not given */
	const char *size, *depth, *mode, *against, *resume;
	const char *blocks, *plot; /* of a layer's costs */
	bool quick, express, apart, dry_run;
	struct goals goals;
	bool lock;    /* --lock-clocks ... */
	int lock_mhz; /* ... =MHZ; 0: without */
	char *typed;  /* the command line */
};

/* A new sweep, or its plan alone. An exit code, or a negative errno after one line. */
int sweep_start(struct sweep_args *a);

/* An interrupted one. An exit code, or a negative errno after one line. */
int sweep_resume(const struct sweep_args *a);

/*
 * A workload's time over costs of a layer, one at a time: a layer has several values of them. An
 * exit code, or a negative errno after one line.
 */
int sweep_costs(const struct sweep_args *a);

#endif
