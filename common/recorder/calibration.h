/* calibration.h - what calls and kernels cost, from the events of a few of them. */
#ifndef RIFT_RECORDER_CALIBRATION_H
#define RIFT_RECORDER_CALIBRATION_H

#include "common/recorder/writer.h"

struct calibration;

struct calibration *calibration_new(void); /* NULL: no memory */
void calibration_free(struct calibration *c);

/*
 * Calls and operations in the order in which each thread made them: launches, of which some are
 * followed by a synchronize, and kernels. Those between the first and the second host function, the
 * third and the fourth, were queued before the first of them ran. calibration is a struct
 * calibration.
 */
void calibration_take(const struct trace_event *e, void *calibration);

/* Median time of kernels, ns; 0: none came. */
int64_t calibration_kernel_ns(const struct calibration *c);

/* All but the window and the recorder's pace and kernels. */
void calibration_result(struct calibration *c, struct trace_calibration *out);

/* Percentiles of n values, which it sorts. */
struct trace_spread trace_spread_of(int64_t *value, int n);

#endif
