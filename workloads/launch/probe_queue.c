/*
 * probe_queue.c - how many launches a stream takes before a call waits for the queue.
 *
 * A latch holds the stream while launches queue behind it; the call that finds the queue full
 * returns only when the latch's watchdog opens it, as the caller is stuck by then.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cuda_check.h"
#include "common/latch.h"
#include "common/timing.h"
#include "workloads/launch/probe.h"

enum { LAUNCHES_MAX = 8192, STUCK = 20 };

int64_t launch_queue_depth(const int64_t *call_ns, int64_t n)
{
	int64_t *others;
	double median;

	if (n < 2)
		return -1;
	others = malloc((size_t)(n - 1) * sizeof(*others));
	CHECK(others, "%ld times", (long)n);
	memcpy(others, call_ns, (size_t)(n - 1) * sizeof(*others));
	median = timing_median(others, n - 1);
	free(others);
	return (double)call_ns[n - 1] > STUCK * median ? n - 1 : -1;
}

/* ---- the probe -------------------------------------------------------------------------- */

/* Returns how many calls were made; the last one may have been stuck. */
static int64_t fill_queue(struct probe *p, const struct latch *latch, int64_t *call_ns)
{
	int64_t n = 0;

	while (n < LAUNCHES_MAX && !latch_fired(latch)) {
		int64_t begin = timing_now_ns();

		launch_probe_step(p);
		call_ns[n++] = timing_now_ns() - begin;
	}
	return n;
}

static void add_depth(struct probe *p, enum latch_end end, const int64_t *call_ns, int64_t n)
{
	static const char name[] = "launch queue";
	int64_t depth = launch_queue_depth(call_ns, n);
	char text[120];

	if (end == LATCH_TIMED_OUT)
		launch_probe_text(p, name, latch_why(end));
	else if (!n)
		launch_probe_text(p, name, "not measured: a launch waits for its kernel to end");
	else if (end == LATCH_OPENED) {
		snprintf(text, sizeof(text), "no end found within %d launches", LAUNCHES_MAX);
		launch_probe_text(p, name, text);
	} else if (depth < 0) {
		snprintf(text, sizeof(text), "not measured: %ld launches took %d ms", (long)n,
			 LATCH_WATCHDOG_MS);
		launch_probe_text(p, name, text);
	} else
		launch_probe_add(p, name, "launches", (double)depth, 1);
}

void launch_probe_queue(struct probe *p)
{
	const char *why;
	struct latch *latch = latch_new(LATCH_WATCHDOG_MS, LATCH_TIMEOUT_MS, &why);
	int64_t *call_ns, n;

	if (!latch) {
		launch_probe_text(p, "launch queue", why);
		return;
	}
	call_ns = calloc(LAUNCHES_MAX, sizeof(*call_ns));
	CHECK(call_ns, "%d times", LAUNCHES_MAX);
	latch_close(latch, p->stream);
	n = fill_queue(p, latch, call_ns);
	latch_open(latch);
	CUDA(cudaStreamSynchronize(p->stream));
	add_depth(p, latch_ended(latch), call_ns, n);
	latch_free(latch);
	free(call_ns);
}
