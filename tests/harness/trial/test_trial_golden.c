/* test_trial_golden.c - what rift says of kept records of timed programs (tests/golden.h). */
/* sanitizers: one thread */
#include "tests/test.h"
#include "tests/figures.h"
#include "tests/golden.h"

#include <criterion/parameterized.h>

#define TRACE "data/traces/"
#define SHARE "data/sessions/share-h200/"
#define TIMED "data/sessions/remote-h200/whole-matmul.jsonl.gz"
#define WFA "data/sessions/programs-h200/wfa.jsonl.gz"

static const struct golden_output said[] = {
	{ "time",
	  COMMANDS("rift show " WFA, "rift show " TIMED, "rift compare " TIMED " --json | rounded",
		   "rift show --check " TIMED " " SHARE "equal-1.jsonl.gz " TRACE
		   "h100-copies.trace.gz",
		   CHARTS("plot " WFA " --output out")) },
};

GOLDEN_TESTS(small_trial_golden, said)
