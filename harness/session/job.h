/* job.h - one worker process that does one job, attended to its end. */
#ifndef RIFT_SESSION_JOB_H
#define RIFT_SESSION_JOB_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct job {
	int process, processes; /* which of how many, for messages */
	const char *prefix;	/* as in child.h; NULL: none */
	double patience_ns;	/* one that does not come back from a call for so long hangs */
	int (*each)(const json_t *o, void *arg); /* every line; 0 */
	void *arg;

	/* By job_run(). A phase with a workload's name may take a minute, whatever patience says.
	 */
	bool busy;
	int64_t heard_ns;
	bool bye;
};

/*
 * Starts this binary as a worker, hands its lines to each() and its complaints to stderr, and waits
 * for its end. Returns 0 where it said "bye"; -EINTR; or a negative errno after one line: -ENODEV
 * where it hung or found no device, -ENOSYS, -EINVAL after its own line, -EIO for another end.
 */
int job_run(struct job *j, const json_t *job);

/* What a worker writes: a line, and drops the reference. A reader that is gone ends it. */
void job_send(FILE *out, json_t *o);

#endif
