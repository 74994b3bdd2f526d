/*
 * test_grid_compare.c - two grids of probes compared: quantities, configurations and lines, what
 * decides, and which grids may not stand side by side.
 */
/* sanitizers: one thread */
#include "harness/probe/costs_compare.h"
#include "harness/base/json.h"
#include "harness/probe/grid.h"
#include "tests/cli.h"
#include "tests/divert.h"
#include "tests/golden.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

TestSuite(small_grid_compare, .timeout = 300);

enum { PROCESSES = 8 };

/* Values lie so close together that verdicts are plain; unit "us", or another. */
static void add_row(json_t *grid, int config, const char *name, const char *unit, double value)
{
	json_t *values = json_array();

	for (int i = 0; i < PROCESSES; i++)
		json_array_append_new(values, json_real(value * (1 + 1e-4 * (i % 3))));
	json_array_append_new(json_object_get(grid, "rows"),
			      json_pack("{s:s, s:i, s:s, s:s, s:o, s:f, s:n, s:n, s:n}", "workload",
					"graph", "config", config, "name", name, "unit", unit,
					"values", values, "median", value, "lo", "hi", "text"));
}

/* Lines of some lengths: a call of 1 us and 10 ns a node, `times` as long; and what is the same. */
static json_t *make_grid(const char *id, const char *const *length, int n, double times)
{
	json_t *grid = json_pack("{s:s, s:s, s:s, s:s, s:s, s:i, s:i, s:s, s:[], s:[], s:[], "
				 "s:{s:s, s:s}, s:{s:s, s:i}}",
				 "record", "probe_grid", "schema", GRID_SCHEMA, "session_id", id,
				 "start_utc", "2026-11-30T00:00:00Z", "workload", "graph",
				 "processes", PROCESSES, "seed", 1, "sync", "spin", "failed",
				 "rows", "configs", "device", "name", "made", "kind", "cuda", "gpu",
				 "name", "made", "sms", 1);

	for (int i = 0; i < n; i++) {
		double nodes = atof(length[i]);

		json_array_append_new(json_object_get(grid, "configs"),
				      json_pack("{s:s}", "length", length[i]));
		add_row(grid, i, "nodes", "1", nodes);
		add_row(grid, i, "launch call, idle", "us", times * (1 + 0.01 * nodes));
		add_row(grid, i, "launch end to end", "us", 5 + nodes);
		add_row(grid, i, "capture", "us", times * 3);
		add_row(grid, i, "memory", "bytes", times * 64);
	}
	return grid;
}

static const char *const lengths[] = { "10", "20", "40", "80" };
static const char *const others[] = { "10", "20", "40", "50", "60" };

static struct costs_comparison comparison;
static json_t *file[2];
static char *text;

static int compare_grids(bool strict, bool all)
{
	const struct compare_options o = { .margin = COSTS_MARGIN_DEFAULT,
					   .session_sd = COSTS_SESSION_SD_DEFAULT,
					   .strict = strict };
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);
	int err = costs_compare(&comparison, file[0], file[1], &o);

	if (!err)
		costs_compare_print(&comparison, all, out);
	fclose(out);
	golden_said(text);
	return err;
}

static void compare_made(double times, bool strict, bool all)
{
	file[0] = make_grid("1111111111111111", lengths, 4, 1);
	file[1] = make_grid("2222222222222222", others, 5, times);
	cr_assert(!compare_grids(strict, all), "compare");
}

static void done(void)
{
	free(text);
	costs_compare_release(&comparison);
	json_decref(file[0]);
	json_decref(file[1]);
}

/* The pair of that name that is of this. */
static const struct costs_pair *pair_of(const char *name, const char *where)
{
	for (int i = 0; i < comparison.n; i++)
		if (!strcmp(comparison.pair[i].name, name) &&
		    !strcmp(comparison.pair[i].section, where))
			return &comparison.pair[i];
	cr_assert(false, "%s, %s: %s", name, where, text);
	return NULL;
}

static void is_twice(const char *name, const char *where, double a)
{
	const struct costs_pair *p = pair_of(name, where);

	cr_assert(p->ratio.known && fabs(p->ratio.value - 2) < 1e-3, "%s: %g", where,
		  p->ratio.value);
	cr_assert(p->judged.verdict == VERDICT_SLOWER, "%s, %s", name, where);
	if (isfinite(a))
		cr_assert(fabs(p->value[0] - a) < 1e-3 * a && fabs(p->value[1] - 2 * a) < 2e-3 * a,
			  "%s: %g, %g", where, p->value[0], p->value[1]);
}

Test(small_grid_compare, quantities_configurations_and_lines)
{
	compare_made(2, false, true);
	is_twice("launch call, idle", "3 configurations", NAN);
	is_twice("launch call, idle", "length=10", 1.1);
	is_twice("launch call, idle", "length=40", 1.4);
	is_twice("launch call, idle", "line: fixed", 1);
	is_twice("launch call, idle", "line: a node", 0.01);
	is_twice("capture", "3 configurations", NAN);
	cr_assert(pair_of("launch end to end", "3 configurations")->judged.verdict == VERDICT_SAME,
		  "%s", text);
	/* 80 is A's alone, 50 and 60 are B's */
	cr_assert(comparison.left_out[0] == 1 && comparison.left_out[1] == 2, "%d, %d",
		  comparison.left_out[0], comparison.left_out[1]);
	done();
}

/* Two quantities that programs wait for decide; a capture informs. */
Test(small_grid_compare, what_programs_wait_for_decides)
{
	compare_made(2, false, false);
	cr_assert(comparison.tests == 2, "%d", comparison.tests);
	cr_assert(costs_compare_exit_code(&comparison) == RIFT_CHECK_FAILED, "slower");
	cr_assert(tells(text, "launch call, idle (3 configurations), 2.000"), "%s", text);
	cr_assert(tells(text, "\nlaunch call, idle\n  3 configurations*+100 % (*) * slower\n"),
		  "%s", text);
	cr_assert(tells(text, "length=10*1.10 us*2.20 us*+100 %*(slower)"), "%s", text);
	cr_assert(tells(text, "\ncapture\n"), "differs, so it is shown: %s", text);
	done();
	compare_made(1, false, false);
	cr_assert(costs_compare_exit_code(&comparison) == RIFT_OK, "the same");
	cr_assert(!tells(text, "\ncapture\n"), "%s", text);
	done();
}

Test(small_grid_compare, strictly_all_of_it_decides)
{
	compare_made(1, true, false);
	/* three quantities: over all, in three configurations; and lines, where there is a slope */
	cr_assert(3 * 4 < comparison.tests, "%d", comparison.tests);
	done();
}

/* A line that begins below zero has no ratio, and no verdict. */
Test(small_grid_compare, a_part_that_is_not_above_zero_has_no_verdict)
{
	const struct costs_pair *p;

	file[0] = make_grid("1111111111111111", lengths, 4, 1);
	file[1] = make_grid("2222222222222222", lengths, 4, 1);
	for (int k = 0; k < 2; k++)
		for (int i = 0; i < 4; i++)
			add_row(file[k], i, "instantiate", "us", atof(lengths[i]) - 5);
	cr_assert(!compare_grids(false, true), "compare");
	p = pair_of("instantiate", "line: fixed");
	cr_assert(p->value[0] < 0 && !p->ratio.known && !p->judged.known, "%g", p->value[0]);
	cr_assert(tells(text, "line: fixed* -\n"), "%s", text);
	done();
}

static void is_refused(int err, const char *says)
{
	const char *said;
	int got;

	divert_stderr();
	got = compare_grids(false, false);
	said = diverted_stderr();
	cr_assert(got == err && is_one_complaint(said) && tells(said, says), "%d: %s", got, said);
	done();
}

Test(small_grid_compare, grids_that_may_not_stand_side_by_side)
{
	file[0] = make_grid("1111111111111111", lengths, 4, 1);
	file[1] = make_grid("1111111111111111", lengths, 4, 1);
	is_refused(-EINVAL, "same grid (1111111111111111)");
	file[0] = make_grid("1111111111111111", lengths, 2, 1);
	file[1] = make_grid("2222222222222222", &others[2], 3, 1);
	is_refused(-EXDEV, "no configuration");
	file[0] = make_grid("1111111111111111", lengths, 2, 1);
	file[1] = make_grid("2222222222222222", lengths, 2, 1);
	json_object_set_new(file[1], "workload", json_string("launch"));
	is_refused(-EXDEV, "graph*launch");
}

static char path[2][40];

static void write_files(void)
{
	for (int k = 0; k < 2; k++) {
		snprintf(path[k], sizeof(path[k]), "/tmp/test-grids-%d-XXXXXX", k);
		cr_assert(close(mkstemp(path[k])) == 0 && !json_dump_file(file[k], path[k], 0),
			  "%s", path[k]);
	}
}

Test(small_grid_compare, the_command_takes_two_grids_and_nothing_else_with_them)
{
	const char *out;
	const json_t *row;
	json_t *o;

	file[0] = make_grid("1111111111111111", lengths, 4, 1);
	file[1] = make_grid("2222222222222222", lengths, 4, 2);
	write_files();
	cr_assert(run_rift(OUT, &out, "compare %s %s", path[0], path[1]) == 1, "%s", out);
	cr_assert(run_rift(OUT, &out, "compare --json %s %s", path[0], path[1]) == 1, "%s", out);
	o = json_loads(out, 0, NULL);
	row = json_array_get(json_object_get(o, "rows"), 0);
	cr_assert(!strcmp(json_get_text(row, "of"), "4 configurations"), "%s", out);
	json_decref(o);
	refused(3, "same grid", "compare %s %s", path[0], path[0]);
	refused(3, "same grid", "plot %s %s", path[0], path[0]);
	refused(3, "grid*A B", "compare %s", path[0]);
	refused(3, "grid*A B", "compare %s data/sessions/h200-costs.json", path[0]);
	refused(3, "--workload", "compare --workload graph %s %s", path[0], path[1]);
	refused(3, "--plot", "compare --plot x %s %s", path[0], path[1]);
	unlink(path[0]);
	unlink(path[1]);
	json_decref(file[0]);
	json_decref(file[1]);
}
