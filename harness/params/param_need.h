/* param_need.h - parameters that count only with others (struct param_need). */
#ifndef RIFT_PARAMS_PARAM_NEED_H
#define RIFT_PARAMS_PARAM_NEED_H

#include "harness/params/param.h"

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
struct text param_need_text(const struct param_need *needs, const char *name);

#endif
