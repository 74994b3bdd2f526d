/*
 * check.h - how rift reports what went wrong.
 *
 * Two kinds of failure, two ways out:
 *   bad input        complain(): one line for the user, a negative errno for the caller
 *   broken promise   CHECK() and CUDA(): one line for the developer, then abort()
 * abort(), never exit(): a test runner counts it as a crash, and a debugger stops there.
 *
 * A third, where neither is to blame: what CHECK() misses is memory (errno is ENOMEM), as under
 * `ulimit -v`. That ends the process by quick_exit(NO_MEMORY), after one line for the user.
 */
#ifndef RIFT_CHECK_H
#define RIFT_CHECK_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { NO_MEMORY = 3 }; /* exit code, as for any other limit that is the user's to lift */

/*
 * Prints "rift: MESSAGE" and a newline to stderr as one write, and returns -err, so that a
 * hook can end with `return complain(EINVAL, "cells=%ld: ...", n)`. Say what, where, and what
 * would be right.
 */
int complain(int err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/*
 * While a thread asks for silence, its complaints print nothing: what is only tried may fail, and
 * who tries tells of it another way.
 */
void complain_silence(bool silent);

/*
 * Prints "FILE:LINE: FUNC: EXPR failed: MESSAGE" to stderr, runs the hook, aborts; or, where errno
 * is ENOMEM, ends the process as said above.
 */
__attribute__((noreturn, cold, format(printf, 5, 6))) void
die_at(const char *file, int line, const char *func, const char *expr, const char *fmt, ...);

/*
 * Sets what die_at calls with its whole line before it aborts; NULL for nothing. The hook
 * must not return to the failed code; a second failure inside it aborts at once.
 */
void die_hook(void (*hook)(const char *line));

/* The condition must hold; the message says what was found. Evaluates cond once. */
#define CHECK(cond, ...)                                                                           \
	do {                                                                                       \
		if (!(cond))                                                                       \
			die_at(__FILE__, __LINE__, __func__, #cond, __VA_ARGS__);                  \
	} while (0)

#ifdef __cplusplus
}
#endif
#endif
