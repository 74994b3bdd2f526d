/* guard.c - see guard.h. */
#include "harness/layer/guard.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/check.h"

/* A daemon may end in order before it is killed; a helper may take so long to begin. */
enum { TERM_WAIT_MS = 1000, TICK_MS = 5, READY_WAIT_MS = 10000 };

struct guard guard_none(const char *name, const void *opts)
{
	return (struct guard){ .name = name, .opts = opts, .lock = -1, .child_read = -1 };
}

static int pidfd_of(pid_t pid)
{
	return (int)syscall(SYS_pidfd_open, pid, 0);
}

/* ---- folders ------------------------------------------------------------------------------ */

static int remove_one(const char *path, const struct stat *s, int type, struct FTW *walk)
{
	(void)s, (void)type, (void)walk;
	remove(path);
	return 0;
}

static void remove_folder(const char *path)
{
	enum { FILES_OPEN = 16 };

	nftw(path, remove_one, FILES_OPEN, FTW_DEPTH | FTW_PHYS);
}

/* The folder of folders: this user's alone. */
static int open_base(char out[GUARD_PATH])
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	struct stat s;

	if (!runtime || access(runtime, W_OK) || strlen(runtime) > GUARD_PATH / 2)
		runtime = "/tmp";
	snprintf(out, GUARD_PATH, "%s/rift-layers-%u", runtime, (unsigned)getuid());
	if (mkdir(out, 0700) && errno != EEXIST)
		return complain(errno, "%s: %s", out, strerror(errno));
	if (lstat(out, &s) || !S_ISDIR(s.st_mode) || s.st_uid != getuid() || (s.st_mode & 077))
		return complain(EPERM, "%s is not a folder of yours alone; remove it", out);
	return 0;
}

/* The lock that a guard holds on its folder, or -1: it is held, or there is none. */
static int take_lock(const char *folder)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB)) {
		close(fd);
		return -1;
	}
	return fd;
}

/* What a guard that was killed has left. Its helpers have ended with it. */
static void sweep_up(const char *base)
{
	DIR *all = opendir(base);
	struct dirent *d;

	while (all && (d = readdir(all))) {
		char path[2 * GUARD_PATH];
		int lock;

		if (*d->d_name == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", base, d->d_name);
		lock = take_lock(path);
		if (lock < 0)
			continue;
		remove_folder(path);
		close(lock);
	}
	if (all)
		closedir(all);
}

/* Under the lock of the folder of folders, so that none is swept up before it has its own. */
int guard_folder(struct guard *g)
{
	char base[GUARD_PATH];
	int all, err = open_base(base);

	if (err)
		return err;
	all = open(base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (all < 0 || flock(all, LOCK_EX))
		return complain(errno, "%s: %s", base, strerror(errno));
	sweep_up(base);
	if (snprintf(g->folder, GUARD_PATH, "%s/XXXXXX", base) >= GUARD_PATH || !mkdtemp(g->folder))
		err = complain(errno, "%s: %s", g->folder, strerror(errno));
	else
		g->lock = take_lock(g->folder);
	close(all);
	if (err)
		*g->folder = '\0';
	return err;
}

/* ---- helpers ------------------------------------------------------------------------------ */

/* Whoever reads a pipe of the command's to its end must not wait for its guard. */
static void close_all_but(const int *keep, int n)
{
	int fd = STDERR_FILENO;

	for (;;) {
		int next = -1;

		for (int i = 0; i < n; i++)
			if (keep[i] > fd && (next < 0 || keep[i] < next))
				next = keep[i];
		if (next < 0)
			break;
		if (next > fd + 1)
			close_range((unsigned)fd + 1, (unsigned)next - 1, 0);
		fd = next;
	}
	close_range((unsigned)fd + 1, ~0U, 0);
}

/* Input and output are the command's; helpers have stderr to complain on. */
static void leave_input_and_output(void)
{
	int null = open("/dev/null", O_RDWR);

	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	close(null);
}

/* In a process group of its own, for a daemon that starts others. */
_Noreturn static void become_helper(const struct guard *g, int i, int ready, pid_t parent)
{
	sigset_t none;

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* the guard has one thread, and no exec comes before */
	if (getppid() != parent)
		_exit(1);
	close_all_but(&ready, 1);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	unsetenv("LD_PRELOAD");
	g->helper[i](g->opts, ready);
	_exit(1);
}

static bool start_helpers(const struct guard *g, int ready, pid_t pid[GUARD_HELPERS_MAX])
{
	pid_t self = getpid();

	for (int i = 0; i < g->n; i++) {
		pid[i] = fork();
		if (!pid[i])
			become_helper(g, i, ready, self);
		if (pid[i] < 0)
			return false;
		setpgid(pid[i], pid[i]);
	}
	return true;
}

static bool wait_a_tick(int *left_ms)
{
	struct timespec tick = { .tv_nsec = TICK_MS * 1000000L };

	nanosleep(&tick, NULL);
	return (*left_ms -= TICK_MS) > 0;
}

/* The guard is the parent of whatever they leave behind (PR_SET_CHILD_SUBREAPER). */
static void kill_children(void)
{
	char path[64];
	FILE *list;
	int pid;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
	list = fopen(path, "re");
	while (list && fscanf(list, "%d", &pid) == 1)
		kill(pid, SIGKILL);
	if (list)
		fclose(list);
}

static void end_helpers(const struct guard *g, const pid_t pid[GUARD_HELPERS_MAX])
{
	int left_ms = TERM_WAIT_MS;

	for (int i = 0; i < g->n; i++)
		if (pid[i] > 0)
			kill(-pid[i], SIGTERM);
	while (waitpid(-1, NULL, WNOHANG) >= 0 && wait_a_tick(&left_ms))
		;
	for (int i = 0; i < g->n; i++)
		if (pid[i] > 0)
			kill(-pid[i], SIGKILL);
	left_ms = TERM_WAIT_MS;
	do
		kill_children();
	while (waitpid(-1, NULL, WNOHANG) >= 0 && wait_a_tick(&left_ms));
}

/* ---- the guard ---------------------------------------------------------------------------- */

/* {"child-pid": 12, ...}: the process, or -1. What is read may be in pieces. */
static int child_of(int fd)
{
	char text[512];
	const char *at;
	size_t n = 0;
	ssize_t got;
	int pid = 0;

	while (n < sizeof(text) - 1 && (got = read(fd, text + n, sizeof(text) - 1 - n)) > 0)
		n += (size_t)got;
	text[n] = '\0';
	at = strstr(text, "\"child-pid\"");
	return at && sscanf(at, "\"child-pid\" : %d", &pid) == 1 && pid > 0 ? pidfd_of(pid) : -1;
}

/* A helper that ends early has a reason, which is on stderr; whoever times must know. */
static void note_lost_helper(const struct guard *g, const pid_t pid[GUARD_HELPERS_MAX])
{
	pid_t lost;

	while ((lost = waitpid(-1, NULL, WNOHANG)) > 0)
		for (int i = 0; i < g->n; i++)
			if (pid[i] == lost)
				complain(ECHILD, "layer %s: a helper has ended before the command",
					 g->name);
}

static void await_end(const struct guard *g, int command, const pid_t pid[GUARD_HELPERS_MAX])
{
	enum { LOOK_MS = 200 };
	struct pollfd wait[] = { { command, POLLIN, 0 }, { g->child_read, POLLIN, 0 } };
	int inner = -1;

	while (poll(wait, 2, g->n ? LOOK_MS : -1) < 0 || !wait[0].revents) {
		if (wait[1].revents) {
			inner = child_of(g->child_read);
			wait[1].fd = -1;
			wait[1].revents = 0;
		}
		note_lost_helper(g, pid);
	}
	if (inner < 0 && wait[1].fd >= 0)
		inner = child_of(g->child_read);
	if (inner >= 0)
		syscall(SYS_pidfd_send_signal, inner, SIGKILL, NULL, 0);
}

static void report(const struct guard *g)
{
	char detail[160] = "";

	if (g->report)
		g->report(g->folder, detail);
	if (*detail)
		fprintf(stderr, "rift: layer %s: %s\n", g->name, detail);
}

_Noreturn static void become_guard(const struct guard *g, int command, int ready)
{
	const int keep[] = { command, ready, g->lock, g->child_read };
	pid_t pid[GUARD_HELPERS_MAX] = { 0 };
	sigset_t all;

	setsid();
	close_all_but(keep, sizeof(keep) / sizeof(*keep));
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	leave_input_and_output();
	if (!g->report && !g->n) /* nothing to say: who reads stderr need not wait for its end */
		dup2(STDOUT_FILENO, STDERR_FILENO);
	if (start_helpers(g, ready, pid)) {
		close(ready);
		await_end(g, command, pid);
	}
	end_helpers(g, pid);
	report(g);
	if (*g->folder)
		remove_folder(g->folder);
	_exit(0);
}

static int await_ready(const struct guard *g, int fd)
{
	struct pollfd wait = { fd, POLLIN, 0 };
	char byte;

	for (int i = 0; i < g->n; i++)
		if (poll(&wait, 1, READY_WAIT_MS) < 1 || read(fd, &byte, 1) != 1)
			return complain(ECHILD, "layer %s: its helper did not start", g->name);
	return 0;
}

/*
 * By way of a process that ends at once: the command that this one becomes must find no child that
 * it does not know.
 */
int guard_start(struct guard *g)
{
	int fds[2], command = pidfd_of(getpid()), err;
	pid_t between;

	if (command < 0 || pipe2(fds, O_CLOEXEC))
		return complain(errno, "layer %s: no guard: %s", g->name, strerror(errno));
	between = fork();
	if (!between) {
		pid_t guard = fork();

		if (!guard)
			become_guard(g, command, fds[1]);
		_exit(guard < 0);
	}
	close(fds[1]);
	close(command);
	if (between < 0 || waitpid(between, &err, 0) != between || err)
		err = complain(EAGAIN, "layer %s: no guard: %s", g->name, strerror(EAGAIN));
	else
		err = await_ready(g, fds[0]);
	close(fds[0]);
	if (g->lock >= 0)
		close(g->lock);
	if (g->child_read >= 0)
		close(g->child_read);
	return err;
}
