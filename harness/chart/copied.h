/* copied.h - the time of a step over the bytes that it copies: points, and lines through them. */
#ifndef RIFT_CHART_COPIED_H
#define RIFT_CHART_COPIED_H

#include "harness/chart/chart.h"

enum { COPIED_LINES = 4 };

/* A size. */
struct copied_point {
	double bytes, calls;  /* of a step, between host and device */
	struct interval step; /* ns */
};

/*
 * One set of parameters in one mode, at one depth: t = fixed + bytes * byte_ns, by least squares of
 * relative residuals, as a step of 1 MB counts for as much as one of 1 GB.
 */
struct copied_line {
	const struct chart_set *set;
	enum mode mode;
	int64_t depth;
	bool pageable;
	struct copied_point *point;
	int points;
	double fixed_ns, byte_ns;
	double off;   /* the largest |t / line - 1| */
	double calls; /* of a step, where all sizes take as many; 0: they do not */
};

struct copied {
	struct variants variants;
	struct copied_line line[COPIED_LINES];
	int lines, left_out; /* sets of parameters that are not drawn: too many, or under 3 sizes */
};

/* What a line takes for so many bytes, ns. */
double copied_line_ns(const struct copied_line *l, double bytes);

/* Bytes between host and device of a step of this point in the plan; 0: none, or not known. */
double copied_bytes(const struct journal *j, int point);

/* Through 2 points or more of different bytes. */
void copied_fit(struct copied_line *l);

/* "pinned", or with the parameters that tell it from an earlier line of such memory. */
void copied_name(const struct copied *c, int line, char *out, size_t size);

/* Title, finding and small print. */
void copied_label(const struct copied *c, struct plot *p);

#endif
