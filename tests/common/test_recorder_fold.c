/*
 * test_recorder_fold.c - what repeats in a trace, folded while it is recorded: unfolded it is what
 * came, in order and number; sums of times are right to half a nanosecond a value.
 */
/* sanitizers: one thread */
#include "tests/test.h"
#include "common/recorder/folder.h"
#include "tests/traces.h"

enum { CALLS_MAX = 60000 };

static char path[] = "/tmp/rift-fold-XXXXXX";
static struct trace_writer *writer;
static struct trace_folder *folder;

static void begin(void)
{
	struct trace_header h = { .recorder = "test", .device = "none" };

	cr_assert(lt(int, -1, mkstemp(path)));
	unlink(path);
	writer = trace_writer_new(path);
	cr_assert(writer != NULL, "%s", path);
	trace_write_header(writer, &h);
	trace_write_thread(writer, 0, 1, "test");
	folder = trace_folder_new(writer, true);
}

static json_t *end(void)
{
	json_t *rows;

	trace_folder_advance(folder);
	trace_folder_flush(folder);
	trace_write_end(writer, 0, trace_folder_calls(folder), trace_folder_ops(folder), 0, 0,
			"exit");
	trace_folder_free(folder);
	trace_writer_free(writer);
	rows = traced_rows(path);
	unlink(path);
	trace_judge(rows);
	return rows;
}

TestSuite(small_recorder_fold, .timeout = 120, .init = begin);
TestSuite(large_recorder_fold, .timeout = 120, .init = begin);

/* ---- what comes ------------------------------------------------------------------------- */

static struct trace_event came[CALLS_MAX], op_came[CALLS_MAX];
static size_t n_came;
static int64_t now;
static uint32_t random_state = 1;

static uint32_t random_below(uint32_t n)
{
	random_state ^= random_state << 13; /* Marsaglia 2003, xorshift */
	random_state ^= random_state >> 17;
	random_state ^= random_state << 5;
	return random_state % n;
}

/* A call of kind `which`, with an operation where that is even. */
static void call(int which, uint64_t recording)
{
	static const char *const names[] = { "zero", "one", "two", "three", "four", "five" };
	struct trace_event *c = &came[n_came], *op = &op_came[n_came];

	cr_assert(lt(sz, n_came, (size_t)CALLS_MAX));
	now += 1 + random_below(which == 1 ? 1000000 : 50);
	*c = (struct trace_event){ .what = TRACE_CALL,
				   .kind = which % 2 ? TRACE_CLASS_record : TRACE_CLASS_launch,
				   .id = ++n_came,
				   .name = names[which],
				   .stream = 1 + (uint32_t)which % 3,
				   .event = which % 2,
				   .recording = which % 2 ? recording : 0,
				   .has_op = which % 2 == 0,
				   .t0 = now,
				   .cpu_ns = random_below(2) ? -1 : (int64_t)random_below(500),
				   .busy_ns = -1 };
	now += random_below(3000);
	c->t1 = now;
	*op = (struct trace_event){ .what = TRACE_OP,
				    .kind = TRACE_KIND_kernel,
				    .id = c->id,
				    .name = "kernel",
				    .stream = c->stream,
				    .grid = { (uint32_t)which, 1, 1 },
				    .t0 = c->t0 + random_below(10000),
				    .busy_ns = -1 };
	op->t1 = op->t0 + 1 + random_below(1 << random_below(24));
}

/* To the folder, operations up to `late` calls behind theirs, or before them. */
static void deliver(size_t late)
{
	for (size_t i = 0; i < n_came + late; i++) {
		size_t op = late ? i - late : i;

		if (!late && came[i].has_op)
			trace_folder_take(folder, &op_came[i]);
		if (i < n_came)
			trace_folder_take(folder, &came[i]);
		if (late && i >= late && came[op].has_op)
			trace_folder_take(folder, &op_came[op]);
		if (i % 97 == 0)
			trace_folder_advance(folder);
		if (i % 7919 == 7918)
			trace_folder_flush(folder);
	}
}

/* ---- what is there ---------------------------------------------------------------------- */

static void judge_call(const json_t *rows, const json_t *is, size_t i)
{
	const json_t *op = json_object_get(is, "op");

	cr_assert(eq(i64, trace_int(is, "stream"), came[i].stream), "call %zu", i);
	cr_assert(eq(i64, trace_int(is, "recording"), (int64_t)came[i].recording), "call %zu", i);
	cr_assert(eq(str, (char *)traced_name(rows, is), (char *)came[i].name), "call %zu", i);
	cr_assert(eq(int, op != NULL, came[i].has_op), "call %zu", i);
	if (op)
		cr_assert(eq(i64,
			     json_integer_value(json_array_get(json_object_get(op, "grid"), 0)),
			     op_came[i].grid[0]),
			  "call %zu", i);
}

/* Sum of a distribution, or of the difference of a row's times. */
static int64_t sum_of(const json_t *row, const char *key, int64_t *values)
{
	int64_t sum = 0;
	size_t i;
	json_t *bin;

	json_array_foreach(json_object_get(row, key), i, bin)
	{
		int64_t count = json_integer_value(json_array_get(bin, 1));

		sum += json_integer_value(json_array_get(bin, 0)) * count;
		*values += count;
	}
	return sum;
}

static int64_t took(const json_t *row)
{
	return trace_int(row, "t1") - trace_int(row, "t0");
}

struct sums {
	int64_t calls, ops, n_calls, n_ops;
};

static struct sums sums_of(const json_t *rows)
{
	struct sums s = { 0 };
	size_t i, j;
	json_t *row, *c;

	json_array_foreach(rows, i, row)
	{
		const char *record = json_string_value(json_object_get(row, "record"));

		if (!strcmp(record, "call"))
			s.calls += took(row), s.n_calls++;
		if (!strcmp(record, "op"))
			s.ops += took(row), s.n_ops++;
		json_array_foreach(json_object_get(row, "body"), j, c)
		{
			s.calls += sum_of(c, "took_ns", &s.n_calls);
			s.ops += sum_of(json_object_get(c, "op"), "took_ns", &s.n_ops);
		}
	}
	return s;
}

static void judge_sums(const json_t *rows)
{
	struct sums want = { 0 }, is = sums_of(rows);

	for (size_t i = 0; i < n_came; i++) {
		want.calls += came[i].t1 - came[i].t0;
		want.n_calls++;
		if (came[i].has_op) {
			want.ops += op_came[i].t1 - op_came[i].t0;
			want.n_ops++;
		}
	}
	cr_assert(eq(i64, is.n_calls, want.n_calls));
	cr_assert(eq(i64, is.n_ops, want.n_ops));
	cr_assert(le(i64, llabs(is.calls - want.calls), want.n_calls / 2 + 1));
	cr_assert(le(i64, llabs(is.ops - want.ops), want.n_ops / 2 + 1));
}

static void judge(const json_t *rows)
{
	json_t *calls = trace_calls(rows, 0), *c;
	size_t i;

	cr_assert(eq(sz, json_array_size(calls), n_came));
	json_array_foreach(calls, i, c) judge_call(rows, c, i);
	judge_sums(rows);
	json_decref(calls);
}

/* ---- tests ------------------------------------------------------------------------------ */

/* Loops of random bodies, some in others, with something else in between. */
static void random_program(void)
{
	uint64_t recording = 0;

	for (int section = 0; section < 12; section++) {
		int body[40], n = 1 + (int)random_below(40), inner = (int)random_below(6);
		int times = (int)random_below(60);

		for (int i = 0; i < n; i++)
			body[i] = (int)random_below(6);
		for (int t = 0; t < times; t++)
			for (int i = 0; i < n; i++)
				for (int k = 0; k <= (i == 0 ? inner : 0); k++) {
					recording += body[i] % 2;
					call(body[i], recording);
				}
		for (int i = (int)random_below(9); i > 0; i--)
			call((int)random_below(6), recording += random_below(3));
	}
}

static void judge_random(uint32_t seed, size_t late)
{
	json_t *rows;

	random_state = seed;
	random_program();
	deliver(late);
	rows = end();
	judge(rows);
	json_decref(rows);
}

#define RANDOM(seed, late)                                                                         \
	Test(small_recorder_fold, random_programs_unfold_to_what_came_##seed)                      \
	{                                                                                          \
		judge_random(seed, late);                                                          \
	}

RANDOM(1, 0)
RANDOM(2, 0)
RANDOM(3, 1)
RANDOM(4, 100)
RANDOM(5, 2000)
RANDOM(6, 5000)

Test(small_recorder_fold, a_period_is_one_row)
{
	json_t *rows;
	const json_t *fold;

	for (int i = 0; i < 1000; i++)
		for (int j = 0; j < 17; j++)
			call(j < 16 ? 2 : 1, (uint64_t)i);
	deliver(0);
	rows = end();
	judge(rows);
	fold = trace_row(rows, "fold", NULL, NULL);
	cr_assert(eq(sz, json_array_size(json_object_get(fold, "body")), 17));
	/* Flushes cut the one fold in three, and leave parts of a period. */
	cr_assert(lt(sz, json_array_size(rows), 60));
	json_decref(rows);
}

/* Calls of the body of the first fold, where one call and so many others repeat three times. */
static int folded_body(int period)
{
	json_t *rows;
	int n;

	for (int i = 0; i < 3 * period; i++)
		call(i % period ? 2 : 1, 0);
	deliver(0);
	rows = end();
	judge(rows);
	n = (int)json_array_size(json_object_get(trace_row(rows, "fold", NULL, NULL), "body"));
	json_decref(rows);
	return n;
}

Test(small_recorder_fold, the_longest_period)
{
	cr_assert(eq(int, folded_body(1024), 1024));
}

/* Another trace in the same test. */
static void begin_again(void)
{
	strcpy(path, "/tmp/rift-fold-XXXXXX");
	n_came = 0;
	begin();
}

/* Three repeats, and eight calls in all. */
Test(small_recorder_fold, what_is_worth_a_fold)
{
	static const struct {
		int period, repeats;
		bool folds;
	} rows[] = { { 1, 7, false }, { 1, 8, true },  { 2, 3, false }, { 2, 4, true },
		     { 3, 3, true },  { 4, 2, false }, { 4, 3, true } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		json_t *is;

		if (i)
			begin_again();
		for (int k = 0; k < rows[i].period * rows[i].repeats; k++)
			call(k % rows[i].period, 0);
		deliver(0);
		is = end();
		judge(is);
		cr_expect(eq(sz, trace_count(is, "fold", NULL, NULL), rows[i].folds), "row %zu", i);
		json_decref(is);
	}
}

/* Calls in the longest fold where one operation in `of` takes longer than the others. */
static size_t body_of_one_in(int of, int calls)
{
	json_t *rows;
	size_t n = 0, i;
	const json_t *row;

	for (int k = 0; k < calls; k++) {
		call(2, 0);
		op_came[n_came - 1].t1 = op_came[n_came - 1].t0 + (k % of ? 5000 : 5000000);
	}
	deliver(0);
	rows = end();
	judge(rows);
	json_array_foreach(rows, i, row)
	{
		size_t body = json_array_size(json_object_get(row, "body"));

		n = body > n ? body : n;
	}
	json_decref(rows);
	return n;
}

/* A hundred calls are enough to tell times by turns, which come up to 64 times as late again, eight
 * times at least. */
Test(small_recorder_fold, how_long_turns_may_be)
{
	static const struct {
		int of, calls;
		size_t body;
	} rows[] = { { 2, 99, 1 },    { 2, 100, 2 },   { 20, 159, 10 },
		     { 20, 160, 20 }, { 64, 640, 64 }, { 65, 1300, 1 } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		if (i)
			begin_again();
		cr_expect(eq(sz, body_of_one_in(rows[i].of, rows[i].calls), rows[i].body),
			  "row %zu", i);
	}
}

/* 300 times, each in a bin of its own, in 256 bins; the sums stay right. */
Test(small_recorder_fold, more_times_than_bins)
{
	json_t *rows, *step, *bins;
	int64_t values = 0;

	for (int k = 0; k < 300; k++) {
		struct trace_event *c;

		call(3, 0);
		c = &came[n_came - 1];
		c->t1 = now = c->t0 + ((INT64_C(8) + k % 8) << (k / 8));
	}
	deliver(0);
	rows = end();
	judge(rows);
	step = json_array_get(json_object_get(trace_row(rows, "fold", NULL, NULL), "body"), 0);
	bins = json_object_get(step, "took_ns");
	cr_expect(eq(sz, json_array_size(bins), 256));
	sum_of(step, "took_ns", &values);
	cr_expect(eq(i64, values, 300));
	for (size_t i = 0; i < 256; i++)
		cr_expect(eq(i64, json_integer_value(json_array_get(json_array_get(bins, i), 1)),
			     i < 255 ? 1 : 45),
			  "bin %zu", i);
	json_decref(rows);
}

/* Of a longer one only the others are folded, which are alike. */
Test(small_recorder_fold, a_longer_period_is_none)
{
	cr_assert(eq(int, folded_body(1025), 1));
}

/*
 * Operations of 5 us, calls of 100 ns: the second stands behind the first, and the third waits for
 * an event. The first of the next repeat comes when all is done.
 */
Test(small_recorder_fold, how_far_queued_operations_stand_behind)
{
	const int64_t behind[] = { 700, 0, 3000 };
	json_t *rows;
	const json_t *body, *c;
	size_t i;

	for (int k = 0; k < 100; k++) {
		int64_t end = 0, begin = now;

		for (int j = 0; j < 4; j++) {
			struct trace_event *op = &op_came[n_came];

			call(j == 2 ? 1 : 0, (uint64_t)k);
			came[n_came - 1].stream = 1;
			came[n_came - 1].kind =
				j == 2 ? TRACE_CLASS_wait_event : TRACE_CLASS_launch;
			came[n_came - 1].t0 = begin + 200 * j;
			came[n_came - 1].t1 = now = begin + 200 * j + 100;
			op->stream = 1;
			op->t0 = j ? end + behind[j - 1] : now;
			end = op->t1 = j == 2 ? end : op->t0 + 5000;
		}
		now = end + 1000;
	}
	deliver(0);
	rows = end();
	body = json_object_get(trace_row(rows, "fold", NULL, NULL), "body");
	cr_assert(eq(sz, json_array_size(body), 4));
	json_array_foreach(body, i, c)
	{
		int64_t n = 0, sum = sum_of(json_object_get(c, "op"), "behind_ns", &n);

		cr_expect(eq(i64, n, i == 1 ? 100 : 0), "call %zu", i);
		cr_expect(eq(i64, sum, i == 1 ? 100 * 700 : 0), "call %zu", i);
	}
	json_decref(rows);
}

/*
 * Two threads take turns at one stream, three kernels each, 400 ns apart and all queued. Who was
 * ahead is told by the order in which operations come, whichever thread they are of.
 */
Test(small_recorder_fold, how_far_behind_another_threads_operation)
{
	json_t *rows;
	const json_t *row, *c;
	size_t i, k;
	int64_t last = 100000, n = 0, sum = 0;

	trace_write_thread(writer, 1, 2, "other");
	for (int turn = 0; turn < 200; turn++)
		for (int j = 0; j < 3; j++) {
			struct trace_event *op = &op_came[n_came];

			call(0, 0);
			came[n_came - 1].stream = op->stream = 1;
			came[n_came - 1].thread = op->thread = (uint32_t)turn % 2;
			came[n_came - 1].t1 = now = came[n_came - 1].t0 + 10;
			op->t0 = last + 400;
			last = op->t1 = op->t0 + 5000;
		}
	deliver(5);
	rows = end();
	json_array_foreach(rows, i, row) json_array_foreach(json_object_get(row, "body"), k, c)
	{
		const json_t *behind = json_object_get(json_object_get(c, "op"), "behind_ns");

		sum += sum_of(json_object_get(c, "op"), "behind_ns", &n);
		cr_expect(eq(sz, json_array_size(behind), 1), "%zu %zu", i, k);
	}
	cr_expect(lt(i64, 500, n), "%ld", (long)n);
	cr_expect(eq(i64, sum, 400 * n), "%ld", (long)sum);
	json_decref(rows);
}

/* Of two that come in turned order, which follow each other after so long. */
static void come_turned(int64_t gap)
{
	json_t *rows;
	size_t i;
	const json_t *c;
	int64_t n = 0, before = 0;

	for (int k = 0; k < 200; k++) {
		call(0, 0);
		came[n_came - 1].stream = op_came[n_came - 1].stream = 1;
		came[n_came - 1].t1 = now = came[n_came - 1].t0 + 10;
		op_came[n_came - 1].t0 = 100000 + (5000 + gap) * k;
		op_came[n_came - 1].t1 = op_came[n_came - 1].t0 + 5000;
	}
	for (size_t at = 0; at < n_came; at++)
		trace_folder_take(folder, &came[at]);
	for (size_t at = 0; at < n_came; at += 2) {
		trace_folder_take(folder, &op_came[at + 1]);
		trace_folder_take(folder, &op_came[at]);
	}
	rows = end();
	json_array_foreach(json_object_get(trace_row(rows, "fold", NULL, NULL), "body"), i, c)
	{
		int64_t sum = sum_of(json_object_get(c, "op"), "behind_ns", &n);

		cr_expect(eq(i64, sum, gap * (n - before)), "call %zu: %ld", i, (long)sum);
		before = n;
	}
	cr_expect(eq(i64, n, 199), "all but the first: %ld", (long)n);
	json_decref(rows);
}

/* One that comes before another that ran ahead of it stands behind that all the same. */
Test(small_recorder_fold, operations_that_come_in_another_order)
{
	come_turned(1000);
	begin_again();
	come_turned(0);
}

/* The same calls with times by turns, and something else every 20. */
static void calls_by_turns(int n, const int64_t *op_ns, int ops, const int64_t *gap_ns, int gaps)
{
	for (int i = 0; i < n; i++) {
		now += gap_ns[i % gaps];
		call(2, 0);
		op_came[n_came - 1].t1 = op_came[n_came - 1].t0 + op_ns[i % ops] +
					 random_below((uint32_t)op_ns[i % ops] / 20);
		if (i % 20 == 19)
			call(0, 0);
	}
}

static size_t longest_body(const json_t *rows)
{
	size_t longest = 0, i;
	const json_t *row;

	json_array_foreach(rows, i, row)
	{
		size_t n = json_array_size(json_object_get(row, "body"));

		longest = n > longest ? n : longest;
	}
	return longest;
}

/* Kernels of 5, 20 and 50 us: 60 of them and 3 waits, so that each place has one of the times. */
Test(small_recorder_fold, times_that_take_turns_make_a_longer_period)
{
	json_t *rows;
	const json_t *c;
	size_t i;

	calls_by_turns(3600, (int64_t[]){ 5000, 20000, 50000 }, 3, (int64_t[]){ 100 }, 1);
	deliver(0);
	rows = end();
	judge(rows);
	cr_assert(eq(sz, longest_body(rows), 63));
	json_array_foreach(json_object_get(trace_row(rows, "fold", NULL, NULL), "body"), i, c)
	{
		const json_t *took = json_object_get(json_object_get(c, "op"), "took_ns");

		if (!strcmp(traced_name(rows, c), "two"))
			cr_assert(le(sz, json_array_size(took), 2), "call %zu", i);
	}
	json_decref(rows);
}

/* A kernel of 100 and of 200 us, by turns; between two, calls without an operation do not differ.
 */
Test(small_recorder_fold, one_kernel_of_many_calls_takes_turns)
{
	json_t *rows;

	for (int i = 0; i < 200; i++)
		for (int j = 0; j < 20; j++) {
			call(j ? 3 : 2, 0);
			if (!j)
				op_came[n_came - 1].t1 =
					op_came[n_came - 1].t0 + (i % 2 ? 200000 : 100000);
		}
	deliver(0);
	rows = end();
	judge(rows);
	cr_assert(eq(sz, longest_body(rows), 40));
	json_decref(rows);
}

Test(small_recorder_fold, gaps_of_the_host_take_turns_too)
{
	json_t *rows;

	calls_by_turns(3600, (int64_t[]){ 5000 }, 1, (int64_t[]){ 0, 10000, 30000 }, 3);
	deliver(0);
	rows = end();
	judge(rows);
	cr_assert(eq(sz, longest_body(rows), 63));
	json_decref(rows);
}

Test(small_recorder_fold, times_that_differ_by_chance_do_not)
{
	json_t *rows;

	calls_by_turns(3600, (int64_t[]){ 5000 }, 1, (int64_t[]){ 100 }, 1);
	deliver(0);
	rows = end();
	judge(rows);
	cr_assert(eq(sz, longest_body(rows), 21));
	json_decref(rows);
}

/* Equal but for the recording, which jumps once: not one fold. */
Test(small_recorder_fold, a_recording_that_jumps_ends_a_fold)
{
	json_t *rows;

	for (int i = 0; i < 300; i++)
		call(1, i < 150 ? (uint64_t)i : (uint64_t)i + 7);
	deliver(0);
	rows = end();
	judge(rows);
	cr_assert(eq(sz, trace_count(rows, "fold", NULL, NULL), 2));
	json_decref(rows);
}

Test(large_recorder_fold, what_never_repeats_stays_as_it_is)
{
	json_t *rows;
	uint64_t recording = 0;

	for (int i = 0; i < 5000; i++)
		call(1, recording += i % 5 == 0 ? 2 : 1 + (uint64_t)i);
	deliver(0);
	rows = end();
	judge(rows);
	cr_assert(zero(sz, trace_count(rows, "fold", NULL, NULL)));
	json_decref(rows);
}

/* One whose operation never comes is written without it; the others are as they were. */
Test(small_recorder_fold, an_operation_that_never_comes)
{
	json_t *rows;

	for (int i = 0; i < 100; i++)
		call(2, 0);
	for (size_t i = 0; i < n_came; i++) {
		trace_folder_take(folder, &came[i]);
		if (i != 50)
			trace_folder_take(folder, &op_came[i]);
		trace_folder_advance(folder);
	}
	rows = end();
	cr_assert(eq(i64, trace_calls_of(rows, "launch"), 100));
	cr_assert(eq(i64, trace_ops_of(rows, "kernel"), 99));
	json_decref(rows);
}

/* What comes after its call was flushed has a row of its own. */
Test(small_recorder_fold, an_operation_after_the_flush)
{
	json_t *rows;

	for (int i = 0; i < 20; i++)
		call(2, 0);
	for (size_t i = 0; i < n_came; i++)
		trace_folder_take(folder, &came[i]);
	trace_folder_advance(folder);
	trace_folder_flush(folder);
	for (size_t i = 0; i < n_came; i++)
		trace_folder_take(folder, &op_came[i]);
	rows = end();
	judge(rows);
	cr_assert(eq(sz, trace_count(rows, "op", NULL, NULL), 20));
	json_decref(rows);
}

/* One thing about a call or its operation. */
static void alter(struct trace_event *call, struct trace_event *op, int which)
{
	switch (which) {
#define ALTER(i, member, is)                                                                       \
	case i:                                                                                    \
		member = is;                                                                       \
		break;
		ALTER(0, call->name, "other")
		ALTER(1, call->kernel, "other")
		ALTER(2, call->stream, 9)
		ALTER(3, call->graph, 1)
		ALTER(4, call->event, 1)
		ALTER(5, call->bytes, 1)
		ALTER(6, call->memory, TRACE_MEMORY_device)
		ALTER(7, call->is_async, true)
		ALTER(8, call->kind, TRACE_CLASS_copy)
		ALTER(9, call->is_captured, true)
		ALTER(10, op->name, "other")
		ALTER(11, op->stream, 9)
		ALTER(12, op->graph, 1)
		ALTER(13, op->bytes, 1)
		ALTER(14, op->memory, TRACE_MEMORY_device)
		ALTER(15, op->direction, TRACE_DIRECTION_to_host)
		ALTER(16, op->is_async, true)
		ALTER(17, op->kind, TRACE_KIND_copy)
		ALTER(18, op->grid[0], 9)
		ALTER(19, op->grid[1], 9)
		ALTER(20, op->grid[2], 9)
		ALTER(21, op->block[0], 9)
		ALTER(22, op->block[1], 9)
		ALTER(23, op->block[2], 9)
		ALTER(24, op->shared, 9)
		ALTER(25, op->registers, 9)
	}
}

/* Calls that differ in it do not fold into one; each second one does, here. */
Test(small_recorder_fold, what_must_be_equal)
{
	for (int which = 0; which < 26; which++) {
		json_t *rows;
		const json_t *fold;

		if (which)
			begin_again();
		for (int i = 0; i < 20; i++) {
			call(2, 0);
			if (i % 2)
				alter(&came[n_came - 1], &op_came[n_came - 1], which);
		}
		deliver(0);
		rows = end();
		fold = trace_row(rows, "fold", NULL, NULL);
		cr_expect(eq(sz, json_array_size(json_object_get(fold, "body")), 2), "%d", which);
		json_decref(rows);
	}
}

/* Where clocks differ: as if it began with its call. */
Test(small_recorder_fold, operations_that_seem_to_begin_before_their_calls)
{
	json_t *rows, *lag;

	for (int i = 0; i < 20; i++) {
		call(2, 0);
		op_came[n_came - 1].t0 = came[n_came - 1].t0 - i % 2 * 5;
	}
	deliver(0);
	rows = end();
	lag = json_array_get(json_object_get(trace_row(rows, "fold", NULL, NULL), "body"), 0);
	lag = json_object_get(json_object_get(lag, "op"), "lag_ns");
	cr_assert(eq(sz, json_array_size(lag), 1));
	cr_expect(zero(i64, json_integer_value(json_array_get(json_array_get(lag, 0), 0))));
	cr_expect(eq(i64, json_integer_value(json_array_get(json_array_get(lag, 0), 1)), 20));
	json_decref(rows);
}

/* Before any of their calls, more than there is room for at first. */
Test(small_recorder_fold, operations_before_all_calls)
{
	json_t *rows;

	for (int i = 0; i < 1000; i++)
		call(2, 0);
	for (size_t i = n_came; i > 0; i--)
		trace_folder_take(folder, &op_came[i - 1]);
	for (size_t i = 0; i < n_came; i++)
		trace_folder_take(folder, &came[i]);
	rows = end();
	judge(rows);
	cr_assert(eq(sz, trace_count(rows, "fold", NULL, NULL), 1));
	json_decref(rows);
}

/* A mark before a call has its number: the operation is the call's, and its row is behind that. */
Test(small_recorder_fold, a_mark_of_a_call_s_number)
{
	struct trace_event mark = { .what = TRACE_MARK, .id = 1, .name = "range" };
	json_t *rows;
	size_t at;

	call(2, 0);
	trace_folder_take(folder, &mark);
	trace_folder_take(folder, &came[0]);
	trace_folder_take(folder, &op_came[0]);
	rows = end();
	at = json_array_size(rows) - 2;
	cr_expect(eq(str,
		     (char *)json_string_value(json_object_get(json_array_get(rows, at), "record")),
		     (char *)"op"));
	json_decref(rows);
}

/* How many wait, of all threads; where nothing folds, what is whole waits no longer. */
Test(small_recorder_fold, what_waits_is_counted)
{
	enum { THREADS = 20, CALLS = 5 };

	for (int fold = 0; fold < 2; fold++) {
		struct trace_folder *f = trace_folder_new(writer, fold);
		struct trace_event e = { .what = TRACE_CALL, .cpu_ns = -1, .busy_ns = -1 };

		for (uint32_t i = 0; i < THREADS * CALLS; i++) {
			e.id = i + 1;
			e.thread = i % THREADS;
			e.stream = i;
			trace_folder_take(f, &e);
			cr_assert(eq(sz, trace_folder_waiting(f), i + 1));
		}
		trace_folder_advance(f);
		cr_expect(eq(sz, trace_folder_waiting(f), fold ? THREADS * CALLS : 0));
		e.id++;
		trace_folder_take(f, &e);
		cr_expect(eq(sz, trace_folder_waiting(f), fold ? THREADS * CALLS + 1 : 1));
		trace_folder_flush(f);
		cr_expect(zero(sz, trace_folder_waiting(f)));
		cr_expect(eq(u64, trace_folder_calls(f), THREADS * CALLS + 1));
		trace_folder_free(f);
	}
	trace_folder_free(folder);
	trace_writer_free(writer);
	unlink(path);
}

/* Texts that would end a line or a string, and bytes that are no UTF-8. */
Test(small_recorder_fold, names_are_quoted)
{
	json_t *rows;
	struct trace_event e = { .what = TRACE_MARK,
				 .name = "a\"b\\c\n\x01 \xc3\xa9 \xff\xed\xa0\x80 end" };

	trace_folder_take(folder, &e);
	rows = end();
	cr_assert(eq(str, (char *)traced_name(rows, trace_row(rows, "mark", NULL, NULL)),
		     "a\"b\\c\n\x01 \xc3\xa9 ???? end"));
	json_decref(rows);
}
