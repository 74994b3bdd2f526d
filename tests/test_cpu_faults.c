/*
 * test_cpu_faults.c - what the CPU device says about kernels that cannot go on. They run in the
 * program of seeded bugs (tests/bugs), as they end it.
 */
#include "tests/capture.h"

#include <criterion/criterion.h>
#include <libgen.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

TestSuite(small_cpu_faults, .timeout = 60);

/* Runs one; what it said, on either stream. Checks that it ended by the signal. */
static const char *dies(int signal, const char *settings, const char *name)
{
	char self[4096];
	const char *said;
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	cr_assert(n > 0, "no /proc");
	self[n] = '\0';
	int status = shell(&said, "%s exec %s/../bugs %s 2>&1", settings, dirname(self), name);

	cr_assert(status == 128 + signal, "status %d: %s", status, said);
	return said;
}

static void says(const char *said, const char *what)
{
	cr_assert(strstr(said, what), "\"%s\" is not in: %s", what, said);
}

/* ---- waiting for ever ------------------------------------------------------------------- */

Test(small_cpu_faults, deadlock_is_reported)
{
	const char *said = dies(SIGABRT, "", "deadlock");

	says(said, "deadlock in kernel half_at_barrier, block (");
	says(said, "64 threads alive");
	says(said, "32 wait at a barrier (first: thread (0,0,0) at __syncthreads)");
	says(said, "32 in warp operations (first: thread (16,0,0) in a vote with mask 0xffffffff)");
}

Test(small_cpu_faults, different_warp_operations_are_reported)
{
	const char *said = dies(SIGABRT, "", "mismatch");

	says(said, "different operations in kernel vote_or_shuffle, block (");
	says(said, "thread (0,0,0) in a vote with mask 0xffffffff");
	says(said, "thread (16,0,0) in a shuffle with mask 0xffffffff");
}

Test(small_cpu_faults, lane_outside_its_mask_is_reported)
{
	const char *said = dies(SIGABRT, "", "outside_mask");

	says(said, "kernel half_mask, block (");
	says(said, "thread (16,0,0): is lane 16");
}
