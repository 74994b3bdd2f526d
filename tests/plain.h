/* plain.h - tests/test.h for tests whose assertions are conditions of C: cr_assert(a == b). */
#ifndef RIFT_TESTS_PLAIN_H
#define RIFT_TESTS_PLAIN_H

#include <criterion/criterion.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/capture.h"
#include "tests/divert.h"

#endif
