/* compare_args.h - the command line of rift compare. */
#ifndef RIFT_CMD_COMPARE_ARGS_H
#define RIFT_CMD_COMPARE_ARGS_H

#include <argp.h>
#include <stdbool.h>

#include "workloads/workload.h"

struct compare_args {
	const char *file[2];
	int n;
	double margin, between;		 /* shares of 1; NAN: not given */
	const struct workload *workload; /* NULL: all */
	int side;			 /* of --side; SIDE_ANY: not given */
	const char *sync;		 /* kind of waiting; NULL: not given */
	bool strict, force, self_test, all, json, help;
};

/* Its input is a struct compare_args. */
extern const struct argp compare_argp;

#endif
