/*
 * datafile.h - finding the data files that belong to rift, wherever the binary was put.
 */
#ifndef RIFT_DATAFILE_H
#define RIFT_DATAFILE_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { DATAFILE_PATH_BYTES = 4096 };

/*
 * Path of a file that belongs to rift, given by its path in the source tree, say
 * "workloads/myocyte/initial_state.csv". Looked for under $RIFT_HOME if that is set, else in
 * the binary's folder and each folder above it: build/cpu/rift finds the source tree, and a
 * folder made by `make dist` finds its own copy.
 *
 * Returns 0, or -ENOENT after one line that says where it was looked for.
 */
int datafile_find(const char *name, char path[DATAFILE_PATH_BYTES]);

/* The same for a file that need not be there: false instead of a line. */
bool datafile_there(const char *name, char path[DATAFILE_PATH_BYTES]);

/*
 * Is the file, which need not exist, in a folder workloads/ or data/ that datafile_find() finds
 * things in? What belongs to rift must not be written over. Symbolic links are followed.
 */
bool datafile_owns(const char *path);

#ifdef __cplusplus
}
#endif
#endif
