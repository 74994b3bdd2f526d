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
#define LIMITS "data/sessions/limits-h200/"
#define HOLDS "data/sessions/atlas-h200/holds-"

#define MARKUP(left_out) "sed '" left_out "/<style/,/<\\/style>/d' page.html"

/* The page without pictures and without what other commands print. */
#define PAGE(words)                                                                                \
	": rm -f page.html; (PATH=; rift report " words " --quiet --output page.html)",            \
		MARKUP("/<svg/,/<\\/svg>/d; /<details/,/<\\/details>/d; ")

static const struct golden_output said[] = {
	{ "report", COMMANDS("rift report --markdown " SETS "set-00.jsonl.gz",
			     "rift report --markdown " SHARE "harm-kill-3.jsonl.gz",
			     "rift report --markdown " TRACE "h100-copies.trace.gz " WFA,
			     "rift report --markdown " HOLDS "none.jsonl.gz:a " HOLDS
			     "shim.jsonl.gz " HOLDS "container.jsonl.gz",
			     "rift report --markdown --each node --side a " SETS "set-0[0-4]*",
			     "rift report --markdown " SHARE "pair-binomial-mlp.jsonl.gz " SHARE
			     "unfair.jsonl.gz",
			     "rift report --markdown " TRACE "cpu-mlp.trace.gz " TRACE
			     "h200-pytorch-eager.trace.gz",
			     "rift report --markdown --each date --side a " SETS "set-0*",
			     ": (PATH=; rift report " TIMED " --output page.html)",
			     MARKUP("/<svg/,/<\\/svg>/d; ")) },
	{ "report-pages",
	  COMMANDS(PAGE(SHARE "harm-kill-3.jsonl.gz " SHARE "unfair.jsonl.gz " LIMITS
			      "hami-25-short.jsonl.gz " LIMITS "remote.jsonl.gz"),
		   PAGE(TRACE "h100-copies.trace.gz " TRACE "cpu-mlp.trace.gz"),
		   PAGE(KEPT "launch.jsonl"),
		   PAGE(HOLDS "none.jsonl.gz:a " HOLDS "shim.jsonl.gz:b"),
		   PAGE(HOLDS "none.jsonl.gz:a " HOLDS "shim.jsonl.gz " HOLDS "container.jsonl.gz"),
		   PAGE("--each node --side a " SETS "set-0[0-4]*"),
		   PAGE("--each date --side a " SETS "set-0*")) },
};

GOLDEN_TESTS(small_report_golden, said)
