/* program_run.c - see program_run.h. */
#include "harness/profile/program_run.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/check.h"
#include "common/inherited.h"
#include "common/interrupt.h"
#include "common/process.h"
#include "common/timing.h"
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

struct start {
	const struct program *program;
	int input;	  /* -1: rift's own */
	sigset_t blocked; /* as rift has it */
};

/* Each run reads the same: a file from where it was at first; a pipe by input_again.h. */
static void rewind_input(void)
{
	static off_t first = -1;
	struct stat st;

	if (fstat(STDIN_FILENO, &st) || !S_ISREG(st.st_mode))
		return;
	if (first < 0)
		first = lseek(STDIN_FILENO, 0, SEEK_CUR);
	else
		lseek(STDIN_FILENO, first, SEEK_SET);
}

static void take_place(int fd, int of)
{
	if (fd >= 0)
		dup2(fd, of);
}

_Noreturn static void become_program(const struct start *s, pid_t parent, int failed)
{
	const struct program *p = s->program;

	prctl(PR_SET_PDEATHSIG, SIGKILL); /* the guard has one thread */
	if (getppid() != parent)
		_exit(127);
	take_place(s->input, STDIN_FILENO);
	take_place(p->output, STDOUT_FILENO);
	take_place(p->error, STDERR_FILENO);
	sigprocmask(SIG_SETMASK, &s->blocked, NULL);
	if (p->become) {
		close(failed); /* it says itself what has failed */
		_exit(p->become(p->of, p->argv));
	}
	inherited_restore();
	execvp(p->argv[0], p->argv);
	(void)!write(failed, &errno, sizeof(errno));
	_exit(127);
}

/* 0, or the errno of what could not be done. */
static int start(const struct start *s, pid_t *pid)
{
	int failed[2], err = 0;
	pid_t self = getpid();

	if (pipe2(failed, O_CLOEXEC))
		return errno;
	*pid = fork();
	if (!*pid)
		become_program(s, self, failed[1]);
	err = *pid < 0 ? errno : 0;
	close(failed[1]);
	while (!err && read(failed[0], &err, sizeof(err)) < 0 && errno == EINTR)
		;
	close(failed[0]);
	return err;
}

/* ---- the guard ----------------------------------------------------------------------------- */

/* What hangs in the kernel does not end at once. */
enum { KILL_AGAIN_MS = 100 };

struct guarded {
	pid_t pid;
	int control;	 /* signals that rift passes on; its end is rift's */
	int64_t kill_ns; /* when the program is killed; INT64_MAX: never */
	int by;
	bool ending; /* it was told to end */
	bool late;
	struct input_again input;
};

static void end_within(struct guarded *g, int ms)
{
	int64_t at = clock_ns() + ms * INT64_C(1000000);

	g->ending = true;
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
	int end = process_end_fd(g->pid);

	for (;;) {
		int watch, feed_ms = input_again_feed(&g->input, &watch), kill_ms = left_ms(g);
		struct pollfd wait[] = { { end, POLLIN, 0 },
					 { g->control, POLLIN, 0 },
					 { watch, POLLIN, 0 } };

		if (end < 0) /* nobody tells of its end: it is waited for */
			return;
		poll(wait, 3,
		     feed_ms < 0 || (kill_ms >= 0 && kill_ms < feed_ms) ? kill_ms : feed_ms);
		if (wait[0].revents) {
			input_again_feed(&g->input, &watch); /* what it has read before its end */
			return;
		}
		if (wait[1].revents)
			take_word(g);
		if (!left_ms(g)) {
			g->late |= !g->ending;
			kill(g->pid, SIGKILL);
			g->kill_ns = clock_ns() + KILL_AGAIN_MS * INT64_C(1000000);
		}
	}
}

static int64_t time_ns(const struct timeval *t)
{
	return t->tv_sec * INT64_C(1000000000) + t->tv_usec * INT64_C(1000);
}

static void reap(struct program_run *run)
{
	struct rusage used = { .ru_maxrss = 0 };

	wait4(run->pid, &run->status, 0, &used);
	run->user_ns = time_ns(&used.ru_utime);
	run->system_ns = time_ns(&used.ru_stime);
	run->peak_bytes = used.ru_maxrss * INT64_C(1024);
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

/* What the program has left behind. */
static void end_rest(const struct program *p, const struct guarded *g, struct told *told)
{
	bool ended_by_us = g->late || g->ending || died_of(told);

	if (!ended_by_us && p->apart)
		told->run.left = !process_await_children(PROGRAM_SETTLE_MS);
	if (ended_by_us || told->run.left)
		process_end_children(PROGRAM_ORPHAN_MS);
}

/* No signal is its own: those of a terminal are for rift and the program. */
_Noreturn static void become_guard(const struct program *p, int control, int to)
{
	struct guarded g = { .control = control, .kill_ns = INT64_MAX };
	struct start s = { .program = p };
	struct told told = { .err = 0 };
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &s.blocked);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	s.input = input_again_begin(&g.input);
	told.run.begun_ns = timing_monotonic_ns();
	if (p->patience_ns)
		g.kill_ns = clock_ns() + p->patience_ns;
	told.err = start(&s, &g.pid);
	if (s.input >= 0)
		close(s.input);
	told.run.pid = g.pid;
	process_call("rift guards a program"); /* argv is gone with it */
	if (!told.err)
		attend(&g);
	if (g.pid > 0)
		reap(&told.run);
	told.run.wall_ns = timing_monotonic_ns() - told.run.begun_ns;
	told.run.late = g.late;
	told.by = g.by;
	end_rest(p, &g, &told);
	tell(to, &told);
	_exit(0);
}

/* ---- rift ---------------------------------------------------------------------------------- */

/* Until there is something to hear. */
static void look_meanwhile(const struct program *p, int from)
{
	struct pollfd wait = { from, POLLIN, 0 };

	while (!poll(&wait, 1, PROGRAM_LOOK_MS))
		p->meanwhile(p->of);
}

static bool hear(const struct program *p, int from, struct told *told)
{
	ssize_t n;

	if (p->meanwhile)
		look_meanwhile(p, from);
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

static int run_guarded(const struct program *p, const int control[2], const int said[2],
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
	heard = hear(p, said[0], told);
	while (waitpid(guard, NULL, 0) < 0 && errno == EINTR)
		;
	return heard ? judge(p->argv, told)
		     : complain(ECHILD, "%s: its guard was killed", text_shown(p->argv[0]).s);
}

int program_run(const struct program *p, struct program_run *out)
{
	int control[2], said[2], err;
	struct told told = { .err = 0 };

	if (pipe2(control, O_CLOEXEC | O_NONBLOCK) || pipe2(said, O_CLOEXEC))
		return complain(errno, "%s: cannot be started: %s", text_shown(p->argv[0]).s,
				strerror(errno));
	rewind_input();
	input_again_prepare();
	interrupt_pass_on(control[1]); /* from now on, and so that none is lost: before it starts */
	err = run_guarded(p, control, said, &told);
	interrupt_pass_on(-1);
	close(control[0]);
	close(control[1]);
	close(said[0]);
	*out = told.run;
	return err;
}
