/* check_blocks.h - are the blocks of a point, or of a visit, possible, and its summary theirs? */
#ifndef RIFT_SWEEP_CHECK_BLOCKS_H
#define RIFT_SWEEP_CHECK_BLOCKS_H

#include <jansson.h>

#include "harness/text.h"

/* What is wrong with the arrays that a visit and a point have; "": nothing. */
struct text blocks_wrong(const json_t *o);

/* The same of a point that was measured, in at most so many rounds, and its summary. */
struct text measured_wrong(const json_t *point, int rounds);

/* The same of a line of a .visits file: a record of visits that pass is valid. */
struct text visit_wrong(const json_t *visit);

#endif
