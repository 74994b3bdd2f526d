/*
 * test_sweep_check_values.c - harness/record/validate_record.h: made-up records, each right in its
 * hashes, with values that no sweep writes.
 */
/* sanitizers: one thread */
#include "tests/test.h"
#include "tests/made_record.h"

TestSuite(small_sweep_check_values, .init = make_dir, .fini = remove_dir, .timeout = 300);

Test(small_sweep_check_values, plans_that_cannot_be)
{
	json_t *plan = session_plan(1);

	json_object_set_new(json_array_get(json_object_get(plan, "points"), 1), "depth",
			    json_integer(0));
	begin_with("s.jsonl", 1, plan);
	wrong_in(":1: points[1].depth ");
	plan = session_plan(1);
	json_object_set_new(json_array_get(json_object_get(plan, "points"), 0), "config",
			    json_integer(99));
	begin_with("s.jsonl", 1, plan);
	wrong_in(":1: points[0].config ");
	plan = session_plan(1);
	json_object_set_new(json_object_get(plan, "design"), "rounds", json_integer(0));
	begin_with("s.jsonl", 1, plan);
	wrong_in(":1: design.rounds ");
}

static void changed_point(const char *change, const char *what)
{
	begin_session("s.jsonl", 1, 1);
	measured("a", 0, K0, change);
	wrong_in(what);
}

Test(small_sweep_check_values, points_that_do_not_agree_with_themselves)
{
	changed_point("{\"summary\":{\"t_total_ns\":{\"median\":20.0}}}",
		      ":2: summary.t_total_ns ");
	changed_point("{\"summary\":{\"t_enq_ns\":{\"p99\":4}}}", ":2: summary.t_enq_ns");
	changed_point("{\"summary\":{\"t_enq_ns\":null}}", ":2: summary.t_enq_ns");
	changed_point("{\"summary\":{\"n\":3}}", ":2: summary.n");
	changed_point("{\"summary\":{\"noisy\":true}}", ":2: summary.noisy");
	changed_point("{\"summary\":{\"modes\":[]}}", ":2: summary.modes");
	changed_point("{\"summary\":{\"share_marked\":0.5}}", ":2: summary.share_marked");
	changed_point("{\"marks\":[0,32]}", ":2: marks ");
	changed_point("{\"marks\":[0,\"\"]}", ":2: marks ");
	changed_point("{\"round_of_block\":[0,2]}", ":2: ");
	changed_point("{\"t_enq_ns\":[1,31]}", ":2: ");
	changed_point("{\"t_enq_ns\":[],\"t_total_ns\":[],\"marks\":[],\"round_of_block\":[],"
		      "\"blocks\":0}",
		      ":2: ");
}

/* Before schema 2.3 a full queue was a disturbance of every block. */
Test(small_sweep_check_values, summaries_of_either_rule)
{
	begin_session("s.jsonl", 1, 1);
	measured("a", 0, K0, "{\"marks\":[8,8],\"summary\":{\"share_marked\":1.0,\"noisy\":true}}");
	measured("a", 0, K1, "{\"marks\":[8,8]}");
	put_line(trailer_of("a", 0, 2, 0));
	cr_assert(not(incomplete()), "both are right");
	changed_point("{\"marks\":[8,8],\"summary\":{\"noisy\":true}}", ":2: summary.noisy ");
	changed_point("{\"marks\":[8,8],\"summary\":{\"share_marked\":1.0}}",
		      ":2: summary.share_marked ");
}

/* Whose products with times would be no numbers. */
Test(small_sweep_check_values, counts_that_no_step_has)
{
	changed_point("{\"launches_per_step\":1e308}", ":2: launches_per_step");
	changed_point("{\"launches_per_step\":-1}", ":2: launches_per_step");
	changed_point("{\"step\":{\"to_device\":{\"calls\":1e300,\"bytes\":1}}}", ":2: step");
	changed_point("{\"step\":{\"launches\":-2}}", ":2: step");
}

static void changed_trailer(const char *change, const char *what)
{
	json_t *o, *other = json_loads(change, 0, NULL);

	begin_session("s.jsonl", 1, 1);
	point("a", 0, K0, "ok");
	point("a", 0, K1, "error");
	o = trailer_of("a", 0, 1, 1);
	cr_assert(ne(ptr, other, NULL), "%s", change);
	json_object_update(o, other);
	json_decref(other);
	put_line(o);
	if (what)
		wrong_in(what);
	else
		cr_assert(not(incomplete()), "valid: %s", change);
}

Test(small_sweep_check_values, rounds_alone_that_cannot_be)
{
	changed_trailer("{\"alone\":{\"rounds\":5,\"t_total_ns\":{},\"company_over_alone\":null}}",
			NULL);
	changed_trailer("{\"alone\":{\"rounds\":5,\"t_total_ns\":{\"" K0 "\":4.5}}}", NULL);
	changed_trailer("{\"alone\":[]}", "wrong kind: alone");
	changed_trailer("{\"alone\":{\"t_total_ns\":{}}}", ": rounds");
	changed_trailer("{\"alone\":{\"rounds\":5}}", ": t_total_ns");
	changed_trailer("{\"alone\":{\"rounds\":5,\"t_total_ns\":{\"k\":4}}}", ":4: alone ");
	changed_trailer("{\"alone\":{\"rounds\":5,\"t_total_ns\":{\"" K0 "\":0}}}", ":4: ");
}

static void changed_startup(const char *change, const char *what)
{
	begin_session("s.jsonl", 1, 1);
	changed_header("0123456789abcdef", plan_hash, 0, change);
	point("a", 0, K0, "ok");
	point("a", 0, K1, "error");
	trailer("a", 0, 1, 1, 0);
	if (what)
		wrong_in(what);
	else
		cr_assert(not(incomplete()), "valid: %s", change);
}

Test(small_sweep_check_values, starts_that_cannot_be)
{
	changed_startup("{\"startup\":{\"process_ns\":3e6,\"device_ns\":0}}", NULL);
	changed_startup("{\"startup\":{\"process_ns\":null,\"device_ns\":2e8}}", NULL);
	changed_startup("{\"startup\":{\"process_ns\":-1,\"device_ns\":0}}", ":2: startup");
	changed_startup("{\"startup\":{\"process_ns\":1,\"device_ns\":null}}", ":2: startup");
	changed_startup("{\"startup\":{\"device_ns\":1}}", ":2: startup");
	changed_startup("{\"startup\":5}", "wrong kind: startup");
}

/* What another version adds is no fault. */
Test(small_sweep_check_values, more_than_is_known_is_valid)
{
	begin_session("s.jsonl", 1, 1);
	measured("a", 0, K0, "{\"summary\":{\"p42\":1,\"t_total_ns\":{\"p42\":5}}}");
	point("a", 0, K1, "error");
	trailer("a", 0, 1, 1, 0);
	cr_assert(not(incomplete()), "valid");
}
