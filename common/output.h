/*
 * output.h - a file that appears whole or not at all.
 *
 * Written as PATH.PID.part beside its final place, renamed when complete. Whatever is at PATH
 * before stays until then, and two processes do not mix. Where PATH is a symbolic link, both are
 * beside the file that it leads to. A file that is replaced leaves its mode to the new one, but
 * not its other hard links. The part goes when the process does (common/temporary.h).
 */
#ifndef RIFT_OUTPUT_H
#define RIFT_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

struct output {
	char *path, *part; /* path: links followed */
	FILE *file;	   /* NULL: none is open */
};

/*
 * Opens PATH.PID.part, which must not exist. Refuses a PATH that could not be replaced in the end:
 * a folder, a device, a file without permission; and rift's own files (datafile_owns()). Returns
 * 0, or an errno after one line. name is the option's, for the message.
 */
int output_open(struct output *out, const char *name, const char *path);

/* Do both paths name one file, existing or not, by name or by a link? NULL names none. */
bool output_same_file(const char *a, const char *b);

/* Writes n numbers, comma separated, that read back exactly, and ends the line. */
void output_numbers(struct output *out, const double *v, int n);

/*
 * Closes and renames: PATH is complete, or -EIO, -ENOSPC or another errno after one line, and
 * nothing has appeared.
 */
int output_commit(struct output *out);

/* Closes and removes the part, if still open; also on a zeroed struct, also twice. */
void output_discard(struct output *out);

#ifdef __cplusplus
}
#endif
#endif
