/*
 * test_golden_kept.c - all that rift says of records and traces that are kept, other than sessions
 * of one platform (test_golden.c): texts, JSON and the data of charts, byte for byte. `make golden`
 * writes tests/golden/outputs anew.
 */
#include "tests/test.h"
#include "tests/figures.h"
#include "tests/golden.h"

#include <criterion/parameterized.h>

TestSuite(small_golden_kept, .init = figures_folder_make, .fini = figures_folder_remove,
	  .timeout = 300);

#define TRACE "data/traces/"
#define FOUND TRACE "h200-predict/"
#define SHARE "data/sessions/share-h200/"
#define GRIDS "data/sessions/graphs-h200/"
#define WARMUP "data/sessions/warmup-h200/"
#define TIMED "data/sessions/remote-h200/whole-matmul.jsonl.gz"
#define WFA "data/sessions/programs-h200/wfa.jsonl.gz"
#define SETS "data/sessions/emulate-h200/"
#define HOLDS "data/sessions/atlas-h200/holds-"
#define ADDED FOUND "emulate-call-5"

/* What would be drawn, without gnuplot, and what of it is in the folder `out`. */
#define CHARTS(arguments)                                                                          \
	": rm -rf out; (PATH=; rift " arguments " --quiet; [ $? = 3 ])", "chart_data out"

/* ---- recorded programs -------------------------------------------------------------------- */

static const struct output said[] = {
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
		   "rift predict " FOUND "programs-mixed-10.trace.gz --json --on " KEPT
		   "launch.jsonl | rounded",
		   "rift predict " FOUND "programs-waits-10.trace.gz --on " ADDED
		   ".jsonl.gz:b --from " ADDED ".jsonl.gz:a --costs " ADDED
		   ".json.gz --from-costs " ADDED ".native.json.gz --what-if overlap --what-if "
		   "kernels=0.5 --what-if merge=3 --what-if batch=8",
		   "rift predict " FOUND "simpleCudaGraphs.trace.gz --on " KEPT
		   "launch.jsonl --measured " FOUND "simpleCudaGraphs.trace.gz") },
	/* ---- several clients ---- */
	{ "share", COMMANDS("rift share --from " SHARE "pair-binomial-mlp.jsonl.gz",
			    "rift share --from " SHARE "harm-kill-3.jsonl.gz",
			    "rift share --from " SHARE "unfair.jsonl.gz",
			    "rift share --from " SHARE "sizes-4M.jsonl.gz",
			    "rift share --json --from " SHARE "equal-1.jsonl.gz | rounded") },
	{ "share-across", COMMANDS("rift share --from " SHARE
				   "pair-binomial-mlp.jsonl.gz --from " SHARE "beside-mlp.jsonl.gz",
				   "rift share --json --from " SHARE
				   "equal-1.jsonl.gz --from " SHARE "equal-2.jsonl.gz | rounded") },
	{ "share-charts", COMMANDS(CHARTS("share --from " SHARE "unfair.jsonl.gz --plot out"),
				   CHARTS("share --from " SHARE "harm-kill.jsonl.gz --plot out"),
				   CHARTS("share --from " SHARE "equal-1.jsonl.gz --from " SHARE
					  "equal-2.jsonl.gz --plot out")) },
	/* ---- files of rift probe ---- */
	{ "grids",
	  COMMANDS("rift show " GRIDS "lengths.json.gz",
		   "rift compare " GRIDS "layer-none.json.gz " GRIDS "layer-neighbour-copy.json.gz",
		   "rift compare " GRIDS "layer-none.json.gz " GRIDS
		   "layer-neighbour-copy.json.gz --margin 5 --json | rounded | head -n 90") },
	{ "grid-charts", COMMANDS(CHARTS("plot " GRIDS "lengths.json.gz --output out"),
				  CHARTS("plot " GRIDS "layer-none.json.gz " GRIDS
					 "layer-neighbour-spin.json.gz --output out")) },
	{ "warmup", COMMANDS("rift show " WARMUP "long.json.gz",
			     CHARTS("plot " WARMUP "long.json.gz --output out")) },
	/* ---- timed programs ---- */
	{ "time",
	  COMMANDS("rift show " WFA, "rift show " TIMED, "rift compare " TIMED " --json | rounded",
		   "rift show --check " TIMED " " SHARE "equal-1.jsonl.gz " TRACE
		   "h100-copies.trace.gz",
		   CHARTS("plot " WFA " --output out")) },
	/* ---- many sessions ---- */
	{ "each", COMMANDS("rift compare --each date --side a " SETS "set-0*",
			   "rift compare --each date --side a --json " SETS "set-00* " SETS
			   "set-02* " SETS "set-04* | rounded",
			   "rift compare --each node --side a --all " SETS "set-0*",
			   "rift compare --each node --side a --json " SETS "set-00* " SETS
			   "set-02* " SETS "set-04* | rounded",
			   CHARTS("compare --each date --side a " SETS "set-00* " SETS
				  "set-02* " SETS "set-04* --plot out")) },
	/* ---- sessions ---- */
	{ "session-charts",
	  COMMANDS(CHARTS("plot " KEPT "launch.jsonl --output out"),
		   CHARTS("plot " KEPT "mlp.jsonl --from " KEPT "launch.jsonl --costs " KEPT
			  "costs.json --output out"),
		   CHARTS("plot " KEPT "copied.jsonl --over copied --output out"),
		   CHARTS("plot " SETS "set-00.jsonl.gz --output out"),
		   CHARTS("plot data/sessions/wsl2-h200/wsl2-2021-mlp.jsonl.gz --output out")) },
	{ "page-charts",
	  COMMANDS(CHARTS("compare " HOLDS "none.jsonl.gz:a " HOLDS "shim.jsonl.gz " HOLDS
			  "profiler.jsonl.gz " HOLDS "lupine.jsonl.gz --force --plot out"),
		   "rift compare --json --force " HOLDS "none.jsonl.gz:a " HOLDS
		   "profiler.jsonl.gz " HOLDS "lupine.jsonl.gz | rounded | head -n 150") },
	{ "points",
	  COMMANDS("rift show --check --csv points.csv " KEPT "block.jsonl", "rounded <points.csv",
		   "rift show --check --ratios ratios.csv " SETS "call-5.jsonl.gz",
		   "rounded <ratios.csv", "rift show " SETS "again-alloc-20.jsonl.gz:b") },
	/* ---- pages to send on ---- */
	{ "report", COMMANDS("rift report --markdown " SETS "set-00.jsonl.gz",
			     "rift report --markdown " KEPT "launch.jsonl",
			     "rift report --markdown " SHARE "harm-kill-3.jsonl.gz",
			     "rift report --markdown " TRACE "h100-copies.trace.gz " WFA,
			     "rift report --markdown " HOLDS "none.jsonl.gz:a " HOLDS
			     "shim.jsonl.gz " HOLDS "container.jsonl.gz",
			     "rift report --markdown --each date --side a " SETS "set-0*",
			     ": (PATH=; rift report " TIMED " --output page.html)",
			     "sed '/<style/,/<\\/style>/d; /<svg/,/<\\/svg>/d' page.html") },
};

/* ---- all ---------------------------------------------------------------------------------- */

/* Places in the table: a test's process has it elsewhere. */
static int places[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14 };

ParameterizedTestParameters(small_golden_kept, outputs)
{
	_Static_assert(sizeof(places) / sizeof(*places) == sizeof(said) / sizeof(*said),
		       "a place for each");
	return cr_make_param_array(int, places, sizeof(places) / sizeof(*places));
}

ParameterizedTest(int *place, small_golden_kept, outputs)
{
	golden(&said[*place], false);
}
