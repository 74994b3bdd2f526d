/* cpu.c - other work on the same processors: what a busy host does to a guest's. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/check.h"
#include "common/shared_file.h"
#include "layers/layer.h"

struct cpu_opts {
	double share;
	int64_t n;
};

static const struct param params[] = {
	PARAM_REAL(cpu_opts, share, "%", "100", 1, 100,
		   "share of a processor that each process takes"),
	PARAM_INT(cpu_opts, n, "processes", "0", 0, 4096,
		  "number of processes; 0: one per processor"),
	PARAM_END,
};

/* Work is done in turns of this length, so that a share is one of every few ms. */
enum {
	TURN_NS = 1000000,
	TURNS_A_LOOK = 10,
	BEHIND_MAX_NS = 20000000,
	WATCH_NS = 200000000,
	TRIES = 20
};

/*
 * What the helpers tell, all together: processor time that they have used, and how long they were
 * ready to run and others did. Both count as asked for: on a busy machine they get less, and there
 * is no less other work for that.
 */
struct shared {
	_Atomic int64_t used_ns, waited_ns;
};

static const char variable[] = "RIFT_LAYER_CPU"; /* the file of struct shared */

static int64_t now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int64_t processes(const struct cpu_opts *o)
{
	cpu_set_t set;

	if (o->n)
		return o->n;
	return sched_getaffinity(0, sizeof(set), &set) ? 1 : CPU_COUNT(&set);
}

/* How long this process was ready while others ran: the second number there. 0 where none is kept.
 */
static int64_t waited_ns(void)
{
	FILE *f = fopen("/proc/self/schedstat", "re");
	long long ran, waited = 0;

	if (f && fscanf(f, "%lld %lld", &ran, &waited) != 2)
		waited = 0;
	if (f)
		fclose(f);
	return waited;
}

/*
 * Spins until its processor time is the share of the time that has passed, then sleeps. What it
 * could not get while others ran is not caught up on beyond BEHIND_MAX_NS: a burst is no share.
 */
_Noreturn static void use_processor(double share, struct shared *s)
{
	int64_t start = now_ns(CLOCK_MONOTONIC), used = now_ns(CLOCK_PROCESS_CPUTIME_ID);
	struct timespec pause = { .tv_nsec = TURN_NS };
	int64_t waited = waited_ns();

	for (int turn = 0;; turn++) {
		int64_t used_before = used, end = used + TURN_NS, due;

		while (used < end)
			used = now_ns(CLOCK_PROCESS_CPUTIME_ID);
		s->used_ns += used - used_before;
		if (turn % TURNS_A_LOOK == 0) {
			int64_t now = waited_ns();

			s->waited_ns += now - waited;
			waited = now;
		}
		due = (int64_t)(share * (double)(now_ns(CLOCK_MONOTONIC) - start));
		if (due - used > BEHIND_MAX_NS)
			start += (int64_t)((double)(due - used - BEHIND_MAX_NS) / share);
		while (due < used) {
			nanosleep(&pause, NULL);
			due = (int64_t)(share * (double)(now_ns(CLOCK_MONOTONIC) - start));
		}
	}
}

static void keep_busy(const void *opts, int ready)
{
	const struct cpu_opts *o = opts;
	struct shared *s = shared_file_map(getenv(variable), sizeof(*s), 0);
	pid_t parent = getpid();

	if (!s)
		return;
	for (int64_t i = 1; i < processes(o); i++) {
		pid_t pid = fork();

		if (pid < 0)
			return;
		if (pid)
			continue;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(1);
		use_processor(o->share / 100, s);
	}
	if (write(ready, "r", 1) == 1)
		use_processor(o->share / 100, s);
}

static int enter(const void *opts, struct entry *e)
{
	const char *folder = entry_folder(e);
	struct shared *s;
	char path[512];

	(void)opts;
	if (!folder)
		return -EIO;
	snprintf(path, sizeof(path), "%s/used", folder);
	s = shared_file_map(path, sizeof(*s), O_CREAT);
	if (!s)
		return complain(errno, "layer cpu: %s: %s", path, strerror(errno));
	munmap(s, sizeof(*s));
	entry_setenv(e, variable, path);
	entry_helper(e, keep_busy);
	return 0;
}

/* At least 80 % of what was asked for, in one of some tries, as helpers may look rarely. */
static bool in_force(const void *opts, char detail[LAYER_DETAIL])
{
	const struct cpu_opts *o = opts;
	const char *path = getenv(variable);
	struct shared *s = path ? shared_file_map(path, sizeof(*s), 0) : NULL;
	double asked = o->share / 100 * (double)processes(o), got = 0, used = 0;

	for (int i = 0; s && i < TRIES && got < 0.8 * asked; i++) {
		struct timespec watch = { .tv_nsec = WATCH_NS };
		int64_t start = now_ns(CLOCK_MONOTONIC);
		int64_t used_before = s->used_ns, waited_before = s->waited_ns;
		double passed;

		nanosleep(&watch, NULL);
		passed = (double)(now_ns(CLOCK_MONOTONIC) - start);
		used = (double)(s->used_ns - used_before) / passed;
		got = used + (double)(s->waited_ns - waited_before) / passed;
	}
	if (s)
		munmap(s, sizeof(*s));
	snprintf(detail, LAYER_DETAIL,
		 "uses %.2f processors, and would use %.2f more if others did not; %.2f were "
		 "requested",
		 used, got - used, asked);
	return got >= 0.8 * asked;
}

const struct layer layer_cpu = {
	.name = "cpu",
	.summary = "other work on the same processors, as on a busy host",
	.disturbs = true,
	.opts_size = sizeof(struct cpu_opts),
	.params = params,
	.enter = enter,
	.in_force = in_force,
};
