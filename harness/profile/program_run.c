/* program_run.c - see program_run.h. */
#include "harness/profile/program_run.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/check.h"
#include "common/inherited.h"
#include "common/interrupt.h"
#include "common/process.h"
#include "harness/base/text.h"
#include "harness/measure/measure.h"
#include "harness/profile/input_again.h"

/* What the guard tells. */
struct told {
	struct program_run run;
	int err; /* errno of exec, where there was none */
	int by;	 /* the last signal that was passed on; 0: none */
};

/* ---- the program --------------------------------------------------------------------------- */

struct program {
	char *const *argv;
	bool stdout_to_stderr;
	int input;	  /* -1: rift's own */
	sigset_t blocked; /* as rift has it */
};

_Noreturn static void become_program(const struct program *p, pid_t parent, int failed)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* the guard has one thread */
	if (getppid() != parent)
		_exit(127);
	if (p->input >= 0)
		dup2(p->input, STDIN_FILENO);
	if (p->stdout_to_stderr)
		dup2(STDERR_FILENO, STDOUT_FILENO);
	sigprocmask(SIG_SETMASK, &p->blocked, NULL);
	inherited_restore();
	execvp(p->argv[0], p->argv);
	(void)!write(failed, &errno, sizeof(errno));
	_exit(127);
}

/* 0, or the errno of what could not be done. */
static int start(const struct program *p, pid_t *pid)
{
	int failed[2], err = 0;
	pid_t self = getpid();

	if (pipe2(failed, O_CLOEXEC))
		return errno;
	*pid = fork();
	if (!*pid)
		become_program(p, self, failed[1]);
	err = *pid < 0 ? errno : 0;
	close(failed[1]);
	while (!err && read(failed[0], &err, sizeof(err)) < 0 && errno == EINTR)
		;
	close(failed[0]);
	return err;
}

/* ---- the guard ----------------------------------------------------------------------------- */

struct guarded {
	pid_t pid;
	int control;	 /* signals that rift passes on; its end is rift's */
	int64_t kill_ns; /* when the program is killed; INT64_MAX: never */
	int by;
	struct input_again input;
};

static void end_within(struct guarded *g, int ms)
{
	int64_t at = clock_ns() + ms * INT64_C(1000000);

	g->kill_ns = at < g->kill_ns ? at : g->kill_ns;
}

static void take_word(struct guarded *g)
{
	unsigned char number;
	ssize_t n = read(g->control, &number, 1);

	if (n < 0)
		return;
	if (!n) {
		g->control = -1;
		number = SIGTERM;
	}
	g->by = number;
	kill(g->pid, number);
	if (number != SIGUSR1 && number != SIGUSR2)
		end_within(g, n ? PROGRAM_GRACE_MS : PROGRAM_ORPHAN_MS);
}

static int left_ms(const struct guarded *g)
{
	int64_t left = g->kill_ns - clock_ns();

	return g->kill_ns == INT64_MAX ? -1 : left < 0 ? 0 : (int)(left / 1000000) + 1;
}

static void attend(struct guarded *g)
{
	int end = (int)syscall(SYS_pidfd_open, g->pid, 0);

	for (;;) {
		int watch, feed_ms = input_again_feed(&g->input, &watch), kill_ms = left_ms(g);
		struct pollfd wait[] = { { end, POLLIN, 0 },
					 { g->control, POLLIN, 0 },
					 { watch, POLLIN, 0 } };

		poll(wait, 3,
		     feed_ms < 0 || (kill_ms >= 0 && kill_ms < feed_ms) ? kill_ms : feed_ms);
		if (wait[0].revents || end < 0) {
			input_again_feed(&g->input, &watch); /* what it has read before its end */
			return;
		}
		if (wait[1].revents)
			take_word(g);
		if (!left_ms(g))
			kill(g->pid, SIGKILL);
	}
}

/* Was it the signal that was passed on last? */
static bool died_of(const struct told *told)
{
	return WIFSIGNALED(told->run.status) && WTERMSIG(told->run.status) == told->by;
}

static void tell(int to, const struct told *told)
{
	(void)!write(to, told, sizeof(*told)); /* rift may have ended */
}

/* No signal is its own: those of a terminal are for rift and the program. */
_Noreturn static void become_guard(struct program *p, int control, int to)
{
	struct guarded g = { .control = control, .kill_ns = INT64_MAX };
	struct told told = { .err = 0 };
	int64_t begin;
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &p->blocked);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	p->input = input_again_begin(&g.input);
	begin = clock_ns();
	told.err = start(p, &g.pid);
	if (p->input >= 0)
		close(p->input);
	told.run.pid = g.pid;
	process_call("rift guards a program"); /* argv is gone with it */
	if (!told.err)
		attend(&g);
	if (g.pid > 0)
		waitpid(g.pid, &told.run.status, 0);
	told.run.wall_ns = clock_ns() - begin;
	told.by = g.by;
	if (g.kill_ns != INT64_MAX || died_of(&told))
		process_end_children(PROGRAM_ORPHAN_MS);
	tell(to, &told);
	_exit(0);
}

/* ---- rift ---------------------------------------------------------------------------------- */

static bool hear(int from, struct told *told)
{
	ssize_t n;

	while ((n = read(from, told, sizeof(*told))) < 0 && errno == EINTR)
		;
	return n == sizeof(*told);
}

static int judge(char *const *argv, const struct told *told)
{
	if (told->err)
		return complain(told->err, "%s: cannot be started: %s", text_shown(argv[0]).s,
				strerror(told->err));
	return interrupted() || died_of(told) ? -EINTR : 0;
}

static int run_guarded(struct program *p, const int control[2], const int said[2],
		       struct told *told)
{
	pid_t guard = -1;
	bool heard;

	fflush(NULL);
	if (!interrupted())
		guard = fork();
	if (!guard) {
		close(control[1]);
		close(said[0]);
		become_guard(p, control[0], said[1]);
	}
	close(said[1]);
	if (interrupted() && guard < 0)
		return -EINTR;
	if (guard < 0)
		return complain(errno, "%s: cannot be started: %s", text_shown(p->argv[0]).s,
				strerror(errno));
	heard = hear(said[0], told);
	while (waitpid(guard, NULL, 0) < 0 && errno == EINTR)
		;
	return heard ? judge(p->argv, told)
		     : complain(ECHILD, "%s: its guard was killed", text_shown(p->argv[0]).s);
}

int program_run(char *const *argv, bool stdout_to_stderr, struct program_run *out)
{
	struct program p = { .argv = argv, .stdout_to_stderr = stdout_to_stderr };
	int control[2], said[2] = { -1, -1 }, err;
	struct told told = { .err = 0 };

	if (pipe2(control, O_CLOEXEC | O_NONBLOCK) || pipe2(said, O_CLOEXEC))
		return complain(errno, "%s: cannot be started: %s", text_shown(argv[0]).s,
				strerror(errno));
	input_again_prepare();
	interrupt_pass_on(control[1]); /* from now on, and so that none is lost: before it starts */
	err = run_guarded(&p, control, said, &told);
	interrupt_pass_on(-1);
	close(control[0]);
	close(control[1]);
	close(said[0]);
	*out = told.run;
	return err;
}
