/* share_chart.h - charts of `rift share`: slowdown over the number of clients, and how long steps
 * take. */
#ifndef RIFT_SHARE_SHARE_CHART_H
#define RIFT_SHARE_SHARE_CHART_H

#include "harness/base/picture.h"
#include "harness/share/share.h"

enum { SHARE_CHARTS = 2 };

/*
 * The data of both in the folder, which is there, and their scripts; picture_draw() draws each.
 * Returns 0, or a negative errno after one line: nothing was measured, a file cannot be written.
 * share_charts_release() follows in any case.
 */
int share_charts_write(struct picture p[SHARE_CHARTS], const struct share *s, const char *folder);
void share_charts_release(struct picture p[SHARE_CHARTS]);

#endif
