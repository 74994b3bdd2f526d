/*
 * schedule.h - one daemon over several devices: which one a client gets. The client sees that one
 * alone, as device 0.
 *
 * Who serves a client takes a place, in memory that all of them share, and holds it by a lock on a
 * byte of that memory's file, opened for it alone. So a place is free again when it is left, or its
 * process has ended, however it did.
 */
#ifndef RIFT_REMOTE_SCHEDULE_H
#define RIFT_REMOTE_SCHEDULE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "layers/remote/remote.h"

struct schedule;

/* What a client was given. */
struct scheduled {
	int device;		      /* -1: none, as there is no place; the others count from 0 */
	atomic_uint_least64_t *bytes; /* the memory that it has, for who comes later; NULL: none */
	int fd;			      /* that holds the place; -1: none */
};

/*
 * The listener's, which must not open the device: whom it starts will. NULL with *ok: nothing is
 * scheduled. NULL without it: after one line.
 */
struct schedule *schedule_new(const struct remote_opts *o, bool *ok);

/* A client gets a device, before its process or thread opens that. */
struct scheduled schedule_take(struct schedule *s);
void schedule_leave(struct scheduled given);

/* Which one is next, by how many clients and bytes each of n has: the fewest clients, then the
 * least bytes, then the first one. */
int schedule_least(const int *clients, const uint64_t *bytes, int n);

/* This process sees that device alone. */
void schedule_see_only(int device);

#endif
