/*
 * test_myocyte_memory.c - cells for which the device has memory by its own account, and yet gives
 * none: cudaMalloc is taken over here.
 */
#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <dlfcn.h>
#include <errno.h>

#include "workloads/myocyte/test_cells.h"

TestSuite(small_myocyte_memory, .timeout = 60);

static int calls_left = -1; /* until one fails; negative: none does */
static int taken;	    /* allocations not yet freed */

cudaError_t cudaMalloc(void **at, size_t bytes)
{
	cudaError_t (*real)(void **, size_t) =
		(cudaError_t(*)(void **, size_t))dlsym(RTLD_NEXT, "cudaMalloc");

	if (calls_left >= 0 && calls_left-- == 0)
		return cudaErrorMemoryAllocation;
	taken++;
	return real(at, bytes);
}

cudaError_t cudaFree(void *at)
{
	cudaError_t (*real)(void *) = (cudaError_t(*)(void *))dlsym(RTLD_NEXT, "cudaFree");

	taken -= at != NULL;
	return real(at);
}

/* The first, the last and one between of the 9 arrays. */
Test(small_myocyte_memory, a_refused_piece_is_told_as_such)
{
	static const int failing[] = { 0, 4, 8 };
	const char *text;

	need_device();
	cr_redirect_stderr();
	for (int i = 0; i < 3; i++) {
		struct myocyte_opts o = default_opts();
		struct myocyte_state s = { 0 };

		o.cells = 1000;
		calls_left = failing[i];
		cr_assert(workload_myocyte.setup(&o, &s) == -ENOMEM, "call %d", failing[i]);
		cr_assert(calls_left == -1, "call %d did not come", failing[i]);
		workload_myocyte.teardown(&s);
		cr_assert(taken == 0, "call %d: %d arrays are left", failing[i], taken);
	}
	text = captured_stderr();
	for (int i = 0; i < 3; i++) {
		const char *line = line_of(text, i);

		cr_assert(strstr(line, "cells=1000: the device refuses ") &&
				  strstr(line, "although it says"),
			  "%s", line);
	}
	cr_assert(strstr(line_of(text, 0), "refuses 0.7 MiB"), "91000 words: %s", line_of(text, 0));
	cr_assert(!*line_of(text, 3), "one line each: %s", text);
}
