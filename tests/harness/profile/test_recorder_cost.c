/*
 * test_recorder_cost.c - what a recorder costs: the table from values of known turns, what has no
 * value. test_recorder_cost_measured.c has the real processes.
 */
/* sanitizers: one thread */
#include "tests/test.h"

#include "harness/base/json.h"
#include "harness/profile/recorder_cost.h"
#include "tests/golden.h"

TestSuite(small_recorder_cost, .timeout = 60);

enum { TURNS = 5 };

/* A call takes 100 to 104 ns, with the recorder 60 more; all else nothing but what has no value. */
static struct recorder_costs *made(int turns)
{
	struct recorder_costs *c = calloc(1, sizeof(*c));

	c->turns = turns;
	c->is_cpu = c->device_times = true;
	snprintf(c->recorder, sizeof(c->recorder), "cpu-device");
	snprintf(c->device, sizeof(c->device), "a device");
	for (int i = 0; i < turns; i++) {
		c->wait_ns[i] = 1e6;
		c->row[0].without[i] = 100 + i;
		c->row[0].with[i] = 160 + i;
		c->row[1].without[i] = 50;
		c->row[1].with[i] = i ? 60 : NAN;
	}
	return c;
}

static char *printed(const struct recorder_costs *c)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	recorder_costs_print(c, out);
	fclose(out);
	golden_said(text);
	return text;
}

static const json_t *row_of(const json_t *o, const char *name)
{
	const json_t *row;
	size_t i;

	json_array_foreach(json_object_get(o, "rows"), i, row)
	{
		if (!strcmp(json_get_text(row, "name"), name))
			return row;
	}
	cr_assert(0, "no row %s", name);
	return NULL;
}

Test(small_recorder_cost, differences_are_of_turns)
{
	struct recorder_costs *c = made(TURNS);
	json_t *o = recorder_costs_json(c);
	const json_t *row = row_of(o, "launch_call"), *more = json_object_get(row, "difference");

	cr_assert(eq(dbl, json_get_number(json_object_get(row, "without"), "median_ns"), 102));
	cr_assert(eq(dbl, json_get_number(json_object_get(row, "with"), "median_ns"), 162));
	/* Values wander by 4 ns, the difference of a turn by none. */
	cr_assert(eq(dbl, json_get_number(more, "median_ns"), 60));
	cr_assert(eq(dbl, json_get_number(more, "lo_ns"), 60));
	cr_assert(eq(dbl, json_get_number(more, "hi_ns"), 60));
	cr_assert(eq(sz,
		     json_array_size(json_object_get(json_object_get(row, "with"), "values_ns")),
		     TURNS));
	cr_assert(eq(sz, json_array_size(json_object_get(o, "rows")), RECORDER_COSTS));
	cr_assert(eq(dbl, json_get_number(o, "processes"), TURNS));
	json_decref(o);
	free(c);
}

Test(small_recorder_cost, a_turn_without_a_value_has_no_median)
{
	struct recorder_costs *c = made(TURNS);
	json_t *o = recorder_costs_json(c);
	const json_t *row = row_of(o, "pace_empty");

	cr_assert(eq(dbl, json_get_number(json_object_get(row, "without"), "median_ns"), 50));
	cr_assert(eq(int, json_is_null(json_object_get(json_object_get(row, "with"), "median_ns")),
		     1));
	cr_assert(eq(int,
		     json_is_null(json_object_get(json_object_get(row, "difference"), "median_ns")),
		     1));
	json_decref(o);
	free(c);
}

Test(small_recorder_cost, the_table)
{
	struct recorder_costs *c = made(TURNS);
	char *text = printed(c);

	cr_assert(ne(ptr, strstr(text, "5 of each probe with the recorder, 5 without it"), NULL),
		  "%s", text);
	cr_assert(ne(ptr,
		     strstr(text, "launch call                      102 ns    2 %     162 ns    1 "
				  "%       60 ns  60 ns to 60 ns\n"),
		     NULL),
		  "%s", text);
	cr_assert(ne(ptr, strstr(text, "waits 1.00 ms"), NULL), "%s", text);
	free(text);
	free(c);
}

Test(small_recorder_cost, a_median_that_is_not_known)
{
	struct recorder_costs *c = made(TURNS);
	char *text;

	c->row[0].without[4] = 1e6;
	text = printed(c);
	cr_assert(ne(ptr, strstr(text, "launch call                      102 ns >100 %     162 ns"),
		     NULL),
		  "%s", text);
	free(text);
	free(c);
}

/* One process says nothing of the next one. */
Test(small_recorder_cost, few_turns_have_no_interval)
{
	struct recorder_costs *c = made(2);
	char *text = printed(c);

	cr_assert(eq(ptr, strstr(text, " to "), NULL), "%s", text);
	cr_assert(eq(ptr, strstr(text, "interval"), NULL), "%s", text);
	free(text);
	free(c);
}
