/*
 * test_sweep_probe.c - harness/session/probe.c in a worker made by hand: what is tried, and what is
 * said of it. Time is this program's own: it passes in the fake's hooks, and by 1 ns at each of its
 * own readings.
 */
#include "tests/test.h"
#include "harness/session/worker.h"
#include "tests/cli.h"
#include "tests/fake_workload.h"

#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>

static void release(void);

TestSuite(small_sweep_probe, .fini = release, .timeout = 300);

static atomic_long now_ns = 1000000000;

/* A driver that polls reads the clock as often as the machine's load lets it. */
static bool is_ours(const void *caller)
{
	extern const char __executable_start[], etext[];

	return (uintptr_t)__executable_start <= (uintptr_t)caller &&
	       (uintptr_t)caller < (uintptr_t)etext;
}

/* In front of the C library's. */
int clock_gettime(clockid_t id, struct timespec *t)
{
	long ns;

	if (id != CLOCK_MONOTONIC_RAW)
		return (int)syscall(SYS_clock_gettime, id, t);
	ns = now_ns += is_ours(__builtin_return_address(0));
	*t = (struct timespec){ .tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000 };
	return 0;
}

static void pass(double ns)
{
	now_ns += (long)ns;
}

/* ---- a workload that takes time --------------------------------------------------------- */

static double cell_ns, ends_ns, reset_ns, setup_ns, check_ns, check_step_ns;
static double cells_most; /* more take no longer */
static int64_t limit_ms;
static long steps_run, stalled_step; /* by its number from 1; 0: none */
static double stall_ns;
static bool first;

static void run_step(void *opts)
{
	const struct fake_opts *o = opts;

	pass(cell_ns * fmin((double)o->cells, cells_most) + (first ? ends_ns : 0));
	first = false;
	steps_run++;
	if (steps_run == stalled_step)
		pass(stall_ns);
}

static int step(const void *o, void *state, cudaStream_t stream)
{
	cr_assert(zero(int, cudaLaunchHostFunc(stream, run_step, (void *)(uintptr_t)o)), "step");
	return workload_fake.step(o, state, stream);
}

static void run_reset(void *unused)
{
	(void)unused;
	pass(reset_ns);
	first = true;
}

static int reset(const void *o, void *state, cudaStream_t stream)
{
	cr_assert(zero(int, cudaLaunchHostFunc(stream, run_reset, NULL)), "reset");
	return workload_fake.reset(o, state, stream);
}

static int setup(const void *o, void *state)
{
	pass(setup_ns);
	return workload_fake.setup(o, state);
}

static int check(const void *o, void *state, int64_t steps, struct verdict *v)
{
	pass(check_ns + check_step_ns * (double)steps);
	return workload_fake.check(o, state, steps, v);
}

static int limits(const void *o, struct limits *out)
{
	out->launch_max_ms = out->launch_max_watched_ms = limit_ms;
	return workload_fake.limits(o, out);
}

/* ---- the worker --------------------------------------------------------------------------- */

static struct workload slow;
static const struct workload *const slows[] = { &slow, NULL };
static struct worker w;
static char *text;
static size_t size;
static json_t *kept; /* of said() */

static void release(void)
{
	if (!w.out)
		return;
	fclose(w.out);
	free(text);
	cudaStreamDestroy(w.stream);
	plan_release(&w.plan);
	free(w.skip);
	free(w.instance);
	json_decref(kept);
	kept = NULL;
	w = (struct worker){ 0 };
}

static void make(const char *sizes, char **args, int n)
{
	struct plan_request r = { .workload = slows,
				  .size = sizes,
				  .depth = "1,4",
				  .mode = "stream",
				  .assignment = args,
				  .n_assignments = n,
				  .design = design_of(true) };

	need_device();
	release();
	slow = workload_fake;
	slow.step = step;
	slow.reset = reset;
	slow.setup = setup;
	slow.check = check;
	slow.limits = limits;
	w = (struct worker){ .probe_limit_ns = (int64_t)1e15 };
	cr_assert(zero(int, plan_make(&w.plan, &r)), "plan");
	w.plan.free_bytes[0] = w.plan.free_bytes[1] = NAN;
	w.skip = calloc((size_t)w.plan.n_points, sizeof(*w.skip));
	w.instance = calloc((size_t)w.plan.n_configs, sizeof(*w.instance));
	cr_assert(w.skip && w.instance, "memory");
	w.out = open_memstream(&text, &size);
	cr_assert(zero(int, cudaStreamCreateWithFlags(&w.stream, cudaStreamNonBlocking)), "stream");
	cell_ns = 10e3;
	ends_ns = 39e3;
	reset_ns = 200e3;
	setup_ns = 7e6;
	check_ns = 300e3;
	check_step_ns = 1e3;
	cells_most = INFINITY;
	limit_ms = 0;
	fake_log.setups = fake_log.checks = 0;
	steps_run = stalled_step = 0;
}

/* What it said of a configuration, until the next call; NULL: nothing. */
static const json_t *said(int config)
{
	char *copy = strdup(text), *rest = copy, *line;

	while ((line = strsep(&rest, "\n"))) {
		json_t *o = json_loads(line, 0, NULL);

		if (!strcmp(get_text(o, "record"), "probe") &&
		    json_integer_value(json_object_get(o, "config")) == config) {
			free(copy);
			json_decref(kept);
			return kept = o;
		}
		json_decref(o);
	}
	free(copy);
	return NULL;
}

static double number(int config, const char *key)
{
	const json_t *v = json_object_get(said(config), key);

	return json_is_number(v) ? json_number_value(v) : NAN;
}

/* To what readings of the clock take: 1 us. */
static void is(int config, const char *key, double want)
{
	double got = number(config, key);

	cr_assert(epsilon_eq(dbl, got, want, 1e3), "%s of %d: %g, not %g", key, config, got, want);
}

/* How many steps a check was shared by, as many as `most` or two fewer: 300 us, and 1 us a step. */
static int64_t steps_of_check(int config, int64_t most)
{
	double each = number(config, "check_step_ns") - 1e3;
	int64_t n = llround(300e3 / each);

	cr_assert(epsilon_eq(dbl, each, 300e3 / (double)n, 10), "%d: %g", config, each);
	cr_assert(most - 2 <= n && n <= most, "%d: %ld steps", config, (long)n);
	return n;
}

static void is_unknown(int config, const char *key)
{
	cr_assert(isnan(number(config, key)), "%s of %d: %g", key, config, number(config, key));
}

static void probe(void)
{
	cr_assert(zero(int, worker_probe(&w)), "probe");
}

/* One step, and as many as take 5 ms. */
Test(small_sweep_probe, steps_by_two_lengths)
{
	int64_t steps[2];

	make("1,2", NULL, 0);
	probe();
	for (int i = 0; i < 2; i++) {
		is(i, "code", 0);
		is(i, "setup_ns", 7e6);
		is(i, "step_ns", 10e3 * (i + 1));
		is(i, "ends_ns", 39e3);
		is(i, "gap_ns", 200e3);
		is(i, "check_ends_ns", 301e3);
		steps[i] = steps_of_check(i, i ? 84 : 102); /* 5 ms by 59 and 49 us */
		cr_assert(zero(dbl, number(i, "launch_max_ns")), "no limit");
		cr_assert(le(dbl, 0, number(i, "device_bytes")), "bytes");
		cr_assert(lt(dbl, 0, number(i, "free_bytes")), "bytes");
	}
	cr_assert(eq(i64, fake_log.checked_steps, steps[1]), "%ld", (long)fake_log.checked_steps);
	cr_assert(eq(i64, steps_run, 5 * (1 + steps[0] + 1 + steps[1])), "%ld", steps_run);
	cr_assert(eq(int, fake_log.setups, 2), "%d", fake_log.setups);
	cr_assert(eq(int, fake_log.teardowns, 2), "%d", fake_log.teardowns);
}

Test(small_sweep_probe, no_more_steps_than_are_allowed)
{
	static const struct {
		const char *arg;
		double cell_ns;
		int64_t n;
	} rows[] = {
		{ "depth_max=0", 10, 256 }, /* at most */
		{ "depth_max=10", 10e3, 10 }, { "depth_max=100", 10e3, 100 },
		{ "depth_max=2", 90e6, 2 }, /* at least */
		{ "depth_max=0", 90e6, 2 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char *args[] = { (char *)(uintptr_t)rows[i].arg };

		make("1", args, 1);
		cell_ns = rows[i].cell_ns;
		ends_ns = cell_ns > 1e3 ? 39e3 : 390;
		probe();
		cr_assert(eq(i64, fake_log.checked_steps, rows[i].n), "%s, %g ns: %ld", rows[i].arg,
			  rows[i].cell_ns, (long)fake_log.checked_steps);
	}
}

/* Then a step is all of it, and how many are checked makes no difference. */
Test(small_sweep_probe, one_step_alone)
{
	char *args[] = { "depth_max=1" };

	make("1", args, 1);
	probe();
	is(0, "step_ns", 49e3);
	cr_assert(zero(dbl, number(0, "ends_ns")), "%g", number(0, "ends_ns"));
	is(0, "check_ends_ns", 301e3);
	is(0, "check_step_ns", 301e3);
	cr_assert(eq(i64, steps_run, 5), "%ld", steps_run);
	cr_assert(eq(int, fake_log.checks, 1), "%d", fake_log.checks);
}

/* Two blocks beyond 100 ms are enough, one beyond a second; and then two steps are not tried. */
Test(small_sweep_probe, long_steps_twice_or_once)
{
	make("1,2", NULL, 0);
	cell_ns = 60e6;
	probe();
	is(0, "step_ns", 60e6); /* 60 and 120 ms */
	is(1, "step_ns", 120e6 + 39e3);
	cr_assert(eq(i64, steps_run, 5 + 2 * 2 + 2), "%ld", steps_run);
	make("1", NULL, 0);
	cell_ns = 1.1e9;
	probe();
	is(0, "step_ns", 1.1e9 + 39e3);
	cr_assert(eq(i64, steps_run, 1), "%ld", steps_run);
}

/*
 * A block of 100 ms to the ns is not long: five of them, and two blocks of two steps. Of one that
 * takes 1 ns more there are two, and no others. Readings of the clock are in it, too, some ns.
 */
Test(small_sweep_probe, a_long_step_begins_beyond_the_limit)
{
	int not_long = 0, longs = 0;

	for (int more = -30; more < 5; more++) {
		make("1", NULL, 0);
		ends_ns = 0;
		cell_ns = 100e6 + more;
		steps_run = 0;
		probe();
		cr_expect(steps_run == (longs ? 2 : 9) || (!longs && steps_run == 2),
			  "100 ms and %d ns: %ld steps", more, steps_run);
		not_long += steps_run == 9;
		longs += steps_run == 2;
	}
	cr_expect(not_long && longs, "%d and %d", not_long, longs);
}

/* A machine that stands still for half a second in one block, whichever, is not taken for the step.
 */
Test(small_sweep_probe, a_stall_is_no_long_step)
{
	for (long k = 1; k <= 5; k++) {
		make("1,2", NULL, 0);
		stalled_step = k;
		stall_ns = 0.5e9;
		probe();
		for (int i = 0; i < 2; i++) {
			is(i, "step_ns", 10e3 * (i + 1));
			is(i, "ends_ns", 39e3);
		}
	}
}

/* Sizes of the workload's own end where one takes too long; those that were asked for do not. */
Test(small_sweep_probe, larger_sizes_of_its_own_are_hopeless)
{
	make(NULL, NULL, 0);
	cr_assert(eq(int, w.plan.n_configs, 3), "1, 32 and 1k cells");
	cell_ns = 5e6;
	probe();
	is(0, "step_ns", 5e6);
	is(1, "step_ns", 160e6 + 39e3);
	is_unknown(2, "step_ns");
	is_unknown(2, "setup_ns");
	cr_assert(eq(int, fake_log.setups, 2), "%d", fake_log.setups);
	make("1,32,1k", NULL, 0);
	cell_ns = 5e6;
	probe();
	is(2, "step_ns", 5120e6 + 39e3);
	cr_assert(eq(int, fake_log.setups, 3), "%d", fake_log.setups);
}

/*
 * The smallest size takes 1 ms, to the 1 us of is(): a share of 1e-3, which 64 times as much has
 * too.
 */
static void limited(double most, int limit, double step_ns, int setups)
{
	make("64", NULL, 0);
	cell_ns = 1e6;
	ends_ns = 0;
	cells_most = most;
	limit_ms = limit;
	probe();
	cr_assert(eq(dbl, number(0, "launch_max_ns"), 1e6 * limit), "limit");
	cr_assert(epsilon_eq(dbl, number(0, "step_ns"), step_ns, 1e-3 * step_ns),
		  "limit %d ms: %g, not %g", limit, number(0, "step_ns"), step_ns);
	cr_assert(eq(int, fake_log.setups, setups), "limit %d ms: %d", limit, fake_log.setups);
}

/* 64 cells are not tried where the smallest size, or a line through 1 and 16, says too long. */
Test(small_sweep_probe, launches_that_may_be_too_long_are_estimated)
{
	limited(INFINITY, 15, 64e6, 1);
	limited(INFINITY, 17, 64e6, 2);
	limited(INFINITY, 63, 64e6, 2);
	limited(INFINITY, 65, 64e6, 2); /* the smallest, and itself */
	/* it grows less than the smallest says */
	limited(2, 17, 2e6, 3);
	limited(8, 30, 8e6 + 7e6 * 48 / 15, 2);
	limited(8, 31, 8e6, 3);
}

Test(small_sweep_probe, the_smallest_size_is_harmless)
{
	make("1", NULL, 0);
	cell_ns = 3e6;
	ends_ns = 0;
	limit_ms = 2;
	probe();
	is(0, "step_ns", 3e6);
	cr_assert(eq(int, fake_log.setups, 1), "%d", fake_log.setups);
}

Test(small_sweep_probe, of_side_b_the_smallest_alone)
{
	make("1,2,4", NULL, 0);
	w.side = 1;
	w.probe_smallest = true;
	probe();
	is(0, "step_ns", 10e3);
	cr_assert(eq(ptr, (void *)(uintptr_t)said(1), NULL), "%s", text);
	cr_assert(eq(ptr, (void *)(uintptr_t)said(2), NULL), "%s", text);
	cr_assert(eq(dbl, w.plan.config[0].timing[1].step_ns, number(0, "step_ns")), "its side");
	cr_assert(isfinite(w.plan.free_bytes[1]) != 0, "its side");
	cr_assert(isnan(w.plan.free_bytes[0]) != 0, "not the other");
}

/* The two smallest are always tried; others where the time that they would take is left. */
static void in_time(int64_t limit_ns, int setups)
{
	make("1,2,4,8", NULL, 0);
	w.probe_limit_ns = limit_ns;
	probe();
	cr_assert(eq(int, fake_log.setups, setups), "%ld ns: %d", (long)limit_ns, fake_log.setups);
	for (int i = 0; i < 4; i++)
		cr_assert(epsilon_eq(dbl, number(i, "step_ns"), 10e3 * (1 << i), 100 * (1 << i)),
			  "%d: %g", i, number(i, "step_ns"));
}

Test(small_sweep_probe, what_there_is_no_time_for_is_predicted)
{
	in_time(0, 2);
	in_time((int64_t)75e6, 2);
	in_time((int64_t)80e6, 3);
	in_time((int64_t)1e12, 4);
}

/* Where the next size's would be long, the smallest is timed; others take what a sampled one does.
 */
Test(small_sweep_probe, long_checks_are_timed_once)
{
	make("1,2,4", NULL, 0);
	check_ns = 201e6;
	probe();
	cr_assert(eq(int, fake_log.checks, 2), "one step and many: %d", fake_log.checks);
	is(0, "check_ends_ns", 201e6 + 1e3);
	is(1, "check_ends_ns", 250e6);
	make("1,2,4", NULL, 0);
	check_ns = 199e6;
	probe();
	cr_assert(eq(int, fake_log.checks, 6), "short ones: %d", fake_log.checks);
}

static void fails_with(const char *hook, int setups)
{
	char arg[32], *args[] = { arg };

	snprintf(arg, sizeof(arg), "fail=%s", hook);
	make("1,2", args, 1);
	divert_stderr();
	probe();
	diverted_stderr();
	for (int i = 0; i < 2; i++) {
		is(i, "code", strcmp(hook, "check") ? EINVAL : 0);
		is_unknown(i, "check_ends_ns");
	}
	cr_assert(eq(int, fake_log.setups, setups), "%s: %d", hook, fake_log.setups);
}

Test(small_sweep_probe, hooks_that_fail)
{
	fails_with("setup", 2);
	fails_with("step", 2);
	fails_with("check", 2);
}

Test(small_sweep_probe, an_interrupt_ends_it)
{
	char *args[] = { "fail=check", "fail_errno=4" };

	make("1,2", args, 2);
	cr_assert(eq(int, worker_probe(&w), -EINTR), "interrupted");
	cr_assert(eq(ptr, (void *)(uintptr_t)said(0), NULL), "%s", text);
}
