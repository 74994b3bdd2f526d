/*
 * program_change.h - a traced program with other work: fewer and larger launches, or the host's
 * work beside the device's. What is changed is what the simulation takes of each call.
 */
#ifndef RIFT_PROFILE_PROGRAM_CHANGE_H
#define RIFT_PROFILE_PROGRAM_CHANGE_H

#include "common/trace/retime.h"

/*
 * Of n launches of one kernel, by one thread and to one stream, the last is left and does the work
 * of all. How long it takes is by the slope of that kernel's times over its thread blocks, where
 * the trace has launches of 1.5 times as many blocks as others; else the times are added up, as on
 * a device that is full. It lasts as long as the last one or longer, and as long as all of them at
 * most. The host's work before a launch that is gone is gone too, unless it takes CHANGE_GAP_NS or
 * more. Launches that do not make up n are left. step and extra are of each call. Returns how many
 * launches were merged; *sloped of them by slopes.
 */
int64_t change_merge(const struct trace *t, struct step *step, struct call_extra *extra, int64_t n,
		     int64_t *sloped);

/*
 * What the host does between a synchronize and the next call that gives the device something is
 * done before the synchronize. Returns how many calls' work that is.
 */
int64_t change_overlap(const struct trace *t, struct step *step);

/* Calls further apart than that have work of the program between them. */
enum { CHANGE_GAP_NS = 20000 };

#endif
