/* child.c - a worker process seen from outside: started, read, ended, and why it was lost. */
#include "harness/session/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/check.h"
#include "common/digest.h"
#include "common/interrupt.h"
#include "harness/base/command.h"
#include "harness/base/json.h"
#include "harness/base/text.h"
#include "harness/platform/enter.h"
#include "harness/measure/measure.h"
#include "harness/record/record.h"
#include "harness/session/supervisor.h"

/* Room for what is written until it is read: a worker must not wait for its reader. */
enum { PIPE_BYTES = 1 << 20, STOP_WAIT_US = 10000 };

struct child child_none(void)
{
	return (struct child){ .out.fd = -1, .err.fd = -1, .in.fd = -1 };
}

/* ---- start ------------------------------------------------------------------------------ */

/* The job as an unlinked file: it can be of any length, and any prefix passes it on. */
static int job_file(const json_t *job)
{
	int fd = memfd_create("rift-job", MFD_CLOEXEC);

	if (fd < 0 || json_dumpfd(job, fd, JSON_COMPACT) || lseek(fd, 0, SEEK_SET))
		return complain(errno ? errno : EIO, "cannot pass a job to a worker: %s",
				strerror(errno));
	return fd;
}

/* A reader that is gone is an error, not a signal. */
static ssize_t write_quietly(int fd, const char *bytes, size_t n)
{
	struct sigaction old, ignore = { .sa_handler = SIG_IGN };
	ssize_t written;
	int err;

	sigaction(SIGPIPE, &ignore, &old);
	written = write(fd, bytes, n);
	err = errno;
	sigaction(SIGPIPE, &old, NULL);
	errno = err;
	return written;
}

/* As much as its stdin takes: a reader that is slow, or gone, holds nobody up. */
static void feed_stdin(struct child *c)
{
	struct feed *in = &c->in;

	while (in->fd >= 0 && in->sent < in->n) {
		ssize_t n = write_quietly(in->fd, in->bytes + in->sent, in->n - in->sent);

		if (n > 0)
			in->sent += (size_t)n;
		else if (errno == EAGAIN)
			return;
		else if (errno != EINTR)
			in->sent = in->n; /* it is gone, which its end will show */
	}
}

void child_tell(struct child *c, const char *text)
{
	size_t more = strlen(text);

	c->in.bytes = realloc(c->in.bytes, c->in.n + more);
	CHECK(c->in.bytes, "%zu bytes", c->in.n + more);
	memcpy(c->in.bytes + c->in.n, text, more);
	c->in.n += more;
	feed_stdin(c);
}

/* A pipe that begins with the job. */
static int job_pipe(struct child *c, const json_t *job)
{
	char *text = json_dumps(job, JSON_COMPACT);
	int fds[2];

	CHECK(text, "a job as text");
	if (pipe2(fds, O_CLOEXEC)) {
		free(text);
		return complain(errno, "cannot start a worker: %s", strerror(errno));
	}
	fcntl(fds[1], F_SETFL, O_NONBLOCK);
	fcntl(fds[1], F_SETPIPE_SZ, PIPE_BYTES);
	c->in.fd = fds[1];
	child_tell(c, text);
	child_tell(c, "\n");
	free(text);
	return fds[0];
}

void child_go(struct child *c)
{
	child_tell(c, "go\n");
}

/* The prefix is the user's own shell command; "$@" behind it is this binary. */
static void exec_worker(const char *exe, const char *prefix)
{
	char *command;

	if (!prefix) {
		/* this very file, even if another was built in its place meanwhile */
		execl("/proc/self/exe", exe, "sweep-worker", (char *)NULL);
		return;
	}
	/* whole, whatever its length: what is cut may be another command */
	if (asprintf(&command, "exec %s \"$@\"", prefix) < 0)
		return;
	execl("/bin/sh", "sh", "-c", command, "sh", exe, "sweep-worker", (char *)NULL);
}

static void become_worker(int job, int out, int err, const char *prefix, pid_t parent)
{
	static char exe[4096];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(127); /* it died before the line above */
	signal(SIGPIPE, SIG_DFL);
	if (n > 0 && dup2(job, 0) >= 0 && dup2(out, 1) >= 0 && dup2(err, 2) >= 0)
		exec_worker(exe, prefix);
	fprintf(stderr, "rift: cannot start a worker: %s\n", strerror(errno));
	_exit(127);
}

static int open_pipe(struct lines *l, int *end)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC))
		return complain(errno, "cannot start a worker: %s", strerror(errno));
	fcntl(fds[0], F_SETFL, O_NONBLOCK);
	fcntl(fds[0], F_SETPIPE_SZ, PIPE_BYTES);
	*l = (struct lines){ .fd = fds[0] };
	*end = fds[1];
	return 0;
}

/* The job, with what is known of large files. */
static int pass_job(struct child *c, const json_t *job, bool takes_turns)
{
	json_t *whole = json_copy((json_t *)(uintptr_t)job), *known = child_digests_json();
	json_t *digests = json_object_get(known, "digests");
	int fd;

	if (json_object_size(digests))
		json_object_set(whole, "digests", digests);
	fd = takes_turns ? job_pipe(c, whole) : job_file(whole);
	json_decref(known);
	json_decref(whole);
	return fd;
}

int child_start(struct child *c, const json_t *job, const char *prefix, bool takes_turns)
{
	int job_fd, out = -1, err_end = -1, err;
	pid_t parent = getpid();

	*c = child_none();
	strcpy(c->phase, "starting");
	job_fd = pass_job(c, job, takes_turns);
	if (job_fd < 0)
		return job_fd;
	err = open_pipe(&c->out, &out);
	if (!err)
		err = open_pipe(&c->err, &err_end);
	if (!err) {
		c->pid = fork();
		if (!c->pid)
			become_worker(job_fd, out, err_end, prefix, parent);
		if (c->pid < 0)
			err = complain(errno, "cannot start a worker: %s", strerror(errno));
		else
			setpgid(c->pid, c->pid); /* whoever comes first */
	}
	close(job_fd);
	close(out);
	close(err_end);
	if (err)
		c->pid = 0;
	return err;
}

/* ---- lines ------------------------------------------------------------------------------ */

static void fill_lines(struct lines *l)
{
	while (l->fd >= 0) {
		ssize_t got;

		if (l->size - l->n < 65536) {
			l->size += 1 << 20;
			l->bytes = realloc(l->bytes, l->size);
			CHECK(l->bytes, "%zu bytes", l->size);
		}
		got = read(l->fd, l->bytes + l->n, l->size - l->n);
		if (got > 0) {
			l->n += (size_t)got;
			continue;
		}
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 && errno == EAGAIN)
			return;
		close(l->fd);
		l->fd = -1;
	}
}

/* The next whole line, cut at its end, or NULL; *at steps over it. */
static char *next_line(struct lines *l, size_t *at)
{
	char *line = l->bytes ? l->bytes + *at : NULL;
	char *end = line ? memchr(line, '\n', l->n - *at) : NULL;

	if (!end)
		return NULL;
	*end = '\0';
	*at = (size_t)(end - l->bytes) + 1;
	return line;
}

static void drop_line(struct lines *l, size_t n)
{
	if (!n)
		return;
	memmove(l->bytes, l->bytes + n, l->n - n);
	l->n -= n;
}

static void read_errors(struct child *c, void (*err_line)(const char *, void *), void *arg)
{
	size_t at = 0;
	char *line;

	fill_lines(&c->err);
	while ((line = next_line(&c->err, &at))) {
		if (*line)
			snprintf(c->last_error, sizeof(c->last_error), "%.319s", line);
		err_line(line, arg);
	}
	drop_line(&c->err, at);
}

json_t *child_phase_json(const char *name)
{
	return json_pack("{s:s, s:s}", "record", "phase", "phase", name);
}

static void add_digest(const char *key, const char *hex, void *to)
{
	json_object_set_new(to, key, json_string(hex));
}

json_t *child_digests_json(void)
{
	json_t *digests = json_object();

	digest_each_known(add_digest, digests);
	return json_pack("{s:s, s:o}", "record", "digests", "digests", digests);
}

void child_know_digests(const json_t *o)
{
	const char *key;
	json_t *hex;

	json_object_foreach(json_object_get(o, "digests"), key, hex) if (json_is_string(hex))
		digest_know(key, json_string_value(hex));
}

static void take_phase(struct child *c, const json_t *o)
{
	const char *name = json_string_value(json_object_get(o, "phase"));

	if (record_is(o, "phase") && name)
		snprintf(c->phase, sizeof(c->phase), "%s", text_shown(name).s);
}

int child_read(struct child *c, int (*each)(const json_t *o, void *arg),
	       void (*err_line)(const char *line, void *arg), void *arg)
{
	size_t at = 0;
	char *line;
	int err = 0;

	/* a worker writes why before it says that something failed; read the other way round */
	fill_lines(&c->out);
	read_errors(c, err_line, arg);
	while (!err && (line = next_line(&c->out, &at))) {
		json_error_t error;
		json_t *o = json_loads(line, 0, &error);

		if (record_is(o, "digests")) {
			child_know_digests(o);
		} else if (json_is_object(o)) {
			take_phase(c, o);
			err = each(o, arg);
		} else { /* a prefix that prints: shown like its complaints */
			err_line(line, arg);
		}
		json_decref(o);
	}
	drop_line(&c->out, at);
	return err;
}

void child_wait(struct child *c[], int n, int ms)
{
	struct pollfd fds[2 * CHILDREN_WAITED_MAX];
	nfds_t waits = 0;

	for (int i = 0; i < n; i++) {
		/* an end is read as such once; then there is nothing left to wake up for */
		if (c[i]->out.fd >= 0)
			fds[waits++] = (struct pollfd){ .fd = c[i]->out.fd, .events = POLLIN };
		if (c[i]->in.sent < c[i]->in.n)
			fds[waits++] = (struct pollfd){ .fd = c[i]->in.fd, .events = POLLOUT };
	}
	poll(fds, waits, ms);
	for (int i = 0; i < n; i++)
		feed_stdin(c[i]);
}

/* ---- end -------------------------------------------------------------------------------- */

static bool reap(struct child *c)
{
	if (c->pid && waitpid(c->pid, &c->status, WNOHANG) == c->pid)
		c->pid = 0;
	return !c->pid;
}

/* What a dead worker has left running in its group must not hold its pipes open. */
bool child_ended(struct child *c)
{
	pid_t group = c->pid;

	if (c->pid && reap(c))
		kill(-group, SIGKILL);
	return !c->pid;
}

void child_signal(struct child *c, int signal_number)
{
	if (c->pid)
		kill(-c->pid, signal_number);
}

static void close_lines(struct lines *l)
{
	if (l->fd >= 0)
		close(l->fd);
	free(l->bytes);
	*l = (struct lines){ .fd = -1 };
}

void child_stop(struct child *c, double wait_s)
{
	int64_t end = clock_ns() + (int64_t)(wait_s * SECOND_NS);

	child_signal(c, SIGTERM);
	while (!child_ended(c) && clock_ns() < end)
		usleep(STOP_WAIT_US);
	if (!c->pid)
		return;
	child_signal(c, SIGKILL);
	while (waitpid(c->pid, &c->status, 0) < 0 && errno == EINTR)
		;
	c->pid = 0;
}

void child_release(struct child *c)
{
	child_stop(c, 0);
	close_lines(&c->out);
	close_lines(&c->err);
	if (c->in.fd >= 0)
		close(c->in.fd);
	free(c->in.bytes);
	c->in = (struct feed){ .fd = -1 };
}

int child_errno(const struct child *c)
{
	if (WIFSIGNALED(c->status))
		return 0;
	switch (WEXITSTATUS(c->status)) {
	case RIFT_NO_DEVICE:
		return -ENODEV;
	case RIFT_FAILED_POINTS:
		return -ENOSYS;
	case RIFT_USAGE:
		return -EINVAL;
	default:
		return 0;
	}
}

void child_describe(const struct child *c, char *out, size_t size)
{
	if (WIFSIGNALED(c->status))
		snprintf(out, size, "was killed by signal %d (%s)", WTERMSIG(c->status),
			 strsignal(WTERMSIG(c->status)));
	else
		snprintf(out, size, "ended with exit code %d", WEXITSTATUS(c->status));
}

/* ---- why a point has no result ---------------------------------------------------------- */

json_t *failure_of_hook(int code, const char *text)
{
	return json_pack("{s:i, s:o, s:o, s:o}", "code", code, "name",
			 json_text(*text ? text : strerror(code)), "call", json_null(), "file_line",
			 json_null());
}

/* "FILE:LINE: FUNC: EXPR failed: MESSAGE" of common/check.h; false where it is something else. */
static bool take_apart(const char *line, json_t *o)
{
	const char *failed = strstr(line, " failed: ");
	int file = 0, func = 0;
	char place[160], call[240];

	if (sscanf(line, "%*[^: ]:%*[0-9]%n: %*[^: ]: %n", &file, &func) < 0 || !file || !func ||
	    !failed || failed < line + func)
		return false;
	snprintf(place, sizeof(place), "%.*s", file, line);
	snprintf(call, sizeof(call), "%.*s", (int)(failed - line) - func, line + func);
	json_object_set_new(o, "name", json_text(failed + strlen(" failed: ")));
	json_object_set_new(o, "call", json_text(call));
	json_object_set_new(o, "file_line", json_text(place));
	return true;
}

json_t *failure_of_worker(const struct child *c, bool hung)
{
	json_t *o = json_object();
	char how[80];

	child_describe(c, how, sizeof(how));
	json_object_set_new(o, "code",
			    json_integer(WIFSIGNALED(c->status) ? 128 + WTERMSIG(c->status)
								: WEXITSTATUS(c->status)));
	if (hung) {
		json_object_set_new(o, "name", json_string("no answer before its deadline"));
	} else if (!take_apart(c->last_error, o)) {
		json_object_set_new(o, "name", json_text(*c->last_error ? c->last_error : how));
		json_object_set_new(o, "call", json_null());
		json_object_set_new(o, "file_line", json_null());
	}
	json_object_set_new(o, "ended", json_string(how));
	return o;
}

/* ---- does the other side's command start a worker? Asked before anything is timed ------- */

enum { TICK_US = 10000 };

/* A container may have to be fetched; a word after some seconds tells what is waited for. */
static const double patience_ns = 120e9, word_after_ns = 5e9;

struct handshake {
	struct show *show;
	bool heard;
};

static int take_line(const json_t *o, void *arg)
{
	struct handshake *g = arg;

	g->heard |= record_is(o, "hello");
	return 0;
}

static void take_complaint(const char *line, void *arg)
{
	struct handshake *g = arg;

	show_complaint(g->show, line);
}

/* "--against: 'docker run ...'"; of layers, which have complained by name, the option alone. */
static struct text_line shown_side(const char *command)
{
	struct text_line shown;

	if (layer_is_command(command))
		snprintf(shown.s, sizeof(shown.s), "--layer: it");
	else
		snprintf(shown.s, sizeof(shown.s), "--against: '%s'", text_shown(command).s);
	return shown;
}

static int attend_handshake(struct handshake *g, struct child *c, const char *command)
{
	int64_t start = clock_ns();
	bool ended, said = false;

	do {
		double ns = (double)(clock_ns() - start);

		ended = child_ended(c); /* before reading: what it wrote is then all there */
		child_read(c, take_line, take_complaint, g);
		if (interrupted())
			return -EINTR;
		if (ns > patience_ns)
			return complain(ETIMEDOUT, "%s said nothing for 2 minutes",
					shown_side(command).s);
		if (ns > word_after_ns && !said) {
			show_complaint(g->show,
				       layer_is_command(command)
					       ? "rift: waiting for the layer to start a worker, "
						 "for 2 minutes at most"
					       : "rift: waiting for the command of --against to "
						 "start a worker, for 2 minutes at most");
			said = true;
		}
		if (!ended)
			usleep(TICK_US);
	} while (!ended);
	return 0;
}

int session_handshake(const char *command, struct show *show)
{
	struct handshake g = { .show = show };
	json_t *job = json_pack("{s:s}", "job", "hello");
	struct child c;
	char how[80];
	int err = child_start(&c, job, command, false);

	json_decref(job);
	if (err)
		return err;
	err = attend_handshake(&g, &c, command);
	if (!err && !g.heard) {
		child_describe(&c, how, sizeof(how));
		err = complain(layer_is_command(command) ? ENODEV : EINVAL,
			       "%s %s and started no worker", shown_side(command).s, how);
	}
	child_release(&c);
	return err;
}
