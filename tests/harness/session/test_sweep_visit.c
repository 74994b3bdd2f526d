/*
 * test_sweep_visit.c - harness/session/visit.h, calibrate.h, harness/record/environment.h: what a
 * visit stores, what is steady, and which differences of two machines are seen. No clock is judged.
 */
#include "tests/test.h"
#include "harness/measure/measure.h"
#include "harness/record/environment.h"
#include "harness/session/calibrate.h"
#include "harness/session/visit.h"
#include "tests/cli.h"
#include "tests/fake_workload.h"

TestSuite(small_sweep_visit, .timeout = 300);

static struct fake_opts opts = { .launches = 1, .fail_errno = EINVAL };
static struct instance instance;
static struct canary canary;
static struct prepared prepared;

/* A point of the fake, ready to be visited; skips where there is no device. */
static void prepare(enum mode mode, int64_t depth)
{
	need_device();
	instance = (struct instance){ .workload = &workload_fake, .opts = &opts, .launches = 1 };
	instance.state = calloc(1, workload_fake.state_size);
	cr_assert(zero(int, cudaStreamCreateWithFlags(&instance.stream, cudaStreamNonBlocking)),
		  "stream");
	cr_assert(zero(int, workload_fake.setup(&opts, instance.state)), "setup");
	canary_init(&canary, instance.stream, false);
	prepared = (struct prepared){ .calls = depth };
	cr_assert(zero(int, submission_init(&prepared.submission, &instance, mode, depth)), "init");
	cr_assert(zero(int, visit_first(&prepared)), "first");
}

static const struct visit_rules easy = { .queue_depth = NAN, .canary_ns = 1, .canary_limit = 1e18 };

static struct design short_design(void)
{
	struct design d = design_of(true);

	d.blocks_min = d.blocks_max = 6;
	return d;
}

Test(small_sweep_visit, every_block_is_stored_every_fourth_with_events)
{
	struct design d = short_design();
	static struct visit v;

	prepare(MODE_STREAM, 5);
	prepared.last_ns = 9000000;
	fake_log.resets = fake_log.steps = 0;
	cr_assert(zero(int, visit_run(&v, &prepared, &canary, &d, &easy)), "visit");
	cr_assert(eq(int, v.n, 6), "blocks");
	cr_assert(eq(int, fake_log.resets, 7), "one untimed block before");
	cr_assert(eq(int, fake_log.steps, 35), "steps");
	for (int i = 0; i < v.n; i++) {
		cr_assert(lt(i64, 0, v.enq_ns[i]), "%d", i);
		cr_assert(le(i64, v.enq_ns[i], v.total_ns[i]), "%d", i);
		cr_assert(eq(int, !!(v.marks[i] & MARK_EVENTS), i == 3), "%d", i);
		cr_assert(zero(int, v.marks[i] & (MARK_CLOCK | MARK_QUEUE)), "%d", i);
	}
	cr_assert(eq(int, v.n_dev, 1), "one event pair");
	/* the count goes on in the next visit: blocks 7 and 11 of the point */
	cr_assert(zero(int, visit_run(&v, &prepared, &canary, &d, &easy)), "visit");
	cr_assert(ne(int, v.marks[1] & MARK_EVENTS, 0), "block 7");
	cr_assert(ne(int, v.marks[5] & MARK_EVENTS, 0), "block 11");
	cr_assert(eq(int, v.n_dev, 2), "two event pairs");
}

static void wait_2_ms(void *unused)
{
	(void)unused;
	for (int64_t begin = clock_ns(); clock_ns() - begin < 2000000;)
		;
}

static int slow_step(const void *o, void *state, cudaStream_t stream)
{
	cr_assert(zero(int, cudaLaunchHostFunc(stream, wait_2_ms, NULL)), "host function");
	return workload_fake.step(o, state, stream);
}

/* From event to event: what a step takes in the stream, and no more than the host has waited. */
Test(small_sweep_visit, the_device_times_blocks_too)
{
	struct workload slow = workload_fake;
	struct design d = short_design();
	static struct visit v;
	int64_t longest = 0;

	prepare(MODE_STREAM, 1);
	slow.step = slow_step;
	instance.workload = &slow;
	cr_assert(zero(int, visit_run(&v, &prepared, &canary, &d, &easy)), "visit");
	cr_assert(eq(int, v.n_dev, 1), "one event pair");
	for (int i = 0; i < v.n; i++)
		longest = v.total_ns[i] > longest ? v.total_ns[i] : longest;
	cr_assert(le(i64, 1999000, v.dev_ns[0]), "%ld ns", (long)v.dev_ns[0]);
	cr_assert(le(i64, v.dev_ns[0], longest + 1000), "%ld of %ld ns", (long)v.dev_ns[0],
		  (long)longest);
}

Test(small_sweep_visit, a_canary_that_is_off_marks)
{
	struct visit_rules strict = { .queue_depth = NAN, .canary_ns = 1, .canary_limit = 0.01 };
	struct design d = short_design();
	static struct visit v;

	prepare(MODE_STREAM, 1);
	prepared.last_ns = 10000000; /* no untimed block */
	fake_log.resets = 0;
	cr_assert(zero(int, visit_run(&v, &prepared, &canary, &d, &strict)), "visit");
	cr_assert(eq(int, fake_log.resets, v.n), "all blocks are timed");
	for (int i = 0; i < v.n; i++)
		cr_assert(ne(int, v.marks[i] & MARK_CLOCK, 0), "%d", i);
}

/* What a canary is said to have taken, and after the blocks. */
static int64_t canary_word, after_ns;

static int step_between(const void *o, void *state, cudaStream_t stream)
{
	canary_word = after_ns;
	return workload_fake.step(o, state, stream);
}

static bool is_marked(int64_t before, int64_t after)
{
	const struct visit_rules r = { .queue_depth = NAN, .canary_ns = 200, .canary_limit = 0.25 };
	struct design d = short_design();
	static struct visit v;

	canary_word = before;
	after_ns = after;
	prepared.last_ns = 10000000; /* no untimed block */
	cr_assert(zero(int, visit_run(&v, &prepared, &canary, &d, &r)), "visit");
	cr_assert(eq(i64, v.canary_ns[0], before), "before");
	cr_assert(eq(i64, v.canary_ns[1], after), "after");
	return v.marks[0] & MARK_CLOCK;
}

Test(small_sweep_visit, either_canary_marks)
{
	struct workload between = workload_fake;
	int64_t *word;

	prepare(MODE_STREAM, 1);
	between.step = step_between;
	instance.workload = &between;
	word = canary.word;
	canary.word = &canary_word;
	cr_assert(not(is_marked(200, 210)), "none is off");
	cr_assert(is_marked(300, 210), "before");
	cr_assert(is_marked(200, 100), "after");
	canary.word = word;
}

Test(small_sweep_visit, more_launches_than_the_queue_holds_are_marked)
{
	struct visit_rules full = { .queue_depth = 4, .canary_ns = 1, .canary_limit = 1e18 };
	struct design d = short_design();
	static struct visit v;

	prepare(MODE_STREAM, 5);
	cr_assert(zero(int, visit_run(&v, &prepared, &canary, &d, &full)), "visit");
	cr_assert(ne(int, v.marks[0] & MARK_QUEUE, 0), "5 of 4");
}

Test(small_sweep_visit, a_failing_hook_fails_the_visit)
{
	struct design d = short_design();
	static struct visit v;

	prepare(MODE_STREAM, 1);
	opts.fail = FAKE_STEP;
	cr_assert(eq(int, visit_run(&v, &prepared, &canary, &d, &easy), -EINVAL), "step");
}

static json_int_t at(const json_t *o, const char *key, size_t i)
{
	const json_t *v = json_object_get(o, key);

	return json_integer_value(json_is_array(v) ? json_array_get(v, i) : v);
}

/* A GPU's clock: 400000 cycles in 200 us are 2000 MHz. */
Test(small_sweep_visit, a_visit_as_a_line)
{
	static struct visit v = { .n = 2,
				  .n_dev = 1,
				  .enq_ns = { 11, 12 },
				  .total_ns = { 21, 22 },
				  .dev_ns = { 31 },
				  .marks = { MARK_EVENTS, 0 },
				  .canary_ns = { 200000, 250000 },
				  .utime_us = 41,
				  .stime_us = 42 };
	const struct canary gpu = { .is_gpu = true }, cpu = { 0 };
	json_t *o = visit_json(&v, &gpu);

	cr_assert(at(o, "t_enq_ns", 0) == 11 && at(o, "t_enq_ns", 1) == 12, "enqueued");
	cr_assert(at(o, "t_total_ns", 0) == 21 && at(o, "t_total_ns", 1) == 22, "total");
	cr_assert(at(o, "t_dev_ns", 0) == 31 && at(o, "marks", 0) == MARK_EVENTS, "events");
	cr_assert(eq(sz, json_array_size(json_object_get(o, "t_total_ns")), 2), "total");
	cr_assert(eq(sz, json_array_size(json_object_get(o, "t_dev_ns")), 1), "one of two");
	cr_assert(eq(sz, json_array_size(json_object_get(o, "marks")), 2), "marks");
	cr_assert(at(o, "canary_ns", 0) == 200000 && at(o, "canary_ns", 1) == 250000, "canaries");
	cr_assert(at(o, "sm_clock_mhz", 0) == 2000 && at(o, "sm_clock_mhz", 1) == 1600, "MHz");
	cr_assert(at(o, "utime_us", 0) == 41 && at(o, "stime_us", 0) == 42, "times");
	cr_assert(eq(int, json_typeof(json_object_get(o, "steal_ticks")), JSON_INTEGER),
		  "none was stolen");
	json_decref(o);
	v.steal_ticks = -1;
	o = visit_json(&v, &cpu);
	cr_assert(eq(int, json_typeof(json_object_get(o, "steal_ticks")), JSON_NULL), "not known");
	cr_assert(eq(int, json_typeof(json_array_get(json_object_get(o, "sm_clock_mhz"), 0)),
		     JSON_NULL),
		  "no clock");
	json_decref(o);
}

/*
 * A quarter on either side, which doubles hold exactly; what is not known is off. A device whose
 * clock stands still has canaries of no time, which are no share of anything.
 */
Test(small_sweep_visit, a_canary_may_be_off_by_the_limit)
{
	const struct visit_rules r = { .queue_depth = NAN, .canary_ns = 200, .canary_limit = 0.25 };
	struct visit_rules unknown = r;
	static const struct {
		int64_t ns;
		bool off;
	} rows[] = { { 149, true }, { 150, false }, { 200, false }, { 250, false }, { 251, true } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		cr_assert(eq(int, visit_is_off(&r, rows[i].ns), rows[i].off), "%ld ns",
			  (long)rows[i].ns);
	unknown.canary_ns = NAN;
	cr_assert(visit_is_off(&unknown, 200), "NaN");
	unknown.canary_ns = 0;
	cr_assert(not(visit_is_off(&unknown, 0)), "no clock");
}

Test(small_sweep_visit, blocks_by_the_design)
{
	struct design full = design_of(false), quick = design_of(true);

	/* measurement: 2 ms of blocks, 3 to 200; quick 0.5 ms, 3 to 50 */
	cr_assert(eq(int, design_visit_blocks(&full, 1), 200), "most");
	cr_assert(eq(int, design_visit_blocks(&full, 1e4), 200), "2 ms / 10 us");
	cr_assert(eq(int, design_visit_blocks(&full, 3e4), 67), "rounded up");
	cr_assert(eq(int, design_visit_blocks(&full, 1e8), 3), "least");
	cr_assert(eq(int, design_visit_blocks(&quick, 1), 50), "most");
	cr_assert(eq(int, design_visit_blocks(&quick, 1e5), 5), "0.5 ms / 100 us");
	cr_assert(design_has_untimed(9.99e6) && !design_has_untimed(1e7), "below 10 ms");
}

Test(small_sweep_visit, steady_canaries)
{
	double level[WARM_CANARIES], rising[WARM_CANARIES], wide[WARM_CANARIES];

	for (int i = 0; i < WARM_CANARIES; i++) {
		level[i] = 200000 + (i % 2) * 500;  /* within 0.25 %, level */
		rising[i] = 200000 + i * 210;	    /* within 1 %, 0.105 % a run */
		wide[i] = 200000 + (i == 4) * 2100; /* level, but 1.05 % wide */
	}
	cr_assert(warm_is_steady(level), "level");
	cr_assert(not(warm_is_steady(rising)), "rising");
	cr_assert(not(warm_is_steady(wide)), "wide");
	level[9] = NAN;
	cr_assert(not(warm_is_steady(level)), "NaN");
}

/* Straight lines around 1 ms that rise or fall by such a share a run, and canaries so far apart. */
static bool is_steady(double slope, double apart)
{
	double ns[WARM_CANARIES];

	for (int i = 0; i < WARM_CANARIES; i++)
		ns[i] = 1e6 * (1 + slope * (i - 4.5) + (i == 4 ? apart : i == 5 ? -apart : 0) / 2);
	return warm_is_steady(ns);
}

Test(small_sweep_visit, canaries_just_steady_and_just_not)
{
	cr_assert(is_steady(0.000995, 0) && is_steady(-0.000995, 0), "0.0995 %% a run");
	cr_assert(not(is_steady(0.001005, 0) || is_steady(-0.001005, 0)), "0.1005 %% a run");
	cr_assert(is_steady(0, 0.00995) && is_steady(0, -0.00995), "0.995 %% apart");
	cr_assert(not(is_steady(0, 0.01005) || is_steady(0, -0.01005)), "1.005 %% apart");
}

Test(small_sweep_visit, the_tick_is_the_least_step)
{
	double steps[] = { 4096, 1024, 1536, 1024, 4608, 3072 }, equal[] = { 512, 512, 512 };

	cr_assert(eq(dbl, calibration_tick(steps, 6), 512), "1024 to 1536, 4096 to 4608");
	cr_assert(eq(dbl, calibration_tick((double[]){ 0, 2048 }, 2), 2048), "of two");
	cr_assert(isnan(calibration_tick(equal, 3)), "no step");
	cr_assert(isnan(calibration_tick(equal, 1)), "of one");
}

Test(small_sweep_visit, calibration_finds_something)
{
	struct calibration c;
	int64_t begin;

	prepare(MODE_STREAM, 1);
	begin = clock_ns();
	calibrate(&c, &canary);
	/* some hundred pairs take no longer than all of it */
	cr_assert(lt(dbl, c.event_pair_cost_ns, (double)(clock_ns() - begin)), "events");
	cr_assert(lt(dbl, 0, c.clock_cost_ns), "clock");
	cr_assert(lt(dbl, 0, c.clock_tick_ns), "tick");
	cr_assert(lt(dbl, 0, c.event_pair_cost_ns), "events");
	cr_assert(lt(dbl, 0, c.canary_ns), "canary");
	cr_assert(lt(dbl, 0, c.spin_cycles_per_us), "spin");
	cr_assert(lt(dbl, 0, c.clock_offset_err_ns), "offset");
	/* a number, or NaN for no limit: never a silent zero */
	cr_assert(ne(dbl, c.queue_depth, 0), "queue");
}
