/*
 * executor.c - what a thread needs before it can run blocks: stacks and the coroutines on them,
 * shared memory, the table of thread indices. Kept from launch to launch, and handed on when the
 * thread ends.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "common/cpu/kernel/block.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>

__thread uint3 threadIdx, blockIdx;
__thread dim3 blockDim, gridDim;
__thread struct cpudev_tls cpudev_tls;
__thread struct executor *executor;

#ifdef CPUDEV_ASAN
enum { STACK_BYTES = 256 << 10 }; /* checked frames are larger */
#else
enum { STACK_BYTES = 64 << 10 };
#endif
enum {
	/*
	 * Stack tops a power of two apart would share cache sets; three lines more for each
	 * coroutine makes barriers 2.6 times faster at 256 threads, 3.6 times at 1024.
	 */
	COLOUR_BYTES = 192,
};

static struct lock free_lock;
static struct executor *free_executors;

/* ---- stacks and shared memory as they are ---------------------------------------------- */

/* Only address space: 64 MiB an executor, of which a launch touches a page or two a thread. */
static char *reserve_stacks(void)
{
	void *p = mmap(NULL, (size_t)MAX_THREADS * STACK_BYTES, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		starve("no address space for the stacks of %d threads", MAX_THREADS);
	return p;
}

/* The stack of coroutine c: [*low, *top). */
static void executor_stack(struct executor *e, unsigned c, char **low, char **top)
{
	char *base = e->stacks + (size_t)c * STACK_BYTES;
	size_t colour = (size_t)c * COLOUR_BYTES % (STACK_BYTES / 2);

	/* Where the kernel allows no more mappings, an overflow goes unnoticed: no reason to stop.
	 */
	if (!e->started[c])
		(void)!mprotect(base, GUARD_BYTES, PROT_NONE);
	*low = base + GUARD_BYTES;
	*top = base + STACK_BYTES - colour;
}

size_t executor_stack_bytes(void)
{
	return (size_t)MAX_THREADS * STACK_BYTES;
}

static bool is_behind(const char *address, const char *block, size_t bytes)
{
	uintptr_t end = (uintptr_t)block + bytes, at = (uintptr_t)address;

	return block && at >= end && at < end + 2 * GUARD_BYTES;
}

bool executor_owns_guard(const struct executor *e, const char *address)
{
	bool owns = is_behind(address, e->dynamic, e->dynamic_bytes);

	for (unsigned slot = 0; slot < e->n_shared; slot++) {
		size_t bytes, align;

		shared_slot_get(slot, &bytes, &align);
		owns |= is_behind(address, e->shared[slot], bytes);
	}
	return owns;
}

/* ---- coroutines ------------------------------------------------------------------------ */

void fill_set(const struct executor *e, uint64_t *set, unsigned first)
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

/* ---- whose it is ----------------------------------------------------------------------- */

static struct executor *executor_new(void)
{
	struct executor *e = aligned_alloc(64, (sizeof(*e) + 63) & ~(size_t)63);

	if (!e)
		starve("no memory to run a kernel");
	memset(e, 0, sizeof(*e));
	e->stacks = reserve_stacks();
	e->order = config()->order;
	e->outcome[CPUDEV_AND] = 1;
	return e;
}

/* Coroutine 0 runs on it; the address sanitizer wants to know where it is. */
static void adopt_thread_stack(struct executor *e)
{
	void *bottom = NULL;
	size_t size = 0;
#ifdef CPUDEV_ASAN
	pthread_attr_t attr;

	pthread_getattr_np(pthread_self(), &attr);
	pthread_attr_getstack(&attr, &bottom, &size);
	pthread_attr_destroy(&attr);
#endif
	context_adopt(&e->context[0], bottom, size);
}

/* Faults of kernels have a stack to be explained on (fault.c); sanitizers have their own. */
static void faults_watch(struct executor *e)
{
#ifndef CPUDEV_SANITIZED
	stack_t stack = { .ss_sp = e->signal_stack, .ss_size = sizeof(e->signal_stack) };

	sigaltstack(&stack, NULL);
#endif
	(void)e;
}

static void faults_unwatch(void)
{
#ifndef CPUDEV_SANITIZED
	stack_t none = { .ss_flags = SS_DISABLE };

	sigaltstack(&none, NULL);
#endif
}

static struct executor *executor_get(void)
{
	if (executor)
		return executor;
	lock_acquire(&free_lock);
	executor = free_executors;
	if (executor)
		free_executors = executor->next_free;
	lock_release(&free_lock);
	if (!executor)
		executor = executor_new();
	adopt_thread_stack(executor);
	faults_watch(executor);
	return executor;
}

void executor_release(void)
{
	if (!executor)
		return;
	faults_unwatch();
	lock_acquire(&free_lock);
	executor->next_free = free_executors;
	free_executors = executor;
	lock_release(&free_lock);
	executor = NULL;
}

/* ---- before each launch ---------------------------------------------------------------- */

/* Kept from launch to launch: spares each switch the divisions. */
static void fill_index(struct executor *e, dim3 dim)
{
	unsigned t = 0;

	if (dim.x == e->index_of.x && dim.y == e->index_of.y && dim.z == e->index_of.z)
		return;
	for (unsigned z = 0; z < dim.z; z++)
		for (unsigned y = 0; y < dim.y; y++)
			for (unsigned x = 0; x < dim.x; x++)
				e->index[t++] = (uint3){ x, y, z };
	e->index_of = dim;
}

static void *exact_block(size_t bytes, size_t align)
{
	void *p = NULL;

	if (bytes && config()->strict && pages_serve(bytes)) {
		p = pages_new(bytes, align);
		if (p)
			return p;
	}
	/* Exactly that size, so that the address sanitizer sees the first byte beyond. */
	if (bytes && posix_memalign(&p, align < 16 ? 16 : align, bytes))
		starve("no memory for %zu bytes of shared memory", bytes);
	return p;
}

static void free_dynamic(struct executor *e)
{
	if (config()->strict && pages_serve(e->dynamic_bytes) && e->dynamic)
		pages_free(e->dynamic, e->dynamic_bytes);
	else
		free(e->dynamic);
}

static void prepare_dynamic(struct executor *e, size_t bytes)
{
	if (bytes != e->dynamic_bytes) {
		free_dynamic(e);
		e->dynamic = exact_block(bytes, 16);
		e->dynamic_bytes = bytes;
	}
	cpudev_tls.dynamic = e->dynamic;
}

/*
 * Every static array of the program, as it is not known which of them a kernel uses. Before the
 * first thread runs: memory that one CUDA thread allocates would count as written by it, and
 * the thread sanitizer would report the others.
 */
static void prepare_shared(struct executor *e)
{
	unsigned n = shared_slot_count();

	if (n > e->n_shared) {
		e->shared = realloc(e->shared, n * sizeof(*e->shared));
		if (!e->shared)
			starve("no memory for %u shared arrays", n);
		for (unsigned slot = e->n_shared; slot < n; slot++) {
			size_t bytes, align;

			shared_slot_get(slot, &bytes, &align);
			e->shared[slot] = exact_block(bytes, align);
		}
		e->n_shared = n;
	}
	cpudev_tls.shared = e->shared;
}

/* Creating a fiber orders its creator before it: all exist before the first thread runs. */
static void prepare_fibers(struct executor *e, unsigned n)
{
#ifdef CPUDEV_TSAN
	for (unsigned c = 1; c < n; c++)
		if (!e->context[c].fiber)
			e->context[c].fiber = __tsan_create_fiber(0);
#endif
	(void)e;
	(void)n;
}

struct executor *executor_prepare(struct launch *launch)
{
	struct executor *e = executor_get();

	e->launch = launch;
	e->n_threads = launch->n_threads;
	e->n_words = (launch->n_threads + 63) / 64;
	e->block = e->block_end = 0; /* no chunk taken */
	blockDim = launch->block;
	gridDim = launch->grid;
	fill_index(e, launch->block);
	prepare_dynamic(e, launch->shared_bytes);
	prepare_shared(e);
	prepare_fibers(e, launch->n_threads);
	return e;
}
