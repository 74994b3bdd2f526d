/*
 * test_grid.c - harness/probe/grid.c: which configurations are asked for, what is refused, lines
 * by hand, and files that are damaged.
 */
#include "tests/plain.h"
#include "harness/probe/grid.h"
#include "harness/base/command.h"
#include "harness/base/json.h"
#include "harness/record/recorded.h"
#include "tests/cli.h"

TestSuite(small_grid, .timeout = 300);

/* ---- asking ------------------------------------------------------------------------------- */

static int parse(json_t **configs, char **words, int n)
{
	return grid_parse(configs, workload_find("graph"), words, n);
}

Test(small_grid, every_combination_the_last_word_fastest)
{
	static const char *const want[4][3] = {
		{ "topology=chains", "width=1", "length=5" },
		{ "topology=chains", "width=1", "length=7" },
		{ "topology=chains", "width=2", "length=5" },
		{ "topology=chains", "width=2", "length=7" },
	};
	char *words[] = { "topology=chains", "width=1,2", "length=5,7" };
	json_t *configs;

	cr_assert(!parse(&configs, words, 3), "parse");
	cr_assert(json_array_size(configs) == 4, "%zu", json_array_size(configs));
	for (size_t i = 0; i < 4; i++)
		for (size_t k = 0; k < 3; k++) {
			const json_t *word = json_array_get(json_array_get(configs, i), k);

			cr_assert(!strcmp(json_string_value(word), want[i][k]), "%zu %zu: %s", i, k,
				  json_string_value(word));
		}
	json_decref(configs);
	cr_assert(!parse(&configs, words, 0), "defaults");
	cr_assert(json_array_size(configs) == 1, "%zu", json_array_size(configs));
	json_decref(configs);
}

Test(small_grid, what_cannot_be_asked_for)
{
	refused(3, "'length': *name=value", "probe graph length");
	refused(3, "length=", "probe graph length=1,");
	refused(3, "lenght* *'length'", "probe graph lenght=1");
	refused(3, "width=3 ", "probe graph length=1 width=3");
	refused(3, "us=5 ", "probe graph node=memset us=5");
	refused(3, "bytes=12", "probe graph node=h2d bytes=8,12");
	refused(3, "probe", "probe graph probe=yes");
	refused(3, "length *twice", "probe graph length=1 length=2");
	refused(3, "more than 256",
		"probe graph topology=chains "
		"width=1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16 "
		"length=1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17");
	refused(3, "blackscholes *probe", "probe blackscholes");
	refused(3, "grapf* *'graph'", "probe grapf");
}

/* ---- files --------------------------------------------------------------------------------- */

static char path[] = "/tmp/test-grid-XXXXXX";

static void write_grid(const char *text)
{
	static int fd = -1;
	FILE *f;

	if (fd < 0)
		fd = mkstemp(path);
	f = fopen(path, "w");
	cr_assert(f && fputs(text, f) >= 0 && !fclose(f), "%s", path);
}

#define HEAD                                                                                       \
	"{\"record\":\"probe_grid\",\"schema\":\"1.0\",\"processes\":5,\"seed\":7,"                \
	"\"workload\":\"graph\",\"configs\":["
#define CONFIGS                                                                                    \
	"{\"width\":\"1\",\"length\":\"10\"},{\"width\":\"1\",\"length\":\"20\"},"                 \
	"{\"width\":\"1\",\"length\":\"30\"},{\"width\":\"4\",\"length\":\"10\"}],\"rows\":["
#define ROW(config, values)                                                                        \
	"{\"workload\":\"graph\",\"config\":" config ",\"name\":\"call\",\"unit\":\"us\","         \
	"\"values\":[" values "],\"median\":1}"
/* Process p: 1 + p us, and 10 ns a node. */
#define ROWS                                                                                       \
	ROW("0", "1.1,2.1,3.1,4.1,5.1")                                                            \
	"," ROW("1", "1.2,2.2,3.2,4.2,5.2") "," ROW("2", "1.3,2.3,3.3,4.3,5.3") "," ROW(           \
		"3", "9,9,9,9,9")

static json_t *read_grid(const char *text)
{
	json_t *grid;

	write_grid(text);
	cr_assert(!grid_read(path, &grid), "read");
	unlink(path);
	return grid;
}

Test(small_grid, a_line_of_each_process)
{
	struct grid_group *group = calloc(GRID_GROUPS_MAX, sizeof(*group));
	json_t *grid = read_grid(HEAD CONFIGS ROWS "]}");
	struct grid_line line;
	char label[64];

	/* one size of width 4: no line goes through it */
	cr_assert(grid_groups(grid, group) == 1, "groups");
	cr_assert(!strcmp(group[0].label, "width=1") && group[0].n == 3, "%s", group[0].label);
	cr_assert(grid_fit(&line, grid, &group[0], "call"), "fit");
	cr_assert(fabs(line.fixed.value - 3) < 1e-9, "%g", line.fixed.value);
	cr_assert(fabs(line.slope.value - 0.01) < 1e-9, "%g", line.slope.value);
	cr_assert(line.fixed.known && fabs(line.fixed.lo - 1) < 1e-9 &&
			  fabs(line.fixed.hi - 5) < 1e-9,
		  "%g %g", line.fixed.lo, line.fixed.hi);
	cr_assert(!grid_fit(&line, grid, &group[0], "nothing"), "no such row");
	grid_label(grid, 3, "", label, sizeof(label));
	cr_assert(!strcmp(label, "width=4 length=10"), "%s", label);
	json_decref(grid);
	free(group);
}

/* Where rows say how many nodes there are, these are what a line is over. */
Test(small_grid, nodes_are_the_size)
{
	json_t *grid =
		read_grid(HEAD CONFIGS
			  "{\"workload\":\"graph\",\"config\":3,\"name\":\"nodes\",\"unit\":\"1\","
			  "\"values\":[40,40,40,40,40],\"median\":40}]}");

	cr_assert(grid_size(grid, 3) == 40, "%g", grid_size(grid, 3));
	cr_assert(grid_size(grid, 1) == 20, "%g", grid_size(grid, 1));
	json_decref(grid);
}

Test(small_grid, damaged_files_are_refused)
{
	static const struct {
		const char *text;
		int err;
	} rows[] = {
		{ "{\"record\":\"call_costs\"}", -EINVAL },
		{ "{\"record\":\"probe_grid\",\"schema\":\"2.0\"}", -EPROTONOSUPPORT },
		{ "{\"record\":\"probe_grid\",\"schema\":\"1.0\"", -EINVAL },
		{ HEAD CONFIGS "]}", -EINVAL },
		{ HEAD CONFIGS ROW("4", "1,2,3,4,5") "]}", -EINVAL },
		{ HEAD CONFIGS ROW("-1", "1,2,3,4,5") "]}", -EINVAL },
		{ HEAD CONFIGS ROW("\"0\"", "1,2,3,4,5") "]}", -EINVAL },
		{ HEAD CONFIGS ROW("0", "1,2,3,4") "]}", -EINVAL },
		{ HEAD CONFIGS ROW("0", "1,2,3,4,\"5\"") "]}", -EINVAL },
		{ HEAD "3],\"rows\":[" ROW("0", "1,2,3,4,5") "]}", -EINVAL },
		{ HEAD "],\"rows\":[{\"name\":\"x\",\"values\":[1,2,3,4,5]}]}", -EINVAL },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const char *said;
		json_t *grid;
		int err;

		write_grid(rows[i].text);
		divert_stderr();
		err = grid_read(path, &grid);
		said = diverted_stderr();
		cr_assert(err == rows[i].err && !grid && is_one_complaint(said), "%zu: %d: %s", i,
			  err, said);
	}
	unlink(path);
}

/* ---- the command --------------------------------------------------------------------------- */

static double median(const json_t *grid, int config, const char *name)
{
	return json_get_number(grid_row(grid, config, name), "median");
}

/* A number that is given is heeded, also beside --quick, which alone takes two. */
Test(small_grid, processes_of_a_probe)
{
	static const char asked[] = "probe graph length=1 --quiet --json";

	need_device();
	cr_assert(json_get_number(rift_json("%s --quick --processes 1", asked), "processes") == 1);
	cr_assert(json_get_number(rift_json("%s --processes 1", asked), "processes") == 1);
	cr_assert(json_get_number(rift_json("%s --quick", asked), "processes") == 2);
}

Test(small_grid, a_probe_is_kept_shown_and_refused_as_a_session)
{
	static const char *const commands[] = { "fit", "compare", "compare", "plot" };
	const char *text;
	char args[512];
	json_t *grid;

	need_device();
	close(mkstemp(path));
	unlink(path);
	snprintf(args, sizeof(args), "probe graph length=1,2,3 --processes 2 --quiet --output %s",
		 path);
	cr_assert(!run_rift(OUT, &text, "%s", args), "probe");
	cr_assert(tells(text, "length=3*lines"), "%s", text);
	refused(3, "exist", "%s", args);
	cr_assert(grid_is(path) && !costs_is(path), "a grid");
	cr_assert(!grid_read(path, &grid), "read");
	for (int i = 0; i < 3; i++) {
		cr_assert(median(grid, i, "nodes") == i + 1, "%d", i);
		cr_assert(median(grid, i, "launch end to end") > 0, "%d", i);
	}
	json_decref(grid);
	cr_assert(!run_rift(OUT, &text, "show %s", path) && tells(text, "length=3*lines"), "%s",
		  text);
	cr_assert(!run_rift(OUT, &text, "show --check %s", path) && tells(text, "3 *2"), "%s",
		  text);
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		refused(3, "grid", "%s %s %s", commands[i], path, i > 1 ? path : "");
	refused(3, "--over", "plot %s --over x", path);
	refused(3, "--side", "show --side a %s", path);
	unlink(path);
}
