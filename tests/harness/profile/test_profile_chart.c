/*
 * test_profile_chart.c - harness/profile/profile_chart.h: the values that charts of made-up traces
 * draw, which is what their files say. The traces have no calibration, so times are as written.
 */
#include "tests/test.h"
#include "harness/profile/profile_chart.h"

#include "tests/chart_files.h"
#include "tests/made_trace.h"

TestSuite(small_profile_chart, .init = chart_folder_make, .fini = chart_folder_remove,
	  .timeout = 60);

static const struct kind_rules rules = KIND_DEFAULTS;
static struct made made;
static struct profile profile;
static struct picture picture;
static char name[64];

static void begin(void)
{
	made_begin(&made, ",\"device\":\"made up\"", NULL);
}

/* Ends the trace at t and writes this chart of it. */
static void write_chart(long t, enum profile_chart which)
{
	if (made.out)
		made_end(&made, t, 0, 0);
	made.out = NULL;
	cr_assert(zero(int, profile_make(&profile, made.path, &rules, true)), "%s", made.path);
	cr_assert(zero(int, profile_chart_write(&picture, &profile, which, chart_folder)), "%d",
		  (int)which);
	snprintf(name, sizeof(name), "%s", picture.plot.name);
}

static void chart(long t, enum profile_chart which)
{
	write_chart(t, which);
	chart_folder_said(name);
}

static void end(void)
{
	profile_chart_release(&picture);
	profile_release(&profile);
}

static const struct table *drawn(void)
{
	char file[80];

	snprintf(file, sizeof(file), "%s-boxes.csv", name);
	return table_read(file);
}

/* n rows of a data file, from row `at` on. */
static void are_rows(const struct table *t, int at, const double (*want)[4], int n)
{
	cr_assert(le(int, at + n, t->rows), "%d rows", t->rows);
	for (int i = 0; i < n; i++)
		for (int k = 0; k < 4; k++)
			cr_expect(lt(dbl, fabs(t->v[at + i][k] - want[i][k]), 1e-9),
				  "row %d, column %d: %.9g, not %.9g", at + i, k, t->v[at + i][k],
				  want[i][k]);
}

/* What is drawn, in its unit. */
static void spans(double from, double to)
{
	const char *said = script_value(name, "from");

	cr_expect(lt(dbl, fabs(strtod(said, NULL) - from), 1e-6), "from %s, not %g", said, from);
	said = script_value(name, "to");
	cr_expect(lt(dbl, fabs(strtod(said, NULL) - to), 1e-6), "to %s, not %g", said, to);
}

/* ---- boxes as they are ---------------------------------------------------------------------- */

/* Six threads and ten streams do something: four and eight have rows. */
static void put_rows(void)
{
	for (long i = 2; i < 7; i++)
		made_row(&made, "{\"record\":\"thread\",\"id\":%ld,\"tid\":%ld}", i, 100 + i);
	for (int i = 5; i < 11; i++)
		made_row(&made, "{\"record\":\"stream\",\"id\":%d,\"kind\":\"blocking\"}", i);
	made_call(&made, "launch", 1000, 3000, "");
	made_op(&made, "kernel", 1, 4000, 6000, ",\"name\":1");
	made_call(&made, "copy", 6000, 7000, ",\"bytes\":64,\"async\":true");
	made_op(&made, "copy", 2, 7000, 9000, ",\"direction\":\"to_device\",\"bytes\":64");
	made_call(&made, "memset", 9000, 9500, "");
	made_op(&made, "memset", 3, 10000, 11000, "");
	made_call(&made, "graph_launch", 11000, 12000, ",\"graph\":1");
	made_op(&made, "graph", 4, 13000, 14000, ",\"graph\":1");
	made_call(&made, "hostfunc", 14000, 14500, "");
	made_op(&made, "hostfunc", 5, 15000, 16000, "");
	for (int i = 6; i < 11; i++) {
		made_call(&made, "launch", 10000 + 1000 * i, 10500 + 1000 * i, "");
		made_op(&made, "kernel", i, 10600 + 1000 * i, 10900 + 1000 * i, ",\"name\":1");
	}
	made_call(&made, "alloc", 30000, 40000, ",\"thread\":2,\"bytes\":64");
	made_call(&made, "sync_device", 30000, 50000, ",\"thread\":3");
	made_call(&made, "other", 30000, 60000, ",\"thread\":4");
	for (int i = 5; i < 7; i++)
		made_call(&made, "other", 70000, 71000, i == 5 ? ",\"thread\":5" : ",\"thread\":6");
}

/* Threads from row 0 on, streams from row 4 on, the idle device in row 12. */
static const double boxes[][4] = {
	{ 1, 3, 0, SHARE_API },
	{ 6, 7, 0, SHARE_COPY_CALLS },
	{ 9, 9.5, 0, SHARE_API },
	{ 11, 12, 0, SHARE_API },
	{ 14, 14.5, 0, SHARE_API },
	{ 16, 16.5, 0, SHARE_API },
	{ 17, 17.5, 0, SHARE_API },
	{ 18, 18.5, 0, SHARE_API },
	{ 19, 19.5, 0, SHARE_API },
	{ 20, 20.5, 0, SHARE_API },
	{ 30, 40, 1, SHARE_MEMORY },
	{ 30, 50, 2, SHARE_SYNC },
	{ 30, 60, 3, SHARE_OTHER },
	{ 4, 6, 4, SHARE_KERNELS },
	{ 7, 9, 5, SHARE_COPIES },
	{ 10, 11, 6, SHARE_STREAM },
	{ 13, 14, 7, SHARE_KERNELS },
	{ 15, 16, 8, SHARE_STREAM },
	{ 16.6, 16.9, 9, SHARE_KERNELS },
	{ 17.6, 17.9, 10, SHARE_KERNELS },
	{ 18.6, 18.9, 11, SHARE_KERNELS },
};

enum { BOXES = sizeof(boxes) / sizeof(*boxes) };

Test(small_profile_chart, each_call_and_operation_is_a_box)
{
	const struct table *t;
	double idle = 0;

	begin();
	put_rows();
	chart(80000, PROFILE_TIMELINE);
	t = drawn();
	cr_assert(eq(str, (char *)t->header, "t0,t1,row,share\n"), "%s", t->header);
	cr_assert(lt(int, BOXES, t->rows), "%d", t->rows);
	are_rows(t, 0, boxes, BOXES);
	for (int i = BOXES; i < t->rows; i++) {
		cr_expect(eq(dbl, t->v[i][2], 12), "%d: the idle device", i);
		cr_expect(le(dbl, SHARES_OF_HOST - 1, t->v[i][3]), "%d: a reason", i);
		idle += t->v[i][1] - t->v[i][0];
	}
	/* all but 2 + 2 + 1 + 1 + 1 us, and 0.3 us of each of five kernels */
	cr_expect(lt(dbl, fabs(idle - (80 - 8.5)), 1e-9), "%.9g", idle);
	end();
}

Test(small_profile_chart, its_rows_have_names)
{
	static const char *const want[][2] = {
		{ "rows", "13" },	  { "row0", "thread 100" },   { "row1", "thread 102" },
		{ "row2", "thread 103" }, { "row3", "thread 104" },   { "row4", "stream 1" },
		{ "row11", "stream 8" },  { "row12", "device idle" }, { "row13", "" },
		{ "unit", "µs" },	  { "made2", "made up" },
	};

	begin();
	put_rows();
	chart(80000, PROFILE_TIMELINE);
	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++)
		cr_expect(eq(str, (char *)script_value(name, want[i][0]), (char *)want[i][1]), "%s",
			  want[i][0]);
	spans(0, 80);
	script_says(name, "note", "4 threads and streams are not shown");
	script_says(name, "title", "./app");
	end();
}

Test(small_profile_chart, its_unit_gives_three_or_four_digits)
{
	static const struct {
		long ns;
		const char *unit;
		double to;
	} cases[] = {
		{ 1900000, "µs", 1900 },
		{ 2100000, "ms", 2.1 },
		{ 1900000000, "ms", 1900 },
		{ 2100000000, "s", 2.1 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		begin();
		made_call(&made, "other", 0, 1000, "");
		write_chart(cases[i].ns, PROFILE_TIMELINE);
		cr_expect(eq(str, (char *)script_value(name, "unit"), (char *)cases[i].unit), "%ld",
			  cases[i].ns);
		spans(0, cases[i].to);
		end();
	}
}

/* ---- ranges, and how busy both are ------------------------------------------------------------
 */

static const struct table *file_of(const char *suffix)
{
	char file[80];

	snprintf(file, sizeof(file), "%s-%s.csv", name, suffix);
	return table_read(file);
}

static void put_mark(const char *kind, int thread, long t, int string)
{
	made_row(&made, "{\"record\":\"mark\",\"thread\":%d,\"kind\":\"%s\",\"t\":%ld,\"name\":%d}",
		 thread, kind, t, string);
}

/* The host queues until 30 us and waits until 90; the device works from 40 to 80. */
static void put_named(void)
{
	made_row(&made, "{\"record\":\"string\",\"id\":2,\"text\":\"a \\\"step\\\", long\"}");
	put_mark("push", 1, 1000, 2); /* of another thread: not drawn */
	put_mark("pop", 1, 2000, 2);
	put_mark("push", 0, 10000, 2);
	put_mark("push", 0, 11000, 1); /* within: not drawn */
	made_call(&made, "launch", 10000, 30000, "");
	made_op(&made, "kernel", 2, 40000, 80000, ",\"name\":1");
	put_mark("pop", 0, 29000, 1);
	put_mark("pop", 0, 30000, 2);
	made_call(&made, "sync_device", 30000, 90000, "");
}

Test(small_profile_chart, ranges_have_two_rows)
{
	static const double want[][4] = { { 10, 30, 3, 1 }, { 40, 80, 4, 1 } };
	const struct table *t;

	begin();
	put_named();
	chart(100000, PROFILE_TIMELINE);
	t = file_of("ranges");
	cr_assert(eq(str, (char *)t->header, "t0,t1,row,shade,name\n"), "%s", t->header);
	cr_assert(eq(int, t->rows, 2), "%d", t->rows);
	are_rows(t, 0, want, 2);
	cr_expect(eq(str, (char *)script_value(name, "row3"), "ranges"));
	cr_expect(eq(str, (char *)script_value(name, "row4"), "on the device"));
	end();
	begin();
	made_call(&made, "other", 0, 1000, "");
	chart(2000, PROFILE_TIMELINE);
	t = file_of("ranges");
	cr_assert(eq(int, t->rows, 1), "one that is not drawn");
	cr_expect(eq(dbl, t->v[0][2], -9), "its row: %g", t->v[0][2]);
	cr_expect(eq(str, (char *)script_value(name, "rows"), "2"), "no rows of them");
	end();
}

/* Of 1 ms, in 150 parts: a range of each us is no box of its own. */
Test(small_profile_chart, narrow_ranges_are_one_box)
{
	const struct table *t;

	begin();
	for (long i = 0; i < 1000; i++) {
		put_mark("push", 0, 10000000 + 1000 * i, 1);
		put_mark("pop", 0, 10000000 + 1000 * i + 900, 1);
	}
	made_call(&made, "other", 0, 1000, "");
	made_call(&made, "other", 19999000, 20000000, "");
	chart(20000000, PROFILE_TIMELINE);
	t = file_of("ranges");
	cr_assert(lt(int, 50, t->rows), "%d", t->rows);
	cr_assert(lt(int, t->rows, 100), "%d", t->rows);
	end();
}

/* 150 parts of 100 us: 10 to 30 % launch, 30 to 90 % wait; 40 to 80 % kernel. */
Test(small_profile_chart, curves_say_how_busy_both_are)
{
	const struct table *t;

	begin();
	put_named();
	chart(100000, PROFILE_TIMELINE);
	t = file_of("busy");
	cr_assert(eq(str, (char *)t->header, "t,host,device\n"), "%s", t->header);
	cr_assert(eq(int, t->rows, 150), "%d", t->rows);
	for (int i = 0; i < 150; i++) {
		bool waits = i >= 45 && i < 135, works = i >= 60 && i < 120;

		cr_expect(lt(dbl, fabs(t->v[i][0] - (i + 0.5) / 1.5), 1e-6), "%d", i);
		cr_expect(lt(dbl, fabs(t->v[i][1] - !waits), 1e-3), "%d: host %g", i, t->v[i][1]);
		cr_expect(lt(dbl, fabs(t->v[i][2] - works), 1e-3), "%d: device %g", i, t->v[i][2]);
	}
	end();
}

/* ---- columns -------------------------------------------------------------------------------- */

/* A step of 1500 columns of 4 us, and what fills one column by far too little. */
enum { BEGIN = 5000000, COLUMN = 4000, COLUMNS = 1500, END = BEGIN + COLUMNS * COLUMN };
enum { TENTH = COLUMN / 10, FIRST_FULL = 200, LAST_FULL = 1400, EACH = 4 };

/* Calls of a thread, from column to column, each with what it gives the device. */
static long in_column(double column)
{
	return BEGIN + lround(column * COLUMN);
}

static void busy(const char *class, long t0, long t1)
{
	made_call(&made, class, t0, t1, "");
}

static void works(const char *kind, long t0, long t1)
{
	made_op(&made, kind, 2, t0, t1, "");
}

static void put_columns(void)
{
	busy("sync_device", BEGIN - 1000, BEGIN);
	busy("launch", in_column(0), in_column(0) + TENTH + 1); /* a little more than a tenth */
	works("kernel", in_column(0.5), in_column(2));
	works("memset", in_column(30), in_column(30.6)); /* beside a column with more of kernels */
	works("kernel", in_column(31), in_column(33));
	works("memset", in_column(33.2), in_column(33.7));
	busy("other", in_column(2), in_column(2) + TENTH); /* a tenth is too little */
	busy("other", in_column(3), in_column(5));
	busy("alloc", in_column(5.3), in_column(8.2)); /* two columns, most of one, little of one */
	busy("other", in_column(8.2), in_column(8.7));
	busy("launch", in_column(10), in_column(10.4));
	busy("alloc", in_column(10.4), in_column(10.8)); /* level: the first share */
	busy("launch", in_column(11), in_column(11.4) - 1);
	busy("alloc", in_column(11.4) - 1, in_column(11.8));
	busy("other", in_column(12.95), in_column(14)); /* next to nothing of the first one */
	busy("other", in_column(14), in_column(14) + TENTH);
	for (int i = EACH * FIRST_FULL; i < EACH * LAST_FULL; i++)
		busy("other", in_column(i / (double)EACH), in_column(i / (double)EACH) + 1);
	busy("other", in_column(1498), END - 1);
	busy("sync_device", END - 1, END);
	busy("sync_device", END + (END - BEGIN) - 1, END + (END - BEGIN));
}

/* From column to column. */
static const double columns[][4] = {
	{ 0, 1, 0, SHARE_API },	     { 3, 5, 0, SHARE_OTHER },	     { 5, 8, 0, SHARE_MEMORY },
	{ 8, 9, 0, SHARE_OTHER },    { 10, 11, 0, SHARE_API },	     { 11, 12, 0, SHARE_MEMORY },
	{ 13, 14, 0, SHARE_OTHER },  { 1498, 1500, 0, SHARE_OTHER }, { 0, 2, 1, SHARE_KERNELS },
	{ 30, 31, 1, SHARE_STREAM }, { 31, 33, 1, SHARE_KERNELS },   { 33, 34, 1, SHARE_STREAM },
};

Test(small_profile_chart, many_boxes_are_columns)
{
	enum { WANT = sizeof(columns) / sizeof(*columns) };
	double want[WANT][4];
	const struct table *t;

	begin();
	put_columns();
	chart(2 * END, PROFILE_STEP);
	spans(BEGIN / 1e6, END / 1e6);
	for (int i = 0; i < WANT; i++) {
		memcpy(want[i], columns[i], sizeof(*want));
		for (int k = 0; k < 2; k++)
			want[i][k] = (BEGIN + COLUMN * want[i][k]) / 1e6;
	}
	t = drawn();
	are_rows(t, 0, want, WANT);
	for (int i = WANT; i < t->rows; i++)
		cr_expect(eq(dbl, t->v[i][2], 2), "%d: the idle device", i);
	end();
}

/* ---- one step ------------------------------------------------------------------------------- */

/* Synchronizes that return at these times, ms; or copies that are waited for. */
static void put_waits(const double *ms, int n)
{
	for (int i = 0; i < n; i++)
		made_call(&made, "sync_device", (long)(1e6 * ms[i]) - 1000, (long)(1e6 * ms[i]),
			  "");
}

static void put_copies(const double *ms, int n)
{
	for (int i = 0; i < n; i++) {
		long t = (long)(1e6 * ms[i]);

		made_call(&made, "copy", t - 4000, t, ",\"bytes\":64,\"async\":false");
		made_op(&made, "copy", 2, t - 3000, t - 1000,
			",\"direction\":\"to_device\",\"bytes\":64");
	}
}

/*
 * Lengths 1, 1, 9, 4, 6, 5, 2 and 90 ms. Those in the middle of nine waits are the third to the
 * seventh: the median of 9, 4, 6 and 5 is 5.5 ms, and 6 is the first that is as near as any.
 */
Test(small_profile_chart, a_spans_of_the_median_length)
{
	static const double ms[] = { 3, 4, 5, 14, 18, 24, 29, 31, 121 };
	static const double six[] = { 10, 20, 23, 32, 40, 90 };

	begin();
	put_waits(ms, 9);
	chart(130000000, PROFILE_STEP);
	cr_expect(eq(str, (char *)script_value(name, "unit"), "ms"), "unit");
	spans(18, 24);
	end();
	begin();
	put_waits(six, 6);
	chart(130000000, PROFILE_STEP);
	spans(32, 40); /* of 3, 9 and 8 ms */
	end();
}

/* Three waits are two steps; two are none, and copies that wait are asked. */
Test(small_profile_chart, copies_that_wait_are_steps_where_nothing_else_waits)
{
	static const double three[] = { 30, 40, 60 }, two[] = { 30, 40 },
			    copies[] = { 50, 53, 57, 69 };

	begin();
	put_waits(three, 3);
	chart(70000000, PROFILE_STEP);
	spans(30, 40);
	end();
	begin();
	put_waits(two, 2);
	put_copies(copies, 4);
	chart(70000000, PROFILE_STEP);
	spans(53, 57);
	end();
}

/* 600 calls, 10 us each, that wait for nothing: 25 on either side of the one in the middle. */
Test(small_profile_chart, without_waits_a_spans_some_calls_in_the_middle)
{
	begin();
	for (int i = 0; i < 600; i++)
		made_call(&made, "other", 10000 * i, 10000 * i + 4000, "");
	chart(6000000, PROFILE_STEP);
	spans(10 * (300 - 25), 10 * (300 + 25) + 4);
	end();
	begin();
	for (int i = 0; i < 10; i++)
		made_call(&made, "other", 10000 * i + 1000, 10000 * i + 4000, "");
	chart(6000000, PROFILE_STEP);
	spans(1, 94);
	end();
}

/* A box that reaches out of the step ends where it does; one beyond it is not drawn. */
Test(small_profile_chart, a_step_has_what_is_in_it)
{
	static const double ms[] = { 10, 20, 30 };
	static const double want[][4] = { { 10, 12, 1, SHARE_OTHER },
					  { 19.999, 20, 0, SHARE_SYNC },
					  { 15, 20, 1, SHARE_OTHER } };
	double calls[8][4];
	const struct table *t;
	int n = 0;

	begin();
	put_waits(ms, 3);
	made_call(&made, "other", 8000000, 12000000, ",\"thread\":1");
	made_call(&made, "other", 15000000, 25000000, ",\"thread\":1");
	made_call(&made, "other", 26000000, 27000000, ",\"thread\":1");
	chart(40000000, PROFILE_STEP);
	spans(10, 20);
	t = drawn();
	for (int i = 0; i < t->rows; i++)
		if (t->v[i][2] < 2 && n < 8)
			memcpy(calls[n++], t->v[i], sizeof(*calls));
	cr_assert(eq(int, n, 3), "%d boxes of threads", n);
	for (int i = 0; i < 3; i++) {
		bool found = false;

		for (int k = 0; k < n; k++)
			found |= !memcmp(calls[k], want[i], sizeof(*calls));
		cr_expect(found, "%g to %g", want[i][0], want[i][1]);
	}
	end();
}

/* ---- shares --------------------------------------------------------------------------------- */

Test(small_profile_chart, shares_are_per_cent_of_all)
{
	double sum = 0;
	char variable[32];

	begin();
	made_call(&made, "launch", 10000, 20000, "");
	made_op(&made, "kernel", 2, 20000, 70000, ",\"name\":1");
	made_call(&made, "sync_device", 20000, 80000, "");
	chart(100000, PROFILE_SHARES);
	for (int i = 0; i < SHARES; i++) {
		snprintf(variable, sizeof(variable), "percent%d", i);
		sum += strtod(script_value(name, variable), NULL);
		snprintf(variable, sizeof(variable), "share%d", i);
		cr_expect(eq(str, (char *)script_value(name, variable), (char *)share_names[i]),
			  "%s", variable);
	}
	cr_expect(lt(dbl, fabs(sum - 100), 1e-3), "%g", sum);
	snprintf(variable, sizeof(variable), "percent%d", SHARE_KERNELS);
	cr_expect(eq(str, (char *)script_value(name, variable), "50.0"), "kernels");
	snprintf(variable, sizeof(variable), "percent%d", SHARE_OUTSIDE);
	cr_expect(eq(str, (char *)script_value(name, variable), "30.0"), "outside");
	script_says(name, "title", "where its time goes");
	end();
}
