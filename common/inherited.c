/* inherited.c - see inherited.h. */
#include "common/inherited.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

static struct {
	const int number;
	void (*const ours)(int);
	struct sigaction before;
} settled[] = {
	{ .number = SIGCHLD, .ours = SIG_DFL },
	{ .number = SIGALRM, .ours = SIG_DFL },
	{ .number = SIGXFSZ, .ours = SIG_IGN },
};

enum { SETTLED = sizeof(settled) / sizeof(*settled) };

static sigset_t blocked_before;
static mode_t umask_before;
static bool is_settled;

void inherited_settle(void)
{
	sigset_t none;

	for (int i = 0; i < SETTLED; i++) {
		const struct sigaction ours = { .sa_handler = settled[i].ours };

		sigaction(settled[i].number, &ours, &settled[i].before);
	}
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, &blocked_before);
	umask_before = umask(0);
	umask(umask_before & ~(mode_t)S_IRWXU);
	is_settled = true;
}

void inherited_restore(void)
{
	for (int i = 0; is_settled && i < SETTLED; i++)
		sigaction(settled[i].number, &settled[i].before, NULL);
	if (!is_settled)
		return;
	umask(umask_before);
	sigprocmask(SIG_SETMASK, &blocked_before, NULL);
}
