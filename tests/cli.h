/* cli.h - what tests of the command line share: the real binary, and a light workload. */
#ifndef RIFT_TESTS_CLI_H
#define RIFT_TESTS_CLI_H

#include <jansson.h>

enum stream { OUT, ERR };

/* The binary: $RIFT_BIN, else beside or above this test program. */
const char *rift(void);

/* rift with these arguments through the shell: its exit code, and one of its outputs. */
int run_rift(enum stream which, const char **text, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* The same with both outputs, of one run. */
int run_rift_once(const char **out, const char **err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Must be refused: this exit code, nothing on stdout, one line on stderr that tells `says`
 * (tests/divert.h). */
void refused(int code, const char *says, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* What follows a command that must be refused with exit code 3, and what the line tells. */
struct wrong_args {
	const char *args, *says;
};

#define ROWS_REFUSED(command, rows) rows_refused(command, rows, sizeof(rows) / sizeof(*(rows)))
void rows_refused(const char *command, const struct wrong_args *rows, size_t n);

/* The same of each of these words, which the line tells again: "n=0 k=many". */
void words_refused(const char *command, const char *words);

/* Must succeed: exit 0, nothing on stderr, every one of `want` (ends with NULL) is told on
 * stdout. */
void says(const char *args, const char *const *want);

/* rift's stdout as JSON; exit code 0. Kept until the test ends. */
const json_t *rift_json(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* The lightest workload's name, and its row of `rift list --json` that makes kernels larger. */
const char *name(void);
const json_t *axis(void);

/* A string member, "" where it is missing or null. */
const char *get_text(const json_t *object, const char *key);

/* For programs that libraries are preloaded into: the address sanitizer would want to be first. */
void let_sanitizer_come_second(void);

/* Skips the test where there is no device. */
void need_device(void);

#endif
