/*
 * contrast.h - what the two sides of a session (`rift sweep --against`) say of each other, point by
 * point: side b over side a.
 */
#ifndef RIFT_SWEEP_CONTRAST_H
#define RIFT_SWEEP_CONTRAST_H

#include <stdio.h>

#include "harness/sweep/results.h"

/* The points that differ by more than MARGIN_DEFAULT, worst first, then one line about all. */
void contrast_print(const struct results *r, FILE *out);

/* A line for each point: its axes, both medians, the ratio, its interval and what it says. */
void contrast_csv(const struct results *r, FILE *out);

#endif
