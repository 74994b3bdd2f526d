/* stack_text.h - the output of `rift stack`. */
#ifndef RIFT_MODEL_STACK_TEXT_H
#define RIFT_MODEL_STACK_TEXT_H

#include <jansson.h>
#include <stdio.h>

#include "harness/model/stack.h"

/* all: every block; else the selection of stacks_select(). */
void stacks_print(const struct stack_request *r, const struct stack *stack, bool all, FILE *out);

/* Every block. New reference. */
json_t *stacks_json(const struct stack_request *r, const struct stack *stack);

#endif
