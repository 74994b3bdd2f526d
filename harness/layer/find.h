/* find.h - the file that a command is. */
#ifndef RIFT_LAYER_FIND_H
#define RIFT_LAYER_FIND_H

#include <limits.h>

/*
 * Looks as execvp() does. 0 and the file; -ENOENT where there is none; -EACCES where what there is
 * cannot be executed.
 */
int find_command(const char *command, char out[PATH_MAX]);

#endif
