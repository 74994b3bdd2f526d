/*
 * kernel.c - the registry of kernels and of their static shared arrays, and launches as tests see
 * them, and spoil them (include/cpudev_watch.h).
 */
#include "common/cpu/kernel/block.h"

#include <time.h>

#include "common/cpu/include/cpudev_watch.h"

enum { BUCKETS = 1024, SHARED_SLOTS_MAX = 4096 };

/* Lists that only grow, before main() or when a library is loaded; read without a lock. */
static _Atomic(struct cpudev_kernel *) buckets[BUCKETS];
static struct lock registry_lock;

static struct {
	size_t bytes, align;
} shared_slots[SHARED_SLOTS_MAX];
static atomic_uint n_shared_slots;

static unsigned bucket_of(const void *function)
{
	return (unsigned)((uintptr_t)function >> 4) * 2654435761u >> 22; /* Knuth, TAOCP 6.4 */
}

struct cpudev_kernel *kernel_find(const void *function)
{
	struct cpudev_kernel *k =
		atomic_load_explicit(&buckets[bucket_of(function)], memory_order_acquire);

	while (k && k->function != function)
		k = k->next;
	return k;
}

void cpudev_register(struct cpudev_kernel *kernel)
{
	_Atomic(struct cpudev_kernel *) *bucket = &buckets[bucket_of(kernel->function)];

	lock_acquire(&registry_lock);
	/* A template instantiated in two object files registers twice. */
	if (!kernel_find(kernel->function)) {
		kernel->next = *bucket;
		atomic_store_explicit(bucket, kernel, memory_order_release);
	}
	lock_release(&registry_lock);
}

/* Called by initialisers, so running out of slots ends the program before main(). */
unsigned cpudev_shared_slot(size_t bytes, size_t align)
{
	lock_acquire(&registry_lock);
	unsigned slot = n_shared_slots;

	if (slot == SHARED_SLOTS_MAX)
		fatal("more than %d SHARED_ARRAYs in one program", SHARED_SLOTS_MAX);
	shared_slots[slot].bytes = bytes;
	shared_slots[slot].align = align;
	atomic_store_explicit(&n_shared_slots, slot + 1, memory_order_release);
	lock_release(&registry_lock);
	return slot;
}

unsigned shared_slot_count(void)
{
	return atomic_load_explicit(&n_shared_slots, memory_order_acquire);
}

void shared_slot_get(unsigned slot, size_t *bytes, size_t *align)
{
	*bytes = shared_slots[slot].bytes;
	*align = shared_slots[slot].align;
}

/* ---- what kernels ask ------------------------------------------------------------------ */

void cpudev_fence(void)
{
	atomic_thread_fence(memory_order_seq_cst);
}

int64_t cpudev_clock(void)
{
	return clock_ns();
}

/* ---- what tests see -------------------------------------------------------------------- */

atomic_bool launches_watched;

static atomic_uint_least64_t n_launches, n_blocks, spoiled;
static atomic_int_least64_t cpu_ns;
static atomic_uint spoiled_times;
static _Atomic(const void *) function;

int64_t thread_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

unsigned watch_launch(const struct launch *l)
{
	unsigned times = 1;

	if (atomic_fetch_add(&n_launches, 1) == atomic_load(&spoiled))
		times = atomic_load(&spoiled_times);
	atomic_fetch_add(&n_blocks, times * l->n_blocks);
	atomic_store(&function, l->kernel->function);
	return times;
}

void watch_time(int64_t ns)
{
	atomic_fetch_add(&cpu_ns, ns);
}

void cpudev_watch(void)
{
	atomic_store(&n_launches, 0);
	atomic_store(&n_blocks, 0);
	atomic_store(&cpu_ns, 0);
	atomic_store(&function, NULL);
	atomic_store(&spoiled, UINT64_MAX);
	atomic_store(&launches_watched, true);
}

void cpudev_watch_end(void)
{
	atomic_store(&launches_watched, false);
}

struct cpudev_work cpudev_watched(void)
{
	return (struct cpudev_work){ atomic_load(&n_launches), atomic_load(&n_blocks),
				     atomic_load(&cpu_ns), atomic_load(&function) };
}

void cpudev_spoil_launch(uint64_t n, unsigned times)
{
	atomic_store(&spoiled_times, times);
	atomic_store(&spoiled, n);
}

struct cpudev_held cpudev_held(void)
{
	return (struct cpudev_held){
		.device = allocation_count(cudaMemoryTypeDevice, OWNER_RUNTIME),
		.pinned = allocation_count(cudaMemoryTypeHost, OWNER_RUNTIME),
		.registered = allocation_count(cudaMemoryTypeHost, OWNER_HOST),
		.streams = handle_count(HANDLE_STREAM),
		.events = handle_count(HANDLE_EVENT),
		.graphs = handle_count(HANDLE_GRAPH),
		.execs = handle_count(HANDLE_EXEC),
	};
}
