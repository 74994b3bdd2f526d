/*
 * test_kineto.c - common/trace/kineto.h: traces of PyTorch's profiler. One is written here, event
 * by event, as libkineto writes them; others are kept traces of rift in that form, which must have
 * the same bottleneck and shares.
 */
/* sanitizers: one thread */
#include "common/trace/kineto.h"
#include "common/trace/chrome_events.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/profile/chrome.h"
#include "harness/profile/profile.h"
#include "tests/capture.h"
#include "tests/divert.h"
#include "tests/golden.h"

static const struct kind_rules rules = KIND_DEFAULTS;
static char path[] = "/tmp/rift-kineto-XXXXXX";
static struct trace trace;

static void make_path(void)
{
	int fd = mkstemp(path);

	cr_assert(le(int, 0, fd), "%s", path);
	close(fd);
}

static void remove_path(void)
{
	unlink(path);
}

TestSuite(small_kineto, .timeout = 120, .init = make_path, .fini = remove_path);

/* ---- a file, event by event ----------------------------------------------------------------- */

#define BEGIN                                                                                      \
	"{\n  \"schemaVersion\": 1,\n  \"deviceProperties\": [\n    {\"id\": 0, \"name\": "        \
	"\"NVIDIA H100\"}\n  ],\n  \"record_shapes\": 1,\n  \"traceEvents\": [\n"
#define END                                                                                        \
	"  ],\n  \"traceName\": \"a.json\",\n  \"displayTimeUnit\": \"ms\",\n"                     \
	"  \"baseTimeNanoseconds\": 1759276800000000000\n}\n"

/* Times are us; ends with a comma. */
#define HOST(cat, name, correlation, ts, dur)                                                      \
	"{\"ph\": \"X\", \"cat\": \"" cat "\", \"name\": \"" name "\", \"pid\": 70, \"tid\": 71, " \
	"\"ts\": " ts ", \"dur\": " dur ", \"args\": {\"External id\": 5, \"cbid\": 211, "         \
	"\"correlation\": " correlation "}},\n"
#define DEVICE(cat, name, correlation, stream, ts, dur)                                            \
	"{\"ph\": \"X\", \"cat\": \"" cat "\", \"name\": \"" name                                  \
	"\", \"pid\": 0, \"tid\": " stream ", \"ts\": " ts ", \"dur\": " dur                       \
	", \"args\": {\"device\": 0, \"stream\": " stream ", \"correlation\": " correlation        \
	", \"bytes\": 4096, \"grid\": [8, 1, 1], "                                                 \
	"\"block\": [128, 1, 1], \"est. achieved occupancy\": 0}},\n"
#define LAST                                                                                       \
	"{\"ph\": \"i\", \"s\": \"g\", \"cat\": \"Trace\", \"name\": \"Record Window End\", "      \
	"\"pid\": \"\", \"tid\": \"Traces\", \"ts\": 9000000}\n"

/* In no order: a copy, two kernels of which the driver launched one, a graph, waits, ranges. */
static const char whole[] = BEGIN
	"{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": 70, \"tid\": 0, "
	"\"args\": {\"name\": \"python3\"}},\n" DEVICE(
		"kernel", "gemm", "12", "7", "5000.500",
		"10.000") HOST("cuda_runtime", "cudaMemcpyAsync", "11", "4970.000",
			       "8.000") DEVICE("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)",
					       "11", "7", "4975.000",
					       "2.000") HOST("cuda_runtime", "cudaLaunchKernelExC",
							     "12", "4990.000",
							     "4.000") HOST("cuda_driver",
									   "cuLaunchKernelEx", "13",
									   "4995.000", "3.000")
		DEVICE("kernel", "triton_add", "13", "7", "5012.000", "1.000") HOST(
			"cuda_runtime", "cudaGraphLaunch", "14", "5001.000",
			"6.000") DEVICE("kernel", "b", "14", "20", "5022.000", "2.000")
			DEVICE("kernel", "a", "14", "20", "5020.000", "1.000") DEVICE(
				"gpu_memset",
				"Memset (Device)", "14", "20",
				"5025.000", "1.000") HOST("cuda_runtime", "cudaStreamSynchronize",
							  "15",
							  "5010.000", "30.000")
				DEVICE("cuda_sync", "Stream Synchronize", "15", "20", "5010.000",
				       "30.000") HOST("cuda_runtime", "cudaDeviceSynchronize",
						      "16", "5041.000", "4.000")
					HOST("cuda_driver", "cuCtxSynchronize", "17", "5042.000",
					     "2.000") HOST("cuda_runtime", "cudaFuncGetAttributes",
							   "18", "5046.000",
							   "1.000") DEVICE("kernel",
									   "begun before", "3", "7",
									   "4960.000", "2.000")
						HOST("cpu_op", "aten::mm", "0", "4985.000",
						     "30.000") HOST("python_function", "forward",
								    "0", "4900.000", "300.000")
							DEVICE("gpu_user_annotation",
							       "ProfilerStep#1", "0", "7",
							       "4975.000", "40.000")
								DEVICE("overhead", "Buffer Flush",
								       "0", "7", "4975.000",
								       "40.000") "{\"ph\": \"X\", "
										 "\"cat\": "
										 "\"user_"
										 "annotation\", "
										 "\"name\": "
										 "\"ProfilerStep#"
										 "2\", \"pid\": "
										 "70, "
										 "\"tid\": \"71\", "
										 "\"ts\": "
										 "5000.000, "
										 "\"dur\": "
										 "50.000},\n"
										 "{\"ph\": \"X\", "
										 "\"cat\": "
										 "\"user_"
										 "annotation\", "
										 "\"name\": "
										 "\"forward\", "
										 "\"pid\": 70, "
										 "\"tid\": 71, "
										 "\"ts\": "
										 "4980.000, "
										 "\"dur\": "
										 "20.000},\n"
										 "{\"ph\": \"X\", "
										 "\"cat\": "
										 "\"user_"
										 "annotation\", "
										 "\"name\": "
										 "\"ProfilerStep#"
										 "1\", \"pid\": "
										 "70, "
										 "\"tid\": 71, "
										 "\"ts\": "
										 "4965.000, "
										 "\"dur\": "
										 "35.000},\n"
										 "{\"ph\": \"s\", "
										 "\"id\": 12, "
										 "\"pid\": 70, "
										 "\"tid\": 71, "
										 "\"ts\": "
										 "4990.000, "
										 "\"cat\": "
										 "\"ac2g\", "
										 "\"name\": "
										 "\"ac2g\"},\n" LAST
											 END;

static void write_text(const char *text)
{
	FILE *out = fopen(path, "w");

	cr_assert(ne(ptr, out, NULL), "%s", path);
	fputs(text, out);
	cr_assert(zero(int, fclose(out)), "%s", path);
}

static void read_text(const char *text)
{
	write_text(text);
	cr_assert(trace_is(path), "%s", path);
	cr_assert(zero(int, trace_read(&trace, path)), "%s", path);
}

static const struct trace_call *call_of(const char *name)
{
	for (int64_t i = 0; i < trace.calls; i++)
		if (!strcmp(trace_name(&trace, trace.call[i].name), name))
			return &trace.call[i];
	cr_fatal("no %s", name);
	return NULL;
}

static const struct trace_op *op_of(const char *name, int n)
{
	const struct trace_call *c = call_of(name);

	cr_assert(eq(int, c->ops, n), "%s: %d", name, c->ops);
	return n ? &trace.op[c->first_op] : NULL;
}

static const char *stream_of(const struct trace_op *op)
{
	static char text[64];

	snprintf(text, sizeof(text), "%ld %s", (long)trace.stream[op->stream].id,
		 stream_kind_names[trace.stream[op->stream].kind]);
	return text;
}

/* All of it, a line each. */
static void say_trace(void)
{
	static char text[1 << 14];
	FILE *out = fmemopen(text, sizeof(text), "w");

	for (int64_t i = 0; i < trace.calls; i++) {
		const struct trace_call *c = &trace.call[i];

		fprintf(out, "call %s %s of %ld, %ld to %ld, stream %d, graph %d, %ld bytes, %s\n",
			call_class_names[c->class], trace_name(&trace, c->name),
			(long)trace.thread[c->thread].tid, (long)c->t0, (long)c->t1, c->stream,
			c->graph, (long)c->bytes, c->async ? "async" : "waits");
		for (int32_t k = 0; k < c->ops; k++) {
			const struct trace_op *op = &trace.op[c->first_op + k];

			fprintf(out,
				"  op %s '%s', stream %ld, %ld to %ld, busy %ld, %ld bytes, graph "
				"%d, grid %d, memory %d, direction %d\n",
				op_kind_names[op->kind],
				op->name < 0 ? "" : trace_name(&trace, op->name),
				(long)trace.stream[op->stream].id, (long)op->t0, (long)op->t1,
				(long)op->busy_ns, (long)op->bytes, op->graph, op->grid[0],
				op->memory, op->direction);
		}
	}
	for (int64_t i = 0; i < trace.marks; i++)
		fprintf(out, "mark %s %s of %ld at %ld\n", mark_kind_names[trace.mark[i].kind],
			trace.mark[i].name < 0 ? "" : trace_name(&trace, trace.mark[i].name),
			(long)trace.thread[trace.mark[i].thread].tid, (long)trace.mark[i].t);
	for (int64_t i = 0; i < trace.graphs; i++)
		fprintf(out, "graph of %ld nodes, %ld kernels\n", (long)trace.graph[i].nodes,
			(long)trace.graph[i].kernels);
	fprintf(out, "%ld streams, %ld threads, ends at %ld, %s\n", (long)trace.streams,
		(long)trace.threads, (long)trace.end_ns, trace.program);
	fclose(out);
	golden_said(text);
}

#define OF_72(cat, name, more, ts, dur)                                                            \
	"{\"ph\": \"X\", \"cat\": \"" cat "\", \"name\": \"" name "\", \"pid\": 70, \"tid\": 72, " \
	"\"ts\": " ts ", \"dur\": " dur more "},\n"

/* Of two threads; waits whose stream is known, and others of which it is not; graphs. */
static const char two_threads[] = BEGIN HOST("cuda_runtime", "cudaLaunchKernel", "1", "10.000",
					     "4.000") DEVICE("kernel", "k", "1", "7", "20.000",
							     "5.000")
	HOST("cuda_runtime", "cudaStreamSynchronize", "2", "15.000", "12.000") DEVICE(
		"cuda_sync", "Stream Synchronize", "2", "7", "15.000",
		"12.000") HOST("cuda_runtime", "cudaStreamSynchronize", "3", "30.000",
			       "3.000") DEVICE("cuda_sync", "Event Synchronize", "3", "7", "30.000",
					       "3.000") DEVICE("cuda_sync", "Stream Synchronize",
							       "0", "7", "30.000", "3.000")
		HOST("cuda_runtime", "cudaStreamSynchronize", "4", "34.000", "3.000") DEVICE(
			"cuda_sync", "Stream Synchronize", "4", "-1", "34.000",
			"3.000") OF_72("user_annotation", "other", "", "38.000",
				       "20.000") OF_72("cuda_runtime", "cudaGraphLaunch",
						       ", \"args\": {\"correlation\": 5}", "40.000",
						       "4.000")
			DEVICE("kernel", "b", "5", "20", "50.000", "2.000") DEVICE(
				"gpu_memcpy", "Memcpy DtoD (Device -> Device)", "5", "20", "51.000",
				"3.000") DEVICE("kernel", "a", "5", "21", "60.000", "1.000")
				OF_72("cuda_runtime", "cudaGraphLaunch",
				      ", \"args\": {\"correlation\": 6}", "45.000",
				      "4.000") DEVICE("kernel", "a", "6", "20", "70.000", "1.000")
					OF_72("cuda_runtime", "cudaMemsetAsync",
					      ", \"args\": {\"correlation\": 7}", "50.000",
					      "1.000") DEVICE("gpu_memset", "Memset (Device)", "7",
							      "20", "72.000",
							      "1.000") OF_72("user_annotation",
									     "inner",
									     "", "40.000", "9.000")
						OF_72("user_annotation", "inner", "", "49.000",
						      "9.000") HOST("cuda_driver",
								    "cuMemcpyDtoHAsync_v2", "8",
								    "60.000", "2.000")
							DEVICE("gpu_memcpy",
							       "Memcpy DtoH (Device -> Pinned)",
							       "8", "7", "62.000", "2.500")
								LAST END;

Test(small_kineto, all_that_is_read)
{
	read_text(whole);
	say_trace();
	trace_release(&trace);
	read_text(two_threads);
	say_trace();
	trace_release(&trace);
}

/* The first event that counts, at 4960 us, is 0. */
Test(small_kineto, calls_and_what_the_device_did_of_them)
{
	const struct trace_op *op;

	read_text(whole);
	cr_assert(eq(i64, trace.calls, 7));
	cr_assert(eq(i64, trace.ops, 4));
	cr_expect(eq(i64, trace.orphans, 1), "begun before");
	cr_expect(eq(i64, trace.threads, 1), "an id that is a text is the same thread");
	cr_expect(eq(str, trace.program, "python3"));
	cr_expect(eq(int, trace.is_cpu, 0));
	op = op_of("cudaMemcpyAsync", 1);
	cr_expect(eq(i64, op->t0, 15000));
	cr_expect(eq(i64, op->t1, 17000));
	cr_expect(eq(int, (int)op->kind, OP_COPY));
	cr_expect(eq(int, op->direction, COPY_TO_DEVICE));
	cr_expect(eq(int, op->memory, MEMORY_PAGEABLE));
	cr_expect(eq(i64, op->bytes, 4096));
	cr_expect(eq(int, call_of("cudaMemcpyAsync")->async, 1));
	cr_expect(eq(str, (char *)stream_of(op), "7 legacy"));
	op = op_of("cudaLaunchKernelExC", 1);
	cr_expect(eq(i64, op->t0, 40500));
	cr_expect(eq(str, (char *)trace_name(&trace, op->name), "gemm"));
	cr_expect(eq(int, op->grid[0], 8));
	cr_expect(eq(int, (int)call_of("cudaLaunchKernelExC")->class, CALL_LAUNCH));
	op = op_of("cuLaunchKernelEx", 1);
	cr_expect(eq(str, (char *)trace_name(&trace, op->name), "triton_add"));
	cr_expect(eq(int, (int)call_of("cudaFuncGetAttributes")->class, CALL_OTHER));
	trace_release(&trace);
}

Test(small_kineto, operations_of_a_graphs_launch_are_one)
{
	const struct trace_op *op;

	read_text(whole);
	op = op_of("cudaGraphLaunch", 1);
	cr_expect(eq(int, (int)op->kind, OP_GRAPH));
	cr_expect(eq(i64, op->t0, 60000));
	cr_expect(eq(i64, op->t1, 66000));
	cr_expect(eq(i64, op->busy_ns, 3000), "kernels");
	cr_expect(eq(i64, trace.graph[op->graph].nodes, 3));
	cr_expect(eq(i64, trace.graph[op->graph].kernels, 2));
	cr_expect(eq(str, (char *)stream_of(op), "20 non-blocking"));
	trace_release(&trace);
}

Test(small_kineto, synchronizes)
{
	const struct trace_call *c;

	read_text(whole);
	c = call_of("cudaStreamSynchronize");
	cr_expect(eq(int, (int)c->class, CALL_SYNC_STREAM));
	cr_assert(le(int, 0, c->stream));
	cr_expect(eq(i64, trace.stream[c->stream].id, 20));
	c = call_of("cudaDeviceSynchronize");
	cr_expect(eq(int, (int)c->class, CALL_SYNC_DEVICE));
	for (int64_t i = 0; i < trace.calls; i++) /* the driver's call lies within it */
		cr_expect(ne(str, (char *)trace_name(&trace, trace.call[i].name),
			     "cuCtxSynchronize"));
	trace_release(&trace);
}

/* What the runtime's call launches by the driver's, is the outer one's. */
Test(small_kineto, a_call_within_another_is_part_of_it)
{
	read_text(BEGIN HOST("cuda_runtime", "cudaMagic", "1", "10.000", "9.000")
			  HOST("cuda_driver", "cuLaunchKernel", "2", "11.000", "5.000")
				  DEVICE("kernel", "k", "2", "7", "30.000", "5.000") LAST END);
	cr_assert(eq(i64, trace.calls, 1));
	op_of("cudaMagic", 1);
	cr_expect(eq(int, (int)trace.call[0].class, CALL_LAUNCH));
	trace_release(&trace);
}

/* A step's number is not part of its name; what it holds is within it. */
Test(small_kineto, annotations_are_ranges)
{
	struct ranges r;

	read_text(whole);
	ranges_make(&r, &trace, NULL);
	cr_assert(eq(i64, r.n, 2));
	cr_expect(eq(str, (char *)trace_name(&trace, r.list[0].name), "ProfilerStep"));
	cr_expect(eq(i64, r.list[0].times, 2));
	cr_expect(eq(i64, r.list[0].ns, 85000));
	cr_expect(eq(str, (char *)trace_name(&trace, r.list[1].name), "forward"));
	cr_expect(eq(i64, r.list[1].launches, 2));
	cr_assert(eq(i64, r.spans, 3));
	cr_expect(eq(int, r.span[0].depth, 1), "forward");
	ranges_release(&r);
	trace_release(&trace);
}

#define MARK(phase, cat, name, ts)                                                                 \
	"{\"ph\": \"" phase "\", \"cat\": \"" cat "\", \"name\": \"" name                          \
	"\", \"pid\": 70, \"tid\": 71, \"ts\": " ts "},\n"

/* So do annotations that come in two halves, and Python's functions do not. */
Test(small_kineto, halves_of_annotations_are_ranges)
{
	static const char text[] = BEGIN MARK("B", "python_function", "forward", "10.000")
		MARK("B", "user_annotation", "epoch", "20.000")
			HOST("cuda_runtime", "cudaLaunchKernel", "12", "30.000", "4.000")
				DEVICE("kernel", "gemm", "12", "7", "40.000", "10.000")
					MARK("E", "user_annotation", "", "60.000")
						MARK("E", "python_function", "", "70.000") LAST END;
	struct ranges r;

	read_text(text);
	ranges_make(&r, &trace, NULL);
	cr_assert(eq(i64, r.n, 1));
	cr_expect(eq(str, (char *)trace_name(&trace, r.list[0].name), "epoch"));
	cr_expect(eq(i64, r.list[0].ns, 40000));
	cr_expect(eq(i64, r.list[0].launches, 1));
	ranges_release(&r);
	trace_release(&trace);
}

static const char *printed(void)
{
	static char text[8192];
	struct profile p;
	FILE *out = fmemopen(text, sizeof(text), "w");

	cr_assert(ne(ptr, out, NULL));
	cr_assert(zero(int, profile_make(&p, path, &rules, false)), "%s", path);
	profile_print(&p, out);
	profile_release(&p);
	fclose(out);
	golden_said(text);
	return text;
}

Test(small_kineto, it_is_said_what_the_file_does_not_say)
{
	const char *text;

	write_text(whole);
	text = printed();
	cr_expect(tells(text, "by kineto: 7 calls, 4 operations"), "%s", text);
	cr_expect(tells(text, "1 operation whose calls are not in the file"), "%s", text);
	cr_expect(tells(text, "as recorded"), "%s", text);
	cr_expect(tells(text, "the trace has no calibration"), "%s", text);
	cr_expect(tells(text, "only a part of the program"), "%s", text);
}

/* A list of events alone, and other numbers of the default stream's. */
Test(small_kineto, a_list_alone_and_packed)
{
	const char *out;

	read_text("[" HOST("cuda_runtime", "cudaLaunchKernel", "1", "10.0", "4")
			  DEVICE("kernel", "k", "1", "7", "30", "5") LAST "]");
	cr_expect(eq(i64, trace.ops, 1));
	trace_release(&trace);
	write_text(whole);
	cr_assert(zero(int, shell(&out, "gzip '%s' && mv '%s.gz' '%s'", path, path, path)));
	cr_assert(trace_is(path));
	cr_assert(zero(int, trace_read(&trace, path)));
	cr_expect(eq(i64, trace.calls, 7));
	trace_release(&trace);
}

static void is_refused(const char *text, const char *why)
{
	struct profile p;
	const char *said;

	write_text(text);
	divert_stderr();
	cr_expect(lt(int, profile_make(&p, path, &rules, false), 0), "%s", why);
	profile_release(&p);
	said = diverted_stderr();
	cr_expect(eq(int, is_one_complaint(said), 1), "%s", said);
	cr_expect(tells(said, why), "%s, not %s", said, why);
}

Test(small_kineto, what_is_damaged_is_refused)
{
	static char cut[sizeof(whole)];

	is_refused(BEGIN LAST END, "no calls");
	memcpy(cut, whole, sizeof(whole) / 2);
	is_refused(cut, "no whole file of trace events");
	is_refused(BEGIN "7]}", "an event is no object");
	is_refused(BEGIN LAST LAST END, "no ',' or *after an event");
	is_refused(BEGIN "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\"}" END,
		   "category kernel has no ts");
	is_refused(BEGIN HOST("cuda_runtime", "cudaLaunchKernel", "1", "1e17", "4") LAST END,
		   "no ts, or one that is no time");
	is_refused(BEGIN HOST("cuda_runtime", "cudaLaunchKernel", "1", "1", "1e15") LAST END,
		   "lasts more than 104 days");
	is_refused(BEGIN HOST("cuda_runtime", "cudaLaunchKernel", "1", "1", "4")
			   HOST("cuda_runtime", "cudaLaunchKernel", "2", "3e15", "4") LAST END,
		   "lasts more than 104 days");
}

static int say_event(const json_t *event, void *out)
{
	json_dumpf(event, out, JSON_COMPACT);
	fputc(';', out);
	return json_object_get(event, "stop") ? -EINTR : 0;
}

static void say_member(const char *name, const json_t *value, void *out)
{
	fprintf(out, "%s=", name);
	json_dumpf(value, out, JSON_COMPACT | JSON_ENCODE_ANY);
	fputc(';', out);
}

/* Up to what is damaged all is read, and it is said at which byte that is. */
Test(small_kineto, events_one_by_one)
{
	static const struct {
		const char *text, *read, *wrong; /* "": nothing is */
		bool is;
	} rows[] = {
		{ "[]", "", "", false },
		{ " \n[ {\"ph\":1} , {\"b\":2} ] ", "{\"ph\":1};{\"b\":2};", "", true },
		{ "{}", "", "", false },
		{ " {\"x\":1,\"traceEvents\": [{\"a\":1}],\"y\":[2]}", "x=1;{\"a\":1};y=[2];", "",
		  true },
		{ "{\"traceEvents\":5}", "traceEvents=5;", "", true },
		{ "{\"x\":1 \"y\":2}", "x=1;", "no ',' or '}' after a member at byte 7", false },
		{ "{\"x\" 1}", "", "no member at byte 5", false },
		{ "{5:1}", "", "no member at byte 2", false },
		{ "{\"x\":}", "", "at byte 5", false },
		{ "[{\"a\":1},7]", "{\"a\":1};", "an event is no object at byte 10", false },
		{ "[{\"a\":1} {}]", "{\"a\":1};", "no ',' or ']' after an event at byte 9", false },
		{ "[{\"a\":1}", "{\"a\":1};", "no ',' or ']' after an event at byte 8", false },
		{ "7", "", "neither '{' nor '[' at byte 0", false },
		{ "", "", "neither '{' nor '[' at byte 0", false },
	};
	char text[256];
	struct chrome_reader reader = { say_event, say_member, NULL };

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		bool whole_one = !*rows[i].wrong;
		const char *said;

		*text = '\0';
		write_text(rows[i].text);
		cr_expect(eq(int, chrome_events_are(path), rows[i].is), "%s", rows[i].text);
		reader.arg = fmemopen(text, sizeof(text), "w");
		divert_stderr();
		cr_expect(eq(int, chrome_events_read(path, &reader), whole_one ? 0 : -EINVAL), "%s",
			  rows[i].text);
		said = diverted_stderr();
		fclose(reader.arg);
		cr_expect(eq(str, text, (char *)(uintptr_t)rows[i].read), "%s", rows[i].text);
		cr_expect(whole_one ? !*said : is_one_complaint(said) && tells(said, rows[i].wrong),
			  "%s: %s", rows[i].text, said);
	}
	write_text("[{\"stop\":1},{\"b\":2}]");
	reader.arg = fmemopen(text, sizeof(text), "w");
	cr_expect(eq(int, chrome_events_read(path, &reader), -EINTR));
	fclose(reader.arg);
	cr_expect(eq(str, text, "{\"stop\":1};"), "no further");
	divert_stderr();
	cr_expect(eq(int, chrome_events_read("/nowhere/x", &reader), -ENOENT));
	cr_expect(tells(diverted_stderr(), "/nowhere/x: No such file"));
	cr_expect(not(chrome_events_are("/nowhere/x")));
}

/* ---- costs by the trace itself -------------------------------------------------------------- */

enum { TURNS = 40 };

/* Launches that are waited for, 20 us each: the launch 4, 3 to the kernel of 8, 5 to the return. */
static void write_turns(void)
{
	FILE *out = fopen(path, "w");

	cr_assert(ne(ptr, out, NULL), "%s", path);
	fputs(BEGIN, out);
	for (int i = 0; i < TURNS; i++) {
		const char *format[] = {
			HOST("cuda_runtime", "cudaLaunchKernel", "%d", "%d.000", "4.000"),
			DEVICE("kernel", "k", "%d", "7", "%d.000", "8.000"),
			HOST("cuda_runtime", "cudaDeviceSynchronize", "%d", "%d.000", "16.000"),
		};
		int id[] = { 2 * i + 1, 2 * i + 1, 2 * i + 2 }, at[] = { 0, 7, 4 };

		for (int k = 0; k < 3; k++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
			fprintf(out, format[k], 20 * i + at[k], id[k]);
#pragma GCC diagnostic pop
		}
	}
	fputs(LAST END, out);
	fclose(out);
}

Test(small_kineto, call_costs_are_those_of_its_own_calls)
{
	struct profile p;

	write_turns();
	cr_assert(zero(int, profile_make(&p, path, &rules, false)), "%s", path);
	cr_assert(eq(int, p.retimed, 1));
	cr_expect(eq(dbl, p.prices.launch_ns, 4000), "%g", p.prices.launch_ns);
	cr_expect(eq(dbl, p.prices.start_ns + p.prices.wake_ns, 8000), "%g", p.prices.start_ns);
	cr_expect(lt(dbl, fabs(p.predicted.value / p.recorded_ns - 1), 0.01));
	cr_expect(ne(uint, p.doubts & DOUBT_ESTIMATED, 0), "it is said");
	cr_expect(lt(dbl, fabs(p.cost_ns[COST_LAUNCH] - 1000 * TURNS), 1), "%g",
		  p.cost_ns[COST_LAUNCH]);
	profile_release(&p);
	cr_expect(tells(printed(), "re-timed at call costs estimated from the trace"));
}

/* ---- kept traces in this form --------------------------------------------------------------- */

#define KEPT "data/traces/"

static const char *const kept[] = {
	KEPT "cpu-mlp.trace.gz",
	KEPT "h200-pytorch-eager.trace.gz",
	KEPT "h200-pytorch-graph.trace.gz",
	KEPT "h100-copies.trace.gz",
	KEPT "h200-predict/programs-gpu-10.trace.gz",
};

static void write_chrome(const struct profile *p)
{
	FILE *out = fopen(path, "w");

	cr_assert(ne(ptr, out, NULL), "%s", path);
	chrome_write(&p->trace, out);
	cr_assert(zero(int, fclose(out)), "%s", path);
}

/* The same bottleneck, and shares of the time from the first call to the last about the same. */
static void is_alike(const char *name, double most)
{
	struct profile own, other;

	cr_assert(zero(int, profile_make(&own, name, &rules, false)), "%s", name);
	write_chrome(&own);
	cr_assert(zero(int, profile_make(&other, path, &rules, false)), "%s", name);
	cr_expect(eq(i64, other.trace.calls, own.trace.calls), "%s: calls", name);
	cr_expect(eq(int, other.trace.is_cpu, own.trace.is_cpu), "%s: device", name);
	cr_expect(eq(i64, other.shares.kernels, own.shares.kernels), "%s: kernels", name);
	cr_assert(own.has_kind && other.has_kind, "%s", name);
	cr_expect(eq(str, (char *)program_kind_names[other.kind],
		     (char *)program_kind_names[own.kind]),
		  "%s", name);
	for (int i = 0; i < SHARE_OUTSIDE; i++) {
		double a = share_inside(&own.shares, (enum share)i);
		double b = share_inside(&other.shares, (enum share)i);

		cr_expect(lt(dbl, fabs(a - b), most), "%s: %s %g, not %g", name, share_names[i], b,
			  a);
	}
	profile_release(&own);
	profile_release(&other);
}

Test(small_kineto, a_program_in_both_forms_has_one_bottleneck)
{
	for (size_t i = 0; i < sizeof(kept) / sizeof(*kept); i++)
		is_alike(kept[i], 0.03);
}

/*
 * 50,000 kernels of 6 us, each waited for: what the recorder adds to a launch and its wait is 4
 * points there. It is taken off by a calibration, which the other form lacks.
 */
Test(small_kineto, what_a_recorder_adds_stays_without_a_calibration)
{
	is_alike(KEPT "h200-predict/programs-waits-10.trace.gz", 0.05);
}
