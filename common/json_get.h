/* json_get.h - members of JSON objects that may be missing or of another type. */
#ifndef RIFT_JSON_GET_H
#define RIFT_JSON_GET_H

#include <jansson.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A string member, "" where it is missing, null or no string. */
const char *json_get_text(const json_t *object, const char *key);

/* A number member, NAN where it is missing, null or no number. */
double json_get_number(const json_t *object, const char *key);

#ifdef __cplusplus
}
#endif
#endif
