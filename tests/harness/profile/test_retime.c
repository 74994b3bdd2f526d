/*
 * test_retime.c - harness/profile: traces whose times follow from the prices exactly are the same
 * when they are re-timed, and their shares are known to the ns.
 */
/* sanitizers: one thread */
#include "tests/test.h"
#include "harness/profile/profile.h"
#include "tests/made_trace.h"

TestSuite(small_retime, .timeout = 60);

static const struct kind_rules rules = KIND_DEFAULTS;
static struct made made;
static struct profile profile;

static void begin(void)
{
	made_begin(&made, "", MADE_CALIBRATION);
}

/* Analysed; all that was recorded is as re-timed, and shares add up. */
static const struct shares *analysed(void)
{
	const struct trace *t = &profile.trace;
	double sum = 0;

	cr_assert(zero(int, profile_make(&profile, made.path, &rules, true)), "%s", made.path);
	for (int64_t i = 0; i < t->calls; i++) {
		cr_assert(eq(dbl, profile.times.call[i].t0, (double)t->call[i].t0), "call %ld", i);
		cr_assert(eq(dbl, profile.times.call[i].t1, (double)t->call[i].t1), "call %ld", i);
	}
	for (int64_t i = 0; i < t->ops; i++) {
		cr_assert(eq(dbl, profile.times.op[i].t0, (double)t->op[i].t0), "op %ld", i);
		cr_assert(eq(dbl, profile.times.op[i].t1, (double)t->op[i].t1), "op %ld", i);
	}
	for (int i = 0; i < SHARES; i++)
		sum += profile.shares.ns[i];
	cr_assert(epsilon_eq(dbl, sum, profile.shares.total_ns, 1e-6), "shares of all");
	made_remove(&made);
	return &profile.shares;
}

static void is(enum share share, double ns)
{
	cr_expect(eq(dbl, profile.shares.ns[share], ns), "%s", share_names[share]);
}

static void is_kind(enum program_kind kind)
{
	cr_expect(eq(int, (int)profile.kind, (int)kind), "%s", program_kind_names[profile.kind]);
	profile_release(&profile);
}

static void costs(enum sensitivity_cost cost, double ns)
{
	cr_expect(epsilon_eq(dbl, profile.cost_ns[cost], ns, 1e-6), "%s", profile_cost_names[cost]);
}

/* ---- the four patterns, and the others of the table ---------------------------------------- */

enum { N = 100 };

/* Launches one after the other, kernels of kernel_ns, a synchronize. */
static long batch(long kernel_ns)
{
	long end = 0, last = N * MADE_C;

	for (long i = 0; i < N; i++) {
		long told = (i + 1) * MADE_C + MADE_L, free = end + MADE_G;
		long start = i && free > told ? free : told;

		made_kernel(&made, 2, i * MADE_C, start, start + kernel_ns);
		end = start + kernel_ns;
	}
	made_call(&made, "sync_device", last, end + MADE_WAKE, "");
	made_end(&made, end + MADE_WAKE, 0, 0);
	return end + MADE_WAKE;
}

/* What is outside does not count for the kind. */
Test(small_retime, a_slow_start_is_of_no_kind)
{
	made_begin(&made, ",\"process_start_ns\":-50000000", MADE_CALIBRATION);
	batch(50000);
	analysed();
	is(SHARE_OUTSIDE, 50000000);
	is(SHARE_HOST, 0);
	is_kind(KIND_GPU);
}

Test(small_retime, gpu_compute_bound)
{
	long wall;

	begin();
	wall = batch(50000);
	cr_expect(eq(dbl, analysed()->total_ns, (double)wall), "wall");
	is(SHARE_KERNELS, N * 50000);
	is(SHARE_GAPS, (N - 1) * MADE_G);
	is(SHARE_API, MADE_C + MADE_L);
	is(SHARE_SYNC, MADE_WAKE);
	costs(COST_LAUNCH, 1000); /* the first one's; the others are hidden */
	costs(COST_GAP, (N - 1) * 1000);
	costs(COST_SYNC, 1000);
	is_kind(KIND_GPU);
}

Test(small_retime, api_bound)
{
	begin();
	batch(500);
	analysed();
	is(SHARE_KERNELS, N * 500);
	is(SHARE_API, MADE_C + MADE_L + (N - 1) * (MADE_C - 500));
	is(SHARE_SYNC, MADE_WAKE);
	costs(COST_LAUNCH, N * 1000);
	costs(COST_GAP, (N - 1) * 500); /* 2000 of gap, where 1500 are idle */
	is_kind(KIND_API);
}

Test(small_retime, gap_bound)
{
	begin();
	batch(2500);
	analysed();
	is(SHARE_KERNELS, N * 2500);
	is(SHARE_GAPS, (N - 1) * MADE_G);
	is_kind(KIND_GAP);
}

Test(small_retime, synchronization_bound)
{
	enum { K = 5000, STEP = MADE_C + MADE_L + K + MADE_WAKE };

	begin();
	for (long i = 0; i < N; i++) {
		long told = i * STEP + MADE_C, start = told + MADE_L;

		made_kernel(&made, 2, i * STEP, start, start + K);
		made_call(&made, "sync_stream", told, start + K + MADE_WAKE, ",\"stream\":2");
	}
	made_end(&made, N * STEP, 0, 0);
	analysed();
	is(SHARE_KERNELS, N * K);
	is(SHARE_API, MADE_C + MADE_L); /* nothing was there to wait for before the first */
	is(SHARE_SYNC, N * MADE_WAKE + (N - 1) * (MADE_C + MADE_L));
	costs(COST_LAUNCH, N * 1000);
	costs(COST_SYNC, N * 1000);
	cr_expect(eq(dbl, profile.shares.kernels_per_sync, 1), "one each");
	is_kind(KIND_SYNC);
}

Test(small_retime, cpu_compute_bound)
{
	enum { K = 5000, HOST = 40000, STEP = HOST + MADE_C };

	begin();
	for (long i = 0; i < N; i++) {
		long told = (i + 1) * STEP;

		made_kernel(&made, 2, i * STEP + HOST, told + MADE_L, told + MADE_L + K);
	}
	made_end(&made, N * STEP + 10000, 0, 0);
	analysed();
	is(SHARE_KERNELS, N * K);
	is(SHARE_API, N * MADE_C + MADE_L);
	is(SHARE_HOST, (N - 1) * (HOST - K));
	is(SHARE_OUTSIDE, HOST + 10000 - MADE_L - K);
	is_kind(KIND_CPU);
}

Test(small_retime, transfer_bound)
{
	enum { COPY = 60000, K = 5000, LEAD = 4000, TAIL = 3000, STEP = 80000 };

	begin();
	for (long i = 0; i < N; i++) {
		long at = i * STEP, end = at + LEAD + COPY + TAIL;

		made_call(&made, "copy", at, end, ",\"bytes\":1000000,\"memory\":\"pageable\"");
		made_op(&made, "copy", 2, at + LEAD, end - TAIL,
			",\"direction\":\"to_device\",\"memory\":\"pageable\",\"bytes\":1000000");
		made_kernel(&made, 2, end, end + MADE_C + MADE_L, end + MADE_C + MADE_L + K);
	}
	made_end(&made, N * STEP, 0, 0);
	analysed();
	is(SHARE_COPIES, N * COPY);
	is(SHARE_KERNELS, N * K);
	costs(COST_COPY, N * 1000);
	cr_expect(eq(dbl, profile.shares.pageable_ns, N * COPY), "all are of pageable memory");
	is_kind(KIND_TRANSFER);
}

Test(small_retime, allocation_bound)
{
	enum { ALLOC = 30000, K = 10000, FREE = 5000, STEP = ALLOC + MADE_C + MADE_L + K + FREE };

	begin();
	for (long i = 0; i < N; i++) {
		long at = i * STEP, told = at + ALLOC + MADE_C;

		made_call(&made, "alloc", at, at + ALLOC, ",\"bytes\":4096");
		made_kernel(&made, 2, at + ALLOC, told + MADE_L, told + MADE_L + K);
		made_call(&made, "free", told, at + STEP, ""); /* waits for the kernel */
	}
	made_end(&made, N * STEP, 0, 0);
	analysed();
	is(SHARE_KERNELS, N * K);
	costs(COST_LAUNCH, N * 1000);
	is_kind(KIND_MEMORY);
}

/* ---- streams ------------------------------------------------------------------------------ */

static void an_event_orders(int event)
{
	char of[3][64];

	for (int i = 0; i < 2; i++)
		snprintf(of[i], sizeof(of[i]), ",\"stream\":%d,\"event\":%d,\"recording\":1", 2 + i,
			 event);
	snprintf(of[2], sizeof(of[2]), ",\"event\":%d", event);
	begin();
	made_kernel(&made, 2, 0, 5500, 25500);
	made_call(&made, "record", 2000, 2300, of[0]);
	made_call(&made, "wait_event", 2300, 2600, of[1]);
	made_kernel(&made, 3, 2600, 26500, 30000); /* 25500 + g */
	made_kernel(&made, 4, 4600, 10100, 20000); /* beside the first */
	made_call(&made, "sync_event", 6600, 29000, of[2]);
	made_call(&made, "sync_stream", 29000, 33500, ",\"stream\":3");
	made_end(&made, 33500, 0, 0);
	analysed();
	is(SHARE_KERNELS, 25500 - 5500 + 3500);
	is(SHARE_GAPS, 1000);
	cr_expect(eq(dbl, profile.shares.overlapped_ns, 9900), "two at once");
	profile_release(&profile);
}

/* Events are numbered from 0. */
Test(small_retime, events_between_streams)
{
	an_event_orders(9);
	an_event_orders(0);
}

Test(small_retime, legacy_stream_waits_for_blocking_ones)
{
	begin();
	made_kernel(&made, 2, 0, 5500, 25500);
	made_kernel(&made, 4, 2000, 7500, 90000);  /* non-blocking: nobody waits for it */
	made_kernel(&made, 1, 4000, 25500, 30000); /* behind stream 2 */
	made_kernel(&made, 3, 6000, 30000, 40000); /* behind the legacy stream */
	made_call(&made, "sync_stream", 8000, 43500, ",\"stream\":3");
	made_end(&made, 100000, 0, 0);
	analysed();
	is(SHARE_KERNELS, 84500);
	profile_release(&profile);
}

/*
 * Copies have engines of their own: 2600 ns from a kernel to a copy and back, none between copies.
 * What an event of another stream is waited for with is g behind that.
 */
Test(small_retime, queued_operations_of_two_kinds)
{
	static const char copy[] = ",\"direction\":\"to_host\",\"bytes\":100,\"async\":true";
	const int to_host = OP_KINDS + COPY_TO_HOST;
	long t = 5500, t0 = 0;
	struct call_prices prices;

	begin();
	for (int i = 0; i < 8; i++) {
		made_kernel(&made, 2, t0, t, t + 90000);
		t += 90000 + 2600;
		made_call(&made, "copy", t0 + 2000, t0 + 3000, ",\"async\":true");
		made_op(&made, "copy", 2, t, t + 4000, copy);
		made_call(&made, "copy", t0 + 3000, t0 + 4000, ",\"async\":true");
		made_op(&made, "copy", 2, t + 4000, t + 9000, copy);
		t += 9000 + 2600;
		t0 += 4000;
	}
	made_kernel(&made, 4, t0, t0 + 5500, t);
	made_call(&made, "record", t0 + 2000, t0 + 2000, ",\"stream\":4,\"event\":1");
	made_call(&made, "wait_event", t0 + 2000, t0 + 2000, ",\"stream\":2,\"event\":1");
	made_kernel(&made, 2, t0 + 2000, t + MADE_G, t + 5000);
	made_call(&made, "wait_event", t0 + 4000, t0 + 4000, ",\"stream\":2,\"event\":1");
	made_call(&made, "copy", t0 + 4000, t0 + 5000, ",\"async\":true"); /* the event is over */
	made_op(&made, "copy", 2, t + 5000 + 2600, t + 9000, copy);
	made_call(&made, "sync_device", t0 + 5000, t + 9000 + MADE_WAKE, "");
	made_end(&made, t + 9000 + MADE_WAKE, 0, 0);
	analysed();
	cr_expect(eq(dbl, profile.steps.queue_ns[OP_KERNEL][to_host], 1600), "to copy");
	cr_expect(eq(dbl, profile.steps.queue_ns[to_host][OP_KERNEL], 1600), "back");
	cr_expect(eq(dbl, profile.steps.queue_ns[to_host][to_host], -MADE_G), "copies");
	cr_expect(zero(dbl, profile.steps.queue_ns[OP_KERNEL][OP_KERNEL]), "kernels: g itself");
	cr_expect(zero(dbl, profile.steps.queue_ns[OP_MEMSET][OP_KERNEL]), "there was none");
	prices = profile.prices;
	/* the eighth pair of copies ends 23 gaps later, behind the event; then come two gaps more
	 */
	prices.gap_ns += 500;
	cr_expect(eq(dbl, retimed_ns(&profile.steps, &prices),
		     (double)(t - 2600 + 25 * 500 + 2600 + 4000 + 2600 + 1400 + MADE_WAKE)),
		  "a gap more");
	profile_release(&profile);
}

/* How far a memset is behind an operation of that kind in what was made, beyond g. */
static double memset_behind(long end, enum op_kind kind)
{
	double ns;

	made_end(&made, end, 0, 0);
	cr_assert(zero(int, profile_make(&profile, made.path, &rules, true)), "%s", made.path);
	ns = profile.steps.queue_ns[kind][OP_MEMSET];
	profile_release(&profile);
	made_remove(&made);
	return ns;
}

/* A kernel of 50 us and a memset 10 us behind it, so often, and what comes between. */
static double beyond(int times, void (*between)(long t0))
{
	begin();
	for (long i = 0; i < times; i++) {
		long t0 = 100000 * i;

		made_kernel(&made, 2, t0, t0 + 5500, t0 + 55500);
		if (between)
			between(t0 + 2000);
		made_call(&made, "memset", t0 + 5000, t0 + 6000, "");
		made_op(&made, "memset", 2, t0 + 65500, t0 + 66500, "");
		made_call(&made, "sync_device", t0 + 6000, t0 + 70000, "");
	}
	return memset_behind(100000 * times, OP_KERNEL);
}

static void another_stream(long t0)
{
	made_kernel(&made, 4, t0, t0 + 3500, t0 + 63500);
}

static void event(long t0)
{
	made_call(&made, "wait_event", t0, t0 + 100, ",\"stream\":2,\"event\":1");
}

/* Fewer than five say nothing, and what may have waited for another stream does not either. */
Test(small_retime, gaps_that_say_nothing_of_a_pair)
{
	cr_expect(eq(dbl, beyond(5, NULL), 10000 - MADE_G), "five");
	cr_expect(zero(dbl, beyond(4, NULL)), "four");
	cr_expect(zero(dbl, beyond(5, another_stream)), "another stream");
	cr_expect(zero(dbl, beyond(5, event)), "an event");
}

/* Nine times a kernel and a memset in 54 us, and what the fold says of the memset besides. */
static void made_fold(long t0, long kernel_ns, const char *memset)
{
	made_row(&made,
		 "{\"record\":\"fold\",\"times\":9,\"t0\":%ld,\"t1\":%ld,\"body\":["
		 "{\"record\":\"call\",\"thread\":0,\"class\":\"launch\",\"gap_ns\":[[1000,9]],"
		 "\"took_ns\":[[2000,9]],\"op\":{\"record\":\"op\",\"kind\":\"kernel\","
		 "\"stream\":2,\"took_ns\":[[%ld,9]],\"lag_ns\":[[2500,9]]}},"
		 "{\"record\":\"call\",\"thread\":0,\"class\":\"memset\",\"gap_ns\":[[100,9]],"
		 "\"took_ns\":[[100,9]],\"op\":{\"record\":\"op\",\"kind\":\"memset\","
		 "\"stream\":2,\"took_ns\":[[1000,9]]%s}}]}",
		 t0, t0 + 54000, kernel_ns, memset);
	made.calls += 18;
	made.ops += 18;
}

/*
 * A fold of before 2026-11-28 does not have it: operations stand end to end, or where the least lag
 * puts them, which is not known. kernel_ns decides which. Behind a fold a row's place is not known,
 * either.
 */
static double without(long kernel_ns, enum op_kind kind)
{
	begin();
	for (long t0 = 0; t0 < 6 * 600000; t0 += 600000) {
		made_fold(t0, kernel_ns, ",\"lag_ns\":[[2500,9]]");
		made_call(&made, "memset", t0 + 54000, t0 + 54001, "");
		made_op(&made, "memset", 2, t0 + 590000, t0 + 591000, "");
	}
	return memset_behind(6 * 600000, kind);
}

Test(small_retime, folds_without_what_is_between_operations)
{
	for (long kernel_ns = 1500; kernel_ns <= 50000; kernel_ns += 48500) {
		cr_expect(zero(dbl, without(kernel_ns, OP_KERNEL)), "%ld", kernel_ns);
		cr_expect(zero(dbl, without(kernel_ns, OP_MEMSET)), "%ld", kernel_ns);
	}
}

/* What is between a kernel and a memset in a fold, where it is there. */
Test(small_retime, folds_with_what_is_between_operations)
{
	begin();
	made_fold(0, 50000, ",\"lag_ns\":[[50000,9]],\"behind_ns\":[[3400,7],[9000,2]]");
	cr_expect(eq(dbl, memset_behind(600000, OP_KERNEL), 3400 - MADE_G), "median");
}

/* What the recorder of a GPU says that it adds. */
static void begin_added(void)
{
	made_begin(
		&made, "",
		"{\"launch_call_ns\":[2000,2000,2000],\"launch_and_wait_ns\":[10000,10000,10000],"
		"\"gap_ns\":[1000,1000,1000],\"recorder\":{\"call_ns\":100,\"pace_ns\":200,"
		"\"kernel_ns\":1000,\"copy_pace_ns\":2000,\"not_recorded_ns\":150}}");
}

Test(small_retime, calls_without_rows_have_a_part_of_the_gap)
{
	begin_added();
	made_call(&made, "query", 0, 100, ",\"not_recorded\":2");
	made_call(&made, "query", 5100, 5200, ",\"not_recorded\":6");
	made_call(&made, "query", 5700, 5800, ",\"not_recorded\":6");
	made_end(&made, 6000, 0, 0);
	cr_assert(zero(int, profile_make(&profile, made.path, &rules, true)), "%s", made.path);
	cr_expect(eq(dbl, profile.steps.step[1].gap_ns, 5000 - 100 - 6 * 150), "each 150 ns");
	cr_expect(zero(dbl, profile.steps.step[2].gap_ns), "never less than nothing");
	profile_release(&profile);
	made_remove(&made);
}

/* A call a letter, of thread A or B, 600 ns apart and 400 ns long, as rows or three times in a
 * fold. */
static void made_turns(const char *threads, bool folded)
{
	long n = (long)strlen(threads), times = folded ? 3 : 1;

	begin_added();
	if (folded)
		fprintf(made.out, "{\"record\":\"fold\",\"times\":3,\"t0\":0,\"t1\":%ld,\"body\":[",
			3000 * n);
	for (long i = 0; i < n; i++)
		if (folded)
			fprintf(made.out,
				"%s{\"record\":\"call\",\"thread\":%d,\"class\":\"query\","
				"\"gap_ns\":[[600,3]],\"took_ns\":[[400,3]]}",
				i ? "," : "", threads[i] == 'B');
		else
			made_call(&made, "query", 1000 * i + 600, 1000 * (i + 1),
				  threads[i] == 'B' ? ",\"thread\":1" : "");
	if (folded)
		made_row(&made, "]}");
	made.calls = n * times;
	made_end(&made, 1000 * n * times, 0, 0);
	cr_assert(zero(int, profile_make(&profile, made.path, &rules, true)), "%s", made.path);
	made_remove(&made);
}

static void waits(const char *threads, bool folded, int64_t n)
{
	made_turns(threads, folded);
	cr_expect(eq(i64, profile.steps.inferred, n), "%s, folded: %d", threads, folded);
	profile_release(&profile);
}

/* The second thread's first turn is its beginning. What the recorder adds is in no wait. */
Test(small_retime, threads_that_take_turns_wait_for_each_other)
{
	made_turns("AAABBB", true);
	cr_expect(eq(i64, profile.steps.inferred, 5), "each change of thread");
	for (int turn = 1; turn < 6; turn++) {
		const struct step *step = &profile.steps.step[3 * turn];

		cr_expect(eq(i64, step->after, 3 * turn - 1), "turn %d", turn);
		cr_expect(eq(dbl, step->after_ns, turn == 1 ? 600 : 500), "turn %d", turn);
		cr_expect(zero(dbl, step->gap_ns), "turn %d", turn);
	}
	profile_release(&profile);
	waits("AABB", true, 1);		       /* two calls are no turn */
	waits("AAABBBABBB", true, 2 + 3);      /* nor is one, before or behind */
	waits("AAABBBAAABBBAAABBB", false, 1); /* of rows it is not known */
}

/* Behind a kernel of 90 us, queued, each so far behind the one before; returns where the last ends.
 */
static long queued(long t0, const char *kind, const char *more, long start)
{
	made_call(&made, kind, t0, t0 + 100, strcmp(kind, "copy") ? "" : ",\"async\":true");
	made_op(&made, kind, 2, start, start + 1000, more);
	return start + 1000;
}

Test(small_retime, what_the_recorder_adds_between_operations)
{
	static const char up[] = ",\"direction\":\"to_device\",\"bytes\":9,\"async\":true";
	static const char down[] = ",\"direction\":\"to_host\",\"bytes\":9,\"async\":true";
	static const char within[] = ",\"direction\":\"within\",\"bytes\":9,\"async\":true";
	enum { UP = OP_KINDS + COPY_TO_DEVICE, DOWN = OP_KINDS + COPY_TO_HOST };
	enum { WITHIN = OP_KINDS + COPY_WITHIN };
	const double(*ns)[QUEUE_KINDS] = profile.steps.queue_ns;

	begin_added();
	for (long i = 0; i < 5; i++) {
		long t = 200000 * i, end = t + 95000;

		made_kernel(&made, 2, t, t + 5000, end);
		end = queued(t + 3000, "copy", up, end + 5000);
		end = queued(t + 3100, "copy", up, end + 1500);
		end = queued(t + 3200, "copy", down, end + 4000);
		end = queued(t + 3300, "memset", "", end + 6000);
		end = queued(t + 3400, "copy", within, end + 900);
		made_call(&made, "sync_device", t + 4000, end + 3000, "");
	}
	made_end(&made, 1000000, 0, 0);
	cr_assert(zero(int, profile_make(&profile, made.path, &rules, true)), "%s", made.path);
	cr_expect(eq(dbl, ns[OP_KERNEL][UP], 3000 - MADE_G), "an engine begins");
	cr_expect(eq(dbl, ns[UP][UP], 0 - MADE_G), "never less than nothing");
	cr_expect(eq(dbl, ns[UP][DOWN], 4000 - MADE_G), "not known of two engines");
	cr_expect(eq(dbl, ns[DOWN][OP_MEMSET], 4000 - MADE_G), "an engine ends");
	cr_expect(eq(dbl, ns[OP_MEMSET][WITHIN], 700 - MADE_G), "no engine");
	profile_release(&profile);
	made_remove(&made);
}

Test(small_retime, copies_of_one_direction_queue)
{
	static const char copy[] = ",\"direction\":\"to_device\",\"bytes\":100,\"async\":true";

	begin();
	for (int i = 0; i < 3; i++) {
		made_call(&made, "copy", 1000 * i, 1000 * (i + 1), ",\"async\":true");
		made_op(&made, "copy", 2 + i, 3000 + 10000 * i, 13000 + 10000 * i, copy);
	}
	made_call(&made, "sync_device", 3000, 36500, "");
	made_end(&made, 36500, 0, 0);
	analysed();
	is(SHARE_COPIES, 30000);
	costs(COST_COPY, 1000); /* that of the first: the others stand behind it */
	is_kind(KIND_TRANSFER);
}

/* By prices of 1000 ns and 3 ns a byte copies of 100 bytes and of none are shorter than 2000 ns. */
Test(small_retime, copies_last_as_their_prices_say)
{
	static const char *const bytes[] = { ",\"bytes\":100", ",\"bytes\":0", "" };
	struct call_prices prices;
	char copy[64];

	begin();
	for (int i = 0; i < 3; i++) {
		snprintf(copy, sizeof(copy), ",\"direction\":\"to_host\"%s", bytes[i]);
		made_call(&made, "copy", 10000 * i, 10000 * i + 6000, "");
		made_op(&made, "copy", 3, 10000 * i + 3000, 10000 * i + 5000, copy);
	}
	made_call(&made, "copy", 30000, 36000, ""); /* another direction */
	made_op(&made, "copy", 3, 33000, 35000, ",\"direction\":\"to_device\",\"bytes\":9");
	made_call(&made, "graph_launch", 40000, 42000, ",\"graph\":1");
	made_op(&made, "graph", 3, 46000, 56000, ",\"graph\":1,\"busy_ns\":10000");
	made_call(&made, "sync_device", 42000, 60000, "");
	made_end(&made, 60000, 0, 0);
	cr_assert(zero(int, profile_make(&profile, made.path, &rules, false)), "%s", made.path);
	made_remove(&made);
	prices = profile.prices;
	prices.copy[COPY_TO_HOST] = (struct copy_price){ 1000, 3 };
	cr_expect(eq(dbl,
		     retimed_ns(&profile.steps, &profile.prices) -
			     retimed_ns(&profile.steps, &prices),
		     700 + 1000),
		  "%g", retimed_ns(&profile.steps, &prices));
	prices = profile.prices;
	prices.node_gap_ns = 50; /* of 10 nodes */
	cr_expect(eq(dbl,
		     retimed_ns(&profile.steps, &prices) -
			     retimed_ns(&profile.steps, &profile.prices),
		     9 * 50),
		  "%g", retimed_ns(&profile.steps, &prices));
	profile_release(&profile);
}

/* What the second copy waited for is the kernel, not the copy's own start: a shorter one helps. */
Test(small_retime, a_copy_behind_another_streams_event)
{
	static const char copy[] = ",\"direction\":\"to_host\",\"bytes\":100";
	struct call_prices prices;

	begin();
	made_call(&made, "copy", 0, 6000, "");
	made_op(&made, "copy", 3, 3000, 5000, copy);
	made_kernel(&made, 2, 6000, 11500, 51500);
	made_call(&made, "record", 8000, 8000, ",\"stream\":2,\"event\":1");
	made_call(&made, "wait_event", 8000, 8000, ",\"stream\":3,\"event\":1");
	made_call(&made, "copy", 8000, 55500, "");
	made_op(&made, "copy", 3, 52500, 54500, copy);
	made_end(&made, 55500, 0, 0);
	analysed();
	prices = profile.prices;
	prices.clock_factor = 0.5;
	cr_expect(eq(dbl, retimed_ns(&profile.steps, &prices), 55500 - 20000), "shorter kernel");
	profile_release(&profile);
}

/*
 * A blocking copy behind each kernel: what its start costs the host passes while the kernel runs.
 * One copy seems to have waited as long on an idle device, as rows that were folded may have it;
 * nothing is learnt from it of the others.
 */
Test(small_retime, a_copys_start_is_hidden_behind_the_kernel)
{
	enum { COPIES = 100, KERNEL = 40000, STEP = 60000 };
	static const char copy[] = ",\"direction\":\"to_host\",\"bytes\":4";
	struct call_extra extra[2 * COPIES + 2] = { 0 };
	struct call_prices prices;
	long t = 0;

	begin();
	for (int i = 0; i < COPIES; i++, t += STEP) {
		made_kernel(&made, 2, t, t + MADE_C + MADE_L, t + MADE_C + MADE_L + KERNEL);
		made_call(&made, "copy", t + MADE_C, t + 50000, "");
		made_op(&made, "copy", 2, t + 48000, t + 49000, copy);
	}
	made_call(&made, "copy", t, t + 50000, "");
	made_op(&made, "copy", 2, t + 48000, t + 49000, copy);
	made_end(&made, t + 50000, 0, 0);
	cr_assert(zero(int, profile_make(&profile, made.path, &rules, true)));
	for (int i = 0; i < COPIES; i++)
		extra[2 * i + 1].lead_ns = 30000;
	prices = profile.prices;
	prices.extra = extra;
	cr_expect(eq(dbl, retimed_ns(&profile.steps, &prices),
		     retimed_ns(&profile.steps, &profile.prices)),
		  "30 us of the host beside 40 of the device");
	for (int i = 0; i < COPIES; i++)
		extra[2 * i + 1].lead_ns = 30000 + KERNEL;
	cr_expect(lt(dbl, retimed_ns(&profile.steps, &profile.prices) + COPIES * 20000,
		     retimed_ns(&profile.steps, &prices)),
		  "more than the kernel hides");
	made_remove(&made);
	profile_release(&profile);
}

Test(small_retime, a_full_queue_makes_launches_wait)
{
	static const char window[] =
		"{\"launch_call_ns\":[2000,2000,2000],\"launch_and_wait_ns\":[10000,10000,10000],"
		"\"gap_ns\":[1000,1000,1000],\"window\":2,\"recorder\":{\"kernel_ns\":1000}}";
	const long end[] = { 105500, 206500, 307500, 408500 };

	made_begin(&made, "", window);
	made_kernel(&made, 2, 0, 5500, end[0]);
	made_kernel(&made, 2, 2000, end[0] + MADE_G, end[1]);
	/* each of these waits for a place, which the end of the kernel two before it gives */
	made_call(&made, "launch", 4000, end[0] + MADE_C, "");
	made_op(&made, "kernel", 2, end[1] + MADE_G, end[2], "");
	made_call(&made, "launch", end[0] + MADE_C, end[1] + MADE_C, "");
	made_op(&made, "kernel", 2, end[2] + MADE_G, end[3], "");
	made_end(&made, end[3], 0, 0);
	analysed();
	cr_expect(eq(int, (int)profile.steps.full, 2), "that found it full");
	is_kind(KIND_GPU);
}

Test(small_retime, graphs)
{
	begin();
	for (int i = 0; i < 2; i++) {
		made_call(&made, "graph_launch", 3000 * i, 3000 * (i + 1), ",\"graph\":1");
		made_op(&made, "graph", 2, 6500 + 21000 * i, 26500 + 21000 * i,
			",\"graph\":1,\"busy_ns\":15000");
	}
	made_call(&made, "sync_stream", 6000, 51000, ",\"stream\":2");
	made_end(&made, 51000, 0, 0);
	analysed();
	is(SHARE_KERNELS, 30000);
	is(SHARE_GAPS, 11000); /* within the graphs, and between them */
	cr_expect(eq(int, (int)profile.shares.kernels, 20), "kernels in graphs");
	cr_expect(eq(dbl, profile.shares.kernel_median_ns, 2000), "a tenth of each");
	costs(COST_LAUNCH, 1000);
	profile_release(&profile);
}

/* ---- the host ------------------------------------------------------------------------------ */

Test(small_retime, queries_in_a_row_are_one_wait)
{
	struct call_prices prices;

	begin();
	made_kernel(&made, 2, 0, 5500, 20000);
	for (long at = 2000; at < 21000; at += 1000)
		made_call(&made, "query", at, at + 800, ",\"stream\":2");
	made_call(&made, "query", 21000, 21800, ",\"stream\":2"); /* finds nothing under way */
	made_end(&made, 30000, 0, 0);
	cr_assert(zero(int, profile_make(&profile, made.path, &rules, false)), "%s", made.path);
	cr_expect(eq(dbl, profile.shares.total_ns, 30000), "as recorded");
	cr_expect(eq(dbl, profile.times.call[profile.trace.calls - 2].t1, 20800), "the last query");
	prices = profile.prices;
	prices.clock_factor = 0.1; /* a kernel of 1450, and no more queries than it takes */
	cr_expect(eq(dbl, retimed_ns(&profile.steps, &prices), 5500 + 1450 + 800 + 9200),
		  "shorter");
	costs(COST_LAUNCH, 1000);
	made_remove(&made);
	profile_release(&profile);
}

/* Thread 1 sleeps until thread 0's synchronize has returned. */
Test(small_retime, a_thread_waits_for_anothers_synchronize)
{
	static const char one[] = ",\"thread\":1,\"cpu_ns\":100";

	begin();
	made_call(&made, "record", 0, 100, ",\"thread\":1,\"event\":1,\"stream\":3");
	made_kernel(&made, 2, 100, 5600, 105600);
	made_call(&made, "sync_stream", 2100, 109100, ",\"stream\":2");
	made_call(&made, "launch", 112100, 114100, one);
	made_op(&made, "kernel", 3, 117600, 217600, "");
	made_call(&made, "sync_stream", 114100, 221100, ",\"thread\":1,\"stream\":3");
	made_end(&made, 221100, 0, 0);
	analysed();
	cr_expect(eq(int, (int)profile.steps.inferred, 2), "the thread's start, and that wait");
	costs(COST_LAUNCH, 2000);
	profile_release(&profile);
}

/* The recorder adds 500 to each call's gap and 100,000 at the start; calls are slower with it. */
Test(small_retime, the_recorders_part_is_taken_out)
{
	static const char calibration[] =
		"{\"launch_call_ns\":[2000,2000,2000],\"launch_and_wait_ns\":[10000,10000,10000],"
		"\"gap_ns\":[1000,1000,1000],\"recorder\":{\"call_ns\":500,\"kernel_ns\":1000}}";

	made_begin(&made, ",\"process_start_ns\":-150000", calibration);
	made_row(&made, "{\"record\":\"own\",\"thread\":0,\"t0\":-120000,\"t1\":-20000}");
	made_call(&made, "launch", 0, 3000, "");
	made_op(&made, "kernel", 2, 7000, 17000, "");
	made_call(&made, "launch", 4500, 7500, ""); /* 1000 of the program, 500 of the recorder */
	made_op(&made, "kernel", 2, 18300, 28300, "");
	made_call(&made, "sync_stream", 8000, 33000, ",\"stream\":2");
	made_end(&made, 33000, 0, 0);
	cr_assert(zero(int, profile_make(&profile, made.path, &rules, false)), "%s", made.path);
	/* 50000 to the first call, c, L, K, g, K, wake */
	cr_expect(
		eq(dbl, profile.shares.total_ns, 50000 + 2000 + 3500 + 10000 + 1000 + 10000 + 3500),
		"without the recorder");
	cr_expect(eq(dbl, profile.times.call[1].t0 - profile.times.call[0].t1, 1000), "a gap");
	made_remove(&made);
	profile_release(&profile);
}

Test(small_retime, first_use_of_a_kernel_is_no_launch)
{
	begin();
	made_call(&made, "launch", 0, 502000, "");
	made_op(&made, "kernel", 2, 505500, 515500, "");
	made_call(&made, "sync_stream", 502000, 519000, ",\"stream\":2");
	made_end(&made, 519000, 0, 0);
	analysed();
	is(SHARE_MEMORY, 505500);
	is_kind(KIND_MEMORY);
}

/* A launch of 502000 of the kernel of that name, which begins L behind it, and the wait for it. */
static long long_step(long t0, int thread, const char *kernel)
{
	const long t1 = t0 + 502000, end = t1 + MADE_L + 10000;
	char more[64];

	snprintf(more, sizeof(more), ",\"thread\":%d", thread);
	made_call(&made, "launch", t0, t1, more);
	made_op(&made, "kernel", 2, t1 + MADE_L, end, kernel);
	snprintf(more, sizeof(more), ",\"thread\":%d,\"stream\":2", thread);
	made_call(&made, "sync_stream", t1, end + MADE_WAKE, more);
	return end + MADE_WAKE;
}

static void name_kernels(void)
{
	made_row(&made, "{\"record\":\"string\",\"id\":13,\"text\":\"cudaDeviceReset\"}");
	made_row(&made, "{\"record\":\"string\",\"id\":12,\"text\":\"b\"}");
	made_row(&made, "{\"record\":\"string\",\"id\":11,\"text\":\"a\"}");
}

/* What was told L before, behind a wait, is the wait's. */
enum { LONG = 502000, RELAUNCH = MADE_WAKE + MADE_L };

/* The code of `a` was there, so that nothing but its host explains the second. Nor is it, behind a
 * wait, a relaunch. */
Test(small_retime, a_launch_whose_thread_lost_its_processor)
{
	long end;

	begin();
	name_kernels();
	end = long_step(0, 0, ",\"name\":11");
	end = long_step(end, 0, ",\"name\":11");
	end = long_step(end, 0, ",\"name\":12");
	made_end(&made, end, 0, 0);
	analysed();
	is(SHARE_MEMORY, 2 * LONG + MADE_L);
	is(SHARE_INTERRUPTED, LONG);
	is(SHARE_API, 0);
	is(SHARE_SYNC, 2 * RELAUNCH + MADE_WAKE);
	profile_release(&profile);
}

Test(small_retime, interruptions_bind_a_program_to_its_processor)
{
	long end = 0;

	begin();
	for (int i = 0; i < 10; i++)
		end = long_step(end, 0, "");
	made_end(&made, end, 0, 0);
	analysed();
	is(SHARE_INTERRUPTED, 9 * LONG); /* kernels without a name are one */
	is_kind(KIND_CPU);
}

Test(small_retime, a_reset_takes_code_away)
{
	long end;

	begin();
	name_kernels();
	end = long_step(0, 0, ",\"name\":11");
	made_call(&made, "other", end, end + 1000, ",\"name\":13");
	end = long_step(end + 1000, 0, ",\"name\":11");
	made_end(&made, end, 0, 0);
	analysed();
	is(SHARE_MEMORY, 2 * LONG + MADE_L);
	is(SHARE_INTERRUPTED, 0);
	profile_release(&profile);
}

Test(small_retime, no_other_call_does)
{
	long end;

	begin();
	name_kernels();
	end = long_step(0, 0, ",\"name\":11");
	made_call(&made, "other", end, end + 1000, ",\"name\":12");
	end = long_step(end + 1000, 0, ",\"name\":11");
	made_end(&made, end, 0, 0);
	analysed();
	is(SHARE_MEMORY, LONG + MADE_L);
	is(SHARE_INTERRUPTED, LONG);
	profile_release(&profile);
}

/* Four times the 95 % quantile and 10 us more are a launch alone, the first or not. */
Test(small_retime, how_long_a_launch_may_take)
{
	for (int more = 0; more < 2; more++) {
		const long took = 4 * MADE_C + 10000 + more;
		long t0 = 0;

		begin();
		for (int i = 0; i < 2; i++) {
			const long start = t0 + took + MADE_L, end = start + 10000;

			made_call(&made, "launch", t0, t0 + took, "");
			made_op(&made, "kernel", 2, start, end, ",\"name\":1");
			made_call(&made, "sync_stream", t0 + took, end + MADE_WAKE,
				  ",\"stream\":2");
			t0 = end + MADE_WAKE;
		}
		made_end(&made, t0, 0, 0);
		cr_assert(zero(int, profile_make(&profile, made.path, &rules, true)));
		made_remove(&made);
		cr_expect(eq(int, profile.steps.step[0].loads, more), "%d ns more", more);
		cr_expect(eq(int, profile.steps.step[2].is_held_up, more), "%d ns more", more);
		profile_release(&profile);
	}
}

/* As PyTorch's two threads do: the second's launch begins within the load of the first. */
Test(small_retime, a_thread_waits_for_code_that_another_loads)
{
	begin();
	name_kernels();
	made_call(&made, "launch", 0, 502000, "");
	made_op(&made, "kernel", 2, 505500, 515500, ",\"name\":11");
	made_call(&made, "launch", 400000, 602000, ",\"thread\":1");
	made_op(&made, "kernel", 3, 605500, 615500, ",\"name\":11");
	made_call(&made, "launch", 550000, 752000, "");
	made_op(&made, "kernel", 2, 755500, 765500, ",\"name\":11");
	made_end(&made, 765500, 0, 0);
	cr_assert(zero(int, profile_make(&profile, made.path, &rules, false)), "%s", made.path);
	cr_expect(eq(int, (int)profile.steps.loads, 3), "all three");
	is(SHARE_INTERRUPTED, 0);
	made_remove(&made);
	profile_release(&profile);
}

/* The last kernels begin after the last call has returned, and nobody waits for them. */
Test(small_retime, work_that_nobody_waits_for)
{
	begin();
	made_kernel(&made, 2, 0, 5500, 25500);
	made_kernel(&made, 2, 2000, 26500, 46500);
	fclose(made.out); /* killed */
	analysed();
	cr_expect(eq(dbl, profile.shares.total_ns, 46500), "to its end");
	is(SHARE_KERNELS, 40000);
	costs(COST_GAP, 1000);
	profile_release(&profile);
}
