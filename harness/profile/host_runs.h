/*
 * host_runs.h - runs of a program with its calls alone recorded, beside the recording of more: how
 * long the host takes where CUPTI does not slow it (common/trace/host_gaps.h).
 */
#ifndef RIFT_PROFILE_HOST_RUNS_H
#define RIFT_PROFILE_HOST_RUNS_H

#include "harness/profile/recording.h"

/*
 * request->host_runs of them, whose traces lie in a folder of their own beside request->output and
 * go with it. out->host_gaps is then a new reference, or NULL after a line that says why they tell
 * nothing: a runtime that is linked in, other calls than in the recording at request->output,
 * another end than out->status, a trace that is not whole. Returns 0, or a negative errno after a
 * line: the recording cannot be read, the program cannot be started; -EINTR without one.
 */
int host_runs_take(const struct recording_request *request, struct recording *out);

#endif
