/* sensitivity_process.c - see sensitivity_process.h. */
#include "harness/probe/sensitivity_process.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/check.h"
#include "common/interrupt.h"
#include "harness/base/command.h"
#include "harness/base/json.h"
#include "harness/base/text.h"
#include "harness/platform/system.h"
#include "harness/measure/wait.h"

enum { TICK_US = 5000, STOP_TICKS = 600 };

/* ---- the process -------------------------------------------------------------------------- */

/* In a group of its own, so that what a layer has started ends with it. */
static void become_rift(char *const *arguments, int out, int err, pid_t parent)
{
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() == parent && dup2(out, STDOUT_FILENO) >= 0 && dup2(err, STDERR_FILENO) >= 0)
		execv("/proc/self/exe", arguments);
	_exit(127);
}

/* A run that is interrupted ends by itself; one that does not is killed. */
static void stop(pid_t pid, int *status)
{
	kill(-pid, SIGTERM);
	for (int i = 0; i < STOP_TICKS; i++) {
		if (waitpid(pid, status, WNOHANG))
			return;
		usleep(TICK_US);
	}
	kill(-pid, SIGKILL);
	waitpid(pid, status, 0);
}

static int attend(pid_t pid, int *status)
{
	while (!waitpid(pid, status, WNOHANG)) {
		if (interrupted()) {
			stop(pid, status);
			return -EINTR;
		}
		usleep(TICK_US);
	}
	return interrupted() ? -EINTR : 0;
}

/* A file without a name: whatever is written, nobody waits for a reader. */
static int open_file(const char *name)
{
	int fd = memfd_create(name, MFD_CLOEXEC);

	return fd < 0 ? complain(errno, "cannot start rift run: %s", strerror(errno)) : fd;
}

static int run_to_end(char *const *arguments, int out, int err, int *status)
{
	pid_t parent = getpid(), pid;

	fflush(NULL);
	pid = fork();
	if (!pid)
		become_rift(arguments, out, err, parent);
	if (pid < 0)
		return complain(errno, "cannot start rift run: %s", strerror(errno));
	setpgid(pid, pid); /* whoever comes first */
	return attend(pid, status);
}

/* ---- what it said ------------------------------------------------------------------------- */

static double median_member(const json_t *o, const char *name)
{
	return json_get_number(json_object_get(o, name), "median");
}

static double graphs_of(const json_t *o, double depth)
{
	double nodes = json_get_number(o, "graph_steps");

	return nodes > 0 ? ceil(depth / nodes) : 0;
}

static enum mode mode_of(const char *name)
{
	enum mode mode = MODE_STREAM;

	while (mode + 1 < MODE_COUNT && strcmp(mode_name(mode), name) != 0)
		mode++;
	return mode;
}

void run_process_read(struct run_process *p, const json_t *o)
{
	const json_t *cost = json_object_get(o, "cost"), *device = json_object_get(o, "device");
	struct step_figures *f = &p->step;

	snprintf(p->device, sizeof(p->device), "%s", json_get_text(device, "name"));
	p->is_cpu = !strcmp(json_get_text(device, "kind"), "cpu");
	p->blocks = json_integer_value(json_object_get(json_object_get(o, "blocks"), "n"));
	p->layers = json_incref(json_object_get(json_object_get(o, "platform"), "layers"));
	*f = (struct step_figures){ .step_ns = median_member(o, "step_ns"),
				    .submit_ns = median_member(o, "submit_ns"),
				    .kernel_ns = json_get_number(o, "kernel_ns"),
				    .ends_ns = json_get_number(o, "block_ends_ns"),
				    .launches = json_get_number(cost, "launches"),
				    .copies = json_get_number(cost, "copies"),
				    .bytes_transferred = json_get_number(cost, "bytes_transferred"),
				    .allocations = json_get_number(cost, "allocations"),
				    .depth = json_get_number(o, "depth"),
				    .mode = mode_of(json_get_text(o, "mode")) };
	f->graphs = graphs_of(o, f->depth);
}

/* The last line, without "rift: "; all of it also on our own stderr where that is asked for. */
static void read_words(struct run_process *p, int fd, bool words)
{
	FILE *in = fdopen(fd, "r");
	char line[1024];

	CHECK(in, "a stream of a file in memory");
	rewind(in);
	while (fgets(line, sizeof(line), in)) {
		const char *text = strncmp(line, "rift: ", 6) ? line : line + 6;

		if (words)
			fputs(line, stderr);
		line[strcspn(line, "\n")] = '\0';
		if (*text)
			snprintf(p->why, sizeof(p->why), "%.199s", text_escaped(text).s);
	}
	fclose(in);
}

static void read_object(struct run_process *p, int fd)
{
	json_t *o = lseek(fd, 0, SEEK_SET) ? NULL : json_loadfd(fd, 0, NULL);

	if (o)
		run_process_read(p, o);
	else if (!p->exit_code) {
		p->exit_code = RIFT_FAILED_POINTS;
		snprintf(p->why, sizeof(p->why), "it has said nothing");
	}
	if (p->exit_code == RIFT_CHECK_FAILED)
		snprintf(p->why, sizeof(p->why), "the check failed");
	json_decref(o);
}

int run_process(struct run_process *p, char *const *arguments, bool words)
{
	int out = open_file("rift-run"), err = out < 0 ? -1 : open_file("rift-words");
	int64_t start = clock_ns();
	int status = 0, failed;

	*p = (struct run_process){ .place = 0 };
	failed = err < 0 ? -EIO : run_to_end(arguments, out, err, &status);
	p->wall_s = (double)(clock_ns() - start) / 1e9;
	p->exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	if (!failed) {
		read_words(p, err, words);
		err = -1;
		read_object(p, out);
	}
	if (err >= 0)
		close(err);
	if (out >= 0)
		close(out);
	return failed;
}

void run_process_release(struct run_process *p)
{
	json_decref(p->layers);
	p->layers = NULL;
}
