/* progress.h - one changing line on stderr, where that is a terminal; else nothing. */
#ifndef RIFT_BASE_PROGRESS_H
#define RIFT_BASE_PROGRESS_H

#include <stdbool.h>

/* quiet: never show anything. */
void progress_init(bool quiet);

/* Replaces the line. */
void progress(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Removes the line; before anything else is printed. */
void progress_clear(void);

#endif
