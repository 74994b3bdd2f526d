/* facts.h - what must be known, and why not. */
#ifndef RIFT_TESTS_FACTS_H
#define RIFT_TESTS_FACTS_H

#include "harness/platform/fact.h"

void text_is(const struct fact *f, const char *want);
void number_is(const struct fact *f, int64_t want);
void real_is(const struct fact *f, double want);
void bool_is(const struct fact *f, bool want);

/* It must be unknown, and its reason hold this. */
void unknown_says(const struct fact *f, const char *reason);

#endif
