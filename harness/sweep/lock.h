/* lock.h - one session, one writer: a file with the pid and the boot of who writes. */
#ifndef RIFT_SWEEP_LOCK_H
#define RIFT_SWEEP_LOCK_H

struct lock {
	char *path; /* NULL: not held */
};

/*
 * Takes PATH.lock. A lock whose process is dead, or was of another boot, is stale: it is replaced
 * and that is said. Returns 0, -EBUSY after one line that names the holder, or another errno.
 */
int lock_take(struct lock *l, const char *path);

void lock_release(struct lock *l);

#endif
