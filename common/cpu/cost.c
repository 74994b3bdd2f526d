/*
 * cost.c - known costs added to calls (RIFT_CPU_LAUNCH_NS and its kin, config.c): what a slower
 * platform would do to the host, and the truth that measurements are compared with.
 */
#include "runtime.h"

#include <stdatomic.h>

/* The clock alone, no pause and no yield: what is added must be what was asked for. */
static void spend(int64_t ns)
{
	int64_t end = clock_ns() + ns;

	while (clock_ns() < end)
		;
}

static atomic_int_least64_t pinned_bytes, pinned_count; /* that are paid for */

void pinned_changes(int64_t bytes, int count)
{
	if (count < 0 && config()->pinned_leak)
		return;
	atomic_fetch_add(&pinned_bytes, bytes);
	atomic_fetch_add(&pinned_count, count);
}

/* A layer that goes through all pinned memory at each synchronize. */
static int64_t of_pinned_ns(void)
{
	const struct config *c = config();

	if (!c->per_pinned_mib_ns && !c->per_pinned_ns)
		return 0;
	return (int64_t)((double)pinned_bytes / (1 << 20) * (double)c->per_pinned_mib_ns) +
	       pinned_count * c->per_pinned_ns;
}

cudaError_t charge(enum cost cost, cudaError_t error)
{
	int64_t ns = config()->cost_ns[cost] + (cost == COST_SYNC ? of_pinned_ns() : 0);

	if (ns && !error)
		spend(ns);
	return error;
}
