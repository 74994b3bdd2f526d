/* report.c - what is said about a kernel that cannot go on, before the program ends. */
#include "common/cpu/kernel/block.h"

#include <stdio.h>
#include <unistd.h>

static const char *const op_names[] = {
	[CPUDEV_SHUFFLE] = "a shuffle",
	[CPUDEV_BALLOT] = "a vote",
	[CPUDEV_SYNCWARP] = "__syncwarp",
	[CPUDEV_MATCH] = "a match",
};

enum { WHERE_BYTES = 160 };

/* "thread (1,0,0) in a vote with mask 0x000000ff" */
static void describe_thread(const struct executor *e, unsigned t, char where[WHERE_BYTES])
{
	const struct warp *w = &e->warp[t / WARP_THREADS];
	uint64_t meeting = w->meeting[t % WARP_THREADS];
	int n = snprintf(where, WHERE_BYTES, "thread (%u,%u,%u)", e->index[t].x, e->index[t].y,
			 e->index[t].z);

	if (in_set(e->at_barrier, t))
		snprintf(where + n, WHERE_BYTES - (size_t)n, " at __syncthreads");
	else
		snprintf(where + n, WHERE_BYTES - (size_t)n, " in %s with mask 0x%08x",
			 op_names[meeting >> 32], (unsigned)meeting);
}

/* "kernel scan, block (3,0,0)" */
static const char *describe_block(const struct executor *e, char where[WHERE_BYTES])
{
	snprintf(where, WHERE_BYTES, "kernel %.90s, block (%u,%u,%u)", e->launch->kernel->name,
		 blockIdx.x, blockIdx.y, blockIdx.z);
	return where;
}

static bool in_warp_operation(const struct executor *e, unsigned t)
{
	return e->warp[t / WARP_THREADS].waiting >> (t % WARP_THREADS) & 1;
}

/* Downwards, so that what is left is the first thread of each kind. */
void report_deadlock(struct executor *e)
{
	char block[WHERE_BYTES], at_barrier[WHERE_BYTES] = "none", in_warp[WHERE_BYTES] = "none";
	unsigned n_in_warp = 0;

	for (unsigned t = e->n_threads; t-- > 0;) {
		if (in_set(e->at_barrier, t)) {
			describe_thread(e, t, at_barrier);
		} else if (in_warp_operation(e, t)) {
			describe_thread(e, t, in_warp);
			n_in_warp++;
		}
	}
	fatal("deadlock in %s: of %u threads alive %u wait at a barrier (first: %s) and %u in "
	      "warp operations (first: %s)",
	      describe_block(e, block), e->n_alive, e->n_at_barrier, at_barrier, n_in_warp,
	      in_warp);
}

void report_mismatch(struct executor *e, unsigned a, unsigned b)
{
	char block[WHERE_BYTES], one[WHERE_BYTES], other[WHERE_BYTES];

	describe_thread(e, a, one);
	describe_thread(e, b, other);
	fatal("lanes of a warp meet in different operations in %s: %s, %s",
	      describe_block(e, block), one, other);
}

void report_outside_mask(struct executor *e, unsigned thread, uint32_t mask)
{
	char block[WHERE_BYTES];

	fatal("%s, thread (%u,%u,%u): is lane %u, which its own mask 0x%08x does not name",
	      describe_block(e, block), e->index[thread].x, e->index[thread].y, e->index[thread].z,
	      thread % WARP_THREADS, mask);
}

/* The running thread knows its indices itself. By one write: the streams may be in any state. */
void report_thread(const struct executor *e, const char *what)
{
	char line[512];
	int n = snprintf(line, sizeof(line),
			 "rift: CPU device: kernel %.90s, block (%u,%u,%u), thread (%u,%u,%u): "
			 "%s\n",
			 e->launch->kernel->name, blockIdx.x, blockIdx.y, blockIdx.z, threadIdx.x,
			 threadIdx.y, threadIdx.z, what);

	(void)!write(STDERR_FILENO, line, (size_t)n);
}
