/*
 * cost.c - known costs added to calls (RIFT_CPU_LAUNCH_NS and its kin, config.c): what a slower
 * platform would do to the host, and the truth that measurements are compared with.
 */
#include "common/cpu/base/base.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

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

/*
 * A device that others slow by their mere presence: who launches, locks a byte of a file, which the
 * kernel unlocks when the process ends.
 */
static int presence = -1;

static void be_present(void)
{
	const char *folder = getenv("TMPDIR");
	struct flock mine = { .l_type = F_RDLCK, .l_start = getpid(), .l_len = 1 };
	char path[4200];

	snprintf(path, sizeof(path), "%s/rift-cpu-present-%d", folder && *folder ? folder : "/tmp",
		 (int)getuid());
	presence = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (presence < 0 || fcntl(presence, F_OFD_SETLK, &mine)) {
		fprintf(stderr, "rift: CPU device: cannot lock %s\n", path);
		exit(3);
	}
}

static bool others_are_present(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct flock any = { .l_type = F_WRLCK };

	pthread_once(&once, be_present);
	return !fcntl(presence, F_OFD_GETLK, &any) && any.l_type != F_UNLCK;
}

static int64_t of_others_ns(void)
{
	int64_t ns = config()->beside_ns;

	return ns && others_are_present() ? ns : 0;
}

cudaError_t charge(enum cost cost, cudaError_t error)
{
	int64_t ns = config()->cost_ns[cost] + (cost == COST_SYNC     ? of_pinned_ns()
						: cost == COST_LAUNCH ? of_others_ns()
								      : 0);

	if (ns && !error)
		spend(ns);
	return error;
}
