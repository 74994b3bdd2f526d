/* interrupt.c - an orderly end on Ctrl-C and SIGTERM. */
#include "harness/interrupt.h"

#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t seen;

static void remember(int signal_number)
{
	(void)signal_number;
	seen = 1;
}

void interrupt_install(void)
{
	struct sigaction act = { .sa_handler = remember, .sa_flags = SA_RESETHAND | SA_RESTART };

	sigemptyset(&act.sa_mask);
	sigaction(SIGINT, &act, NULL);
	sigaction(SIGTERM, &act, NULL);
}

bool interrupted(void)
{
	return seen != 0;
}
