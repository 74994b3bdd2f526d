/*
 * test_sensitivity.c - harness/probe/sensitivity.h: values and their order, frontiers, and
 * what is said of runs that were made up.
 */
/* sanitizers: one thread */
#include "tests/test.h"
#include "harness/probe/sensitivity.h"

#include "common/param.h"
#include "harness/platform/enter.h"
#include "harness/measure/wait.h"
#include "harness/chart/sensitivity_chart.h"
#include "tests/chart_files.h"
#include "tests/golden.h"

TestSuite(small_sensitivity, .timeout = 60);
TestSuite(small_sensitivity_chart, .init = chart_folder_make, .fini = chart_folder_remove,
	  .timeout = 60);

static const struct param *row(const char *name)
{
	const struct param *rows = layer_params(layer_find("emulate"));
	int at = params_find(rows, name, strlen(name));

	cr_assert(le(int, 0, at), "%s", name);
	return &rows[at];
}

/* ---- frontiers ---------------------------------------------------------------------------- */

static void finds(const char *name, const double *value, const double *ratio, int n,
		  enum frontier_state state, double at)
{
	struct frontier f = frontier_find(row(name), value, ratio, n, 1.25);

	cr_assert(eq(int, f.state, state), "%s: state %d", name, (int)f.state);
	if (isfinite(at))
		cr_assert(epsilon_eq(dbl, f.value, at, 1e-9), "%s: %g, not %g", name, f.value, at);
}

Test(small_sensitivity, a_frontier_lies_on_the_line_between_two_values)
{
	static const double us[] = { 0, 1, 5, 20 }, rates[] = { 0, 100, 10, 1 };

	finds("call", us, (double[]){ 1, 1.05, 1.45, 3 }, 4, FRONTIER_AT, 3);
	finds("call", us, (double[]){ 1, 1.25, 2, 3 }, 4, FRONTIER_AT, 1);
	/* one that was disturbed is none */
	finds("call", us, (double[]){ 1, 2, 1.15, 1.35 }, 4, FRONTIER_AT, 12.5);
	/* on the line over what a byte takes: 0.1 to 1 ns */
	finds("copies", rates, (double[]){ 1, 1, 1.05, 1.45 }, 4, FRONTIER_AT, 1 / 0.55);
}

Test(small_sensitivity, a_frontier_that_no_value_reaches)
{
	static const double us[] = { 1, 5, 20 };

	finds("call", us, (double[]){ 1, 1.1, 1.24 }, 3, FRONTIER_BEYOND, 20);
	finds("call", us, (double[]){ 1.3, 1.4, 2 }, 3, FRONTIER_BEFORE, 1);
	finds("call", us, NULL, 0, FRONTIER_UNKNOWN, NAN);
}

Test(small_sensitivity, values_without_a_figure_are_not_there)
{
	static const double us[] = { 1, 5, 21 };

	finds("call", us, (double[]){ NAN, NAN, NAN }, 3, FRONTIER_UNKNOWN, NAN);
	finds("call", us, (double[]){ 1, NAN, 2 }, 3, FRONTIER_AT, 6);
	finds("call", us, (double[]){ 1, 1.1, NAN }, 3, FRONTIER_BEYOND, 5);
	finds("call", us, (double[]){ NAN, 1.5, 2 }, 3, FRONTIER_BEFORE, 5);
}

/* ---- what a run says ---------------------------------------------------------------------- */

/* 64 steps in graphs of 24 are three graphs. */
Test(small_sensitivity, figures_of_a_run_are_medians)
{
	json_t *o = json_pack(
		"{s:{s:s, s:s}, s:{s:i}, s:{s:[s]}, s:{s:f}, s:{s:f}, s:f, s:f, s:f, s:s, s:f}",
		"device", "name", "made up", "kind", "cpu", "blocks", "n", 7, "platform", "layers",
		"one", "step_ns", "median", 1000.0, "submit_ns", "median", 500.0, "kernel_ns",
		900.0, "block_ends_ns", 250.0, "depth", 64.0, "mode", "graph", "graph_steps", 24.0);
	struct run_process p = { .exit_code = 0 };
	const struct step_figures *f = &p.step;

	json_object_set_new(o, "cost",
			    json_pack("{s:f, s:f, s:f, s:f}", "launches", 2.0, "copies", 3.0,
				      "bytes_transferred", 4.0, "allocations", 5.0));
	run_process_read(&p, o);
	cr_expect(eq(str, p.device, "made up"), "device");
	cr_expect(p.is_cpu, "CPU");
	cr_expect(eq(i64, p.blocks, 7), "samples");
	cr_expect(eq(sz, json_array_size(p.layers), 1), "layers");
	cr_expect(f->step_ns == 1000 && f->submit_ns == 500, "medians");
	cr_expect(f->kernel_ns == 900 && f->ends_ns == 250 && f->depth == 64, "numbers");
	cr_expect(f->launches == 2 && f->copies == 3, "of a step");
	cr_expect(f->bytes_transferred == 4 && f->allocations == 5, "of a step");
	cr_expect(eq(int, f->mode, MODE_GRAPH), "mode");
	cr_expect(eq(dbl, f->graphs, 3), "graphs: %g", f->graphs);
	run_process_release(&p);
	for (int mode = 0; mode < MODE_COUNT; mode++) {
		json_object_set_new(o, "mode", json_string(mode_name((enum mode)mode)));
		json_object_set_new(o, "graph_steps", json_null());
		json_object_set_new(json_object_get(o, "device"), "kind", json_string("gpu"));
		run_process_read(&p, o);
		cr_expect(eq(int, f->mode, (enum mode)mode), "%d", mode);
		cr_expect(zero(dbl, f->graphs), "no graphs: %g", f->graphs);
		cr_expect(not(p.is_cpu), "a GPU");
		run_process_release(&p);
	}
	json_decref(o);
}

/* ---- the plan ----------------------------------------------------------------------------- */

static const char *const words[] = { "launch", "us=0", NULL };

static int begin(struct sensitivity *s, struct sensitivity_request *r, const char *layer)
{
	*r = (struct sensitivity_request){ .words = words, .layer = layer, .processes = 2 };
	return sensitivity_init(s, r);
}

/* What a usual sweep takes as its second side, and what asks for this. */
Test(small_sensitivity, layers_with_several_values)
{
	static const char *const asked[] = { "emulate call=0,5",
					     "emulate n=2 copies=0,1",
					     "emulate costs=usual",
					     "emulate cal=0,5", /* to be refused as a cost */
					     "emulate\tcall=1,",
					     "remote transport=tcp rtt=50",
					     "remote bandwidth=1,2 transport=tcp",
					     "remote costs=usual" };
	static const char *const not [] = { "",
					    "emulate",
					    "emulate call=5",
					    "emulate cal=5",
					    "emulate n=1,64", /* of the layer, but no cost */
					    "emulate call",
					    "emulate preset=hami",
					    "emulates call=0,5",
					    "shim call=0,5",
					    "remote network=50,25",
					    "remote transport=tcp",
					    "remote call=1" };

	for (size_t i = 0; i < sizeof(asked) / sizeof(*asked); i++)
		cr_assert(sensitivity_is_asked(asked[i]), "%s", asked[i]);
	for (size_t i = 0; i < sizeof(not ) / sizeof(*not ); i++)
		cr_assert(zero(int, sensitivity_is_asked(not [i])), "%s", not [i]);
}

static void is_refused(const char *layer, const char *says)
{
	struct sensitivity_request r;
	struct sensitivity s;
	const char *text;

	divert_stderr();
	cr_assert(eq(int, begin(&s, &r, layer), -EINVAL), "%s", layer);
	text = diverted_stderr();
	cr_assert(is_one_complaint(text) && tells(text, says), "%s: %s", layer, text);
	sensitivity_release(&s);
}

Test(small_sensitivity, costs_that_are_refused)
{
	is_refused("emulate cal=1,2", "'call'");
	is_refused("emulate xyzzyxyzzy=1,2", "of emulate; `rift layer` lists");
	is_refused("emulate call=1,", "call");
	is_refused("emulate call=-1,0", "0 to 1e6");
	is_refused("emulate call=1,2x", "2x");
	is_refused("emulate call=1,2,1.0", "twice");
	is_refused("emulate call=1,2,3,4,5,6,7,8,9", "8");
	is_refused("emulate call=1,2 call=3,4", "call is given twice");
	is_refused("emulate call=1,2 call=3", "call is given twice");
	is_refused("emulate sync=3 costs=usual", "sync is given twice");
}

Test(small_sensitivity, values_are_in_order_from_the_mildest)
{
	struct sensitivity_request r;
	struct sensitivity s;

	cr_assert(zero(int, begin(&s, &r, "emulate call=20,0,1 n=2 copies=1,100,0,10")), "begin");
	cr_assert(eq(int, s.n, 2), "%d costs", s.n);
	cr_assert(eq(str, s.layer, "emulate n=2"), "%s", s.layer);
	cr_assert(zero(int, memcmp(s.cost[0].value, (double[]){ 0, 1, 20 }, 3 * sizeof(double))),
		  "call");
	cr_assert(
		zero(int, memcmp(s.cost[1].value, (double[]){ 0, 100, 10, 1 }, 4 * sizeof(double))),
		"copies");
	sensitivity_release(&s);
}

Test(small_sensitivity, each_turn_has_all_in_an_order_of_its_own)
{
	enum { CELLS = 20 };
	int order[2][CELLS], again[CELLS];

	for (int turn = 0; turn < 2; turn++) {
		bool seen[CELLS] = { false };

		sensitivity_order(order[turn], CELLS, turn);
		for (int i = 0; i < CELLS; i++)
			seen[order[turn][i]] = true;
		for (int i = 0; i < CELLS; i++)
			cr_assert(seen[i], "turn %d: cell %d", turn, i);
	}
	cr_assert(memcmp(order[0], order[1], sizeof(again)) != 0, "two turns");
	sensitivity_order(again, CELLS, 1);
	cr_assert(zero(int, memcmp(order[1], again, sizeof(again))), "the same every time");
}

/* ---- a network ---------------------------------------------------------------------------- */

Test(small_sensitivity, networks_that_are_refused)
{
	char text[256];

	is_refused("remote transport=tcp rtt=1.5", "rtt=1.5*whole number");
	is_refused("remote transport=tcp bandwith=1,2", "'bandwidth'");
	is_refused("remote transport=tcp call=1,2",
		   "'call' of remote; remote has rtt and bandwidth");
	is_refused("emulate rtt=1,2", "'rtt'");
	memset(text, 'x', sizeof(text) - 1);
	memcpy(text, "remote rtt=1 ", 13);
	text[sizeof(text) - 1] = '\0';
	is_refused(text, "180");
}

static bool begin_network(struct sensitivity *s, struct sensitivity_request *r)
{
	int err;

	err = begin(s, r, "remote transport=tcp poll=50 costs=usual");
	cr_assert(err == 0 || err == -ENODEV, "init: %d", err);
	return !err;
}

/* ---- made-up runs ------------------------------------------------------------------------- */

/* A step of 1 us, half of it submitting, in blocks of 10. */
static struct run_process native_run(void)
{
	return (struct run_process){ .wall_s = 2,
				     .device = "made-up device",
				     .blocks = 5,
				     .step = { .step_ns = 1000,
					       .submit_ns = 500,
					       .kernel_ns = 900,
					       .ends_ns = 0,
					       .launches = 1,
					       .depth = 10,
					       .mode = MODE_STREAM } };
}

static const char made_costs[] = "emulate call=0,1,5 alloc=0,1 sync=0,2";

static void run_first(struct sensitivity *s)
{
	s->first = native_run();
	s->under = native_run();
}

static void plan(struct sensitivity *s, struct sensitivity_request *r)
{
	cr_assert(zero(int, begin(s, r, made_costs)), "begin");
	run_first(s);
	cr_assert(zero(int, sensitivity_plan_runs(s)), "plan");
}

/* Natively 1 us, 0.5 us more for each us, and the second process a tenth slower. */
static void run_all(struct sensitivity *s)
{
	static const double slower[] = { 0, 0, 0.5, 2.5, 0 };

	for (int i = 0; i < s->cells; i++)
		for (int k = 0; k < s->turns; k++) {
			s->cell[i].run[k] = native_run();
			s->cell[i].run[k].step.step_ns = 1000 * (1 + slower[i]) * (1 + 0.1 * k);
		}
	sensitivity_conclude(s);
}

static const char *printed(void (*print)(const struct sensitivity *s, FILE *out),
			   const struct sensitivity *s)
{
	static char *text;
	size_t size;
	FILE *out;

	free(text);
	out = open_memstream(&text, &size);
	print(s, out);
	fclose(out);
	golden_said(text);
	return text;
}

Test(small_sensitivity, nothing_added_is_measured_once)
{
	struct sensitivity_request r;
	struct sensitivity s;
	const char *text;

	plan(&s, &r);
	cr_assert(eq(int, s.cells, 5), "native, the layer alone, 1 us, 5 us, 2 us");
	cr_assert(eq(str, s.cell[0].layer, ""), "native");
	cr_assert(eq(str, s.cell[1].layer, "emulate"), "alone");
	cr_assert(eq(str, s.cell[3].layer, "emulate call=5"), "5 us");
	cr_assert(eq(int, s.cost[2].cell[0], 1), "sync=0");
	cr_assert(eq(str, s.cell[4].layer, "emulate sync=2"), "2 us");
	cr_assert(epsilon_eq(dbl, sensitivity_plan_s(&s), 20, 1), "10 runs of 2 s: %g",
		  sensitivity_plan_s(&s));
	text = printed(sensitivity_plan_print, &s);
	cr_assert(tells(text, "launch: *4 *2 process*20* s*alloc\n"), "%s", text);
	sensitivity_release(&s);
}

Test(small_sensitivity, a_limit_takes_processes_away)
{
	struct sensitivity_request r;
	struct sensitivity s;
	const char *text;

	cr_assert(zero(int, begin(&s, &r, made_costs)), "begin");
	r.limit_s = 18;
	run_first(&s);
	cr_assert(zero(int, sensitivity_plan_runs(&s)), "plan");
	cr_assert(eq(int, s.turns, 1), "%d", s.turns);
	sensitivity_release(&s);
	cr_assert(zero(int, begin(&s, &r, made_costs)), "begin");
	r.limit_s = 5;
	run_first(&s);
	divert_stderr();
	cr_assert(eq(int, sensitivity_plan_runs(&s), -EINVAL), "not even one");
	text = diverted_stderr();
	cr_assert(is_one_complaint(text) && tells(text, "--time-limit"), "%s", text);
	sensitivity_release(&s);
}

Test(small_sensitivity, figures_are_medians_over_native)
{
	struct sensitivity_request r;
	const struct sensitivity_cost *call;
	struct sensitivity s;

	plan(&s, &r);
	run_all(&s);
	call = &s.cost[0];
	cr_assert(epsilon_eq(dbl, s.cell[0].step_ns, 1050, 1e-9), "native");
	cr_assert(epsilon_eq(dbl, s.cell[0].hi_ns, 1100, 1e-9), "most");
	cr_assert(epsilon_eq(dbl, call->ratio[2], 3.5, 1e-9), "5 us");
	cr_assert(eq(int, call->measured[1].state, FRONTIER_AT), "25 %%");
	cr_assert(epsilon_eq(dbl, call->measured[1].value, 0.5, 1e-9), "25 %%");
	/* 1050 ns natively, 500 of them the host's */
	cr_assert(epsilon_eq(dbl, call->predicted[2], 5500 / 1050.0, 1e-9), "5 us");
	cr_assert(epsilon_eq(dbl, call->model[1].value, 1.05 * 1.25 - 0.5, 1e-3), "%g",
		  call->model[1].value);
	cr_assert(eq(int, s.cost[1].in_step, 0), "alloc");
	cr_assert(eq(int, sensitivity_exit_code(&s), RIFT_OK), "code");
	sensitivity_release(&s);
}

static void expect_texts(const char *text, const char *const *want)
{
	for (; *want; want++)
		cr_assert(tells(text, *want), "'%s' in\n%s", *want, text);
}

/* A round trip at the best bandwidth, a bandwidth without a round trip: the best of both is one. */
Test(small_sensitivity, a_network_is_worse_by_one_figure_at_a_time)
{
	struct sensitivity_request r;
	struct sensitivity s;

	if (!begin_network(&s, &r))
		cr_skip("the layer remote is not available here");
	run_first(&s);
	cr_assert(zero(int, sensitivity_plan_runs(&s)), "plan");
	cr_assert(eq(int, s.cells, 1 + 7 + 4), "%d", s.cells);
	cr_assert(eq(str, s.cell[1].layer, "remote transport=tcp poll=50 network=0,200"), "best");
	cr_assert(eq(str, s.cell[7].layer, "remote transport=tcp poll=50 network=200,200"), "rtt");
	cr_assert(eq(str, s.cell[11].layer, "remote transport=tcp poll=50 network=0,1"), "1");
	cr_assert(eq(int, s.cost[1].cell[0], 1), "the same platform");
	sensitivity_release(&s);
}

/* The layer itself takes as long again, and 200 us a tenth more: what is its own is left aside. */
Test(small_sensitivity, a_frontier_over_the_layer_alone)
{
	struct sensitivity_request r;
	struct sensitivity s;

	if (!begin_network(&s, &r))
		cr_skip("the layer remote is not available here");
	run_first(&s);
	cr_assert(zero(int, sensitivity_plan_runs(&s)), "plan");
	for (int i = 0; i < s.cells; i++)
		for (int k = 0; k < s.turns; k++) {
			s.cell[i].run[k] = native_run();
			s.cell[i].run[k].step.step_ns = i == 0 ? 1000 : i == 7 ? 2200 : 2000;
		}
	sensitivity_conclude(&s);
	cr_assert(eq(int, s.cost[0].measured[0].state, FRONTIER_BEFORE), "over native");
	cr_assert(eq(int, s.cost[0].alone[0].state, FRONTIER_AT), "alone");
	cr_assert(epsilon_eq(dbl, s.cost[0].alone[0].value, 150, 1e-9), "%g",
		  s.cost[0].alone[0].value);
	cr_assert(eq(int, s.cost[0].alone[1].state, FRONTIER_BEYOND), "25 %%");
	/* a block of 10 waits once: 0.5 us of round trip are 5 % of a step */
	cr_assert(epsilon_eq(dbl, s.cost[0].model[0].value, 0.5, 1e-2), "%g",
		  s.cost[0].model[0].value);
	expect_texts(printed(sensitivity_print, &s),
		     (const char *const[]){
			     "launch us=0 under remote transport=tcp poll=50 (network imitated), ",
			     " 0 us * 200 us\n  rtt *2.00 *2.20\n",
			     " 200 Gbit/s * 1 Gbit/s\n  bandwidth *2.00 *2.00\n",
			     "\n  rtt *the layer alone *0.5* us *\n    alone *150 us *> 200 us\n",
			     "\n  bandwidth *> 200 Gbit/s *\n    alone *< 1 Gbit/s *< 1 Gbit/s\n",
			     NULL,
		     });
	sensitivity_release(&s);
}

Test(small_sensitivity, a_row_for_each_cost)
{
	struct sensitivity_request r;
	struct sensitivity s;

	plan(&s, &r);
	run_all(&s);
	expect_texts(printed(sensitivity_print, &s),
		     (const char *const[]){
			     "launch us=0 *(model)*made-up device, stream, depth 10, n = 2\n",
			     "native: 1.05 us *(1.00 us to 1.10 us)\n",
			     " 0 us *1 us *5 us\n",
			     "  call *1.00 *1.50 *3.50\n",
			     "*0.95-1.05 *1.43-1.57 *3.33-3.67\n",
			     "*model *1.00 *1.43 *5.24\n",
			     "  alloc *not part of a step",
			     "  call *0.1 us *0.6* us *0.5 us *0.8* us\n",
			     "  sync *> 2 us",
			     NULL,
		     });
	sensitivity_release(&s);
}

/* One process of 5 us fails: no figure of the other one is taken. */
static void fail_one(struct sensitivity *s, int exit_code, const char *why)
{
	run_all(s);
	s->cell[3].run[1].exit_code = exit_code;
	snprintf(s->cell[3].run[1].why, sizeof(s->cell[3].run[1].why), "%s", why);
	sensitivity_conclude(s);
}

Test(small_sensitivity, a_value_that_failed_has_no_figure)
{
	struct sensitivity_request r;
	struct sensitivity s;

	plan(&s, &r);
	fail_one(&s, RIFT_CHECK_FAILED, "the check failed");
	cr_assert(isnan(s.cost[0].ratio[2]), "no figure");
	cr_assert(eq(int, sensitivity_exit_code(&s), RIFT_CHECK_FAILED), "code");
	expect_texts(printed(sensitivity_print, &s),
		     (const char *const[]){
			     "  call *1.00 *1.50 *failed\n",
			     "emulate call=5 failed: the check failed (*1; 1 of 2",
			     NULL,
		     });
	fail_one(&s, 134, "aborted");
	cr_assert(eq(int, sensitivity_exit_code(&s), RIFT_FAILED_POINTS), "code");
	sensitivity_release(&s);
}

static const json_t *at(const json_t *o, const char *array, size_t i)
{
	return json_array_get(json_object_get(o, array), i);
}

static double number(const json_t *o, const char *name)
{
	return json_number_value(json_object_get(o, name));
}

Test(small_sensitivity, one_object_for_machines)
{
	struct sensitivity_request r;
	const json_t *cost, *value;
	struct sensitivity s;
	json_t *o;

	plan(&s, &r);
	fail_one(&s, RIFT_CHECK_FAILED, "the check failed");
	o = sensitivity_json(&s);
	golden_said_json(o);
	cr_assert(ne(ptr, o, NULL), "object");
	cr_assert(eq(dbl, number(o, "exit_code"), 1), "code");
	cr_assert(eq(sz, json_array_size(json_object_get(o, "platforms")), 5), "platforms");
	cr_assert(epsilon_eq(dbl, number(at(at(o, "platforms", 2), "runs", 1), "step_ns"), 1650,
			     1e-6),
		  "a run");
	value = at(at(o, "platforms", 3), "runs", 1);
	cr_assert(eq(ptr, json_object_get(value, "step_ns"), json_null()), "a run that failed");
	cr_assert(eq(str, (char *)json_string_value(json_object_get(value, "error")),
		     "the check failed"),
		  "why");
	cost = at(o, "costs", 0);
	value = at(cost, "values", 1);
	cr_assert(eq(dbl, number(value, "value"), 1), "value");
	cr_assert(epsilon_eq(dbl, number(value, "ratio"), 1.5, 1e-9), "ratio");
	cr_assert(epsilon_eq(dbl, number(value, "predicted"), 1500 / 1050.0, 1e-9), "predicted");
	cr_assert(eq(ptr, json_object_get(at(cost, "values", 2), "ratio"), json_null()), "failed");
	value = json_object_get(at(cost, "frontiers", 1), "measured");
	cr_assert(epsilon_eq(dbl, number(value, "value"), 0.5, 1e-9), "frontier");
	cr_assert(eq(ptr, json_object_get(at(o, "costs", 1), "in_step"), json_false()), "alloc");
	json_decref(o);
	sensitivity_release(&s);
}

/* ---- the chart ---------------------------------------------------------------------------- */

static void draw(const struct sensitivity *s)
{
	struct picture p;

	cr_assert(zero(int, sensitivity_chart_write(&p, s, chart_folder)), "chart");
	sensitivity_chart_release(&p);
}

static void are_points(int n, const double (*want)[5])
{
	const struct table *t = table_read("launch-sensitivity-points.csv");

	cr_assert(eq(int, t->rows, n), "%d points", t->rows);
	for (int i = 0; i < n; i++)
		for (int k = 0; k < 5; k++)
			cr_expect(epsilon_eq(dbl, t->v[i][k], want[i][k], 1e-5 * want[i][k]),
				  "row %d, column %d: %g", i, k, t->v[i][k]);
}

static void says(const char *variable, const char *want)
{
	script_says("launch-sensitivity", variable, want);
}

static void is_number(const char *variable, double want)
{
	const char *text = script_value("launch-sensitivity", variable);

	cr_expect(epsilon_eq(dbl, strtod(text, NULL), want, 1e-5 * want), "%s: %s", variable, text);
}

/* Series, value, time over native: the median, the least, the most. Nothing added is no point. */
Test(small_sensitivity_chart, costs_with_one_unit)
{
	static const double points[][5] = {
		{ 1, 1, 1.5, 1500 / 1050.0, 1650 / 1050.0 },
		{ 1, 5, 3.5, 3500 / 1050.0, 3850 / 1050.0 },
		{ 2, 2, 1, 1000 / 1050.0, 1100 / 1050.0 },
	};
	struct sensitivity_request r;
	const struct table *model;
	struct sensitivity s;

	plan(&s, &r);
	run_all(&s);
	draw(&s);
	are_points(3, points);
	/* from 1 to 5 us: 500 ns of a step are the host's, and a block of 10 waits once */
	model = table_read("launch-sensitivity-model.csv");
	cr_assert(eq(int, model->rows, 2 * 61), "%d", model->rows);
	for (int i = 0; i < model->rows; i++) {
		double us = pow(5, i % 61 / 60.0), call = fmax(500 + 1000 * us, 1050) / 1050;

		cr_expect(eq(dbl, model->v[i][0], i < 61 ? 1 : 2), "%d", i);
		cr_expect(epsilon_eq(dbl, model->v[i][1], us, 1e-4), "%d", i);
		cr_expect(epsilon_eq(dbl, model->v[i][2], i < 61 ? call : (1050 + 100 * us) / 1050,
				     1e-4),
			  "%d: %g", i, model->v[i][2]);
	}
	says("title", "launch us=0 takes up to 3.5 times as long (call: 5 ");
	says("finding", "of 2 processes");
	says("made2", "made-up device, layer emulate (model), stream mode, depth 10; native: 1.");
	is_number("series", 2);
	says("name1", "call");
	says("name2", "sync");
	is_number("panel1", 1);
	is_number("panel2", 1);
	is_number("panels", 1);
	is_number("falls1", 0);
	is_number("least1", 1);
	is_number("most1", 5);
	is_number("least_ratio", 0.95);
	is_number("most_ratio", 5500 / 1050.0);
	is_number("frontiers", 0);
	sensitivity_release(&s);
}

/* Only 200 us make it 10 % longer, so that 5 % are crossed half way from 100 us. */
Test(small_sensitivity_chart, a_network)
{
	struct sensitivity_request r;
	struct sensitivity s;

	if (!begin_network(&s, &r))
		cr_skip("the layer remote is not available here");
	run_first(&s);
	cr_assert(zero(int, sensitivity_plan_runs(&s)), "plan");
	for (int i = 0; i < s.cells; i++)
		for (int k = 0; k < s.turns; k++) {
			s.cell[i].run[k] = native_run();
			s.cell[i].run[k].step.step_ns = i == 7 ? 1100 : 1000;
		}
	sensitivity_conclude(&s);
	draw(&s);
	/* six round trips above 0, five bandwidths */
	cr_expect(eq(int, table_read("launch-sensitivity-points.csv")->rows, 11), "points");
	is_number("panels", 2);
	is_number("panel1", 1);
	is_number("panel2", 2);
	is_number("falls1", 0);
	is_number("falls2", 1);
	is_number("least1", 5);
	is_number("most1", 200);
	is_number("least2", 1);
	is_number("most2", 200);
	is_number("frontiers", 2);
	is_number("frontier1", 150);
	is_number("zero1", 1);
	says("says1", "5 % longer: 150 us");
	says("alone1", "over the layer alone: 150 us");
	cr_expect(not(isfinite(strtod(script_value("launch-sensitivity", "frontier2"), NULL))),
		  "none");
	cr_expect(not(isfinite(strtod(script_value("launch-sensitivity", "zero2"), NULL))),
		  "no bandwidth of 0");
	says("says2", "5 % longer: not reached");
	says("title", "10 % longer (rtt: 200 ");
	sensitivity_release(&s);
}

/* 5 % is what is said; nothing is drawn of costs that no step has. */
Test(small_sensitivity_chart, little_to_say)
{
	struct sensitivity_request r;
	struct sensitivity s;
	struct picture p;

	plan(&s, &r);
	for (int i = 0; i < s.cells; i++)
		for (int k = 0; k < s.turns; k++) {
			s.cell[i].run[k] = native_run();
			s.cell[i].run[k].step.step_ns = i == 3 ? 1049 : 1000;
		}
	sensitivity_conclude(&s);
	draw(&s);
	says("title", "launch us=0: no cost that was tried makes it over 5 % longer");
	is_number("most_ratio", 5.5);
	sensitivity_release(&s);
	cr_assert(zero(int, begin(&s, &r, "emulate alloc=0,1")), "begin");
	run_first(&s);
	cr_assert(zero(int, sensitivity_plan_runs(&s)), "plan");
	divert_stderr();
	cr_expect(eq(int, sensitivity_chart_write(&p, &s, chart_folder), -EINVAL), "nothing");
	cr_expect(is_one_complaint(diverted_stderr()), "a line");
	sensitivity_chart_release(&p);
	sensitivity_release(&s);
}
