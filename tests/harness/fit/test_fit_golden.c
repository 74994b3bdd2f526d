/* test_fit_golden.c - stacks of kept sessions and their prices elsewhere (tests/golden.h). */
/* sanitizers: seen elsewhere */
#include "tests/test.h"
#include "tests/figures.h"
#include "tests/golden.h"

#include <criterion/parameterized.h>

#define ADDED "data/traces/h200-predict/emulate-call-5"
#define BY_COSTS                                                                                   \
	" --on " ADDED ".jsonl.gz:b --from " ADDED ".jsonl.gz:a --costs " ADDED                    \
	".json.gz --from-costs " ADDED ".native.json.gz"

static const struct golden_output said[] = {
	{ "stack-pairs",
	  COMMANDS("rift fit --stack data/sessions/wsl2-h200/wsl2-2021.jsonl.gz:b",
		   "rift fit --stack data/sessions/remote-h200/ahead-launch.jsonl.gz:b",
		   "rift fit --stack --json data/sessions/remote-h200/"
		   "ahead-launch.jsonl.gz:b | rounded") },
	{ "predict-costs",
	  COMMANDS("rift predict " KEPT "mlp.jsonl" BY_COSTS,
		   "rift predict " KEPT "copied.jsonl" BY_COSTS,
		   "rift predict " KEPT "copied.jsonl --json" BY_COSTS " | rounded | head -n 150",
		   "rift predict data/traces/h200-predict/"
		   "simpleCudaGraphs.trace.gz --json" BY_COSTS " | rounded") },
};

GOLDEN_TESTS(small_fit_golden, said)
