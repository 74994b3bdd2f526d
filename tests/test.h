/*
 * test.h - what nearly every test includes, before all else: the compiler takes it as it was
 * compiled once (build.mk). Assertions are those of criterion/new: cr_assert(eq(int, a, b)).
 */
#ifndef RIFT_TESTS_TEST_H
#define RIFT_TESTS_TEST_H

#include "tests/plain.h"

#include <criterion/new/assert.h>

/*
 * How often the preprocessor rescans an assertion. Criterion's 64 times take a third of a test's
 * compile time, and 12 do for not(x). What is nested deeper, as all(not(x)), does not compile.
 */
#undef CR_EVAL
#define CR_EVAL(...) CR_EVAL2(CR_EVAL2(CR_EVAL2(__VA_ARGS__)))

#endif
