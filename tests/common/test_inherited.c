/* test_inherited.c - common/inherited.h: what rift works with, and what its commands get back. */
/* sanitizers: one thread */
#include "tests/test.h"
#include "common/inherited.h"

#include <signal.h>
#include <sys/stat.h>

TestSuite(small_inherited, .timeout = 60);

static void (*handler_of(int number))(int)
{
	struct sigaction is;

	sigaction(number, NULL, &is);
	return is.sa_handler;
}

static bool is_blocked(int number)
{
	sigset_t set;

	sigprocmask(SIG_SETMASK, NULL, &set);
	return sigismember(&set, number);
}

static mode_t mask(void)
{
	mode_t is = umask(0);

	umask(is);
	return is;
}

Test(small_inherited, is_settled_and_given_back)
{
	sigset_t block;

	signal(SIGCHLD, SIG_IGN);
	signal(SIGALRM, SIG_IGN);
	signal(SIGXFSZ, SIG_DFL);
	signal(SIGHUP, SIG_IGN); /* nohup: stays */
	sigemptyset(&block);
	sigaddset(&block, SIGTERM);
	sigprocmask(SIG_SETMASK, &block, NULL);
	umask(0777);
	inherited_settle();
	cr_expect(eq(ptr, (void *)handler_of(SIGCHLD), (void *)SIG_DFL));
	cr_expect(eq(ptr, (void *)handler_of(SIGALRM), (void *)SIG_DFL));
	cr_expect(eq(ptr, (void *)handler_of(SIGXFSZ), (void *)SIG_IGN));
	cr_expect(eq(ptr, (void *)handler_of(SIGHUP), (void *)SIG_IGN));
	cr_expect(not(is_blocked(SIGTERM)));
	cr_expect(eq(uint, mask(), 077));
	inherited_restore();
	cr_expect(eq(ptr, (void *)handler_of(SIGCHLD), (void *)SIG_IGN));
	cr_expect(eq(ptr, (void *)handler_of(SIGALRM), (void *)SIG_IGN));
	cr_expect(eq(ptr, (void *)handler_of(SIGXFSZ), (void *)SIG_DFL));
	cr_expect(is_blocked(SIGTERM));
	cr_expect(eq(uint, mask(), 0777));
}

Test(small_inherited, nothing_is_given_back_that_was_not_taken)
{
	signal(SIGCHLD, SIG_IGN);
	umask(022);
	inherited_restore();
	cr_expect(eq(ptr, (void *)handler_of(SIGCHLD), (void *)SIG_IGN));
	cr_expect(eq(uint, mask(), 022));
}
