/* assemble.h - the visits of a point made into its record. */
#ifndef RIFT_SWEEP_ASSEMBLE_H
#define RIFT_SWEEP_ASSEMBLE_H

#include <jansson.h>
#include <stdbool.h>

/*
 * The fields of a point record that come from its visits, a JSON object each, in the order of
 * their rounds; NULL: the round is missing. status is "ok", or "check_failed" where a check failed.
 * New reference.
 */
json_t *assemble_point(json_t *const *visit, int rounds);

/* The summary of a point's blocks: of its t_enq_ns, t_total_ns and marks. New reference. */
json_t *assemble_summary(const json_t *point);

/* Median of the unmarked blocks in a point's summary, ns; NAN: none. */
double assembled_median(const json_t *point, const char *series);

#endif
