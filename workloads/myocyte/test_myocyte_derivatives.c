/*
 * test_myocyte_derivatives.c - the device's right-hand side, through states= and derivatives=:
 * against the benchmark's own numbers, against the reference, with files that are wrong.
 */
#include "tests/plain.h"

#include <criterion/redirect.h>

#include "workloads/myocyte/test_cells.h"

enum { N = MYOCYTE_STATES };

TestSuite(small_myocyte_derivatives, .timeout = 300);

/* The whole action, as the harness runs it. */
static int evaluate(const struct myocyte_opts *o, struct report *report)
{
	struct myocyte_state *s = calloc(1, sizeof(*s));
	struct limits limits = { 0 };
	int err = workload_myocyte.limits(o, &limits);

	CHECK(s, "memory");
	if (!err) {
		cr_assert(limits.action, "an action");
		err = workload_myocyte.setup(o, s);
	}
	if (!err)
		err = workload_myocyte.report(o, s, report);
	workload_myocyte.teardown(s);
	free(s);
	return err;
}

static struct csv evaluated(const char *states, enum myocyte_equations equations,
			    struct report *report)
{
	struct myocyte_opts o = default_opts();
	struct csv out;

	o.states = states;
	o.derivatives = file_here("f.csv");
	o.equations = equations;
	remove(o.derivatives); /* it would replace none */
	cr_assert(!evaluate(&o, report), "%s", states);
	cr_assert(!csv_read(o.derivatives, &out), "%s", o.derivatives);
	cr_assert(out.columns == N, "%d columns", out.columns);
	return out;
}

/*
 * Rounding alone: 1e-12 relative where the device rounds as the source is written. A GPU
 * fuses, and derivatives that nearly cancel move; the terms are then measured by the state.
 */
static double off(double got, double want, double y)
{
	double size = fabs(want) + (rounds_as_written ? 0 : fabs(y));

	return got == want ? 0 : fabs(got - want) / size;
}

static void agrees_with_golden(const char *name, int64_t rows)
{
	struct csv golden = golden_open(name), got;
	struct report report = { 0 };
	double y[N], want[N], f[N], worst = 0;

	got = evaluated(golden.path, MYOCYTE_RODINIA, &report);
	cr_assert(got.rows == rows && golden.rows == rows, "%ld rows", (long)got.rows);
	for (int64_t row = 0; row < rows; row++) {
		golden_vector(&golden, row, "y", y);
		golden_vector(&golden, row, "f", want);
		golden_vector(&got, row, "f", f);
		for (int i = 0; i < N; i++) {
			double e = off(f[i], want[i], y[i]);

			cr_assert(e <= 1e-12, "%s, %s: f%d=%.17g, golden %.17g: %.2g off", name,
				  csv_text(&golden, row, 0), i, f[i], want[i], e);
			worst = fmax(worst, e);
		}
	}
	printf("%s: worst %.2g of 1e-12\n", name, worst);
	cr_assert(report.n == 2 && report.row[1].value == 1 + N, "columns ignored");
	csv_free(&golden);
	csv_free(&got);
	remove_files();
}

Test(small_myocyte_derivatives, are_the_benchmarks)
{
	need_device();
	agrees_with_golden("golden/derivatives.csv", 40);
}

Test(small_myocyte_derivatives, guarded_where_the_benchmark_is)
{
	need_device();
	agrees_with_golden("golden/derivatives_guard.csv", 15);
}

/* Where every formula has its limit the published equations are finite, and the reference's. */
static void agrees_with_reference(const char *name, int64_t rows)
{
	struct myocyte_model m = golden_model(MYOCYTE_PUBLISHED);
	struct csv golden = golden_open(name), got;
	struct report report = { 0 };
	double y[N], want[N], f[N];

	got = evaluated(golden.path, MYOCYTE_PUBLISHED, &report);
	for (int64_t row = 0; row < rows; row++) {
		golden_vector(&golden, row, "y", y);
		golden_vector(&got, row, "f", f);
		myocyte_ref_rhs(&m, myocyte_ref_stimulus(&m, golden_number(&golden, row, "t")), y,
				want);
		for (int i = 0; i < N; i++) {
			double e = fabs(f[i] - want[i]) / (fabs(want[i]) + fabs(y[i]) + 1e-300);

			cr_assert(e <= 1e-12, "%s, %s: f%d=%.17g, reference %.17g", name,
				  csv_text(&golden, row, 0), i, f[i], want[i]);
		}
	}
	csv_free(&golden);
	csv_free(&got);
	remove_files();
}

Test(small_myocyte_derivatives, published_ones_are_the_references)
{
	need_device();
	agrees_with_reference("golden/derivatives.csv", 40);
	agrees_with_reference("golden/derivatives_guard.csv", 8); /* all singular voltages */
}

/* ---- parameters in the table ----------------------------------------------------------- */

/* y0 with t = 50, and parameters p0..p15 of which p[which] is multiplied. */
static const char *states_with_parameters(const char *name, int which, double factor)
{
	struct myocyte_model m = golden_model(MYOCYTE_PUBLISHED);
	static char text[8192];
	double y[N];
	int n = 0;

	golden_start(y);
	n += snprintf(text + n, sizeof(text) - (size_t)n, "t");
	for (int i = 0; i < N; i++)
		n += snprintf(text + n, sizeof(text) - (size_t)n, ",y%d", i);
	for (int i = 0; i < MYOCYTE_PARAMS; i++)
		n += snprintf(text + n, sizeof(text) - (size_t)n, ",p%d", i);
	n += snprintf(text + n, sizeof(text) - (size_t)n, "\n50");
	for (int i = 0; i < N; i++)
		n += snprintf(text + n, sizeof(text) - (size_t)n, ",%.17g", y[i]);
	for (int i = 0; i < MYOCYTE_PARAMS; i++)
		n += snprintf(text + n, sizeof(text) - (size_t)n, ",%.17g",
			      m.p[i] * (i == which ? factor : 1));
	snprintf(text + n, sizeof(text) - (size_t)n, "\n");
	return write_file(name, text);
}

static double derivative(const char *states, const char *f)
{
	struct report report = { 0 };
	struct csv got = evaluated(states, MYOCYTE_PUBLISHED, &report);
	double value = golden_number(&got, 0, f);

	cr_assert(got.rows == 1, "%ld rows", (long)got.rows);
	csv_free(&got);
	return value;
}

Test(small_myocyte_derivatives, take_parameters_from_the_table)
{
	const char *nominal, *other;

	need_device();
	nominal = states_with_parameters("nominal.csv", -1, 1);
	other = states_with_parameters("other.csv", 5, 2); /* twice PP1tot_dy */
	cr_assert(derivative(nominal, "f56") != derivative(other, "f56"), "Pa_dy");
	cr_assert(derivative(nominal, "f71") == derivative(other, "f71"), "Pa_sl");
	/* a cycle of 50 ms: t = 50 is the edge at which the next stimulus begins, 9.5 A/F */
	other = states_with_parameters("paced.csv", 0, 0.05);
	cr_assert(fabs(derivative(other, "f38") - derivative(nominal, "f38") - 9.5) < 1e-9,
		  "stimulus at t = 50 ms with a cycle of 50 ms");
	remove_files();
}

/* ---- files that are wrong -------------------------------------------------------------- */

/* Shell commands that make a table from the good one, and what the message must name. */
static const struct {
	const char *make, *says;
} bad_tables[] = {
	{ "true", "No such file" },
	{ ": >$bad", "empty" },
	{ "head -n 1 $good >$bad", "" },
	{ "head -c 1500 $good >$bad", ":2" },
	{ "sed '2s/^50,[^,]*/50,nan/' $good >$bad", ":2" },
	{ "sed '2s/^50,[^,]*/50,1.5x/' $good >$bad", ":2" },
	{ "sed '2s/$/,1/' $good >$bad", ":2" },
	{ "cut -d, -f1-91 $good >$bad", "y90" },
	{ "cut -d, -f2- $good >$bad", "t" },
	{ "cut -d, -f1-100 $good >$bad", "p8" },
	{ "sed '2s/,1000,418,/,0,418,/' $good >$bad", "p0" },
	{ "head -c -1 $good >$bad", ":2: " },
	{ "mkdir $bad", "" },
};

Test(small_myocyte_derivatives, refuse_tables_that_are_wrong)
{
	enum { TABLES = sizeof(bad_tables) / sizeof(*bad_tables) };
	struct myocyte_opts o = default_opts();
	struct report report = { 0 };
	char command[512], bad[128];
	const char *good, *text;

	need_device();
	good = states_with_parameters("good.csv", -1, 1);
	o.derivatives = file_here("f.csv");
	o.states = bad;
	cr_redirect_stderr();
	for (int i = 0; i < TABLES; i++) {
		snprintf(bad, sizeof(bad), "%s/bad%d.csv", test_folder, i);
		snprintf(command, sizeof(command), "good=%s bad=%s; %s", good, bad,
			 bad_tables[i].make);
		cr_assert(!shell(NULL, "%s", command), "%s", command);
		cr_assert(evaluate(&o, &report) < 0, "%s: accepted", command);
		cr_assert(!exists(o.derivatives), "%s: a file appeared", command);
		cr_assert(shell(NULL, "ls %s/*.part 2>/dev/null", test_folder), "%s: .part is left",
			  command);
	}
	text = captured_stderr();
	for (int i = 0; i < TABLES; i++) {
		const char *line = first_line(text, i);

		snprintf(bad, sizeof(bad), "bad%d.csv", i);
		cr_assert(strstr(line, bad), "%s is not named: %s", bad, line);
		cr_assert(strstr(line, bad_tables[i].says), "%s: %s", bad_tables[i].says, line);
	}
	cr_assert(!*first_line(text, TABLES), "one line each: %s", first_line(text, TABLES));
	remove_files();
}
