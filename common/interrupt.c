/* interrupt.c - an orderly end on Ctrl-C, SIGTERM and SIGHUP; see interrupt.h. */
#include "common/interrupt.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/check.h"
#include "common/temporary.h"

enum { INTERRUPTED = 75 }; /* rift's exit code */

static atomic_bool seen;
static volatile sig_atomic_t end_after_s;
static const char *last_words = "";
static volatile sig_atomic_t passed_to = -1;
static int first_number;
static int64_t first_ms;

/* By the signal itself, so that a shell sees what ended the process. */
static void end_at_once(int number)
{
	temporary_remove_all();
	signal(number, SIG_DFL);
	raise(number);
}

static void end_by(int number, siginfo_t *info, void *context)
{
	(void)info, (void)context;
	end_at_once(number);
}

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000) + t.tv_nsec / 1000000;
}

/* A pipe that is full has enough of them. */
static void pass_on(int number, const siginfo_t *info)
{
	unsigned char byte = (unsigned char)number;
	int before = errno;

	if (passed_to >= 0 && info->si_code != SI_KERNEL)
		(void)!write(passed_to, &byte, 1);
	errno = before;
}

static void only_pass_on(int number, siginfo_t *info, void *context)
{
	(void)context;
	pass_on(number, info);
}

static void remember(int number, siginfo_t *info, void *context)
{
	(void)context;
	if (!atomic_exchange(&seen, true)) {
		first_number = number;
		first_ms = now_ms();
	} else if (number != first_number || now_ms() - first_ms > INTERRUPT_SAME_MS) {
		end_at_once(number);
	} else {
		return;
	}
	pass_on(number, info);
	if (end_after_s)
		alarm((unsigned)end_after_s);
}

/* What is under way cannot be called back: kernels, or a call of the driver. */
static void give_up(int number, siginfo_t *info, void *context)
{
	static const char clear[] = "\033[K"; /* of a line of progress */

	(void)number, (void)info, (void)context;
	temporary_remove_all();
	if (*last_words && isatty(STDERR_FILENO) && write(STDERR_FILENO, clear, 3) < 0)
		_exit(INTERRUPTED);
	if (write(STDERR_FILENO, last_words, strlen(last_words)) < 0)
		_exit(INTERRUPTED);
	_exit(INTERRUPTED);
}

/*
 * No SA_RESTART: reading a pipe that nobody writes to would go on for ever. SA_NODEFER: a signal
 * that its handler raises takes effect there, not later.
 */
static void set_handler(int number, void (*handler)(int, siginfo_t *, void *))
{
	struct sigaction old,
		act = { .sa_sigaction = handler, .sa_flags = SA_NODEFER | SA_SIGINFO };

	sigemptyset(&act.sa_mask);
	if (sigaction(number, NULL, &old) || old.sa_handler != SIG_IGN)
		sigaction(number, &act, NULL);
}

void interrupt_end_within(int seconds, const char *line)
{
	last_words = line;
	set_handler(SIGALRM, give_up);
	end_after_s = seconds;
}

void interrupt_install(void)
{
	static const int stop[] = { SIGINT, SIGTERM, SIGHUP };
	static const int fatal[] = { SIGQUIT, SIGPIPE, SIGABRT, SIGXCPU };

	for (size_t i = 0; i < sizeof(stop) / sizeof(*stop); i++)
		set_handler(stop[i], remember);
	for (size_t i = 0; i < sizeof(fatal) / sizeof(*fatal); i++)
		set_handler(fatal[i], end_by);
	signal(SIGXFSZ, SIG_IGN);
	CHECK(!at_quick_exit(temporary_remove_all), "memory of a handler");
}

void interrupt_pass_on(int fd)
{
	static const int programs[] = { SIGUSR1, SIGUSR2 };
	struct sigaction is;

	passed_to = fd;
	for (size_t i = 0; i < sizeof(programs) / sizeof(*programs); i++)
		if (fd >= 0)
			set_handler(programs[i], only_pass_on);
		else if (!sigaction(programs[i], NULL, &is) && is.sa_handler != SIG_IGN)
			signal(programs[i], SIG_DFL);
}

bool interrupted(void)
{
	return atomic_load_explicit(&seen, memory_order_relaxed);
}
