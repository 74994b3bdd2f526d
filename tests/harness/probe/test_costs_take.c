/*
 * test_costs_take.c - harness/probe/costs_take.c: what becomes of the lines of a costs file's
 * processes, and of their ends. The processes are scripts.
 */
#include "tests/test.h"
#include "harness/probe/costs.h"
#include "tests/fake_worker.h"

TestSuite(small_costs_take, .init = fake_worker_make, .fini = fake_worker_remove, .timeout = 300);

/* This very program is started as the process: it is the script then. */
__attribute__((constructor)) static void be_a_process(int argc, char **argv)
{
	const char *script = getenv("FAKE_PROCESS");

	if (argc > 1 && !strcmp(argv[1], "sweep-worker") && script) {
		execl(script, script, (char *)NULL);
		_exit(127);
	}
}

static json_t *costs, *under; /* under: with a layer */
static const char *said, *layer;

static int take(int processes, double patience_s)
{
	const struct costs_request r = { .processes = processes,
					 .sync = SYNC_POLL,
					 .platform = "here",
					 .host_name = true,
					 .patience_s = patience_s,
					 .layer = layer };
	json_t *taken[COSTS_SIDES] = { NULL, NULL };
	int err;

	setenv("FAKE_PROCESS", worker_script, 1);
	divert_stderr();
	err = costs_take(&r, taken);
	costs = taken[0];
	under = taken[1];
	said = diverted_stderr();
	return err;
}

#define ROWS(workload, row)                                                                        \
	"echo '{\"record\":\"rows\",\"workload\":\"" workload "\",\"rows\":[" row "]}'\n"
#define CALL(value, n)                                                                             \
	"{\"name\":\"call\",\"unit\":\"us\",\"value\":" value ",\"n\":" n ",\"text\":null}"

static double at(const json_t *row, int process)
{
	const json_t *v = json_array_get(json_object_get(row, "values"), (size_t)process);

	return v && json_is_number(v) ? json_number_value(v) : -1;
}

static double number(const json_t *o, const char *name)
{
	const json_t *v = json_object_get(o, name);

	return v && json_is_number(v) ? json_number_value(v) : -1;
}

Test(small_costs_take, a_row_has_a_value_of_each_process)
{
	const json_t *row;

	fake_worker_does(0, ROWS("launch", CALL("2.5", "7")) "bye");
	fake_worker_does(1, ROWS("launch", CALL("4", "8") "," CALL("4.5", "9")) "bye");
	fake_worker_does(-1, ROWS("launch", CALL("3", "8")) "bye");
	cr_assert(zero(int, take(6, 30)), "%s", said);
	cr_assert(eq(sz, json_array_size(json_object_get(costs, "rows")), 1), "rows");
	row = costs_row(costs, "launch", "call");
	cr_assert(ne(ptr, (void *)(uintptr_t)row, NULL), "row");
	cr_assert(eq(dbl, at(row, 0), 2.5), "0");
	cr_assert(eq(dbl, at(row, 1), 4.5), "the last that was said");
	cr_assert(eq(dbl, at(row, 2), 3), "2");
	cr_assert(eq(dbl, number(row, "samples"), 8), "samples");
	cr_assert(eq(dbl, number(row, "median"), 3), "median");
	cr_assert(le(dbl, 2.5, number(row, "lo")), "lo: %g", number(row, "lo"));
	cr_assert(le(dbl, number(row, "lo"), 3), "lo: %g", number(row, "lo"));
	cr_assert(le(dbl, 3, number(row, "hi")), "hi: %g", number(row, "hi"));
	cr_assert(le(dbl, number(row, "hi"), 4.5), "hi: %g", number(row, "hi"));
	cr_assert(eq(str, (char *)json_string_value(json_object_get(row, "unit")), "us"), "unit");
	cr_assert(eq(dbl, number(costs, "processes"), 6), "processes");
	cr_assert(eq(str, (char *)json_string_value(json_object_get(costs, "sync")), "poll"),
		  "sync");
	json_decref(costs);
}

/* One workload's row is not the other's; without a value of each process there is no median. */
Test(small_costs_take, what_one_process_lacks)
{
	const json_t *row;

	fake_worker_does(0, ROWS("launch", CALL("2", "7")) ROWS("graph", CALL("5", "7")) "bye");
	fake_worker_does(
		1, ROWS("launch", "{\"name\":\"call\",\"unit\":\"\",\"value\":null,"
				  "\"n\":null,\"text\":\"not here\"}")
			   ROWS("graph", "{\"unit\":\"us\",\"value\":5}," CALL("6", "7")) "bye");
	cr_assert(zero(int, take(2, 30)), "%s", said);
	cr_assert(eq(sz, json_array_size(json_object_get(costs, "rows")), 2), "rows");
	row = costs_row(costs, "launch", "call");
	cr_assert(eq(dbl, at(row, 0), 2), "0");
	cr_assert(eq(dbl, at(row, 1), -1), "none");
	cr_assert(eq(dbl, number(row, "median"), -1), "none");
	cr_assert(eq(dbl, number(row, "samples"), 7), "as it was");
	cr_assert(eq(str, (char *)json_string_value(json_object_get(row, "unit")), "us"), "unit");
	cr_assert(eq(str, (char *)json_string_value(json_object_get(row, "text")), "not here"),
		  "why");
	row = costs_row(costs, "graph", "call");
	cr_assert(eq(dbl, number(row, "median"), 5.5), "%g", number(row, "median"));
	json_decref(costs);
}

Test(small_costs_take, the_last_one_looks_the_platform_over)
{
	const json_t *failed;

	fake_worker_does(-1,
			 "echo '{\"record\":\"failed\",\"workload\":\"graph\",\"code\":5}'\n"
			 "echo '{\"record\":\"header\",\"gpu\":{\"n\":'$n'},\"seed\":-5}'; bye");
	cr_assert(zero(int, take(2, 30)), "%s", said);
	for (int i = 0; i < 2; i++) {
		json_t *job = fake_worker_job(i);
		const json_t *header = json_object_get(job, "header");

		cr_assert(eq(str, (char *)json_string_value(json_object_get(job, "job")), "card"),
			  "%d", i);
		cr_assert(eq(int, (int)json_integer_value(json_object_get(job, "sync")), SYNC_POLL),
			  "%d", i);
		cr_assert(eq(int, header == json_true(), i == 1), "%d", i);
		json_decref(job);
	}
	/* what is known already stays */
	cr_assert(eq(dbl, number(json_object_get(costs, "gpu"), "n"), 0), "the first header");
	cr_assert(ne(dbl, number(costs, "seed"), -5), "seed");
	failed = json_object_get(costs, "failed");
	cr_assert(eq(sz, json_array_size(failed), 2), "failed");
	for (size_t i = 0; i < 2; i++) {
		cr_assert(eq(dbl, number(json_array_get(failed, i), "process"), (double)i), "%zu",
			  i);
		cr_assert(eq(dbl, number(json_array_get(failed, i), "code"), 5), "%zu", i);
	}
	json_decref(costs);
}

Test(small_costs_take, what_an_end_means)
{
	static const struct {
		const char *end;
		int err, lines;
	} rows[] = {
		{ "exit 4", -ENODEV, 0 }, { "exit 2", -ENOSYS, 0 }, { "exit 3", -EINVAL, 0 },
		{ "exit 7", -EIO, 1 },	  { "exit 0", -EIO, 1 },    { "kill -9 $$", -EIO, 1 },
		{ "bye; exit 7", 0, 0 },
	};

	for (int i = 0; i < (int)(sizeof(rows) / sizeof(*rows)); i++) {
		fake_worker_does(-1, rows[i].end);
		cr_assert(eq(int, take(rows[i].err ? 3 : 1, 30), rows[i].err), "%s: %s",
			  rows[i].end, said);
		cr_assert(eq(int, *said != '\0', rows[i].lines), "%s: %s", rows[i].end, said);
		cr_assert(eq(int, fake_workers(), i + 1), "%s: one process", rows[i].end);
		json_decref(costs);
	}
	cr_assert(eq(str, (char *)said, ""), "%s", said);
}

/* While it probes a workload it may be silent for longer than else. */
Test(small_costs_take, silence)
{
	fake_worker_does(0, "echo '{\"record\":\"phase\",\"phase\":\"opening the device\"}'; exec "
			    "sleep 60");
	cr_assert(eq(int, take(2, 0.4), -ENODEV), "%s", said);
	cr_assert(ne(ptr, strstr(said, "process 1 of 2 hung opening the device"), NULL), "%s",
		  said);
	cr_assert(eq(int, fake_workers(), 1), "%d", fake_workers());
	json_decref(costs);
	fake_worker_does(1, "echo '{\"record\":\"phase\",\"phase\":\"probing x\","
			    "\"workload\":\"x\"}'; sleep 1; bye");
	cr_assert(zero(int, take(1, 0.4)), "%s", said);
	json_decref(costs);
}

/* A layer is a command before the process: here one that sets a variable. Values are the processes'
 * numbers, 1000 more under it. */
Test(small_costs_take, both_sides_take_turns)
{
	const json_t *row[COSTS_SIDES];

	layer = "env UNDER_IT=1000";
	fake_worker_does(-1, "echo '{\"record\":\"rows\",\"workload\":\"launch\",\"rows\":[{"
			     "\"name\":\"call\",\"unit\":\"us\",\"text\":null,\"n\":1,\"value\":'"
			     "$((UNDER_IT + n))'}]}'; bye");
	cr_assert(zero(int, take(3, 30)), "%s", said);
	cr_assert(eq(int, fake_workers(), 6));
	row[0] = costs_row(costs, "launch", "call");
	row[1] = costs_row(under, "launch", "call");
	for (int i = 0; i < 3; i++) {
		static const int of[COSTS_SIDES][3] = { { 0, 3, 4 }, { 1001, 1002, 1005 } };

		for (int s = 0; s < COSTS_SIDES; s++)
			cr_assert(eq(dbl, at(row[s], i), of[s][i]), "side %d, process %d", s, i);
	}
	cr_assert(eq(dbl, number(row[0], "median"), 3));
	cr_assert(eq(dbl, number(row[1], "median"), 1002));
	json_decref(costs);
	json_decref(under);
}
