/*
 * temporary.h - files that do not outlive the process: removed also when a signal ends it
 * (common/interrupt.h). Only SIGKILL, a crash and a power cut leave them.
 */
#ifndef RIFT_TEMPORARY_H
#define RIFT_TEMPORARY_H

#ifdef __cplusplus
extern "C" {
#endif

enum { TEMPORARY_MAX = 8 }; /* at a time */

/*
 * Notes a file that has just been created, and forgets it once it has been renamed or removed.
 * One thread at a time. The path is copied; relative ones mean the folder that rift was started in.
 */
void temporary_add(const char *path);
void temporary_forget(const char *path);

/* Removes them all. Safe in a signal handler, on any thread. */
void temporary_remove_all(void);

#ifdef __cplusplus
}
#endif
#endif
