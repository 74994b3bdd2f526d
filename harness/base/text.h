/* text.h - what a person reads and types: numbers, names, the line that changes. */
#ifndef RIFT_BASE_TEXT_H
#define RIFT_BASE_TEXT_H

#include <stdbool.h>
#include <stdint.h>

/* ---- numbers and user input as a person reads them -------------------------------------- */

/*
 * Each function returns a small struct by value, so that a printf argument can be
 * `text_time(ns).s`: valid until the end of the full expression.
 */

struct text {
	char s[72];
};

/* A duration given in ns: "850 ns", "2.41 us", "13.5 ms", "1.20 s"; three digits. */
struct text text_time(double ns);

/* A count or a rate with a decimal prefix: "950", "1.06 M"; three digits. */
struct text text_count(double value);

/* Bytes in powers of 1024: "512 B", "139 GiB". */
struct text text_bytes(double bytes);

/* The shortest decimal text that reads back as the same double. */
struct text text_real(double value);

/* A whole number; as_size: with k, M or G (powers of 1024) where it divides evenly. */
struct text text_int(int64_t value, int as_size);

/* What a user typed, fit for one line: at most 60 bytes, control characters as \x1b. */
struct text text_shown(const char *typed);

/* The same of longer text that a file or another program says, for terminals (common/escape.h). */
struct text_line {
	char s[512];
};

struct text_line text_escaped(const char *text);

/* Does a variable's name or setting look like a secret, which no record keeps? */
bool text_names_secret(const char *text);

/* ---- the name that a user may have meant ------------------------------------------------ */

/*
 *   struct suggestion s = suggest_start("cels");
 *   for (each name)
 *           suggest_offer(&s, name);
 *   complain(EINVAL, "unknown parameter '%s'%s", s.word, suggest_hint(&s).s);
 */

struct suggestion {
	const char *word; /* as typed; must outlive the struct */
	const char *best; /* nearest name offered so far, NULL: none is near enough */
	int distance;	  /* of best */
};

/*
 * Edits that turn a into b, letters in upper and lower case being equal: insert, remove or
 * replace one character, swap two neighbours. Names of more than 63 bytes: 99.
 */
int edit_distance(const char *a, const char *b);

struct suggestion suggest_start(const char *word);

/* Takes name as the best if it is nearer than the last; near enough is a third of its length. */
void suggest_offer(struct suggestion *s, const char *name);

/* "; did you mean 'cells'?", or "" when nothing is near. */
struct text suggest_hint(const struct suggestion *s);

/* ---- one changing line on stderr, where that is a terminal; else nothing ---------------- */

/* quiet: never show anything. */
void progress_init(bool quiet);

/* Replaces the line. */
void progress(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Removes the line; before anything else is printed. */
void progress_clear(void);

#endif
