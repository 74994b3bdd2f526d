/*
 * own_costs.h - a calibration for a trace that has none, from its own calls: what a launch call
 * took, from its return to its kernel on an idle device, from the end of work to the return of a
 * synchronize, and between kernels that were queued. Whatever the trace's recorder added is in
 * them.
 */
#ifndef RIFT_TRACE_OWN_COSTS_H
#define RIFT_TRACE_OWN_COSTS_H

#include "common/trace/trace.h"

/*
 * Sets t->calibration and is_estimated; nothing where there are fewer than 5 launches, or of both
 * of the next two. Where one of these is missing it is taken to be as long as the other.
 */
void own_costs_find(struct trace *t);

#endif
