/* helpers.c - see helpers.h. */
#include "harness/share/helpers.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/process.h"

/* ---- who they are ----------------------------------------------------------------------- */

/* Guards of layers leave their parents, but not their environment. */
static const char mark[] = "RIFT_SHARE";

void helpers_mark(void)
{
	char own[24];

	snprintf(own, sizeof(own), "%d", (int)getpid());
	setenv(mark, own, 1);
}

static bool is_marked(pid_t pid)
{
	char own[24];

	snprintf(own, sizeof(own), "%d", (int)getpid());
	return process_has_variable(pid, mark, own);
}

/* As many processes as there is room for. */
enum { PROCESSES_MAX = 16384 };

struct known {
	pid_t pid, parent;
	bool is_below;
};

/* 0: there is no such process any more. Its name is in brackets, and may hold any. */
static pid_t parent_of(pid_t pid)
{
	char path[40], text[512] = "", *end;
	int parent = 0;
	FILE *stat;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	stat = fopen(path, "re");
	if (!stat)
		return 0;
	if (fgets(text, sizeof(text), stat) && (end = strrchr(text, ')')))
		sscanf(end + 1, " %*c %d", &parent);
	fclose(stat);
	return parent;
}

static int list_all(struct known *all)
{
	DIR *proc = opendir("/proc");
	const struct dirent *e;
	int n = 0;

	while (proc && n < PROCESSES_MAX && (e = readdir(proc))) {
		pid_t pid = (pid_t)atoi(e->d_name);

		if (pid > 0)
			all[n++] = (struct known){ pid, parent_of(pid),
						   pid != getpid() && is_marked(pid) };
	}
	if (proc)
		closedir(proc);
	return n;
}

static bool is_below(const struct known *all, int n, pid_t pid)
{
	for (int i = 0; i < n; i++)
		if (all[i].pid == pid)
			return all[i].is_below;
	return false;
}

/* A process may stand before its parent. */
static void mark_below(struct known *all, int n)
{
	bool changed = true;

	while (changed) {
		changed = false;
		for (int i = 0; i < n; i++)
			if (!all[i].is_below && all[i].parent &&
			    (all[i].parent == getpid() || is_below(all, n, all[i].parent)))
				changed = all[i].is_below = true;
	}
}

static bool is_listed(const pid_t *list, int n, pid_t pid)
{
	for (int i = 0; i < n; i++)
		if (list[i] == pid)
			return true;
	return false;
}

void helpers_find(struct helpers *h, const pid_t *except, int n)
{
	struct known *all = calloc(PROCESSES_MAX, sizeof(*all));
	int found = all ? list_all(all) : 0;

	h->n = 0;
	mark_below(all, found);
	for (int i = 0; i < found && h->n < HELPERS_MAX; i++)
		if (all[i].is_below && !is_listed(except, n, all[i].pid))
			h->of[h->n++] = (struct helper){ .pid = all[i].pid };
	free(all);
}

/* ---- what they used --------------------------------------------------------------------- */

/* false: it has ended. */
static bool used_so_far(pid_t pid, double *seconds)
{
	struct timespec t;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &t))
		return false;
	*seconds = (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
	return true;
}

void helpers_begin(struct helpers *h)
{
	for (int i = 0; i < h->n; i++) {
		h->of[i].from_s = 0;
		used_so_far(h->of[i].pid, &h->of[i].from_s);
		h->of[i].to_s = h->of[i].from_s;
	}
}

void helpers_end(struct helpers *h)
{
	for (int i = 0; i < h->n; i++)
		used_so_far(h->of[i].pid, &h->of[i].to_s);
}

double helpers_used_s(const struct helpers *h)
{
	double sum = 0;

	for (int i = 0; i < h->n; i++)
		sum += h->of[i].to_s - h->of[i].from_s;
	return sum;
}
