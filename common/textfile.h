/* textfile.h - a whole file, or what a pipe gives, in memory. */
#ifndef RIFT_TEXTFILE_H
#define RIFT_TEXTFILE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Reads it to the end. *text is ended by a zero that *length does not count, and is the caller's
 * to free, NULL or not, also after a failure. Returns 0; without a line -EFBIG above `most` bytes,
 * -EINTR after Ctrl-C (common/interrupt.h), -ENOMEM, or an errno of open and read.
 */
int textfile_read(const char *path, size_t most, char **text, size_t *length);

#ifdef __cplusplus
}
#endif
#endif
