/* process.c - see process.h. */
#include "common/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

bool process_has_variable(pid_t pid, const char *name, const char *value)
{
	char path[40], *variable = NULL;
	size_t size = 0, length = strlen(name);
	FILE *environment;
	bool found = false;

	snprintf(path, sizeof(path), "/proc/%d/environ", (int)pid);
	environment = fopen(path, "re");
	while (environment && !found && getdelim(&variable, &size, '\0', environment) > 0)
		found = !strncmp(variable, name, length) && variable[length] == '=' &&
			!strcmp(variable + length + 1, value);
	if (environment)
		fclose(environment);
	free(variable);
	return found;
}

/* The words lie one behind the other, and the first is where argv[0] points to. */
void process_call(const char *text)
{
	char words[4096];
	int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	ssize_t room = fd < 0 ? 0 : read(fd, words, sizeof(words));

	if (fd >= 0)
		close(fd);
	if (room <= 1 || memcmp(words, program_invocation_name, strlen(words) + 1) != 0)
		return;
	memset(program_invocation_name, 0, (size_t)room);
	snprintf(program_invocation_name, (size_t)room, "%s", text);
}

/* ---- the end of a process ------------------------------------------------------------------ */

/* When it was started, in ticks; 0: it has ended. A number may be another process's by now. */
static unsigned long long start_of(pid_t pid)
{
	char path[40], text[1024], state;
	unsigned long long start;
	const char *at;
	size_t n;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	n = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	text[n] = '\0';
	at = strrchr(text, ')'); /* its name may have some, too */
	if (!at ||
	    sscanf(at,
		   ") %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
		   "%llu",
		   &state, &start) != 2)
		return 0;
	return strchr("ZX", state) ? 0 : start + 1;
}

/* Ends with the process, and so closes what it holds. */
_Noreturn static void watch(pid_t pid, int hold)
{
	const struct timespec tick = { .tv_nsec = 10000000 };
	unsigned long long start = start_of(pid);
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	dup2(hold, STDIN_FILENO);
	closefrom(STDIN_FILENO + 1);
	while (start && start_of(pid) == start)
		nanosleep(&tick, NULL);
	_exit(0);
}

/* By way of a process that ends at once: the caller gets no child. */
static int watched_end(pid_t pid)
{
	int fds[2];
	pid_t between;

	if (pipe2(fds, O_CLOEXEC))
		return -1;
	between = fork();
	if (!between) {
		if (!fork())
			watch(pid, fds[1]);
		_exit(0);
	}
	close(fds[1]);
	if (between > 0) {
		waitpid(between, NULL, 0);
		return fds[0];
	}
	close(fds[0]);
	return -1;
}

int process_end_fd(pid_t pid)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);

	return fd < 0 && (errno == ENOSYS || errno == EPERM) ? watched_end(pid) : fd;
}

/* ---- children ------------------------------------------------------------------------------ */

enum { TICK_MS = 5, KILL_WAIT_MS = 1000 };

static bool wait_a_tick(int *left_ms)
{
	struct timespec tick = { .tv_nsec = TICK_MS * 1000000L };

	nanosleep(&tick, NULL);
	return (*left_ms -= TICK_MS) > 0;
}

static void signal_children(int number)
{
	FILE *list = fopen("/proc/thread-self/children", "re");
	int pid;

	while (list && fscanf(list, "%d", &pid) == 1)
		kill(pid, number);
	if (list)
		fclose(list);
}

/* Reaps all that have ended. Are there others? */
static bool has_children(void)
{
	pid_t ended;

	do
		ended = waitpid(-1, NULL, WNOHANG);
	while (ended > 0);
	return !ended;
}

void process_kill_children(void)
{
	int left_ms = KILL_WAIT_MS;

	do
		signal_children(SIGKILL);
	while (has_children() && wait_a_tick(&left_ms));
}

bool process_await_children(int wait_ms)
{
	while (has_children())
		if (!wait_a_tick(&wait_ms))
			return false;
	return true;
}

void process_end_children(int wait_ms)
{
	signal_children(SIGTERM);
	process_await_children(wait_ms);
	process_kill_children();
}
