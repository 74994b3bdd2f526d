/* test_host_gaps_damaged.c - host_gaps of a file that is none of rift's, or damaged: one line. */
/* sanitizers: one thread */
#include "tests/test.h"
#include "common/trace/host_gaps.h"
#include "common/trace/passages.h"
#include "harness/base/json.h"
#include "tests/made_trace.h"

TestSuite(small_host_gaps_damaged, .timeout = 60);

static int read_with(const char *host_gaps)
{
	char runs[16384];
	struct made made = { 0 };
	struct trace t;
	int err;

	snprintf(runs, sizeof(runs), ",\"host_gaps\":%s", host_gaps);
	made_begin(&made, "", MADE_CALIBRATION);
	made_call(&made, "other", 1000, 2000, "");
	made.runs = runs;
	made_end(&made, 3000, 1, 3000);
	err = trace_read(&t, made.path);
	trace_release(&t);
	made_remove(&made);
	return err;
}

#define TIMES "\"ns\":1,\"median_ns\":1"
#define PAIRS(members) "{\"runs\":1,\"functions\":[\"a\",\"b\"],\"pairs\":[{" members "}]}"
#define FROM_TO "\"from\":0,\"to\":1,\"after\":false,"

Test(small_host_gaps_damaged, damaged_ones_are_refused)
{
	static const char *const damaged[] = {
		"1",
		"{\"runs\":0,\"functions\":[],\"pairs\":[]}",
		"{\"runs\":101,\"functions\":[],\"pairs\":[]}",
		"{\"runs\":1,\"functions\":{},\"pairs\":[]}",
		"{\"runs\":1,\"functions\":[]}",
		"{\"runs\":1,\"functions\":[7],\"pairs\":[]}",
		PAIRS(""),
		PAIRS(FROM_TO "\"n\":0," TIMES),
		PAIRS(FROM_TO "\"n\":1e308," TIMES),
		PAIRS(FROM_TO "\"n\":1,\"median_ns\":1,\"ns\":-1"),
		PAIRS(FROM_TO "\"n\":1,\"median_ns\":1e300,\"ns\":1"),
		"{\"runs\":1,\"functions\":[],\"pairs\":[],\"graph_waits\":{\"n\":0,\"ns\":1}}",
		"{\"runs\":1,\"functions\":[],\"pairs\":[],\"graph_waits\":{\"n\":1}}",
		"{\"runs\":1,\"functions\":[],\"pairs\":[],\"graph_waits\":{\"n\":1,\"ns\":-1}}",
		PAIRS("\"from\":0,\"after\":false,\"n\":1," TIMES),
		PAIRS("\"from\":0,\"to\":1,\"after\":\"yes\",\"n\":1," TIMES),
		PAIRS("\"from\":0,\"to\":2,\"after\":false,\"n\":1," TIMES),
		PAIRS("\"from\":-1,\"to\":1,\"after\":false,\"n\":1," TIMES),
		PAIRS("\"from\":1.5,\"to\":1,\"after\":false,\"n\":1," TIMES),
	};

	cr_assert(zero(int, read_with(PAIRS(FROM_TO "\"n\":1," TIMES))));
	for (size_t i = 0; i < sizeof(damaged) / sizeof(*damaged); i++) {
		const char *said;
		int err;

		divert_stderr();
		err = read_with(damaged[i]);
		said = diverted_stderr();
		cr_expect(eq(int, err, -EINVAL), "%s", damaged[i]);
		cr_expect(is_one_complaint(said) && tells(said, "host_gaps"), "%s: %s", damaged[i],
			  said);
	}
}

/* Tables are as large as the square of their number. */
Test(small_host_gaps_damaged, so_many_functions_are_no_program_s)
{
	char host_gaps[4000 + 4 * CALL_KINDS_MAX], *end = host_gaps;
	const char *said;
	int err;

	end += sprintf(end, "{\"runs\":1,\"pairs\":[],\"functions\":[\"a\"");
	for (int i = 0; i < CALL_KINDS_MAX; i++)
		end += sprintf(end, ",\"\"");
	sprintf(end, "]}");
	divert_stderr();
	err = read_with(host_gaps);
	said = diverted_stderr();
	cr_expect(eq(int, err, -EINVAL));
	cr_expect(is_one_complaint(said) && tells(said, "1000"), "%s", said);
}
