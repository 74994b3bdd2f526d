/* share_words.h - words and figures that tables of `rift share` have in common. */
#ifndef RIFT_SHARE_SHARE_WORDS_H
#define RIFT_SHARE_SHARE_WORDS_H

#include <jansson.h>

#include "harness/base/text.h"
#include "harness/stats/bootstrap.h"

struct text share_number(double value);		   /* three digits; "-": it is not known */
struct text share_range(const struct interval *i); /* "1.98-2.12"; "": it is not known */

/* What became of a client in the line of a fault, a word of docs/guide/sharing.md. */
const char *share_harm(const json_t *client);

/* Its time in "during" or "after" over that before. */
double share_times_as_long(const json_t *client, const char *window);

#endif
