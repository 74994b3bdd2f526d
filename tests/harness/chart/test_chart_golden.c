/* test_chart_golden.c - what rift says of the data and scripts of charts of kept records
 * (tests/golden.h). */
/* sanitizers: seen elsewhere */
#include "tests/test.h"
#include "tests/figures.h"
#include "tests/golden.h"

#include <criterion/parameterized.h>

#define GRIDS "data/sessions/graphs-h200/"
#define SETS "data/sessions/emulate-h200/"
#define HOLDS "data/sessions/atlas-h200/holds-"

static const struct golden_output said[] = {
	{ "session-charts",
	  COMMANDS(CHARTS("plot " KEPT "launch.jsonl --output out"),
		   CHARTS("plot " KEPT "mlp.jsonl --from " KEPT "launch.jsonl --costs " KEPT
			  "costs.json --output out"),
		   CHARTS("plot " KEPT "copied.jsonl --over copied --output out"),
		   CHARTS("plot " SETS "set-00.jsonl.gz --output out"),
		   CHARTS("plot data/sessions/wsl2-h200/wsl2-2021-mlp.jsonl.gz --output out")) },
	{ "chart-sums",
	  COMMANDS(CHART_SUMS("plot " KEPT "cells.jsonl.gz --output out"),
		   CHART_SUMS("plot " KEPT "pathtrace.jsonl --output out"),
		   CHART_SUMS("plot " SETS "call-5.jsonl.gz --output out"),
		   CHART_SUMS("plot " SETS "set-00.jsonl.gz:a " SETS
			      "set-10.jsonl.gz:b --output out"),
		   CHART_SUMS("compare --each node --side a " SETS "set-00* " SETS "set-02* " SETS
			      "set-04* --plot out"),
		   CHART_SUMS("plot " KEPT "block.jsonl --over block --output out"),
		   CHART_SUMS("plot data/sessions/warmup-h200/long.json.gz --output out"),
		   CHART_SUMS("plot " GRIDS "orders.json.gz --output out")) },
	{ "page-charts",
	  COMMANDS(CHARTS("compare " HOLDS "none.jsonl.gz:a " HOLDS "shim.jsonl.gz " HOLDS
			  "profiler.jsonl.gz " HOLDS "lupine.jsonl.gz --force --plot out"),
		   "rift compare --json --force " HOLDS "none.jsonl.gz:a " HOLDS
		   "profiler.jsonl.gz " HOLDS "lupine.jsonl.gz | rounded | head -n 150") },
	{ "grid-charts", COMMANDS(CHARTS("plot " GRIDS "lengths.json.gz --output out"),
				  CHARTS("plot " GRIDS "layer-none.json.gz " GRIDS
					 "layer-neighbour-spin.json.gz --output out")) },
};

GOLDEN_TESTS(small_chart_golden, said)
