/* test_fleet.c - which node of a fleet stands out: by values made here, and of files. */
/* sanitizers: one thread */
#include "tests/test.h"
#include "tests/fake_session.h"
#include "tests/folder.h"
#include "tests/golden.h"

#include "bench/fleet.h"
#include "harness/base/json.h"
#include "harness/compare/fleet.h"

TEST_FOLDER(folder);

TestSuite(small_fleet, .timeout = 60, .init = make_folder, .fini = remove_folder);
TestSuite(large_fleet, .timeout = 120);

/* ---- by value -------------------------------------------------------------------------------- */

/* Nodes n0, n1, ... whose processes take exp(effect +- scatter). */
static void make_fleet(struct fleet *f, const double *effect, int nodes, int processes,
		       double scatter)
{
	*f = (struct fleet){ .nodes = 0 };
	for (int i = 0; i < nodes; i++) {
		char name[16];
		struct fleet_node *n;

		snprintf(name, sizeof(name), "n%d", i);
		n = fleet_node(f, name);
		n->sessions = 1;
		for (int k = 0; k < processes; k++)
			fleet_add(n, 0, effect[i] + scatter * (k - (processes - 1) / 2.0));
	}
}

static const struct fleet_node *node_of(const struct fleet *f, const char *name)
{
	for (int i = 0; i < f->nodes; i++)
		if (!strcmp(f->node[i].name, name))
			return &f->node[i];
	cr_fatal("no node %s", name);
}

/* With all that is said of it then. */
static void judge_and_say(struct fleet *f, double margin)
{
	static char text[16384];
	FILE *out = fmemopen(text, sizeof(text), "w");

	fleet_judge(f, margin);
	fleet_print(f, false, out);
	fclose(out);
	golden_said(text);
}

Test(small_fleet, the_slow_one_and_the_fast_one_stand_out)
{
	static const double effect[] = { 0.001, -0.002, 0.08,  0.0015, 0.0005,
					 0.002, -0.001, -0.09, 0.0,    -0.0005 };
	struct fleet f;

	make_fleet(&f, effect, 10, 3, 0.001);
	fleet_judge(&f, 0.02);
	cr_expect(eq(int, f.judged, 10));
	cr_expect(eq(int, f.slower, 1));
	cr_expect(eq(int, f.faster, 1));
	cr_expect(eq(int, node_of(&f, "n2")->stands_out, 1));
	cr_expect(eq(int, node_of(&f, "n7")->stands_out, -1));
	cr_expect(eq(str, f.node[9].name, "n2"), "sorted by effect");
	cr_expect(eq(str, f.node[0].name, "n7"));
	cr_expect(epsilon_eq(dbl, node_of(&f, "n2")->effect, 0.08 - 0.00025, 1e-12));
	cr_expect(epsilon_eq(dbl, f.sd_processes, 0.001, 1e-12));
	cr_expect(eq(int, (int)fleet_exit_code(&f), RIFT_CHECK_FAILED));
	fleet_release(&f);
}

Test(small_fleet, the_finding_has_n_and_p_and_what_cannot_be_trusted)
{
	static const double effect[] = { 0.001, -0.002, 0.08, 0.0015, 0.0005, 0.002, -0.001, 0 };
	struct fleet f;
	char text[512] = "";
	FILE *out = fmemopen(text, sizeof(text), "w");

	make_fleet(&f, effect, 8, 3, 0.001);
	fleet_judge(&f, 0.02);
	f.distrusted = (struct distrusted){ 1, 1, "n4 (9 of 9 results are noisy)" };
	fleet_finding(&f, out);
	fclose(out);
	cr_expect(tells(text,
			"1 session cannot be trusted: n4 (9 of 9 results are noisy).\n1 of 8 nodes "
			"is slower "
			"than the fleet by more than 2 %: n2 (1.082 times, n = 3 processes, p = "
			"*).\n"),
		  "%s", text);
	fleet_release(&f);
}

/* All that stand out, the slowest five of the others, and how many are left out. */
Test(small_fleet, the_table_shows_what_matters)
{
	static const double effect[] = { 0.001, -0.002, 0.08,  0.0015, 0.0005,
					 0.002, -0.001, -0.09, 0.0,    -0.0005 };
	static const char *const shown[] = { "n2", "n5", "n3", "n0", "n4", "n8", "n7" };
	struct fleet f;
	char text[4096] = "";
	FILE *out = fmemopen(text, sizeof(text), "w");
	const char *at = text;

	make_fleet(&f, effect, 10, 3, 0.001);
	fleet_judge(&f, 0.02);
	fleet_print(&f, false, out);
	fclose(out);
	at = strstr(text, "\nnode ");
	for (size_t i = 0; at && i < sizeof(shown) / sizeof(*shown); i++) {
		char line[16];

		snprintf(line, sizeof(line), "\n%s ", shown[i]);
		at = strstr(at, line);
		cr_expect(ne(ptr, (void *)(uintptr_t)at, NULL), "%s: %s", shown[i], text);
	}
	cr_expect(tells(text, "... and 3 nodes that nothing is shown of"), "%s", text);
	fleet_release(&f);
}

/* The same, within the margin. */
Test(small_fleet, what_is_within_the_margin_does_not_count)
{
	static const double effect[] = { 0.001, -0.002, 0.08, 0.0015, 0.0005, 0.002, -0.001, 0 };
	struct fleet f;

	make_fleet(&f, effect, 8, 3, 0.001);
	fleet_judge(&f, 0.1);
	cr_expect(eq(int, f.slower + f.faster, 0));
	cr_expect(lt(dbl, node_of(&f, "n2")->p_slower, 0.05));
	cr_expect(eq(int, (int)fleet_exit_code(&f), RIFT_OK));
	fleet_release(&f);
}

/* Nodes that agree by chance do not make their processes' scatter vanish. */
Test(small_fleet, processes_that_scatter_single_out_nobody)
{
	static const double effect[] = { 0, 0, 0, 0, 0.05, 0 };
	struct fleet f;

	make_fleet(&f, effect, 6, 3, 0.04);
	fleet_judge(&f, 0.02);
	cr_expect(zero(dbl, f.sd_nodes));
	cr_expect(eq(int, f.slower, 0));
	fleet_release(&f);
}

Test(small_fleet, too_few_of_them_decide_nothing)
{
	static const double effect[] = { 0, 0.001, 3, 0.0005 };
	struct fleet f;

	make_fleet(&f, effect, 2, 3, 0.001);
	judge_and_say(&f, 0.02);
	cr_expect(eq(int, (int)fleet_exit_code(&f), RIFT_FAILED_POINTS));
	fleet_release(&f);
	make_fleet(&f, effect, 3, 3, 0.001);
	fleet_judge(&f, 0.02);
	cr_expect(eq(int, f.judged, FLEET_NODES_MIN));
	cr_expect(ne(int, (int)fleet_exit_code(&f), RIFT_FAILED_POINTS), "three are a fleet");
	cr_expect(eq(int, node_of(&f, "n2")->stands_out, 1));
	fleet_release(&f);
	make_fleet(&f, effect, 4, 2, 0.001);
	judge_and_say(&f, 0.02);
	cr_expect(eq(int, f.judged, 0));
	cr_expect(ne(int, f.node[0].few, 0));
	cr_expect(eq(int, (int)fleet_exit_code(&f), RIFT_FAILED_POINTS));
	fleet_release(&f);
}

/* Two sessions of three processes each, 2 % apart, processes 0.1 %. */
Test(small_fleet, sessions_of_a_node_are_told_from_its_processes)
{
	struct fleet f = { .nodes = 0 };

	for (int i = 0; i < 4; i++) {
		char name[16];
		struct fleet_node *n;

		snprintf(name, sizeof(name), "n%d", i);
		n = fleet_node(&f, name);
		n->sessions = 2;
		for (int s = 0; s < 2; s++)
			for (int k = -1; k <= 1; k++)
				fleet_add(n, s, (s ? 0.01 : -0.01) + 0.001 * k);
	}
	judge_and_say(&f, 0.02);
	cr_expect(epsilon_eq(dbl, f.sd_processes, 0.001, 1e-12));
	cr_expect(epsilon_eq(dbl, f.sd_sessions, sqrt(0.0002 - 1e-6 / 3), 1e-9));
	fleet_release(&f);
}

/* A session for each process, as rift-fleet makes them: what these scatter by is the processes'. */
Test(small_fleet, a_session_for_each_process)
{
	struct fleet f = { .nodes = 0 };
	struct fleet_node *n = fleet_node(&f, "n");

	n->sessions = 3;
	for (int s = 0; s < 3; s++)
		fleet_add(n, s, 0.01 * (s - 1));
	judge_and_say(&f, 0.02);
	cr_expect(epsilon_eq(dbl, f.sd_processes, 0.01, 1e-12));
	cr_expect(not(isfinite(f.sd_sessions)));
	fleet_release(&f);
}

/* Seven are slower, six faster, one has two processes: five of each way are named. */
Test(small_fleet, many_stand_out_and_the_furthest_are_named)
{
	double effect[30];
	struct fleet f;

	for (int i = 0; i < 30; i++)
		effect[i] = i < 7    ? 0.05 + 0.001 * i
			    : i < 13 ? -0.05 - 0.001 * i
				     : 0.004 * (i % 5 - 2);
	effect[20] = 0.5;
	make_fleet(&f, effect, 30, 3, 0.002);
	fleet_node(&f, "n20")->processes = 2;
	judge_and_say(&f, 0.02);
	golden_said_sums(fleet_json(&f));
	cr_expect(eq(int, f.judged, 29));
	cr_expect(eq(int, f.slower, 7));
	cr_expect(eq(int, f.faster, 6));
	fleet_release(&f);
}

/* ---- how often it is wrong, in short (bench/fleet.c) --------------------------------------------
 */

Test(large_fleet, a_thousand_nodes_of_which_ten_are_slower)
{
	const struct fleet_world w = {
		1000, 3, 10, 0.05, FLEET_MYOCYTE_NODES, FLEET_MYOCYTE_PROCESSES
	};
	struct fleet_found f = fleet_simulate(&w, 0.02, 20);

	cr_expect(le(dbl, 9, f.right), "%g", f.right);
	cr_expect(le(dbl, f.wrong, 1), "%g", f.wrong);
}

Test(large_fleet, equal_nodes_are_rarely_singled_out)
{
	static const int nodes[] = { 3, 5, 10, 30, 100 };

	for (size_t i = 0; i < sizeof(nodes) / sizeof(*nodes); i++) {
		const struct fleet_world w = { nodes[i], 3, 0, 0, 0.03, 0.01 };
		struct fleet_found f = fleet_simulate(&w, 0, 400);

		cr_expect(le(dbl, f.any_wrong, 0.14), "%d nodes: %g", nodes[i], f.any_wrong);
	}
}

/* ---- files ------------------------------------------------------------------------------------
 */

static double longer = 1;

static double factor(const struct batch *b, int side)
{
	(void)b, (void)side;
	return longer;
}

static const struct fleet_request any = { .side = -1 };

static const char *sizes = "0,10";

static char *file_of(int i)
{
	static char path[16][64];

	snprintf(path[i], sizeof(path[i]), "%s/%d.jsonl", folder, i);
	return path[i];
}

static void write_node(int i, double times, const char *device)
{
	struct fake_session s = fake_session();

	s.quick = true;
	s.depth = "1,16";
	s.size = sizes;
	s.mode = "stream";
	s.processes = 3;
	s.seed = 7 + (uint64_t)i;
	s.noise = 0.001;
	s.factor = factor;
	if (device)
		s.device[0] = device;
	longer = times;
	fake_session_write(&s, file_of(i));
}

Test(small_fleet, files_of_nodes)
{
	char *path[5];
	struct fleet f;

	for (int i = 0; i < 5; i++) {
		write_node(i, i == 3 ? 1.4 : 1, NULL);
		path[i] = file_of(i);
	}
	cr_assert(zero(int, fleet_read(&f, path, 5, &any)));
	fleet_judge(&f, 0.02);
	cr_expect(eq(int, f.nodes, 5));
	cr_expect(eq(int, f.points, 4));
	cr_expect(eq(int, f.slower, 1));
	cr_expect(epsilon_eq(dbl, exp(f.node[4].effect), 1.4, 0.01));
	cr_expect(tells(f.node[4].name, "3.jsonl"), "%s", f.node[4].name);
	fleet_release(&f);
}

/* What a node lacks is not in its mean; a long name is cut at its beginning. */
Test(small_fleet, a_node_that_lacks_points_and_one_of_a_long_name)
{
	char moved[256], as_long[FLEET_NAME + 1], *path[4];
	struct fleet f;

	for (int i = 0; i < 4; i++) {
		sizes = i == 2 ? "0" : "0,10";
		write_node(i, 1, NULL);
		path[i] = file_of(i);
	}
	snprintf(moved, sizeof(moved), "%s/%090d.jsonl", folder, 1);
	cr_assert(zero(int, rename(path[1], moved)));
	path[1] = moved;
	snprintf(as_long, sizeof(as_long), "%s/%0*d.jsonl", folder,
		 FLEET_NAME - (int)strlen(folder) - (int)strlen("/.jsonl"), 1);
	cr_assert(eq(sz, strlen(as_long), FLEET_NAME));
	cr_assert(zero(int, rename(path[3], as_long)));
	path[3] = as_long;
	cr_assert(zero(int, fleet_read(&f, path, 4, &any)));
	fleet_judge(&f, 0.02);
	cr_expect(eq(int, f.points, 4));
	cr_expect(eq(int, f.files, 4));
	cr_expect(eq(str, f.device, "made-up GPU"));
	cr_expect(not(f.is_cpu));
	cr_expect(zero(int, f.slower + f.faster));
	for (int i = 0; i < 4; i++) {
		cr_expect(epsilon_eq(dbl, f.node[i].effect, 0, 0.01), "%s", f.node[i].name);
		cr_expect(eq(int, f.node[i].sessions, 1), "%s", f.node[i].name);
	}
	cr_expect(eq(str, (char *)node_of(&f, moved + strlen(moved) - FLEET_NAME + 1)->name,
		     moved + strlen(moved) - FLEET_NAME + 1));
	cr_expect(eq(str, (char *)node_of(&f, as_long + 1)->name, as_long + 1));
	fleet_release(&f);
}

static void is_refused(char *const *path, int n, const char *words)
{
	struct fleet f;
	const char *said;
	int err;

	divert_stderr();
	err = fleet_read(&f, path, n, &any);
	said = diverted_stderr();
	cr_expect(ne(int, err, 0), "%s", words);
	cr_expect(tells(said, words), "%s: %s", words, said);
	fleet_release(&f);
}

Test(small_fleet, files_that_do_not_belong_together)
{
	write_node(0, 1, NULL);
	write_node(1, 1, "another GPU");
	is_refused((char *[]){ file_of(0), file_of(0) }, 2, "are the same session");
	is_refused((char *[]){ file_of(0), file_of(1) }, 2, "another GPU");
	is_refused((char *[]){ file_of(0), (char *)(uintptr_t) "/nonexistent" }, 2, "/nonexistent");
}
