/* preload.h - libraries that this process's children load first of all (LD_PRELOAD). */
#ifndef RIFT_PRELOAD_H
#define RIFT_PRELOAD_H

/*
 * A path without blanks and colons, before those that are there. A program with the address
 * sanitizer would refuse to start behind it: that is asked not to mind (ASAN_OPTIONS).
 */
void preload_add(const char *library);

/* The variables that this sets; ends with NULL. */
extern const char *const preload_variables[];

#endif
