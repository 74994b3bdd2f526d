/* test_report_golden.c - what rift says of pages to send on, of kept records (tests/golden.h). */
/* sanitizers: seen elsewhere */
#include "tests/test.h"
#include "tests/figures.h"
#include "tests/golden.h"

#include <criterion/parameterized.h>

#define TRACE "data/traces/"
#define SHARE "data/sessions/share-h200/"
#define TIMED "data/sessions/remote-h200/whole-matmul.jsonl.gz"
#define WFA "data/sessions/programs-h200/wfa.jsonl.gz"
#define SETS "data/sessions/emulate-h200/"
#define HOLDS "data/sessions/atlas-h200/holds-"

static const struct golden_output said[] = {
	{ "report", COMMANDS("rift report --markdown " SETS "set-00.jsonl.gz",
			     "rift report --markdown " KEPT "launch.jsonl",
			     "rift report --markdown " SHARE "harm-kill-3.jsonl.gz",
			     "rift report --markdown " TRACE "h100-copies.trace.gz " WFA,
			     "rift report --markdown " HOLDS "none.jsonl.gz:a " HOLDS
			     "shim.jsonl.gz " HOLDS "container.jsonl.gz",
			     "rift report --markdown --each node --side a " SETS "set-0[0-4]*",
			     "rift report --markdown data/sessions/atlas-h200/Lupine.jsonl.gz",
			     "rift report --markdown " SHARE "pair-binomial-mlp.jsonl.gz " SHARE
			     "unfair.jsonl.gz",
			     "rift report --markdown " TRACE "cpu-mlp.trace.gz " TRACE
			     "h200-pytorch-eager.trace.gz",
			     "rift report --markdown --each date --side a " SETS "set-0*",
			     ": (PATH=; rift report " TIMED " --output page.html)",
			     "sed '/<style/,/<\\/style>/d; /<svg/,/<\\/svg>/d' page.html") },
};

GOLDEN_TESTS(small_report_golden, said)
