/* test_model_figures.c - numbers of rift fit, predict, validate and stack (tests/figures.h). */
#include "tests/plain.h"
#include "tests/figures.h"

#include <criterion/parameterized.h>

TestSuite(large_model_figures, .init = figures_folder_make, .fini = figures_folder_remove,
	  .timeout = 300);

static struct said all[] = {
	{ "fit-launch", "fit " KEPT "launch.jsonl" },
	{ "fit-launch-json", "fit " KEPT "launch.jsonl --json" },
	{ "fit-myocyte", "fit " KEPT "myocyte.jsonl" },
	{ "fit-pathtrace", "fit " KEPT "pathtrace.jsonl" },
	{ "fit-guest", "fit guest.jsonl --over " KEPT "launch.jsonl" },
	{ "fit-guest-json", "fit guest.jsonl --over " KEPT "launch.jsonl --json" },
	{ "fit-off-grid", "fit guest.jsonl --off-grid off.jsonl" },
	{ "predict", "predict " KEPT "myocyte.jsonl --on guest.jsonl" },
	{ "predict-measured",
	  "predict work.jsonl --on guest.jsonl --measured elsewhere.jsonl --from both.jsonl:a" },
	{ "predict-json", "predict work.jsonl --on guest.jsonl --measured elsewhere.jsonl --json" },
	{ "validate", "predict --validate " KEPT "myocyte.jsonl " KEPT "pathtrace.jsonl --on " KEPT
		      "launch.jsonl" },
	{ "validate-json",
	  "predict --validate " KEPT "myocyte.jsonl --on " KEPT "launch.jsonl --json" },
	{ "stack-launch", "fit --stack " KEPT "launch.jsonl --all" },
	{ "stack-mlp",
	  "fit --stack " KEPT "mlp.jsonl --from " KEPT "launch.jsonl --costs " KEPT "costs.json" },
	{ "stack-copied", "fit --stack " KEPT "copied.jsonl --from " KEPT
			  "launch.jsonl --costs " KEPT "costs.json" },
	{ "stack-mlp-json", "fit --stack " KEPT "mlp.jsonl --from " KEPT
			    "launch.jsonl --costs " KEPT "costs.json --json" },
};

ParameterizedTestParameters(large_model_figures, are_what_they_were)
{
	return cr_make_param_array(struct said, all, sizeof(all) / sizeof(*all));
}

ParameterizedTest(struct said *s, large_model_figures, are_what_they_were)
{
	figures_are_what_they_were(s);
}
