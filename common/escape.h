/*
 * escape.h - text that is not rift's own, fit for where it goes: one function for each such place.
 * A name, or a string out of a record, may hold sequences that move the cursor, change colours,
 * type into a shell or end a quoted string. harness/base/json.h has the one for JSON.
 */
#ifndef RIFT_ESCAPE_H
#define RIFT_ESCAPE_H

#include <stddef.h>
#include <stdio.h>

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

/*
 * Writes the text as a string of gnuplot's, quotes and all. Between single quotes gnuplot takes
 * everything as it is, but two of them side by side mean one quote here and an empty string there:
 * each quote of the text is a string of its own. Controls and what is no UTF-8 become '?'.
 */
void escape_gnuplot(FILE *out, const char *text);

/* Writes the text as one word for a shell, in quotes. */
void escape_shell(FILE *out, const char *text);

/*
 * Writes the text into HTML, between tags or into an attribute in double or single quotes: nothing
 * of it is a tag, an entity or the end of the attribute. What a reader would not see, or would see
 * in another order, is shown as an escape: controls as above, characters that turn the direction of
 * writing or have no width as \u202e, bytes that are no UTF-8 as \xff.
 */
void escape_html(FILE *out, const char *text);

/*
 * The same for Markdown as GitHub and GitLab read it, on one line and in a cell of a table: nothing
 * of it is markup, a tag, a link or the name of a person or an issue.
 */
void escape_markdown(FILE *out, const char *text);

/* For a block of code in Markdown: what is not seen as above, and all else as it is. */
void escape_unseen(FILE *out, const char *text);

#ifdef __cplusplus
}
#endif
#endif
