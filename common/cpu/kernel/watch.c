/* watch.c - launches as tests see them, and spoil them (include/cpudev_watch.h). */
#include "common/cpu/include/cpudev_watch.h"

#include <time.h>

#include "common/cpu/base/base.h"

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
