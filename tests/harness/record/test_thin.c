/*
 * test_thin.c - a session without its blocks: rift says of it what it says of the original, it is
 * valid, and what it cannot answer is refused.
 */
/* sanitizers: races seen elsewhere */
#include "tests/test.h"
#include "harness/record/thin.h"
#include "tests/cli.h"
#include "tests/folder.h"
#include "tests/golden.h"

#define PAIRS "data/sessions/emulate-h200/call-5.jsonl.gz"
#define ONE_SIDE "data/sessions/h200-pathtrace.jsonl"

TEST_FOLDER(folder);
static char thin[64];

static void prepare(void)
{
	make_folder();
	snprintf(thin, sizeof(thin), "%s/thin.jsonl", folder);
}

TestSuite(small_thin, .init = prepare, .fini = remove_folder, .timeout = 300);

static char *told(const char *command, const char *file)
{
	const char *text;
	char *kept;

	cr_assert(le(int, run_rift(OUT, &text, command, file), 2), "%s", text);
	kept = strdup(text);
	cr_assert(ne(ptr, kept, NULL));
	return kept;
}

/* But for the name of the file. */
static void expect_alike(const char *command, const char *original)
{
	char *of_original = told(command, original), *of_thin = told(command, thin);

	cr_expect(lt(sz, 100, strlen(of_original)), "%s", of_original);
	cr_expect(eq(str, of_thin, of_original), "%s", command);
	free(of_original);
	free(of_thin);
}

/* The lines of the thinned record; of those of processes how much they hold. */
static void say_lines(void)
{
	FILE *f = fopen(thin, "r");
	json_t *lines = json_array(), *line;

	cr_assert(ne(ptr, f, NULL), "%s", thin);
	while ((line = json_loadf(f, JSON_DISABLE_EOF_CHECK, NULL))) {
		if (json_object_get(line, "gpu") || json_object_get(line, "plan")) {
			json_array_append_new(
				lines, json_pack("{s:i}", "members", json_object_size(line)));
			json_decref(line);
		} else {
			json_array_append_new(lines, line);
		}
	}
	fclose(f);
	golden_said_sums(lines);
}

Test(small_thin, of_pairs_the_same_is_said)
{
	cr_assert(zero(int, record_thin(PAIRS, thin)));
	say_lines();
	expect_alike("compare '%s' --json | grep -v '\"file\"'", PAIRS);
	expect_alike("fit '%s' --json | grep -v '\"session\"'", PAIRS);
	expect_alike("show '%s' | tail -n +2", PAIRS);
}

Test(small_thin, of_one_side_the_same_is_said)
{
	cr_assert(zero(int, record_thin(ONE_SIDE, thin)));
	expect_alike("show '%s' | tail -n +2", ONE_SIDE);
}

Test(small_thin, it_is_valid_and_small_and_names_its_original)
{
	const char *text;

	cr_assert(zero(int, record_thin(PAIRS, thin)));
	cr_expect(zero(int, run_rift(OUT, &text, "show --check '%s'", thin)), "%s", text);
	cr_expect(zero(int, shell(NULL,
				  "head -n 1 '%s' | grep -qF \"$(zcat '%s' | sha256sum | "
				  "cut -c1-64)\"",
				  thin, PAIRS)),
		  "the digest of the original");
	cr_expect(zero(int, shell(NULL, "test $(wc -c <'%s') -lt $(($(zcat '%s' | wc -c) / 2))",
				  thin, PAIRS)),
		  "half of the bytes at most");
}

Test(small_thin, what_it_cannot_be_is_refused)
{
	char again[80], half[80];
	const char *text;

	snprintf(again, sizeof(again), "%s/again.jsonl", folder);
	cr_assert(zero(int, record_thin(PAIRS, thin)));
	cr_expect(ne(int, record_thin(thin, again), 0), "thinned already");
	cr_expect(ne(int, access(again, F_OK), 0), "nothing is written");
	cr_expect(ne(int, record_thin(PAIRS, thin), 0), "nothing is replaced");
	shell(NULL, "zcat '%s' | head -n 20 >'%s/half.jsonl'", PAIRS, folder);
	snprintf(half, sizeof(half), "%s/half.jsonl", folder);
	cr_expect(ne(int, record_thin(half, again), 0), "not complete");
	cr_expect(ne(int, record_thin("no.jsonl", again), 0), "no such file");
	cr_expect(ne(int, access(again, F_OK), 0), "nothing is written");
	refused(3, "is thinned", "show --check '%s' --csv '%s/points.csv'", thin, folder);
	cr_expect(zero(int,
		       run_rift(OUT, &text, "show --check '%s' --ratios '%s/r.csv'", thin, folder)),
		  "%s", text);
}

/* A line of it that was changed is told. */
static void expect_wrong(const char *change, const char *says)
{
	char command[256];

	snprintf(command, sizeof(command), "%s", change);
	cr_assert(zero(int, shell(NULL, "%s '%s' >'%s/changed.jsonl'", command, thin, folder)));
	refused(3, says, "show --check '%s/changed.jsonl'", folder);
}

Test(small_thin, what_is_wrong_in_it_is_told)
{
	cr_assert(zero(int, record_thin(PAIRS, thin)));
	expect_wrong("sed '0,/\"median\":/s/\"median\":[0-9.]*/\"median\":-1/'",
		     "medians that cannot be");
	expect_wrong("sed '0,/\"turns\":/s/\"t_total_ns\":\\[[0-9.,]*\\]/\"t_total_ns\":[0]/'",
		     "turns must be a number above 0");
	expect_wrong("sed '0,/\"record\":\"point\"/{/\"record\":\"point\"/"
		     "s/\"key\":\"[0-9a-f]*\"/\"key\":\"000000000000\"/}'",
		     "a key that is not in the plan");
}
