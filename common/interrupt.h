/*
 * interrupt.h - an orderly end on Ctrl-C (SIGINT), SIGTERM and SIGHUP.
 *
 * The first of them is only remembered: whatever takes long looks at interrupted() now and then
 * and returns -EINTR without a line of its own; what was begun is torn down, and rift exits with
 * 75. A second one ends the process at once, for what hangs: it leaves no temporary file either
 * (common/temporary.h). `timeout` sends each twice, to its child and to their group: the same
 * one again within INTERRUPT_SAME_MS is no second one.
 */
#ifndef RIFT_INTERRUPT_H
#define RIFT_INTERRUPT_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { INTERRUPT_GRACE_S = 1, INTERRUPT_SAME_MS = 100 };

/*
 * From now on. Signals that were ignored stay so (nohup). Calls that wait, reading a pipe say,
 * return EINTR; a file beyond the limit for its size is an error of write(), not a signal.
 */
void interrupt_install(void);

/*
 * A process that reports nothing after a signal has nothing to wait for either: the block in hand
 * may be seconds of kernels, which cannot be called back. One that has not ended so many seconds
 * after the first signal ends then, with exit code 75 and `line`, "" for none, which must stay.
 */
void interrupt_end_within(int seconds, const char *line);

/*
 * While somebody else's program runs, the number of each signal that another process has sent goes
 * to this file as a byte: who reads it passes it on. Those of a terminal are not passed on, as the
 * program gets them too. SIGUSR1 and SIGUSR2, which otherwise end a process, are then the program's
 * alone. -1: from now on to none.
 */
void interrupt_pass_on(int fd);

/* Has a signal come since interrupt_install()? A load: cheap enough for every turn of a loop. */
bool interrupted(void);

#ifdef __cplusplus
}
#endif
#endif
