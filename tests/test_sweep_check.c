/*
 * test_sweep_check.c - harness/sweep/check_record.h: made-up records, each right in its fields and
 * hashes, whose lines do not agree with each other.
 */
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

static void put(json_t *line)
{
	cr_assert(zero(int, record_write(&file, line)), "%s", path);
}

/* A plan of the points k0 and k1, and so many processes of each side. */
static void begin(const char *name, int sides, int processes)
{
	json_t *plan = json_pack("{s:[{s:s}, {s:s}], s:{s:i, s:b}}", "points", "key", "k0", "key",
				 "k1", "design", "processes", processes, "sequential", 1);

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	unlink(path);
	cr_assert(zero(int, record_create(&file, path)), "%s", path);
	hash_json(plan, plan_hash);
	put(json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:i, s:o}", "record", "plan", "schema", "1.0",
		      "session_id", "0123456789abcdef", "tool", "rift", "tool_version", "0",
		      "plan_sha256", plan_hash, "sides", sides, "plan", plan));
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

/* status ok: of one block. */
static void point(const char *side, int process, const char *key, const char *status)
{
	json_t *o = json_pack("{s:s, s:s, s:i, s:s, s:{}, s:s}", "record", "point", "side", side,
			      "process_index", process, "key", key, "axes", "status", status);

	if (strcmp(status, "ok"))
		json_object_set_new(o, "error", json_object());
	else
		json_object_update_new(o, json_pack("{s:i, s:i, s:[i], s:[i], s:[], s:[i], s:[], "
						    "s:[i], s:{}}",
						    "rounds", 1, "blocks", 1, "t_enq_ns", 1,
						    "t_total_ns", 2, "t_dev_ns", "marks", 0,
						    "canary_ns", "round_of_block", 0, "summary"));
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
	point(side, process, "k0", "ok");
	point(side, process, "k1", "error");
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
	point("a", -1, "k0", "ok");
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
	point("a", 0, "k0", "ok");
	point("b", 0, "k0", "ok");
	point("a", 1, "k0", "ok");
	point("a", 0, "k0", "error");
	wrong_in(":5: a second record of this point and process");
	begin("s.jsonl", 1, 2);
	process("a", 0, 0);
	process("a", 0, 0);
	wrong_in(":5: a process goes on behind its trailer");
}

Test(small_sweep_check, trailers_that_count_otherwise)
{
	begin("s.jsonl", 1, 1);
	point("a", 0, "k0", "ok");
	point("a", 0, "k1", "error");
	trailer("a", 0, 2, 1, 0);
	wrong_in(":4: records and failed do not agree");
	begin("s.jsonl", 1, 1);
	point("a", 0, "k0", "ok");
	point("a", 0, "k1", "error");
	trailer("a", 0, 1, 0, 0);
	wrong_in(":4: records and failed do not agree");
	begin("s.jsonl", 1, 1);
	point("a", 0, "k0", "ok");
	trailer("a", 0, 1, 0, 0);
	wrong_in(":3: a complete process without all points");
}
