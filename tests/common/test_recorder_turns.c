/*
 * test_recorder_turns.c - threads whose calls come in turns, folded together while they are
 * recorded: read again, all calls are there in order, those that were under way together at their
 * own times, and threads that are no sequence part.
 */
/* sanitizers: one thread */
#include "tests/test.h"
#include "common/recorder/folder.h"
#include "tests/cli.h"
#include "tests/traces.h"

enum { CALLS_MAX = 100000, A = 0, B = 1 };

TestSuite(small_recorder_turns, .timeout = 120);

static char path[] = "/tmp/rift-turns-XXXXXX";
static struct trace_writer *writer;
static struct trace_folder *folder;
static struct trace_event came[CALLS_MAX]; /* in the order of their starts */
static int n;
static int64_t now;

static void begin(void)
{
	struct trace_header h = { .recorder = "test", .device = "none", .max_events = 1 };

	cr_assert(lt(int, -1, mkstemp(path)));
	unlink(path);
	writer = trace_writer_new(path);
	cr_assert(writer != NULL, "%s", path);
	trace_write_header(writer, &h);
	trace_write_thread(writer, A, 1, "a");
	trace_write_thread(writer, B, 2, "b");
	folder = trace_folder_new(writer, true);
	trace_folder_expect_order(folder);
	n = 0;
	now = 1000;
}

/* Begins so long after the end of the last one. bytes: what it is told apart by. */
static void call_of(uint32_t thread, int64_t gap, int64_t took, uint64_t bytes)
{
	struct trace_event e = { .what = TRACE_CALL,
				 .kind = TRACE_CLASS_alloc,
				 .id = (uint64_t)n + 1,
				 .thread = thread,
				 .t0 = now + gap,
				 .t1 = now + gap + took,
				 .cpu_ns = -1,
				 .busy_ns = -1,
				 .bytes = bytes,
				 .name = "take" };

	came[n++] = e;
	now = e.t1;
	trace_folder_take(folder, &e);
}

/* advances: what waits is looked at at once. */
static void call(uint32_t thread, int64_t gap, int64_t took, bool advances)
{
	call_of(thread, gap, took, 0);
	if (advances)
		trace_folder_advance(folder);
}

static void turn(uint32_t thread, int calls, bool advances)
{
	for (int i = 0; i < calls; i++)
		call(thread, 1000, 500, advances);
}

/* Written, valid, and read again. */
static json_t *end(void)
{
	const char *out;
	json_t *rows;

	trace_folder_advance(folder);
	trace_folder_flush(folder);
	trace_write_end(writer, now, trace_folder_calls(folder), 0, 0, 0, "exit");
	trace_folder_free(folder);
	trace_writer_free(writer);
	cr_assert(zero(int, shell(&out, "'%s' show --check '%s' 2>&1", rift(), path)), "%s", out);
	rows = traced_rows(path);
	unlink(path);
	cr_assert(eq(i64, trace_calls_of(rows, ""), n));
	return rows;
}

/* Is the i-th call that came a row, at its times? */
static bool is_row(const json_t *rows, int i)
{
	const json_t *row;
	size_t k;

	json_array_foreach(rows, k, row) if (json_object_get(row, "took_ns") == NULL &&
					     trace_int(row, "id") == i + 1 &&
					     trace_int(row, "t0") ==
						     came[i].t0) return trace_int(row, "t1") ==
		came[i].t1;
	return false;
}

Test(small_recorder_turns, threads_that_take_turns_are_one_sequence)
{
	json_t *rows;
	const json_t *fold;
	int threads;

	begin();
	for (int i = 0; i < 50; i++) {
		turn(A, 4, true);
		turn(B, 3, true);
	}
	rows = end();
	fold = trace_longest_fold(rows, &threads);
	cr_expect(eq(sz, json_array_size(json_object_get(fold, "body")), 7));
	cr_expect(eq(int, threads, 2));
	cr_expect(lt(i64, 35, trace_int(fold, "times")));
	json_decref(rows);
}

/*
 * B calls while A's last call of a period lasts, whose times differ: were that one folded, its time
 * would be another one's, and calls of B might come before it.
 */
Test(small_recorder_turns, calls_that_are_under_way_together_stay_rows)
{
	json_t *rows;
	int beside = 0, threads;

	begin();
	for (int i = 0; i < 120; i++) {
		turn(B, 4, true);
		turn(A, 4, true);
		call(A, 1000, i % 2 ? 1000000 : 10000, true);
		if (i != 59)
			continue;
		beside = n;
		call(B, -990000, 985000, true);
		now = came[beside - 1].t1;
	}
	rows = end();
	cr_expect(is_row(rows, beside - 1) && is_row(rows, beside), "both");
	cr_expect(lt(i64, 20, trace_int(trace_longest_fold(rows, &threads), "times")),
		  "and folds around them");
	cr_expect(eq(int, threads, 2));
	json_decref(rows);
}

/* Then each has folds of its own, which begin where its own last call ended. */
Test(small_recorder_turns, threads_that_are_no_sequence_part)
{
	const json_t *fold;
	json_t *rows;
	int threads;
	size_t i;

	begin();
	for (int step = 0; step < 2000; step++)
		for (int k = 0; k < 6; k++)
			call_of(k < 3 ? A : B, 1000, 500, (uint64_t)n + 1); /* none folds */
	trace_folder_advance(folder);					    /* they part */
	for (int step = 0; step < 50; step++) {
		turn(A, 4, false);
		turn(B, 3, false);
	}
	rows = end();
	fold = trace_longest_fold(rows, &threads);
	cr_expect(eq(int, threads, 1), "not of both");
	cr_expect(eq(i64, trace_int(fold, "t0"), came[11996].t1), "A's last call before");
	json_array_foreach(rows, i,
			   fold) if (trace_int(json_array_get(json_object_get(fold, "body"), 0),
					       "thread") == B) break;
	cr_expect(eq(i64, trace_int(fold, "t0"), came[11999].t1), "B's");
	json_decref(rows);
}

/* Two calls in a row are no turn. */
Test(small_recorder_turns, threads_that_make_two_calls_each)
{
	json_t *rows;
	int threads;

	begin();
	for (int i = 0; i < 50; i++) {
		turn(A, 2, true);
		turn(B, 2, true);
	}
	rows = end();
	trace_longest_fold(rows, &threads);
	cr_expect(eq(int, threads, 1));
	json_decref(rows);
}

/* A call of that number in what is now one sequence; its operation comes when all calls have. */
static void numbered(uint32_t thread, uint64_t id)
{
	struct trace_event e = { .what = TRACE_CALL,
				 .kind = TRACE_CLASS_launch,
				 .id = id,
				 .thread = thread,
				 .t0 = now + 1000,
				 .t1 = now + 1500,
				 .cpu_ns = -1,
				 .busy_ns = -1,
				 .has_op = true,
				 .bytes = id, /* none folds */
				 .name = "launch" };

	came[n++] = e;
	now = e.t1;
	trace_folder_take(folder, &e);
}

/*
 * Twenty calls, of which number 10 comes `late` places later than its number, or earlier: is its
 * operation the row behind it? Else the call went on without it.
 */
static bool finds_its_call(int late)
{
	struct trace_event op = { .what = TRACE_OP, .kind = TRACE_KIND_kernel, .busy_ns = -1 };
	uint64_t id[20], first;
	const json_t *row, *next;
	bool found = false;
	json_t *rows;
	size_t i;

	strcpy(path, "/tmp/rift-turns-XXXXXX");
	begin();
	for (int k = 0; k < 10; k++) {
		turn(A, 4, true);
		turn(B, 3, true);
	}
	first = (uint64_t)n + 1;
	for (int k = 0; k < 20; k++)
		id[k] = first + (uint64_t)k;
	for (int k = 10; k != 10 + late; k += late > 0 ? 1 : -1)
		id[k] = id[k + (late > 0 ? 1 : -1)];
	id[10 + late] = first + 10;
	for (int k = 0; k < 20; k++)
		numbered(k % 4 ? A : B, id[k]);
	for (int k = 0; k < 20; k++) {
		op.id = id[k];
		op.thread = k % 4 ? A : B;
		op.t0 = now + 100 * k;
		op.t1 = op.t0 + 50;
		trace_folder_take(folder, &op);
	}
	trace_folder_advance(folder);
	trace_folder_flush(folder);
	trace_write_end(writer, now, 0, 0, 0, 0, "exit");
	trace_folder_free(folder);
	trace_writer_free(writer);
	rows = traced_rows(path);
	unlink(path);
	json_array_foreach(rows, i, row)
	{
		next = json_array_get(rows, i + 1);
		found |= trace_int(row, "id") == (int64_t)first + 10 && trace_int(row, "t0") &&
			 trace_int(next, "call") == (int64_t)first + 10;
	}
	json_decref(rows);
	return found;
}

/* Threads may take their numbers in another order than they begin. */
Test(small_recorder_turns, an_operation_finds_its_call_near_its_number)
{
	for (int late = -10; late < 10; late++)
		if (late)
			cr_expect(eq(int, finds_its_call(late), abs(late) < 8), "%d", late);
}
