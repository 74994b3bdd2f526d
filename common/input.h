/* input.h - opens a file that somebody named, for reading, and never waits for it. */
#ifndef RIFT_INPUT_H
#define RIFT_INPUT_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A regular file or, where `pipes`, what somebody writes into a pipe. Folders, devices and sockets
 * are refused: some never end, and to open others is to act on them. A pipe that nobody opens
 * for writing within a second is empty, not waited for; reading one that is written to waits, and
 * ends with EINTR on Ctrl-C (common/interrupt.h).
 *
 * Returns a descriptor, for the caller to close, or without a line a negative errno.
 */
int input_open(const char *path, bool pipes);

/* What stands in the way, in words: input_open()'s negative errno, or any other. */
const char *input_reason(int err);

#ifdef __cplusplus
}
#endif
#endif
