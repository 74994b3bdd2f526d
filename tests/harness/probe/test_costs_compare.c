/*
 * test_costs_compare.c - harness/probe/costs_compare.h: what a comparison of two costs files shows
 * of a row, and which rows count. Values lie so close together that verdicts are plain.
 */
/* sanitizers: one thread */
#include "tests/test.h"
#include "harness/probe/costs_compare.h"
#include "tests/golden.h"

TestSuite(small_costs_compare, .timeout = 300);

enum { PROCESSES = 8 };

/* A file of 5 us and 50 GB/s; in the second one launch calls and first launches take twice as long.
 */
static json_t *make_file(int number)
{
	json_t *rows = json_array();

	for (const struct costs_line *l = costs_lines; l->workload; l++) {
		bool twice = number == 2 && !strcmp(l->workload, "launch") &&
			     (!strcmp(l->name, "launch call") || !strcmp(l->name, "first launch"));
		double value = (l->rate ? 50 : 5) * (twice ? 2 : 1);
		json_t *values = json_array();

		for (int i = 0; i < PROCESSES; i++)
			json_array_append_new(values, json_real(value * (1 + 1e-4 * (i % 3))));
		json_array_append_new(rows,
				      json_pack("{s:s, s:s, s:s, s:o, s:f, s:n, s:n, s:i, s:n}",
						"workload", l->workload, "name", l->name, "unit",
						l->rate ? "GB/s" : "us", "values", values, "median",
						value, "lo", "hi", "samples", 21, "text"));
	}
	return json_pack("{s:s, s:s, s:s, s:s, s:i, s:i, s:s, s:[], s:o, s:{s:s, s:s}, s:{s:s, "
			 "s:i}}",
			 "record", "call_costs", "schema", COSTS_SCHEMA, "session_id",
			 number == 2 ? "2222222222222222" : "1111111111111111", "start_utc",
			 "2026-11-21T00:00:00Z", "processes", PROCESSES, "seed", number, "sync",
			 "spin", "failed", "rows", rows, "device", "name", "made", "kind", "cuda",
			 "gpu", "name", "made", "sms", 1);
}

static struct costs_comparison comparison;
static json_t *file[2];
static char *text;

static void compare_made(bool strict, bool all)
{
	const struct compare_options o = { .margin = COSTS_MARGIN_DEFAULT,
					   .session_sd = COSTS_SESSION_SD_DEFAULT,
					   .strict = strict };
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	cr_assert(zero(int, costs_compare(&comparison, file[0], file[1], &o)), "compare");
	comparison.path[0] = "a.json";
	comparison.path[1] = "b.json";
	costs_compare_print(&comparison, all, out);
	fclose(out);
	golden_said(text);
}

static void compare_files(bool strict)
{
	file[0] = make_file(1);
	file[1] = make_file(2);
	compare_made(strict, true);
}

static void done(void)
{
	free(text);
	costs_compare_release(&comparison);
	json_decref(file[0]);
	json_decref(file[1]);
}

/* The line of a row, from its label on. */
static const char *line(const char *label)
{
	static char out[256];
	const char *at = strstr(strstr(text, "time B / A"), label);

	cr_assert(ne(ptr, (char *)(uintptr_t)at, NULL), "%s: %s", label, text);
	snprintf(out, sizeof(out), "%.*s", (int)strcspn(at, "\n"), at);
	return out;
}

static void ends_with(const char *label, const char *end)
{
	const char *at = line(label);

	cr_assert(strlen(at) > strlen(end), "%s", at);
	cr_assert(eq(str, (char *)(uintptr_t)at + strlen(at) - strlen(end), (char *)(uintptr_t)end),
		  "%s", at);
}

Test(small_costs_compare, what_only_informs_is_in_parentheses)
{
	compare_files(false);
	ends_with("launch call", " slower");
	ends_with("first launch of a module", " (slower)");
	cr_assert(eq(int, comparison.outcome, OUTCOME_SLOWER), "%d", comparison.outcome);
	cr_assert(eq(int, comparison.tests, 12), "%d", comparison.tests);
	cr_assert(zero(int, comparison.left_out[0] + comparison.left_out[1]), "all are there");
	/* columns of 29, 13 and 13 */
	cr_assert(eq(int, (int)(strstr(line("launch call"), "5.00 us") - line("launch call")), 36),
		  "%s", line("launch call"));
	cr_assert(eq(int, (int)(strstr(line("launch call"), "10.0 us") - line("launch call")), 50),
		  "%s", line("launch call"));
	done();
}

Test(small_costs_compare, strictly_all_rows_count)
{
	compare_files(true);
	ends_with("launch call", " slower");
	ends_with("first launch of a module", " slower");
	done();
}

/* ---- rows of one file alone, and rows that are no times -------------------------------------- */

/* One of a workload that is on no page, the first processes with these values, the others with the
 * last; without any, why. */
static void put_row(int k, const char *name, const char *unit, double first, double others)
{
	json_t *rows = json_object_get(file[k], "rows"), *values = json_array();
	int n = (int)json_number_value(json_object_get(file[k], "processes"));

	for (int i = 0; i < n; i++)
		json_array_append_new(values, json_real(i < 3 ? first : others + 1e-4 * (i % 3)));
	json_array_append_new(rows, json_pack("{s:s, s:s, s:s, s:o, s:n, s:n, s:n, s:i, s:s?}",
					      "workload", "made", "name", name, "unit", unit,
					      "values", isfinite(first) ? values : json_array(),
					      "median", "lo", "hi", "samples", 21, "text",
					      isfinite(first) ? NULL : "no reason"));
	if (!isfinite(first))
		json_decref(values);
}

static void drop_rows(int k, size_t first, size_t n)
{
	for (size_t i = 0; i < n; i++)
		json_array_remove(json_object_get(file[k], "rows"), first);
}

static void keep_processes(int k, int n)
{
	json_t *row;
	size_t i;

	json_object_set_new(file[k], "processes", json_integer(n));
	json_array_foreach(json_object_get(file[k], "rows"), i,
			   row) while ((int)json_array_size(json_object_get(row, "values")) > n)
		json_array_remove(json_object_get(row, "values"), 0);
}

/* Of calls that take next to nothing 20 ns are no difference. */
static void put_others(void)
{
	for (int k = 0; k < 2; k++) {
		put_row(k, "equal", "launches", 7, 7);
		put_row(k, "unequal", "launches", 7 + k, 7 + k);
		put_row(k, "unknown", "us", NAN, 0);
		put_row(k, "near", "us", 0.1 + 0.015 * k, 0.1 + 0.015 * k);
		put_row(k, "far", "us", 0.1 + 0.1 * k, 0.1 + 0.1 * k);
		put_row(k, "either side of nothing", "us", -0.1, 0.5 + k);
		put_row(k, k ? "of B" : "of A", "us", 1, 1);
	}
}

static void say_json(void)
{
	json_t *o = costs_compare_json(&comparison);

	golden_said_json(o);
	json_decref(o);
}

/* Seven rows of the page, and the others. */
static void make_short_files(int processes_a, int processes_b)
{
	const int processes[] = { processes_a, processes_b };

	for (int k = 0; k < 2; k++) {
		file[k] = make_file(k + 1);
		drop_rows(k, 7, json_array_size(json_object_get(file[k], "rows")) - 7);
	}
	put_others();
	for (int k = 0; k < 2; k++)
		keep_processes(k, processes[k]);
}

Test(small_costs_compare, rows_that_one_file_lacks_are_counted)
{
	make_short_files(PROCESSES, PROCESSES - 1);
	drop_rows(0, 6, 1);
	drop_rows(1, 3, 3);
	compare_made(true, true);
	cr_expect(eq(int, comparison.left_out[0], 3 + 1), "%d", comparison.left_out[0]);
	cr_expect(eq(int, comparison.left_out[1], 1 + 1), "%d", comparison.left_out[1]);
	say_json();
	done();
}

Test(small_costs_compare, of_few_processes_nothing_is_concluded)
{
	make_short_files(3, 3);
	compare_made(false, false);
	cr_expect(eq(int, costs_compare_exit_code(&comparison), RIFT_FAILED_POINTS), "%d",
		  comparison.outcome);
	done();
	make_short_files(4, 3);
	compare_made(true, false);
	done();
}

Test(small_costs_compare, rates_are_named_so)
{
	for (const struct costs_line *l = costs_lines; l->workload; l++)
		cr_assert(eq(int, l->rate, strstr(l->name, " rate") != NULL), "%s", l->name);
}
