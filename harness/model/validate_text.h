/* validate_text.h - the output of `rift validate`. */
#ifndef RIFT_MODEL_VALIDATE_TEXT_H
#define RIFT_MODEL_VALIDATE_TEXT_H

#include <jansson.h>
#include <stdio.h>

#include "harness/model/validate_work.h"

void works_print(const struct work_validation *v, int n, const struct fit *launches, FILE *out);

/* New reference. */
json_t *works_json(const struct work_validation *v, int n, const struct fit *launches);

#endif
