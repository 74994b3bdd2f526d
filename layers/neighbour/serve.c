/* serve.c - a process that works on the device while others do. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/check.h"
#include "common/shared_file.h"
#include "layers/neighbour/neighbour.h"
#include "layers/neighbour/work.h"

/*
 * A pause is long enough for a sleeping process and short beside what anybody measures. The clock
 * of a GPU takes WARM_NS to rise. Who waits for the others gives up before the guard does.
 */
enum {
	PAUSE_NS = 500000,
	BEHIND_MAX_NS = 20000000,
	WARM_NS = 300000000,
	LOOK_NS = 200000000,
	OTHERS_WAIT_MS = 8000
};

struct neighbour_shared *neighbour_map(const char *path, bool create)
{
	return shared_file_map(path, sizeof(struct neighbour_shared), create ? O_CREAT : 0);
}

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void pause_for(int64_t ns)
{
	const struct timespec t = { .tv_nsec = ns };

	nanosleep(&t, NULL);
}

/* ---- work ------------------------------------------------------------------------------- */

/* Keeps the queue full for so long, and leaves it so. Returns the units that ended. */
static int64_t work_for(struct work *w, int64_t ns)
{
	int64_t end = now_ns() + ns, before = w->finished;

	while (now_ns() < end) {
		while (work_queued(w) < NEIGHBOUR_QUEUE)
			work_submit(w);
		work_await(w);
	}
	return w->finished - before;
}

static bool await_others(const struct neighbour_shared *s, int64_t n)
{
	for (int ms = 0; s->opened < n; ms++) {
		if (ms > OTHERS_WAIT_MS)
			return false;
		pause_for(1000000);
	}
	return true;
}

/* Waits for the oldest unit. What was queued since `*since` is time that the device is asked for.
 */
static void finish_one(struct work *w, int64_t *since, int64_t *busy, struct neighbour_shared *s)
{
	int64_t now;

	work_await(w);
	now = now_ns();
	*busy += now - *since;
	s->busy_ns += now - *since;
	s->units++;
	*since = now;
}

/*
 * Work is queued until that was so for the share of the time that has passed; then it ends, and a
 * pause follows. What it could not do is not caught up on beyond BEHIND_MAX_NS: a burst is no
 * share.
 */
_Noreturn static void keep_busy(struct work *w, double share, struct neighbour_shared *s)
{
	int64_t start = now_ns(), since = start, busy = 0;

	for (;;) {
		int64_t due = (int64_t)(share * (double)(now_ns() - start));

		if (due - busy > BEHIND_MAX_NS)
			start += (int64_t)((double)(due - busy - BEHIND_MAX_NS) / share);
		if (due >= busy) {
			if (!work_queued(w))
				since = now_ns();
			while (work_queued(w) < NEIGHBOUR_QUEUE)
				work_submit(w);
			finish_one(w, &since, &busy, s);
			continue;
		}
		while (work_queued(w))
			finish_one(w, &since, &busy, s);
		pause_for(PAUSE_NS);
	}
}

void neighbour_serve(const struct neighbour_opts *o, int ready)
{
	const char *path = getenv("RIFT_LAYER_NEIGHBOUR");
	struct neighbour_shared *s = path ? neighbour_map(path, false) : NULL;
	struct work w;

	if (!s) {
		complain(errno, "layer neighbour: no file of what its processes do");
		return;
	}
	fcntl(ready, F_SETFD, FD_CLOEXEC); /* of this process alone from here on */
	if (work_open(&w, (enum neighbour_kind)o->kind))
		return;
	s->opened++;
	if (!await_others(s, o->n)) {
		complain(ETIMEDOUT, "layer neighbour: %ld of %ld processes have opened the device",
			 (long)s->opened, (long)o->n);
		return;
	}
	work_for(&w, WARM_NS);
	s->units_in_1000_s += work_for(&w, LOOK_NS) * 1000000 / (LOOK_NS / 1000000);
	if (write(ready, "r", 1) == 1)
		keep_busy(&w, o->duty / 100, s);
}
