/*
 * probe_queue.c - how many launches a stream takes before a call waits for room.
 *
 * A kernel holds the stream while launches queue behind it; the call that finds no room returns
 * only when the kernel is let go. That is done by a watchdog, a thread of its own, after half a
 * second, as the caller is stuck by then; should it fail too, the kernel ends by itself after two.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/cuda_check.h"
#include "workloads/launch/probe.h"

enum { LAUNCHES_MAX = 8192, WATCHDOG_MS = 500, TIMEOUT_MS = 2000, STUCK = 20 };

int64_t launch_queue_depth(const int64_t *call_ns, int64_t n)
{
	int64_t *others;
	double median;

	if (n < 2)
		return -1;
	others = malloc((size_t)(n - 1) * sizeof(*others));
	CHECK(others, "%ld times", (long)n);
	memcpy(others, call_ns, (size_t)(n - 1) * sizeof(*others));
	median = launch_median(others, n - 1);
	free(others);
	return (double)call_ns[n - 1] > STUCK * median ? n - 1 : -1;
}

/* ---- the watchdog ----------------------------------------------------------------------- */

struct watchdog {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t called_off;
	bool off;	   /* under the lock */
	atomic_bool fired; /* it has let the kernel go */
	uint32_t *go;
};

static void let_go(uint32_t *go)
{
	__atomic_store_n(go, 1, __ATOMIC_RELEASE);
}

static void *watch(void *arg)
{
	struct watchdog *w = arg;
	struct timespec until;
	int err = 0;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += WATCHDOG_MS * 1000000L;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_mutex_lock(&w->lock);
	while (!w->off && !err)
		err = pthread_cond_timedwait(&w->called_off, &w->lock, &until);
	if (!w->off) {
		atomic_store(&w->fired, true);
		let_go(w->go);
	}
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

static void watchdog_start(struct watchdog *w, uint32_t *go)
{
	*w = (struct watchdog){ .go = go };
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->called_off, NULL);
	CHECK(!pthread_create(&w->thread, NULL, watch, w), "no thread for the watchdog");
}

/* Lets the kernel go whether or not the watchdog has. */
static void watchdog_stop(struct watchdog *w)
{
	pthread_mutex_lock(&w->lock);
	w->off = true;
	pthread_cond_signal(&w->called_off);
	pthread_mutex_unlock(&w->lock);
	pthread_join(w->thread, NULL);
	pthread_cond_destroy(&w->called_off);
	pthread_mutex_destroy(&w->lock);
	let_go(w->go);
}

/* ---- the probe -------------------------------------------------------------------------- */

static void hold(struct probe *p)
{
	const dim3 one = { 1, 1, 1 };
	uint32_t *go = p->on_device + PROBE_GO, *timed_out = p->on_device + PROBE_TIMED_OUT;
	unsigned long long timeout_ns = TIMEOUT_MS * 1000000ull;
	void *args[] = { &go, &timed_out, &timeout_ns };

	CUDA(cudaLaunchKernel(launch_holder(), one, one, args, 0, p->stream));
}

/* Returns how many calls were made; the last one may have been stuck. */
static int64_t fill(struct probe *p, struct watchdog *w, int64_t *call_ns)
{
	int64_t n = 0;

	while (n < LAUNCHES_MAX && !atomic_load(&w->fired)) {
		int64_t begin = launch_now_ns();

		launch_probe_step(p);
		call_ns[n++] = launch_now_ns() - begin;
	}
	return n;
}

static void add_depth(struct probe *p, const struct watchdog *w, const int64_t *call_ns, int64_t n)
{
	static const char name[] = "launch queue";
	int64_t depth = launch_queue_depth(call_ns, n);
	char text[120];

	if (p->word[PROBE_TIMED_OUT])
		launch_probe_text(p, name, "not measured: the kernel that held it ended by itself");
	else if (!n)
		launch_probe_text(p, name, "not measured: a launch waits for its kernel to end");
	else if (!atomic_load(&w->fired)) {
		snprintf(text, sizeof(text), "no end found within %d launches", LAUNCHES_MAX);
		launch_probe_text(p, name, text);
	} else if (depth < 0) {
		snprintf(text, sizeof(text), "not measured: %ld launches took %d ms", (long)n,
			 WATCHDOG_MS);
		launch_probe_text(p, name, text);
	} else
		launch_probe_add(p, name, "launches", (double)depth, 1);
}

void launch_probe_queue(struct probe *p)
{
	int64_t *call_ns = calloc(LAUNCHES_MAX, sizeof(*call_ns)), n;
	struct watchdog w;

	CHECK(call_ns, "%d times", LAUNCHES_MAX);
	p->word[PROBE_GO] = p->word[PROBE_TIMED_OUT] = 0;
	watchdog_start(&w, p->word + PROBE_GO);
	hold(p);
	n = fill(p, &w, call_ns);
	watchdog_stop(&w);
	CUDA(cudaStreamSynchronize(p->stream));
	add_depth(p, &w, call_ns, n);
	free(call_ns);
}
