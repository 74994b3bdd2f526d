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

#define SETS "data/sessions/emulate-h200/"
#define TWO SETS "call-5.jsonl.gz"
#define FIT(arguments) "+ rift fit --json " arguments

static const struct golden_output said[] = {
	/* each number of long answers, among them of kernels over another platform's */
	{ "fit-sums", COMMANDS(FIT(KEPT "launch.jsonl --over " TWO ":b --off-grid " TWO ":a"),
			       FIT(KEPT "myocyte.jsonl"), FIT(KEPT "pathtrace.jsonl"), FIT(TWO),
			       FIT("data/sessions/wsl2-h200/wsl2-2021.jsonl.gz --workload launch"),
			       FIT("--stack --all " KEPT "mlp.jsonl --from " KEPT
				   "launch.jsonl --costs " KEPT "costs.json")) },
	{ "fit-two", COMMANDS("rift fit " TWO, "rift fit " KEPT "mlp.jsonl | head -n 40") },
	{ "predict-sums",
	  COMMANDS("+ rift predict --json --validate " KEPT "myocyte.jsonl " KEPT
		   "pathtrace.jsonl " KEPT "mlp.jsonl --on " KEPT "launch.jsonl",
		   "+ rift predict --json " TWO ":a --on " TWO ":b --measured " TWO ":b") },
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
