/*
 * host_runs.h - runs of a program with its calls alone recorded, beside the recording of more: how
 * long the host takes where CUPTI does not slow it (common/trace/host_gaps.h).
 */
#ifndef RIFT_PROFILE_HOST_RUNS_H
#define RIFT_PROFILE_HOST_RUNS_H

#include "harness/profile/recording.h"

/*
 * request->host_runs of them; 0: nothing is done. Their traces lie in a folder of their own beside
 * request->output, which is removed. out->host_gaps is then a new reference. It is NULL after a
 * line that says why: a runtime that is linked in, an end other than out->status, traces that are
 * not whole or without times of the device, no two calls that follow each other often enough, no
 * such folder. Returns 0, or a negative errno after a line: the recording cannot be read, the
 * program cannot be started. -EINTR: without a line.
 */
int host_runs_take(const struct recording_request *request, struct recording *out);

#endif
