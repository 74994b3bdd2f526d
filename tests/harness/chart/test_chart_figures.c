/* test_chart_figures.c - numbers of rift plot, in data and titles (tests/figures.h). */
#include "tests/plain.h"
#include "tests/figures.h"
#include "tests/need_gnuplot.h"

#include <criterion/parameterized.h>

TestSuite(large_chart_figures, .init = figures_folder_make, .fini = figures_folder_remove,
	  .timeout = 300);

static struct said all[] = {
	{ "plot-launch", "plot " KEPT "launch.jsonl --output OUT" },
	{ "plot-both", "plot both.jsonl --output OUT" },
	{ "plot-sessions", "plot " KEPT "launch.jsonl guest.jsonl --output OUT" },
	{ "plot-collection", "plot " KEPT "collection.jsonl.gz --output OUT" },
	{ "plot-copied", "plot " KEPT "copied.jsonl --over copied --output OUT" },
	{ "plot-block", "plot " KEPT "block.jsonl --over block --output OUT" },
	{ "plot-mlp", "plot " KEPT "mlp.jsonl --from " KEPT "launch.jsonl --costs " KEPT
		      "costs.json --output OUT" },
};

ParameterizedTestParameters(large_chart_figures, are_what_they_were)
{
	return cr_make_param_array(struct said, all, sizeof(all) / sizeof(*all));
}

ParameterizedTest(struct said *s, large_chart_figures, are_what_they_were)
{
	NEED_GNUPLOT();
	draw_each_look_once(figures_folder());
	figures_are_what_they_were(s);
}
