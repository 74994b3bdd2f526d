/* json.h - what jansson leaves to its users: numbers and texts that JSON cannot hold. */
#ifndef RIFT_BASE_JSON_H
#define RIFT_BASE_JSON_H

#include <jansson.h>
#include <stdio.h>

#include "common/json_get.h"

/* A real, or null where value is NaN or infinite. New reference. */
json_t *json_number(double value);

/* A string, null for NULL; bytes that are not UTF-8 become '?'. New reference. */
json_t *json_text(const char *text);

/* Writes the object, indented, and a newline, and drops the reference. */
void json_write(json_t *object, FILE *out);

#endif
