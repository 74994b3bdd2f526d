/*
 * program_run.h - one run of a user's program, which does not outlive rift.
 *
 * A guard stands between the two: it is the program's parent, and that of whatever the program
 * leaves behind. What another process sends to rift (common/interrupt.h) goes on to the program.
 * After SIGTERM, SIGINT or SIGHUP it may end by itself for PROGRAM_GRACE_MS; where rift has ended,
 * by SIGKILL say, it gets SIGTERM, and less time. Then it is killed. What it has started ends with
 * it in these cases, and in no other.
 */
#ifndef RIFT_PROFILE_PROGRAM_RUN_H
#define RIFT_PROFILE_PROGRAM_RUN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { PROGRAM_GRACE_MS = 3000, PROGRAM_ORPHAN_MS = 1000 };

struct program_run {
	pid_t pid;
	int status;	 /* as waitpid() has it */
	int64_t wall_ns; /* from its start to its end */
};

/*
 * The program has the environment and the signals that rift was started with. Returns 0, or a
 * negative errno after one line: it cannot be started; -EINTR without one after a signal, *out is
 * filled then, too.
 */
int program_run(char *const *argv, bool stdout_to_stderr, struct program_run *out);

#endif
