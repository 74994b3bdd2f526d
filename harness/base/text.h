/* text.h - what a person reads: numbers, how wide lines are, the line that changes. */
#ifndef RIFT_BASE_TEXT_H
#define RIFT_BASE_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "common/typed.h"

/* ---- numbers as a person reads them ------------------------------------------------------- */

/*
 * Each function returns a small struct by value, so that a printf argument can be
 * `text_time(ns).s`: valid until the end of the full expression.
 */

/* A duration given in ns: "850 ns", "2.41 us", "13.5 ms", "1.20 s"; three digits. */
struct text text_time(double ns);

/* A count or a rate with a decimal prefix: "950", "1.06 M"; three digits. */
struct text text_count(double value);

/* "6.23", "41.5", "1264": three digits or more, no exponent; its unit is fixed. */
struct text text_digits(double value);

/*
 * Half the width of an interval as a share of its value, in percent and for a place behind "±":
 * "4.3" (so many digits behind the point, below 10 %), "14", ">100". Beyond 100 % the value is not
 * known, and no figure tells how little.
 */
struct text text_half_width(double share, int digits);

/* Bytes in powers of 1024: "512 B", "139 GiB". */
struct text text_bytes(double bytes);

/* The shortest decimal text that reads back as the same double. */
struct text text_real(double value);

/* A whole number; as_size: with k, M or G (powers of 1024) where it divides evenly. */
struct text text_int(int64_t value, int as_size);

/* Does a variable's name or setting look like a secret, which no record keeps? */
bool text_names_secret(const char *text);

/* ---- columns ------------------------------------------------------------------------------ */

enum { TEXT_COLUMNS_LEAST = 60 };

/* As COLUMNS says, else the terminal that fd is; `most` where neither says, or more than that. */
int text_columns(int fd, int most);

/* ---- one changing line on stderr, where that is a terminal; else nothing ---------------- */

/* quiet: never show anything. */
void progress_init(bool quiet);

/* Replaces the line. */
void progress(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* The same of one of a few parts that take long each: where stderr is no terminal, a line that
 * stays, so that nobody waits for minutes without a word. */
void progress_part(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Removes the line; before anything else is printed. */
void progress_clear(void);

#endif
