/* sensitivity_process.h - `rift run` in a fresh process, natively or under a layer, and what it
 * said. */
#ifndef RIFT_PROBE_SENSITIVITY_PROCESS_H
#define RIFT_PROBE_SENSITIVITY_PROCESS_H

#include <jansson.h>
#include <stdbool.h>

#include "harness/probe/sensitivity_predict.h"

struct run_process {
	int exit_code; /* 128 and the signal where one ended it */
	int place;     /* of its turn's processes, from 0 */
	double wall_s;
	char why[200]; /* the last line of its stderr; "": none */
	bool is_cpu;
	char device[96];
	int64_t blocks;
	struct step_figures step;
	json_t *layers; /* what the layers said; owned; NULL: nothing */
};

/*
 * Runs rift with these arguments, which end with NULL; `rift run ... --json` is meant. words: what
 * it says on stderr goes to ours, too. Returns 0 when it has ended, however it did; -EINTR after
 * ending it; or another negative errno after one line.
 */
int run_process(struct run_process *p, char *const *arguments, bool words);

/* The object of `rift run --json` taken apart; what is not there is NAN. */
void run_process_read(struct run_process *p, const json_t *o);

void run_process_release(struct run_process *p);

#endif
