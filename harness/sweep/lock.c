/* lock.c - one session, one writer. */
#include "harness/sweep/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/check.h"
#include "harness/sweep/system.h"

/* Who holds it: pid, when that process started (a pid is used again), and which boot. */
struct holder {
	int pid;
	long long start;
	char boot[64];
};

static int create(const char *path)
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

static bool is_alive(const struct holder *h)
{
	if (*h->boot && strcmp(h->boot, system_boot_id()))
		return false;
	return system_start_of(h->pid) == h->start;
}

/* Renamed before it is removed, so that of two who find it stale only one removes it. */
static void remove_stale(const char *path, const struct holder *h)
{
	char aside[4200];

	snprintf(aside, sizeof(aside), "%s.%d", path, (int)getpid());
	if (rename(path, aside))
		return;
	unlink(aside);
	fprintf(stderr, "rift: %s was left by process %d, which is gone: replaced\n", path, h->pid);
}

int lock_take(struct lock *l, const char *path)
{
	char name[4160];
	int err = 0;

	*l = (struct lock){ 0 };
	if (snprintf(name, sizeof(name), "%s.lock", path) >= (int)sizeof(name))
		return complain(ENAMETOOLONG, "%s: name of a file too long", path);
	for (int tries = 0; tries < 5; tries++) {
		struct holder h;

		err = create(name);
		if (!err) {
			l->path = strdup(name);
			CHECK(l->path, "memory of a name");
			return 0;
		}
		if (err != EEXIST)
			return complain(err, "cannot write %s: %s", name, strerror(err));
		if (!read_holder(name, &h)) {
			usleep(20000);
			continue;
		}
		if (is_alive(&h))
			return complain(EBUSY, "%s is being written by process %d (%s)", path,
					h.pid, name);
		remove_stale(name, &h);
	}
	return complain(EBUSY, "%s is in use or damaged; if nobody writes %s, remove it", name,
			path);
}

void lock_release(struct lock *l)
{
	if (l->path)
		unlink(l->path);
	free(l->path);
	*l = (struct lock){ 0 };
}
