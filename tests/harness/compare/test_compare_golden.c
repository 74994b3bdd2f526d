/* test_compare_golden.c - what rift says of many kept sessions, and points of one (tests/golden.h).
 */
/* sanitizers: seen elsewhere */
#include "tests/test.h"
#include "tests/figures.h"
#include "tests/golden.h"

#include <criterion/parameterized.h>

#define SETS "data/sessions/emulate-h200/"
#define GRIDS "data/sessions/graphs-h200/"
#define ATLAS "data/sessions/atlas-h200/"
#define HOLDS "data/sessions/atlas-h200/holds-"
#define COMPARE(arguments) "+ rift compare --json " arguments

static const struct golden_output said[] = {
	{ "compare-pairs",
	  COMMANDS("rift compare " SETS
		   "sync-20.jsonl.gz --all | sed 's:/[a-z]*/[a-z]*/build:/build:g'",
		   "rift compare data/sessions/wsl2-h200/wsl2-2021.jsonl.gz --all",
		   "rift compare data/sessions/share-h200/busy-50.jsonl.gz",
		   "rift compare data/sessions/share-h200/busy-50.jsonl.gz --json | rounded | head "
		   "-n 120",
		   "rift compare data/sessions/atlas-h200/Lupine.jsonl.gz",
		   "rift compare data/sessions/turns-h200/MPS.jsonl.gz --workload graph --all") },
	{ "each", COMMANDS("rift compare --each date --side a " SETS "set-0*",
			   "rift compare --each date --side a --json " SETS "set-00* " SETS
			   "set-02* " SETS "set-04* | rounded",
			   "rift compare --each node --side a --all " SETS "set-0*",
			   "rift compare --each node --side a --json " SETS "set-00* " SETS
			   "set-02* " SETS "set-04* | rounded",
			   CHARTS("compare --each date --side a " SETS "set-00* " SETS
				  "set-02* " SETS "set-04* --plot out")) },
	{ "programs", COMMANDS("rift compare " ATLAS "none.jsonl.gz:a lupine=" ATLAS
			       "Lupine.jsonl.gz --force | sed -n '/^which/,/^launch:/p'") },
	{ "compare-sums",
	  COMMANDS(COMPARE(SETS "call-5.jsonl.gz"), COMPARE("--self-test " KEPT "launch.jsonl"),
		   COMPARE("--force --all " KEPT "launch.jsonl " SETS "set-00.jsonl.gz:a"),
		   COMPARE(KEPT "costs.json data/traces/h200-predict/emulate-call-5.json.gz"),
		   COMPARE(GRIDS "layer-none.json.gz " GRIDS "layer-neighbour-copy.json.gz"),
		   COMPARE("--force " HOLDS "none.jsonl.gz:a " HOLDS "shim.jsonl.gz " HOLDS
			   "lupine.jsonl.gz " HOLDS "profiler.jsonl.gz"),
		   COMPARE("--each date --side a " SETS "set-0*")) },
	{ "points",
	  COMMANDS("rift show --check --csv points.csv " KEPT "block.jsonl", "rounded <points.csv",
		   "rift show --check --ratios ratios.csv " SETS "call-5.jsonl.gz",
		   "rounded <ratios.csv", "rift show " SETS "again-alloc-20.jsonl.gz:b") },
};

GOLDEN_TESTS(small_compare_golden, said)
