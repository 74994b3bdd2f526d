/* test_grid_golden.c - what rift says of kept grids of call costs and warm-up curves
 * (tests/golden.h). */
/* sanitizers: one thread */
#include "tests/test.h"
#include "tests/figures.h"
#include "tests/golden.h"

#include <criterion/parameterized.h>

#define GRIDS "data/sessions/graphs-h200/"
#define WARMUP "data/sessions/warmup-h200/"

static const struct golden_output said[] = {
	{ "grids",
	  COMMANDS("rift show " GRIDS "lengths.json.gz",
		   "rift compare " GRIDS "layer-none.json.gz " GRIDS "layer-neighbour-copy.json.gz",
		   "rift compare " GRIDS "layer-none.json.gz " GRIDS
		   "layer-neighbour-copy.json.gz --margin 5 --json | rounded | head -n 90") },
	{ "warmup", COMMANDS("rift show " WARMUP "long.json.gz",
			     CHARTS("plot " WARMUP "long.json.gz --output out")) },
};

GOLDEN_TESTS(small_grid_golden, said)
