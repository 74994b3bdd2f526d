/* together.h - parameters that belong together: which count only with others, and presets. */
#ifndef RIFT_BASE_TOGETHER_H
#define RIFT_BASE_TOGETHER_H

#include <stdbool.h>

#include "harness/base/param.h"

struct param_need; /* common/param.h */

/* ---- parameters that count only with others (struct param_need) ------------------------- */

/*
 * 0 where every parameter that was given counts; else -EINVAL after one line for the first that
 * has no effect. needs may be NULL.
 */
int param_needs_check(const struct params *p, const struct param_need *needs);

/* Would the parameter of that name count, as the others are? */
bool param_counts(const struct params *p, const struct param_need *needs, const char *name);

/* Do all entries name rows and choices that there are? Else *wrong is the first that does not. */
bool param_needs_fit(const struct param *rows, const struct param_need *needs,
		     const struct param_need **wrong);

/* "with solver=fixed, without derivatives=", or "" for a parameter that always counts. */
struct need_text {
	char s[200];
};

struct need_text param_need_text(const struct param_need *needs, const char *name);

/* ---- `preset=NAME`: several parameters of a workload by one name (struct preset) -------- */

/* Is this "preset=..."? It stands for parameters, and is none itself. */
bool preset_is(const char *assignment);

/*
 * The preset of these that "preset=NAME" names; NULL after one line with the nearest name. owner:
 * whose they are, "matmul"; shown_by: the command that lists them with the owner's name, "rift
 * list".
 */
const struct preset *preset_find(const struct preset *presets, const char *owner,
				 const char *shown_by, const char *assignment);

/* Calls take(arg, "name=value") for each value, until one of these returns other than 0: that. */
int preset_each(const struct preset *p, int (*take)(void *arg, const char *assignment), void *arg);

/* Sets the parameters of a preset that were not given. Returns 0, or -EINVAL after one line. */
int preset_apply(struct params *params, const struct preset *p);

/* The same with the preset that one of n words names, if any does; shown_by as above. */
int preset_apply_named(struct params *params, const struct preset *presets, const char *shown_by,
		       char *const *words, int n);

/* The values of each, by its name. NULL: there are none. New reference. */
json_t *presets_json(const struct preset *presets);

#endif
