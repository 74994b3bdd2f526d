/*
 * test_latch.c - common/latch.h: a stream is held and let go; whatever forgets to open it, the
 * watchdog or the kernel's own limit does, and the sample counts for none.
 */
#include "tests/plain.h"
#include "common/latch.h"

#include "common/cuda_check.h"
#include "tests/cli.h"

TestSuite(small_latch, .timeout = 300);

enum { NEVER_MS = 60000 };

static cudaStream_t stream;
static int ran; /* set by the stream */

static void note(void *arg)
{
	*(int *)arg = 1;
}

/* A latch that is closed, with a host function behind it. */
static struct latch *closed(int watchdog_ms, int timeout_ms)
{
	const char *why;
	struct latch *l;

	need_device();
	CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	l = latch_new(watchdog_ms, timeout_ms, &why);
	cr_assert(l, "%s", why);
	latch_close(l, stream);
	CUDA(cudaLaunchHostFunc(stream, note, &ran));
	return l;
}

static enum latch_end end_of(struct latch *l)
{
	enum latch_end end;

	CUDA(cudaStreamSynchronize(stream));
	end = latch_ended(l);
	cr_assert(ran, "what was behind it has run");
	ran = 0;
	return end;
}

Test(small_latch, holds_until_it_is_opened)
{
	struct latch *l = closed(NEVER_MS, NEVER_MS);

	for (int i = 0; i < 3; i++) {
		cr_assert(cudaStreamQuery(stream) == cudaErrorNotReady && !ran, "held");
		latch_open(l);
		cr_assert(end_of(l) == LATCH_OPENED && !latch_fired(l), "hold %d", i);
		latch_close(l, stream);
		CUDA(cudaLaunchHostFunc(stream, note, &ran));
	}
	latch_free(l);
}

/* A planted deadlock: nobody opens it. */
Test(small_latch, the_watchdog_opens_what_nobody_opens)
{
	struct latch *l = closed(40, NEVER_MS);

	cr_assert(end_of(l) == LATCH_WATCHED && latch_fired(l), "watched");
	latch_close(l, stream);
	CUDA(cudaLaunchHostFunc(stream, note, &ran));
	cr_assert(!latch_fired(l), "a new hold");
	latch_open(l);
	cr_assert(end_of(l) == LATCH_OPENED, "and none the worse for it");
	latch_free(l);
}

/* And where the watchdog is dead too. */
Test(small_latch, the_kernel_ends_by_itself)
{
	struct latch *l = closed(NEVER_MS, 40);

	cr_assert(end_of(l) == LATCH_TIMED_OUT, "timed out");
	latch_close(l, stream);
	CUDA(cudaLaunchHostFunc(stream, note, &ran));
	latch_open(l);
	cr_assert(end_of(l) == LATCH_OPENED, "the next one is held anew");
	latch_free(l);
}

Test(small_latch, freeing_opens)
{
	struct latch *l = closed(NEVER_MS, NEVER_MS);

	latch_free(l);
	latch_free(NULL);
	cr_assert(cudaStreamQuery(stream) == cudaSuccess && ran, "let go");
}

Test(small_latch, each_end_has_its_reason)
{
	cr_assert(!*latch_why(LATCH_OPENED), "none");
	cr_assert(strstr(latch_why(LATCH_WATCHED), "waits for the stream"), "watched");
	cr_assert(strstr(latch_why(LATCH_TIMED_OUT), "by itself"), "timed out");
}
