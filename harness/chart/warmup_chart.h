/* warmup_chart.h - warm-up curves drawn: a column a depth, and the clocks below. */
#ifndef RIFT_CHART_WARMUP_CHART_H
#define RIFT_CHART_WARMUP_CHART_H

#include <jansson.h>

#include "harness/base/picture.h"

/*
 * Writes data and script into the folder, which exists, and draws them: the first four depths, all
 * processes. Returns 0, or a negative errno after one line; picture_release() in any case.
 */
int warmup_chart(struct picture *p, const json_t *curves, const char *folder);

#endif
