/*
 * golden.h - what command lines of rift print, byte for byte, against
 * tests/golden/outputs/NAME.txt. UPDATE_GOLDEN=1 writes the file anew (make golden).
 */
#ifndef RIFT_TESTS_GOLDEN_H
#define RIFT_TESTS_GOLDEN_H

#include <stdbool.h>

/*
 * Shell commands, as figures_folder_run() has them. Those that begin with ':' prepare others.
 * `chart_data FOLDER` prints what data files and scripts of charts hold, and `rounded` what it
 * reads, both with six digits of each number.
 */
struct output {
	const char *name;
	const char *const *commands; /* ends with NULL */
};

#define COMMANDS(...)                                                                              \
	(const char *const[])                                                                      \
	{                                                                                          \
		__VA_ARGS__, NULL                                                                  \
	}

/* All of it succeeds (exit codes 0 to 2), or else is refused with a line each. */
void golden(const struct output *o, bool refused);

#endif
