/* capture.h - what tests read back: their own stderr, and the output of commands. */
#ifndef RIFT_TESTS_CAPTURE_H
#define RIFT_TESTS_CAPTURE_H

/*
 * What this test wrote to stderr since cr_redirect_stderr(), at most 8 KiB, one call a test.
 * Static memory.
 */
const char *captured_stderr(void);

/*
 * Runs a shell command from the folder that the tests were started in and returns its exit
 * status (128 + signal when killed). *out, where not NULL, points to its output, stderr
 * included unless the command redirects it: static memory, at most 256 KiB, until the next call.
 */
int shell(const char **out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* NAME in the folder tests/ of the build, where the libraries are that tests load. Static memory.
 */
const char *beside_tests(const char *name);

#endif
