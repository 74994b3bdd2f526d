/*
 * test_recorder_written.c - common/recorder/writer.h: all that a trace's file has, byte for byte,
 * in tests/golden/outputs/trace-written.txt.
 */
/* sanitizers: one thread */
#include "tests/test.h"
#include "common/recorder/fold.h"
#include "common/recorder/folder.h"

#include <string.h>
#include <unistd.h>

#include "tests/golden.h"

TestSuite(small_recorder_written, .timeout = 60);

enum { START = 1000000 };

static char got[1 << 16];

/* The file, without what differs from run to run. */
static void add_file(const char *path)
{
	char *at = got + strlen(got), *from, *to;
	FILE *f = fopen(path, "r");

	cr_assert(ne(ptr, f, NULL), "%s", path);
	at[fread(at, 1, sizeof(got) - 1 - (size_t)(at - got), f)] = '\0';
	fclose(f);
	unlink(path);
	from = strstr(at, "\"program\":");
	to = strstr(at, "\"start_ns\":");
	cr_assert(lt(ptr, from, to), "%s", at);
	memmove(from, to, strlen(to) + 1);
}

/* A file of its own, which add_file() takes. */
static struct trace_writer *begin(char *path, const struct trace_header *h)
{
	struct trace_writer *w;

	strcpy(path, "/tmp/rift-written-XXXXXX");
	cr_assert(le(int, 0, close(mkstemp(path))), "%s", path);
	unlink(path);
	w = trace_writer_new(path);
	cr_assert(ne(ptr, w, NULL), "%s", path);
	trace_write_header(w, h);
	return w;
}

static struct trace_event call_of(int class, uint64_t id)
{
	return (struct trace_event){ .what = TRACE_CALL,
				     .kind = class,
				     .id = id,
				     .thread = 3,
				     .t0 = START + 10 * (int64_t)id,
				     .t1 = START + 10 * (int64_t)id + 7,
				     .cpu_ns = -1,
				     .busy_ns = -1 };
}

static struct trace_event op_of(int kind, uint64_t id)
{
	struct trace_event e = call_of(0, id);

	e.what = TRACE_OP;
	e.kind = kind;
	e.stream = 2;
	e.stream_kind = TRACE_STREAM_blocking;
	return e;
}

static void write_calls(struct trace_writer *w)
{
	for (int i = 0; i < TRACE_CLASSES; i++) {
		struct trace_event e = call_of(i, (uint64_t)i + 1);

		e.name = i % 2 ? "cudaOdd" : "cudaEven";
		e.kernel = i ? NULL : "kernel of a call";
		e.stream = (uint32_t)i % 6;
		e.stream_kind = (uint32_t)i % TRACE_STREAM_KINDS;
		e.priority = -i;
		e.event = (uint32_t)i % 3;
		e.recording = 40 + (uint64_t)i;
		e.graph = (uint32_t)i % 4;
		e.nodes = 10 * ((uint32_t)i % 3);
		e.kernels = 4;
		e.bytes = i % 5 ? UINT64_C(1) << (10 * (i % 5) + 13) : (UINT64_C(1) << 53) + 1;
		e.memory = (uint8_t)(i % TRACE_MEMORIES);
		e.is_async = i % 3 == 1;
		e.is_captured = i % 7 == 3;
		e.cpu_ns = i % 4 - 1;
		e.not_recorded = (uint32_t)i % 2;
		trace_write(w, &e);
	}
}

static void write_ops(struct trace_writer *w)
{
	for (int i = 0; i < 2 * TRACE_KINDS; i++) {
		struct trace_event e = op_of(i % TRACE_KINDS, (uint64_t)i + 1);

		e.name = i % TRACE_KINDS ? NULL : "a kernel";
		e.bytes = (uint64_t)i;
		e.memory = (uint8_t)(i % TRACE_MEMORIES);
		e.direction = (uint8_t)(i % TRACE_DIRECTIONS);
		e.is_async = i % 2;
		e.graph = i % TRACE_KINDS == TRACE_KIND_graph ? 9 : 0;
		e.busy_ns = i - 3;
		for (int k = 0; k < 3; k++) {
			e.grid[k] = (uint32_t)(10 * i + k + 1);
			e.block[k] = (uint32_t)(20 * i + k + 1);
		}
		e.shared = 100 + (uint32_t)i;
		e.registers = (uint32_t)i;
		trace_write(w, &e);
	}
}

static void write_marks(struct trace_writer *w)
{
	for (int i = 0; i < TRACE_MARKS; i++) {
		struct trace_event e = call_of(0, (uint64_t)i + 50);

		e.what = TRACE_MARK;
		e.kind = i;
		e.name = i ? NULL : "a range";
		trace_write(w, &e);
	}
}

static struct trace_distribution values(struct trace_bin *bin, size_t n)
{
	for (size_t i = 0; i < n; i++)
		bin[i] = (struct trace_bin){ (uint32_t)i, i + 2, 100 * (int64_t)(i + 1) + 1 };
	return (struct trace_distribution){ bin, n, n };
}

static void write_fold(struct trace_writer *w)
{
	static struct trace_bin one[1], two[2], three[3];
	struct trace_step step[2] = {
		{ .call = call_of(TRACE_CLASS_launch, 1), .op = op_of(TRACE_KIND_kernel, 1) },
		{ .call = call_of(TRACE_CLASS_sync_event, 2) },
	};
	struct trace_fold fold = { step, 2, 5, START + 300, START + 900 };

	step[0].call.has_op = true;
	step[0].call.name = "cudaLaunchKernel";
	step[0].op.name = "another kernel";
	step[0].op.stream = 77;
	step[0].gap = values(one, 1);
	step[0].took = values(two, 2);
	step[0].cpu = values(three, 3);
	step[0].op_took = step[0].op_behind = step[0].op_busy = values(one, 1);
	step[0].op_lag = values(two, 2);
	step[0].not_recorded = 6;
	step[1].call.event = 4;
	step[1].call.recording = 8;
	step[1].recording_step = 2;
	step[1].gap = step[1].took = values(two, 2);
	trace_write_fold(w, &fold);
}

Test(small_recorder_written, every_row)
{
	static const struct trace_calibration c = { .launch_call = { 1, 2, 3, 50 },
						    .launch_and_wait = { 4, 5, 6, 50 },
						    .gap = { 7, 8, 9, 0 },
						    .window = 1022,
						    .call_ns = 11,
						    .pace_ns = 12,
						    .kernel_ns = 13,
						    .copy_pace_ns = 14,
						    .not_recorded_ns = 15,
						    .has_graphs = true,
						    .graph_launch_ns = 16,
						    .graph_node_ns = 17 };
	struct trace_header h = { .recorder = "calls",
				  .device = "a \"device\" \\ of\t one",
				  .runtime = 13000,
				  .driver = 0,
				  .cupti = 26,
				  .start_ns = START,
				  .process_start_ns = START - 500,
				  .delay_ns = 21,
				  .duration_ns = 22,
				  .max_events = 23,
				  .range = "step",
				  .calibration = &c };
	struct trace_writer *w;
	char path[64];

	w = begin(path, &h);
	trace_write_thread(w, 3, 99, "main");
	write_calls(w);
	write_ops(w);
	write_marks(w);
	write_fold(w);
	trace_write_own(w, 3, START - 20, START + 30);
	cr_expect(eq(i64, trace_rows(w), TRACE_CLASSES + 2 * TRACE_KINDS + TRACE_MARKS + 2),
		  "rows");
	trace_write_end(w, START + 1, 2, 3, 4, 5, "limit");
	trace_write_no_end(w);
	trace_write_end(w, START + 2000, 2, 3, 4, 0, "exit");
	trace_writer_free(w);
	add_file(path);

	h = (struct trace_header){ .recorder = "cupti",
				   .device = "none",
				   .is_anonymous = true,
				   .has_no_times = true,
				   .range = "step" };
	w = begin(path, &h);
	trace_write_thread(w, 3, 99, "main");
	write_ops(w);
	write_marks(w);
	trace_writer_free(w);
	add_file(path);
	golden_text("trace-written", got);
}

/* Each character of so many bytes, and what is none: its bytes become question marks. */
Test(small_recorder_written, characters)
{
	static const char *const texts[] = {
		"\x7f|\x80|\xc1\xbf|\xc2\x80|\xdf\xbf|\xc2\x7f|\xc2\xc0|\xc2",
		"\xe0\x9f\xbf|\xe0\xa0\x80|\xed\x9f\xbf|\xed\xa0\x80|\xee\x80\x80|\xef\xbf\xbf|"
		"\xe1\x80",
		"\xf0\x8f\xbf\xbf|\xf0\x90\x80\x80|\xf3\xbf\xbf\xbf|\xf4\x8f\xbf\xbf|"
		"\xf4\x90\x80\x80",
		"\xf5\x80\x80\x80|\xf0\x90\x80|\xff\xfe|\x01\x1f \"\\",
	};
	struct trace_header h = { .recorder = "calls", .device = "none" };
	char path[64];
	struct trace_writer *w = begin(path, &h);

	for (uint32_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		trace_write_thread(w, i, 7, texts[i]);
	trace_writer_free(w);
	add_file(path);
	golden_text("trace-characters", got);
}

/* ---- what repeats -------------------------------------------------------------------------- */

static uint64_t state = 7;

/* 0 to n - 1: the same on each machine. */
static int64_t drawn(int64_t n)
{
	state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (int64_t)((state >> 33) % (uint64_t)n);
}

/* Of a period of 5 calls the one at `place`, and what it gave the device. */
static void take_call(struct trace_folder *f, uint64_t id, int place, int64_t *now, int64_t *end)
{
	static const int classes[] = { TRACE_CLASS_launch, TRACE_CLASS_copy,
				       TRACE_CLASS_graph_launch, TRACE_CLASS_record,
				       TRACE_CLASS_sync_event };
	static const int kinds[] = { TRACE_KIND_kernel, TRACE_KIND_copy, TRACE_KIND_graph };
	struct trace_event e = call_of(classes[place], id), op;

	*now += 50 + drawn(place == 4 ? 60000 : 300);
	e.t0 = *now;
	*now += 1000 + drawn(400);
	e.t1 = *now;
	e.cpu_ns = drawn(3) ? -1 : 100 + drawn(100);
	e.not_recorded = (uint32_t)(drawn(9) == 0);
	e.name = place % 2 ? "cudaOdd" : "cudaEven";
	e.stream = 2;
	e.stream_kind = TRACE_STREAM_blocking;
	e.event = place > 2;
	e.recording = id / 5;
	e.has_op = place < 3;
	trace_folder_take(f, &e);
	if (!e.has_op)
		return;
	op = op_of(kinds[place], id);
	op.t0 = *end > e.t0 + 2000 ? *end + 900 + drawn(50) : e.t0 + 2000 + drawn(500);
	op.t1 = *end = op.t0 + 700 + drawn(5000);
	op.bytes = place == 1 ? 4096 : 0;
	op.direction = place == 1 ? TRACE_DIRECTION_to_host : TRACE_DIRECTION_none;
	op.graph = place == 2;
	op.nodes = op.kernels = 3;
	op.busy_ns = place == 2 ? op.t1 - op.t0 - 100 : -1;
	for (uint32_t i = 0; i < 3 && place == 0; i++)
		op.grid[i] = i + 1, op.block[i] = 32 >> i;
	trace_folder_take(f, &op);
}

/* A period that is whole each time but the tenth and the last, and rows between. */
Test(small_recorder_written, what_repeats)
{
	struct trace_header h = { .recorder = "cupti", .device = "none", .start_ns = START };
	char path[64];
	struct trace_writer *w = begin(path, &h);
	struct trace_folder *f = trace_folder_new(w, true);
	int64_t now = START, end = START;
	uint64_t id = 0;

	trace_write_thread(w, 3, 99, "main");
	for (int k = 0; k < 60; k++) {
		for (int place = 0; place < (k == 10 || k == 59 ? 3 : 5); place++)
			take_call(f, ++id, place, &now, &end);
		if (k % 20 == 19)
			trace_folder_advance(f);
		if (k == 30)
			take_call(f, ++id, 4, &now, &end);
	}
	trace_folder_advance(f);
	trace_folder_flush(f);
	trace_write_end(w, now, trace_folder_calls(f), trace_folder_ops(f), 0, 0, "exit");
	trace_folder_free(f);
	trace_writer_free(w);
	add_file(path);
	golden_text("trace-folded", got);
}
