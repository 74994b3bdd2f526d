/*
 * test_share_helpers.c - processes that serve clients are found, whoever their parent is, and the
 * time that they use is theirs.
 */
/* sanitizers: one thread */
#include "tests/test.h"
#include "harness/share/helpers.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

TestSuite(small_share_helpers, .init = helpers_mark, .timeout = 60);

static double seconds(const struct rusage *u)
{
	return (double)(u->ru_utime.tv_sec + u->ru_stime.tv_sec) +
	       1e-6 * (double)(u->ru_utime.tv_usec + u->ru_stime.tv_usec);
}

static double used_s(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return seconds(&u);
}

/* Says that it is there, then uses so much processor time after a byte, says so, and waits. */
_Noreturn static void be_helper(int told, int says, double seconds)
{
	pid_t self = getpid();
	double begun;
	char byte;

	if (write(says, &self, sizeof(self)) != (ssize_t)sizeof(self) || read(told, &byte, 1) != 1)
		_exit(1);
	begun = used_s();
	while (used_s() - begun < seconds)
		;
	if (write(says, &self, sizeof(self)) != (ssize_t)sizeof(self))
		_exit(1);
	for (;;)
		pause();
}

static const struct helper *found(const struct helpers *h, pid_t pid)
{
	for (int i = 0; i < h->n; i++)
		if (h->of[i].pid == pid)
			return &h->of[i];
	return NULL;
}

Test(small_share_helpers, the_time_of_a_child)
{
	int told[2], says[2];
	static struct helpers h;
	struct rusage all;
	pid_t pid, said;

	cr_assert(zero(int, pipe(told)));
	cr_assert(zero(int, pipe(says)));
	pid = fork();
	if (!pid)
		be_helper(told[0], says[1], 0.05);
	cr_assert(eq(i64, read(says[0], &said, sizeof(said)), sizeof(said)));
	helpers_find(&h, NULL, 0);
	cr_assert(ne(ptr, (void *)(uintptr_t)found(&h, pid), NULL));
	helpers_find(&h, &pid, 1);
	cr_expect(eq(ptr, (void *)(uintptr_t)found(&h, pid), NULL), "it is excepted");
	helpers_find(&h, NULL, 0);
	helpers_begin(&h);
	cr_assert(eq(i64, write(told[1], "g", 1), 1));
	cr_assert(eq(i64, read(says[0], &said, sizeof(said)), sizeof(said)));
	helpers_end(&h);
	cr_expect(le(dbl, 0.05, helpers_used_s(&h)), "%g s", helpers_used_s(&h));
	/* what it used stays, though it is gone, and is no more than all it used */
	kill(pid, SIGKILL);
	wait4(pid, NULL, 0, &all);
	helpers_end(&h);
	cr_expect(le(dbl, 0.05, helpers_used_s(&h)), "%g s", helpers_used_s(&h));
	cr_expect(le(dbl, helpers_used_s(&h), seconds(&all) + 0.01), "%g of %g s",
		  helpers_used_s(&h), seconds(&all));
}

/* What helpers used before the stretch is not theirs in it; nor is anything of one that has ended.
 */
Test(small_share_helpers, the_time_before_does_not_count)
{
	enum { CHILDREN = 3, LATER = 2 };
	int told[2], says[2];
	static struct helpers h;
	pid_t pid[CHILDREN], said;

	cr_assert(zero(int, pipe(told)));
	cr_assert(zero(int, pipe(says)));
	for (int i = 0; i < CHILDREN; i++) {
		pid[i] = fork();
		if (!pid[i])
			be_helper(told[0], says[1], 0.05);
	}
	for (int i = 0; i < CHILDREN; i++)
		cr_assert(eq(i64, read(says[0], &said, sizeof(said)), sizeof(said)));
	cr_assert(eq(i64, write(told[1], "gg", 2), 2));
	for (int i = 0; i < LATER; i++)
		cr_assert(eq(i64, read(says[0], &said, sizeof(said)), sizeof(said)));
	helpers_find(&h, NULL, 0);
	for (int i = 0; i < CHILDREN; i++)
		cr_assert(ne(ptr, (void *)(uintptr_t)found(&h, pid[i]), NULL), "%d", i);
	helpers_begin(&h);
	cr_expect(eq(dbl, helpers_used_s(&h), 0), "it has just begun: %g s", helpers_used_s(&h));
	helpers_end(&h);
	cr_expect(lt(dbl, helpers_used_s(&h), 0.05), "they used %g s before", helpers_used_s(&h));
	/* the third one works within the stretch, and alone */
	cr_assert(eq(i64, write(told[1], "g", 1), 1));
	cr_assert(eq(i64, read(says[0], &said, sizeof(said)), sizeof(said)));
	helpers_end(&h);
	cr_expect(le(dbl, 0.05, helpers_used_s(&h)), "%g s", helpers_used_s(&h));
	cr_expect(lt(dbl, helpers_used_s(&h), 0.1), "%g s", helpers_used_s(&h));
	for (int i = 0; i < CHILDREN; i++) {
		kill(pid[i], SIGKILL);
		waitpid(pid[i], NULL, 0);
	}
	helpers_begin(&h);
	helpers_end(&h);
	cr_expect(eq(dbl, helpers_used_s(&h), 0), "all have ended: %g s", helpers_used_s(&h));
}

/* No more than there is room for, and nothing behind them. */
Test(small_share_helpers, as_many_as_there_is_room_for)
{
	static struct {
		struct helpers h;
		double behind[4];
	} all = { .behind = { 1, 2, 3, 4 } };

	for (int i = 0; i < HELPERS_MAX; i++)
		all.h.of[i] = (struct helper){ .pid = getpid() };
	all.h.n = HELPERS_MAX;
	helpers_begin(&all.h);
	cr_expect(eq(dbl, helpers_used_s(&all.h), 0), "%g s", helpers_used_s(&all.h));
	/* the clock of a process whose time is limited moves by whole ticks */
	for (double begun = used_s(); used_s() - begun < 0.02;)
		;
	helpers_end(&all.h);
	cr_expect(lt(dbl, 0, helpers_used_s(&all.h)), "%g s", helpers_used_s(&all.h));
	for (int i = 0; i < HELPERS_MAX; i++)
		cr_expect(lt(dbl, all.h.of[i].from_s, all.h.of[i].to_s), "%d", i);
	cr_expect(eq(int, all.h.n, HELPERS_MAX));
	for (int i = 0; i < 4; i++)
		cr_expect(eq(dbl, all.behind[i], i + 1), "%d", i);
}

/* A guard of a layer has left its parent, which has ended. */
Test(small_share_helpers, one_that_has_left_its_parent)
{
	static struct helpers h;
	const char *out;
	pid_t ours, other;

	shell(&out, "setsid sleep 1000 >/dev/null 2>&1 & echo $!");
	ours = atoi(out);
	shell(&out, "RIFT_SHARE=1 setsid sleep 1000 >/dev/null 2>&1 & echo $!");
	other = atoi(out);
	/* until both are what they will be */
	shell(NULL,
	      "n=0; until grep -q sleep /proc/%d/comm && grep -q sleep /proc/%d/comm || "
	      "[ $((n += 1)) -gt 500 ]; do sleep 0.02; done",
	      (int)ours, (int)other);
	helpers_find(&h, NULL, 0);
	cr_expect(ne(ptr, (void *)(uintptr_t)found(&h, ours), NULL));
	cr_expect(eq(ptr, (void *)(uintptr_t)found(&h, other), NULL), "another command's");
	kill(ours, SIGKILL);
	kill(other, SIGKILL);
}
