/* atlas_printed.h - what a page of `rift compare` prints, for tests of its tables. */
#ifndef RIFT_TESTS_ATLAS_PRINTED_H
#define RIFT_TESTS_ATLAS_PRINTED_H

#include <stdio.h>
#include <stdlib.h>

#include "harness/compare/atlas.h"
#include "tests/golden.h"

/* Its own until the next call. */
static inline const char *printed(const struct atlas *a)
{
	static char *text;
	size_t size;
	FILE *out;

	free(text);
	out = open_memstream(&text, &size);
	atlas_print(a, out);
	fclose(out);
	golden_said(text);
	return text;
}

#endif
