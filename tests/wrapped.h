/* wrapped.h - programs run under the logging wrapper (wrapper.c), and what it logged. */
#ifndef RIFT_TESTS_WRAPPED_H
#define RIFT_TESTS_WRAPPED_H

/* The log of one run, and where its reader is. */
struct log {
	int n, at;
	char *text;
	const char **line; /* n, then "" */
};

/*
 * Runs a shell command with the wrapper of this test program's folder preloaded. It must succeed
 * and call the runtime. Returns its output as shell() does (capture.h), and the log, for
 * log_release() to free.
 */
const char *run_wrapped(struct log *log, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

void log_release(struct log *log);

#endif
