/*
 * test_sweep_assemble.c - harness/record/point_record.h: what a point's record says of its visits.
 */
/* sanitizers: one thread */
#include "tests/test.h"
#include "harness/record/point_record.h"
#include "tests/golden.h"

TestSuite(small_sweep_assemble, .timeout = 300);

static json_t *visit(const char *text)
{
	json_t *o = json_loads(text, 0, NULL);

	cr_assert(ne(ptr, o, NULL), "%s", text);
	return o;
}

static double median(const json_t *point)
{
	return summary_median(json_object_get(point, "summary"), "t_total_ns");
}

static double member(const json_t *o, const char *a, const char *b)
{
	return json_number_value(json_object_get(json_object_get(o, a), b));
}

static bool is_noisy(const json_t *o)
{
	return json_is_true(json_object_get(json_object_get(o, "summary"), "noisy"));
}

Test(small_sweep_assemble, a_point_is_all_its_rounds)
{
	json_t *v[3] = {
		visit("{\"t_enq_ns\":[1,2],\"t_total_ns\":[10,20],\"t_dev_ns\":[9],\"marks\":[0,16]"
		      ","
		      "\"canary_ns\":[5,6],\"utime_us\":3,\"steal_ticks\":1,\"check\":{\"state\":"
		      "\"passed\"}}"),
		visit("{\"t_enq_ns\":[3],\"t_total_ns\":[30],\"t_dev_ns\":[],\"marks\":[0],"
		      "\"canary_ns\":[7,8],\"utime_us\":4,\"steal_ticks\":null}"),
		visit("{\"t_enq_ns\":[4],\"t_total_ns\":[4000],\"t_dev_ns\":[],\"marks\":[1],"
		      "\"canary_ns\":[7,8],\"utime_us\":4}"),
	};
	json_t *p = assemble_point(v, 3), *want;

	want = json_loads("[10,20,30,4000]", 0, NULL);
	cr_assert(json_equal(json_object_get(p, "t_total_ns"), want), "joined in order");
	json_decref(want);
	want = json_loads("[0,0,1,2]", 0, NULL);
	cr_assert(json_equal(json_object_get(p, "round_of_block"), want), "rounds");
	json_decref(want);
	cr_assert(eq(str, (char *)json_string_value(json_object_get(p, "status")), "ok"), "status");
	cr_assert(eq(int, (int)json_integer_value(json_object_get(p, "utime_us")), 11), "sum");
	cr_assert(eq(int, json_is_null(json_object_get(p, "steal_ticks")), 1), "not known of one");
	/* of 10 and 30: the other two are marked, one for its events only, which count for none */
	cr_assert(epsilon_eq(dbl, median(p), 20, 1e-9), "median");
	cr_assert(epsilon_eq(dbl, member(p, "summary", "share_marked"), 0.3333, 1e-9), "share");
	cr_assert(is_noisy(p), "the median of all three is 30");
	json_decref(p);
	for (int i = 0; i < 3; i++)
		json_decref(v[i]);
}

/* Each field that visits may have: joined, added, or of the first that has it. */
Test(small_sweep_assemble, every_field_of_visits)
{
	json_t *v[3] = {
		visit("{\"t_enq_ns\":[11,12],\"t_total_ns\":[110,120],\"t_dev_ns\":[],\"marks\":[0,"
		      "0],"
		      "\"canary_ns\":[51,52],\"sm_clock_mhz\":[61,62],\"host_canary_ns\":[71,72],"
		      "\"utime_us\":1,\"stime_us\":20,\"steal_ticks\":300,\"graph_steps\":4,"
		      "\"check\":{\"state\":\"passed\"}}"),
		visit("{\"t_enq_ns\":[13],\"t_total_ns\":[130],\"t_dev_ns\":[],\"marks\":[8],"
		      "\"canary_ns\":[53,54],\"sm_clock_mhz\":[63,64],\"host_canary_ns\":[73,74],"
		      "\"utime_us\":2,\"stime_us\":30,\"steal_ticks\":400,\"graph_steps\":5,"
		      "\"launches_per_step\":6,\"step\":{\"launches\":7}}"),
		visit("{\"t_enq_ns\":[14,15],\"t_total_ns\":[140,150],\"t_dev_ns\":[99],\"marks\":["
		      "0,16],"
		      "\"canary_ns\":[55,56],\"sm_clock_mhz\":[65,66],\"host_canary_ns\":[75,76],"
		      "\"utime_us\":3,\"stime_us\":40,\"steal_ticks\":500,\"graph_steps\":8,"
		      "\"launches_per_step\":9,\"step\":{\"launches\":10}}"),
	};
	json_t *p = assemble_point(v, 3);

	golden_said_json(p);
	cr_assert(eq(int, (int)json_integer_value(json_object_get(p, "stime_us")), 90), "sum");
	cr_assert(eq(int, (int)json_integer_value(json_object_get(p, "graph_steps")), 4), "first");
	cr_assert(eq(dbl, member(p, "step", "launches"), 7), "the first that has it");
	json_decref(p);
	for (int i = 0; i < 3; i++)
		json_decref(v[i]);
}

/* Without any other they are all there is. */
Test(small_sweep_assemble, blocks_with_events_count_where_there_are_no_others)
{
	json_t *v = visit("{\"t_enq_ns\":[1,2,3],\"t_total_ns\":[10,20,40],\"t_dev_ns\":[9,8,7],"
			  "\"marks\":[16,16,16],\"canary_ns\":[5,6],\"utime_us\":3}");
	json_t *p = assemble_point(&v, 1);

	cr_assert(eq(dbl, median(p), 20), "%g", median(p));
	json_decref(p);
	json_decref(v);
}

/* All three count, as one of them is fewer than half. */
static void few_good(const char *ns, bool noisy, double want)
{
	char text[160];
	json_t *v, *p;

	snprintf(text, sizeof(text),
		 "{\"t_enq_ns\":[1,1,1],\"t_total_ns\":[%s],\"t_dev_ns\":[],\"marks\":[0,1,4],"
		 "\"canary_ns\":[5,6]}",
		 ns);
	v = visit(text);
	p = assemble_point(&v, 1);
	cr_assert(eq(int, is_noisy(p), noisy), "%s", ns);
	cr_assert(eq(dbl, median(p), want), "%s: %g", ns, median(p));
	json_decref(p);
	json_decref(v);
}

Test(small_sweep_assemble, few_good_blocks_are_noisy_where_the_others_move_them)
{
	few_good("10,20,60", true, 20);
	few_good("1000,1010,1020", false, 1010);
}

/* It is so in every block of the point; those with events are left out, those switched away too. */
Test(small_sweep_assemble, a_full_queue_disturbs_nothing)
{
	json_t *v = visit("{\"t_enq_ns\":[1,1,1,1],\"t_total_ns\":[20,10,900,800],\"t_dev_ns\":[1],"
			  "\"marks\":[8,8,24,9],\"canary_ns\":[5,6]}");
	json_t *p = assemble_point(&v, 1), *former = assemble_former_summary(p);

	cr_assert(eq(dbl, median(p), 15), "%g", median(p));
	cr_assert(epsilon_eq(dbl, member(p, "summary", "share_marked"), 0.3333, 1e-9), "share");
	cr_assert(eq(dbl, summary_median(former, "t_total_ns"), 20), "of three, once");
	cr_assert(ne(int, json_is_true(json_object_get(former, "noisy")), 0), "once");
	json_object_set_new(p, "summary", former);
	former = point_summary(p);
	cr_assert(eq(dbl, summary_median(former, "t_total_ns"), 15), "read today");
	json_decref(former);
	json_decref(p);
	json_decref(v);
}

static json_t *rounds_checked(const json_t *point)
{
	return json_object_get(json_object_get(point, "check"), "rounds");
}

Test(small_sweep_assemble, the_rounds_that_were_checked_are_said)
{
	json_t *v[3] = {
		visit("{\"t_enq_ns\":[1],\"t_total_ns\":[2],\"marks\":[0],\"check\":{\"state\":"
		      "\"passed\"}}"),
		visit("{\"t_enq_ns\":[1],\"t_total_ns\":[2],\"marks\":[0]}"),
		visit("{\"t_enq_ns\":[1],\"t_total_ns\":[2],\"marks\":[0],\"check\":{\"state\":"
		      "\"passed\"}}"),
	};
	json_t *p = assemble_point(v, 3), *want = json_pack("[i, i]", 0, 2);

	cr_assert(eq(int, json_equal(rounds_checked(p), want), 1), "the first and the last");
	cr_assert(eq(ptr, json_object_get(json_object_get(v[0], "check"), "rounds"), NULL),
		  "a visit's own check stays as it is");
	json_decref(p);
	p = assemble_point(v + 1, 1);
	cr_assert(eq(int, json_is_null(json_object_get(p, "check")), 1), "none");
	json_decref(p);
	json_decref(want);
	for (int i = 0; i < 3; i++)
		json_decref(v[i]);
}

Test(small_sweep_assemble, one_failed_check_fails_the_point)
{
	json_t *v[3] = {
		visit("{\"t_enq_ns\":[1],\"t_total_ns\":[2],\"marks\":[0],\"check\":{\"state\":"
		      "\"passed\"}}"),
		visit("{\"t_enq_ns\":[1],\"t_total_ns\":[2],\"marks\":[0],\"check\":{\"state\":"
		      "\"failed\"}}"),
		visit("{\"t_enq_ns\":[1],\"t_total_ns\":[2],\"marks\":[0],\"check\":{\"state\":"
		      "\"passed\"}}"),
	};
	json_t *p = assemble_point(v, 3);

	cr_assert(eq(str, (char *)json_string_value(json_object_get(p, "status")), "check_failed"),
		  "status");
	cr_assert(
		eq(str,
		   (char *)json_string_value(json_object_get(json_object_get(p, "check"), "state")),
		   "failed"),
		"the failed one is kept");
	cr_assert(eq(sz, json_array_size(rounds_checked(p)), 3), "all rounds");
	json_decref(p);
	for (int i = 0; i < 3; i++)
		json_decref(v[i]);
}

Test(small_sweep_assemble, blocks_of_two_kinds_are_said_to_be)
{
	json_t *v[1] = { visit("{\"t_enq_ns\":[1,1,1,1,1],\"t_total_ns\":[100,151,101,150,99],"
			       "\"t_dev_ns\":[],\"marks\":[0,0,0,0,0],\"canary_ns\":[5,6]}") };
	json_t *p = assemble_point(v, 1);
	json_t *modes = json_object_get(json_object_get(p, "summary"), "modes"), *want;

	want = json_loads("[{\"median_ns\":100.0,\"share\":0.6},"
			  "{\"median_ns\":150.5,\"share\":0.4}]",
			  0, NULL);
	cr_assert(json_equal(modes, want), "two modes");
	json_decref(want);
	json_decref(p);
	json_decref(v[0]);
	v[0] = visit("{\"t_enq_ns\":[1,1,1,1],\"t_total_ns\":[100,101,99,102],"
		     "\"t_dev_ns\":[],\"marks\":[0,0,0,0],\"canary_ns\":[5,6]}");
	p = assemble_point(v, 1);
	modes = json_object_get(json_object_get(p, "summary"), "modes");
	cr_assert(eq(int, json_typeof(modes), JSON_NULL), "one mode");
	json_decref(p);
	json_decref(v[0]);
}
