/* preset.h - `preset=NAME`: several parameters of a workload by one name (struct preset). */
#ifndef RIFT_PARAMS_PRESET_H
#define RIFT_PARAMS_PRESET_H

#include <stdbool.h>

#include "harness/params/param.h"

/* Is this "preset=..."? It stands for parameters, and is none itself. */
bool preset_is(const char *assignment);

/* The preset that "preset=NAME" names; NULL after one line with the nearest name. */
const struct preset *preset_find(const struct workload *w, const char *assignment);

/* Calls take(arg, "name=value") for each value, until one of these returns other than 0: that. */
int preset_each(const struct preset *p, int (*take)(void *arg, const char *assignment), void *arg);

/* Sets the parameters of a preset that were not given. Returns 0, or -EINVAL after one line. */
int preset_apply(struct params *params, const struct preset *p);

#endif
