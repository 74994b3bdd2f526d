/*
 * test_record_members.c - each member of the first lines of kept records: how it is refused where
 * it is missing or something else. All of it is in tests/golden/outputs/record-members.txt.
 */
/* sanitizers: seen elsewhere */
#include "tests/test.h"
#include "harness/probe/costs.h"
#include "harness/probe/grid.h"
#include "harness/probe/warmup.h"
#include "harness/record/record.h"
#include "harness/record/validate_record.h"
#include "harness/share/share_file.h"
#include "harness/trial/trial.h"

#include <string.h>
#include <unistd.h>

#include "tests/folder.h"
#include "tests/golden.h"
#include "tests/members.h"

TEST_FOLDER(folder);
TestSuite(small_record_members, .init = make_folder, .fini = remove_folder, .timeout = 60);

enum { LINES = 5 };

static json_t *row[LINES];
static int rows;
static char file[256];
static char *wanted; /* what is said without a change */
static FILE *out;

/* ---- readers ------------------------------------------------------------------------------- */

static int session(const char *path)
{
	struct record_facts facts;

	return record_check_strictly(&facts, path, NULL);
}

static int share(const char *path)
{
	bool incomplete = false;

	return share_check(path, &incomplete);
}

static int trial(const char *path)
{
	bool incomplete = false;

	return trial_check(path, &incomplete);
}

static int one(int (*read)(const char *path, json_t **o), const char *path)
{
	json_t *o = NULL;
	int err = read(path, &o);

	json_decref(o);
	return err;
}

static int costs(const char *path)
{
	return one(costs_read, path);
}

static int grid(const char *path)
{
	return one(grid_read, path);
}

static int warmup(const char *path)
{
	return one(warmup_read, path);
}

static int (*reader)(const char *path);

/* ---- one change at a time ------------------------------------------------------------------ */

/* Hashes are right, whatever was changed. */
static void put_hashes(void)
{
	json_t *plan = json_object_get(row[0], "plan");
	char hash[HASH_TEXT];

	if (plan && json_object_get(row[0], "plan_sha256")) {
		hash_json(plan, hash);
		for (int i = 0; i < rows; i++)
			if (json_object_get(row[i], "plan_sha256"))
				json_object_set_new(row[i], "plan_sha256", json_string(hash));
	}
	for (int i = 0; i < rows; i++)
		if (json_object_get(row[i], "crc32"))
			json_object_set_new(row[i], "crc32", json_integer(record_crc32(row[i])));
}

static int reads(FILE *text)
{
	int err, own = dup(STDOUT_FILENO);

	(void)text;
	put_hashes();
	members_write(file, row, rows);
	fflush(stdout);
	dup2(STDERR_FILENO, STDOUT_FILENO);
	err = reader(file);
	fflush(stdout);
	dup2(own, STDOUT_FILENO);
	close(own);
	return err;
}

/* How many in a row were taken without a word. */
static int taken;

static void put_taken(void)
{
	fprintf(out, taken ? "(%d)\n" : "", taken);
	taken = 0;
}

/* Without the folder, which is another one each time. The caller frees it. */
static char *said(void)
{
	char *text = members_said(reads), *at;

	while ((at = strstr(text, folder)))
		memmove(at, at + strlen(folder) + 1, strlen(at + strlen(folder)));
	return text;
}

static void put_said(const char *what)
{
	char *text = said();

	if (strcmp(text, wanted) != 0) {
		put_taken();
		fprintf(out, "%s\n  %s", what, text);
	} else {
		taken++;
	}
	free(text);
}

/* Facts of a machine may be anything. */
static void forget_facts(json_t *o)
{
	static const char *const names[] = { "environment", "host", "gpu", "virt", "env" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (json_object_get(o, names[i]))
			json_object_set_new(o, names[i], json_object());
}

static void each_row(const char *kept, int (*by)(const char *path), const char *name)
{
	snprintf(file, sizeof(file), "%s/%s", folder, name);
	for (int i = 0; i < rows; i++)
		forget_facts(row[i]);
	reader = by;
	wanted = said();
	fprintf(out, "%s\n  %s%s", kept, wanted, *wanted ? "" : "\n");
	each_member(row, rows, put_said);
	put_taken();
	free(wanted);
	while (rows)
		json_decref(row[--rows]);
}

static FILE *unpacked(const char *kept)
{
	char command[256];

	snprintf(command, sizeof(command), "zcat -f data/sessions/%s", kept);
	return popen(command, "r");
}

static void each_of(const char *kept, int lines, int (*by)(const char *path), const char *name)
{
	char *line = NULL;
	size_t size = 0;
	FILE *in = unpacked(kept);

	while (rows < lines && getline(&line, &size, in) > 0)
		row[rows++] = json_loads(line, 0, NULL);
	free(line);
	pclose(in);
	cr_assert(eq(int, rows, lines), "%s", kept);
	each_row(kept, by, name);
}

/* The last rows of a list go. */
static void shorten(json_t *list, size_t n)
{
	while (json_array_size(list) > n)
		json_array_remove(list, json_array_size(list) - 1);
}

/* All lists in a curve are of one length, or of none. */
static void shorten_all(json_t *o)
{
	const char *key;
	json_t *v;

	json_object_foreach(o, key, v)
	{
		shorten(v, 2);
		shorten_all(v);
	}
}

/* A document of one object, with a few of its rows. */
static void each_in(const char *kept, int (*by)(const char *path), const char *name)
{
	FILE *in = unpacked(kept);
	json_t *o = json_loadf(in, 0, NULL), *curve;
	size_t i;

	pclose(in);
	cr_assert(ne(ptr, o, NULL), "%s", kept);
	shorten(json_object_get(o, "rows"), 2);
	shorten(json_object_get(o, "curves"), 2);
	json_array_foreach(json_object_get(o, "curves"), i, curve)
	{
		shorten_all(curve);
	}
	row[rows++] = o;
	each_row(kept, by, name);
}

Test(small_record_members, each_is_read_or_refused)
{
	char *got;
	size_t size;

	out = open_memstream(&got, &size);
	each_of("wsl2-h100/native-pathtrace.jsonl.gz", 3, session, "s.jsonl");
	each_of("share-h200/equal-4.jsonl.gz", 4, share, "s.share.jsonl");
	each_of("programs-h200/babelstream.jsonl.gz", 4, trial, "s.time.jsonl");
	each_in("h200-costs.json", costs, "c.json");
	each_in("graphs-h200/layer-none.json.gz", grid, "g.json");
	each_in("warmup-h200/long.json.gz", warmup, "w.json");
	fclose(out);
	golden_text("record-members", got);
	free(got);
}
