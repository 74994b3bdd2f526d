/* relay.c - see relay.h. */
#include "harness/platform/relay.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/check.h"

/* Where the parent has its end of the pipe: no other file is open to it. */
enum { OVER = STDERR_FILENO + 1 };

/* What the command has open is closed when the command closes it. */
static void leave_files(int over)
{
	int null = open("/dev/null", O_RDWR);

	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		dup2(null, fd);
	dup2(over, OVER);
	closefrom(OVER + 1); /* gVisor refuses close_range() up to ~0U */
}

/* Has the kernel sent it to the whole process group, as a terminal's keys do? Both have it then. */
static bool is_of_terminal(const siginfo_t *s)
{
	static const int numbers[] = { SIGHUP,	SIGINT,	 SIGQUIT, SIGTSTP,
				       SIGTTIN, SIGTTOU, SIGCONT, SIGWINCH };

	if (s->si_code != SI_KERNEL)
		return false;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		if (s->si_signo == numbers[i])
			return true;
	return false;
}

/*
 * Has it ended? Where a terminal stopped it, the shell that waits must see so. Whoever stops it
 * otherwise may let it go on by its own number, which this process would not learn of.
 */
static bool has_ended(pid_t command, int *status)
{
	while (waitpid(command, status, WNOHANG | WUNTRACED) == command) {
		if (!WIFSTOPPED(*status))
			return true;
		if (WSTOPSIG(*status) != SIGSTOP)
			raise(SIGSTOP);
	}
	return false;
}

/* All signals are blocked. Returns waitpid()'s status. */
static int pass_signals_on(pid_t command)
{
	sigset_t all;
	siginfo_t s;
	int status;

	sigfillset(&all);
	while (!has_ended(command, &status))
		if (sigwaitinfo(&all, &s) > 0 && s.si_signo != SIGCHLD && !is_of_terminal(&s))
			kill(command, s.si_signo);
	return status;
}

/* The command has left its core, where it leaves one. */
_Noreturn static void end_as(int status)
{
	const struct rlimit none = { 0, 0 };
	sigset_t one;

	if (WIFEXITED(status))
		_exit(WEXITSTATUS(status));
	setrlimit(RLIMIT_CORE, &none);
	signal(WTERMSIG(status), SIG_DFL);
	sigemptyset(&one);
	sigaddset(&one, WTERMSIG(status));
	raise(WTERMSIG(status));
	sigprocmask(SIG_UNBLOCK, &one, NULL);
	_exit(128 + WTERMSIG(status));
}

_Noreturn static void stay(pid_t command, int over, const sigset_t *before)
{
	char byte;
	int status;

	leave_files(over);
	status = pass_signals_on(command);
	sigprocmask(SIG_SETMASK, before, NULL); /* from here on they are for this process */
	while (read(OVER, &byte, 1) < 0 && errno == EINTR)
		;
	end_as(status);
}

int relay_begin(const char *layer, int *over)
{
	pid_t self = getpid(), command;
	sigset_t all, before;
	int fds[2], err;

	if (pipe2(fds, O_CLOEXEC))
		return complain(errno, "layer %s: %s", layer, strerror(errno));
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	command = fork();
	err = errno;
	if (command > 0)
		stay(command, fds[0], &before);
	if (!command) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != self)
			raise(SIGKILL);
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	close(fds[0]);
	if (command < 0) {
		close(fds[1]);
		return complain(err, "layer %s: no process for the command: %s", layer,
				strerror(err));
	}
	*over = fds[1];
	return 0;
}
