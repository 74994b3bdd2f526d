/* card_copies.h - what copies cost, as a platform card says it. */
#ifndef RIFT_PROBE_CARD_COPIES_H
#define RIFT_PROBE_CARD_COPIES_H

#include <jansson.h>

#include "harness/model/stack.h"

/*
 * A call is one of 64 in a row before a synchronize; a byte is by the rates, of large copies and of
 * those below the knee (workloads/transfer/README.md). What the card lacks is NaN.
 */
void card_copies(struct copy_costs *out, const json_t *card);

#endif
