/*
 * surroundings.h - in what the machines, devices, binaries and designs of two parties differ, and
 * whether their figures may stand side by side at all.
 */
#ifndef RIFT_COMPARE_SURROUNDINGS_H
#define RIFT_COMPARE_SURROUNDINGS_H

#include <stdio.h>

#include "harness/compare/party.h"

/*
 * [{"field": "gpu.driver_version", "a": .., "b": ..}]: what a process cannot change by itself, and
 * how it was measured (design.*). What one of them does not say at all is missing in its row; lists
 * show what only one of them has. New reference.
 */
json_t *surroundings_differ(const struct party *a, const struct party *b);

/*
 * The same of two headers, and of objects that say how each was measured; takes over the latter
 * two. New reference.
 */
json_t *surroundings_rows(const json_t *header_a, const json_t *header_b, json_t *design_a,
			  json_t *design_b);

/* Refuses two headers of other devices. Returns 0, or -EPROTONOSUPPORT after one line. */
int surroundings_refuse_devices(const json_t *header_a, const json_t *header_b);

/*
 * Refuses another device, and another way to wait for the end of a block. Returns 0, or
 * -EPROTONOSUPPORT after one line.
 */
int surroundings_refuse(const struct party *a, const struct party *b);

/*
 * Texts for people: what makes a difference doubtful (other binaries, clocks that were apart).
 * New reference.
 */
json_t *surroundings_warn(const struct party *a, const struct party *b);

/* Both as a table, for people. */
void surroundings_print(const json_t *rows, const json_t *warnings, FILE *out);

#endif
