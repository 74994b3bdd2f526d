/* textfile.h - a whole file, or what a pipe gives, in memory. */
#ifndef RIFT_TEXTFILE_H
#define RIFT_TEXTFILE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Reads a file or a pipe (common/input.h) to its end; where it does not begin with `begin`, "" for
 * any, no more than a piece of it, for the caller to say so. *text is ended by a zero that *length
 * does not count, and is the caller's to free, NULL or not, also after a failure. Returns 0;
 * without a line -EFBIG above `most` bytes, -EINTR after Ctrl-C (common/interrupt.h), -ENOMEM where
 * the host has no memory to spare, or what input_reason() has words for.
 */
int textfile_read(const char *path, const char *begin, size_t most, char **text, size_t *length);

#ifdef __cplusplus
}
#endif
#endif
