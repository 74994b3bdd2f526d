/* test_compare_figures.c - numbers of rift compare (tests/figures.h). */
#include "tests/plain.h"
#include "tests/figures.h"

#include <criterion/parameterized.h>

TestSuite(large_compare_figures, .init = figures_folder_make, .fini = figures_folder_remove,
	  .timeout = 300);

static struct said all[] = {
	{ "compare-both", "compare both.jsonl --force" },
	{ "compare-both-all", "compare both.jsonl --force --all --margin 5" },
	{ "compare-both-json", "compare both.jsonl --force --json" },
	{ "compare-sessions", "compare " KEPT "launch.jsonl guest.jsonl --force" },
	{ "compare-self", "compare --self-test " KEPT "launch.jsonl" },
	{ "compare-costs", "compare " KEPT "costs.json other-costs.json" },
	{ "compare-costs-json", "compare " KEPT "costs.json other-costs.json --margin 5 --json" },
};

ParameterizedTestParameters(large_compare_figures, are_what_they_were)
{
	return cr_make_param_array(struct said, all, sizeof(all) / sizeof(*all));
}

ParameterizedTest(struct said *s, large_compare_figures, are_what_they_were)
{
	figures_are_what_they_were(s);
}
