/* test_declared_params.c - every parameter of every workload, by the same rules. */
/* sanitizers: one thread */
#include "tests/test.h"
#include "harness/measure/run.h"
#include "harness/base/param.h"

TestSuite(small_declared_params, .timeout = 300);

static const struct workload *w; /* in hand, for messages */

/* Parses a value into fresh options; complaints are swallowed. */
static int parse_param(const struct param *row, const char *value)
{
	void *opts = calloc(1, w->opts_size);
	int err;

	divert_stderr();
	err = param_parse(row, row->name, value, opts);
	diverted_stderr();
	if (row->kind == PARAM_PATH)
		free(*(void **)((char *)opts + row->offset));
	free(opts);
	return err;
}

static bool is_number(const struct param *row)
{
	return row->kind != PARAM_CHOICE && row->kind != PARAM_PATH;
}

static bool is_whole(const struct param *row)
{
	return is_number(row) && row->kind != PARAM_REAL;
}

/* A limit, or the next value beyond it (beyond = +1 or -1), as a user would type it. */
static struct text limit(const struct param *row, double value, int beyond)
{
	if (is_whole(row))
		return text_int((int64_t)value + beyond, 0);
	return text_real(beyond ? nextafter(value, beyond * HUGE_VAL) : value);
}

static bool is_plain_name(const char *name)
{
	return *name >= 'a' && *name <= 'z' &&
	       !name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_")];
}

static void check_text(const struct param *row)
{
	size_t n = strlen(row->help);

	cr_assert(lt(sz, 0, n), "%s %s: no help", w->name, row->name);
	cr_assert(ne(chr, row->help[n - 1], '.'), "%s %s: full stop", w->name, row->name);
	cr_assert(eq(ptr, strchr(row->help, '\n'), NULL), "%s %s: one line", w->name, row->name);
	cr_assert(ne(ptr, (void *)row->unit, NULL), "%s %s: unit is NULL", w->name, row->name);
	cr_assert(eq(int, *row->unit && row->kind != PARAM_PATH, is_number(row)),
		  "%s %s: a number has a unit (\"1\" for none), nothing else but a text has",
		  w->name, row->name);
	cr_assert(is_plain_name(row->name), "%s %s: lower case letters, digits, _", w->name,
		  row->name);
	for (const struct param *other = w->params; other < row; other++)
		cr_assert(ne(str, (char *)other->name, (char *)row->name), "%s", w->name);
}

static void check_limits(const struct param *row)
{
	const char *garbage[] = { "", "x", "12x", "1e3.5", "nan", "inf", " 1", "1 " };

	if (!is_number(row))
		return;
	cr_assert(le(dbl, row->min, row->max), "%s %s", w->name, row->name);
	cr_assert(eq(int, parse_param(row, limit(row, row->min, 0).s), 0), "%s %s: min", w->name,
		  row->name);
	cr_assert(eq(int, parse_param(row, limit(row, row->max, 0).s), 0), "%s %s: max", w->name,
		  row->name);
	cr_assert(eq(int, parse_param(row, limit(row, row->min, -1).s), -EINVAL),
		  "%s %s: below min", w->name, row->name);
	cr_assert(eq(int, parse_param(row, limit(row, row->max, 1).s), -EINVAL), "%s %s: above max",
		  w->name, row->name);
	for (size_t i = 0; i < sizeof(garbage) / sizeof(*garbage); i++)
		cr_assert(eq(int, parse_param(row, garbage[i]), -EINVAL), "%s %s=%s", w->name,
			  row->name, garbage[i]);
}

static void check_choices(const struct param *row)
{
	if (row->kind != PARAM_CHOICE)
		return;
	cr_assert(ne(ptr, (void *)row->choices[0], NULL), "%s %s: no choice", w->name, row->name);
	for (int i = 0; row->choices[i]; i++) {
		cr_assert(eq(int, parse_param(row, row->choices[i]), 0), "%s %s=%s", w->name,
			  row->name, row->choices[i]);
		for (int j = 0; j < i; j++)
			cr_assert(ne(str, (char *)row->choices[j], (char *)row->choices[i]),
				  "%s %s", w->name, row->name);
	}
	cr_assert(eq(int, parse_param(row, "no-such-choice"), -EINVAL), "%s %s", w->name,
		  row->name);
}

static void check_default(const struct param *row)
{
	if (row->kind == PARAM_PATH)
		cr_assert(eq(str, (char *)row->def, ""), "%s %s: paths have none", w->name,
			  row->name);
	else
		cr_assert(eq(int, parse_param(row, row->def), 0), "%s %s=%s", w->name, row->name,
			  row->def);
}

/* Every sweep value parses; returns how many there are. */
static int check_axis(const struct param *row)
{
	char values[256], *rest = values, *value;
	int n = 0;

	snprintf(values, sizeof(values), "%s", row->axis);
	cr_assert(eq(int, row->kind, PARAM_SIZE), "%s %s: an axis is a size", w->name, row->name);
	while ((value = strsep(&rest, ","))) {
		cr_assert(eq(int, parse_param(row, value), 0), "%s %s=%s", w->name, row->name,
			  value);
		n++;
	}
	return n;
}

Test(small_declared_params, every_row_of_every_workload)
{
	for (const struct workload *const *each = workloads; *each; each++) {
		w = *each;
		for (const struct param *row = w->params; row->name; row++) {
			check_text(row);
			check_default(row);
			check_limits(row);
			check_choices(row);
			cr_assert(lt(sz, row->offset, w->opts_size), "%s %s", w->name, row->name);
		}
	}
}

Test(small_declared_params, exactly_one_axis_with_several_values)
{
	for (const struct workload *const *each = workloads; *each; each++) {
		int axes = 0;

		w = *each;
		for (const struct param *row = w->params; row->name; row++) {
			if (!row->axis)
				continue;
			axes++;
			cr_assert(le(int, 2, check_axis(row)), "%s %s", w->name, row->name);
		}
		cr_assert(eq(int, axes, 1), "%s has %d axes", w->name, axes);
	}
}

Test(small_declared_params, workloads_are_sorted_and_complete)
{
	cr_assert(workloads[0] && workloads[1], "a table of them, which other tests go through");
	for (const struct workload *const *each = workloads; *each; each++) {
		w = *each;
		if (each > workloads)
			cr_assert(lt(int, strcmp(each[-1]->name, w->name), 0), "%s", w->name);
		cr_assert(w->summary && *w->summary && w->source && *w->source && w->step_unit,
			  "%s: texts", w->name);
		cr_assert(w->setup && w->reset && w->step && w->check && w->cost && w->teardown,
			  "%s: hooks", w->name);
	}
}

Test(small_declared_params, defaults_pass_limits_and_allow_a_mode)
{
	for (const struct workload *const *each = workloads; *each; each++) {
		struct limits limits = { 0 };
		struct params params;
		int allowed = 0;
		void *opts;

		w = *each;
		opts = calloc(1, w->opts_size);
		params_init(&params, w->params, w->name, opts);
		cr_assert(eq(int, workload_limits(w, opts, &limits), 0), "%s", w->name);
		for (int m = 0; m < MODE_COUNT; m++)
			allowed += !mode_refused(w, &limits, (enum mode)m);
		cr_assert(lt(int, 0, allowed), "%s", w->name);
		cr_assert(not(limits.action), "%s: the default is timed", w->name);
		params_release(&params);
		free(opts);
	}
}
