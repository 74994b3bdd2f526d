/*
 * test_program_costs.c - harness/profile/program_costs.h: copies, allocations, event records and
 * the start of a process, by the call costs of both platforms.
 */
/* sanitizers: one thread */
#include "tests/priced.h"

TestSuite(small_program_costs, .timeout = 60);

/* ---- call costs --------------------------------------------------------------------------- */

Test(small_program_costs, copies_by_the_call_costs_of_both)
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
Test(small_program_costs, a_process_that_begins_and_ends_slower_on_b)
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

Test(small_program_costs, a_start_that_the_files_do_not_tell_apart_is_equal)
{
	long ns = batch(500);

	with_costs();
	add_starts(90); /* 300, 90 to 310: it may be 290 longer as well */
	price_on(&model_a, true);
	cr_expect(lt(dbl, 100000, price.spread_ns[SPREAD_STARTS]), "and its interval counts");
	takes((double)ns);
}

/* No start is in the time of a part. */
Test(small_program_costs, a_part_of_a_program_does_not_start)
{
	long ns = batch(500);

	with_costs();
	add_starts(290);
	begin_prices(&model_a);
	profile.trace.partial = true;
	program_price_make(&price, &profile, &sources);
	takes((double)ns);
}

static void set_ends(const json_t *costs, double lo, double hi)
{
	json_t *row = (json_t *)(uintptr_t)costs_row(costs, "transfer", "h2d pinned rate");

	json_object_set_new(row, "lo", json_real(lo));
	json_object_set_new(row, "hi", json_real(hi));
}

/* Of a rate the lower end is the longer copy: 1/24 - 1/25 and 1/50 - 1/51 ns a byte, or 1/25 - 1/26
 * and 1/49 - 1/50. */
Test(small_program_costs, rates_are_known_to_their_intervals)
{
	long ns = copy_and_wait("pinned");
	double longer = hypot(1 / 24.0 - 1 / 25.0, 1 / 50.0 - 1 / 51.0);
	double shorter = hypot(1 / 25.0 - 1 / 26.0, 1 / 49.0 - 1 / 50.0);
	double half = sqrt(2) * 1048576 * (longer + shorter) / 2;

	with_costs();
	set_ends(sources.costs_a, 49, 51);
	set_ends(sources.costs_b, 24, 26);
	price_on(&model_a, true);
	cr_expect(epsilon_eq(dbl, price.spread_ns[SPREAD_CALLS], half, 0.03 * half), "%g for %g",
		  price.spread_ns[SPREAD_CALLS], half);
	takes((double)ns + 20000 + 1048576 * (1 / 25.0 - 1 / 50.0));
}

/* Of three sizes, with what 1 MiB takes on both sides, us. */
static void add_copies(const double a[3], const double b[3])
{
	add_row("h2d pageable 64 KiB", (double[]){ 20, 19, 21 }, (double[]){ 21, 20, 22 });
	add_row("h2d pageable 1 MiB", a, b);
	add_row("h2d pageable 16 MiB", (double[]){ 900, 890, 910 }, (double[]){ 990, 970, 1000 });
}

/* 1 MiB is known to 2 us on either side: hypot(2, 2), and as much for what will be measured. */
Test(small_program_costs, call_costs_are_known_to_their_intervals)
{
	long ns = copy_and_wait("pageable");

	with_costs();
	add_copies((double[]){ 150, 148, 152 }, (double[]){ 170, 168, 172 });
	price_on(&model_a, true);
	cr_expect(epsilon_eq(dbl, price.spread_ns[SPREAD_CALLS], 4000, 120), "%g",
		  price.spread_ns[SPREAD_CALLS]);
	takes((double)ns + 20000);
}

/* 1 MiB takes 10 us less on B, though its largest copies are slower and its fixed part longer. */
Test(small_program_costs, copies_of_a_size_that_is_measured)
{
	long ns = copy_and_wait("pageable");

	with_costs();
	add_copies((double[]){ 150, 148, 152 }, (double[]){ 140, 138, 142 });
	price_on(&model_a, true);
	takes((double)ns - 10000);
}

/* 16 MiB take 90 us more on B, and each byte beyond them as much as the rates say: 0.1 ns. */
Test(small_program_costs, copies_larger_than_what_is_measured)
{
	long ns = copy_bytes_and_wait("pageable", 17 << 20);

	with_costs();
	add_copies((double[]){ 150, 148, 152 }, (double[]){ 140, 138, 142 });
	price_on(&model_a, true);
	takes((double)ns + 90000 + 1048576 * 0.1);
}

/* Their intervals overlap: B's copies are taken to last as long. */
Test(small_program_costs, what_two_files_do_not_tell_apart_is_equal)
{
	long ns = copy_and_wait("pageable");

	with_costs();
	add_copies((double[]){ 150, 138, 152 }, (double[]){ 140, 128, 142 });
	price_on(&model_a, true);
	takes((double)ns);
}

/* Their intervals overlap, but 0 is not in that of their difference, 12 us give or take 11.4. */
Test(small_program_costs, intervals_that_overlap_may_be_told_apart)
{
	long ns = copy_and_wait("pageable");

	with_costs();
	add_copies((double[]){ 150, 141, 160 }, (double[]){ 138, 132, 145 });
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

Test(small_program_costs, a_copy_back_is_paid_behind_the_kernel_that_it_waits_for)
{
	copy_back_takes(15);
}

Test(small_program_costs, and_so_is_what_it_takes_less)
{
	copy_back_takes(-50);
}

/* 60 us of the host's and 10 of the device's. */
Test(small_program_costs, less_than_the_hosts_part_is_the_devices)
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

Test(small_program_costs, pageable_copies_that_the_probe_does_not_know_are_doubtful)
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

Test(small_program_costs, copies_as_slow_as_those_in_turn_are_priced_as_such)
{
	price_pair(false, 41);
	cr_expect(price.copies_in_turn && !program_price_doubtful(&price), "in turn");
	cr_expect(epsilon_eq(dbl, price.copies_ratio, 40 / 41.0, 1e-9), "%g", price.copies_ratio);
	takes(2 * (40000 + 20000));
}

/* What goes one way shares no block with what comes back. */
Test(small_program_costs, copies_of_one_direction_are_no_copies_in_turn)
{
	price_pair(true, 41);
	cr_expect(price.slow_copies && !price.copies_in_turn, "one way");
	end();
}

/* 40 us are 1.60 times 25 us, and 65 us are 1.63 times 40 us. */
Test(small_program_costs, copies_nearer_to_those_alone_are_no_copies_in_turn)
{
	price_pair(false, 65);
	cr_expect(price.slow_copies && !price.copies_in_turn, "alone");
	end();
}

/* By 1.38 times. */
Test(small_program_costs, copies_far_slower_than_those_in_turn_are_doubtful)
{
	price_pair(false, 29);
	cr_expect(price.slow_copies && price.copies_in_turn && program_price_doubtful(&price),
		  "slower");
	takes(2 * (40000 + 20000));
}

/* By 1.5 times, and 1.6 times as slow as those alone. */
Test(small_program_costs, copies_far_faster_than_those_in_turn_are_doubtful)
{
	price_pair(false, 60);
	cr_expect(price.slow_copies && price.copies_in_turn && program_price_doubtful(&price),
		  "faster");
	end();
}

/* A file of before has no copies in turn. */
Test(small_program_costs, without_copies_in_turn_on_both_there_are_none)
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
Test(small_program_costs, pinned_memory_does_without_what_turns_cost)
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

Test(small_program_costs, processes_differ_by_as_much_as_that)
{
	probe_says("pageable", 32);
	cr_expect(epsilon_eq(dbl, price.copies_ratio, 1.25, 1e-9), "40 us for 32");
	cr_expect(not(program_price_doubtful(&price)), "not slow");
	end();
}

Test(small_program_costs, pinned_copies_share_nothing_of_the_drivers)
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

Test(small_program_costs, copies_that_are_much_of_it_are_doubtful)
{
	copy_without_wait(40000);
	cr_expect(lt(dbl, 0.4, price.copies_share), "%g", price.copies_share);
	cr_expect(lt(dbl, price.copies_share, 0.6), "%g", price.copies_share);
	cr_expect(price.dear_copies && program_price_doubtful(&price), "dear");
	end();
}

Test(small_program_costs, copies_that_are_a_little_of_it_are_not_doubtful)
{
	copy_without_wait(1000000000);
	cr_expect(lt(dbl, 0, price.copies_share), "%g", price.copies_share);
	cr_expect(not(program_price_doubtful(&price)), "a little");
	end();
}

/* The probe waits for copies, too. */
Test(small_program_costs, copies_that_are_waited_for_are_known)
{
	copy_and_wait("pinned");
	with_costs();
	price_on(&model_a, true);
	cr_expect(zero(dbl, price.copies_share), "%g", price.copies_share);
	cr_expect(not(program_price_doubtful(&price)), "waited for");
	end();
}

Test(small_program_costs, without_them_copies_cost_what_they_did)
{
	long ns = copy_and_wait("pinned");

	price_on(&model_a, true);
	takes((double)ns);
}

Test(small_program_costs, allocations_and_records_too)
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
