/* latch.c - a stream that is held back; the kernel is in latch_kernel.cu. */
#include "common/latch.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/cuda_check.h"
#include "common/device.h"
#include "common/timing.h"

enum { GO, TIMED_OUT, WORDS, LOOKS = 8 };

struct latch {
	uint32_t *word;	     /* WORDS, mapped */
	uint32_t *on_device; /* the same there */
	/* Counts the holds. The kernel waits for this number, so a late one needs no clearing. */
	_Atomic uint32_t turn;
	_Atomic int64_t closed_ns; /* when; 0: open */
	atomic_bool fired;
	int64_t watchdog_ns;
	unsigned long long timeout_ns;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t over;
	bool end; /* under the lock */
};

static void let_go(struct latch *l)
{
	__atomic_store_n(l->word + GO, atomic_load(&l->turn), __ATOMIC_RELEASE);
}

/* ---- the watchdog ----------------------------------------------------------------------- */

static void check_watchdog(struct latch *l)
{
	int64_t closed = atomic_load(&l->closed_ns);

	if (!closed || timing_now_ns() - closed < l->watchdog_ns)
		return;
	/* it may have been opened just now */
	if (atomic_compare_exchange_strong(&l->closed_ns, &closed, 0)) {
		atomic_store(&l->fired, true);
		let_go(l);
	}
}

static void *watch(void *arg)
{
	struct latch *l = arg;
	struct timespec until;

	pthread_mutex_lock(&l->lock);
	while (!l->end) {
		int64_t ns;

		clock_gettime(CLOCK_MONOTONIC, &until);
		ns = until.tv_nsec + l->watchdog_ns / LOOKS;
		until.tv_sec += ns / 1000000000;
		until.tv_nsec = ns % 1000000000;
		pthread_cond_timedwait(&l->over, &l->lock, &until);
		check_watchdog(l);
	}
	pthread_mutex_unlock(&l->lock);
	return NULL;
}

static void watchdog_start(struct latch *l)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_mutex_init(&l->lock, NULL);
	pthread_cond_init(&l->over, &attr);
	pthread_condattr_destroy(&attr);
	if (pthread_create(&l->thread, NULL, watch, l)) {
		errno = ENOMEM; /* EAGAIN: a limit is reached */
		CHECK(false, "no thread for the watchdog");
	}
}

static void watchdog_stop(struct latch *l)
{
	pthread_mutex_lock(&l->lock);
	l->end = true;
	pthread_cond_signal(&l->over);
	pthread_mutex_unlock(&l->lock);
	pthread_join(l->thread, NULL);
	pthread_cond_destroy(&l->over);
	pthread_mutex_destroy(&l->lock);
}

/* ---- the latch -------------------------------------------------------------------------- */

static int map_words(void *latch)
{
	struct latch *l = latch;

	CUDA(cudaHostAlloc((void **)&l->word, WORDS * sizeof(*l->word), cudaHostAllocMapped));
	memset(l->word, 0, WORDS * sizeof(*l->word));
	CUDA(cudaHostGetDevicePointer((void **)&l->on_device, l->word, 0));
	return 0;
}

static void launch_wait(struct latch *l, uint32_t turn, unsigned long long timeout_ns,
			cudaStream_t s)
{
	const dim3 one = { 1, 1, 1 };
	uint32_t *go = l->on_device + GO, *timed_out = l->on_device + TIMED_OUT;
	void *args[] = { &go, &timed_out, &turn, &timeout_ns };

	CUDA(cudaLaunchKernel(latch_kernel(), one, one, args, 0, s));
}

/* A hold that nobody ends says so in a word that the host must see. */
static bool is_seen(struct latch *l)
{
	l->turn = 1;
	launch_wait(l, l->turn, 1000, NULL);
	CUDA(cudaStreamSynchronize(NULL));
	return latch_ended(l) == LATCH_TIMED_OUT;
}

struct latch *latch_new(int watchdog_ms, int timeout_ms, const char **why)
{
	static char refused[REFUSAL_TEXT];
	struct refusal r;
	struct latch *l;

	*why = "not applicable: the device maps no host memory";
	if (!device_attribute(cudaDevAttrCanMapHostMemory))
		return NULL;
	l = calloc(1, sizeof(*l));
	CHECK(l, "memory of a latch");
	l->watchdog_ns = watchdog_ms * 1000000ll;
	l->timeout_ns = timeout_ms * 1000000ull;
	if (refusal_catch(map_words, l, &r)) {
		refusal_text(&r, refused);
		*why = refused;
		free(l);
		return NULL;
	}
	/* nothing may be loaded while a stream is held */
	device_load_kernel(latch_kernel());
	if (!is_seen(l)) {
		*why = "not supported here: the host does not see what a kernel writes to mapped "
		       "memory";
		CUDA(cudaFreeHost(l->word));
		free(l);
		return NULL;
	}
	watchdog_start(l);
	*why = NULL;
	return l;
}

static void unmap(void *latch)
{
	struct latch *l = latch;

	CUDA(cudaFreeHost(l->word));
}

void latch_free(struct latch *l)
{
	if (!l)
		return;
	latch_open(l);
	watchdog_stop(l);
	CUDA(cudaDeviceSynchronize()); /* the kernel still reads the word */
	refusal_ignore(unmap, l);
	free(l);
}

void latch_close(struct latch *l, cudaStream_t stream)
{
	uint32_t turn = atomic_load(&l->turn) + 1;

	atomic_store(&l->turn, turn);
	atomic_store(&l->fired, false);
	atomic_store(&l->closed_ns, timing_now_ns());
	launch_wait(l, turn, l->timeout_ns, stream);
}

void latch_open(struct latch *l)
{
	atomic_store(&l->closed_ns, 0);
	let_go(l);
}

int latch_fired(const struct latch *l)
{
	return atomic_load(&l->fired);
}

enum latch_end latch_ended(const struct latch *l)
{
	if (__atomic_load_n(l->word + TIMED_OUT, __ATOMIC_ACQUIRE) == atomic_load(&l->turn))
		return LATCH_TIMED_OUT;
	return latch_fired(l) ? LATCH_WATCHED : LATCH_OPENED;
}

const char *latch_why(enum latch_end end)
{
	switch (end) {
	case LATCH_WATCHED:
		return "not measured: a call waits for the stream that is held";
	case LATCH_TIMED_OUT:
		return "not measured: the kernel that held the stream ended by itself";
	default:
		return "";
	}
}
