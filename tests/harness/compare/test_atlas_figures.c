/* test_atlas_figures.c - numbers of a page of rift compare (tests/figures.h). */
#include "tests/plain.h"
#include "tests/figures.h"

#include <criterion/parameterized.h>

TestSuite(large_atlas_figures, .init = figures_folder_make, .fini = figures_folder_remove,
	  .timeout = 300);

#define H100 "data/sessions/atlas-h100/"
#define H200 "data/sessions/atlas-h200/"

/* The last two are launches of docs/results/atlas.md: where they change, so does that page. */
static struct said all[] = {
	{ "atlas", "compare both.jsonl:a both.jsonl guest.jsonl --force" },
	{ "atlas-copies", "compare copies.jsonl:a copies=copies.jsonl" },
	{ "atlas-copies-json", "compare copies.jsonl:a copies=copies.jsonl --json" },
	{ "atlas-h100", "compare " H100 "none.jsonl.gz:a " H100 "MPS.jsonl.gz " H100
			"HAMi-O0.jsonl.gz " H100 "XSched.jsonl.gz " H100 "Lupine.jsonl.gz " H100
			"neighbour-spin.jsonl.gz --workload launch --force" },
	{ "atlas-h200", "compare " H200 "none-2.jsonl.gz:a " H200 "remote.jsonl.gz " H200
			"neighbour-copy.jsonl.gz " H200 "neighbour-launch.jsonl.gz " H200
			"neighbour-spin.jsonl.gz --workload launch --force" },
};

ParameterizedTestParameters(large_atlas_figures, are_what_they_were)
{
	return cr_make_param_array(struct said, all, sizeof(all) / sizeof(*all));
}

ParameterizedTest(struct said *s, large_atlas_figures, are_what_they_were)
{
	figures_are_what_they_were(s);
}
