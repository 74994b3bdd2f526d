/*
 * place.h - where facts about a machine are read: its files, environment, processor and kernel
 * log. Everything that looks at a machine takes a place, so that tests can show it another one.
 */
#ifndef RIFT_ENV_PLACE_H
#define RIFT_ENV_PLACE_H

#include <dirent.h>

#include "harness/env/fact.h"

enum { CPUID_SIGNATURES = 8 };

/* What an x86 processor says of a hypervisor. */
struct cpuid {
	bool hypervisor; /* leaf 1, ECX bit 31 */
	int n;
	char signature[CPUID_SIGNATURES][13]; /* of leaf 0x40000000, 0x40000100, ... */
};

struct place {
	const char *root;	   /* before every path; "" is this machine */
	char *const *env;	   /* "NAME=value", then NULL */
	const struct cpuid *cpuid; /* NULL: not an x86 processor */
	const char *kernel_log;	   /* its last lines; NULL: not allowed to read it */
};

/* This machine. What it points to stays until the program ends. */
struct place place_here(void);

/*
 * Of a file, given by its path in the place: the first line; the first number; the word in
 * [brackets] of a list of choices; the value of the first "key: value" line (any blanks around
 * the colon). Unknown, with path and error, where there is none.
 */
struct fact place_line(const struct place *p, const char *path, ...)
	__attribute__((format(printf, 2, 3)));
struct fact place_number(const struct place *p, const char *path, ...)
	__attribute__((format(printf, 2, 3)));
struct fact place_choice(const struct place *p, const char *path);
struct fact place_value(const struct place *p, const char *path, const char *key);

/* The name of what a symbolic link points to, without its folders. */
struct fact place_link(const struct place *p, const char *path, ...)
	__attribute__((format(printf, 2, 3)));

/* The whole file, at most 1 MiB of it, and a NUL after it; NULL with errno set. To be freed. */
char *place_text(const struct place *p, const char *path);
char *place_bytes(const struct place *p, const char *path, size_t *n);

bool place_has(const struct place *p, const char *path);

/*
 * Names in a folder without . and .., in alphabetical order; NULL and n = 0 where there is none.
 * place_names_free() takes it back.
 */
struct dirent **place_names(const struct place *p, const char *path, int *n);
void place_names_free(struct dirent **names, int n);

/* The variable's value, or NULL. */
const char *place_env(const struct place *p, const char *name);

#endif
