/*
 * inherited.h - what a process inherits and rift cannot work with: where SIGCHLD is ignored nobody
 * learns how a child has ended, where signals are blocked nothing ends rift but SIGKILL, and where
 * the umask takes the owner's rights nobody can read what was written.
 *
 * Rift and its own processes have none of it. A user's command gets back what rift was started
 * with, as if rift were not there.
 */
#ifndef RIFT_INHERITED_H
#define RIFT_INHERITED_H

/*
 * First of all: no signal is blocked, a child's end is told, an alarm rings, and a file that grows
 * over a limit is an error of write(), which is reported; who makes a file may read and write it.
 */
void inherited_settle(void);

/* In the process that becomes a user's command, before it does; elsewhere nothing was settled. */
void inherited_restore(void);

#endif
