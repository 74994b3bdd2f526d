/*
 * test_share_file.c - harness/share/share_file.h and plans: which lines a record may have, which
 * sets follow from a plan, and when one is finished.
 */
/* sanitizers: one thread */
#include "harness/share/share_file.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "harness/base/json.h"
#include "tests/chart_files.h"
#include "tests/divert.h"
#include "tests/made_share.h"

TestSuite(small_share_file, .init = chart_folder_make, .fini = chart_folder_remove, .timeout = 60);

/* ---- plans ---------------------------------------------------------------------------------- */

static const char kept_plan[] =
	"{\"workloads\": [[\"launch\"], [\"launch\", \"us=5\"]],"
	" \"clients\": [1, 3], \"arms\": [\"processes\", \"serial\"],"
	" \"layer_of\": {\"2\": \"shim\"}, \"fault\": \"kill\", \"seed\": 7,"
	" \"window_s\": 0.5, \"windows\": 2, \"repetitions\": 4,"
	" \"starts\": 3, \"mode\": \"graph\", \"sync\": \"blocking\", \"depth\": 5}";

/* The plan with this member in place of its own. New reference. */
static json_t *plan_with(const char *member, const char *value)
{
	json_t *o = json_loads(kept_plan, 0, NULL);

	cr_assert(ne(ptr, o, NULL), "JSON");
	if (member)
		json_object_set_new(o, member, json_loads(value, JSON_DECODE_ANY, NULL));
	return o;
}

Test(small_share_file, a_plan_is_read_as_it_was_written)
{
	json_t *o = plan_with(NULL, NULL), *again;
	struct share_plan p;

	cr_assert(zero(int, share_plan_parse(&p, o, "here")));
	cr_expect(eq(int, share_plan_windows(&p), 8), "two of each repetition");
	cr_expect(eq(str, (char *)p.layer_of[1], "shim"), "of the second client");
	cr_expect(share_plan_has_layers_of(&p), "one has");
	cr_expect(eq(str, (char *)share_client_text(&p, 1).s, "blocking: launch us=5"), "a client");
	again = share_plan_json(&p);
	cr_expect(eq(int, json_equal(o, again), 1), "%s", json_dumps(again, 0));
	json_decref(again);
	share_plan_release(&p);
	/* as records had it before there was a choice */
	json_object_del(o, "sync");
	cr_assert(zero(int, share_plan_parse(&p, o, "here")));
	cr_expect(eq(ptr, (void *)(uintptr_t)p.sync, NULL), "by default");
	cr_expect(eq(str, (char *)share_client_text(&p, 1).s, "launch us=5"), "a client");
	share_plan_release(&p);
	json_decref(o);
}

#define EIGHT                                                                                      \
	"[\"launch\"],[\"launch\"],[\"launch\"],[\"launch\"],"                                     \
	"[\"launch\"],[\"launch\"],[\"launch\"],[\"launch\"]"

/* 1000 windows of a set, 48 clients, 16 numbers of clients and 8 workloads at most. */
Test(small_share_file, plans_that_are_valid_and_that_are_not)
{
	static const struct {
		const char *member, *value;
		bool valid;
	} rows[] = {
		{ "window_s", "0", false },
		{ "window_s", "3600", true },
		{ "window_s", "3600.5", false },
		{ "windows", "0", false },
		{ "windows", "1", true },
		{ "windows", "250", true },
		{ "repetitions", "0", false },
		{ "repetitions", "3", true },
		{ "repetitions", "500", true },
		{ "repetitions", "501", false },
		{ "repetitions", "2.5", false },
		{ "starts", "0", false },
		{ "starts", "1", true },
		{ "starts", "4", true },
		{ "starts", "5", false },
		{ "clients", "[]", false },
		{ "clients", "[0]", false },
		{ "clients", "[1]", true },
		{ "clients", "[48]", true },
		{ "clients", "[49]", false },
		{ "clients", "[2,2]", false },
		{ "clients", "[3,2]", false },
		{ "clients", "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16]", true },
		{ "clients", "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17]", false },
		{ "arms", "[]", false },
		{ "arms", "[\"streams\",\"none\"]", false },
		{ "arms", "[\"streams\"]", true },
		{ "layer_of", "{}", true },
		{ "layer_of", "{\"0\":\"shim\"}", false },
		{ "layer_of", "{\"1\":\"shim\"}", true },
		{ "layer_of", "{\"48\":\"shim\"}", true },
		{ "layer_of", "{\"49\":\"shim\"}", false },
		{ "layer_of", "{\"1\":5}", false },
		{ "layer_of", "[]", false },
		{ "fault", "\"none\"", true },
		{ "fault", "\"memory\"", true },
		{ "fault", "\"other\"", false },
		{ "seed", "-1", false },
		{ "seed", "0", true },
		{ "seed", "1.5", false },
		{ "mode", "null", true },
		{ "mode", "5", false },
		{ "sync", "null", true },
		{ "sync", "\"poll\"", true },
		{ "sync", "\"sleep\"", false },
		{ "sync", "5", false },
		{ "depth", "0", false },
		{ "depth", "1", true },
		{ "workloads", "[]", false },
		{ "workloads", "[[]]", false },
		{ "workloads", "[[\"launch\",5]]", false },
		{ "workloads", "[[\"launch\"],[\"no such workload\"],[\"launch\"]]", false },
		{ "workloads", "[" EIGHT "]", true },
		{ "workloads", "[" EIGHT ",[\"launch\"]]", false },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		json_t *o = plan_with(rows[i].member, rows[i].value);
		struct share_plan p;
		char want[80];
		const char *text;
		int err;

		divert_stderr();
		err = share_plan_parse(&p, o, "here");
		text = diverted_stderr();
		cr_expect(eq(int, err, rows[i].valid ? 0 : -EINVAL), "%s: %s", rows[i].member,
			  rows[i].value);
		snprintf(want, sizeof(want), "here: *%s", rows[i].member);
		cr_expect(eq(int, tells(text, want), !rows[i].valid), "%s: %s: '%s'",
			  rows[i].member, rows[i].value, text);
		share_plan_release(&p);
		json_decref(o);
	}
	/* what is too many only together is said of the repetitions */
	for (int windows = 250; windows <= 251; windows++) {
		char value[16];
		struct share_plan p;
		json_t *o;

		snprintf(value, sizeof(value), "%d", windows);
		o = plan_with("windows", value);
		divert_stderr();
		cr_expect(eq(int, share_plan_parse(&p, o, "here"), windows > 250 ? -EINVAL : 0));
		cr_expect(eq(int, tells(diverted_stderr(), "repetitions"), windows > 250));
		share_plan_release(&p);
		json_decref(o);
	}
}

/* ---- sets ----------------------------------------------------------------------------------- */

static void are_sets(const struct share_plan *p, const struct share_set *want, int n)
{
	int found;
	struct share_set *all = share_sets(p, &found);

	cr_expect(eq(int, found, n));
	for (int i = 0; i < n && i < found; i++) {
		cr_expect(eq(int, all[i].arm, want[i].arm), "%d", i);
		cr_expect(eq(int, all[i].n, want[i].n), "%d", i);
		cr_expect(eq(int, all[i].first, want[i].first), "%d", i);
	}
	free(all);
}

/* One client alone is measured in processes, asked for or not, and of each workload. */
Test(small_share_file, sets_of_a_plan)
{
	static const struct share_set asked[] = {
		{ ARM_PROCESSES, 1, 0 }, { ARM_PROCESSES, 1, 1 }, { ARM_PROCESSES, 3, 0 },
		{ ARM_STREAMS, 1, 0 },	 { ARM_STREAMS, 1, 1 },	  { ARM_STREAMS, 3, 0 },
	};
	static const struct share_set unasked[] = {
		{ ARM_PROCESSES, 1, 0 }, { ARM_PROCESSES, 1, 1 }, { ARM_PROCESSES, 2, 0 },
		{ ARM_PROCESSES, 3, 0 }, { ARM_STREAMS, 2, 0 },	  { ARM_STREAMS, 3, 0 },
	};
	static const struct share_set streams[] = {
		{ ARM_PROCESSES, 1, 0 },
		{ ARM_PROCESSES, 1, 1 },
		{ ARM_STREAMS, 1, 0 },
		{ ARM_STREAMS, 1, 1 },
	};
	struct share_plan p = { .mixes = 2,
				.clients = { 1, 3 },
				.counts = 2,
				.arm = { [ARM_PROCESSES] = true, [ARM_STREAMS] = true } };

	are_sets(&p, asked, 6);
	p.clients[0] = 2;
	are_sets(&p, unasked, 6);
	p.clients[0] = p.counts = 1;
	p.arm[ARM_PROCESSES] = false;
	are_sets(&p, streams, 4);
	for (int i = 0; i < 3; i++) {
		cr_expect(eq(int, share_client_mix(&p, &streams[2], i), i % 2), "from 0");
		cr_expect(eq(int, share_client_mix(&p, &streams[3], i), (i + 1) % 2), "from 1");
	}
}

/* All windows, the check and, of several clients, the harm. */
Test(small_share_file, when_a_set_is_finished)
{
	static const double rate[] = { 100, 100 };
	struct share s;

	made_share_begin(&s, 2, 1, 2, 3);
	for (int i = 0; i < 2; i++) {
		struct share_measured *m = &s.set[i];

		cr_expect(not(share_set_is_whole(&s, m)), "%d: nothing", i);
		made_share_check(&s, &m->set, true);
		for (int k = 5; k >= 0; k--) {
			cr_expect(not(share_set_is_whole(&s, m)), "%d: not window %d", i, k);
			made_share_window(&s, &m->set, k, rate);
		}
		cr_expect(share_set_is_whole(&s, m), "%d: all", i);
		s.plan.fault = FAULT_KILL;
		cr_expect(eq(int, share_set_is_whole(&s, m), m->set.n == 1), "%d: no harm", i);
		m->fault = json_object();
		cr_expect(share_set_is_whole(&s, m), "%d: harm", i);
		s.plan.fault = FAULT_NONE;
		json_decref(m->checked);
		m->checked = NULL;
		cr_expect(not(share_set_is_whole(&s, m)), "%d: not the check", i);
		strcpy(m->not_run, "for a reason");
		cr_expect(share_set_is_whole(&s, m), "%d: it is not to come", i);
	}
	share_release(&s);
}

/* ---- lines ---------------------------------------------------------------------------------- */

#define TWENTY "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,"
#define CLIENT(steps, timed, quantiles)                                                            \
	"{\"steps\":" steps ",\"timed\":" timed ",\"step_ns\":[" quantiles "]}"
#define GOOD CLIENT("0", "1", TWENTY "1,2,3")
#define WINDOW(repetition, window, seconds, clients)                                               \
	"{\"repetition\":" repetition ",\"window\":" window ",\"seconds\":" seconds                \
	",\"clients\":[" clients "]}"

/* What is said of a record whose second line is this: of the first set but for what it says. */
static const char *said_of(const char *record, const char *members)
{
	char path[300], part[310];
	struct share s, again;
	json_t *o, *own = json_loads(members, 0, NULL);
	const char *text;

	cr_assert(ne(ptr, own, NULL), "%s", members);
	snprintf(path, sizeof(path), "%s/s.jsonl", chart_folder);
	snprintf(part, sizeof(part), "%s.part", path);
	made_share_begin(&s, 2, 1, 2, 3);
	o = share_line(record, &s.set[0].set);
	json_object_update(o, own);
	json_decref(own);
	json_object_set_new(o, "crc32", json_integer((json_int_t)record_crc32(o)));
	cr_assert(zero(int, record_create(&s.file.file, part)));
	own = json_pack("{s:s, s:s, s:s, s:o}", "record", "share", "schema", RECORD_SCHEMA, "id",
			"0123", "plan", share_plan_json(&s.plan));
	json_object_set_new(own, "crc32", json_integer((json_int_t)record_crc32(own)));
	cr_assert(zero(int, record_write(&s.file.file, own)));
	cr_assert(zero(int, record_write(&s.file.file, o)));
	share_release(&s);
	divert_stderr();
	share_read(&again, part);
	text = diverted_stderr();
	share_release(&again);
	remove(part);
	return text;
}

/* Three repetitions of two windows, and one client of one workload. */
Test(small_share_file, lines_that_are_valid_and_that_are_not)
{
	static const struct {
		const char *record, *members, *wrong; /* "": nothing is */
	} rows[] = {
		{ "window", WINDOW("0", "0", "1", GOOD), "" },
		{ "window", WINDOW("-1", "0", "1", GOOD), "repetition" },
		{ "window", WINDOW("2", "0", "1", GOOD), "" },
		{ "window", WINDOW("3", "0", "1", GOOD), "repetition" },
		{ "window", WINDOW("0", "-1", "1", GOOD), "window" },
		{ "window", WINDOW("0", "1", "1", GOOD), "" },
		{ "window", WINDOW("0", "2", "1", GOOD), "window" },
		{ "window", WINDOW("0", "0", "0", GOOD), "seconds" },
		{ "window", WINDOW("0", "0", "0.5", GOOD), "" },
		{ "window", WINDOW("0", "0", "1", ""), "clients" },
		{ "window", WINDOW("0", "0", "1", GOOD "," GOOD), "clients" },
		{ "window", WINDOW("0", "0", "1", CLIENT("-1", "1", TWENTY "1,2,3")), "steps" },
		{ "window", WINDOW("0", "0", "1", CLIENT("null", "1", TWENTY "1,2,3")), "steps" },
		{ "window", WINDOW("0", "0", "1", CLIENT("1", "1", TWENTY "1,2")), "step_ns" },
		{ "window", WINDOW("0", "0", "1", CLIENT("1", "1", TWENTY "1,2,3,4")), "step_ns" },
		{ "window", WINDOW("0", "0", "1", CLIENT("1", "0.5", TWENTY "1,2,3")), "step_ns" },
		{ "window", WINDOW("0", "0", "1", CLIENT("1", "1", TWENTY "1,2,1")), "step_ns" },
		{ "window", WINDOW("0", "0", "1", CLIENT("1", "1", "0,0," TWENTY "1")), "step_ns" },
		{ "window", WINDOW("0", "0", "1", CLIENT("1", "1", "2,1," TWENTY "1")), "step_ns" },
		{ "window", WINDOW("0", "0", "1", CLIENT("1", "0", TWENTY "null,2,1")), "" },
		{ "window", "{\"n\":3}", "arm, n or first" },
		{ "window", "{\"n\":1.5}", "arm, n or first" },
		{ "window", "{\"first\":1}", "arm, n or first" },
		{ "window", "{\"first\":null}", "arm, n or first" },
		{ "window", "{\"arm\":\"mps\"}", "arm, n or first" },
		{ "checked", "{\"passed\":[true]}", "" },
		{ "checked", "{\"passed\":[]}", "passed" },
		{ "checked", "{\"passed\":[1]}", "passed" },
		{ "checked", "{\"n\":2,\"passed\":[true,null]}", "passed" },
		{ "not_run", "{\"why\":\"a reason\",\"lost\":true}", "" },
		{ "not_run", "{\"why\":\"\",\"lost\":true}", "why" },
		{ "not_run", "{\"why\":\"a reason\"}", "lost" },
		{ "fault", "{\"clients\":[{}]}", "" },
		{ "fault", "{\"clients\":[]}", "clients" },
		{ "size", "{\"workload\":0,\"step_ns\":1}", "" },
		{ "size", "{\"workload\":0,\"step_ns\":0}", "step_ns" },
		{ "size", "{\"workload\":-1,\"step_ns\":1}", "workload" },
		{ "size", "{\"workload\":1,\"step_ns\":1}", "workload" },
		{ "size", "{\"workload\":null,\"step_ns\":1}", "workload" },
		{ "platform", "{\"device\":\"a GPU\"}", "" },
		{ "platform", "{}", "device" },
		{ "other", "{}", "record" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const char *text = said_of(rows[i].record, rows[i].members);
		char want[80];

		snprintf(want, sizeof(want), "s.jsonl.part:2: *'%s' whose %s is wrong",
			 rows[i].record, rows[i].wrong);
		cr_expect(eq(int, tells(text, *rows[i].wrong ? want : ":2: "), *rows[i].wrong != 0),
			  "%s %s: '%s'", rows[i].record, rows[i].members, text);
	}
}
