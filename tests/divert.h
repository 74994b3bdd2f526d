/* divert.h - what code under test writes to stderr, as often as a test likes. */
#ifndef RIFT_TESTS_DIVERT_H
#define RIFT_TESTS_DIVERT_H

/* From now on stderr goes to a temporary file. */
void divert_stderr(void);

/* The same, where stderr is a terminal; no more than 4 KiB may be written. */
void divert_terminal(void);

/*
 * Puts stderr back and returns what was written since one of these: at most 8 KiB, static
 * memory, until the next call.
 */
const char *diverted_stderr(void);

/* Is it "rift: ..." and exactly one line? */
int is_one_complaint(const char *text);

/*
 * Whether the text tells this: what matters of a sentence - options, numbers, names, files -
 * without the words around, for which '*' stands: "--margin=0*2". Wording is held by
 * tests/test_golden.c.
 */
int tells(const char *text, const char *what);

#endif
