/*
 * made_record.h - record files made up line by line, each right in its fields and hashes. For one
 * test program each: everything is static.
 */
#ifndef RIFT_TESTS_MADE_RECORD_H
#define RIFT_TESTS_MADE_RECORD_H

#include "harness/record/point_record.h"
#include "harness/record/validate_record.h"
#include "tests/divert.h"
#include "tests/folder.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

TEST_FOLDER(dir);

static char path[64];
static struct record_file file;
static char plan_hash[HASH_TEXT];

/* Keys look like a SHA-256. */
#define ZEROS "000000000000000000000000000000000000000000000000000000000000000"
#define K0 ZEROS "0"
#define K1 ZEROS "1"

static inline void put_line(json_t *line)
{
	cr_assert(zero(int, record_write(&file, line)), "%s", path);
}

static inline json_t *plan_point(const char *key)
{
	return json_pack("{s:s, s:i, s:s, s:i}", "key", key, "config", 0, "mode", "stream", "depth",
			 1);
}

/* The plan has the points K0 and K1, in two rounds. */
static inline json_t *session_plan(int processes)
{
	return json_pack("{s:[{}], s:[o, o], s:{s:i, s:b, s:i, s:i, s:i, s:i, s:s}}", "configs",
			 "points", plan_point(K0), plan_point(K1), "design", "processes", processes,
			 "sequential", 1, "rounds", 2, "visit_ns", 1, "blocks_min", 1, "blocks_max",
			 1, "sync", "spin");
}

static inline void begin_with(const char *name, int sides, json_t *plan)
{
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	unlink(path);
	cr_assert(zero(int, record_create(&file, path)), "%s", path);
	hash_json(plan, plan_hash);
	put_line(json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:i, s:o}", "record", "plan", "schema",
			   "1.0", "session_id", "0123456789abcdef", "tool", "rift", "tool_version",
			   "0", "plan_sha256", plan_hash, "sides", sides, "plan", plan));
}

/* A plan of so many processes of each side. */
static inline void begin_session(const char *name, int sides, int processes)
{
	begin_with(name, sides, session_plan(processes));
}

/* changed: members beside or instead of the usual ones, or NULL. */
static inline void changed_header(const char *session, const char *hash, int process,
				  const char *changed)
{
	json_t *other = changed ? json_loads(changed, 0, NULL) : json_object();
	json_t *o = json_pack("{s:s, s:s, s:s, s:s, s:i, s:s, s:s, s:i, s:s}", "record", "header",
			      "schema", "1.0", "session_id", session, "side", "a", "process_index",
			      process, "plan_sha256", hash, "environment_sha256", "", "seed", 1,
			      "start_utc", "");

	for (const char *const *name = (const char *const[]){ "calib", "host", "gpu", "env",
							      "cuda_flags", "warmup", NULL };
	     *name; name++)
		json_object_set_new(o, *name, json_object());
	cr_assert(ne(ptr, other, NULL), "%s", changed);
	json_object_update(o, other);
	json_decref(other);
	put_line(o);
}

static inline void header_of(const char *session, const char *hash, int process)
{
	changed_header(session, hash, process, NULL);
}

static inline json_t *point_of(const char *side, int process, const char *key, const char *status)
{
	return json_pack("{s:s, s:s, s:i, s:s, s:{}, s:s}", "record", "point", "side", side,
			 "process_index", process, "key", key, "axes", "status", status);
}

/* A record of two blocks; changed: members that are other than they should be, or NULL. */
static inline void measured(const char *side, int process, const char *key, const char *changed)
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
	put_line(o);
}

/* status ok: of two blocks. */
static inline void point(const char *side, int process, const char *key, const char *status)
{
	json_t *o;

	if (!strcmp(status, "ok")) {
		measured(side, process, key, NULL);
		return;
	}
	o = point_of(side, process, key, status);
	json_object_set_new(o, "error", json_object());
	put_line(o);
}

static inline json_t *trailer_of(const char *side, int process, int ok, int failed)
{
	char hash[HASH_TEXT];

	hash_text(&file.hash, hash);
	return json_pack("{s:s, s:s, s:i, s:i, s:i, s:s, s:b}", "record", "trailer", "side", side,
			 "process_index", process, "records", ok, "failed", failed, "lines_sha256",
			 hash, "complete", 1);
}

/* stop: of the sequential rule, after so many processes; 0: no interim analysis. */
static inline void trailer(const char *side, int process, int ok, int failed, int stop)
{
	json_t *o = trailer_of(side, process, ok, failed);

	if (stop)
		json_object_set_new(o, "look", /* schema 1 */
				    json_pack("{s:i, s:i, s:i, s:[], s:b}", "processes", stop,
					      "points", 2, "wide", 0, "wide_keys", "stop", 1));
	put_line(o);
}

/* One whole process: a point that is ok, one that is not. */
static inline void process(const char *side, int process, int stop)
{
	point(side, process, K0, "ok");
	point(side, process, K1, "error");
	trailer(side, process, 1, 1, stop);
}

/* The finished file is held to be wrong in this. */
static inline void wrong_in(const char *what)
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
	cr_assert(tells(said, what), "%s: %s", what, said);
}

/* The finished file is held to be valid; is it incomplete? */
static inline bool incomplete(void)
{
	struct record_facts facts;

	record_close(&file);
	cr_assert(zero(int, record_check(&facts, path, NULL)), "valid");
	return facts.incomplete;
}

#endif
