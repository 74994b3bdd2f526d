/*
 * driver.h - what the recorder's library asks of the driver whose program it is in: its version,
 * and what its calls cost without CUPTI and with it. Functions are found by name, as no driver need
 * be there when this is built.
 */
#ifndef RIFT_RECORDER_CUPTI_DRIVER_H
#define RIFT_RECORDER_CUPTI_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/recorder/writer.h"

/* 0 and "": it does not say. */
int driver_version(void);
void driver_name_device(char *out, size_t room);

/* Has the calling thread a context? */
bool driver_has_context(void);

/*
 * Before CUPTI records: 1,000 launches of an empty kernel in ten rows that a host function holds
 * back, and 50 that are waited for, on a stream of its own; then 30 of a graph of one node and
 * of 65. gap is then what a kernel takes of the row. false: a call failed; the program goes on as
 * it was.
 */
bool driver_calibrate(struct trace_calibration *out);

/*
 * The same with CUPTI's records, which flush() delivers: what they add, and the kernel's own time,
 * which is taken off gap.
 */
void driver_calibrate_recorder(struct trace_calibration *out, int (*flush)(uint32_t flag));

#endif
