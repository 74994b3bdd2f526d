/*
 * environment_diff.h - in what the machines, devices, binaries and designs of two sides differ, and
 * whether their figures may stand side by side at all.
 */
#ifndef RIFT_COMPARE_ENVIRONMENT_DIFF_H
#define RIFT_COMPARE_ENVIRONMENT_DIFF_H

#include <stdio.h>

#include "harness/compare/side.h"

/*
 * [{"field": "gpu.driver_version", "a": .., "b": ..}]: what a process cannot change by itself, and
 * how it was measured (design.*). What one of them does not say at all is missing in its row; lists
 * show what only one of them has. New reference.
 */
json_t *environment_diff_any(const struct compared_side *a, const struct compared_side *b);

/*
 * The same of two headers, and of objects that say how each was measured; takes over the latter
 * two. New reference.
 */
json_t *environment_diff_rows(const json_t *header_a, const json_t *header_b, json_t *design_a,
			      json_t *design_b);

/* Refuses two headers of other devices. Returns 0, or -EPROTONOSUPPORT after one line. */
int environment_diff_refuse_devices(const json_t *header_a, const json_t *header_b);

/*
 * Refuses another device, and another way to wait for the end of a block. Returns 0, or
 * -EPROTONOSUPPORT after one line.
 */
int environment_diff_refuse(const struct compared_side *a, const struct compared_side *b);

/*
 * Texts for people: what makes a difference doubtful (other binaries, clocks that were apart).
 * New reference.
 */
json_t *environment_diff_warn(const struct compared_side *a, const struct compared_side *b);

/* Both as a table, for people. */
void environment_diff_print(const json_t *rows, const json_t *warnings, FILE *out);

#endif
