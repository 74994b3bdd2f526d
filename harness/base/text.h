/*
 * text.h - numbers and user input as a person reads them.
 *
 * Each function returns a small struct by value, so that a printf argument can be
 * `text_time(ns).s`: valid until the end of the full expression.
 */
#ifndef RIFT_BASE_TEXT_H
#define RIFT_BASE_TEXT_H

#include <stdint.h>

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

#endif
