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
	bool is_new;	   /* of output_create(): replaces nothing */
};

/*
 * For what is drawn again from a record: pictures, in the folder that is theirs, and timelines. All
 * other files replace nothing, see output_create().
 *
 * Opens PATH.PID.part, which must not exist. Refuses a PATH that could not be replaced in the end:
 * a folder, a device, a file without permission; and rift's own files (datafile_owns()). Returns
 * 0, or an errno after one line. name is the option's, for the message.
 */
int output_open(struct output *out, const char *name, const char *path);

/*
 * Like output_open(), for a file that replaces nothing: whatever is at PATH is refused, -EEXIST. If
 * something has appeared there when output_commit() is called, that stays. The new file is then
 * kept as output_rename_new() says, one line names it, and output_commit() returns -EEXIST.
 */
int output_create(struct output *out, const char *name, const char *path);

/*
 * Renames `from` to `path` and replaces nothing: where something is there, to the first free name
 * of STEM-2.EXT, STEM-3.EXT, ... *taken is the name that it has then; the caller frees it. Returns
 * 0, or an errno (*taken NULL), without a line.
 */
int output_rename_new(const char *from, const char *path, char **taken);

/*
 * For a file that rift writes under another name first and renames by output_rename_new(): refuses,
 * before anything runs, "-", which is no stdout here, a name that ends in .gz, as what rift writes
 * is never compressed, and a link that leads nowhere. -EINVAL or -EEXIST after one line. The two
 * above ask the first two themselves, and follow links.
 */
int output_refuse(const char *name, const char *path);

/* Do both paths name one file, existing or not, by name or by a link? NULL names none. */
bool output_same_file(const char *a, const char *b);

/* Writes n numbers, comma separated, that read back exactly, and ends the line. */
void output_numbers(struct output *out, const double *v, int n);

/*
 * Closes and renames: PATH is complete, or -EIO, -ENOSPC or another errno after one line, and
 * nothing has appeared; but see output_create().
 */
int output_commit(struct output *out);

/* Closes and removes the part, if still open; also on a zeroed struct, also twice. */
void output_discard(struct output *out);

/* With all that is in it, as far as that can be removed: another process may be at work there. */
void output_remove_folder(const char *path);

#ifdef __cplusplus
}
#endif

#endif
