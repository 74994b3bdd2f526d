/*
 * test_sweep_record.c - harness/sweep/record.h, lock.h, hash.h and assemble.h: lines that survive,
 * files that are refused, who may write, and what a point's record says of its visits.
 */
#include "harness/sweep/assemble.h"
#include "harness/sweep/lock.h"
#include "harness/sweep/record.h"
#include "tests/divert.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[] = "/tmp/rift_record_XXXXXX";

static void make_file(void)
{
	int fd = mkstemp(path);

	cr_assert(le(int, 0, fd), "%s", path);
	close(fd);
}

static void remove_file(void)
{
	unlink(path);
}

TestSuite(small_sweep_record, .init = make_file, .fini = remove_file, .timeout = 30);

static void write_text(const char *text)
{
	FILE *f = fopen(path, "w");

	cr_assert(ne(ptr, f, NULL), "%s", path);
	fputs(text, f);
	fclose(f);
}

static int count(const json_t *o, const struct record_scan *scan, void *arg)
{
	(void)o, (void)scan;
	++*(int *)arg;
	return 0;
}

/* ---- hash ------------------------------------------------------------------------------- */

Test(small_sweep_record, sha256_as_published)
{
	char text[HASH_TEXT];
	struct hash h;

	/* FIPS 180-2, appendix B.1 */
	hash_start(&h);
	hash_add(&h, "a", 1);
	hash_text(&h, text); /* asked in between, it goes on */
	hash_add(&h, "bc", 2);
	hash_text(&h, text);
	cr_assert(eq(str, text, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
		  "%s", text);
}

Test(small_sweep_record, the_order_of_members_does_not_count)
{
	json_t *a = json_loads("{\"x\":1,\"y\":[1,2]}", 0, NULL);
	json_t *b = json_loads("{\"y\":[1,2],\"x\":1}", 0, NULL);
	char ha[HASH_TEXT], hb[HASH_TEXT];

	hash_json(a, ha);
	hash_json(b, hb);
	cr_assert(eq(str, ha, hb), "members");
	json_object_set_new(b, "x", json_integer(2));
	hash_json(b, hb);
	cr_assert(ne(int, strcmp(ha, hb), 0), "values do");
	json_decref(a);
	json_decref(b);
}

/* ---- reading ---------------------------------------------------------------------------- */

#define FIRST "{\"record\":\"plan\",\"schema\":\"1.0\"}\n"

static const struct {
	const char *text;
	int lines;
	bool torn;
} whole[] = {
	{ "", 0, false },
	{ FIRST, 1, false },
	{ FIRST "{\"record\":\"x\"}\n", 2, false },
	{ FIRST "{\"record\":\"x\"}", 1, true }, /* no end: perhaps 12 of 123 */
	{ FIRST "{\"record\":\"x", 1, true },
	{ FIRST "{\"record\":\"x\n", 1, true },
	{ FIRST "garbage\n", 1, true },
	{ "{\"rec", 0, true },
	/* what a later minor version may add */
	{ "{\"record\":\"plan\",\"schema\":\"1.7\",\"new\":{}}\n{\"record\":\"newkind\"}\n", 2,
	  false },
};

Test(small_sweep_record, a_torn_last_line_is_dropped)
{
	for (size_t i = 0; i < sizeof(whole) / sizeof(*whole); i++) {
		struct record_scan scan;
		int lines = 0;

		write_text(whole[i].text);
		cr_assert(zero(int, record_read(&scan, path, count, &lines)), "%zu", i);
		cr_assert(eq(int, lines, whole[i].lines), "%zu", i);
		cr_assert(eq(int, scan.torn, whole[i].torn), "%zu", i);
	}
}

static const struct {
	const char *text, *says;
} broken[] = {
	{ FIRST "garbage\n{\"record\":\"x\"}\n", ":2: this line is no JSON object" },
	{ FIRST "[1]\n{\"record\":\"x\"}\n", ":2: this line is no JSON object" },
	{ FIRST "{\"a\":1,\"a\":2}\n{\"record\":\"x\"}\n", ":2: this line is no JSON object" },
	{ "{\"record\":\"plan\",\"schema\":\"2.0\"}\n", "schema 2.0; this rift reads 1.x" },
	{ "{\"record\":\"plan\",\"schema\":\"0.9\"}\n", "schema 0.9; this rift reads 1.x" },
	{ "{\"record\":\"plan\",\"schema\":1}\n", "not \"MAJOR.MINOR\"" },
	{ "{\"record\":\"plan\",\"schema\":\"one\"}\n", "not \"MAJOR.MINOR\"" },
	{ "{\"workload\":\"myocyte\"}\n", "the first line has no schema" },
};

Test(small_sweep_record, files_that_are_refused)
{
	for (size_t i = 0; i < sizeof(broken) / sizeof(*broken); i++) {
		struct record_scan scan;
		const char *said;
		int lines = 0, err;

		write_text(broken[i].text);
		divert_stderr();
		err = record_read(&scan, path, count, &lines);
		said = diverted_stderr();
		cr_assert(eq(int, err, -EINVAL), "%zu", i);
		cr_assert(is_one_complaint(said), "%s", said);
		cr_assert(ne(ptr, strstr(said, broken[i].says), NULL), "%zu: %s", i, said);
	}
}

/* ---- writing ---------------------------------------------------------------------------- */

Test(small_sweep_record, going_on_behind_a_torn_line)
{
	struct record_file f;
	struct record_scan scan;
	char before[HASH_TEXT], after[HASH_TEXT];
	int lines = 0;

	write_text(FIRST "{\"record\":\"half");
	cr_assert(zero(int, record_read(&scan, path, count, &lines)), "read");
	cr_assert(zero(int, record_append(&f, &scan)), "append");
	cr_assert(zero(int, record_write(&f, json_pack("{s:s}", "record", "more"))), "write");
	cr_assert(zero(int, record_sync(&f, true)), "sync");
	hash_text(&f.hash, before);
	record_close(&f);
	lines = 0;
	cr_assert(zero(int, record_read(&scan, path, count, &lines)), "read again");
	hash_text(&scan.hash, after);
	cr_assert(eq(int, lines, 2), "the half line is gone");
	cr_assert(not(scan.torn), "whole");
	cr_assert(eq(str, after, before), "the writer's hash is the reader's");
}

Test(small_sweep_record, a_new_file_overwrites_nothing)
{
	struct record_file f;
	const char *said;
	int err;

	write_text(FIRST);
	divert_stderr();
	err = record_create(&f, path);
	said = diverted_stderr();
	cr_assert(eq(int, err, -EEXIST), "exists");
	cr_assert(is_one_complaint(said), "%s", said);
	record_close(&f);
}

/* ---- lock ------------------------------------------------------------------------------- */

static int take_quietly(struct lock *l, const char **said)
{
	int err;

	divert_stderr();
	err = lock_take(l, path);
	*said = diverted_stderr();
	return err;
}

Test(small_sweep_record, one_writer_at_a_time)
{
	struct lock mine, other;
	const char *said;

	cr_assert(zero(int, take_quietly(&mine, &said)), "%s", said);
	cr_assert(eq(int, take_quietly(&other, &said), -EBUSY), "held");
	cr_assert(is_one_complaint(said), "%s", said);
	lock_release(&other); /* of one that was not taken: nothing */
	cr_assert(eq(int, take_quietly(&other, &said), -EBUSY), "still held");
	lock_release(&mine);
	cr_assert(zero(int, take_quietly(&other, &said)), "%s", said);
	lock_release(&other);
}

Test(small_sweep_record, stale_locks_are_replaced)
{
	static const char *const stale[] = {
		"2147483646 12 x\n",	  /* no such process */
		"1 99999999999999 x\n",	  /* another boot */
		"1 99999999999999999 \n", /* the pid is used again */
	};
	char name[64];

	snprintf(name, sizeof(name), "%s.lock", path);
	for (size_t i = 0; i < sizeof(stale) / sizeof(*stale); i++) {
		FILE *f = fopen(name, "w");
		struct lock l;
		const char *said;

		fputs(stale[i], f);
		fclose(f);
		cr_assert(zero(int, take_quietly(&l, &said)), "%zu: %s", i, said);
		cr_assert(ne(ptr, strstr(said, "replaced"), NULL), "%zu: %s", i, said);
		lock_release(&l);
		cr_assert(ne(int, access(name, F_OK), 0), "%zu: removed", i);
	}
}

/* ---- points ----------------------------------------------------------------------------- */

static json_t *visit(const char *text)
{
	json_t *o = json_loads(text, 0, NULL);

	cr_assert(ne(ptr, o, NULL), "%s", text);
	return o;
}

static double member(const json_t *o, const char *a, const char *b)
{
	return json_number_value(json_object_get(json_object_get(o, a), b));
}

static bool is_noisy(const json_t *o)
{
	return json_is_true(json_object_get(json_object_get(o, "summary"), "noisy"));
}

Test(small_sweep_record, a_point_is_all_its_rounds)
{
	json_t *v[3] = {
		visit("{\"t_enq_ns\":[1,2],\"t_total_ns\":[10,20],\"t_dev_ns\":[9],\"marks\":[0,16]"
		      ","
		      "\"canary_ns\":[5,6],\"utime_us\":3,\"check\":{\"state\":\"passed\"}}"),
		visit("{\"t_enq_ns\":[3],\"t_total_ns\":[30],\"t_dev_ns\":[],\"marks\":[0],"
		      "\"canary_ns\":[7,8],\"utime_us\":4}"),
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
	/* of 10 and 30: the other two are marked, one for its events only, which count for none */
	cr_assert(epsilon_eq(dbl, assembled_median(p, "t_total_ns"), 20, 1e-9), "median");
	cr_assert(epsilon_eq(dbl, member(p, "summary", "share_marked"), 0.3333, 1e-9), "share");
	cr_assert(is_noisy(p), "the median of all three is 30");
	json_decref(p);
	for (int i = 0; i < 3; i++)
		json_decref(v[i]);
}

Test(small_sweep_record, too_few_good_blocks_are_said_to_be_noisy)
{
	json_t *v = visit("{\"t_enq_ns\":[1,1,1],\"t_total_ns\":[10,20,60],\"t_dev_ns\":[],"
			  "\"marks\":[0,1,4],\"canary_ns\":[5,6]}");
	json_t *p = assemble_point(&v, 1);

	cr_assert(is_noisy(p), "noisy");
	cr_assert(epsilon_eq(dbl, assembled_median(p, "t_total_ns"), 20, 1e-9), "of all three");
	json_decref(p);
	json_decref(v);
}

static json_t *rounds_checked(const json_t *point)
{
	return json_object_get(json_object_get(point, "check"), "rounds");
}

Test(small_sweep_record, the_rounds_that_were_checked_are_said)
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

Test(small_sweep_record, one_failed_check_fails_the_point)
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
