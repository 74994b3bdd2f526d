/*
 * contrast.h - what the two sides of a session (`rift sweep --against`) say of each other, point by
 * point: side b over side a.
 */
#ifndef RIFT_SWEEP_CONTRAST_H
#define RIFT_SWEEP_CONTRAST_H

#include <stdio.h>

#include "harness/judge.h"
#include "harness/session/results.h"

/*
 * Ratio and verdict of every point of the plan: those that `rift compare` gives for this session,
 * at its margin and with its correction (judge_points() in harness/judge.h). Of several kinds of
 * waiting each is judged by itself, as rift compare --sync does. To be freed.
 */
struct judged_point *contrast_judge(const struct results *r);

/* The points that are slower or faster by more than MARGIN_DEFAULT, worst first, then about all. */
void contrast_print(const struct results *r, FILE *out);

/* A line for each point: its axes, both medians, the ratio, its interval and its verdict, and what
 * it would be without the correction. */
void contrast_csv(const struct results *r, FILE *out);

#endif
