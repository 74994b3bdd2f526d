/*
 * feed.h - records of CUPTI become events of a trace: calls, with what other records tell of them
 * by their correlation, operations, ranges.
 *
 * CUPTI delivers records in any order and late. Calls therefore wait from one feed_forward() to the
 * next one but one, and go on in the order of their time.
 */
#ifndef RIFT_RECORDER_CUPTI_FEED_H
#define RIFT_RECORDER_CUPTI_FEED_H

#include <stdbool.h>

#include "common/recorder/cupti/abi.h"

/* Any thread. Kinds and calls that a trace has not are passed over. */
void feed_take(const struct cupti_record *record);

struct calibration;

/* From then on calls and operations go to a calibration alone; NULL: to the trace. */
void feed_divert(struct calibration *to);

/* To the recorder, by its thread; end: all of it. Operations whose call never came are lost. */
void feed_forward(bool end);

#endif
