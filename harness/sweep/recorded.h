/*
 * recorded.h - what show, fit, predict, compare and plot share: reading a recorded session, and
 * what it says of where it was measured.
 */
#ifndef RIFT_SWEEP_RECORDED_H
#define RIFT_SWEEP_RECORDED_H

#include "harness/sweep/journal.h"

/*
 * Reads it after `rift check` has found nothing wrong with it, and refuses what is not whole: a
 * session under way, one that ended too soon, a file whose end was cut off. Returns 0;
 * -EPROTONOSUPPORT after one line for another major version of the schema; or another negative
 * errno after one line. *j may be released after a failure too.
 *
 * sync: the kind of waiting that --sync names, or NULL. A session that was swept with several has
 * to be told which, and is read as if it had been swept with that alone: points of different kinds
 * are different points. One that was swept with another alone is refused.
 */
int session_read(struct journal *j, const char *path, const char *sync);

/* Is this the name of a kind of waiting? 0, or -EINVAL after one line. */
int session_sync_check(const char *sync);

/* What a side ran on, for people: "NVIDIA H200 (kvm-guest)"; "unknown device" without a header. */
void session_platform(const struct journal *j, int side, char *out, size_t size);

/* Was this side measured on the CPU device? */
bool session_is_cpu(const struct journal *j, int side);

/* Are these two sessions one, read twice or copied? */
bool session_same(const struct journal *a, const struct journal *b);

#endif
