/*
 * test.h - what nearly every test includes, before all else: the compiler takes it as it was
 * compiled once (build.mk). Assertions are those of criterion/new: cr_assert(eq(int, a, b)).
 */
#ifndef RIFT_TESTS_TEST_H
#define RIFT_TESTS_TEST_H

#include "tests/plain.h"

#include <criterion/new/assert.h>

#endif
