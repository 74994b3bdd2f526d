/*
 * lock.h - one session, one writer.
 *
 * The lock is the kernel's (fcntl, F_OFD_SETLK), on NAME.jsonl.part. It is held as long as that
 * file is open for writing and goes with its process, whatever ends it: no reboot and no PID
 * namespace makes it look stale or free. NAME.jsonl.lock has the pid, start and boot of the holder.
 * It is a note for messages, with two exceptions: a file system without such locks, and a session
 * that an older rift writes, which takes none. There a note whose process lives counts as the lock.
 */
#ifndef RIFT_SWEEP_LOCK_H
#define RIFT_SWEEP_LOCK_H

struct lock {
	char *note; /* NULL: there is none to remove */
};

/*
 * Locks the file behind fd, PATH.part open for writing, and writes PATH.lock. A note that somebody
 * left who is gone is replaced. Where the file system has no locks, one line says so and the note
 * alone must do. Returns 0, -EBUSY after one line that names the holder, or another errno after
 * one. The lock goes when fd is closed.
 */
int lock_take(struct lock *l, int fd, const char *path);

/* Removes the note, before fd is closed: the next holder's must stay. */
void lock_release(struct lock *l);

#endif
