/*
 * test_program_price.c - harness/profile/program_price.h: programs whose times follow from the
 * prices exactly, on a platform that costs a known amount more.
 */
#include "tests/test.h"
#include "harness/profile/program_price.h"
#include "tests/made_trace.h"

TestSuite(small_program_price, .timeout = 60);

static const struct kind_rules rules = KIND_DEFAULTS;
static struct made made;
static struct profile profile;
static struct fit fit_a, fit_b;
static struct price_sources sources;
static struct program_price price;

/* ---- platforms ---------------------------------------------------------------------------- */

enum { PROCESSES = 7 };

/* As MADE_CALIBRATION says, with graphs of 3000 + 10 n and 500 between nodes beside 1000 of K0. */
static const struct model model_a = { .v = {
					      [MODEL_C] = 2000,
					      [MODEL_P] = 2000,
					      [MODEL_G] = 2000,
					      [MODEL_Z] = 10000,
					      [MODEL_CLOCK] = 1,
					      [MODEL_Q] = INFINITY,
					      [MODEL_W] = 10000,
					      [MODEL_GRAPH_A] = 3000,
					      [MODEL_GRAPH_B] = 10,
					      [MODEL_GRAPH_Z] = 8000,
					      [MODEL_GRAPH_G] = 1500,
				      } };

/* A session that holds the gap between kernels. */
static void fit_as(struct fit *f, const struct model *m)
{
	*f = (struct fit){ .model = *m, .n = PROCESSES, .has = { true, true, true } };
	f->param[MODEL_G].identified = true;
	f->draw = malloc(BOOTSTRAP_DRAWS * sizeof(*f->draw));
	cr_assert(ne(ptr, f->draw, NULL), "memory");
	for (int d = 0; d < BOOTSTRAP_DRAWS; d++)
		f->draw[d] = *m;
}

/* The pace of launches is known to so many ns on either side, evenly. */
static void spread_pace(struct fit *f, double ns)
{
	double p = f->model.v[MODEL_P];

	f->param[MODEL_P].identified = true;
	f->param[MODEL_P].interval = (struct interval){ p, p - ns, p + ns, PROCESSES, true };
	for (int d = 0; d < BOOTSTRAP_DRAWS; d++)
		f->draw[d].v[MODEL_P] = p + ns * (2.0 * d / (BOOTSTRAP_DRAWS - 1) - 1);
}

static struct model dearer(enum model_param param, double ns)
{
	struct model m = model_a;

	m.v[param] += ns;
	return m;
}

/* c and p, and Z, which c is in. */
static struct model dearer_calls(double ns)
{
	struct model m = dearer(MODEL_C, ns);

	m.v[MODEL_P] += ns;
	m.v[MODEL_Z] += ns;
	return m;
}

/* ---- programs ----------------------------------------------------------------------------- */

enum { N = 50 };

static void begin(void)
{
	made_begin(&made, "", MADE_CALIBRATION);
}

/* N launches in a row of kernels of kernel_ns, then a synchronize, as they come about. */
static long batch(long kernel_ns)
{
	long end = 0;

	begin();
	for (long i = 0; i < N; i++) {
		long told = (i + 1) * MADE_C + MADE_L, free = end + MADE_G;
		long start = i && free > told ? free : told;

		made_kernel(&made, 2, i * MADE_C, start, start + kernel_ns);
		end = start + kernel_ns;
	}
	end += MADE_WAKE;
	made_call(&made, "sync_device", N * MADE_C, end, "");
	made_end(&made, end, 5, end);
	return end;
}

/* N times a launch and a synchronize. */
static long turns(long kernel_ns)
{
	long t = 0;

	begin();
	for (long i = 0; i < N; i++) {
		long start = t + MADE_C + MADE_L;

		made_kernel(&made, 2, t, start, start + kernel_ns);
		made_call(&made, "sync_device", t + MADE_C, start + kernel_ns + MADE_WAKE, "");
		t = start + kernel_ns + MADE_WAKE;
	}
	made_end(&made, t, 5, t);
	return t;
}

static void begin_prices(const struct model *b)
{
	cr_assert(zero(int, profile_make(&profile, made.path, &rules, false)), "%s", made.path);
	fit_as(&fit_a, &model_a);
	fit_as(&fit_b, b);
	sources.a = &fit_a;
	sources.b = &fit_b;
}

static void price_on(const struct model *b, bool with_a)
{
	begin_prices(b);
	if (!with_a)
		sources.a = NULL;
	program_price_make(&price, &profile, &sources);
}

static void end(void)
{
	program_price_release(&price);
	profile_release(&profile);
	free(fit_a.draw);
	free(fit_b.draw);
	made_remove(&made);
}

static void takes(double ns)
{
	cr_expect(epsilon_eq(dbl, price.b_ns.value, ns, 1e-6), "on B");
	end();
}

/* ---- launches ----------------------------------------------------------------------------- */

Test(small_program_price, the_same_platform_takes_as_long)
{
	long ns = batch(500);

	price_on(&model_a, true);
	cr_expect(epsilon_eq(dbl, price.a_ns.value, (double)ns, 1e-6), "on A");
	cr_expect(epsilon_eq(dbl, price.b_ns.lo, (double)ns, 1e-6), "lower");
	cr_expect(epsilon_eq(dbl, price.b_ns.hi, (double)ns, 1e-6), "upper");
	cr_expect(not(price.reordered), "one stream");
	takes((double)ns);
}

Test(small_program_price, nor_does_it_without_a_fit_of_a)
{
	long ns = batch(500);

	price_on(&model_a, false);
	takes((double)ns);
}

/* Launch-bound: each of the N calls is on the way to the end. */
Test(small_program_price, a_dearer_call_is_paid_by_each_launch)
{
	long ns = batch(500);
	struct model b = dearer_calls(1000);

	price_on(&b, true);
	/* and 1 us more on B would be, too */
	cr_expect(epsilon_eq(dbl, price.cost_ns[COST_LAUNCH], N * 1000, 1e-6));
	takes((double)ns + N * 1000);
}

Test(small_program_price, and_alone_by_the_first_where_kernels_are_longer)
{
	long ns = batch(50000);
	struct model b = dearer_calls(1000);

	price_on(&b, true);
	takes((double)ns + 1000);
}

Test(small_program_price, a_gap_is_paid_between_kernels)
{
	long ns = batch(50000);
	struct model b = dearer(MODEL_G, 300);

	price_on(&b, true);
	takes((double)ns + (N - 1) * 300);
}

/* A fit that cannot tell g has some number for it, which no price may take. */
Test(small_program_price, a_gap_that_b_does_not_hold_is_that_of_a)
{
	long ns = batch(50000);
	struct model b = dearer(MODEL_G, 300);

	for (int with_a = 0; with_a < 2; with_a++) {
		begin_prices(&b);
		fit_b.param[MODEL_G].identified = false;
		sources.a = with_a ? &fit_a : NULL;
		program_price_make(&price, &profile, &sources);
		cr_expect(eq(dbl, price.on_b.gap_ns, price.on_a.gap_ns), "g; A's fit: %d", with_a);
		cr_expect(epsilon_eq(dbl, price.b_ns.value, (double)ns, 1e-6), "on B");
		program_price_release(&price);
		profile_release(&profile);
		free(fit_a.draw);
		free(fit_b.draw);
	}
	made_remove(&made);
}

/* 2300 ns, less the empty kernel of 1000 that the trace's own 1000 are beside. */
Test(small_program_price, a_gap_that_a_does_not_hold_is_all_of_b)
{
	struct model b = dearer(MODEL_G, 300);

	batch(50000);
	begin_prices(&b);
	fit_a.param[MODEL_G].identified = false;
	fit_a.model.v[MODEL_G] = 0;
	program_price_make(&price, &profile, &sources);
	cr_expect(eq(dbl, price.on_b.gap_ns, 1300), "%g", price.on_b.gap_ns);
	end();
}

Test(small_program_price, a_longer_way_is_paid_by_each_wait)
{
	long ns = turns(4000);
	struct model b = dearer(MODEL_Z, 2000);

	price_on(&b, true);
	takes((double)ns + N * 2000);
}

/* p above c: a layer's queue, which the host does not wait for but the device does. */
Test(small_program_price, a_slow_submission_sets_the_pace)
{
	long ns = batch(500), b_ns;
	struct model b = model_a;

	b.v[MODEL_P] = 7000;
	b.v[MODEL_Z] += 7000; /* L and wake as before, d beside them */
	price_on(&b, true);
	b_ns = MADE_C + N * 7000 + MADE_L + 500 + MADE_WAKE;
	cr_expect(eq(dbl, price.on_b.submission_ns, 7000.0), "d");
	cr_expect(ne(dbl, (double)ns, (double)b_ns), "another time");
	takes((double)b_ns);
}

Test(small_program_price, graphs_by_their_nodes_and_gaps)
{
	struct model b = model_a;
	long start = 3100 + 4500, end_ns = start + 20000, ns = end_ns + MADE_WAKE;

	b.v[MODEL_GRAPH_A] += 4000;
	b.v[MODEL_GRAPH_B] += 100;
	b.v[MODEL_GRAPH_G] += 50;
	begin();
	made_call(&made, "graph_launch", 0, 3100, ",\"graph\":1");
	made_op(&made, "graph", 2, start, end_ns, ",\"graph\":1");
	made_call(&made, "sync_device", 3100, ns, "");
	made_end(&made, ns, 5, ns);
	price_on(&b, true);
	takes((double)ns + 4000 + 10 * 100 + 9 * 50);
}

/* A call of 25 us is a pace of 25 us: a stage of as much behind it would not fit into Z. */
Test(small_program_price, a_dear_call_is_no_stage_behind_itself)
{
	long ns = turns(4000);
	struct model b = dearer_calls(23000);

	b.v[MODEL_P] += 10;
	price_on(&b, true);
	takes((double)ns + N * 23000);
}

/* p is 50 ns above c, which it is known to 100 ns of: there is no stage, and turns cost as much. */
Test(small_program_price, a_pace_that_may_be_the_call_is_no_stage)
{
	long ns = turns(4000);
	struct model b = dearer(MODEL_P, 50);

	begin_prices(&b);
	fit_b.param[MODEL_C].interval = (struct interval){ 2000, 1900, 2100, PROCESSES, true };
	fit_b.param[MODEL_P].interval = (struct interval){ 2050, 1950, 2150, PROCESSES, true };
	program_price_make(&price, &profile, &sources);
	cr_expect(zero(dbl, price.on_b.submission_ns), "a stage of %g ns",
		  price.on_b.submission_ns);
	takes((double)ns);
}

/* ---- the interval ------------------------------------------------------------------------- */

Test(small_program_price, an_interval_of_the_pace_is_n_times_as_wide)
{
	struct model b = dearer_calls(1000);
	long ns = batch(500);
	double half;

	cr_assert(zero(int, profile_make(&profile, made.path, &rules, false)), "%s", made.path);
	fit_as(&fit_a, &model_a);
	fit_as(&fit_b, &b);
	spread_pace(&fit_b, 100);
	sources = (struct price_sources){ .a = &fit_a, .b = &fit_b };
	program_price_make(&price, &profile, &sources);
	/* 95 % of an even spread, twice; Z does not move, so one launch is not in it */
	half = sqrt(2) * 0.95 * 100 * (N - 1);
	cr_expect(epsilon_eq(dbl, price.spread_ns[SPREAD_LAUNCHES_B], half, 0.02 * 100 * N), "%g",
		  price.spread_ns[SPREAD_LAUNCHES_B]);
	cr_expect(zero(dbl, price.spread_ns[SPREAD_RUNS]), "runs without a spread");
	cr_expect(zero(dbl, price.spread_ns[SPREAD_LAUNCHES_A]), "nor has A any");
	/* and as sessions differ: 1.41 % of what B adds, 49 us */
	cr_expect(epsilon_eq(dbl, price.spread_ns[SPREAD_SESSION], 1.96 * 0.01414 * N * 1000, 60),
		  "%g", price.spread_ns[SPREAD_SESSION]);
	half = 1.05 * half;
	cr_expect(epsilon_eq(dbl, price.b_ns.hi - price.b_ns.value, half, 0.02 * half), "%g",
		  price.b_ns.hi - price.b_ns.value);
	cr_expect(epsilon_eq(dbl, price.b_ns.value - price.b_ns.lo, half, 0.02 * half), "%g",
		  price.b_ns.value - price.b_ns.lo);
	cr_expect(eq(int, price.b_ns.n, 5), "runs are fewest");
	takes((double)ns + N * 1000);
}

/* Processes that do nothing take 200 us, one of five 300: a program on B may start as late. */
Test(small_program_price, an_interval_holds_a_late_start)
{
	long ns = batch(500);

	begin_prices(&model_a);
	profile.trace.plain_empties = 5;
	for (int i = 0; i < 5; i++)
		profile.trace.plain_empty_ns[i] = i == 3 ? 300000 : 200000;
	program_price_make(&price, &profile, &sources);
	cr_expect(epsilon_eq(dbl, price.b_ns.hi, (double)ns + 100000, 1e-6), "upper");
	cr_expect(epsilon_eq(dbl, price.b_ns.lo, (double)ns, 1e-6), "lower");
	takes((double)ns);
}

/* ---- call costs --------------------------------------------------------------------------- */

/* Rows of both platforms: B's copies have 20 us more and half the rate, its calls so much more. */
static json_t *costs(double fixed_us, double rate, double malloc_us, double record_us)
{
	json_t *rows = json_array();
	const struct {
		const char *workload, *name, *unit;
		double value;
	} row[] = { { "transfer", "h2d pinned fixed", "us", fixed_us },
		    { "transfer", "h2d pinned 4 B call", "us", 2 },
		    { "transfer", "h2d pinned rate", "GB/s", rate },
		    { "transfer", "h2d pageable fixed", "us", fixed_us },
		    { "transfer", "h2d pageable rate", "GB/s", rate / 5 },
		    { "transfer", "d2h pinned rate", "GB/s", rate },
		    { "transfer", "d2h pageable rate", "GB/s", rate / 5 },
		    { "memory", "cudaMalloc", "us", malloc_us },
		    { "launch", "event record", "us", record_us } };

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++)
		json_array_append_new(rows, json_pack("{s:s, s:s, s:s, s:f}", "workload",
						      row[i].workload, "name", row[i].name, "unit",
						      row[i].unit, "median", row[i].value));
	return json_pack("{s:o}", "rows", rows);
}

static void with_costs(void)
{
	sources.costs_a = costs(8, 50, 60, 0.3);
	sources.costs_b = costs(28, 25, 100, 0.8);
}

/* cudaMemcpy of 1 MB at 50 GB/s: 20,971.52 ns there, twice as long and 20 us later on B. */
static long copy_and_wait(const char *memory)
{
	char more[120];

	begin();
	snprintf(more, sizeof(more),
		 ",\"direction\":\"to_device\",\"bytes\":1048576,"
		 "\"memory\":\"%s\",\"async\":false",
		 memory);
	made_call(&made, "copy", 0, 40000, ",\"bytes\":1048576,\"async\":false");
	made_op(&made, "copy", 1, 5000, 35000, more);
	made_end(&made, 40000, 5, 40000);
	return 40000;
}

Test(small_program_price, copies_by_the_call_costs_of_both)
{
	long ns = copy_and_wait("pinned");

	with_costs();
	price_on(&model_a, true);
	takes((double)ns + 20000 + 1048576 * (1 / 25.0 - 1 / 50.0));
}

/* A row of both files, with intervals. */
static void add_row_of(const char *workload, const char *name, const double a_us[3],
		       const double b_us[3])
{
	const double *us[] = { a_us, b_us };
	const json_t *files[] = { sources.costs_a, sources.costs_b };

	for (int i = 0; i < 2; i++)
		json_array_append_new(json_object_get(files[i], "rows"),
				      json_pack("{s:s, s:s, s:s, s:f, s:f, s:f}", "workload",
						workload, "name", name, "unit", "us", "median",
						us[i][0], "lo", us[i][1], "hi", us[i][2]));
}

static void add_row(const char *name, const double a_us[3], const double b_us[3])
{
	add_row_of("transfer", name, a_us, b_us);
}

static void add_starts(double lo_us)
{
	add_row_of("process", "start and end", (double[]){ 100, 90, 110 },
		   (double[]){ 300, lo_us, 310 });
}

/* Both are known to 10 us: their difference, as it is and as it will be, to 20. */
Test(small_program_price, a_process_that_begins_and_ends_slower_on_b)
{
	long ns = batch(500);

	with_costs();
	add_starts(290);
	price_on(&model_a, true);
	cr_expect(epsilon_eq(dbl, price.spread_ns[SPREAD_STARTS], 20000, 600), "%g",
		  price.spread_ns[SPREAD_STARTS]);
	cr_expect(epsilon_eq(dbl,
			     price.shares_b.ns[SHARE_OUTSIDE] - profile.shares.ns[SHARE_OUTSIDE],
			     200000, 1e-6),
		  "outside");
	takes((double)ns + 200000);
}

Test(small_program_price, a_start_that_the_files_do_not_tell_apart_is_equal)
{
	long ns = batch(500);

	with_costs();
	add_starts(90);
	price_on(&model_a, true);
	takes((double)ns);
}

/* No start is in the time of a part. */
Test(small_program_price, a_part_of_a_program_does_not_start)
{
	long ns = batch(500);

	with_costs();
	add_starts(290);
	begin_prices(&model_a);
	profile.trace.partial = true;
	program_price_make(&price, &profile, &sources);
	takes((double)ns);
}

/* 1 MiB is known to 2 us on either side: hypot(2, 2), and as much for what will be measured. */
Test(small_program_price, call_costs_are_known_to_their_intervals)
{
	long ns = copy_and_wait("pageable");

	with_costs();
	add_row("h2d pageable 64 KiB", (double[]){ 20, 19, 21 }, (double[]){ 21, 20, 22 });
	add_row("h2d pageable 1 MiB", (double[]){ 150, 148, 152 }, (double[]){ 170, 168, 172 });
	add_row("h2d pageable 16 MiB", (double[]){ 900, 890, 910 }, (double[]){ 990, 970, 1000 });
	price_on(&model_a, true);
	cr_expect(epsilon_eq(dbl, price.spread_ns[SPREAD_CALLS], 4000, 120), "%g",
		  price.spread_ns[SPREAD_CALLS]);
	takes((double)ns + 20000);
}

/* 1 MiB takes 10 us less on B, though its largest copies are slower and its fixed part longer. */
Test(small_program_price, copies_of_a_size_that_is_measured)
{
	long ns = copy_and_wait("pageable");

	with_costs();
	add_row("h2d pageable 64 KiB", (double[]){ 20, 19, 21 }, (double[]){ 21, 20, 22 });
	add_row("h2d pageable 1 MiB", (double[]){ 150, 148, 152 }, (double[]){ 140, 138, 142 });
	add_row("h2d pageable 16 MiB", (double[]){ 900, 890, 910 }, (double[]){ 990, 970, 1000 });
	price_on(&model_a, true);
	takes((double)ns - 10000);
}

/* Their intervals overlap: B's copies are taken to last as long. */
Test(small_program_price, what_two_files_do_not_tell_apart_is_equal)
{
	long ns = copy_and_wait("pageable");

	with_costs();
	add_row("h2d pageable 64 KiB", (double[]){ 20, 19, 21 }, (double[]){ 21, 20, 22 });
	add_row("h2d pageable 1 MiB", (double[]){ 150, 138, 152 }, (double[]){ 140, 128, 142 });
	add_row("h2d pageable 16 MiB", (double[]){ 900, 890, 910 }, (double[]){ 990, 970, 1000 });
	price_on(&model_a, true);
	takes((double)ns);
}

/* Their intervals overlap, but 0 is not in that of their difference, 12 us give or take 11.4. */
Test(small_program_price, intervals_that_overlap_may_be_told_apart)
{
	long ns = copy_and_wait("pageable");

	with_costs();
	add_row("h2d pageable 64 KiB", (double[]){ 20, 19, 21 }, (double[]){ 21, 20, 22 });
	add_row("h2d pageable 1 MiB", (double[]){ 150, 141, 160 }, (double[]){ 138, 132, 145 });
	add_row("h2d pageable 16 MiB", (double[]){ 900, 890, 910 }, (double[]){ 990, 970, 1000 });
	price_on(&model_a, true);
	takes((double)ns - 12000);
}

/*
 * A kernel of 30 us and, queued behind it, a copy back: 20 us of the device and 60 us in which the
 * host takes it out of the driver's memory. It takes so much more on B.
 */
static void copy_back_takes(double more_us)
{
	const double a_us = 100, b_us = a_us + more_us;
	long kernel_end = MADE_C + MADE_L + 30000, end_ns = kernel_end + MADE_G + 20000 + 60000;

	begin();
	made_kernel(&made, 1, 0, MADE_C + MADE_L, kernel_end);
	made_call(&made, "copy", MADE_C, end_ns, ",\"bytes\":1048576,\"async\":true");
	made_op(&made, "copy", 1, kernel_end + MADE_G, end_ns - 60000,
		",\"direction\":\"to_host\",\"bytes\":1048576,\"memory\":\"pageable\",\"async\":"
		"true");
	made_end(&made, end_ns, 5, end_ns);
	with_costs();
	add_row("d2h pageable 64 KiB", (double[]){ 9, 8, 10 }, (double[]){ 9, 8, 10 });
	add_row("d2h pageable 1 MiB", (double[]){ a_us, a_us - 1, a_us + 1 },
		(double[]){ b_us, b_us - 1, b_us + 1 });
	add_row("d2h pageable 16 MiB", (double[]){ 900, 890, 910 }, (double[]){ 900, 890, 910 });
	price_on(&model_a, true);
	takes((double)end_ns + 1000 * more_us);
}

Test(small_program_price, a_copy_back_is_paid_behind_the_kernel_that_it_waits_for)
{
	copy_back_takes(15);
}

Test(small_program_price, and_so_is_what_it_takes_less)
{
	copy_back_takes(-50);
}

/* 60 us of the host's and 10 of the device's. */
Test(small_program_price, less_than_the_hosts_part_is_the_devices)
{
	copy_back_takes(-70);
}

/* A copy of 1 MiB takes 40 us; the probe has so much for one on both platforms. */
static void probe_says(const char *memory, double us)
{
	copy_and_wait(memory);
	with_costs();
	add_row("h2d pageable 64 KiB", (double[]){ 9, 8, 10 }, (double[]){ 9, 8, 10 });
	add_row("h2d pageable 1 MiB", (double[]){ us, us - 1, us + 1 },
		(double[]){ us, us - 1, us + 1 });
	add_row("h2d pageable 16 MiB", (double[]){ 900, 890, 910 }, (double[]){ 900, 890, 910 });
	price_on(&model_a, true);
}

Test(small_program_price, pageable_copies_that_the_probe_does_not_know_are_doubtful)
{
	probe_says("pageable", 25);
	cr_expect(epsilon_eq(dbl, price.copies_ratio, 1.6, 1e-9), "40 us for 25");
	cr_expect(price.slow_copies && program_price_doubtful(&price), "slow");
	end();
}

/* In turn 1 MiB takes a_us on A and b_us on B, in both directions. */
static void turns_say(double a_us, double b_us)
{
	static const char *const direction[] = { "h2d", "d2h" }, *const size[] = { "64 KiB",
										   "1 MiB",
										   "16 MiB" };
	char name[64];

	for (int d = 0; d < 2; d++)
		for (int i = 0; i < 3; i++) {
			double times = i == 0 ? 0.3 : i == 1 ? 1 : 30;

			snprintf(name, sizeof(name), "%s pageable %s in turn", direction[d],
				 size[i]);
			add_row(name,
				(double[]){ times * a_us, times * a_us - 1, times * a_us + 1 },
				(double[]){ times * b_us, times * b_us - 1, times * b_us + 1 });
		}
}

/* A copy to the device and one back, of 1 MiB and 40 us each; the one alone where `one_way`. */
static void pair_of_copies(bool one_way)
{
	static const char *const direction[] = { "to_device", "to_host" };
	long t = 0;

	begin();
	for (int d = 0; d < (one_way ? 1 : 2); d++, t += 40000) {
		char more[120];

		snprintf(more, sizeof(more),
			 ",\"direction\":\"%s\",\"bytes\":1048576,\"memory\":\"pageable\","
			 "\"async\":false",
			 direction[d]);
		made_call(&made, "copy", t, t + 40000, ",\"bytes\":1048576,\"async\":false");
		made_op(&made, "copy", 1, t + 5000, t + 35000, more);
	}
	made_end(&made, t, 5, t);
}

/* They take 25 us each alone on both platforms; in turn so much on A, and 20 us more on B. */
static void price_pair(bool one_way, double a_us)
{
	static const char *const direction[] = { "h2d", "d2h" };
	char name[64];

	pair_of_copies(one_way);
	with_costs();
	for (int d = 0; d < 2; d++) {
		const double large[] = { 900, 890, 910 }, us[] = { 25, 24, 26 },
			     small[] = { 9, 8, 10 }, fixed[] = { 8, 7, 9 };

		snprintf(name, sizeof(name), "%s pageable fixed", direction[d]);
		add_row(name, fixed, fixed);
		snprintf(name, sizeof(name), "%s pageable 64 KiB", direction[d]);
		add_row(name, small, small);
		snprintf(name, sizeof(name), "%s pageable 1 MiB", direction[d]);
		add_row(name, us, us);
		snprintf(name, sizeof(name), "%s pageable 16 MiB", direction[d]);
		add_row(name, large, large);
	}
	turns_say(a_us, a_us + 20);
	price_on(&model_a, true);
}

Test(small_program_price, copies_as_slow_as_those_in_turn_are_priced_as_such)
{
	price_pair(false, 41);
	cr_expect(price.copies_in_turn && !program_price_doubtful(&price), "in turn");
	cr_expect(epsilon_eq(dbl, price.copies_ratio, 40 / 41.0, 1e-9), "%g", price.copies_ratio);
	takes(2 * (40000 + 20000));
}

/* What goes one way shares no block with what comes back. */
Test(small_program_price, copies_of_one_direction_are_no_copies_in_turn)
{
	price_pair(true, 41);
	cr_expect(price.slow_copies && !price.copies_in_turn, "one way");
	end();
}

/* 40 us are 1.60 times 25 us, and 65 us are 1.63 times 40 us. */
Test(small_program_price, copies_nearer_to_those_alone_are_no_copies_in_turn)
{
	price_pair(false, 65);
	cr_expect(price.slow_copies && !price.copies_in_turn, "alone");
	end();
}

/* By 1.38 times. */
Test(small_program_price, copies_far_slower_than_those_in_turn_are_doubtful)
{
	price_pair(false, 29);
	cr_expect(price.slow_copies && price.copies_in_turn && program_price_doubtful(&price),
		  "slower");
	takes(2 * (40000 + 20000));
}

/* By 1.5 times, and 1.6 times as slow as those alone. */
Test(small_program_price, copies_far_faster_than_those_in_turn_are_doubtful)
{
	price_pair(false, 60);
	cr_expect(price.slow_copies && price.copies_in_turn && program_price_doubtful(&price),
		  "faster");
	end();
}

/* A file of before has no copies in turn. */
Test(small_program_price, without_copies_in_turn_on_both_there_are_none)
{
	price_pair(false, 41);
	program_price_release(&price);
	json_array_clear(json_object_get(sources.costs_b, "rows"));
	program_price_make(&price, &profile, &sources);
	cr_expect(price.slow_copies && !price.copies_in_turn, "doubtful");
	takes(80000);
}

/* In turn a copy takes 41 us on A, 61 on B; pinned, its bytes take 20.97 us at 50 GB/s, 41.94
 * at 25. */
Test(small_program_price, pinned_memory_does_without_what_turns_cost)
{
	struct remedy pinned = { .kind = REMEDY_PINNED };

	price_pair(false, 41);
	program_price_remedy(&price, &pinned);
	cr_expect(epsilon_eq(dbl, pinned.a_ns, 2 * (40000 - 41000 + 1048576 / 50.0), 1), "A: %g",
		  pinned.a_ns);
	cr_expect(epsilon_eq(dbl, pinned.b_ns, 2 * (60000 - 61000 + 1048576 / 25.0), 1), "B: %g",
		  pinned.b_ns);
	end();
}

Test(small_program_price, processes_differ_by_as_much_as_that)
{
	probe_says("pageable", 32);
	cr_expect(epsilon_eq(dbl, price.copies_ratio, 1.25, 1e-9), "40 us for 32");
	cr_expect(not(program_price_doubtful(&price)), "not slow");
	end();
}

Test(small_program_price, pinned_copies_share_nothing_of_the_drivers)
{
	probe_says("pinned", 25);
	cr_expect(isnan(price.copies_ratio) && !program_price_doubtful(&price), "%g",
		  price.copies_ratio);
	end();
}

/* The same copy, which takes 40 us longer on B, in 40 us and in a second; nobody waits for it. */
static void copy_without_wait(long end_ns)
{
	begin();
	made_call(&made, "copy", 0, 2000, ",\"bytes\":1048576,\"async\":true");
	made_op(&made, "copy", 1, 5000, 35000,
		",\"direction\":\"to_device\",\"bytes\":1048576,\"memory\":\"pinned\",\"async\":"
		"true");
	made_call(&made, "sync_device", 2000, 40000, "");
	made_end(&made, end_ns, 5, end_ns);
	with_costs();
	price_on(&model_a, true);
}

Test(small_program_price, copies_that_are_much_of_it_are_doubtful)
{
	copy_without_wait(40000);
	cr_expect(lt(dbl, 0.4, price.copies_share), "%g", price.copies_share);
	cr_expect(lt(dbl, price.copies_share, 0.6), "%g", price.copies_share);
	cr_expect(price.dear_copies && program_price_doubtful(&price), "dear");
	end();
}

Test(small_program_price, copies_that_are_a_little_of_it_are_not_doubtful)
{
	copy_without_wait(1000000000);
	cr_expect(lt(dbl, 0, price.copies_share), "%g", price.copies_share);
	cr_expect(not(program_price_doubtful(&price)), "a little");
	end();
}

/* The probe waits for copies, too. */
Test(small_program_price, copies_that_are_waited_for_are_known)
{
	copy_and_wait("pinned");
	with_costs();
	price_on(&model_a, true);
	cr_expect(zero(dbl, price.copies_share), "%g", price.copies_share);
	cr_expect(not(program_price_doubtful(&price)), "waited for");
	end();
}

Test(small_program_price, without_them_copies_cost_what_they_did)
{
	long ns = copy_and_wait("pinned");

	price_on(&model_a, true);
	takes((double)ns);
}

Test(small_program_price, allocations_and_records_too)
{
	begin();
	made_row(&made, "{\"record\":\"string\",\"id\":2,\"text\":\"cudaMalloc\"}");
	made_call(&made, "alloc", 0, 70000, ",\"name\":2,\"bytes\":64,\"memory\":\"device\"");
	made_call(&made, "record", 70000, 70300, ",\"stream\":2,\"event\":1,\"recording\":1");
	made_call(&made, "wait_event", 70300, 70500, ",\"stream\":3,\"event\":1,\"recording\":1");
	made_end(&made, 70500, 5, 70500);
	with_costs();
	price_on(&model_a, true);
	takes(70500 + 40000 + 2 * 500);
}

/* ---- remedies ----------------------------------------------------------------------------- */

static struct remedy remedy(enum remedy_kind kind)
{
	struct remedy r = { .kind = kind, .n = 5 };

	program_price_remedy(&price, &r);
	return r;
}

/* N launches are one graph launch of N nodes; between its kernels is what a graph has, less K0. */
Test(small_program_price, graphs_take_one_launch)
{
	struct model b = dearer_calls(1000);
	struct remedy r;

	batch(500);
	price_on(&b, true);
	r = remedy(REMEDY_GRAPHS);
	cr_expect(eq(i64, r.calls, N), "calls");
	cr_expect(epsilon_eq(dbl, r.a_ns,
			     3000 + 10 * N + MADE_L + N * 500 + (N - 1) * 500 + MADE_WAKE, 1e-6),
		  "on A");
	cr_expect(epsilon_eq(dbl, r.b_ns, r.a_ns, 1e-6), "the call of a graph costs no more on B");
	end();
}

Test(small_program_price, nothing_in_a_row_is_no_graph)
{
	struct remedy r;

	turns(4000);
	price_on(&model_a, true);
	r = remedy(REMEDY_GRAPHS);
	cr_expect(zero(i64, r.calls), "calls");
	cr_expect(epsilon_eq(dbl, r.a_ns, price.a_ns.value, 1e-6), "on A");
	end();
}

/* One of five waits is left; the kernels run one behind the other meanwhile. */
Test(small_program_price, a_batch_waits_once)
{
	struct model b = dearer(MODEL_Z, 2000);
	struct remedy r;
	double five = MADE_C + MADE_L + 5 * 4000 + 4 * MADE_G + MADE_WAKE;

	turns(4000);
	price_on(&b, true);
	r = remedy(REMEDY_BATCH);
	cr_expect(eq(i64, r.calls, N - N / 5), "calls");
	cr_expect(epsilon_eq(dbl, r.a_ns, N / 5 * five, 1e-6), "on A");
	cr_expect(epsilon_eq(dbl, r.b_ns, N / 5 * (five + 2000), 1e-6), "on B");
	end();
}

/* Turns wait for 3000 ns more by the other policy on A, and for 7000 on B, where no turn cost more.
 */
Test(small_program_price, another_wait_policy_is_paid_by_each_wait)
{
	struct model blocking_a = dearer(MODEL_Z, 3000), blocking_b = dearer(MODEL_Z, 7000);
	struct fit a = { .model = blocking_a }, b = { .model = blocking_b };
	struct remedy r = { .kind = REMEDY_SYNC, .sync = SYNC_BLOCKING };
	long wall = turns(4000);

	price_on(&model_a, true);
	program_price_remedy(&price, &r);
	cr_expect(isnan(r.a_ns) && isnan(r.b_ns), "no session says it");
	sources.sync_b[SYNC_BLOCKING] = &b;
	program_price_remedy(&price, &r);
	cr_expect(isnan(r.a_ns), "A's does not");
	cr_expect(epsilon_eq(dbl, r.b_ns, wall + N * 7000.0, 1e-6), "on B: %g", r.b_ns);
	sources.sync_a[SYNC_BLOCKING] = &a;
	program_price_remedy(&price, &r);
	cr_expect(epsilon_eq(dbl, r.a_ns, wall + N * 3000.0, 1e-6), "on A: %g", r.a_ns);
	cr_expect(eq(i64, r.calls, N), "calls");
	end();
}

Test(small_program_price, pinned_memory_has_another_rate)
{
	struct remedy r;

	copy_and_wait("pageable");
	with_costs();
	price_on(&model_a, true);
	r = remedy(REMEDY_PINNED);
	cr_expect(eq(i64, r.calls, 1), "calls");
	cr_expect(epsilon_eq(dbl, r.a_ns,
			     price.a_ns.value - fmin(30000, 1048576 * (5 / 50.0 - 1 / 50.0)), 1e-6),
		  "on A");
	end();
}

Test(small_program_price, a_remedy_without_prices_has_none)
{
	struct remedy r;

	copy_and_wait("pageable");
	price_on(&model_a, true);
	r = remedy(REMEDY_PINNED);
	cr_expect(isnan(r.a_ns), "on A");
	cr_expect(isnan(r.b_ns), "on B");
	end();
}

Test(small_program_price, a_pool_takes_allocations_away)
{
	struct remedy r;

	begin();
	made_call(&made, "alloc", 0, 70000, ",\"bytes\":64,\"memory\":\"device\"");
	made_call(&made, "alloc", 70000, 71000, ",\"bytes\":64,\"async\":true");
	made_end(&made, 71000, 5, 71000);
	price_on(&model_a, true);
	r = remedy(REMEDY_POOL);
	cr_expect(eq(i64, r.calls, 1), "the other is of a pool");
	cr_expect(epsilon_eq(dbl, r.b_ns, 1000, 1e-6), "on B");
	end();
}

/* ---- other work ----------------------------------------------------------------------------- */

enum { TURN = MADE_C + MADE_L + MADE_WAKE }; /* but for its kernel */

/* A launch at t of a kernel with so many blocks, and a wait; the time behind it. */
static long sized_turn(long t, int blocks, long kernel_ns)
{
	long start = t + MADE_C + MADE_L;
	char more[64];

	snprintf(more, sizeof(more), ",\"name\":1,\"grid\":[%d,1,1],\"block\":[32,1,1]", blocks);
	made_call(&made, "launch", t, t + MADE_C, "");
	made_op(&made, "kernel", 2, start, start + kernel_ns, more);
	made_call(&made, "sync_device", t + MADE_C, start + kernel_ns + MADE_WAKE, "");
	return start + kernel_ns + MADE_WAKE;
}

/* Of one size: the merged launch takes as long as the five. */
Test(small_program_price, merged_launches_of_one_size_are_added_up)
{
	struct remedy r;

	turns(4000);
	price_on(&model_a, true);
	r = remedy(REMEDY_MERGE);
	cr_expect(eq(i64, r.calls, N), "calls");
	cr_expect(zero(i64, r.sloped), "one size");
	cr_expect(epsilon_eq(dbl, r.a_ns, N / 5 * (TURN + 5 * 4000.0), 1e-6), "%g", r.a_ns);
	cr_expect(epsilon_eq(dbl, r.b_ns, r.a_ns, 1e-6), "%g", r.b_ns);
	end();
}

/* Eight blocks take 4000 ns and 16 take 6000: 24 take 8000. The last of 51 is left as it is. */
Test(small_program_price, merged_launches_of_several_sizes_have_a_slope)
{
	struct remedy r = { .kind = REMEDY_MERGE, .n = 2 };
	long t = 0;

	begin();
	for (int i = 0; i < N; i++)
		t = sized_turn(t, i % 2 ? 16 : 8, i % 2 ? 6000 : 4000);
	t = sized_turn(t, 8, 4000);
	made_end(&made, t, 5, t);
	price_on(&model_a, true);
	program_price_remedy(&price, &r);
	cr_expect(eq(i64, r.calls, N), "calls");
	cr_expect(eq(i64, r.sloped, N), "sloped");
	cr_expect(epsilon_eq(dbl, r.a_ns, N / 2 * (TURN + 8000.0) + TURN + 4000, 1e-3), "%g",
		  r.a_ns);
	end();
}

/* Of two streams in turns: no two of a kernel follow each other in one. */
Test(small_program_price, launches_of_two_streams_are_not_merged)
{
	struct remedy r;

	begin();
	for (long i = 0; i < N; i++)
		made_kernel(&made, 2 + (int)(i % 2), i * 20000, i * 20000 + MADE_C + MADE_L,
			    i * 20000 + 10000);
	made_end(&made, N * 20000, 5, N * 20000);
	price_on(&model_a, true);
	r = remedy(REMEDY_MERGE);
	cr_expect(zero(i64, r.calls), "calls");
	cr_expect(epsilon_eq(dbl, r.a_ns, price.a_ns.value, 1e-6), "on A");
	end();
}

Test(small_program_price, faster_kernels)
{
	struct remedy r = { .kind = REMEDY_KERNELS, .factor = 0.5 };

	turns(4000);
	price_on(&model_a, true);
	program_price_remedy(&price, &r);
	cr_expect(eq(i64, r.calls, N), "kernels");
	cr_expect(epsilon_eq(dbl, r.a_ns, N * (TURN + 2000.0), 1e-6), "%g", r.a_ns);
	end();
}

/* The host works for host_ns between a wait and the next launch. */
static void works_between(long host_ns)
{
	long t = 0;

	begin();
	for (int i = 0; i < N; i++)
		t = sized_turn(t + (i ? host_ns : 0), 8, 4000);
	made_end(&made, t, 5, t);
	price_on(&model_a, true);
}

/* Where it takes less than the device, it is hidden; else the device is. */
Test(small_program_price, the_hosts_work_beside_the_devices)
{
	struct remedy r;

	works_between(3000);
	r = remedy(REMEDY_OVERLAP);
	cr_expect(eq(i64, r.calls, N - 1), "calls");
	cr_expect(epsilon_eq(dbl, r.a_ns, N * (TURN + 4000.0), 1e-6), "%g", r.a_ns);
	end();
	works_between(20000);
	r = remedy(REMEDY_OVERLAP);
	cr_expect(epsilon_eq(dbl, r.a_ns, (N - 1) * (MADE_C + 20000.0) + TURN + 4000, 1e-6), "%g",
		  r.a_ns);
	end();
}

/* As many calls as room is first made for: behind the last is nothing, as a sanitizer would see. */
Test(small_program_price, calls_that_fill_their_room)
{
	enum { ROOM = 64, EACH = 1000 };
	struct remedy r;

	begin();
	for (long i = 0; i < ROOM / 4; i++) {
		long t = 20 * i * EACH;

		made_call(&made, "alloc", t, t + EACH, ",\"bytes\":64,\"memory\":\"device\"");
		made_kernel(&made, 2, t + EACH, t + EACH + MADE_C + MADE_L, t + 10 * EACH);
		made_call(&made, "sync_device", t + EACH + MADE_C, t + 18 * EACH, "");
		made_call(&made, "free", t + 18 * EACH, t + 20 * EACH, "");
	}
	made_end(&made, 20 * EACH * ROOM / 4, 5, 20 * EACH * ROOM / 4);
	with_costs();
	price_on(&model_a, true);
	r = remedy(REMEDY_POOL);
	cr_expect(eq(i64, r.calls, ROOM / 2), "alloc and free");
	cr_expect(epsilon_eq(dbl, price.a_ns.value - r.a_ns, 3.0 * EACH * ROOM / 4, 1e-3), "%g",
		  price.a_ns.value - r.a_ns);
	r = remedy(REMEDY_BATCH);
	cr_expect(eq(i64, r.calls, ROOM / 4 - ROOM / 4 / 5), "waits");
	r = remedy(REMEDY_GRAPHS);
	cr_expect(zero(i64, r.calls), "no two in a row");
	r = remedy(REMEDY_PINNED);
	cr_expect(zero(i64, r.calls), "no copy");
	end();
}
