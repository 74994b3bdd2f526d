/*
 * executor.c - what a thread needs before it can run blocks: stacks, shared memory, the table of
 * thread indices. Kept from launch to launch, and handed on when the thread ends.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "common/cpu/kernel/block.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

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

/* Only address space: 64 MiB an executor, of which a launch touches a page or two a thread. */
static char *reserve_stacks(void)
{
	void *p = mmap(NULL, (size_t)MAX_THREADS * STACK_BYTES, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		starve("no address space for the stacks of %d threads", MAX_THREADS);
	return p;
}

void executor_stack(struct executor *e, unsigned c, char **low, char **top)
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

/* ---- before each launch ----------------------------------------------------------------- */

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
