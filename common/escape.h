/*
 * escape.h - text that is not rift's own, fit for a terminal: a name, or a string out of a record,
 * may hold sequences that move the cursor, change colours or type into a shell.
 */
#ifndef RIFT_ESCAPE_H
#define RIFT_ESCAPE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes that a byte of text becomes at most. */
enum { ESCAPE_MOST = 4 };

/*
 * Appends n bytes of text to out, a buffer of ESCAPE_MOST times as many: control characters
 * as \n, \t, \x1b or, of the second block of Unicode (U+0080 to U+009F), \u009b; bytes of that
 * range that are no UTF-8 as \x9b. All else stays as it is. Returns the end; writes no '\0'.
 */
char *escape_controls(char *out, const char *text, size_t n);

#ifdef __cplusplus
}
#endif
#endif
