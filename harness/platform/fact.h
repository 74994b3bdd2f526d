/* fact.h - facts about a machine, known or not, and where they are read. */
#ifndef RIFT_PLATFORM_FACT_H
#define RIFT_PLATFORM_FACT_H

#include <dirent.h>
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- one fact --------------------------------------------------------------------------- */

/*
 * A zeroed fact is unknown for a reason that nobody gave. Structs of facts become JSON by a table
 * of their fields, in which an unknown one is null and its reason stands beside it.
 */

enum fact_kind { FACT_UNKNOWN, FACT_TEXT, FACT_INT, FACT_REAL, FACT_BOOL };

struct fact {
	enum fact_kind kind;
	int64_t number; /* of FACT_INT and FACT_BOOL */
	double real;
	char text[256]; /* the value of FACT_TEXT; of FACT_UNKNOWN why, in a few words */
};

/* Blanks at both ends are left out; an empty text is unknown. Longer ones are cut. */
struct fact fact_text(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
struct fact fact_int(int64_t value);
struct fact fact_real(double value); /* unknown where it is not finite */
struct fact fact_bool(bool value);

/* "12.4", which CUDA packs as 12040; 0: none is installed. */
struct fact fact_cuda_version(int packed);
struct fact fact_unknown(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

static inline bool fact_known(const struct fact *f)
{
	return f->kind != FACT_UNKNOWN;
}

/* Is it this very text; is it known to be true? */
bool fact_is(const struct fact *f, const char *text);
bool fact_true(const struct fact *f);

/* The text, or fallback where it is unknown or no text. */
const char *fact_or(const struct fact *f, const char *fallback);

/* The value, or null. New reference. */
json_t *fact_json(const struct fact *f);

/* Fields of a struct; ends with { 0 }. */
struct fact_row {
	const char *name;
	size_t offset;
};

/*
 * {"name": value or null, ...}, and where there is a null "why_null": {"name": "reason", ...}.
 * New reference.
 */
json_t *facts_json(const struct fact_row *rows, const void *facts);

/* Adds a member that is no fact: the value, whose reference is taken, or null for this reason. */
void facts_add(json_t *o, const char *name, json_t *value, const char *why);

/* ---- where facts are read --------------------------------------------------------------- */

/*
 * Where facts about a machine are read: its files, environment, processor and kernel log.
 * Everything that looks at a machine takes a place, so that tests can show it another one.
 */

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
 * A fact from a file, given by its path in the place: the first line; the first number; the word
 * in [brackets] of a list of choices; the value of the first "key: value" line (any blanks around
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
