/*
 * test_recorder_calibration.c - common/recorder/calibration.h: what calls and kernels cost, of
 * events that are written down.
 */
/* sanitizers: one thread */
#include "tests/test.h"
#include "common/recorder/calibration.h"

TestSuite(small_recorder_calibration, .timeout = 60);

/* n values from 1000 on, from the largest down, of which the i-th smallest is 1000 + i. */
static void are_percentiles(int n, int p5, int p50, int p95)
{
	static int64_t value[1000];
	struct trace_spread s;

	for (int i = 0; i < n; i++)
		value[i] = 1000 + n - 1 - i;
	s = trace_spread_of(value, n);
	cr_expect(eq(i64, s.p05, 1000 + p5), "%d values", n);
	cr_expect(eq(i64, s.p50, 1000 + p50), "%d values", n);
	cr_expect(eq(i64, s.p95, 1000 + p95), "%d values", n);
	cr_expect(eq(int, s.n, n));
}

Test(small_recorder_calibration, percentiles)
{
	int64_t none = 5;

	are_percentiles(1, 0, 0, 0);
	are_percentiles(2, 0, 1, 1);
	are_percentiles(3, 0, 1, 2);
	are_percentiles(99, 4, 49, 94);
	are_percentiles(100, 5, 50, 95);
	are_percentiles(198, 9, 99, 188);
	cr_expect(zero(int, trace_spread_of(&none, 0).n), "none");
	cr_expect(eq(i64, none, 5), "nor is it looked at");
}

static struct calibration *c;

static void call(int class, int64_t t0, int64_t t1)
{
	calibration_take(
		&(struct trace_event){ .what = TRACE_CALL, .kind = class, .t0 = t0, .t1 = t1 }, c);
}

static void op(int kind, int64_t t0, int64_t t1)
{
	calibration_take(
		&(struct trace_event){ .what = TRACE_OP, .kind = kind, .t0 = t0, .t1 = t1 }, c);
}

/* Two launches in a row, then one that is waited for; a launch before another call says nothing. */
Test(small_recorder_calibration, calls)
{
	struct trace_calibration out;

	c = calibration_new();
	call(TRACE_CLASS_launch, 100, 130);
	call(TRACE_CLASS_launch, 150, 190);
	call(TRACE_CLASS_sync_stream, 200, 500);
	call(TRACE_CLASS_launch, 600, 610);
	call(TRACE_CLASS_record, 620, 630);
	call(TRACE_CLASS_sync_stream, 640, 690);
	calibration_result(c, &out);
	cr_expect(eq(int, out.launch_call.n, 1), "the first of a row");
	cr_expect(eq(i64, out.launch_call.p50, 30), "launch");
	cr_expect(eq(i64, out.call_ns, 20), "between them");
	cr_expect(eq(int, out.launch_and_wait.n, 1), "one is waited for");
	cr_expect(eq(i64, out.launch_and_wait.p50, 350), "from its call to the end of the wait");
	cr_expect(zero(int, out.gap.n), "no kernel");
	cr_expect(zero(i64, calibration_kernel_ns(c)), "no kernel");
	calibration_free(c);
}

/* Kernels that wait for the first and the third host function; between others a gap is no gap. */
Test(small_recorder_calibration, gaps)
{
	struct trace_calibration out;

	c = calibration_new();
	op(TRACE_KIND_kernel, 0, 10);
	op(TRACE_KIND_kernel, 15, 25);
	op(TRACE_KIND_hostfunc, 30, 40);
	op(TRACE_KIND_kernel, 50, 62);
	op(TRACE_KIND_kernel, 65, 79);
	op(TRACE_KIND_kernel, 83, 99);
	op(TRACE_KIND_hostfunc, 110, 120);
	op(TRACE_KIND_kernel, 130, 148);
	op(TRACE_KIND_kernel, 200, 220);
	calibration_result(c, &out);
	cr_expect(eq(int, out.gap.n, 2), "of three kernels in a row");
	cr_expect(eq(i64, out.gap.p05, 3), "the shorter");
	cr_expect(eq(i64, out.gap.p95, 4), "the longer");
	cr_expect(eq(i64, calibration_kernel_ns(c), 14), "the median of all");
	calibration_free(c);
}

/* What there is no room for is left out. */
Test(small_recorder_calibration, more_than_there_is_room_for)
{
	enum { ROOM = 4096 };
	struct trace_calibration out;

	c = calibration_new();
	for (int i = 0; i < ROOM + 10; i++)
		call(TRACE_CLASS_launch, 100 * i, 100 * i + 30);
	calibration_result(c, &out);
	cr_expect(eq(int, out.launch_call.n, ROOM));
	cr_expect(eq(i64, out.launch_call.p95, 30), "each");
	calibration_free(c);
}
