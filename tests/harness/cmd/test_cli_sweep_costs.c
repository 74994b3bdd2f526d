/*
 * test_cli_sweep_costs.c - `rift sweep` over costs of a layer, the real binary: one short
 * measurement, its chart's files, and what is refused.
 */
/* sanitizers: seen elsewhere */
#include "tests/test.h"
#include "tests/cli.h"
#include "tests/need_gnuplot.h"

#include "harness/platform/enter.h"

TestSuite(small_cli_sweep_costs, .timeout = 120);

static void need_layer(void)
{
	need_device();
	if (layer_missing(layer_find("emulate")))
		cr_skip("the layer emulate is not available here");
}

/* Short ones: empty kernels. A launch of these takes far less than half a millisecond, on a busy
 * machine and under a sanitizer, too. */
#define SHORT_OPTIONS "--depth 16 --samples 3 --processes 1 --quiet"
#define SHORT "launch us=0 " SHORT_OPTIONS

#define USUAL " --layer 'emulate costs=usual'"

static double number(const json_t *o, const char *name)
{
	return json_number_value(json_object_get(o, name));
}

Test(small_cli_sweep_costs, half_a_millisecond_a_call_is_seen)
{
	const json_t *o, *cost, *values, *runs;

	need_layer();
	o = rift_json("sweep " SHORT " --layer 'emulate call=0,500 alloc=0,5' --json");
	cr_assert(eq(str, (char *)get_text(o, "command"), "sweep"), "command");
	cr_assert(eq(sz, json_array_size(json_object_get(o, "platforms")), 3), "platforms");
	cost = json_array_get(json_object_get(o, "costs"), 0);
	values = json_object_get(cost, "values");
	cr_assert(lt(dbl, 2, number(json_array_get(values, 1), "ratio")), "measured");
	cr_assert(lt(dbl, 2, number(json_array_get(values, 1), "predicted")), "predicted");
	runs = json_object_get(json_array_get(json_object_get(o, "platforms"), 2), "runs");
	cr_assert(lt(dbl, 500000 - 1000, number(json_array_get(runs, 0), "step_ns")), "a step");
	cost = json_array_get(json_object_get(o, "costs"), 1);
	cr_assert(eq(ptr, json_object_get(cost, "in_step"), json_false()), "alloc");
}

Test(small_cli_sweep_costs, a_table_and_a_chart)
{
	static char dir[] = "/tmp/rift_sensitivity_XXXXXX";
	const char *text;

	need_layer();
	NEED_GNUPLOT();
	cr_assert(ne(ptr, mkdtemp(dir), NULL), "%s", dir);
	cr_assert(zero(int, run_rift(OUT, &text,
				     "sweep " SHORT " --layer 'emulate call=0,1,20 copies=0,1 "
				     "sync=0,20' --plot '%s/charts/'",
				     dir)),
		  "%s", text);
	cr_assert(tells(text, "  call *copies *not part of a step"), "%s", text);
	cr_assert(tells(text, "/charts/launch-sensitivity.png, .svg\n"), "%s", text);
	shell(&text, "cd '%s/charts' && LC_ALL=C ls -A | tr '\\n' ' '", dir);
	cr_assert(eq(str, (char *)text,
		     "launch-sensitivity-model.csv launch-sensitivity-points.csv "
		     "launch-sensitivity.gp launch-sensitivity.png launch-sensitivity.svg "),
		  "%s", text);
	shell(&text, "cut -d, -f1,2,6 '%s/charts/launch-sensitivity-points.csv' | tr '\\n' ' '",
	      dir);
	cr_assert(eq(str, (char *)text, "series,value,cost 1,1,call 1,20,call 2,20,sync "), "%s",
		  text);
	shell(NULL, "rm -rf '%s'", dir);
}

/* 20 ms of round trip are waited for once in 16 steps. */
Test(small_cli_sweep_costs, a_network_of_twenty_milliseconds_is_seen)
{
	const json_t *o, *cost, *values, *runs;

	need_device();
	if (layer_missing(layer_find("remote")))
		cr_skip("the layer remote is not available here");
	o = rift_json("sweep " SHORT " --layer 'remote transport=tcp rtt=0,20000 "
		      "bandwidth=200' --json");
	cr_assert(eq(str, (char *)get_text(o, "layer"), "remote transport=tcp"), "layer");
	cr_assert(eq(sz, json_array_size(json_object_get(o, "platforms")), 3), "platforms");
	cost = json_array_get(json_object_get(o, "costs"), 0);
	values = json_object_get(cost, "values");
	cr_assert(lt(dbl, 2, number(json_array_get(values, 1), "predicted")), "predicted");
	runs = json_object_get(json_array_get(json_object_get(o, "platforms"), 2), "runs");
	cr_assert(lt(dbl, 20e6 / 16, number(json_array_get(runs, 0), "step_ns")), "a step");
}

/* Shared memory is no network: said once, not for each value. */
Test(small_cli_sweep_costs, what_a_layer_refuses_is_one_line)
{
	need_device();
	if (layer_missing(layer_find("remote")))
		cr_skip("the layer remote is not available here");
	refused(4, "launch under remote transport=shm network=0,200: *transport=unix or tcp",
		"sweep " SHORT " --layer 'remote transport=shm costs=usual'");
}

Test(small_cli_sweep_costs, a_plan_is_one_line)
{
	const char *text;

	need_layer();
	cr_assert(zero(int, run_rift(OUT, &text, "sweep " SHORT USUAL " --dry-run")), "%s", text);
	cr_assert(tells(text, "launch: *17 *1 process*copy, alloc, copies\n"), "%s", text);
	cr_assert(eq(sz, strcspn(text, "\n") + 1, strlen(text)), "one line: %s", text);
	cr_assert(eq(dbl, number(rift_json("sweep " SHORT USUAL " --dry-run --json"), "processes"),
		     1),
		  "processes");
	/* of launch, as every sweep that names no workload; a value may stand before its name */
	cr_assert(eq(
		str,
		(char *)get_text(rift_json("sweep us=0 --samples 2 --quiet --dry-run --json" USUAL),
				 "workload"),
		"launch"));
	cr_assert(zero(int,
		       run_rift(OUT, NULL, "sweep us=0 " SHORT_OPTIONS " launch --dry-run" USUAL)));
}

Test(small_cli_sweep_costs, what_is_refused)
{
	need_layer();
	refused(3, "'sensitivity' is now `rift sweep WORKLOAD *costs=usual", "sensitivity launch");
	refused(3, "'launch'", "sweep lunch" USUAL);
	refused(3, "'call'", "sweep launch --layer 'emulate cal=1,2'");
	refused(3, "1e6", "sweep launch --layer 'emulate call=0,1e7'");
	refused(3, "--processes=0", "sweep launch --processes 0" USUAL);
	/* rift run's own words */
	refused(3, "'us'", "sweep launch su=0" USUAL);
	refused(3, "us=0,10", "sweep launch us=0,10" USUAL);
	refused(3, "--mode=", "sweep transfer --mode graph" USUAL);
	refused(3, "--depth=0", "sweep launch --depth 0" USUAL);
	refused(3, "--depth=1,16", "sweep launch --depth 1,16" USUAL);
	refused(3, "nothing is timed", "sweep launch probe=quick" USUAL);
	refused(3, "/dev/null", "sweep launch --plot /dev/null" USUAL);
}

/* Options of a grid, and of costs, where the other one is measured. */
Test(small_cli_sweep_costs, what_does_not_go_together)
{
	static const char *const of_grids[] = {
		"--quick",	    "--express",       "--size 1",	"--rounds 2",
		"--around us=1,2",  "--seed 1",	       "--warm-up 1",	"--sync spin",
		"--resolve c=1us",  "--margin 2",      "--lock-clocks", "--against env",
		"--apart",	    "--check-steps 1", "--patience 5",	"--platform x",
		"--output x.jsonl", "--resume x.jsonl"
	};
	static const char *const of_costs[] = { "samples 2", "time-limit 5", "plot x", "json" };

	for (size_t i = 0; i < sizeof(of_grids) / sizeof(*of_grids); i++)
		refused(3, "emulate costs=usual'*only", "sweep launch %s" USUAL, of_grids[i]);
	for (size_t i = 0; i < sizeof(of_costs) / sizeof(*of_costs); i++)
		refused(3, "needs a layer's costs, as ", "sweep launch --%s", of_costs[i]);
	refused(3, "one workload", "sweep launch transfer" USUAL);
	refused(3, "one layer", "sweep launch --layer none" USUAL);
}

/* A step that long makes the solver unstable. */
Test(small_cli_sweep_costs, a_native_run_that_fails_its_check)
{
	need_layer();
	refused(1, "myocyte: *native",
		"sweep myocyte solver=fixed step=1 --samples 2 --quiet" USUAL);
}
