/*
 * block.c - runs blocks of a launch on the calling thread: which thread comes next, on which
 * coroutine (see block.h).
 */
#include "common/cpu/kernel/block.h"

__thread uint3 threadIdx, blockIdx;
__thread dim3 blockDim, gridDim;
__thread struct cpudev_tls cpudev_tls;
__thread struct executor *executor;

#ifdef CPUDEV_TSAN
enum { ONE_FIBER_A_THREAD = 1 }; /* no sequential mode: the checker must tell threads apart */
#else
enum { ONE_FIBER_A_THREAD = 0 };
#endif

/* Fills a set with threads first..n_threads-1; words beyond n_words are never looked at. */
static void fill_set(const struct executor *e, uint64_t *set, unsigned first)
{
	for (unsigned w = 0; w < e->n_words; w++) {
		unsigned low = w * 64, n = e->n_threads - low;
		uint64_t word = n >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << n) - 1;

		if (first >= low + 64)
			word = 0;
		else if (first > low)
			word &= ~UINT64_C(0) << (first - low);
		set[w] = word;
	}
}

void leave_sequential(struct executor *e)
{
	unsigned row = threadIdx.z * blockDim.y + threadIdx.y;
	unsigned t = row * blockDim.x + threadIdx.x;

	cpudev_tls.sequential = 0;
	e->thread = t;
	e->n_alive = e->n_threads - t; /* those before it have ended */
	fill_set(e, e->alive, t);
	memcpy(e->ready, e->alive, sizeof(e->ready));
	memcpy(e->fresh, e->alive, sizeof(e->fresh));
	e->fresh[t >> 6] &= ~thread_bit(t);
	e->coroutine_of[t] = (uint16_t)e->coroutine;
}

/* ---- coroutines ------------------------------------------------------------------------- */

/*
 * The start of every coroutine but 0. It comes back here only where coroutines are unwound, and
 * then waits for the next launch.
 */
static void coroutine_main(void)
{
	context_entered();
	for (;;) {
		struct executor *e = executor;
		unsigned self = e->coroutine;

		e->inside[self] = true;
		TS_ACQUIRE(&e->block_tag[!e->parity]);
		e->launch->kernel->run(e->launch->args);
		e->inside[self] = false;
		TS_RELEASE(&e->block_tag[0]); /* for the launch's end */
		e->coroutine = 0;
		context_switch(&e->context[self], &e->context[0]);
	}
}

static void start_coroutine(struct executor *e, unsigned c)
{
	char *low, *top;

	if (CONTEXT_UNWIND && e->started[c])
		return; /* waits in coroutine_main() */
	executor_stack(e, c, &low, &top);
	e->started[c] = true;
	context_start(&e->context[c], coroutine_main, low, top);
}

unsigned unpark_coroutine(struct executor *e, unsigned thread)
{
	unsigned c;

	if (ONE_FIBER_A_THREAD) {
		c = thread;
		if (c == 0)
			return 0; /* on the stack of the operating-system thread */
	} else {
		if (e->n_parked)
			return e->parked[--e->n_parked];
		c = e->n_coroutines++;
	}
	start_coroutine(e, c);
	return c;
}

/* All threads have ended: lets coroutines that wait in the kernel's loop leave it. */
static void unwind_coroutines(struct executor *e)
{
	unsigned n = ONE_FIBER_A_THREAD ? e->n_threads : e->n_coroutines;

	for (unsigned c = 1; c < n; c++) {
		if (!e->inside[c])
			continue;
		e->coroutine = c;
		context_switch(&e->context[0], &e->context[c]);
	}
}

/* ---- which block is next ---------------------------------------------------------------- */

/* Sparing one-dimensional grids, the usual ones, two 64-bit divisions. */
static void set_block_index(const struct executor *e)
{
	const dim3 *g = &e->launch->grid;

	if (g->y == 1 && g->z == 1) {
		blockIdx = (uint3){ (unsigned)e->block, 0, 0 };
		return;
	}
	uint64_t row = e->block / g->x;

	blockIdx.x = (unsigned)(e->block % g->x);
	blockIdx.y = (unsigned)(row % g->y);
	blockIdx.z = (unsigned)(row / g->y);
}

/*
 * Makes all threads of the next block fresh; false when the launch has no more blocks. Blocks
 * are handed out in rising order: one that waits for a lower number waits for a block that runs
 * or has run, never for one in the same queue behind it.
 */
static bool next_block(struct executor *e)
{
	struct launch *l = e->launch;

	if (++e->block >= e->block_end) {
		e->block =
			atomic_fetch_add_explicit(&l->next_block, l->chunk, memory_order_relaxed);
		if (e->block >= l->n_blocks)
			return false;
		e->block_end = e->block + l->chunk;
		if (e->block_end > l->n_blocks)
			e->block_end = l->n_blocks;
	}
	set_block_index(e);
	e->parity ^= 1;
	if (e->order == ORDER_UP && !ONE_FIBER_A_THREAD) {
		cpudev_tls.sequential = 1;
		return true;
	}
	if (e->order == ORDER_RANDOM)
		order_seed(e);
	cpudev_tls.sequential = 0;
	e->thread = e->n_threads - 1; /* so that "the next" is 0 */
	e->n_alive = e->n_threads;
	fill_set(e, e->alive, 0);
	memcpy(e->ready, e->alive, sizeof(e->ready));
	memcpy(e->fresh, e->alive, sizeof(e->fresh));
	return true;
}

/* ---- a thread ends ---------------------------------------------------------------------- */

/* The launch is over; on every coroutine but 0 this does not return in this launch. */
static int finish(struct executor *e)
{
	unsigned self = e->coroutine;

	e->leaving = true;
	if (self) {
		e->coroutine = 0;
		context_switch(&e->context[self], &e->context[0]);
	}
	return 0;
}

/* Lets the running coroutine call the kernel for thread t, which is fresh. */
static int take_thread(struct executor *e, unsigned t)
{
	e->fresh[t >> 6] &= ~thread_bit(t);
	e->coroutine_of[t] = (uint16_t)e->coroutine;
	e->thread = t;
	threadIdx = e->index[t];
	return 1;
}

/* The running coroutine has no thread any more: goes on with t, here or elsewhere. */
static int run_next(struct executor *e, unsigned t)
{
	if (in_set(e->fresh, t) && !ONE_FIBER_A_THREAD)
		return take_thread(e, t);
	if (!ONE_FIBER_A_THREAD)
		e->parked[e->n_parked++] = (uint16_t)e->coroutine;
	switch_to(e, t);
	if (!e->leaving && blocks_ordered(e))
		TS_ACQUIRE(&e->block_tag[!e->parity]);
	return !e->leaving;
}

/* After the last thread of a block: the coroutine at hand begins the next one. */
static int start_next_block(struct executor *e)
{
	if (!next_block(e))
		return finish(e);
	if (!cpudev_tls.sequential)
		return run_next(e, next_ready(e));
	threadIdx = (uint3){ 0, 0, 0 };
	return 1;
}

/* The slow part of the plain loop: x has reached its end. */
static int next_sequential(struct executor *e)
{
	threadIdx.x = 0;
	if (++threadIdx.y < blockDim.y)
		return 1;
	threadIdx.y = 0;
	if (++threadIdx.z < blockDim.z)
		return 1;
	threadIdx.z = 0;
	return start_next_block(e);
}

int cpudev_next_thread(void)
{
	struct executor *e = executor;
	unsigned t = e->thread;

	if (cpudev_tls.sequential)
		return next_sequential(e);
	if (blocks_ordered(e))
		TS_RELEASE(&e->block_tag[e->parity]);
	e->ready[t >> 6] &= ~thread_bit(t);
	e->alive[t >> 6] &= ~thread_bit(t);
	if (--e->n_alive == 0)
		return start_next_block(e);
	/* Others may have waited for this thread alone. */
	if (e->n_at_barrier == e->n_alive)
		barrier_open(e);
	if (e->warp[t / WARP_THREADS].waiting)
		warp_lane_left(e, t / WARP_THREADS);
	return run_next(e, next_ready(e));
}

/* ---- a launch --------------------------------------------------------------------------- */

/* Coroutine 0 starts: it takes the first thread itself, or waits until it gets one. */
static void run_from_here(struct executor *e)
{
	e->coroutine = 0;
	e->n_coroutines = 1;
	e->n_parked = 0;
	e->leaving = false;
	TS_RELEASE(&e->block_tag[!e->parity]);
	if (cpudev_tls.sequential) {
		threadIdx = (uint3){ 0, 0, 0 };
	} else if (!ONE_FIBER_A_THREAD) {
		take_thread(e, next_ready(e));
	} else {
		switch_to(e, next_ready(e));
	}
	if (!e->leaving)
		e->launch->kernel->run(e->launch->args);
	if (CONTEXT_UNWIND)
		unwind_coroutines(e);
	e->coroutine = 0;
	TS_ACQUIRE(&e->block_tag[0]);
	TS_ACQUIRE(&e->block_tag[1]);
}

void execute_blocks(struct launch *launch)
{
	struct executor *e = executor_prepare(launch);
	bool watched = atomic_load_explicit(&launches_watched, memory_order_relaxed);
	int64_t start = watched ? thread_ns() : 0;

	if (next_block(e))
		run_from_here(e);
	if (watched)
		watch_time(thread_ns() - start);
	e->launch = NULL; /* from here on faults are not the kernel's */
}
