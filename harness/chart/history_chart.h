/* history_chart.h - sessions of one plan over time, drawn. */
#ifndef RIFT_CHART_HISTORY_CHART_H
#define RIFT_CHART_HISTORY_CHART_H

#include "harness/base/picture.h"
#include "harness/compare/history.h"

/* A dot with its interval for each session, over the first one, by date. As chart functions do. */
int history_chart_write(struct picture *picture, const struct history *h, const char *folder);

#endif
