/*
 * latch.h - a stream that is held back until the host lets it go: what is submitted meanwhile is
 * in the queue, whole, before any of it runs.
 *
 * Nothing hangs on it. Three things end the kernel that holds the stream: the host's word; a
 * watchdog, a thread that gives the word where the host has not after a while, as where a call
 * waits for the stream that is held; and the kernel's own limit, by the device's clock. A sample
 * that one of the latter two ended is none: latch_ended() says so.
 *
 * Used by one thread, and closed again only when the stream has been waited for.
 */
#ifndef RIFT_LATCH_H
#define RIFT_LATCH_H

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { LATCH_WATCHDOG_MS = 500, LATCH_TIMEOUT_MS = 2000 };

enum latch_end {
	LATCH_OPENED,	 /* by the host */
	LATCH_WATCHED,	 /* by the watchdog */
	LATCH_TIMED_OUT, /* by the kernel itself */
};

struct latch;

/*
 * With the two limits in ms. Loads the kernel, and lets it end by itself once, to see that the host
 * sees what the device writes. The watchdog looks eight times within its limit. NULL: mapped host
 * memory does not work here, and *why, text of the program's own, says how.
 */
struct latch *latch_new(int watchdog_ms, int timeout_ms, const char **why);
void latch_free(struct latch *l); /* also NULL; opens it */

/* Launches the kernel: what comes later into the stream waits. */
void latch_close(struct latch *l, cudaStream_t stream);

void latch_open(struct latch *l);

/* Has the watchdog opened it since it was closed? At any time. */
int latch_fired(const struct latch *l);

/* What ended the last hold. After the stream was waited for. */
enum latch_end latch_ended(const struct latch *l);

/* "not measured: ..." for what has an end other than LATCH_OPENED. */
const char *latch_why(enum latch_end end);

/* Its kernel, for tests: (const uint32_t *go, uint32_t *timed_out, uint32_t turn, u64 ns). */
const void *latch_kernel(void);

#ifdef __cplusplus
}
#endif
#endif
