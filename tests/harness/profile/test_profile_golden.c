/* test_profile_golden.c - what rift says of kept traces: where their time goes, and what they would
 * take elsewhere (tests/golden.h). */
/* sanitizers: one thread */
#include "tests/test.h"
#include "tests/figures.h"
#include "tests/golden.h"

#include <criterion/parameterized.h>

#define TRACE "data/traces/"
#define FOUND TRACE "h200-predict/"
#define ADDED FOUND "emulate-call-5"

static const struct golden_output said[] = {
	{ "profile",
	  COMMANDS("rift profile " TRACE "h100-copies.trace.gz",
		   "rift profile " TRACE "cpu-mlp.trace.gz",
		   "rift profile " FOUND "programs-streams-10.trace.gz",
		   "rift profile " TRACE "h200-pytorch-graph.trace.gz",
		   "rift profile " FOUND "simpleCudaGraphs.trace.gz --rule gap=0.1 --rule gpu=99",
		   "rift profile " FOUND "simpleCudaGraphs.trace.gz --json | rounded",
		   "rift profile " FOUND "simpleCudaGraphs.trace.gz --chrome=time.json",
		   "rounded <time.json") },
	{ "profile-charts",
	  COMMANDS(CHARTS("profile " FOUND "simpleCudaGraphs.trace.gz --plot out"),
		   CHARTS("profile " TRACE "cpu-mlp.trace.gz --plot out")) },
	{ "predict-program",
	  COMMANDS("rift predict " FOUND "programs-mixed-10.trace.gz --on " KEPT "launch.jsonl",
		   "rift predict " FOUND "programs-waits-10.trace.gz --on " ADDED
		   ".jsonl.gz:b --from " ADDED ".jsonl.gz:a --costs " ADDED
		   ".json.gz --from-costs " ADDED ".native.json.gz --what-if overlap --what-if "
		   "kernels=0.5 --what-if merge=3 --what-if batch=8",
		   "rift predict " FOUND "simpleCudaGraphs.trace.gz --on " KEPT
		   "launch.jsonl --measured " FOUND "simpleCudaGraphs.trace.gz") },
};

GOLDEN_TESTS(small_profile_golden, said)
