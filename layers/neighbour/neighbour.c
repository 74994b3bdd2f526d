/*
 * neighbour.c - other work on the same device, by processes of its own. A GPU's driver gives the
 * device to one process after the other, a time slice each; so does the kernel with the processors
 * that are the CPU device.
 *
 * A helper starts rift anew (exec), as it would otherwise have what layers outside this one have
 * preloaded into its parent.
 */
#include "layers/neighbour/neighbour.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "common/check.h"
#include "layers/neighbour/work.h"

static const char *const kinds[] = { "spin", "copy", "launch", NULL };

static const struct param params[] = {
	PARAM_CHOICE(neighbour_opts, kind, "spin", kinds,
		     "work of the processes: kernels of 1 ms that fill the device, copies both "
		     "ways, or empty kernels"),
	PARAM_REAL(neighbour_opts, duty, "%", "100", 1, 100,
		   "share of the time in which each process has work queued"),
	PARAM_INT(neighbour_opts, n, "processes", "1", 1, NEIGHBOUR_PROCESSES_MAX,
		  "number of processes"),
	PARAM_END,
};

/* The file of struct neighbour_shared, and where a helper writes that it works. */
static const char variable[] = "RIFT_LAYER_NEIGHBOUR",
		  ready_variable[] = "RIFT_LAYER_NEIGHBOUR_READY";

/* ---- helpers ---------------------------------------------------------------------------- */

/* Becomes `rift layer neighbour ...` with the variable set, whose enter() is all that happens. */
static void start_anew(const void *opts, int ready)
{
	const struct neighbour_opts *o = opts;
	char kind[32], duty[48], n[32], fd[16];

	snprintf(kind, sizeof(kind), "kind=%s", kinds[o->kind]);
	snprintf(duty, sizeof(duty), "duty=%.17g", o->duty);
	snprintf(n, sizeof(n), "n=%ld", (long)o->n);
	snprintf(fd, sizeof(fd), "%d", ready);
	setenv(ready_variable, fd, 1);
	fcntl(ready, F_SETFD, 0);
	execl("/proc/self/exe", "rift", "layer", "neighbour", kind, duty, n, "--", "/proc/self/exe",
	      (char *)NULL);
	complain(errno, "layer neighbour: %s", strerror(errno));
}

static void serve_if_helper(const struct neighbour_opts *o)
{
	const char *ready = getenv(ready_variable);

	if (!ready)
		return;
	neighbour_serve(o, atoi(ready));
	_exit(1);
}

static int enter(const void *opts, struct entry *e)
{
	const struct neighbour_opts *o = opts;
	struct neighbour_shared *s;
	const char *folder;
	char path[512];

	serve_if_helper(o);
	folder = entry_folder(e);
	if (!folder)
		return -EIO;
	snprintf(path, sizeof(path), "%s/work", folder);
	s = neighbour_map(path, true);
	if (!s)
		return complain(errno, "layer neighbour: %s: %s", path, strerror(errno));
	munmap(s, sizeof(*s));
	entry_setenv(e, variable, path);
	for (int64_t i = 0; i < o->n; i++)
		entry_helper(e, start_anew);
	return 0;
}

/* ---- in force --------------------------------------------------------------------------- */

enum { WATCH_NS = 200000000, TRIES = 20 };

/* A second's worth of it. */
struct seen {
	double busy, units;
};

static struct seen watch(const struct neighbour_shared *s)
{
	const struct timespec wait = { .tv_nsec = WATCH_NS };
	int64_t busy = s->busy_ns, units = s->units;
	struct timespec start, end;
	double passed;

	clock_gettime(CLOCK_MONOTONIC, &start);
	nanosleep(&wait, NULL);
	clock_gettime(CLOCK_MONOTONIC, &end);
	passed = (double)(end.tv_sec - start.tv_sec) + 1e-9 * (double)(end.tv_nsec - start.tv_nsec);
	return (struct seen){ .busy = 1e-9 * (double)(s->busy_ns - busy) / passed,
			      .units = (double)(s->units - units) / passed };
}

/*
 * Asked while this process leaves the device alone, so that the neighbour has its whole share. Its
 * work must be queued for 80 % of the time asked for, and get done: half as fast as at its start is
 * enough, as clocks fall and others may be there, too.
 */
static bool is_enough(const struct seen *seen, const struct seen *asked)
{
	return seen->busy >= 0.8 * asked->busy && asked->units > 0 &&
	       seen->units >= 0.5 * asked->units;
}

static bool in_force(const void *opts, char detail[LAYER_DETAIL])
{
	static const struct {
		const char *what;
		double of_unit;
	} counted[] = { { "kernels", 1 }, { "copies", 2 }, { "launches", NEIGHBOUR_LAUNCHES } };
	const struct neighbour_opts *o = opts;
	const char *path = getenv(variable);
	struct neighbour_shared *s = path ? neighbour_map(path, false) : NULL;
	struct seen seen = { 0 }, asked = { .busy = o->duty / 100 * (double)o->n };
	double each = counted[o->kind].of_unit;

	if (s)
		asked.units = o->duty / 100 * 1e-3 * (double)s->units_in_1000_s;
	for (int i = 0; s && i < TRIES && !is_enough(&seen, &asked); i++)
		seen = watch(s);
	if (s)
		munmap(s, sizeof(*s));
	snprintf(detail, LAYER_DETAIL,
		 "has work queued in %.2f processes (%.2f were requested) and does %.0f %s per "
		 "second (it could do %.0f)",
		 seen.busy, asked.busy, each * seen.units, counted[o->kind].what,
		 each * asked.units);
	return s && is_enough(&seen, &asked);
}

const struct layer layer_neighbour = {
	.name = "neighbour",
	.summary = "other work on the same device by other processes, in time slices",
	.disturbs = true,
	.opts_size = sizeof(struct neighbour_opts),
	.params = params,
	.enter = enter,
	.in_force = in_force,
};
