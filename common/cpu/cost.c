/*
 * cost.c - known costs added to calls (RIFT_CPU_LAUNCH_NS and its kin, config.c): what a slower
 * platform would do to the host, and the truth that measurements are compared with.
 */
#include "runtime.h"

/* The clock alone, no pause and no yield: what is added must be what was asked for. */
static void spend(int64_t ns)
{
	int64_t end = clock_ns() + ns;

	while (clock_ns() < end)
		;
}

cudaError_t charge(enum cost cost, cudaError_t error)
{
	int64_t ns = config()->cost_ns[cost];

	if (ns && !error)
		spend(ns);
	return error;
}
