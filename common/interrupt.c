/* interrupt.c - an orderly end on Ctrl-C, SIGTERM and SIGHUP; see interrupt.h. */
#include "common/interrupt.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/check.h"
#include "common/temporary.h"

enum { INTERRUPTED = 75 }; /* rift's exit code */

static atomic_bool seen;
static volatile sig_atomic_t end_after_s;
static const char *last_words = "";

/* By the signal itself, so that a shell sees what ended the process. */
static void end_at_once(int number)
{
	temporary_remove_all();
	signal(number, SIG_DFL);
	raise(number);
}

static void remember(int number)
{
	if (atomic_exchange(&seen, true))
		end_at_once(number);
	if (end_after_s)
		alarm((unsigned)end_after_s);
}

/* What is under way cannot be called back: kernels, or a call of the driver. */
static void give_up(int number)
{
	static const char clear[] = "\033[K"; /* of a line of progress */

	(void)number;
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
static void set_handler(int number, void (*handler)(int))
{
	struct sigaction old, act = { .sa_handler = handler, .sa_flags = SA_NODEFER };

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
		set_handler(fatal[i], end_at_once);
	signal(SIGXFSZ, SIG_IGN);
	CHECK(!at_quick_exit(temporary_remove_all), "memory of a handler");
}

bool interrupted(void)
{
	return atomic_load_explicit(&seen, memory_order_relaxed);
}
