/* test_param.c - harness/base/param.h: what is accepted as which value, what refused and why. */
/* sanitizers: one thread */
#include "tests/test.h"
#include "harness/base/param.h"
#include "tests/param_cases.h"

TestSuite(small_param, .timeout = 300);

/* Assigns once to fresh options; shown, where not NULL, is the field afterwards. */
static int assign(const char *typed, char *shown, size_t size)
{
	struct thing_opts o = { 0 };
	struct params p;
	size_t len = strcspn(typed, "=");
	int err, i;

	params_init(&p, rows, "thing", &o);
	err = params_assign(&p, typed);
	i = params_find(rows, typed, len);
	if (shown && i >= 0)
		param_format(&rows[i], &o, shown, size);
	params_release(&p);
	return err;
}

Test(small_param, accepted_values_and_their_text)
{
	char shown[512];

	for (size_t i = 0; i < sizeof(accepted) / sizeof(*accepted); i++) {
		const char *typed = accepted[i].typed;

		cr_assert(eq(int, assign(typed, shown, sizeof(shown)), 0), "%s", typed);
		cr_assert(eq(str, shown, (char *)accepted[i].shown), "%s", typed);
	}
}

Test(small_param, text_parses_back_to_the_same_value)
{
	char shown[512], again[600], twice[512];

	for (size_t i = 0; i < sizeof(accepted) / sizeof(*accepted); i++) {
		const char *typed = accepted[i].typed;

		assign(typed, shown, sizeof(shown));
		snprintf(again, sizeof(again), "%.*s=%s", (int)strcspn(typed, "="), typed, shown);
		cr_assert(eq(int, assign(again, twice, sizeof(twice)), 0), "%s", again);
		cr_assert(eq(str, twice, shown), "%s", typed);
	}
}

Test(small_param, refused_values_and_the_line_that_says_why)
{
	for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++) {
		const char *typed = refused[i].typed, *said;
		int err;

		divert_stderr();
		err = assign(typed, NULL, 0);
		said = diverted_stderr();
		cr_assert(eq(int, err, -EINVAL), "%s", typed);
		cr_assert(is_one_complaint(said), "%s: %s", typed, said);
		cr_assert(ne(ptr, strstr(said, refused[i].said), NULL), "%s: %s", typed, said);
	}
}

Test(small_param, a_refused_value_changes_nothing)
{
	char shown[512];

	divert_stderr();
	assign("layers=1,2,x", shown, sizeof(shown));
	cr_assert(eq(str, shown, "784,512,10"), "list");
	assign("cells=65k", shown, sizeof(shown));
	cr_assert(eq(str, shown, "1"), "size");
	assign("solver=x", shown, sizeof(shown));
	cr_assert(eq(str, shown, "rkf78"), "choice");
	diverted_stderr();
}

Test(small_param, twice_is_refused_but_not_after_a_refusal)
{
	struct thing_opts o = { 0 };
	struct params p;

	params_init(&p, rows, "thing", &o);
	p.prefix = "--";
	divert_stderr();
	cr_assert(eq(int, params_assign(&p, "cells=0"), -EINVAL), "out of range");
	cr_assert(eq(int, params_assign(&p, "cells=5"), 0), "after a refusal");
	cr_assert(eq(int, params_assign(&p, "cells=5"), -EINVAL), "second time");
	cr_assert(ne(ptr, strstr(diverted_stderr(), "--cells=5: --cells "), NULL), "text");
	cr_assert(eq(i64, o.cells, 5), "value");
}

Test(small_param, defaults_and_what_is_one)
{
	struct thing_opts o = { 0 };
	struct params p;

	params_init(&p, rows, "thing", &o);
	cr_assert(eq(i64, o.bytes, 1024), "size");
	cr_assert(eq(dbl, o.dt, 0.5), "real");
	cr_assert(eq(int, o.solver, 1), "choice");
	cr_assert(eq(ptr, (void *)o.file, NULL), "path");
	cr_assert(eq(int, o.layers.n, 3), "list");
	for (const struct param *row = rows; row->name; row++)
		cr_assert(param_is_default(row, &o), "%s", row->name);
	cr_assert(eq(int, params_assign(&p, "bytes=1024"), 0), "the default in other words");
	cr_assert(param_is_default(&rows[1], &o), "1024 is 1k");
	cr_assert(eq(int, params_assign(&p, "file=x"), 0), "path");
	cr_assert(not(param_is_default(&rows[8], &o)), "path given");
	params_release(&p);
	cr_assert(eq(ptr, (void *)o.file, NULL), "released");
}

Test(small_param, ranges_and_units_as_text)
{
	static const char *const range[] = { "-5 to 100",
					     "0 to 1024G",
					     "1 to 64k",
					     "any",
					     "0 to 9007199254740992",
					     "1e-6 to 10",
					     "any",
					     "rk4, rkf78, euler",
					     "file name",
					     "1 to 1M",
					     "seconds, or p1" };
	char text[64];

	for (int i = 0; rows[i].name; i++) {
		param_range(&rows[i], text, sizeof(text));
		cr_assert(eq(str, text, (char *)range[i]), "%s", rows[i].name);
	}
	cr_assert(eq(str, param_unit(&rows[0]).s, ""), "a pure number");
	cr_assert(eq(str, param_unit(&rows[1]).s, " bytes"), "bytes");
	cr_assert(eq(str, param_unit(&rows[10]).s, ""), "a text has a form, no unit");
}

Test(small_param, a_text_is_no_path)
{
	json_t *path = param_row_json(&rows[8]), *text = param_row_json(&rows[10]);

	cr_assert(eq(str, (char *)json_string_value(json_object_get(path, "kind")), "path"),
		  "path");
	cr_assert(eq(str, (char *)json_string_value(json_object_get(text, "kind")), "text"),
		  "text");
	cr_assert(
		eq(str, (char *)json_string_value(json_object_get(text, "unit")), "seconds, or p1"),
		"its form");
	cr_assert(eq(int, json_typeof(json_object_get(text, "max")), JSON_NULL), "no limit");
	json_decref(path);
	json_decref(text);
}

Test(small_param, json_is_typed)
{
	static const char *const want[] = { "3",   "1024", "1",		"0",	"1",
					    "0.5", "0.0",  "\"rkf78\"", "null", "[784, 512, 10]",
					    "null" };
	struct thing_opts o = { 0 };
	struct params p;

	params_init(&p, rows, "thing", &o);
	for (int i = 0; rows[i].name; i++) {
		json_t *value = param_json(&rows[i], &o);
		char *text = json_dumps(value, JSON_ENCODE_ANY);

		cr_assert(eq(str, text, (char *)want[i]), "%s", rows[i].name);
		free(text);
		json_decref(value);
	}
}

Test(small_param, a_path_that_is_not_utf8_still_makes_json)
{
	struct thing_opts o = { 0 };
	struct params p;
	json_t *value;

	params_init(&p, rows, "thing", &o);
	cr_assert(eq(int, params_assign(&p, "file=a\xff\xfe.csv"), 0), "any bytes");
	value = param_json(&rows[8], &o);
	cr_assert(eq(str, (char *)json_string_value(value), "a??.csv"), "readable");
	json_decref(value);
	params_release(&p);
}
