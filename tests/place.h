/* place.h - the machines of tests/platforms, unpacked so that rift can look at them. */
#ifndef RIFT_TESTS_PLACE_H
#define RIFT_TESTS_PLACE_H

#include "harness/platform/fact.h"

/*
 * The machine of tests/platforms/NAME.txt in a folder of its own, which goes with place_remove().
 * One at a time.
 */
struct place place_of(const char *name);

/* One of these files and nothing else, each a path and what it holds; ends with NULL. */
struct place place_made(const char *const (*files)[2]);
void place_remove(void);

/* Names of all of them, without .txt, then NULL. */
const char *const *place_all(void);

#endif
