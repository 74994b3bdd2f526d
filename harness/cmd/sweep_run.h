/* sweep_run.h - what cmd_sweep.c has parsed, and what is done with it. */
#ifndef RIFT_SWEEP_RUN_H
#define RIFT_SWEEP_RUN_H

#include "harness/plan/plan.h"
#include "harness/sync.h"

/* Options that are parsed like parameters; 0 and -1: not given. */
struct sweep_values {
	int64_t processes, rounds, seed, check_steps;
	double warm_up_s, patience_s;
};

struct sweep_args {
	struct sweep_values values;
	struct params rows;
	const struct workload **workload; /* ends with NULL */
	int n_workloads;
	char **assignment;
	int n_assignments;
	char **around;
	int n_arounds;
	enum sync_kind kind[SYNC_COUNT];
	int kinds; /* 0: not given */
	const char *size, *depth, *mode, *against, *output, *resume, *platform;
	bool quick, express, apart, dry_run, quiet, help;
	struct goals goals;
	bool lock;    /* --lock-clocks ... */
	int lock_mhz; /* ... =MHZ; 0: without */
	char *typed;  /* the command line */
};

/* The rows of struct sweep_values. */
extern const struct param sweep_value_rows[];

/* A new sweep, or its plan alone; an interrupted one. Exit codes. */
int sweep_start(struct sweep_args *a);
int sweep_resume(const struct sweep_args *a);

#endif
