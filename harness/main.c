/* main.c - what holds for every command: signals, streams that are open, a stack, a whole output.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/check.h"
#include "common/inherited.h"
#include "common/interrupt.h"
#include "harness/base/command.h"
#include "harness/cmd/commands.h"
#include "harness/measure/contract.h"
#include "workloads/workload.h"

enum { STACK_BYTES_LEAST = 256 << 10 }; /* four times what any command was seen to need */

/*
 * A file that is opened later must not become one of these three, as a worker's job would become
 * stdin. A closed stdout stays one that cannot be written, so that lost results are an error.
 */
static int open_standard_streams(void)
{
	static const int flags[] = { O_RDONLY, O_RDONLY, O_RDWR };

	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", flags[fd]) != fd)
			return complain(errno,
					"stdin, stdout or stderr is closed, and /dev/null "
					"cannot be opened in its place: %s",
					strerror(errno));
	return 0;
}

/* A full disk must not look like a result. */
static int close_output(int code)
{
	bool failed = ferror(stdout);

	errno = 0;
	failed |= fclose(stdout) != 0;
	if (!failed)
		return code;
	/* what an earlier write failed of may be forgotten */
	complain(EIO, "cannot write the output: %s",
		 errno ? strerror(errno) : "writing to stdout failed");
	return interrupted() ? RIFT_INTERRUPTED : RIFT_USAGE;
}

/* A stack that overflows would end rift by a signal, without a line. */
static int check_stack(void)
{
	struct rlimit stack;

	if (getrlimit(RLIMIT_STACK, &stack) || stack.rlim_cur == RLIM_INFINITY ||
	    stack.rlim_cur >= STACK_BYTES_LEAST)
		return 0;
	return complain(EINVAL, "a stack of %ld KiB is too small: ulimit -s %d or more",
			(long)(stack.rlim_cur >> 10), STACK_BYTES_LEAST >> 10);
}

int main(int argc, char **argv)
{
	inherited_settle();
	if (open_standard_streams() || check_stack())
		return RIFT_USAGE;
	return close_output(contract_check(workloads) ? RIFT_USAGE : commands_main(argc, argv));
}
