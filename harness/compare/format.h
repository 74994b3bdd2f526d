/* format.h - what comparisons print of ratios and differences. */
#ifndef RIFT_COMPARE_FORMAT_H
#define RIFT_COMPARE_FORMAT_H

#include "harness/base/text.h"
#include "harness/stats/bootstrap.h"

/* As struct text of harness/base/text.h is used, and longer. */
struct figure {
	char s[256];
};

/* "1.460", "35.4" */
struct text figure_times(double ratio);

/* "1.460 (1.402 to 1.524)"; without an interval "1.460 (no interval)"; "-" for none. */
struct figure figure_ratio(const struct interval *i);

/* Of a ratio: "+46.0 % (40.2 to 52.4)"; without an interval "+46.0 % (no interval)"; from 10 on
 * "18.8 times (14.7 to 22.5)"; "-". */
struct figure figure_percent(const struct interval *ratio);

/* "+5.02 us (4.97 to 5.10 us)", of ns; for pure numbers without a unit. */
struct figure figure_difference(const struct interval *i, bool is_ns);

/* "5.02 us (4.97 us to 5.10 us)"; "5.02 us" without an interval, "-" for none. */
struct figure figure_own(const struct interval *i, bool is_ns);

/* "5.02 us", "1.02", "-" for NaN. */
struct text figure_value(double value, bool is_ns);

/* The levels of exact intervals, which differ with n; zeroed at first. */
struct levels {
	double least, most;
	int n;
};

/* NAN: there is no interval. */
void levels_add(struct levels *l, double level);

/* "96.9 %", "90.7 to 96.9 %"; "95 %" where there is none, and so no interval either. */
struct text levels_text(const struct levels *l);

#endif
