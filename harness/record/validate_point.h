/* validate_point.h - are a point's blocks possible, its summary theirs, and its counts bounded? */
#ifndef RIFT_RECORD_VALIDATE_POINT_H
#define RIFT_RECORD_VALIDATE_POINT_H

#include <jansson.h>
#include <stdbool.h>

#include "harness/base/text.h"

/* What is wrong with a line of a .visits file; "": nothing. A record of visits that pass is valid.
 */
struct text visit_wrong(const json_t *visit);

/* The same of a point that was measured in at most so many rounds; the fields are there. */
struct text point_wrong(const json_t *point, int rounds, bool is_thinned);

#endif
