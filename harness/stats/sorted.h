/* sorted.h - doubles in order: what the files of statistics share. */
#ifndef RIFT_STATS_SORTED_H
#define RIFT_STATS_SORTED_H

#include <stdbool.h>
#include <stdint.h>

/* Whether there are values and each is a finite number. */
bool all_finite(const double *value, int64_t n);

/* Ascending. No value may be NaN: there is no order then. */
void sort_doubles(double *value, int64_t n);

/* Sorts and takes the mean of the two middle ones; NAN where n < 1. */
double median_of(double *value, int n);

/* A sorted copy for the caller to free; NULL unless all_finite(). Aborts without memory. */
double *sorted_copy(const double *value, int64_t n);

#endif
