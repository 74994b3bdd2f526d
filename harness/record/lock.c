/* lock.c - one session, one writer. */
#include "harness/record/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/check.h"
#include "harness/session/host.h"

/* A worker that is just being started may hold the lock of a process that is gone, for moments. */
enum { TRIES = 5, TRY_US = 20000 };

/* Who holds it: pid, when that process started (a pid is used again), and which boot. */
struct holder {
	int pid;
	long long start;
	char boot[64];
};

/* ---- the note --------------------------------------------------------------------------- */

static int create_note(const char *path)
{
	char text[160];
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666), n;

	if (fd < 0)
		return errno;
	n = snprintf(text, sizeof(text), "%d %lld %s\n", (int)getpid(),
		     (long long)system_start_of(getpid()), system_boot_id());
	if (write(fd, text, (size_t)n) != n) {
		int err = errno ? errno : EIO;

		close(fd);
		unlink(path);
		return err;
	}
	close(fd);
	return 0;
}

/* False where nothing can be read: it is being written or removed just now. */
static bool read_holder(const char *path, struct holder *h)
{
	FILE *f = fopen(path, "re");
	int n = 0;

	memset(h, 0, sizeof(*h));
	if (f) {
		n = fscanf(f, "%d %lld %63s", &h->pid, &h->start, h->boot);
		fclose(f);
	}
	return n >= 2;
}

/* As far as this PID namespace shows. */
static bool is_alive(const struct holder *h)
{
	if (*h->boot && strcmp(h->boot, system_boot_id()))
		return false;
	return system_start_of(h->pid) == h->start;
}

/* Replaces the note of who is gone. Returns an errno; EBUSY: *h lives. */
static int take_note(const char *note, struct holder *h)
{
	int err = EEXIST;

	for (int i = 0; i < TRIES && err == EEXIST; i++) {
		err = create_note(note);
		if (err != EEXIST)
			break;
		if (!read_holder(note, h))
			usleep(TRY_US);
		else if (is_alive(h))
			return EBUSY;
		unlink(note);
	}
	return err;
}

/* ---- the lock --------------------------------------------------------------------------- */

static int lock_file(int fd)
{
	struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	int err = EAGAIN;

	for (int i = 0; i < TRIES && (err == EAGAIN || err == EACCES); i++) {
		if (i)
			usleep(TRY_US);
		err = fcntl(fd, F_OFD_SETLK, &whole) ? errno : 0;
	}
	return err == EACCES ? EAGAIN : err;
}

static int refuse(const char *path, const char *note)
{
	struct holder h;

	if (!read_holder(note, &h))
		return complain(EBUSY, "%s is being written by another process", path);
	return complain(EBUSY, "%s is being written by process %d (%s)%s", path, h.pid, note,
			is_alive(&h) ? "" : ", of another container, PID namespace or host");
}

int lock_take(struct lock *l, int fd, const char *path)
{
	struct holder h;
	int err = lock_file(fd), noted;

	*l = (struct lock){ 0 };
	CHECK(asprintf(&l->note, "%s.lock", path) >= 0, "memory of a name");
	if (err && err != EAGAIN)
		complain(err,
			 "%s.part: this file system has no locks (%s): what is in %s keeps other "
			 "writers out, but none of another container or host",
			 path, strerror(err), l->note);
	noted = err == EAGAIN ? EBUSY : take_note(l->note, &h);
	if (noted == EBUSY)
		noted = refuse(path, l->note);
	else if (noted && err) /* there is nothing but the note */
		noted = complain(noted, "cannot write %s: %s", l->note, strerror(noted));
	else
		return 0;
	free(l->note);
	*l = (struct lock){ 0 };
	return noted;
}

void lock_release(struct lock *l)
{
	if (l->note)
		unlink(l->note);
	free(l->note);
	*l = (struct lock){ 0 };
}
