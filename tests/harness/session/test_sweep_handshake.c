/*
 * test_sweep_handshake.c - session_handshake() of harness/session/supervisor.h: how long the
 * command of the other side is waited for. Time is this program's own: it passes by 2 s at each
 * reading.
 */
/* sanitizers: one thread */
#include "tests/test.h"
#include "common/interrupt.h"
#include "harness/session/supervisor.h"

#include <signal.h>
#include <sys/syscall.h>
#include <time.h>

TestSuite(small_sweep_handshake, .timeout = 300);

enum { STEP_S = 2 };

static time_t now_s;

/* In front of the C library's. */
int clock_gettime(clockid_t id, struct timespec *t)
{
	if (id != CLOCK_MONOTONIC_RAW)
		return (int)syscall(SYS_clock_gettime, id, t);
	now_s += STEP_S;
	*t = (struct timespec){ .tv_sec = now_s };
	return 0;
}

/* A command that says nothing for longer than the test has. */
static const char silent[] = "sleep 100 #";

static int shake_hands(const char **said)
{
	struct show show;
	int err;

	divert_stderr();
	show_start(&show, true);
	err = session_handshake(silent, &show);
	show_end(&show);
	*said = diverted_stderr();
	return err;
}

Test(small_sweep_handshake, silence_is_said_and_then_the_end)
{
	const char *said;

	cr_assert(eq(int, shake_hands(&said), -ETIMEDOUT), "%s", said);
	cr_assert(tells(said, "rift: *--against *2 minutes *\n"
			      "rift: --against: 'sleep 100 #' *2 minutes\n"),
		  "%s", said);
	cr_assert(is_one_complaint(strchr(said, '\n') + 1), "once each: %s", said);
	cr_assert(lt(i64, 120, now_s), "2 minutes");
	cr_assert(lt(i64, now_s, 140), "and a few readings");
}

Test(small_sweep_handshake, control_c_is_no_complaint)
{
	const char *said;

	interrupt_install();
	raise(SIGINT);
	cr_assert(eq(int, shake_hands(&said), -EINTR), "%s", said);
	cr_assert(eq(str, (char *)said, ""), "%s", said);
}
