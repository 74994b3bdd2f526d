/*
 * program_costs.h - what the calls of a traced program take more on the other platform, beside
 * launches: by the call costs of both (`rift probe`). Used by program_price.c alone.
 */
#ifndef RIFT_PROFILE_PROGRAM_COSTS_H
#define RIFT_PROFILE_PROGRAM_COSTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/trace/trace.h"
#include "harness/profile/program_price.h"

/* A row's median in ns, ns a byte where it is a rate; NAN: the file lacks it. */
double call_cost_ns(const json_t *costs, const char *workload, const char *name);

/* The rows of `transfer` for copies of one kind: "h2d pinned". */
const char *copy_row(enum copy_direction direction, bool pageable);

/* Is it a copy that is priced as one in turn? Asked after program_costs_find(). */
bool copy_is_in_turn(const struct program_price *p, int64_t call);

/* What a byte of copies of pageable memory in turn takes, at the largest measured size that is not
 * above bytes; NAN: the file has none. */
double in_turn_byte_ns(const json_t *costs, enum copy_direction direction, double bytes);

/*
 * Sets p->extra, which p then owns, start_ns, and copies_ratio, slow_copies, copies_in_turn. Takes
 * prices on both platforms and simulated_a_ns from *p.
 */
void program_costs_find(struct program_price *p);

#endif
