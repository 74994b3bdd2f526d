/* memory.h - what clients can take of the device's memory, and whether it comes back. */
#ifndef RIFT_SHARE_MEMORY_H
#define RIFT_SHARE_MEMORY_H

#include "harness/share/share.h"

/*
 * Adds the line of memory to a record with an allowance of it: what one client can take, in one
 * piece and in many; whether it can again after a free; what a second one can take meanwhile; and
 * what a new one can after the first one's exit, and after a kill -9, both with all taken. Returns
 * 0, or a negative errno after one line; -EINTR.
 */
int memory_measure(struct share *s, double patience_s);

#endif
