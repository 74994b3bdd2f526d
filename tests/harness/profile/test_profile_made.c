/*
 * test_profile_made.c - what rift says of traces that are drawn: threads, streams, graphs, events,
 * copies and waits of every kind, in steps that repeat. Nobody has looked at each number; a change
 * that was not meant shows (tests/golden.h).
 */
/* sanitizers: one thread */
#include "tests/test.h"
#include "tests/figures.h"
#include "tests/folder.h"
#include "tests/golden.h"
#include "tests/made_trace.h"

#include <criterion/parameterized.h>

TEST_FOLDER(traces);

enum { TRACES = 6, STREAMS = 4, THREADS = 2, BODY = 14, REPEATS = 7 };

/* ---- a program ----------------------------------------------------------------------------- */

static uint64_t state;

/* 0 to n - 1: the same on each machine. */
static long drawn(long n)
{
	state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (long)((state >> 33) % (uint64_t)n);
}

static struct made made;
static long host[THREADS], device[STREAMS + 1], events;

/* One call of a step: what it is, and where. */
struct line {
	int what, thread, stream;
	long gap, size;
};

static void put_op(const struct line *l, const char *kind, long from, long took, const char *more)
{
	long begin = from > device[l->stream] + 900 ? from : device[l->stream] + 900;

	made_op(&made, kind, l->stream, begin, begin + took, more);
	device[l->stream] = begin + took;
}

static long end_of_all(void)
{
	long end = 0;

	for (int i = 1; i <= STREAMS; i++)
		end = end < device[i] ? device[i] : end;
	return end;
}

/* A call of that class to t1, of the line's thread. */
static void put_call(const struct line *l, const char *class, long t0, long t1, const char *fmt,
		     ...)
{
	char more[200], all[256];
	va_list list;

	va_start(list, fmt);
	vsnprintf(more, sizeof(more), fmt, list);
	va_end(list);
	snprintf(all, sizeof(all), ",\"thread\":%d%s", l->thread, more);
	made_call(&made, class, t0, t1, all);
	host[l->thread] = t1;
}

static void put_copy(const struct line *l, long t0, bool waits)
{
	static const char *const ways[] = { "to_device", "to_host", "within" };
	static const char *const kinds[] = { "pageable", "pinned", "device" };
	char more[160], of[240];
	long took = 1200 + l->size / 20;

	snprintf(more, sizeof(more), ",\"bytes\":%ld,\"memory\":\"%s\",\"async\":%s", l->size,
		 kinds[l->size % 3], waits ? "false" : "true");
	snprintf(of, sizeof(of), "%s,\"direction\":\"%s\"", more, ways[l->what % 3]);
	put_call(l, "copy", t0, t0 + (waits ? took + 9000 : 2500), ",\"stream\":%d%s", l->stream,
		 more);
	put_op(l, "copy", t0 + 3000, took, of);
}

static void put_wait(const struct line *l, long t0)
{
	long end = l->what % 2 ? device[l->stream] : end_of_all();

	end = end > t0 ? end + 3400 : t0 + 1100;
	if (l->what % 2)
		put_call(l, "sync_stream", t0, end, ",\"stream\":%d", l->stream);
	else
		put_call(l, "sync_device", t0, end, "");
}

static void put_line(const struct line *l)
{
	long t0 = host[l->thread] + l->gap + drawn(300), took = 1500 + l->size % 900 + drawn(200);
	char more[120];

	switch (l->what) {
	case 0:
	case 1:
	case 2:
	case 3:
		put_call(l, "launch", t0, t0 + took, ",\"stream\":%d,\"name\":1", l->stream);
		snprintf(more, sizeof(more), ",\"name\":%ld,\"grid\":[%ld,1,1],\"block\":[128,1,1]",
			 1 + l->size % 2, 1 + l->size % 40);
		put_op(l, "kernel", t0 + 4000, 800 + l->size % 20000 + drawn(500), more);
		break;
	case 4:
		put_call(l, "graph_launch", t0, t0 + 3 * took, ",\"stream\":%d,\"graph\":1",
			 l->stream);
		took = 12000 + l->size % 9000;
		snprintf(more, sizeof(more), ",\"graph\":1,\"busy_ns\":%ld", took - 2000);
		put_op(l, "graph", t0 + 6000, took, more);
		break;
	case 5:
	case 6:
		put_copy(l, t0, false);
		break;
	case 7:
		put_call(l, "record", t0, t0 + 900, ",\"stream\":%d,\"event\":1,\"recording\":%ld",
			 l->stream, ++events);
		break;
	case 8:
		put_call(l, "wait_event", t0, t0 + 800,
			 ",\"stream\":%d,\"event\":1,\"recording\":%ld", l->stream, events);
		break;
	case 9:
		put_call(l, "memset", t0, t0 + 2000, ",\"stream\":%d,\"bytes\":%ld", l->stream,
			 l->size);
		put_op(l, "memset", t0 + 3000, 1500, "");
		break;
	case 10:
		put_call(l, l->size % 2 ? "alloc" : "free", t0, t0 + 5000 + l->size % 4000,
			 ",\"bytes\":%ld,\"async\":%s", l->size,
			 l->size % 4 < 2 ? "true" : "false");
		break;
	case 11:
		put_call(l, l->size % 2 ? "query" : "other", t0, t0 + 600, ",\"cpu_ns\":%ld",
			 l->gap / 2);
		break;
	default:
		put_wait(l, t0);
	}
}

/* ---- traces -------------------------------------------------------------------------------- */

static const char *const header =
	",\"device\":\"made up\",\"process_start_ns\":-200000,\"limits\":{\"max_events\":100000}";

/* Prices that scatter, and a recorder that takes its time. */
static const char scattered[] =
	"{\"n\":400,\"launch_call_ns\":[1500,2000,2600],\"launch_and_wait_ns\":[9000,10000,11500],"
	"\"gap_ns\":[800,1000,1400],\"window\":1024,\"graph_launch_ns\":[1700,250],"
	"\"recorder\":{\"call_ns\":120,\"pace_ns\":200,\"kernel_ns\":900,\"copy_pace_ns\":800,"
	"\"not_recorded_ns\":60}}";

/* Programs that did nothing, with the recorder and without it. */
static void put_empties(int recorded)
{
	char list[800] = "";
	int n = 0;

	for (int i = 0; i < recorded; i++)
		n += snprintf(list + n, sizeof(list) - (size_t)n,
			      "%s{\"wall_ns\":%d,\"own_ns\":%d,\"launch_call_ns\":%d,"
			      "\"launch_and_wait_ns\":%d,\"gap_ns\":%d}",
			      i ? "," : "", 90000 + 1500 * i, 30000 - 700 * i,
			      1900 + 90 * (i * 3 % 7), 9800 + 310 * (i * 2 % 5),
			      950 + 37 * (i % 4));
	made_row(&made,
		 "{\"record\":\"empty\",\"recorded\":[%s],"
		 "\"unprofiled_wall_ns\":[71000,64000,69500,66000]}",
		 list);
}

/* How many runs without the recorder there are, and what they took: as re-timed, or nearly. */
static const struct {
	int runs, empties;
	double wall_ns[5];
	const char *retimed;
} around[TRACES] = {
	[2] = { 2, 0, { 1390000, 1410000 }, NULL },
	[3] = { 3, 2, { 790000, 805000, 830000 }, NULL },
	[4] = { 4,
		6,
		{ 1600000, 1655000, 1640000, 1630000 },
		",\"retimed_wall_ns\":[1580000,1641000,1700000]" },
	[5] = { 5, 5, { 1120000, 1149000, 1170000, 1135000, 1160000 }, NULL },
};

static void write_trace(int number)
{
	struct line body[BODY];
	char to[128];

	state = (uint64_t)number + 1;
	events = 0;
	memset(host, 0, sizeof(host));
	memset(device, 0, sizeof(device));
	made_begin(&made, header, number > 1 ? scattered : number ? NULL : MADE_CALIBRATION);
	made_row(&made, "{\"record\":\"string\",\"id\":2,\"text\":\"axpby\"}");
	made_row(&made, "{\"record\":\"string\",\"id\":3,\"text\":\"step\"}");
	for (int i = 0; i < BODY; i++)
		body[i] = (struct line){ .what = (int)drawn(15),
					 .thread = number < 3 ? 0 : (int)drawn(THREADS),
					 .stream = 1 + (int)drawn(number < 2 ? 1 : STREAMS),
					 .gap = 200 + drawn(i % 5 ? 2000 : 30000),
					 .size = 64 + drawn(i % 3 ? 4000 : 2000000) };
	body[BODY - 1].what = 12 + number % 2;
	for (int k = 0; k < REPEATS; k++) {
		made_row(
			&made,
			"{\"record\":\"mark\",\"thread\":0,\"kind\":\"push\",\"t\":%ld,\"name\":3}",
			host[0] + 50);
		for (int i = 0; i < BODY; i++)
			put_line(&body[i]);
		made_row(&made, "{\"record\":\"mark\",\"thread\":0,\"kind\":\"pop\",\"t\":%ld}",
			 host[0] + 20);
	}
	if (around[number].empties)
		put_empties(around[number].empties);
	made.wall_ns = around[number].runs ? around[number].wall_ns : NULL;
	made.runs = around[number].retimed;
	made_end(&made, 20000 + (host[0] > host[1] ? host[0] : host[1]), around[number].runs, 0);
	snprintf(to, sizeof(to), "%s/made-%d.trace", traces, number);
	cr_assert(zero(int, rename(made.path, to)), "%s", to);
}

static void make_all(void)
{
	make_traces();
	figures_folder_make();
	for (int i = 0; i < TRACES; i++)
		write_trace(i);
	setenv("MADE", traces, 1);
}

static void remove_all(void)
{
	figures_folder_remove();
	remove_traces();
}

TestSuite(small_profile_made, .init = make_all, .fini = remove_all, .timeout = 300);

#define MADE(n) ": cp $MADE/made-" #n ".trace .", "rift profile made-" #n ".trace --json | rounded"
#define ADDED "data/traces/h200-predict/emulate-call-20"
/* A platform whose calls take 20 us more, from the bare one, and the bare one from that. */
#define SLOWER                                                                                     \
	"--on " ADDED ".jsonl.gz:b --from " ADDED ".jsonl.gz:a --costs " ADDED                     \
	".json.gz --from-costs " ADDED ".native.json.gz"
#define FASTER                                                                                     \
	"--on " ADDED ".jsonl.gz:a --from " ADDED ".jsonl.gz:b --costs " ADDED                     \
	".native.json.gz --from-costs " ADDED ".json.gz"
#define CHART(n) CHARTS("profile made-" #n ".trace --plot out")

static const struct golden_output said[] = {
	{ "profile-made-0", COMMANDS(MADE(0), CHART(0)) },
	{ "profile-made-1", COMMANDS(MADE(1), CHART(1)) },
	{ "profile-made-2",
	  COMMANDS(MADE(2), CHART(2),
		   "rift predict made-2.trace --on " KEPT
		   "launch.jsonl --what-if batch=3 --what-if merge=2 --json | rounded") },
	{ "profile-made-3", COMMANDS(MADE(3), CHART(3), "rift profile made-3.trace",
				     "rift predict made-3.trace --json " FASTER " | rounded") },
	{ "profile-made-4", COMMANDS(MADE(4), CHART(4), "rift profile made-4.trace",
				     "rift predict made-4.trace --json " SLOWER " | rounded") },
	{ "profile-made-5", COMMANDS(MADE(5), CHART(5), "rift profile made-5.trace",
				     "rift predict made-5.trace " SLOWER
				     " --what-if overlap --what-if kernels=0.5") },
};

static int places[] = { 0, 1, 2, 3, 4, 5 };

ParameterizedTestParameters(small_profile_made, traces)
{
	return cr_make_param_array(int, places, TRACES);
}

ParameterizedTest(int *place, small_profile_made, traces)
{
	golden(&said[*place], false);
}
