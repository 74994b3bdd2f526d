/* schedule.c - see schedule.h. */
#include "layers/remote/daemon/schedule.h"

#include <cuda_runtime_api.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/check.h"

enum { PLACES = 1024 };

/* What a process puts there is read where its place's byte is locked. */
struct place {
	atomic_int at; /* in the list of devices */
	atomic_uint_least64_t bytes;
};

struct shared {
	uint64_t turn;
	struct place place[PLACES];
};

struct schedule {
	enum remote_schedule kind;
	int device[PARAM_LIST_MAX]; /* as they are dealt; one may be there twice */
	int n;
	int fd;
	struct shared *shared;
};

/* ---- how many devices there are ----------------------------------------------------------- */

/* By a process of its own: one that has opened the device cannot fork others that do. */
static int count_devices(void)
{
	int n = 0, out[2] = { -1, -1 };
	pid_t pid = pipe2(out, O_CLOEXEC) ? -1 : fork();

	if (!pid) {
		if (cudaGetDeviceCount(&n))
			n = 0;
		_exit(write(out[1], &n, sizeof(n)) != sizeof(n));
	}
	if (out[1] >= 0)
		close(out[1]);
	if (pid < 0 || read(out[0], &n, sizeof(n)) != sizeof(n))
		n = 0;
	if (pid > 0)
		waitpid(pid, NULL, 0);
	if (out[0] >= 0)
		close(out[0]);
	return n;
}

/* -1: all that there are. False after one line. */
static bool list_devices(struct schedule *s, const struct param_list *asked)
{
	int there = count_devices();

	if (there < 1)
		return complain(ENODEV, "layer remote: the daemon sees no device"), false;
	s->n = asked->value[0] < 0 ? there : asked->n;
	s->n = s->n < PARAM_LIST_MAX ? s->n : PARAM_LIST_MAX;
	for (int i = 0; i < s->n; i++) {
		s->device[i] = asked->value[0] < 0 ? i : (int)asked->value[i];
		if (s->device[i] < 0 || s->device[i] >= there)
			return complain(EINVAL,
					"layer remote: devices=: there is no device %d; the daemon "
					"sees %d",
					s->device[i], there),
			       false;
	}
	return true;
}

/* ---- places ------------------------------------------------------------------------------- */

/* One byte a place, and one behind them for who chooses. */
static struct flock byte_of(int place, short type)
{
	return (struct flock){ .l_type = type, .l_whence = SEEK_SET, .l_start = place, .l_len = 1 };
}

static bool is_held(int fd, int place)
{
	struct flock byte = byte_of(place, F_WRLCK);

	return !fcntl(fd, F_OFD_GETLK, &byte) && byte.l_type != F_UNLCK;
}

/* Until the descriptor is closed. -1: all are held. */
static int hold_place(int fd)
{
	for (int i = 0; i < PLACES; i++) {
		struct flock byte = byte_of(i, F_WRLCK);

		if (!fcntl(fd, F_OFD_SETLK, &byte))
			return i;
	}
	return -1;
}

/* The places anew, as locks are those of who has opened the file. -1: it cannot be. */
static int open_places(const struct schedule *s)
{
	char path[48];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", s->fd);
	return open(path, O_RDWR | O_CLOEXEC);
}

struct schedule *schedule_new(const struct remote_opts *o, bool *ok)
{
	struct schedule *s = calloc(1, sizeof(*s));

	CHECK(s, "memory of a schedule");
	*ok = o->schedule == REMOTE_FIRST;
	s->kind = (enum remote_schedule)o->schedule;
	if (*ok || !list_devices(s, &o->devices)) {
		free(s);
		return NULL;
	}
	s->fd = memfd_create("rift-remote-places", MFD_CLOEXEC);
	s->shared = s->fd < 0 || ftruncate(s->fd, sizeof(*s->shared))
			    ? MAP_FAILED
			    : mmap(NULL, sizeof(*s->shared), PROT_READ | PROT_WRITE, MAP_SHARED,
				   s->fd, 0);
	CHECK(s->shared != MAP_FAILED, "memory of places: %s", strerror(errno));
	*ok = true;
	return s;
}

/* ---- choosing ----------------------------------------------------------------------------- */

int schedule_least(const int *clients, const uint64_t *bytes, int n)
{
	int least = 0;

	for (int i = 1; i < n; i++)
		if (clients[i] < clients[least] ||
		    (clients[i] == clients[least] && bytes[i] < bytes[least]))
			least = i;
	return least;
}

/* Where the device stands first: one that is listed twice is one device. */
static int first_of(const struct schedule *s, int at)
{
	int i = 0;

	while (s->device[i] != s->device[at])
		i++;
	return i;
}

static int by_load(const struct schedule *s, int fd, int own)
{
	int clients[PARAM_LIST_MAX] = { 0 }, at[PARAM_LIST_MAX], n = 0, of[PARAM_LIST_MAX];
	uint64_t bytes[PARAM_LIST_MAX] = { 0 };

	for (int i = 0; i < s->n; i++) {
		of[i] = first_of(s, i) == i ? n : of[first_of(s, i)];
		if (of[i] == n)
			at[n++] = i;
	}
	for (int i = 0; i < PLACES; i++) {
		const struct place *p = &s->shared->place[i];

		if (i == own || !is_held(fd, i))
			continue;
		clients[of[atomic_load(&p->at)]]++;
		bytes[of[atomic_load(&p->at)]] += atomic_load(&p->bytes);
	}
	return at[schedule_least(clients, bytes, n)];
}

/* One chooses at a time; whose process ends meanwhile leaves the lock. */
static void one_at_a_time(int fd, short type)
{
	struct flock byte = byte_of(PLACES, type);

	while (fcntl(fd, F_OFD_SETLKW, &byte) && errno == EINTR)
		;
}

struct scheduled schedule_take(struct schedule *s)
{
	struct scheduled none = { -1, NULL, -1 };
	int fd = open_places(s), place;
	struct place *p;

	if (fd < 0)
		return none;
	one_at_a_time(fd, F_WRLCK);
	place = hold_place(fd);
	if (place < 0) {
		close(fd);
		return none;
	}
	p = &s->shared->place[place];
	atomic_store(&p->bytes, 0);
	atomic_store(&p->at, s->kind == REMOTE_LOAD ? by_load(s, fd, place)
						    : (int)(s->shared->turn++ % (uint64_t)s->n));
	one_at_a_time(fd, F_UNLCK);
	return (struct scheduled){ s->device[atomic_load(&p->at)], &p->bytes, fd };
}

void schedule_leave(struct scheduled given)
{
	if (given.fd >= 0)
		close(given.fd);
}

/* ---- one device of several ---------------------------------------------------------------- */

/* The number counts among those that the variable names already, as "2,3" or "GPU-5f0c...". */
void schedule_see_only(int device)
{
	const char *named = getenv("CUDA_VISIBLE_DEVICES");
	char text[96];

	snprintf(text, sizeof(text), "%d", device);
	for (int i = 0; named && i < device; i++) {
		named += strcspn(named, ",");
		named += *named == ',';
	}
	if (named && *named)
		snprintf(text, sizeof(text), "%.*s", (int)strcspn(named, ","), named);
	setenv("CUDA_VISIBLE_DEVICES", text, 1);
}
