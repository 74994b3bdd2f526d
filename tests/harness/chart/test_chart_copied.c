/*
 * test_chart_copied.c - harness/chart/copied.c: steps over the bytes that they copy, on sessions
 * that were made up from a model: 50 bytes a ns, and Z = 5.8 us.
 */
/* sanitizers: one thread */
#include "tests/test.h"
#include "harness/chart/copied.h"
#include "harness/chart/words.h"
#include "harness/measure/run.h"
#include "tests/chart_files.h"
#include "tests/cli.h"
#include "tests/need_gnuplot.h"

TestSuite(small_chart_copied, .init = chart_folder_make, .fini = chart_folder_remove,
	  .timeout = 300);

static struct chart_files made;

static double ns_of_bytes(double bytes)
{
	return bytes / 50;
}

static struct fake_session copies(char **assignment, int n)
{
	struct fake_session s = fake_session();

	s.workload = "transfer";
	s.size = "1M,4M,16M,64M";
	s.depth = "1";
	s.assignment = assignment;
	s.n_assignments = n;
	s.processes = 2;
	s.noise = 0;
	s.kernel_ns = ns_of_bytes;
	s.step = (struct cost){ .launches = 0, .to_device.calls = 3 };
	return s;
}

/* What records say of steps; configurations from this one on are of pageable memory. */
static void count_bytes(struct journal *j, int pageable_config)
{
	for (int i = 0; i < j->plan.n_points; i++) {
		const struct config *c = &j->plan.config[j->plan.point[i].config];
		json_t *bytes = param_json(workload_axis(c->workload), c->params.opts);

		j->step[i].to_device.bytes = 0.75 * json_number_value(bytes);
		j->step[i].to_host = (struct copies){ 2, 0.25 * json_number_value(bytes) };
		j->step[i].pageable = j->plan.point[i].config >= pageable_config;
		json_decref(bytes);
	}
}

static void make_charts(const struct fake_session *s, int pageable_config)
{
	chart_files_session(&made, s);
	count_bytes(&made.journal, pageable_config);
	made.over = CHART_COPIED;
	chart_files_make(&made);
}

Test(small_chart_copied, a_straight_line_is_found)
{
	struct fake_session s = copies(NULL, 0);
	const struct table *t;

	make_charts(&s, 99);
	cr_assert(eq(int, made.charts.pictures, 1), "alone");
	t = table_read("transfer-copied-points.csv");
	cr_assert(eq(int, t->rows, 4), "sizes");
	cr_assert(eq(dbl, t->v[3][table_column(t, "bytes")], 64 * 1048576.0), "both ways");
	cr_assert(eq(dbl, t->v[3][table_column(t, "calls")], 5), "both ways");
	for (int i = 0; i < 4; i++)
		cr_assert(lt(dbl, fabs(t->v[i][table_column(t, "off_percent")]), 0.01), "row %d",
			  i);
	/* 5.8 us by 5 calls */
	script_figures("transfer-copied", "title", "50 GB/s 1.2 µs 0.0 %");
	script_says("transfer-copied", "made2", "stream mode, depth 1; bytes=1M to 64M");
	chart_files_release(&made);
}

static double a_tenth_longer_from_16M_on(const struct batch *b, int side)
{
	return !side && b->kernel_ns > 3e5 ? 1.1 : 1;
}

Test(small_chart_copied, what_is_off_the_line_is_said)
{
	struct fake_session s = copies(NULL, 0);
	const struct table *t;
	double most = 0;

	s.factor = a_tenth_longer_from_16M_on;
	make_charts(&s, 99);
	t = table_read("transfer-copied-points.csv");
	for (int i = 0; i < 4; i++)
		most = fmax(most, fabs(t->v[i][table_column(t, "off_percent")]));
	cr_assert(lt(dbl, 1, most), "%g", most);
	cr_assert(lt(dbl, most, 10), "%g", most);
	script_says("transfer-copied", "title", words_percent(most / 100).s);
	chart_files_release(&made);
}

/* Sum of squares of shares. */
static double cost_of(const struct copied_line *l)
{
	double sum = 0;

	for (int i = 0; i < l->points; i++)
		sum += pow(copied_line_ns(l, l->point[i].bytes) / l->point[i].step.value - 1, 2);
	return sum;
}

Test(small_chart_copied, no_other_line_is_nearer)
{
	struct copied_point point[] = { { 1e6, 1, { .value = 30e3 } },
					{ 1e7, 1, { .value = 250e3 } },
					{ 1e8, 1, { .value = 1.9e6 } },
					{ 1e9, 1, { .value = 22e6 } } };
	struct copied_line l = { .point = point, .points = 4 };
	double least;

	copied_fit(&l);
	least = cost_of(&l);
	for (int i = 0; i < 4; i++) {
		struct copied_line other = l;

		*(i < 2 ? &other.fixed_ns : &other.byte_ns) *= i % 2 ? 1.01 : 0.99;
		cr_assert(lt(dbl, least, cost_of(&other)), "%d", i);
	}
	cr_assert(lt(dbl, 0.05, l.off), "%g", l.off);
}

Test(small_chart_copied, pageable_memory_is_a_line_of_its_own)
{
	char *args[] = { "host=pinned,pageable" };
	struct fake_session s = copies(args, 1);

	make_charts(&s, 4);
	cr_assert(eq(str, (char *)script_value("transfer-copied", "lines"), "2"), "lines");
	cr_assert(eq(str, (char *)script_value("transfer-copied", "name2"), "pageable"), "%s",
		  script_value("transfer-copied", "name2"));
	script_says("transfer-copied", "finding", "pageable: 50 GB/s");
	chart_files_release(&made);
	make_charts(&s, 99);
	cr_assert(eq(str, (char *)script_value("transfer-copied", "name2"), "pinned host=pageable"),
		  "told apart: %s", script_value("transfer-copied", "name2"));
	chart_files_release(&made);
}

/* Six kinds of copies, four of which are drawn. */
Test(small_chart_copied, no_more_lines_than_there_is_room_for)
{
	char *args[] = { "host=pinned,pageable,registered", "call=async,sync" };
	struct fake_session s = copies(args, 2);
	const struct table *t;

	make_charts(&s, 999);
	cr_assert(eq(str, (char *)script_value("transfer-copied", "lines"), "4"), "%s",
		  script_value("transfer-copied", "lines"));
	t = table_read("transfer-copied-points.csv");
	cr_assert(eq(int, t->rows, COPIED_LINES * 4), "%d", t->rows);
	for (int i = 0; i < t->rows; i++)
		cr_assert(eq(dbl, t->v[i][0], 1 + i / 4), "row %d", i);
	chart_files_release(&made);
}

Test(small_chart_copied, where_calls_differ_a_step_is_spoken_of)
{
	struct fake_session s = copies(NULL, 0);

	chart_files_session(&made, &s);
	count_bytes(&made.journal, 99);
	made.journal.step[3].to_host.calls = 7;
	made.over = CHART_COPIED;
	chart_files_make(&made);
	script_says("transfer-copied", "title", "50 GB/s*5.8 µs");
	chart_files_release(&made);
}

static double as_long_as_a_kernel(const struct batch *b, int side)
{
	return side ? 1 : 0.9 * b->kernel_ns / (b->kernel_ns + 5800) + 0.1 * (b->kernel_ns > 1e6);
}

Test(small_chart_copied, less_than_nothing_is_not_said_of_a_copy)
{
	struct fake_session s = copies(NULL, 0);

	s.factor = as_long_as_a_kernel;
	make_charts(&s, 99);
	cr_assert(eq(ptr, strstr(script_value("transfer-copied", "title"), "µs"), NULL), "no time");
	chart_files_release(&made);
}

Test(small_chart_copied, two_sizes_are_no_line)
{
	struct fake_session s = copies(NULL, 0);

	s.size = "1M,4M";
	make_charts(&s, 99);
	cr_assert(zero(int, made.charts.pictures), "none");
	chart_files_release(&made);
}

Test(small_chart_copied, what_is_refused)
{
	char path[256];

	chart_session_write(path, "s.jsonl", 1, 1);
	refused(3, "--over=copied: ", "plot '%s' --over copied", path);
	refused(3, "'copied'", "plot '%s' --over copyed", path);
	chart_session_write(path, "both.jsonl", 2, 1);
	refused(3, "--over=copied: ", "plot '%s' --over copied", path);
}

Test(small_chart_copied, no_workload_has_a_parameter_of_that_name)
{
	for (size_t i = 0; workloads[i]; i++)
		cr_assert(eq(ptr, (void *)(uintptr_t)chart_over(workloads[i], CHART_COPIED), NULL),
			  "%s", workloads[i]->name);
}

Test(small_chart_copied, the_picture_is_drawn_without_a_word)
{
	char *args[] = { "host=pinned,pageable" };
	struct fake_session s = copies(args, 1);

	NEED_GNUPLOT();
	s.processes = 5;
	s.noise = 0.02;
	make_charts(&s, 4);
	cr_assert(zero(int, charts_draw(&made.charts)), "drawn");
	cr_assert(eq(str, (char *)made.charts.picture[0].said.s, ""), "%s",
		  made.charts.picture[0].said.s);
	chart_files_release(&made);
}
