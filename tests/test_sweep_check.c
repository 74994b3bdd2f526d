/*
 * test_sweep_check.c - harness/sweep/check_record.h: made-up records, each right in its fields and
 * hashes, whose lines do not agree with each other.
 */
#include "harness/sweep/assemble.h"
#include "harness/sweep/check_record.h"
#include "tests/divert.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char dir[] = "/tmp/rift_check_XXXXXX", path[64];
static struct record_file file;
static char plan_hash[HASH_TEXT];

static void make_dir(void)
{
	cr_assert(ne(ptr, mkdtemp(dir), NULL), "%s", dir);
}

static void remove_dir(void)
{
	unlink(path);
	rmdir(dir);
}

TestSuite(small_sweep_check, .init = make_dir, .fini = remove_dir, .timeout = 30);

/* Keys look like a SHA-256. */
#define ZEROS "000000000000000000000000000000000000000000000000000000000000000"
#define K0 ZEROS "0"
#define K1 ZEROS "1"

static void put(json_t *line)
{
	cr_assert(zero(int, record_write(&file, line)), "%s", path);
}

static json_t *plan_point(const char *key)
{
	return json_pack("{s:s, s:i, s:s, s:i}", "key", key, "config", 0, "mode", "stream", "depth",
			 1);
}

/* Of the points K0 and K1, in two rounds. */
static json_t *plan_of(int processes)
{
	return json_pack("{s:[{}], s:[o, o], s:{s:i, s:b, s:i, s:i, s:i, s:i, s:s}}", "configs",
			 "points", plan_point(K0), plan_point(K1), "design", "processes", processes,
			 "sequential", 1, "rounds", 2, "visit_ns", 1, "blocks_min", 1, "blocks_max",
			 1, "sync", "spin");
}

static void begin_with(const char *name, int sides, json_t *plan)
{
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	unlink(path);
	cr_assert(zero(int, record_create(&file, path)), "%s", path);
	hash_json(plan, plan_hash);
	put(json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:i, s:o}", "record", "plan", "schema", "1.0",
		      "session_id", "0123456789abcdef", "tool", "rift", "tool_version", "0",
		      "plan_sha256", plan_hash, "sides", sides, "plan", plan));
}

/* A plan of so many processes of each side. */
static void begin(const char *name, int sides, int processes)
{
	begin_with(name, sides, plan_of(processes));
}

static void header_of(const char *session, const char *hash, int process)
{
	json_t *o = json_pack("{s:s, s:s, s:s, s:s, s:i, s:s, s:s, s:i, s:s}", "record", "header",
			      "schema", "1.0", "session_id", session, "side", "a", "process_index",
			      process, "plan_sha256", hash, "environment_sha256", "", "seed", 1,
			      "start_utc", "");

	for (const char *const *name = (const char *const[]){ "calib", "host", "gpu", "env",
							      "cuda_flags", "warmup", NULL };
	     *name; name++)
		json_object_set_new(o, *name, json_object());
	put(o);
}

static json_t *point_of(const char *side, int process, const char *key, const char *status)
{
	return json_pack("{s:s, s:s, s:i, s:s, s:{}, s:s}", "record", "point", "side", side,
			 "process_index", process, "key", key, "axes", "status", status);
}

/* Of two blocks; changed: members that are other than they should be, or NULL. */
static void measured(const char *side, int process, const char *key, const char *changed)
{
	json_t *o = point_of(side, process, key, "ok"), *other = NULL;

	json_object_update_new(
		o, json_pack("{s:i, s:i, s:[i, i], s:[i, i], s:[], s:[i, i], s:[], s:[i, i]}",
			     "rounds", 1, "blocks", 2, "t_enq_ns", 1, 3, "t_total_ns", 20, 30,
			     "t_dev_ns", "marks", 0, 0, "canary_ns", "round_of_block", 0, 1));
	json_object_set_new(o, "summary", assemble_summary(o));
	if (changed) {
		other = json_loads(changed, 0, NULL);
		cr_assert(ne(ptr, other, NULL), "%s", changed);
		json_object_update_recursive(o, other);
		json_decref(other);
	}
	put(o);
}

/* status ok: of two blocks. */
static void point(const char *side, int process, const char *key, const char *status)
{
	json_t *o;

	if (!strcmp(status, "ok")) {
		measured(side, process, key, NULL);
		return;
	}
	o = point_of(side, process, key, status);
	json_object_set_new(o, "error", json_object());
	put(o);
}

/* stop: of the sequential rule, after so many processes; 0: it did not look. */
static void trailer(const char *side, int process, int ok, int failed, int stop)
{
	char hash[HASH_TEXT];
	json_t *o;

	hash_text(&file.hash, hash);
	o = json_pack("{s:s, s:s, s:i, s:i, s:i, s:s, s:b}", "record", "trailer", "side", side,
		      "process_index", process, "records", ok, "failed", failed, "lines_sha256",
		      hash, "complete", 1);
	if (stop)
		json_object_set_new(o, "look",
				    json_pack("{s:i, s:i, s:i, s:[], s:b}", "processes", stop,
					      "points", 2, "wide", 0, "wide_keys", "stop", 1));
	put(o);
}

/* One whole process: a point that is ok, one that is not. */
static void process(const char *side, int process, int stop)
{
	point(side, process, K0, "ok");
	point(side, process, K1, "error");
	trailer(side, process, 1, 1, stop);
}

/* The finished file is held to be wrong in this. */
static void wrong_in(const char *what)
{
	struct record_facts facts;
	const char *said;
	int err;

	record_close(&file);
	divert_stderr();
	err = record_check(&facts, path, NULL);
	said = diverted_stderr();
	cr_assert(eq(int, err, -EINVAL), "%s", what);
	cr_assert(is_one_complaint(said), "%s", said);
	cr_assert(ne(ptr, strstr(said, what), NULL), "%s: %s", what, said);
}

/* The finished file is held to be valid; is it incomplete? */
static bool incomplete(void)
{
	struct record_facts facts;

	record_close(&file);
	cr_assert(zero(int, record_check(&facts, path, NULL)), "valid");
	return facts.incomplete;
}

Test(small_sweep_check, processes_that_are_missing_are_said)
{
	begin("s.jsonl", 2, 2);
	header_of("0123456789abcdef", plan_hash, 0);
	process("a", 0, 0);
	process("b", 0, 0);
	process("b", 1, 0);
	cr_assert(incomplete(), "a 1 is missing");
	begin("s.jsonl.part", 2, 2);
	process("a", 0, 0);
	cr_assert(not(incomplete()), "a .part is under way");
	begin("s.jsonl", 2, 2);
	process("a", 0, 0);
	process("b", 0, 0);
	process("b", 1, 0);
	process("a", 1, 0);
	cr_assert(not(incomplete()), "all are there");
	begin("s.jsonl", 1, 30);
	process("a", 0, 0);
	process("a", 1, 2);
	cr_assert(not(incomplete()), "the rule found two enough");
}

Test(small_sweep_check, a_line_of_another_session)
{
	begin("s.jsonl", 1, 1);
	header_of("0123456789abcdee", plan_hash, 0);
	wrong_in(":2: session_id is not the plan's");
	begin("s.jsonl", 1, 1);
	header_of("0123456789abcdef", "12", 0);
	wrong_in(":2: plan_sha256 is not the plan's");
}

Test(small_sweep_check, processes_that_are_not_planned)
{
	begin("s.jsonl", 1, 2);
	header_of("0123456789abcdef", plan_hash, 2);
	wrong_in(":2: a process that is not planned");
	begin("s.jsonl", 1, 2);
	point("a", -1, K0, "ok");
	wrong_in(":2: a process that is not planned");
	begin("s.jsonl", 1, 2);
	process("b", 0, 0);
	wrong_in(":2: a process that is not planned");
	begin("s.jsonl", 1, 2);
	trailer("a", 2, 0, 0, 0);
	wrong_in(":2: a process that is not planned");
	begin("s.jsonl", 3, 2);
	wrong_in("sides is neither 1 nor 2");
	begin("s.jsonl", 1, 0);
	wrong_in("design.processes");
}

Test(small_sweep_check, points_that_are_there_twice)
{
	begin("s.jsonl", 2, 2);
	point("a", 0, K0, "ok");
	point("b", 0, K0, "ok");
	point("a", 1, K0, "ok");
	point("a", 0, K0, "error");
	wrong_in(":5: a second record of this point and process");
	begin("s.jsonl", 1, 2);
	process("a", 0, 0);
	process("a", 0, 0);
	wrong_in(":5: a process goes on behind its trailer");
}

Test(small_sweep_check, trailers_that_count_otherwise)
{
	begin("s.jsonl", 1, 1);
	point("a", 0, K0, "ok");
	point("a", 0, K1, "error");
	trailer("a", 0, 2, 1, 0);
	wrong_in(":4: records and failed do not agree");
	begin("s.jsonl", 1, 1);
	point("a", 0, K0, "ok");
	point("a", 0, K1, "error");
	trailer("a", 0, 1, 0, 0);
	wrong_in(":4: records and failed do not agree");
	begin("s.jsonl", 1, 1);
	point("a", 0, K0, "ok");
	trailer("a", 0, 1, 0, 0);
	wrong_in(":3: a complete process without all points");
}

/* Right in its hash, but nothing that could have been measured. */
Test(small_sweep_check, plans_that_cannot_be)
{
	json_t *plan = plan_of(1);

	json_object_set_new(json_array_get(json_object_get(plan, "points"), 1), "depth",
			    json_integer(0));
	begin_with("s.jsonl", 1, plan);
	wrong_in(":1: points[1].depth must be 1 to 16777216");
	plan = plan_of(1);
	json_object_set_new(json_array_get(json_object_get(plan, "points"), 0), "config",
			    json_integer(99));
	begin_with("s.jsonl", 1, plan);
	wrong_in(":1: points[0].config must be 0 to 0");
	plan = plan_of(1);
	json_object_set_new(json_object_get(plan, "design"), "rounds", json_integer(0));
	begin_with("s.jsonl", 1, plan);
	wrong_in(":1: design.rounds must be 1 to 100");
}

static void changed_point(const char *change, const char *what)
{
	begin("s.jsonl", 1, 1);
	measured("a", 0, K0, change);
	wrong_in(what);
}

Test(small_sweep_check, points_that_do_not_agree_with_themselves)
{
	changed_point("{\"summary\":{\"t_total_ns\":{\"median\":20.0}}}",
		      ":2: summary.t_total_ns is not that of the blocks");
	changed_point("{\"summary\":{\"t_enq_ns\":{\"p99\":4}}}", ":2: summary.t_enq_ns");
	changed_point("{\"summary\":{\"t_enq_ns\":null}}", ":2: summary.t_enq_ns");
	changed_point("{\"summary\":{\"n\":3}}", ":2: summary.n");
	changed_point("{\"summary\":{\"noisy\":true}}", ":2: summary.noisy");
	changed_point("{\"summary\":{\"modes\":[]}}", ":2: summary.modes");
	changed_point("{\"summary\":{\"share_marked\":0.5}}", ":2: summary.share_marked");
	changed_point("{\"marks\":[0,32]}", ":2: marks that no block can have");
	changed_point("{\"marks\":[0,\"\"]}", ":2: marks that no block can have");
	changed_point("{\"round_of_block\":[0,2]}", ":2: a round that is not planned");
	changed_point("{\"t_enq_ns\":[1,31]}", ":2: a block whose times cannot be");
	changed_point("{\"t_enq_ns\":[],\"t_total_ns\":[],\"marks\":[],\"round_of_block\":[],"
		      "\"blocks\":0}",
		      ":2: a measured point without blocks");
}

/* What another version adds is no fault. */
Test(small_sweep_check, more_than_is_known_is_valid)
{
	begin("s.jsonl", 1, 1);
	measured("a", 0, K0, "{\"summary\":{\"p42\":1,\"t_total_ns\":{\"p42\":5}}}");
	point("a", 0, K1, "error");
	trailer("a", 0, 1, 1, 0);
	cr_assert(not(incomplete()), "valid");
}
