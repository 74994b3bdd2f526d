/* interval_json.h - intervals as `--json` gives them. */
#ifndef RIFT_STATS_INTERVAL_JSON_H
#define RIFT_STATS_INTERVAL_JSON_H

#include <jansson.h>

#include "harness/stats/bootstrap.h"

/* {"value": ..., "lo": ..., "hi": ..., "n": ...}: what is not known is null. New reference. */
json_t *interval_json(const struct interval *i);

#endif
