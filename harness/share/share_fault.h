/* share_fault.h - one client of a set does harm: who else is hurt? */
#ifndef RIFT_SHARE_SHARE_FAULT_H
#define RIFT_SHARE_SHARE_FAULT_H

#include "harness/share/clients.h"
#include "harness/share/window.h"

/*
 * Three windows: before, while the first client of the set does what the plan says, and after;
 * then a check of those that are left, and a newcomer that starts. Adds the line "fault". Returns
 * 0, or a negative errno after one line. The set is of no more use.
 */
int share_fault_try(struct share *s, struct share_clients *c, struct window *w);

/* Why it cannot be tried on this device; NULL: it can. */
const char *share_fault_missing(enum share_fault fault, bool is_cpu);

#endif
