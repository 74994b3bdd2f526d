/* guard.c - see guard.h. */
#include "harness/platform/guard.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/check.h"
#include "common/output.h"
#include "common/process.h"

/*
 * A daemon may end in order before it is killed, and so may what runs in a container; a helper may
 * take so long to begin.
 */
enum { TERM_WAIT_MS = 1000, READY_WAIT_MS = 10000 };

/* What the guard knows and its keeper must, should the guard be killed. */
struct known {
	pid_t inner; /* the command's child, see entry_child_fd(); 0: none yet */
};

struct guard guard_none(const char *name, const void *opts)
{
	return (struct guard){
		.name = name, .opts = opts, .lock = -1, .child_read = -1, .over = -1
	};
}

/* ---- folders ------------------------------------------------------------------------------ */

/* The first that can be written to, of a path that leaves room for names and sockets in it. */
static const char *writable_folder(void)
{
	static const char *const variables[] = { "XDG_RUNTIME_DIR", "TMPDIR" };

	for (size_t i = 0; i < sizeof(variables) / sizeof(*variables); i++) {
		const char *folder = getenv(variables[i]);

		if (folder && *folder == '/' && !access(folder, W_OK | X_OK) &&
		    strlen(folder) <= GUARD_PATH / 2)
			return folder;
	}
	return "/tmp";
}

/* The folder of folders: this user's alone. */
static int open_base(char out[GUARD_PATH])
{
	struct stat s;

	snprintf(out, GUARD_PATH, "%s/rift-layers-%u", writable_folder(), (unsigned)getuid());
	if (mkdir(out, 0700) && errno != EEXIST)
		return complain(errno, "%s: %s; set TMPDIR to a folder that can be written to", out,
				strerror(errno));
	if (lstat(out, &s) || !S_ISDIR(s.st_mode) || s.st_uid != getuid() || (s.st_mode & 077))
		return complain(EPERM, "%s must be a folder that only you own; remove it", out);
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
		output_remove_folder(path);
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
	else if ((g->lock = take_lock(g->folder)) < 0)
		err = complain(errno, "%s: no lock: %s", g->folder, strerror(errno));
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
		while (++fd < next)
			close(fd);
	}
	closefrom(fd + 1); /* gVisor refuses close_range() up to ~0U */
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

static void signal_groups(const struct guard *g, const pid_t pid[GUARD_HELPERS_MAX], int number)
{
	for (int i = 0; i < g->n; i++)
		if (pid[i] > 0)
			kill(-pid[i], number);
}

/* The guard is the parent of whatever helpers leave behind (PR_SET_CHILD_SUBREAPER). */
static void end_helpers(const struct guard *g, const pid_t pid[GUARD_HELPERS_MAX])
{
	signal_groups(g, pid, SIGTERM);
	process_end_children(TERM_WAIT_MS);
}

/* ---- the guard ---------------------------------------------------------------------------- */

/*
 * {"child-pid": 12, ...}, which may come in pieces: the process, or 0. *over: nothing more comes
 * now, and the number is whole where it stands at the end.
 */
static pid_t child_of(int fd, bool *over)
{
	static char text[512];
	static size_t n;
	const char *at;
	ssize_t got = read(fd, text + n, sizeof(text) - 1 - n);
	int pid = 0, length = 0;

	n += got > 0 ? (size_t)got : 0;
	*over = got <= 0;
	at = strstr(text, "\"child-pid\"");
	if (at && sscanf(at, "\"child-pid\" : %d%n", &pid, &length) == 1 && (at[length] || *over))
		return pid;
	return 0;
}

/*
 * A helper that ends early has a reason, which is on stderr; whoever times must know. The number of
 * its group may become another's.
 */
static void note_lost_helper(const struct guard *g, pid_t pid[GUARD_HELPERS_MAX])
{
	pid_t lost;

	while ((lost = waitpid(-1, NULL, WNOHANG)) > 0)
		for (int i = 0; i < g->n; i++)
			if (pid[i] == lost) {
				pid[i] = 0;
				complain(ECHILD, "layer %s: a helper has ended before the command",
					 g->name);
			}
}

/* It may end in order, as layers inside it have folders to remove. */
static void end_inner(pid_t inner)
{
	struct pollfd end = { process_end_fd(inner), POLLIN, 0 };

	if (end.fd < 0)
		return;
	if (!poll(&end, 1, TERM_WAIT_MS) &&
	    syscall(SYS_pidfd_send_signal, end.fd, SIGKILL, NULL, 0) && errno != ESRCH)
		kill(inner, SIGKILL); /* the file is no pidfd */
	close(end.fd);
}

/* pid: NULL where there are no helpers. */
static void await_end(const struct guard *g, int command, pid_t *pid, struct known *known)
{
	enum { LOOK_MS = 200 };
	struct pollfd wait[] = { { command, POLLIN, 0 },
				 { known->inner ? -1 : g->child_read, POLLIN, 0 } };
	bool over = wait[1].fd < 0;

	while (poll(wait, 2, pid && g->n ? LOOK_MS : -1) < 0 || !wait[0].revents) {
		if (wait[1].revents)
			known->inner = child_of(g->child_read, &over);
		if (known->inner || over)
			wait[1].fd = -1;
		if (pid)
			note_lost_helper(g, pid);
	}
	while (!known->inner && !over)
		known->inner = child_of(g->child_read, &over);
	if (known->inner)
		end_inner(known->inner);
}

static void report(const struct guard *g)
{
	char detail[LAYER_DETAIL] = "";

	if (g->report)
		g->report(g->folder, detail);
	if (*detail)
		fprintf(stderr, "rift: layer %s: %s\n", g->name, detail);
}

static void finish(const struct guard *g)
{
	report(g);
	if (*g->folder)
		output_remove_folder(g->folder);
}

_Noreturn static void become_guard(const struct guard *g, int command, int ready,
				   struct known *known)
{
	pid_t pid[GUARD_HELPERS_MAX] = { 0 };

	prctl(PR_SET_CHILD_SUBREAPER, 1);
	if (write(ready, "g", 1) == 1 && start_helpers(g, ready, pid)) {
		close(ready);
		await_end(g, command, pid, known);
	}
	end_helpers(g, pid);
	finish(g);
	_exit(0);
}

/*
 * The guard's parent. Should the guard be killed, what its helpers have started is the keeper's: it
 * ends that, and does the rest when the command has ended.
 */
_Noreturn static void become_keeper(const struct guard *g, int command, int ready)
{
	const int keep[] = { command, ready, g->lock, g->child_read, g->over };
	struct known *known = mmap(NULL, sizeof(*known), PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	sigset_t all;
	pid_t guard;
	int status;

	setsid();
	close_all_but(keep, sizeof(keep) / sizeof(*keep));
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	leave_input_and_output();
	if (!g->report && !g->n) /* nothing to say: who reads stderr need not wait for its end */
		dup2(STDOUT_FILENO, STDERR_FILENO);
	guard = known == MAP_FAILED ? -1 : fork();
	if (!guard)
		become_guard(g, command, ready, known);
	close(ready);
	if (guard < 0 || (waitpid(guard, &status, 0) == guard && WIFEXITED(status)))
		_exit(guard < 0);
	process_kill_children();
	await_end(g, command, NULL, known);
	finish(g);
	_exit(0);
}

/* A byte of the guard, and one of each helper. */
static int await_ready(const struct guard *g, int fd)
{
	struct pollfd wait = { fd, POLLIN, 0 };
	char byte;

	for (int i = 0; i <= g->n; i++)
		if (poll(&wait, 1, READY_WAIT_MS) < 1 || read(fd, &byte, 1) != 1)
			return complain(ECHILD, "layer %s: its %s did not start", g->name,
					i ? "helper" : "guard");
	return 0;
}

/*
 * By way of a process that ends at once: the command that this one becomes must find no child that
 * it does not know.
 */
int guard_start(struct guard *g)
{
	int fds[2], command = process_end_fd(getpid()), err;
	pid_t between;

	if (command < 0 || pipe2(fds, O_CLOEXEC))
		return complain(errno, "layer %s: no guard: %s", g->name, strerror(errno));
	between = fork();
	if (!between) {
		if (!fork())
			become_keeper(g, command, fds[1]);
		_exit(0);
	}
	close(fds[1]);
	close(command);
	if (between < 0)
		err = complain(errno, "layer %s: no guard: %s", g->name, strerror(errno));
	else
		waitpid(between, NULL, 0);
	if (between > 0)
		err = await_ready(g, fds[0]);
	close(fds[0]);
	if (g->lock >= 0)
		close(g->lock);
	if (g->child_read >= 0)
		close(g->child_read);
	if (g->over >= 0)
		close(g->over);
	return err;
}
