/* price_text.h - the output of `rift predict`. */
#ifndef RIFT_MODEL_PRICE_TEXT_H
#define RIFT_MODEL_PRICE_TEXT_H

#include <jansson.h>
#include <stdio.h>

#include "harness/model/price.h"

void prices_print(const struct prices *p, const struct price_request *r, FILE *out);

/* New reference. */
json_t *prices_json(const struct prices *p, const struct price_request *r);

#endif
