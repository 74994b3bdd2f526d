/* test_atlas_figures.c - numbers of rift atlas (tests/figures.h). */
#include "tests/figures.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

TestSuite(large_atlas_figures, .init = figures_folder_make, .fini = figures_folder_remove,
	  .timeout = 300);

static struct said all[] = {
	{ "atlas", "atlas both.jsonl:a both.jsonl guest.jsonl --force" },
	{ "atlas-copies", "atlas copies.jsonl:a copies.jsonl" },
	{ "atlas-copies-json", "atlas copies.jsonl:a copies.jsonl --json" },
};

ParameterizedTestParameters(large_atlas_figures, are_what_they_were)
{
	return cr_make_param_array(struct said, all, sizeof(all) / sizeof(*all));
}

ParameterizedTest(struct said *s, large_atlas_figures, are_what_they_were)
{
	figures_are_what_they_were(s);
}
