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

enum {
	PROGRAM_GRACE_MS = 3000,
	PROGRAM_ORPHAN_MS = 1000,
	PROGRAM_SETTLE_MS = 2500, /* a layer's helpers end by themselves within 2 s */
	PROGRAM_LOOK_MS = 10
};

struct program {
	char *const *argv;
	int output, error;   /* what its stdout and stderr are; -1: rift's own */
	int64_t patience_ns; /* one that runs for longer is ended; 0: never */
	/* In the process that is to become the program: becomes it, or returns an exit status after
	 * one line. NULL: execvp(). */
	int (*become)(void *of, char *const *argv);
	/* Called all PROGRAM_LOOK_MS while it runs; or NULL. */
	void (*meanwhile)(void *of);
	void *of;
	/* The next run must not find anything of this one: what it has left behind is waited for,
	 * for PROGRAM_SETTLE_MS, and then ended. */
	bool apart;
};

struct program_run {
	pid_t pid;
	int status;	  /* as waitpid() has it */
	int64_t wall_ns;  /* from its start to its end */
	int64_t begun_ns; /* of CLOCK_MONOTONIC */
	/* Of it and of those of its children that it waited for; the peak of the largest of them,
	 * which is never less than rift's own. */
	int64_t user_ns, system_ns, peak_bytes;
	bool late; /* it ran out of patience */
	bool left; /* something of it was ended, see apart */
};

/*
 * The program has the environment and the signals that rift was started with, and reads the same
 * standard input as each run of it before, a file from where it was then. Returns 0, or a negative
 * errno after one line: it cannot be started; -EINTR without one after a signal, *out is filled
 * then, too.
 */
int program_run(const struct program *program, struct program_run *out);

#endif
