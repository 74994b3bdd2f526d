/* test_trial_file.c - the record of rift time: what is written is read, and damage is told. */
#include "tests/test.h"
#include "tests/cli.h"
#include "tests/folder.h"

#include "harness/base/json.h"
#include "harness/platform/enter.h"
#include "harness/trial/trial.h"

#include <errno.h>

TEST_FOLDER(folder);

TestSuite(small_trial_file, .timeout = 60, .init = make_folder, .fini = remove_folder);

static const char *path_of(const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static struct trial_run run_of(double wall_s)
{
	struct trial_run r = { .there = true, .wall_s = wall_s };

	for (int q = 0; q < TRIAL_QUANTITIES; q++)
		r.value[q] = q + 0.5;
	r.ranges = 1;
	r.range[0] = (struct trial_range){ "\"warm\" up", 3, 0.25 };
	return r;
}

/* Of two sides; whole, or under way. */
static void write_record(const char *name, int rounds, bool whole)
{
	struct trial t = { .file = LINE_FILE_NONE };
	struct trial_run r;

	t.plan = (struct trial_plan){ .sides = 2, .margin = 0.02, .patience_s = 600 };
	t.plan.argv = calloc(3, sizeof(*t.plan.argv));
	t.plan.argv[0] = "./app";
	t.plan.argv[1] = "a b";
	t.plan.side[1].layer = "emulate call=20";
	cr_assert(zero(int, trial_create(&t, path_of(name))));
	for (int side = 0; side < 2; side++)
		for (int round = -1; round < rounds; round++) {
			r = run_of(1 + side + 0.01 * round);
			cr_assert(zero(int, trial_add(&t, trial_run_json(side, round, &r))));
		}
	cr_assert(zero(int, trial_add(&t, json_pack("{s:s, s:[i,i]}", "record", "looks", "rounds",
						    10, 20))));
	if (whole)
		cr_assert(zero(int, line_file_end(&t.file)));
	trial_release(&t);
}

Test(small_trial_file, what_is_written_is_read)
{
	struct trial t;

	write_record("a.jsonl", 3, true);
	cr_assert(trial_file_is(path_of("a.jsonl")));
	cr_assert(zero(int, trial_read(&t, path_of("a.jsonl"))));
	cr_expect(eq(str, (char *)(uintptr_t)t.plan.argv[1], "a b"));
	cr_expect(zero(ptr, (void *)(uintptr_t)t.plan.argv[2]));
	cr_expect(eq(int, t.plan.sides, 2));
	cr_expect(eq(str, trial_side_name(&t.plan, 1).s, "emulate call=20"));
	cr_expect(eq(str, trial_program_name(&t.plan).s, "./app a b"));
	cr_expect(eq(int, t.looks, 2));
	cr_expect(epsilon_eq(dbl, t.side[1].run[2].wall_s, 2.02, 1e-12));
	cr_expect(epsilon_eq(dbl, t.side[1].untimed.wall_s, 1.99, 1e-12));
	cr_expect(epsilon_eq(dbl, t.side[0].run[0].value[TRIAL_ENERGY_J], TRIAL_ENERGY_J + 0.5,
			     1e-12));
	cr_expect(not(t.side[0].run[3].there));
	cr_expect(eq(int, t.side[0].run[1].ranges, 1));
	cr_expect(eq(str, t.side[0].run[1].range[0].name, "\"warm\" up"));
	cr_expect(eq(int, (int)t.side[0].run[1].range[0].count, 3));
	cr_expect(epsilon_eq(dbl, t.side[0].run[1].range[0].s, 0.25, 1e-12));
	trial_release(&t);
}

Test(small_trial_file, one_under_way_is_gone_on_with)
{
	struct trial t;
	struct trial_run r = run_of(3);

	write_record("a.jsonl", 2, false);
	cr_assert(zero(int, trial_resume(&t, path_of("a.jsonl.part"))));
	cr_assert(zero(int, trial_add(&t, trial_run_json(0, 2, &r))));
	cr_assert(zero(int, line_file_end(&t.file)));
	trial_release(&t);
	cr_assert(zero(int, trial_read(&t, path_of("a.jsonl"))));
	cr_expect(epsilon_eq(dbl, t.side[0].run[2].wall_s, 3, 1e-12));
	trial_release(&t);
}

/* One line, which names the place; nothing is written to it. */
static void is_refused(int (*open)(struct trial *, const char *), const char *name,
		       const char *words)
{
	struct trial t;
	const char *said;
	int err;

	divert_stderr();
	err = open(&t, path_of(name));
	said = diverted_stderr();
	cr_expect(ne(int, err, 0), "%s", words);
	cr_expect(tells(said, words), "%s: %s", words, said);
	trial_release(&t);
}

Test(small_trial_file, a_whole_one_is_not_gone_on_with)
{
	write_record("a.jsonl", 2, true);
	is_refused(trial_resume, "a.jsonl", "is complete");
}

Test(small_trial_file, one_without_a_round_is_not_shown)
{
	write_record("a.jsonl", 0, true);
	is_refused(trial_read, "a.jsonl", "no run is timed yet");
}

/* In the first line that has it. */
static void change(const char *from, const char *to)
{
	char *text = calloc(1, 1 << 16), *at;
	FILE *f = fopen(path_of("a.jsonl.part"), "r");
	size_t n;

	cr_assert(ne(ptr, f, NULL));
	n = fread(text, 1, (1 << 16) - 1, f);
	fclose(f);
	at = strstr(text, from);
	cr_assert(ne(ptr, at, NULL), "%s in %s", from, text);
	f = fopen(path_of("a.jsonl.part"), "w");
	fwrite(text, 1, (size_t)(at - text), f);
	fputs(to, f);
	fwrite(at + strlen(from), 1, n - (size_t)(at - text) - strlen(from), f);
	fclose(f);
	free(text);
}

Test(small_trial_file, a_changed_line_is_damaged)
{
	write_record("a.jsonl", 2, false);
	change("\"wall_s\":0.99", "\"wall_s\":0.98");
	is_refused(trial_read, "a.jsonl.part", "a.jsonl.part:2: crc32 does not match");
}

/* A line behind those of a record with one round. */
static void write_line(json_t *line)
{
	struct record_file f;
	struct record_scan scan = { .path = NULL };

	write_record("a.jsonl", 1, false);
	cr_assert(zero(int, record_open(&f, path_of("a.jsonl.part"))));
	scan.bytes = lseek(f.fd, 0, SEEK_END);
	hash_start(&scan.hash);
	cr_assert(zero(int, record_go_on(&f, &scan)));
	json_object_set_new(line, "crc32", json_integer((json_int_t)record_crc32(line)));
	cr_assert(zero(int, record_write(&f, line)));
	record_close(&f);
}

/* A line whose checksum is right, and whose content is not. */
static void line_is_refused(json_t *line, const char *words)
{
	write_line(line);
	is_refused(trial_read, "a.jsonl.part", words);
	remove(path_of("a.jsonl.part"));
}

/* The largest of each, and the smallest. */
Test(small_trial_file, lines_at_their_limits)
{
	static const char *const rows[] = {
		"{\"record\":\"run\",\"side\":1,\"round\":999,\"wall_s\":1,\"status\":0}",
		"{\"record\":\"run\",\"side\":0,\"round\":-1,\"wall_s\":0.1,\"status\":0,"
		"\"ranges\":[{\"name\":\"a\",\"count\":0,\"s\":0}]}",
		"{\"record\":\"looks\",\"rounds\":[1,2,3,4,1000]}",
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct trial t;

		write_line(json_loads(rows[i], 0, NULL));
		cr_assert(zero(int, trial_read(&t, path_of("a.jsonl.part"))), "%s", rows[i]);
		cr_expect(eq(int, t.side[1].run[999].there, i == 0), "%s", rows[i]);
		cr_expect(eq(int, t.side[0].untimed.wall_s < 0.5, i == 1), "%s", rows[i]);
		cr_expect(eq(int, t.look[t.looks - 1], i == 2 ? 1000 : 20), "%s", rows[i]);
		trial_release(&t);
		remove(path_of("a.jsonl.part"));
	}
}

Test(small_trial_file, outputs_that_differ_are_read)
{
	struct trial t;

	write_line(json_pack("{s:s}", "record", "outputs_differ"));
	cr_assert(zero(int, trial_read(&t, path_of("a.jsonl.part"))));
	cr_expect(t.outputs_differ);
	trial_release(&t);
	remove(path_of("a.jsonl.part"));
}

/* What follows from other members is none. */
Test(small_trial_file, members_of_a_run)
{
	struct trial_run r = run_of(9);
	json_t *o = trial_run_json(0, 0, &r);

	cr_expect(eq(ptr, json_object_get(o, "after_s"), NULL));
	cr_expect(epsilon_eq(dbl, json_get_number(o, "calls_s"), 4.5, 1e-12));
	json_decref(o);
}

static struct trial_run rewritten(const struct trial_run *r)
{
	struct trial t;
	struct trial_run out;

	write_line(trial_run_json(1, 0, r));
	cr_assert(zero(int, trial_read(&t, path_of("a.jsonl.part"))));
	out = t.side[1].run[0];
	trial_release(&t);
	remove(path_of("a.jsonl.part"));
	return out;
}

Test(small_trial_file, all_of_a_run_is_read)
{
	struct trial_run r = run_of(9), got;

	r.status = 3 << 8;
	r.late = true;
	snprintf(r.output, sizeof(r.output), "0123");
	snprintf(r.said, sizeof(r.said), "no such file");
	got = rewritten(&r);
	cr_expect(eq(int, got.there, 1));
	cr_expect(epsilon_eq(dbl, got.wall_s, 9, 1e-12));
	cr_expect(eq(int, got.status, 3 << 8));
	cr_expect(eq(int, got.late, 1));
	cr_expect(eq(int, got.left, 0));
	cr_expect(eq(str, got.output, "0123"));
	cr_expect(eq(str, got.said, "no such file"));
	for (int q = 0; q < TRIAL_QUANTITIES; q++)
		cr_expect(epsilon_eq(dbl, got.value[q],
				     q == TRIAL_AFTER_S ? 9 - 3.5 - 4.5 : q + 0.5, 1e-12),
			  "%s", trial_quantities[q].name);
	/* less than nothing is left behind the last call, and nothing */
	for (int i = 0; i < 2; i++) {
		r = run_of(i ? 8 : 7);
		r.left = true;
		got = rewritten(&r);
		cr_expect(not(isfinite(got.value[TRIAL_AFTER_S])), "%d", i);
		cr_expect(eq(int, got.late, 0));
		cr_expect(eq(int, got.left, 1));
	}
}

/* What rift show --check says of one. */
static void is_checked(const char *name, int code, const char *words)
{
	const char *said;
	int rc = run_rift(OUT, &said, "show --check %s", path_of(name));

	cr_expect(eq(int, rc, code), "%s: %s", name, said);
	cr_expect(tells(said, words), "%s: %s", words, said);
}

Test(small_trial_file, what_a_check_says)
{
	FILE *f;

	write_record("a.jsonl", 2, true);
	is_checked("a.jsonl", RIFT_OK, ": valid; rift time *, 2 sides, 2 rounds\n");
	write_record("b.jsonl", 1, false);
	is_checked("b.jsonl.part", RIFT_OK, ": valid, under way; rift time *, 2 sides, 1 round\n");
	f = fopen(path_of("b.jsonl.part"), "a");
	fputs("{\"record\":\"ru", f);
	fclose(f);
	is_checked("b.jsonl.part", RIFT_OK, " round; a torn last line is dropped\n");
	write_record("c.jsonl", 1, false);
	cr_assert(zero(int, shell(NULL, "mv %s/c.jsonl.part %s/c.jsonl", folder, folder)));
	is_checked("c.jsonl", RIFT_FAILED_POINTS, ": incomplete; rift time");
}

Test(small_trial_file, lines_that_no_one_could_have_written)
{
	static const struct {
		const char *line, *words;
	} rows[] = {
		{ "{\"record\":\"run\",\"side\":2,\"round\":0,\"wall_s\":1,\"status\":0}",
		  "'run' whose side is wrong" },
		{ "{\"record\":\"run\",\"side\":-1,\"round\":0,\"wall_s\":1,\"status\":0}",
		  "side" },
		{ "{\"record\":\"run\",\"side\":0,\"round\":1000,\"wall_s\":1,\"status\":0}",
		  "round" },
		{ "{\"record\":\"run\",\"side\":0,\"round\":-2,\"wall_s\":1,\"status\":0}",
		  "round" },
		{ "{\"record\":\"run\",\"side\":0,\"round\":1,\"wall_s\":0,\"status\":0}",
		  "wall_s" },
		{ "{\"record\":\"run\",\"side\":0,\"round\":1,\"wall_s\":1}", "status" },
		{ "{\"record\":\"run\",\"side\":0,\"round\":1,\"wall_s\":1,\"status\":0,"
		  "\"ranges\":[{\"count\":1,\"s\":1}]}",
		  "ranges" },
		{ "{\"record\":\"run\",\"side\":0,\"round\":1,\"wall_s\":1,\"status\":0,"
		  "\"ranges\":[{\"name\":\"a\",\"count\":-1,\"s\":1}]}",
		  "ranges" },
		{ "{\"record\":\"run\",\"side\":0,\"round\":1,\"wall_s\":1,\"status\":0,"
		  "\"ranges\":[{\"name\":\"a\",\"count\":1,\"s\":-0.5}]}",
		  "ranges" },
		{ "{\"record\":\"run\",\"side\":0,\"round\":1,\"wall_s\":1,\"status\":0,"
		  "\"ranges\":[1,2,3,4,5,6,7,8,9,10,11,12,13]}",
		  "ranges" },
		{ "{\"record\":\"looks\",\"rounds\":[3,2]}", "rounds" },
		{ "{\"record\":\"looks\",\"rounds\":[3,1001]}", "rounds" },
		{ "{\"record\":\"looks\",\"rounds\":[3,3]}", "rounds" },
		{ "{\"record\":\"looks\",\"rounds\":[0,2]}", "rounds" },
		{ "{\"record\":\"looks\",\"rounds\":[3,100000]}", "rounds" },
		{ "{\"record\":\"looks\",\"rounds\":[1,2,3,4,5,6]}", "rounds" },
		{ "{\"record\":\"looks\",\"rounds\":[]}", "rounds" },
		{ "{\"record\":\"sing\"}", "'sing' whose record is wrong" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		json_t *line = json_loads(rows[i].line, 0, NULL);

		cr_assert(ne(ptr, line, NULL));
		line_is_refused(line, rows[i].words);
	}
}

Test(small_trial_file, a_plan_is_read_as_it_was_written)
{
	static const char want[] =
		"{\"program\": [\"app\", \"x y\"], \"sides\": [{\"layer\": \"shim\"}, "
		"{\"against\": "
		"\"nice\"}], \"rounds\": 7, \"margin\": 0.5, \"within_s\": 90.0, \"patience_s\": "
		"2.0, "
		"\"same_output\": true, \"bare\": true, \"files\": [\"a\", \"b c\", \"d\"]}";
	const char *argv[] = { "app", "x y", NULL };
	struct trial_plan
		plan = { .argv = argv,
			 .sides = 3,
			 .side = { [1] = { .layer = "shim" }, [2] = { .against = "nice" } },
			 .rounds = 7,
			 .margin = 0.5,
			 .within_s = 90,
			 .patience_s = 2,
			 .bare = true,
			 .same_output = true,
			 .file = { "a", "b c", "d" },
			 .files = 3 },
		read;
	json_t *o = trial_plan_json(&plan), *again;
	char *text = json_dumps(o, 0);

	cr_expect(eq(str, text, (char *)want));
	cr_assert(zero(int, trial_plan_parse(&read, o, "here")));
	again = trial_plan_json(&read);
	cr_expect(eq(int, json_equal(o, again), 1), "what is read is written as it was");
	trial_plan_release(&read);
	json_decref(again);
	json_decref(o);
	free(text);
}

Test(small_trial_file, plans_at_their_limits)
{
	const char *argv[] = { "app", NULL };
	struct trial_plan plan = { .argv = argv,
				   .sides = TRIAL_SIDES_MAX,
				   .rounds = TRIAL_ROUNDS_MAX,
				   .margin = 1,
				   .patience_s = 1e-3,
				   .files = TRIAL_FILES_MAX },
			  read;
	json_t *o;

	for (int i = 1; i < TRIAL_SIDES_MAX; i++)
		plan.side[i].against = "nice";
	for (int i = 0; i < TRIAL_FILES_MAX; i++)
		plan.file[i] = "out";
	o = trial_plan_json(&plan);
	cr_assert(zero(int, trial_plan_parse(&read, o, "here")));
	cr_expect(eq(int, read.sides, 13));
	cr_expect(eq(int, read.files, 16));
	cr_expect(eq(int, read.rounds, 1000));
	cr_expect(eq(str, (char *)(uintptr_t)read.side[12].against, "nice"));
	cr_expect(zero(dbl, read.within_s));
	cr_expect(not(read.bare));
	cr_expect(not(read.same_output));
	trial_plan_release(&read);
	json_decref(o);
	plan.margin = 0;
	o = trial_plan_json(&plan);
	cr_assert(zero(int, trial_plan_parse(&read, o, "here")));
	trial_plan_release(&read);
	json_decref(o);
}

/* 255 bytes are whole; of more the last ones become dots. */
Test(small_trial_file, long_commands_are_cut)
{
	char word[300];
	const char *argv[] = { "ab", word, "c", NULL };
	struct trial_plan plan = { .argv = argv };

	for (size_t n = 249; n <= 252; n++) {
		const char *want = n < 251 ? "xx c" : "x...";
		struct text_line name;

		memset(word, 'x', n);
		word[n] = '\0';
		name = trial_program_name(&plan);
		cr_expect(eq(sz, strlen(name.s), n < 251 ? n + 5 : 255), "%zu", n);
		cr_expect(eq(str, name.s + strlen(name.s) - 4, (char *)(uintptr_t)want), "%zu", n);
	}
}

/* ---- measuring, as far as the first runs say how much ---------------------------------------- */

/* All first runs are there, and of the last side one that ends otherwise: no other need run. */
static int measure(struct trial *t, struct trial_plan plan, double wall_s,
		   struct trial_run by_itself)
{
	int err;

	*t = (struct trial){ .plan = plan };
	t->plan.argv = calloc(2, sizeof(*t->plan.argv));
	t->plan.argv[0] = "true";
	t->plan.patience_s = 60;
	t->plan.bare = true;
	for (int i = 1; i < plan.sides; i++)
		t->plan.side[i].against = "env";
	cr_assert(zero(int, trial_create(t, path_of("m.jsonl"))));
	for (int i = 0; i < plan.sides; i++) {
		struct trial_run r = { .there = true, .wall_s = wall_s, .status = i ? 256 : 0 };

		r = i ? r : by_itself;
		r.wall_s = wall_s;
		cr_assert(zero(int, trial_add(t, trial_run_json(i, -1, &r))));
	}
	divert_stderr();
	err = trial_measure(t);
	return err;
}

Test(small_trial_file, a_first_run_that_says_enough)
{
	struct trial_run late = { .there = true, .late = true },
			 absent = { .there = true, .status = LAYER_NOT_FOUND << 8 };
	struct trial_plan plan = { .sides = 1, .rounds = 3 };
	struct trial t;

	cr_expect(eq(int, measure(&t, plan, 1, late), -ETIMEDOUT));
	cr_expect(eq(str, (char *)(uintptr_t)diverted_stderr(),
		     "rift: true: did not end within 60 s; give it longer: --patience\n"));
	trial_release(&t);
	remove(path_of("m.jsonl.part"));
	snprintf(absent.said, sizeof(absent.said), "no such file");
	cr_expect(eq(int, measure(&t, plan, 1, absent), -EINVAL));
	cr_expect(eq(str, (char *)(uintptr_t)diverted_stderr(),
		     "rift: the program does not start: no such file\n"));
	trial_release(&t);
}

/* Seconds of each first run, and after which rounds it may end. */
Test(small_trial_file, looks_are_planned_by_the_first_runs)
{
	static const struct {
		int sides, rounds;
		double within_s, wall_s;
		int looks, look[TRIAL_LOOKS_MAX];
	} rows[] = {
		{ 2, 12, 0, 1, 1, { 12 } },	 { 2, 0, 280, 5, 3, { 7, 14, 28 } },
		{ 2, 0, 270, 5, 2, { 13, 27 } }, { 2, 0, 0, 2, 3, { 7, 15, 30 } },
		{ 3, 0, 0, 2, 2, { 10, 20 } },	 { 2, 0, 0, 100, 1, { 5 } },
		{ 3, 0, 0, 100, 1, { 6 } },	 { 2, 0, 0, 12, 1, { 5 } },
		{ 2, 0, 0, 10, 1, { 6 } },	 { 2, 0, 1, 100, 1, { 1 } },
		{ 2, 0, 30, 10, 1, { 1 } },	 { 2, 0, 0, 1e-3, 5, { 62, 125, 250, 500, 1000 } },
	};
	const struct trial_run well = { .there = true };

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct trial_plan plan = { .sides = rows[i].sides,
					   .rounds = rows[i].rounds,
					   .within_s = rows[i].within_s,
					   .margin = 0.02 };
		struct trial t;
		int err = measure(&t, plan, rows[i].wall_s, well);

		const char *said = diverted_stderr();

		cr_assert(zero(int, err), "row %zu: %s", i, said);
		cr_expect(eq(int, t.looks, rows[i].looks), "row %zu", i);
		for (int k = 0; k < t.looks; k++)
			cr_expect(eq(int, t.look[k], rows[i].look[k]), "row %zu, %d", i, k);
		cr_expect(not(t.side[0].run[0].there), "row %zu", i);
		trial_release(&t);
		remove(path_of("m.jsonl"));
	}
}

#define THREE_SIDES "{\"layer\":\"none\"},{\"layer\":\"none\"},{\"layer\":\"none\"}"
#define SIX_SIDES THREE_SIDES "," THREE_SIDES
#define EIGHT_FILES "\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\""

/* Plans, by what is changed in a good one. */
Test(small_trial_file, plans_that_are_wrong)
{
	static const struct {
		const char *name, *value;
	} rows[] = {
		{ "program", "[]" },
		{ "program", "[1]" },
		{ "sides", "[{}]" },
		{ "sides", "3" },
		{ "rounds", "-1" },
		{ "rounds", "1001" },
		{ "margin", "-0.1" },
		{ "margin", "1.01" },
		{ "patience_s", "0" },
		{ "within_s", "-1" },
		{ "files", "[1]" },
		{ "sides", "[{\"layer\":1}]" },
		{ "sides", "[" SIX_SIDES "," SIX_SIDES ",{\"layer\":\"none\"}]" },
		{ "files", "3" },
		{ "files", "[" EIGHT_FILES "," EIGHT_FILES ",\"a\"]" },
	};
	struct trial_plan good = { .sides = 1, .margin = 0.02, .patience_s = 1 };
	const char *argv[] = { "app", NULL };

	good.argv = argv;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		json_t *o = trial_plan_json(&good);
		struct trial_plan p;
		const char *said;
		int err;

		json_object_set_new(o, rows[i].name,
				    json_loads(rows[i].value, JSON_DECODE_ANY, NULL));
		divert_stderr();
		err = trial_plan_parse(&p, o, "here");
		said = diverted_stderr();
		cr_expect(ne(int, err, 0), "%s %s", rows[i].name, rows[i].value);
		cr_expect(tells(said, rows[i].name), "%s: %s", rows[i].name, said);
		trial_plan_release(&p);
		json_decref(o);
	}
}
