/*
 * test_host_gaps.c - the host's times of a lighter recording take the place of a trace's: which
 * passages are joined, what is in them, what stays as it was.
 */
/* sanitizers: one thread */
#include "tests/test.h"
#include "common/trace/host_gaps.h"
#include "common/trace/passages.h"
#include "harness/base/json.h"
#include "tests/made_trace.h"

TestSuite(small_host_gaps, .timeout = 60);

static struct made made;

/*
 * A program's steps: a record of an event, a launch, a memset, a synchronize; between launch and
 * memset the driver is asked for a launch, which only the fuller recording sees. Times in ns.
 */
struct shape {
	int steps;
	bool driver;		   /* the driver's launch is there, halfway */
	long launch;		   /* how long launches last */
	long first, second, third; /* from the launch, from the memset, from the synchronize on */
	bool rare;		   /* no memset in every other step */
	bool idle;		   /* launches come right behind synchronizes */
	bool polls;		   /* a query before the synchronize */
	bool driver_waits;	   /* the driver is asked to wait, not to launch */
	int loads;		   /* first steps, whose launch takes 1 ms more */
	int sleeps;		   /* steps from 10 on, whose first gap does */
	bool sets_device;	   /* before each launch */
	int copies;		   /* first steps with one before the launch, which waits */
	bool queues;		   /* kernels last for long: the queue becomes full */
	bool mixed;		   /* in every fifth step the first gap is 40 us longer */
	bool captured;		   /* launches by the runtime become nodes of a graph */
	bool kernels; /* the driver's launches have the runtime's name, and kernels theirs */
	bool adds;    /* alone: the recorder adds 300 ns a call */
	bool alone;   /* calls alone: no times of the device, no calibration */
};

static const struct shape slow = {
	.steps = 40, .driver = true, .launch = 3000, .first = 20000, .second = 1000, .third = 5000
};
static const struct shape light = {
	.steps = 40, .launch = 2200, .first = 15000, .second = 3000, .third = 5000
};

enum { LAUNCH = 2, MEMSET, SYNC, DRIVER, QUERY, RECORD, KERNEL, LIBRARYS, NAMES }; /* ids */

static void put(const char *class, int name, long *t, long ns, const char *more)
{
	char with[160];

	snprintf(with, sizeof(with), ",\"name\":%d%s", name, more);
	made_call(&made, class, *t, *t + ns, with);
	*t += ns;
}

/* With its kernel: an operation, or the call's word for it. */
static void put_launch(const struct shape *s, long *t, long ns, long op_ns, int name, int kernel)
{
	char more[64] = "";

	if (s->kernels)
		snprintf(more, sizeof(more), ",\"%s\":%d", s->alone ? "kernel" : "name", kernel);
	put("launch", s->kernels ? LAUNCH : name, t, ns, s->alone ? more : "");
	if (!s->alone && op_ns)
		made_op(&made, "kernel", 2, *t, *t + op_ns, more);
}

static void put_step(const struct shape *s, long *t, int step)
{
	enum { RARELY = 1000000 };
	long first = s->first + (step >= 10 && step < 10 + s->sleeps ? RARELY : 0) +
		     (s->mixed && step % 5 == 4 ? 40000 : 0);

	if (!s->idle)
		put("record", RECORD, t, 100, ",\"stream\":2,\"event\":1");
	if (step < s->copies)
		put("copy", QUERY, t, 500, "");
	if (s->sets_device)
		put("other", QUERY, t, 0, "");
	if (s->captured)
		put("launch", LAUNCH, t, s->launch,
		    s->alone ? ",\"captured\":true,\"kernel\":8" : ",\"captured\":true");
	else
		put_launch(s, t, s->launch + (step < s->loads ? RARELY : 0),
			   s->queues ? RARELY * 100 : 100, LAUNCH, KERNEL);
	*t += s->driver ? first / 2 : first;
	if (s->driver) {
		if (s->driver_waits)
			put("sync_device", DRIVER, t, s->launch, "");
		else
			put_launch(s, t, s->launch, s->kernels ? 100 : 0, DRIVER, LIBRARYS);
		*t += first / 2;
	}
	if (!s->rare || step % 2) {
		put("memset", MEMSET, t, 500, "");
		*t += s->second;
	}
	if (s->polls)
		put("query", QUERY, t, 100, ",\"stream\":2");
	put("sync_stream", SYNC, t, 400, ",\"stream\":2");
	*t += s->third;
}

/* With the row runs, and host_gaps in it where that is not "". */
static void end_program(long t, const char *host_gaps)
{
	char runs[16384];

	snprintf(runs, sizeof(runs), ",\"host_gaps\":%s", host_gaps);
	made.runs = *host_gaps ? runs : NULL;
	made_end(&made, t, 1, t);
}

static void read_made(struct trace *t)
{
	cr_assert(zero(int, trace_read(t, made.path)), "%s", made.path);
	made_remove(&made);
}

static void put_program(const struct shape *s, const char *host_gaps)
{
	static const char *const names[] = {
		"cudaLaunchKernel", "cudaMemset",      "cudaStreamSynchronize",
		"cuLaunchKernel",   "cudaStreamQuery", "cudaEventRecord",
		"_Z4minev",	    "_Z7librarysv"
	};
	long t = 1000;

	made_begin(&made, s->alone ? ",\"device_times\":\"none\"" : "",
		   s->alone ? NULL : MADE_CALIBRATION);
	made.end = s->adds ? ",\"call_ns\":300" : NULL;
	for (int i = 0; i < NAMES - LAUNCH; i++)
		made_row(&made, "{\"record\":\"string\",\"id\":%d,\"text\":\"%s\"}", LAUNCH + i,
			 names[i]);
	for (int i = 0; i < s->steps; i++)
		put_step(s, &t, i);
	end_program(t, host_gaps);
}

static void read_program(const struct shape *s, const char *host_gaps, struct trace *t)
{
	put_program(s, host_gaps);
	read_made(t);
}

/* To be freed; "" for nothing. */
static char *joined_text(const struct trace *full, const struct trace *calls, int n)
{
	struct host_gaps *g = host_gaps_new(full);
	json_t *o;
	char *text;

	for (int i = 0; i < n; i++)
		host_gaps_count(g, &calls[i]);
	for (int i = 0; i < n; i++)
		host_gaps_add(g, &calls[i]);
	o = host_gaps_json(g);
	text = o ? json_dumps(o, JSON_COMPACT | JSON_REAL_PRECISION(9)) : strdup("");
	json_decref(o);
	host_gaps_free(g);
	return text;
}

/* What n runs of one shape say of a recording of another: static memory. */
static const char *joined(const struct shape *full, const struct shape *calls, int n)
{
	static char text[4096];
	struct shape alone = *calls;
	struct trace f, c[2];
	char *whole;

	alone.alone = true;
	read_program(full, "", &f);
	for (int i = 0; i < n; i++)
		read_program(&alone, "", &c[i]);
	whole = joined_text(&f, c, n);
	snprintf(text, sizeof(text), "%s", whole);
	free(whole);
	for (int i = 0; i < n; i++)
		trace_release(&c[i]);
	trace_release(&f);
	return text;
}

/* By the prices of made traces. */
static int64_t apply(struct steps *s)
{
	struct call_prices prices =
		prices_of_trace(s->trace, QUANTILE_P50, QUANTILE_P50, QUANTILE_P50);

	return host_gaps_apply(s, &prices);
}

/* The shape's first steps once they are as the runs say; returns how many gaps were changed. */
static int64_t steps_after(const struct shape *s, const char *host_gaps, struct step *step, int n)
{
	struct trace t;
	struct steps steps;
	int64_t changed;

	read_program(s, host_gaps, &t);
	steps_init(&steps, &t);
	changed = apply(&steps);
	memcpy(step, steps.step, (size_t)n * sizeof(*step));
	steps_release(&steps);
	trace_release(&t);
	return changed;
}

static int64_t gaps_after(const struct shape *s, const char *host_gaps, double *gap, int n)
{
	struct step step[300];
	int64_t changed;

	cr_assert(le(int, n, 300));
	changed = steps_after(s, host_gaps, step, n);
	for (int i = 0; i < n; i++)
		gap[i] = step[i].gap_ns;
	return changed;
}

/* How long the second call takes at a price of launches, once steps are as the runs say. */
static double launch_at(const struct shape *s, const char *host_gaps, double launch_ns)
{
	struct call_prices prices;
	struct timed timed;
	struct trace t;
	struct steps steps;
	double ns;

	read_program(s, host_gaps, &t);
	steps_init(&steps, &t);
	apply(&steps);
	prices = prices_of_trace(&t, QUANTILE_P50, QUANTILE_P50, QUANTILE_P50);
	prices.launch_ns = launch_ns;
	timed_priced(&timed, &steps, &prices);
	ns = timed.call[1].t1 - timed.call[1].t0;
	timed_release(&timed);
	steps_release(&steps);
	trace_release(&t);
	return ns;
}

/* A pair has "from" and "to". */
static const char *function_named(const json_t *o, const json_t *pair, const char *which)
{
	json_int_t at = json_integer_value(json_object_get(pair, which));
	const char *name =
		json_string_value(json_array_get(json_object_get(o, "functions"), (size_t)at));

	return name ? name : "";
}

/* -1: there is no such pair. */
static double pair_ns(const char *host_gaps, const char *from, const char *to)
{
	json_t *o = json_loads(host_gaps, 0, NULL), *pairs = json_object_get(o, "pairs");
	double ns = -1;

	for (size_t i = 0; i < json_array_size(pairs); i++) {
		const json_t *pair = json_array_get(pairs, i);

		if (!strcmp(function_named(o, pair, "from"), from) &&
		    !strcmp(function_named(o, pair, "to"), to))
			ns = json_number_value(json_object_get(pair, "ns"));
	}
	json_decref(o);
	return ns;
}

/* A launch is the host's time, and so is what it does until the next call that both have seen. */
Test(small_host_gaps, means_of_the_lighter_runs)
{
	const char *o = joined(&slow, &light, 2);

	cr_expect(eq(dbl, pair_ns(o, "cudaLaunchKernel", "cudaMemset"), 2200 + 15000));
	cr_expect(eq(dbl, pair_ns(o, "cudaMemset", "cudaStreamSynchronize"), 3000));
	cr_expect(eq(dbl, pair_ns(o, "cudaStreamSynchronize", "cudaEventRecord"), 5000));
	cr_expect(ne(ptr, strstr(o, "\"runs\":2"), NULL), "%s", o);
	cr_expect(ne(ptr, strstr(o, "\"n\":40.0"), NULL), "of a run: %s", o);
	cr_expect(eq(ptr, strstr(o, "cuLaunchKernel"), NULL), "%s", o);
}

/*
 * 17.2 us from a launch to the memset: the simulation has two launches of 2 us in it, and each of
 * the two gaps of 10 us is 6.6. From the memset it is 2 us more. Before the first call it is the
 * process that starts.
 */
Test(small_host_gaps, gaps_are_as_long_as_there)
{
	double gap[8];
	int64_t n = gaps_after(&slow, joined(&slow, &light, 2), gap, 8);

	cr_expect(eq(i64, n, 5 * 40 - 1));
	cr_expect(eq(dbl, gap[0], 1000), "the start");
	cr_expect(epsilon_eq(dbl, gap[2], 6600, 1e-6), "to the driver's launch");
	cr_expect(epsilon_eq(dbl, gap[3], 6600, 1e-6), "from there");
	cr_expect(epsilon_eq(dbl, gap[4], 3000, 1e-6), "longer than it was");
	cr_expect(epsilon_eq(dbl, gap[5], 5000, 1e-6), "as it was");
}

/* Z has all that a launch takes which wakes an idle device: the gaps alone are joined. */
Test(small_host_gaps, a_launch_behind_a_wait)
{
	struct shape full = slow, calls = light;
	double gap[5];
	const char *o;

	full.idle = calls.idle = true;
	o = joined(&full, &calls, 1);
	cr_expect(eq(dbl, pair_ns(o, "cudaLaunchKernel", "cudaMemset"), 15000));
	gaps_after(&full, o, gap, 5);
	cr_expect(epsilon_eq(dbl, gap[1], 6500, 1e-6), "less the driver's launch");
	cr_expect(epsilon_eq(dbl, gap[2], 6500, 1e-6));
}

/* A copy that waits leaves an idle device behind as a synchronize does. */
Test(small_host_gaps, a_launch_behind_a_copy)
{
	struct shape full = slow, calls = light;

	full.idle = calls.idle = true;
	full.copies = calls.copies = 40;
	cr_expect(eq(dbl, pair_ns(joined(&full, &calls, 1), "cudaLaunchKernel", "cudaMemset"),
		     15000));
}

/* Two calls more or less are as often; none is not. */
Test(small_host_gaps, a_function_that_one_recorder_never_sees)
{
	struct shape full = slow;
	const char *o;

	full.copies = 2;
	o = joined(&full, &light, 1);
	cr_expect(eq(ptr, strstr(o, "cudaStreamQuery"), NULL), "%s", o);
	cr_expect(ne(ptr, strstr(o, "cudaMemset"), NULL), "%s", o);
}

/* From 64 on that are under way a call may be a wait, however short it is: of 60 steps nearly half.
 */
Test(small_host_gaps, launches_that_find_a_full_queue_say_nothing)
{
	struct shape full = slow, calls = light;
	double gap[5];

	full.steps = calls.steps = 100;
	full.queues = true;
	gaps_after(&full, joined(&full, &calls, 1), gap, 5);
	cr_expect(eq(dbl, gap[2], 10000));
	cr_expect(epsilon_eq(dbl, gap[4], 3000, 1e-3), "others do");
}

/*
 * One gap in five is 40 us longer, which is more than four times the others and 10 us in the
 * lighter run (10.2 us, of which 2.2 are the launch), but not by itself in the recording, whose
 * gaps are 4 us longer. Each becomes shorter by the same.
 */
Test(small_host_gaps, both_means_are_of_the_same_passages)
{
	struct shape full = { .steps = 40, .launch = 3000, .first = 12000, .mixed = true };
	struct shape calls = { .steps = 40, .launch = 2200, .first = 8000, .mixed = true };
	double gap[4 * 5];

	full.second = calls.second = full.third = calls.third = 5000;
	gaps_after(&full, joined(&full, &calls, 1), gap, 4 * 5);
	cr_expect(epsilon_eq(dbl, gap[2], 8200, 1e-3), "with what its launch takes beyond c");
	cr_expect(epsilon_eq(dbl, gap[4 * 4 + 2], 48200, 1e-3), "the longer ones");
}

/* A function that is there: its number. */
static int number_of(const char *host_gaps, const char *function)
{
	json_t *o = json_loads(host_gaps, 0, NULL), *functions = json_object_get(o, "functions");
	size_t i = 0;

	while (i < json_array_size(functions) &&
	       strcmp(json_string_value(json_array_get(functions, i)), function) != 0)
		i++;
	cr_assert(lt(sz, i, json_array_size(functions)), "%s", function);
	json_decref(o);
	return (int)i;
}

/* The first of two that say otherwise counts. */
Test(small_host_gaps, a_pair_that_is_there_twice)
{
	static const char again[] = ",{\"from\":%d,\"to\":%d,\"after\":false,\"n\":40,"
				    "\"ns\":99999,\"median_ns\":99999}]}";
	const char *o = joined(&slow, &light, 1);
	char twice[8192];
	double gap[5];
	int n;

	n = snprintf(twice, sizeof(twice), "%.*s", (int)(strlen(o) - strlen("]}")), o);
	snprintf(twice + n, sizeof(twice) - (size_t)n, again, number_of(o, "cudaLaunchKernel"),
		 number_of(o, "cudaMemset"));
	cr_assert(eq(i64, gaps_after(&slow, twice, gap, 5), 5 * 40 - 1), "%s", twice);
	cr_expect(epsilon_eq(dbl, gap[2], 6600, 1e-3), "%s", twice);
}

/* Its call stays as recorded: it gives the device nothing, and has no price. */
Test(small_host_gaps, a_launch_that_is_captured)
{
	struct shape full = slow, calls = light;

	full.kernels = full.captured = calls.captured = true;
	cr_expect(eq(dbl, pair_ns(joined(&full, &calls, 1), "cudaLaunchKernel", "cudaMemset"),
		     15000));
}

/* 27.2 us: 3.2 more than there are, a half for each gap. */
Test(small_host_gaps, what_is_missing_is_shared_by_the_gaps)
{
	struct shape longer = light;
	double gap[5];

	longer.first = 25000;
	gaps_after(&slow, joined(&slow, &longer, 1), gap, 5);
	cr_expect(epsilon_eq(dbl, gap[2], 11600, 1e-6));
	cr_expect(epsilon_eq(dbl, gap[3], 11600, 1e-6));
}

/* One sleep of 40 passages, and three launches that load code. */
Test(small_host_gaps, what_is_rare_is_in_no_mean)
{
	struct shape calls = light;

	calls.sleeps = 1;
	calls.loads = 3;
	cr_expect(eq(dbl, pair_ns(joined(&slow, &calls, 1), "cudaLaunchKernel", "cudaMemset"),
		     2200 + 15000));
}

/* Steps 10, 11, 12 ... sleep for 1 ms: as in the lighter run, or in one more. A recorder adds to a
 * call, not to a sleep: both of its gaps lose what others do, 6.8 us of 1020. */
Test(small_host_gaps, a_sleep_stays_as_long)
{
	for (int more = 0; more < 2; more++) {
		struct shape full = slow, calls = light;
		double gap[5 * 12];

		full.sleeps = 5;
		calls.sleeps = 5 + more;
		gaps_after(&full, joined(&full, &calls, 1), gap, 5 * 12);
		cr_expect(epsilon_eq(dbl, gap[2], 6600, 1e-3));
		cr_expect(epsilon_eq(dbl, gap[5 * 11 + 2], 510000 - 3400, 1e-3));
	}
}

/* Launches that wait for a place in the queue are the device's time. */
Test(small_host_gaps, launches_that_wait_say_nothing)
{
	struct shape full = slow, calls = light;
	double gap[5];
	const char *o;

	calls.loads = 20;
	o = joined(&slow, &calls, 1);
	cr_expect(eq(dbl, pair_ns(o, "cudaLaunchKernel", "cudaMemset"), -1), "%s", o);
	cr_expect(eq(dbl, pair_ns(o, "cudaMemset", "cudaStreamSynchronize"), 3000), "%s", o);
	full.loads = 20;
	gaps_after(&full, joined(&slow, &light, 1), gap, 5);
	cr_expect(eq(dbl, gap[2], 10000), "nor in the trace");
	cr_expect(epsilon_eq(dbl, gap[4], 3000, 1e-3), "others do");
}

/* cudaSetDevice, say, which CUPTI's recorder leaves out: the launch is behind a wait all the same.
 */
Test(small_host_gaps, a_call_between_a_wait_and_a_launch)
{
	struct shape full = slow, calls = light;
	const char *o;

	full.idle = calls.idle = true;
	calls.sets_device = true;
	o = joined(&full, &calls, 1);
	cr_expect(eq(dbl, pair_ns(o, "cudaLaunchKernel", "cudaMemset"), 15000), "%s", o);
}

/* What the host takes is not known then. */
Test(small_host_gaps, a_wait_that_one_recorder_sees_is_no_passage)
{
	struct shape waits = slow;
	double gap[5];

	waits.driver_waits = true;
	gaps_after(&waits, joined(&waits, &light, 1), gap, 5);
	cr_expect(eq(dbl, gap[2], 10000));
	cr_expect(eq(dbl, gap[3], 10000));
	cr_expect(epsilon_eq(dbl, gap[4], 3000, 1e-6));
}

Test(small_host_gaps, nothing_is_joined_without_such_runs)
{
	double gap[5];

	cr_expect(zero(i64, gaps_after(&slow, "", gap, 5)));
	cr_expect(eq(dbl, gap[2], 10000));
}

/* What is seen twice as often is no call of the same program; of the others passages lead past it.
 */
Test(small_host_gaps, functions_that_are_called_otherwise)
{
	struct shape rare = light;
	const char *o;

	rare.rare = true;
	o = joined(&slow, &rare, 1);
	cr_expect(eq(ptr, strstr(o, "cudaMemset"), NULL), "%s", o);
	cr_expect(eq(dbl, pair_ns(o, "cudaLaunchKernel", "cudaStreamSynchronize"),
		     2200 + 15000 + (3000 + 500) / 2.0),
		  "%s", o);
}

/* A library launches by a function of the same name, which a preloaded recorder does not see. */
Test(small_host_gaps, launches_are_told_apart_by_their_kernels)
{
	struct shape full = slow, calls = light;
	double gap[5];
	const char *o;

	full.kernels = true;
	o = joined(&full, &calls, 1);
	cr_expect(eq(ptr, strstr(o, "cudaLaunchKernel"), NULL), "twice as many: %s", o);
	calls.kernels = true;
	o = joined(&full, &calls, 1);
	cr_expect(eq(dbl, pair_ns(o, "cudaLaunchKernel _Z4minev", "cudaMemset"), 2200 + 15000),
		  "%s", o);
	cr_expect(eq(ptr, strstr(o, "_Z7librarysv"), NULL), "%s", o);
	cr_expect(eq(i64, gaps_after(&full, o, gap, 5), 5 * 40 - 1));
	cr_expect(epsilon_eq(dbl, gap[2], 6600, 1e-6));
	cr_expect(epsilon_eq(dbl, gap[3], 6600, 1e-6));
}

/* Numbers stand for names there, and each recording has its own. */
Test(small_host_gaps, anonymous_kernels_are_not_told_apart)
{
	struct trace t;
	struct shape full = slow;

	full.kernels = true;
	read_program(&full, "", &t);
	cr_expect(trace_has_kernels(&t));
	json_object_set_new(t.header, "anonymous", json_true());
	cr_expect(not(trace_has_kernels(&t)));
	trace_release(&t);
	full.alone = true;
	read_program(&full, "", &t);
	cr_expect(trace_has_kernels(&t));
	trace_release(&t);
	full.kernels = false;
	read_program(&full, "", &t);
	cr_expect(not(trace_has_kernels(&t)));
	trace_release(&t);
}

Test(small_host_gaps, few_passages_say_nothing)
{
	struct shape full = slow, calls = light;

	full.steps = calls.steps = HOST_PAIR_LEAST - 1;
	cr_expect(eq(str, (char *)joined(&full, &calls, 1), ""));
	full.steps = calls.steps = HOST_PAIR_LEAST;
	cr_expect(ne(str, (char *)joined(&full, &calls, 1), ""));
}

/* The runs were of 40 steps, this trace is of 60: another input. */
Test(small_host_gaps, a_trace_with_more_passages_stays)
{
	struct shape more = slow;
	double gap[5];

	more.steps = 60;
	cr_expect(zero(i64, gaps_after(&more, joined(&slow, &light, 1), gap, 5)));
	cr_expect(eq(dbl, gap[2], 10000));
}

/* How often a program asks is the recorder's doing, too; what it does until then waits. */
Test(small_host_gaps, polling_is_no_passage)
{
	struct shape full = slow, calls = light;
	const char *o;

	full.polls = calls.polls = true;
	o = joined(&full, &calls, 1);
	cr_expect(eq(dbl, pair_ns(o, "cudaMemset", "cudaStreamQuery"), -1), "%s", o);
	cr_expect(eq(dbl, pair_ns(o, "cudaStreamQuery", "cudaStreamSynchronize"), 0), "%s", o);
	calls.polls = false;
	o = joined(&full, &calls, 1);
	cr_expect(eq(dbl, pair_ns(o, "cudaMemset", "cudaStreamSynchronize"), 3000), "%s", o);
}

Test(small_host_gaps, other_programs_have_nothing_in_common)
{
	struct shape few = light;

	few.steps = 30;
	cr_expect(eq(str, (char *)joined(&slow, &few, 1), ""));
}

/* Two threads that take turns, three calls each, 20 times: in a fold. */
static void read_turns(long gap_ns, const char *host_gaps, struct trace *t)
{
	enum { TIMES = 20, CALLS = 6, TOOK = 400 };
	long end = TIMES * CALLS * (gap_ns + TOOK);

	made_begin(&made, "", MADE_CALIBRATION);
	made_row(&made, "{\"record\":\"string\",\"id\":2,\"text\":\"cudaMemset\"}");
	fprintf(made.out, "{\"record\":\"fold\",\"times\":%d,\"t0\":0,\"t1\":%ld,\"body\":[", TIMES,
		end);
	for (int i = 0; i < CALLS; i++)
		fprintf(made.out,
			"%s{\"record\":\"call\",\"thread\":%d,\"class\":\"memset\",\"name\":2,"
			"\"gap_ns\":[[%ld,%d]],\"took_ns\":[[%d,%d]]}",
			i ? "," : "", i >= CALLS / 2, gap_ns, TIMES, TOOK, TIMES);
	made_row(&made, "]}");
	made.calls = TIMES * CALLS;
	end_program(end, host_gaps);
	read_made(t);
}

/* What one of two threads waits for the other is a passage, too, and a pair of its own. */
Test(small_host_gaps, threads_that_hand_work_to_each_other)
{
	struct trace full, calls;
	struct steps steps;
	char *text;

	read_turns(900, "", &full);
	read_turns(600, "", &calls);
	text = joined_text(&full, &calls, 1);
	cr_assert(ne(ptr, strstr(text, "\"after\":true"), NULL), "%s", text);
	trace_release(&full);
	read_turns(900, text, &full);
	steps_init(&steps, &full);
	cr_expect(eq(dbl, steps.step[9].after_ns, 900), "as recorded");
	cr_expect(eq(i64, apply(&steps), full.calls - 1));
	cr_expect(eq(i64, steps.step[9].after, 8));
	cr_expect(epsilon_eq(dbl, steps.step[9].after_ns, 600, 1e-6), "from thread to thread");
	cr_expect(epsilon_eq(dbl, steps.step[10].gap_ns, 600, 1e-6), "of one thread");
	steps_release(&steps);
	trace_release(&calls);
	trace_release(&full);
	free(text);
}

enum { BEGUN = 21 }; /* threads, and the one that begins them */

/* The first thread launches by the runtime, by the driver, begins a thread that sets memory, and
 * waits; each of these 10 us, or less, after the other. */
static void read_begun(long gap_ns, bool driver, const char *host_gaps, struct trace *t)
{
	char more[64];
	long at = 1000;

	made_begin(&made, "", MADE_CALIBRATION);
	made_row(&made, "{\"record\":\"string\",\"id\":2,\"text\":\"cudaLaunchKernel\"}");
	made_row(&made, "{\"record\":\"string\",\"id\":3,\"text\":\"cudaMemset\"}");
	made_row(&made, "{\"record\":\"string\",\"id\":4,\"text\":\"cudaStreamSynchronize\"}");
	made_row(&made, "{\"record\":\"string\",\"id\":5,\"text\":\"cuLaunchKernel\"}");
	for (int i = 2; i <= BEGUN; i++)
		made_row(&made, "{\"record\":\"thread\",\"id\":%d,\"tid\":%d}", i, 100 + i);
	for (int i = 1; i <= BEGUN; i++) {
		long set;

		put("launch", LAUNCH, &at, MADE_C, "");
		at += gap_ns;
		if (driver)
			put("launch", DRIVER, &at, MADE_C, "");
		set = at + gap_ns;
		snprintf(more, sizeof(more), ",\"thread\":%d", i);
		put("memset", MEMSET, &set, 500, more);
		at = set + gap_ns;
		put("sync_stream", SYNC, &at, 400, "");
		at += gap_ns;
	}
	end_program(at, host_gaps);
	read_made(t);
}

/* What the first thread does before it asks the driver leads to both: it is changed once. Without
 * the driver's launch it is 5 us to there, and 5 from there; less the launch, each gap is 4. */
Test(small_host_gaps, a_gap_of_two_passages_is_changed_once)
{
	struct trace full, calls;
	struct steps steps;
	char *text;

	read_begun(10000, true, "", &full);
	read_begun(5000, false, "", &calls);
	text = joined_text(&full, &calls, 1);
	trace_release(&full);
	read_begun(10000, true, text, &full);
	steps_init(&steps, &full);
	apply(&steps);
	cr_expect(eq(i64, steps.step[2].after, 1), "%s", text);
	cr_expect(epsilon_eq(dbl, steps.step[1].gap_ns, 4000, 1e-6), "%s", text);
	cr_expect(epsilon_eq(dbl, steps.step[2].after_ns, 4000, 1e-6), "%s", text);
	steps_release(&steps);
	trace_release(&calls);
	trace_release(&full);
	free(text);
}

/* Those of the first day, with names in place of numbers: as if there were none. */
Test(small_host_gaps, early_ones_are_left_out)
{
	double gap[5];

	cr_expect(zero(i64, gaps_after(&slow,
				       "{\"runs\":1,\"functions\":[\"a\",\"b\"],\"pairs\":[{"
				       "\"from\":\"cudaMemset\",\"to\":\"b\",\"after\":false,"
				       "\"n\":40,\"ns\":1,\"median_ns\":1}]}",
				       gap, 5)));
	cr_expect(eq(dbl, gap[4], 1000), "as recorded");
}

/* Launches that are captured are no kernel's: what is known of them is not of all launches. */
Test(small_host_gaps, captured_launches_stand_for_no_others)
{
	struct shape full = slow, calls = light;
	double gap[5];
	const char *o;

	full.kernels = full.captured = calls.captured = true;
	o = joined(&full, &calls, 1);
	cr_expect(ne(ptr, strstr(o, "\"by_kernel\":true"), NULL), "%s", o);
	cr_expect(eq(ptr, strstr(o, "cudaLaunchKernel "), NULL), "%s", o);
	cr_expect(eq(i64, gaps_after(&full, o, gap, 5), 5 * 40 - 1),
		  "the library's within passages");
}

/* What the recorder of calls alone adds between two calls is taken off. */
Test(small_host_gaps, what_the_lighter_recorder_adds)
{
	struct shape calls = light;
	const char *o;

	calls.adds = true;
	o = joined(&slow, &calls, 1);
	cr_expect(eq(dbl, pair_ns(o, "cudaLaunchKernel", "cudaMemset"), 2200 + 15000 - 300), "%s",
		  o);
	cr_expect(eq(dbl, pair_ns(o, "cudaMemset", "cudaStreamSynchronize"), 3000 - 300), "%s", o);
}

/* By its price it takes 2 us; the lighter runs have it and its gap of 0.1 us in 1.3. Behind a wait
 * it is not looked at. */
Test(small_host_gaps, a_launch_takes_less_than_its_price)
{
	enum { IN_A_STEP = 4, LAUNCHES = 1 }; /* record, launch, memset, sync */
	struct shape full = {
		.steps = 40, .launch = 3000, .first = 400, .second = 1000, .third = 5000
	};
	struct shape calls = light;
	struct step step[3 * IN_A_STEP];

	calls.launch = 1200;
	calls.first = 100;
	steps_after(&full, joined(&full, &calls, 1), step, 3 * IN_A_STEP);
	for (int i = 0; i < 3 * IN_A_STEP; i += IN_A_STEP) {
		cr_expect(epsilon_eq(dbl, step[i + LAUNCHES].own_ns, 1300 - MADE_C, 1e-6));
		cr_expect(zero(dbl, step[i + LAUNCHES + 1].gap_ns));
	}
	cr_expect(eq(dbl, launch_at(&full, joined(&full, &calls, 1), 500), 0),
		  "at a price of 0.5 us, no less than nothing");
	full.driver = true; /* two launches in 1.3 us: one of them is not less than nothing */
	steps_after(&full, joined(&full, &calls, 1), step, IN_A_STEP + 1);
	cr_expect(epsilon_eq(dbl, step[LAUNCHES].own_ns, 0 - MADE_C, 1e-6));
	full.idle = calls.idle = true;
	steps_after(&full, joined(&full, &calls, 1), step, IN_A_STEP);
	cr_expect(zero(dbl, step[0].own_ns));
}
