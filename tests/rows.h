/* rows.h - what a workload says of itself: the rows of its parameters, and those of a report. */
#ifndef RIFT_TESTS_ROWS_H
#define RIFT_TESTS_ROWS_H

#include <jansson.h>

#include "workloads/workload.h"

/* All parameters in their order, with their defaults: "n=1024 fill=uniform input=". */
void rows_are(const struct workload *w, const char *want);

/* What tests call the default options is what a user gets. */
void rows_default_to(const struct workload *w, const void *opts);

/* Must be there. */
const struct param *param_row(const struct workload *w, const char *name);
const struct report_row *report_row(const struct report *r, const char *name);

/* The same of `rift run --json`: its text, "" where there is no such row; its value. */
const char *row_text(const json_t *run, const char *name);
double row_value(const json_t *run, const char *name);

/* The row has this text, or, where that is NULL, a figure. */
void has_row(const struct report *r, const char *name, const char *says);

#endif
