/*
 * recorder_cost.h - what the recorder costs on this machine: the probes of launch and graph in
 * fresh processes, with the recorder in them and without, in turns.
 */
#ifndef RIFT_PROFILE_RECORDER_COST_H
#define RIFT_PROFILE_RECORDER_COST_H

#include <jansson.h>
#include <stdio.h>

#include "harness/profile/recording.h"
#include "harness/stats/bootstrap.h"

enum { RECORDER_COSTS = 11, RECORDER_COST_TURNS_MAX = RECORDING_RUNS_MAX };

/* What each turn gave for one row, ns; NAN: its probe says that there is none. */
struct recorder_cost {
	double without[RECORDER_COST_TURNS_MAX], with[RECORDER_COST_TURNS_MAX];
};

struct recorder_costs {
	int turns;	   /* processes of each probe with the recorder, and without it */
	char recorder[32]; /* as its traces say */
	char device[256];
	bool is_cpu, device_times;
	double wait_ns[RECORDER_COST_TURNS_MAX]; /* that a program's first call waited */
	struct recorder_cost row[RECORDER_COSTS];
};

/*
 * Measures. The request's recorder and CUPTI's file count. Returns 0, or a negative errno after
 * one line: no device, a probe that failed, a recorder that wrote no trace; -EINTR without one.
 */
int recorder_costs_take(struct recorder_costs *out, const struct recording_request *request,
			int turns);

void recorder_costs_print(const struct recorder_costs *c, FILE *out);
json_t *recorder_costs_json(const struct recorder_costs *c); /* a new reference */

#endif
