/*
 * test_cli_sensitivity.c - `rift sensitivity` of the real binary: one short measurement under the
 * layer, its chart's files, and what is refused.
 */
/* sanitizers: seen elsewhere */
#include "tests/capture.h"
#include "tests/cli.h"
#include "tests/divert.h"
#include "tests/need_gnuplot.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>

#include "harness/layer/enter.h"

TestSuite(small_cli_sensitivity, .timeout = 120);

static void need_layer(void)
{
	need_device();
	if (layer_missing(layer_find("emulate")))
		cr_skip("the layer emulate cannot be had here");
}

/* Short ones: empty kernels. A launch of these takes far less than half a millisecond, on a busy
 * machine and under a sanitizer, too. */
#define SHORT "launch us=0 --depth 16 --blocks 3 --processes 1 --quiet"

static double number(const json_t *o, const char *name)
{
	return json_number_value(json_object_get(o, name));
}

Test(small_cli_sensitivity, half_a_millisecond_a_call_is_seen)
{
	const json_t *o, *cost, *values, *runs;

	need_layer();
	o = rift_json("sensitivity " SHORT " --cost call=0,500 --cost alloc=5 --json");
	cr_assert(eq(str, (char *)get_text(o, "command"), "sensitivity"), "command");
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

Test(small_cli_sensitivity, a_table_and_a_chart)
{
	static char dir[] = "/tmp/rift_sensitivity_XXXXXX";
	const char *text;

	need_layer();
	NEED_GNUPLOT();
	cr_assert(ne(ptr, mkdtemp(dir), NULL), "%s", dir);
	cr_assert(zero(int, run_rift(OUT, &text,
				     "sensitivity " SHORT " --cost call=0,1,20 --cost copies=1 "
				     "--cost sync=20 --plot '%s/charts/'",
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
Test(small_cli_sensitivity, a_network_of_twenty_milliseconds_is_seen)
{
	const json_t *o, *cost, *values, *runs;

	need_device();
	if (layer_missing(layer_find("remote")))
		cr_skip("the layer remote cannot be had here");
	o = rift_json("sensitivity " SHORT " --layer 'remote transport=tcp' --cost rtt=0,20000 "
		      "--cost bandwidth=200 --json");
	cr_assert(eq(str, (char *)get_text(o, "layer"), "remote transport=tcp"), "layer");
	cr_assert(eq(sz, json_array_size(json_object_get(o, "platforms")), 3), "platforms");
	cost = json_array_get(json_object_get(o, "costs"), 0);
	values = json_object_get(cost, "values");
	cr_assert(lt(dbl, 2, number(json_array_get(values, 1), "predicted")), "predicted");
	runs = json_object_get(json_array_get(json_object_get(o, "platforms"), 2), "runs");
	cr_assert(lt(dbl, 20e6 / 16, number(json_array_get(runs, 0), "step_ns")), "a step");
}

/* Shared memory is no network: said once, not for each value. */
Test(small_cli_sensitivity, what_a_layer_refuses_is_one_line)
{
	need_device();
	if (layer_missing(layer_find("remote")))
		cr_skip("the layer remote cannot be had here");
	refused(4, "launch under remote network=0,200: *transport=unix and tcp",
		"sensitivity " SHORT " --layer remote");
	refused(3, "'shim'", "sensitivity launch --layer shim");
}

Test(small_cli_sensitivity, a_plan_is_one_line)
{
	const char *text;

	need_layer();
	cr_assert(zero(int, run_rift(OUT, &text, "sensitivity " SHORT " --dry-run")), "%s", text);
	cr_assert(tells(text, "launch: *17 *1 process*copy, alloc, copies\n"), "%s", text);
	cr_assert(eq(sz, strcspn(text, "\n") + 1, strlen(text)), "one line: %s", text);
	cr_assert(eq(dbl, number(rift_json("sensitivity " SHORT " --dry-run --json"), "processes"),
		     1),
		  "processes");
}

Test(small_cli_sensitivity, what_is_refused)
{
	need_layer();
	refused(3, "WORKLOAD", "sensitivity");
	refused(3, "'launch'", "sensitivity lunch");
	refused(3, "'call'", "sensitivity launch --cost cal=1");
	refused(3, "1e6", "sensitivity launch --cost call=1e7");
	refused(3, "--processes=0", "sensitivity launch --processes 0");
	/* rift run's own words */
	refused(3, "'us'", "sensitivity launch su=0");
	refused(3, "--mode=", "sensitivity transfer --mode graph");
	refused(3, "--depth=0", "sensitivity launch --depth 0");
	refused(3, "nothing is timed", "sensitivity launch probe=quick");
	refused(3, "/dev/null", "sensitivity launch --plot /dev/null");
}

/* A step that long makes the solver unstable. */
Test(small_cli_sensitivity, a_native_run_that_fails_its_check)
{
	need_layer();
	refused(1, "myocyte: *native",
		"sensitivity myocyte solver=fixed step=1 --blocks 2 --quiet");
}
