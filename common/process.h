/* process.h - what the kernel of the system says of another process, and a process's children. */
#ifndef RIFT_PROCESS_H
#define RIFT_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Was it started with this variable and value? False too where its environment cannot be read. */
bool process_has_variable(pid_t pid, const char *name, const char *value);

/* What ps and pgrep show of this one in place of its command line, which a fork has from its
 * parent. Cut to the room that the command line took, whose words are no more. */
void process_call(const char *text);

/*
 * A file that poll() finds ready once the process has ended, or -1 with errno. Where the kernel has
 * no pidfd_open() (gVisor, Linux before 5.3) it may come 10 ms late.
 */
int process_end_fd(pid_t pid);

/*
 * All of this process's children, and so whatever they leave behind where it is their subreaper
 * (PR_SET_CHILD_SUBREAPER): SIGTERM, and SIGKILL for those that are there wait_ms later.
 */
void process_end_children(int wait_ms);

/* Waits for all of them, for wait_ms at most. Have all ended? */
bool process_await_children(int wait_ms);

/* SIGKILL at once, until there is none: whose parent is killed becomes a child. */
void process_kill_children(void);

#ifdef __cplusplus
}
#endif
#endif
