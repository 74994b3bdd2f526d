/*
 * host_runs.h - runs of a program with its calls alone recorded, beside the recording of more: how
 * long the host takes where CUPTI does not slow it (common/trace/host_gaps.h).
 */
#ifndef RIFT_PROFILE_HOST_RUNS_H
#define RIFT_PROFILE_HOST_RUNS_H

#include "harness/profile/recording.h"

/* Where a name of their traces, OUTPUT.calls and those of children behind it, is taken: a negative
 * errno after one line. */
int host_runs_refuse(const struct recording_request *request);

/*
 * request->host_runs of them, whose traces are read and removed. out->host_gaps is then a new
 * reference, or NULL after one line where they tell nothing: a runtime that is linked in, other
 * calls than in the recording at request->output, another end than out->status. Returns 0, or a
 * negative errno: the program cannot be started; -EINTR without a line.
 */
int host_runs_take(const struct recording_request *request, struct recording *out);

#endif
