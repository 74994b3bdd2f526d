/* test_share_golden.c - what rift says of kept records of several clients (tests/golden.h). */
/* sanitizers: one thread */
#include "tests/test.h"
#include "tests/figures.h"
#include "tests/golden.h"

#include <criterion/parameterized.h>

#define SHARE "data/sessions/share-h200/"
#define LIMITS "--from data/sessions/limits-h200/"
#define ALLOWED                                                                                    \
	LIMITS "hami-25.jsonl.gz " LIMITS "mps-25.jsonl.gz " LIMITS "mps-50.jsonl.gz " LIMITS      \
	       "remote.jsonl.gz"

static const struct golden_output said[] = {
	{ "share", COMMANDS("rift share --from " SHARE "pair-binomial-mlp.jsonl.gz",
			    "rift share --from " SHARE "harm-kill-3.jsonl.gz",
			    "rift share --from " SHARE "unfair.jsonl.gz",
			    "rift share --from " SHARE "sizes-4M.jsonl.gz",
			    "rift share --json --from " SHARE "equal-1.jsonl.gz | rounded") },
	{ "share-across", COMMANDS("rift share --from " SHARE
				   "pair-binomial-mlp.jsonl.gz --from " SHARE "beside-mlp.jsonl.gz",
				   "rift share --json --from " SHARE
				   "equal-1.jsonl.gz --from " SHARE "equal-2.jsonl.gz | rounded") },
	{ "share-limits", COMMANDS("rift share " ALLOWED,
				   "rift share --json " LIMITS "mps-25.jsonl.gz " LIMITS
				   "remote.jsonl.gz | rounded",
				   CHARTS("share " ALLOWED " --plot out")) },
	{ "share-charts", COMMANDS(CHARTS("share --from " SHARE "unfair.jsonl.gz --plot out"),
				   CHARTS("share --from " SHARE "harm-kill.jsonl.gz --plot out"),
				   CHARTS("share --from " SHARE "equal-1.jsonl.gz --from " SHARE
					  "equal-2.jsonl.gz --plot out")) },
};

GOLDEN_TESTS(small_share_golden, said)
