/* report.h - all that `rift fit` says of one side of a session. */
#ifndef RIFT_FIT_REPORT_H
#define RIFT_FIT_REPORT_H

#include <jansson.h>
#include <stdio.h>

#include "harness/fit/derive.h"
#include "harness/fit/diagnostics.h"
#include "harness/fit/validate.h"

struct report_options {
	const struct fit *over;	     /* another platform's fit; NULL: none */
	const char *over_name;	     /* what it is called */
	const struct grid *off_grid; /* blocks to predict, of another session; NULL: none */
};

struct fit_report {
	const struct fit *fit;
	struct report_options options;
	struct validation held_out, off_grid;
	struct validation itself; /* the blocks that it was fitted to */
	struct diagnostic diagnostic[DIAGNOSTICS_MAX];
	int n_diagnostics;
};

void report_make(struct fit_report *r, const struct fit *f, const struct report_options *o);
void report_release(struct fit_report *r);

void report_print(const struct fit_report *r, FILE *out);

/* New reference. */
json_t *report_json(const struct fit_report *r);

/* How long kernels must be for an overhead of 5 %, in one line. */
void answer_line_print(const struct fit *f, FILE *out);

/* Parts of it. */
void answers_print(const struct fit_report *r, FILE *out);
json_t *answers_json(const struct fit_report *r);

#endif
