/* interrupt.c - an orderly end on Ctrl-C, SIGTERM and SIGHUP; see interrupt.h. */
#include "common/interrupt.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>

#include "common/temporary.h"

static atomic_bool seen;

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
}

/*
 * No SA_RESTART: reading a pipe that nobody writes to would go on for ever. SA_NODEFER: a signal
 * that its handler raises takes effect there, not later.
 */
static void handle(int number, void (*handler)(int))
{
	struct sigaction old, act = { .sa_handler = handler, .sa_flags = SA_NODEFER };

	sigemptyset(&act.sa_mask);
	if (sigaction(number, NULL, &old) || old.sa_handler != SIG_IGN)
		sigaction(number, &act, NULL);
}

void interrupt_install(void)
{
	static const int stop[] = { SIGINT, SIGTERM, SIGHUP };
	static const int fatal[] = { SIGQUIT, SIGPIPE, SIGABRT, SIGXCPU };

	for (size_t i = 0; i < sizeof(stop) / sizeof(*stop); i++)
		handle(stop[i], remember);
	for (size_t i = 0; i < sizeof(fatal) / sizeof(*fatal); i++)
		handle(fatal[i], end_at_once);
	signal(SIGXFSZ, SIG_IGN);
}

bool interrupted(void)
{
	return atomic_load_explicit(&seen, memory_order_relaxed);
}
