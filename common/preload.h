/* preload.h - libraries that this process's children load first of all (LD_PRELOAD). */
#ifndef RIFT_PRELOAD_H
#define RIFT_PRELOAD_H

#include <limits.h>
#include <stdbool.h>

/* The path of a file beside this program, "layers/shim.so". Is it there? */
bool preload_beside(const char *name, char path[PATH_MAX]);

/* Can LD_PRELOAD have this path? It can have neither blanks nor colons. */
bool preload_can(const char *path);

/*
 * A path that it can have, before those that are there. A program with the address
 * sanitizer would refuse to start behind it: that is asked not to mind (ASAN_OPTIONS).
 */
void preload_add(const char *library);

/* The variables that this sets; ends with NULL. */
extern const char *const preload_variables[];

#endif
