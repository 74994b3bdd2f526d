/*
 * test_trace.c - common/trace: traces are read, folds made calls again, and what is damaged is
 * refused with its line.
 */
#include "tests/test.h"
#include "common/trace/own_costs.h"
#include "common/trace/trace.h"

#include <sys/resource.h>

#include "tests/golden.h"
#include "tests/made_trace.h"

TestSuite(small_trace, .timeout = 60);
TestSuite(large_trace, .timeout = 60);

static struct made made;
static struct trace trace;

static void begin(void)
{
	made_begin(&made, "", MADE_CALIBRATION);
}

static void read_made(void)
{
	cr_assert(zero(int, trace_read(&trace, made.path)), "%s", made.path);
	made_remove(&made);
}

/* A priority of -1 is above that of a stream that asked for none. */
Test(small_trace, what_streams_and_graphs_do_not_say)
{
	begin();
	made_row(&made, "{\"record\":\"stream\",\"id\":90,\"kind\":\"blocking\"}");
	made_row(&made, "{\"record\":\"stream\",\"id\":91,\"kind\":\"blocking\",\"priority\":-1}");
	made_row(&made, "{\"record\":\"graph\",\"id\":90}");
	made_row(&made, "{\"record\":\"graph\",\"id\":91,\"nodes\":null,\"kernels\":null}");
	made_row(&made, "{\"record\":\"graph\",\"id\":92,\"nodes\":7,\"kernels\":5}");
	made_end(&made, 2000, 0, 0);
	read_made();
	cr_expect(eq(int, trace.stream[trace.streams - 2].priority, 0), "not said");
	cr_expect(eq(int, trace.stream[trace.streams - 1].priority, -1), "said");
	cr_expect(eq(i64, trace.graph[trace.graphs - 3].nodes, 0), "absent");
	cr_expect(eq(i64, trace.graph[trace.graphs - 2].nodes, 0), "null");
	cr_expect(eq(i64, trace.graph[trace.graphs - 1].nodes, 7), "known");
	trace_release(&trace);
}

Test(small_trace, calls_are_in_order_and_have_their_operations)
{
	begin();
	made_row(&made, "{\"record\":\"op\",\"call\":2,\"kind\":\"kernel\",\"stream\":3,\"t0\":950,"
			"\"t1\":1000}"); /* before its call's row, and its call's start */
	made_call(&made, "other", 500, 600, ",\"thread\":1");
	made_call(&made, "launch", 1000, 1100, ",\"name\":1");
	made_call(&made, "sync_event", 100, 200, ",\"event\":5,\"recording\":3,\"cpu_ns\":7");
	made.ops++;
	made_row(&made, "{\"record\":\"mark\",\"thread\":0,\"kind\":\"push\",\"t\":5,\"name\":1}");
	made_row(&made, "{\"record\":\"later_kind\",\"id\":\"?\"}");
	made_end(&made, 2000, 3, 1234);
	read_made();
	cr_expect(eq(int, (int)trace.calls, 3), "calls");
	cr_expect(eq(int, (int)trace.call[0].id, 3), "by start");
	cr_expect(eq(int, (int)trace.call[0].event, 5), "event");
	cr_expect(eq(int, (int)trace.call[0].cpu_ns, 7), "time of its processor");
	cr_expect(eq(int, (int)trace.call[1].thread, 1), "thread");
	cr_expect(eq(int, trace.call[2].ops, 1), "operation");
	cr_expect(eq(int, (int)trace.op[0].call, 2), "its call");
	cr_expect(eq(int, (int)trace.stream[trace.op[0].stream].id, 3), "its stream");
	cr_expect(eq(str, (char *)trace_name(&trace, trace.call[2].name), "saxpy"), "its name");
	cr_expect(eq(int, (int)trace.marks, 1), "marks");
	cr_expect(eq(int, trace.unprofiled, 3), "runs");
	cr_expect(eq(dbl, trace.unprofiled_wall_ns[2], 1234), "of them");
	cr_expect(eq(int, trace.finished, 1), "has its end");
	trace_release(&trace);
}

#define FOLD(times, gaps)                                                                          \
	"{\"record\":\"fold\",\"times\":" times ",\"t0\":1000,\"t1\":31000,\"body\":["             \
	"{\"record\":\"call\",\"thread\":0,\"class\":\"launch\",\"gap_ns\":" gaps                  \
	",\"took_ns\":[[2000,5]],\"cpu_ns\":[[10,5]],\"op\":{\"record\":\"op\","                   \
	"\"kind\":\"kernel\",\"stream\":2,\"took_ns\":[[700,5]]}},"                                \
	"{\"record\":\"call\",\"thread\":0,\"class\":\"other\",\"gap_ns\":[[0,5]],"                \
	"\"took_ns\":[[1000,5]]}]}"

Test(small_trace, folds_are_calls_again)
{
	int short_ones = 0;

	begin();
	made_call(&made, "other", 0, 1000, "");
	made_row(&made, FOLD("5", "[[2000,2],[3666,3]]")); /* 2 less than the length */
	made.calls += 10;
	made.ops += 5;
	made_end(&made, 40000, 0, 0);
	read_made();
	cr_assert(eq(int, (int)trace.calls, 11), "calls");
	cr_assert(eq(int, (int)trace.ops, 5), "operations");
	for (int i = 0; i < 5; i++) {
		const struct trace_call *c = &trace.call[1 + 2 * i];

		int64_t gap = c->t0 - trace.call[2 * i].t1;
		bool is_short = gap < 2500;

		short_ones += is_short;
		cr_expect(eq(int, (int)c->class, CALL_LAUNCH), "class");
		cr_expect(eq(int, (int)c->cpu_ns, TRACE_NONE), "of gaps of 20 us");
		cr_expect(eq(int, c->ops, 1), "operation");
		cr_expect(le(long, c->t1, trace.op[c->first_op].t0), "behind its call");
		cr_expect(epsilon_eq(dbl, (double)gap, is_short ? 2000 : 3666, 2), "gap %ld", gap);
	}
	cr_expect(eq(int, short_ones, 2), "two of five");
	cr_expect(le(long, 30999, trace.call[10].t1), "to the end");
	trace_release(&trace);
}

/* Each of four calls is late in one of eight repeats: not all four in the same one. */
Test(small_trace, rare_values_of_a_fold_do_not_come_together)
{
	int late[8] = { 0 }, all = 0;

	begin();
	fprintf(made.out, "{\"record\":\"fold\",\"times\":8,\"t0\":0,\"t1\":64000,\"body\":[");
	for (int i = 0; i < 4; i++)
		fprintf(made.out,
			"%s{\"record\":\"call\",\"thread\":0,\"class\":\"launch\",\"gap_ns\":[[100,"
			"8]],"
			"\"took_ns\":[[900,7],[8900,1]],\"op\":{\"record\":\"op\",\"kind\":"
			"\"kernel\","
			"\"stream\":2,\"took_ns\":[[10,8]]}}",
			i ? "," : "");
	fprintf(made.out, "]}\n");
	made.calls = made.ops = 32;
	made_end(&made, 64000, 0, 0);
	read_made();
	for (int i = 0; i < 32; i++) {
		bool is_late = trace.call[i].t1 - trace.call[i].t0 > 2000;

		late[i / 4] += is_late;
		all += is_late;
	}
	cr_expect(eq(int, all, 4), "each once");
	for (int k = 0; k < 8; k++)
		cr_expect(le(int, late[k], 1), "%d in repeat %d", late[k], k);
	trace_release(&trace);
}

/* Every value of the file that test_recorder_written.c has written, where it came to. */
Test(small_trace, folds_of_a_file_in_full)
{
	static char text[1 << 16];
	static const char path[] = "tests/golden/outputs/trace-folded.txt";
	FILE *out = fmemopen(text, sizeof(text), "w");

	cr_assert(zero(int, trace_read(&trace, path)), "%s", path);
	for (int64_t i = 0; i < trace.calls; i++) {
		const struct trace_call *c = &trace.call[i];

		fprintf(out, "%ld %ld %ld %ld %ld %ld", (long)c->id, (long)c->t0, (long)c->t1,
			(long)c->cpu_ns, (long)c->recording, (long)c->not_recorded);
		for (int32_t k = 0; k < c->ops; k++) {
			const struct trace_op *op = &trace.op[c->first_op + k];

			fprintf(out, "; %ld %ld %ld %ld", (long)op->t0, (long)op->t1,
				(long)op->busy_ns, (long)op->behind_ns);
		}
		fputc('\n', out);
	}
	fclose(out);
	golden_said(text);
	trace_release(&trace);
}

/* Kernels of 50 us are queued: each stands so far behind the one before as the file says. */
Test(small_trace, folds_keep_what_is_between_queued_operations)
{
	int64_t apart = 0;

	begin();
	made_row(&made,
		 "{\"record\":\"fold\",\"times\":4,\"t0\":0,\"t1\":12000,\"body\":["
		 "{\"record\":\"call\",\"thread\":0,\"class\":\"launch\",\"gap_ns\":[[1000,4]],"
		 "\"took_ns\":[[2000,4]],\"op\":{\"record\":\"op\",\"kind\":\"kernel\","
		 "\"stream\":2,\"took_ns\":[[50000,4]],\"lag_ns\":[[2500,1],[49000,3]],"
		 "\"behind_ns\":[[800,2],[1100,1]]}}]}");
	made.calls = made.ops = 4;
	made_end(&made, 300000, 0, 0);
	read_made();
	cr_expect(eq(i64, trace.op[0].t0, 3500), "the first");
	cr_expect(eq(i64, trace.op[0].behind_ns, TRACE_NONE), "behind nothing");
	for (int i = 1; i < 4; i++) {
		int64_t gap = trace.op[i].t0 - trace.op[i - 1].t1;

		cr_expect(eq(i64, trace.op[i].behind_ns, gap), "%d", i);
		cr_expect(gap == 800 || gap == 1100, "%ld", (long)gap);
		apart += gap;
	}
	cr_expect(eq(i64, apart, 2700), "each once");
	trace_release(&trace);
}

/* They take turns: a gap is from the end of the call before, whoever made it. */
Test(small_trace, folds_of_two_threads)
{
	begin();
	made_row(&made,
		 "{\"record\":\"fold\",\"times\":3,\"t0\":0,\"t1\":9300,\"body\":["
		 "{\"record\":\"call\",\"thread\":0,\"class\":\"query\",\"gap_ns\":[[1000,3]],"
		 "\"took_ns\":[[100,3]]},"
		 "{\"record\":\"call\",\"thread\":1,\"class\":\"query\",\"gap_ns\":[[1500,3]],"
		 "\"took_ns\":[[500,3]]}]}");
	made.calls = 6;
	made_end(&made, 10000, 0, 0);
	read_made();
	for (int64_t i = 0; i < 6; i++) {
		cr_expect(eq(int, trace.call[i].thread, i % 2), "call %d", (int)i);
		cr_expect(eq(i64, trace.call[i].t0, i / 2 * 3100 + (i % 2 ? 2600 : 1000)),
			  "call %d", (int)i);
	}
	trace_release(&trace);
}

/* None of them is lost, whichever repeat it was of. */
Test(small_trace, folds_keep_how_many_calls_have_no_row)
{
	int64_t all = 0;

	begin();
	made_call(&made, "query", 0, 100, ",\"not_recorded\":3");
	made_row(&made,
		 "{\"record\":\"fold\",\"times\":4,\"t0\":1000,\"t1\":13000,\"body\":["
		 "{\"record\":\"call\",\"thread\":0,\"class\":\"query\",\"gap_ns\":[[1000,4]],"
		 "\"took_ns\":[[2000,4]],\"not_recorded\":7}]}");
	made.calls += 4;
	made_call(&made, "query", 20000, 20100, "");
	made_end(&made, 300000, 0, 0);
	read_made();
	cr_expect(eq(i64, trace.call[0].not_recorded, 3), "a row");
	for (int i = 1; i < 5; i++) {
		int64_t n = trace.call[i].not_recorded;

		cr_expect(n == 1 || n == 2, "repeat %d: %ld", i, (long)n);
		all += n;
	}
	cr_expect(eq(i64, all, 7), "all repeats");
	cr_expect(zero(i64, trace.call[5].not_recorded), "nothing is said");
	trace_release(&trace);
}

/* A program that ended while the last kernel ran. */
Test(small_trace, folds_with_fewer_operations_than_calls)
{
	begin();
	made_row(&made,
		 "{\"record\":\"fold\",\"times\":3,\"t0\":0,\"t1\":9000,\"body\":["
		 "{\"record\":\"call\",\"thread\":0,\"class\":\"launch\",\"gap_ns\":[[1000,3]],"
		 "\"took_ns\":[[2000,3]],\"op\":{\"record\":\"op\",\"kind\":\"kernel\","
		 "\"stream\":2,\"took_ns\":[[500,2]],\"lag_ns\":[[2500,1],[4000,1]]}}]}");
	made.calls = 3;
	made.ops = 2;
	made_end(&made, 9000, 0, 0);
	read_made();
	cr_expect(eq(int, trace.call[1].ops, 1), "the second");
	cr_expect(eq(int, trace.call[2].ops, 0), "the last");
	cr_expect(eq(int, (int)trace.op[1].t0, 6500), "the least lag behind its call");
	trace_release(&trace);
}

Test(small_trace, killed_and_torn)
{
	begin();
	made_call(&made, "launch", 0, 2000, "");
	made_row(&made, "{\"record\":\"op\",\"call\":77,\"kind\":\"kernel\",\"stream\":2,\"t0\":1,"
			"\"t1\":2}"); /* its call was not written yet */
	fprintf(made.out, "{\"record\":\"call\",\"id\":");
	fclose(made.out);
	read_made();
	cr_expect(eq(int, trace.finished, 0), "without end");
	cr_expect(eq(int, trace.torn, 1), "torn");
	cr_expect(eq(int, (int)trace.orphans, 1), "an operation without its call");
	cr_expect(eq(int, (int)trace.end_ns, 2000), "ends with what is known");
	trace_release(&trace);
}

/* ---- damage ------------------------------------------------------------------------------- */

/* The made file is refused, and the line says that number and that word. */
static void is_refused(int line, const char *word)
{
	const char *said;
	char where[16];
	int err;

	snprintf(where, sizeof(where), ":%d: ", line);
	divert_stderr();
	err = trace_read(&trace, made.path);
	said = diverted_stderr();
	cr_expect(lt(int, err, 0), "%s", word);
	cr_expect(ne(ptr, strstr(said, where), NULL), "%s: line %d: %s", word, line, said);
	cr_expect(ne(ptr, strstr(said, word), NULL), "%s: %s", word, said);
	cr_expect(eq(int, is_one_complaint(said), 1), "one line: %s", said);
	trace_release(&trace);
	made_remove(&made);
}

Test(small_trace, damaged_rows)
{
	static const struct {
		const char *row, *word;
	} bad[] = {
		{ "{\"id\":1}", "record" },
		{ "{\"record\":\"call\",\"id\":9,\"thread\":0,\"class\":\"other\",\"t0\":1}",
		  "t1" },
		{ "{\"record\":\"call\",\"id\":9,\"thread\":0,\"class\":\"other\",\"t0\":2,\"t1\":"
		  "1}",
		  "t1" },
		{ "{\"record\":\"call\",\"id\":9,\"thread\":5,\"class\":\"other\",\"t0\":1,\"t1\":"
		  "2}",
		  "thread" },
		{ "{\"record\":\"call\",\"id\":9,\"thread\":0,\"class\":\"lunch\",\"t0\":1,\"t1\":"
		  "2}",
		  "launch" },
		{ "{\"record\":\"call\",\"id\":9,\"thread\":0,\"class\":\"other\",\"t0\":1.5,"
		  "\"t1\":2}",
		  "t0" },
		{ "{\"record\":\"call\",\"id\":9,\"thread\":0,\"class\":\"other\",\"t0\":-1,"
		  "\"t1\":2}",
		  "t0" },
		{ "{\"record\":\"call\",\"id\":1,\"thread\":0,\"class\":\"other\",\"t0\":5000,"
		  "\"t1\":5001}",
		  "twice" },
		{ "{\"record\":\"call\",\"id\":9,\"thread\":0,\"class\":\"other\",\"t0\":500,"
		  "\"t1\":600}",
		  "another call" },
		{ "{\"record\":\"call\",\"id\":9,\"thread\":0,\"class\":\"record\",\"t0\":5000,"
		  "\"t1\":5001,\"event\":99999999}",
		  "event" },
		{ "{\"record\":\"op\",\"call\":1,\"kind\":\"kernel\",\"t0\":1,\"t1\":2}",
		  "stream" },
		{ "{\"record\":\"op\",\"call\":1,\"kind\":\"copy\",\"stream\":2,\"t0\":1,\"t1\":2}",
		  "direction" },
		{ "{\"record\":\"op\",\"call\":1,\"kind\":\"graph\",\"stream\":2,\"t0\":1,\"t1\":"
		  "2}",
		  "graph" },
		{ "{\"record\":\"op\",\"call\":8,\"kind\":\"kernel\",\"stream\":2,\"t0\":1,\"t1\":"
		  "2}",
		  "call" },
		{ "{\"record\":\"op\",\"call\":1,\"kind\":\"kernel\",\"stream\":2,\"t0\":1,\"t1\":"
		  "2,"
		  "\"grid\":[1,0,1]}",
		  "grid" },
		{ "{\"record\":\"string\",\"id\":1,\"text\":\"x\"}", "twice" },
		{ "{\"record\":\"string\",\"id\":99999999,\"text\":\"x\"}", "id" },
		{ "{\"record\":\"stream\",\"id\":8,\"kind\":\"loud\"}", "kind" },
		{ "{\"record\":\"mark\",\"thread\":0,\"kind\":\"push\"}", "t" },
		{ "{\"record\":\"runs\",\"unprofiled_wall_ns\":[-1]}", "unprofiled_wall_ns" },
		{ "{\"record\":\"runs\",\"unprofiled_wall_ns\":[],\"retimed_wall_ns\":7}",
		  "retimed_wall_ns" },
		{ "{\"record\":\"runs\",\"unprofiled_wall_ns\":[],\"retimed_wall_ns\":[-1]}",
		  "retimed_wall_ns" },
		{ "{\"record\":\"calibration\"}", "second" },
		{ "{\"record\":\"trace\",\"trace\":\"1.0\"}", "second" },
		{ FOLD("4", "[[2000,5]]"), "4" },
		{ FOLD("5", "[]"), "gap_ns" },
		{ FOLD("0", "[[2000,5]]"), "times" },
		{ FOLD("90000000000", "[[2000,5]]"), "more than" },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		begin();
		made_call(&made, "other", 0, 1000, "");
		made_row(&made, "%s", bad[i].row);
		made.calls += !strncmp(bad[i].row, "{\"record\":\"call\"", 16);
		made.ops += !strncmp(bad[i].row, "{\"record\":\"op\"", 14);
		made_end(&made, 40000, 0, 0);
		is_refused(11, bad[i].word);
	}
}

/* So many times, in one of the lists that runs may have; the others are as they may be. */
static void put_lists(const char *longest, int n)
{
	static const char *const lists[] = { "unprofiled_wall_ns", "retimed_wall_ns", "plain",
					     "recorded" };
	char text[1 << 14];
	int used = 0;

	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++) {
		int times = !strcmp(lists[i], longest) ? n : 1;

		used += snprintf(text + used, sizeof(text) - (size_t)used, "%s\"%s\":[",
				 i == 2	 ? ",\"empty\":{"
				 : i > 0 ? ","
					 : "",
				 i == 2 ? "unprofiled_wall_ns" : lists[i]);
		for (int k = 0; k < times; k++)
			used += snprintf(text + used, sizeof(text) - (size_t)used,
					 i < 3 ? "%s%d"
					       : "%s{\"wall_ns\":%d,\"own_ns\":1,"
						 "\"launch_call_ns\":1,\"launch_and_wait_ns\":1,"
						 "\"gap_ns\":1}",
					 k ? "," : "", 10 + k);
		used += snprintf(text + used, sizeof(text) - (size_t)used, "]");
	}
	begin();
	made_call(&made, "other", 0, 1000, "");
	made_row(&made, "{\"record\":\"end\",\"t\":2000,\"calls\":1,\"ops\":0,\"dropped\":0,"
			"\"reason\":\"exit\"}");
	made_row(&made, "{\"record\":\"runs\",%s}}", text);
	cr_assert(zero(int, fclose(made.out)));
}

/* A hundred of each. */
Test(small_trace, how_many_runs_there_may_be)
{
	put_lists("unprofiled_wall_ns", 100);
	read_made();
	cr_expect(eq(int, trace.unprofiled, 100));
	cr_expect(eq(dbl, trace.unprofiled_wall_ns[99], 109));
	cr_expect(eq(int, trace.recordings, 1));
	trace_release(&trace);
	put_lists("retimed_wall_ns", 100);
	read_made();
	cr_expect(eq(int, trace.recordings, 100));
	trace_release(&trace);
	put_lists("plain", 100);
	read_made();
	cr_expect(eq(int, trace.plain_empties, 100));
	cr_expect(eq(int, trace.empties, 1));
	trace_release(&trace);
	put_lists("recorded", 100);
	read_made();
	cr_expect(eq(int, trace.empties, 100));
	cr_expect(eq(dbl, trace.empty[99].wall_ns, 109));
	trace_release(&trace);
	put_lists("unprofiled_wall_ns", 101);
	is_refused(12, "unprofiled_wall_ns must be a list of at most 100 times");
	put_lists("retimed_wall_ns", 101);
	is_refused(12, "retimed_wall_ns must be a list of at most 100 times");
	put_lists("plain", 101);
	is_refused(12, "empty: more than 100 processes");
	put_lists("recorded", 101);
	is_refused(12, "empty: more than 100 processes");
}

Test(small_trace, where_a_process_may_start)
{
	made_begin(&made, ",\"process_start_ns\":0", NULL);
	made_end(&made, 2000, 0, 0);
	read_made();
	cr_expect(eq(i64, trace.process_start_ns, 0));
	trace_release(&trace);
	made_begin(&made, ",\"process_start_ns\":1", NULL);
	made_end(&made, 2000, 0, 0);
	is_refused(1, "process_start_ns must be a time, 0 or before");
	made_begin(&made, ",\"process_start_ns\":-0.5", NULL);
	made_end(&made, 2000, 0, 0);
	is_refused(1, "process_start_ns must be a time, 0 or before");
}

/* It begins before the program's first call, as the recorder does, and may take no time. */
Test(small_trace, where_the_recorder_itself_works)
{
	begin();
	made_row(&made, "{\"record\":\"own\",\"thread\":1,\"t0\":-7,\"t1\":-7}");
	made_end(&made, 2000, 0, 0);
	read_made();
	cr_assert(eq(i64, trace.owns, 1));
	cr_expect(eq(i64, trace.own[0].t0, -7));
	cr_expect(eq(int, trace.own[0].thread, 1));
	trace_release(&trace);
	begin();
	made_row(&made, "{\"record\":\"own\",\"thread\":1,\"t0\":-7,\"t1\":-8}");
	made_end(&made, 2000, 0, 0);
	is_refused(10, "t1 is before t0");
}

static long most_kib(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss;
}

/* A file of less than 1 KB. Its calls and operations would take 2.7 GiB, of which none is there. */
Test(small_trace, a_fold_that_takes_too_much_memory_says_how_much)
{
	long before = most_kib();

	begin();
	made_row(&made, "{\"record\":\"fold\",\"times\":9000000,\"t0\":0,\"t1\":36000000000,"
			"\"body\":[{\"record\":\"call\",\"thread\":0,\"class\":\"launch\","
			"\"gap_ns\":[[2000,9000000]],\"took_ns\":[[2000,9000000]],\"op\":{"
			"\"record\":\"op\",\"kind\":\"kernel\",\"stream\":2,"
			"\"took_ns\":[[700,9000000]]}}]}");
	made_end(&made, 40000, 0, 0);
	is_refused(10, "18000000 calls and operations, repeats counted each, which take 2.75 GiB");
	cr_expect(lt(long, most_kib() - before, 50000), "%ld KiB", most_kib() - before);
}

/* A line of 9 MB whose objects would take 700 MB. */
Test(large_trace, a_line_that_takes_too_much_memory_is_refused)
{
	long before = most_kib();

	begin();
	fputs("{\"record\":\"later_kind\",\"list\":[", made.out);
	for (int i = 0; i < 3000000; i++)
		fputs("{},", made.out);
	made_row(&made, "{}]}");
	made_end(&made, 40000, 0, 0);
	is_refused(10, "takes over 512 MiB of memory");
	cr_expect(lt(long, most_kib() - before, 600000), "%ld KiB", most_kib() - before);
}

Test(small_trace, rows_and_their_end_agree)
{
	begin();
	made_call(&made, "other", 0, 1000, "");
	made.calls = 2;
	made_end(&made, 40000, 0, 0);
	is_refused(11, "2 calls");
	begin();
	made_row(&made, "{\"record\":\"end\",\"t\":1,\"calls\":0,\"ops\":0,\"dropped\":0}");
	made_call(&made, "other", 0, 1000, "");
	made_end(&made, 40000, 0, 0);
	is_refused(11, "after the end");
}

/* What recording adds to a call is in the end of a recording of calls alone, and nowhere else. */
Test(small_trace, what_recording_adds)
{
	static const struct {
		const char *header, *end;
		double call_ns; /* NAN: refused */
	} cases[] = {
		{ ",\"device_times\":\"none\"", ",\"call_ns\":300", 300 },
		{ ",\"device_times\":\"none\"", "", 0 },
		{ "", ",\"call_ns\":300", 0 },
		{ ",\"device_times\":\"none\"", ",\"call_ns\":-1", NAN },
		{ ",\"device_times\":\"none\"", ",\"call_ns\":1.5", NAN },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const char *said;
		int err;

		made_begin(&made, cases[i].header, *cases[i].header ? NULL : MADE_CALIBRATION);
		made.end = cases[i].end;
		made_end(&made, 2000, 0, 0);
		divert_stderr();
		err = trace_read(&trace, made.path);
		said = diverted_stderr();
		cr_expect(eq(int, err, isnan(cases[i].call_ns) ? -EINVAL : 0), "%s: %s",
			  cases[i].end, said);
		if (!err)
			cr_expect(eq(dbl, trace.calibration.call_ns, cases[i].call_ns), "%s, %s",
				  cases[i].header, cases[i].end);
		trace_release(&trace);
		made_remove(&made);
	}
	made.end = NULL;
}

/* Two launches in a row and a wait, `turns` times, each a little slower; a memset between the two
 * kernels keeps them from being neighbours. */
static void make_turns(int turns, bool wait, bool memset_between)
{
	made_begin(&made, "", NULL);
	for (long i = 0; i < turns; i++) {
		long first = 100000 * i, end = first + 2000 + 100 * i;
		long kernel = end + 3000 + 200 * i, second = end + 500;

		made_call(&made, "launch", first, end, ",\"stream\":2,\"name\":1");
		made_op(&made, "kernel", 2, kernel, kernel + 5000, "");
		if (memset_between) {
			made_call(&made, "memset", end + 10, end + 20, ",\"stream\":2");
			made_op(&made, "memset", 2, kernel + 5000, kernel + 5000, "");
		}
		made_call(&made, "launch", second, second + 1500 + 10 * i,
			  ",\"stream\":2,\"name\":1");
		made_op(&made, "kernel", 2, kernel + 5700 + 30 * i, kernel + 9000, "");
		if (wait)
			made_call(&made, "sync_device", second + 2000, kernel + 13000 + 250 * i,
				  "");
	}
	made_end(&made, 100000 * turns, 0, 0);
	read_made();
	own_costs_find(&trace);
}

static void are_quantiles(const double *got, double p05, double p50, double p95, const char *what)
{
	cr_expect(eq(dbl, got[QUANTILE_P05], p05), "%s: 5 %%", what);
	cr_expect(eq(dbl, got[QUANTILE_P50], p50), "%s: median", what);
	cr_expect(eq(dbl, got[QUANTILE_P95], p95), "%s: 95 %%", what);
}

/* Of twenty launches, ten of them on an idle device, ten gaps and ten waits. */
Test(small_trace, costs_of_its_own_calls)
{
	const struct trace_calibration *c = &trace.calibration;

	make_turns(10, true, false);
	cr_expect(trace.is_calibrated && trace.is_estimated);
	cr_expect(eq(dbl, c->n, 20));
	cr_expect(isinf(c->window) && isnan(c->graph_launch_ns[0]));
	are_quantiles(c->launch_call_ns, 1510, 2000, 2800, "launches");
	are_quantiles(c->gap_ns, 700, 850, 970, "gaps");
	are_quantiles(c->launch_and_wait_ns, 2000 + 3000 + 4000, 2000 + 4000 + 5250,
		      2000 + 4800 + 6250, "start and wake");
	trace_release(&trace);
	make_turns(10, false, true);
	are_quantiles(c->gap_ns, 0, 0, 0, "no neighbours");
	are_quantiles(c->launch_and_wait_ns, 2000 + 2 * 3000, 2000 + 2 * 4000, 2000 + 2 * 4800,
		      "without waits");
	trace_release(&trace);
}

/* Five of each are enough. */
Test(small_trace, costs_of_too_few_calls)
{
	for (int turns = 4; turns <= 5; turns++) {
		make_turns(turns, true, false);
		cr_expect(eq(int, trace.is_estimated, turns == 5));
		cr_expect(eq(int, trace.is_calibrated, turns == 5));
		trace_release(&trace);
	}
}

Test(small_trace, other_versions_and_no_trace)
{
	begin();
	rewind(made.out);
	made_row(&made, "{\"record\":\"trace\",\"trace\":\"2.0\"}");
	made_end(&made, 1, 0, 0);
	divert_stderr();
	cr_expect(eq(int, trace_read(&trace, made.path), -EPROTONOSUPPORT), "version 2");
	cr_expect(ne(ptr, strstr(diverted_stderr(), "1.x"), NULL), "what it reads");
	trace_release(&trace);
	cr_expect(eq(int, trace_is(made.path), 1), "is one all the same");
	made_remove(&made);
	divert_stderr();
	cr_expect(lt(int, trace_read(&trace, "/dev/null"), 0), "no file");
	cr_expect(eq(int, trace_is("/dev/null"), 0), "no trace");
	diverted_stderr();
	trace_release(&trace);
}
