/*
 * test_program_price.c - harness/profile/program_price.h: launches, graphs, intervals, and what
 * changes to a program would give.
 */
/* sanitizers: one thread */
#include "tests/priced.h"

TestSuite(small_program_price, .timeout = 60);

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

/* The only synchronize that has nothing to wait for is a long one: no measure for the others. */
Test(small_program_price, faster_kernels_behind_a_long_first_synchronize)
{
	struct remedy r = { .kind = REMEDY_KERNELS, .factor = 0.5 };
	const long first = 40000;
	long t = first;

	begin();
	made_call(&made, "sync_device", 0, first, "");
	for (int i = 0; i < N; i++)
		t = sized_turn(t, 8, 4000);
	made_end(&made, t, 5, t);
	price_on(&model_a, true);
	program_price_remedy(&price, &r);
	cr_expect(le(dbl, r.a_ns, first + N * (TURN + 2000.0) + 1), "%g", r.a_ns);
	cr_expect(le(dbl, N * (TURN + 2000.0) - 1, r.a_ns), "%g", r.a_ns);
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
