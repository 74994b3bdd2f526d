/*
 * test_sweep_figures.c - numbers of rift show, check and list, and what options there are
 * (tests/figures.h).
 */
#include "tests/plain.h"
#include "tests/figures.h"

#include <criterion/parameterized.h>

TestSuite(large_sweep_figures, .init = figures_folder_make, .fini = figures_folder_remove,
	  .timeout = 300);

static struct said all[] = {
	{ "show-launch", "show " KEPT "launch.jsonl" },
	{ "show-both", "show both.jsonl" },
	{ "show-costs", "show " KEPT "costs.json" },
	{ "check-csv", "show --check both.jsonl --csv OUT/points.csv --ratios OUT/ratios.csv" },
	{ "help-list", "list --help" },
	{ "help-run", "run --help" },
	{ "help-sweep", "sweep --help" },
	{ "help-show", "show --help" },
	{ "help-fit", "fit --help" },
	{ "help-predict", "predict --help" },
	{ "help-compare", "compare --help" },
	{ "help-plot", "plot --help" },
	{ "help-probe", "probe --help" },
	{ "help-doctor", "doctor --help" },
	{ "list-launch", "list launch" },
	{ "list-json", "list launch --json" },
};

ParameterizedTestParameters(large_sweep_figures, are_what_they_were)
{
	return cr_make_param_array(struct said, all, sizeof(all) / sizeof(*all));
}

ParameterizedTest(struct said *s, large_sweep_figures, are_what_they_were)
{
	figures_are_what_they_were(s);
}
