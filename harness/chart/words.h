/* words.h - numbers as charts and their titles show them; UTF-8, with typographic signs. */
#ifndef RIFT_CHART_WORDS_H
#define RIFT_CHART_WORDS_H

#include "harness/chart/chart.h"

/* A duration, two or three digits: "850 ns", "2.4 µs", "18 µs". */
struct text words_time(double ns);

/* A share as it fits into a cell, in per cent without the sign: "0.4", "−1.2", "45", "12k". */
struct text words_percent(double share);

/* A ratio for a sentence: "36 % longer", "2.4 times as long", "12 % less time". */
struct text words_ratio(double ratio);

/* A size of the grid as an axis shows it, "10", "4k"; and in a sentence, "10 µs kernels". */
struct text words_size(const struct grid *g, int size);
struct text words_of_size(const struct grid *g, int size);

/* "size (cells)", "length of a kernel (µs)". */
struct text words_axis(const struct grid *g);

/* What a step consists of: "kernels", "copies", "calls" (harness/fit/stack.h). */
const char *words_work(const struct grid *g);

/*
 * What T / ideal is: "1.02 × their nominal length", or how K was measured; and how many points
 * failed.
 */
void words_ideal(const struct chart_set *s, int side, char *out, size_t size);

/* The script's variable of that name and number: "depth3". */
struct text words_name(const char *stem, int number);

/*
 * The plot's title: "A: launch: ", side -1 or a lone platform without its letter, and the text, cut
 * to what a line takes.
 */
void words_title(struct plot *p, const struct chart_set *s, int side, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* The line below the title, cut as well. */
void words_finding(struct plot *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Characters that a line takes, 900 pixels wide: of a title, of the line below it, of small print.
 */
enum { TITLE_CHARACTERS = 96, FINDING_CHARACTERS = 114, NOTE_CHARACTERS = 132 };

/*
 * Cuts the text where it has more than so many characters, and ends it with an ellipsis then.
 * capacity is that of the array.
 */
void words_cut(char *text, size_t capacity, int characters);

#endif
