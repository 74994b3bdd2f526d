/*
 * test_cli_packed.c - sessions that were compressed with gzip on the command line: every command
 * that reads one prints what it prints of the plain file, and refuses a broken one in one line.
 */
/* sanitizers: seen elsewhere */
#include "tests/test.h"
#include "tests/cli.h"
#include "tests/compared.h"
#include "tests/folder.h"

TEST_FOLDER(dir);

static void write_session(const char *name, const char *workload, int sides, uint64_t seed)
{
	struct fake_session s = two_sides();
	char path[128];

	s.workload = workload;
	s.size = strcmp(workload, "launch") ? "1,32,256" : "0,1,10";
	s.depth = "1,16,64";
	s.mode = "stream";
	s.noise = 0.001;
	s.sides = sides;
	s.seed = seed;
	s.model[1].v[MODEL_C] += 5000;
	s.model[1].v[MODEL_P] += 5000;
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fake_session_write(&s, path);
}

/* Each beside its packed self. */
static void prepare(void)
{
	make_dir();
	write_session("one.jsonl", "launch", 1, 1);
	write_session("other.jsonl", "launch", 1, 2);
	write_session("both.jsonl", "launch", 2, 3);
	write_session("work.jsonl", "myocyte", 1, 4);
	cr_assert(zero(int, shell(NULL,
				  "cp data/sessions/h200-costs.json '%s'/costs.json && cd '%s' && "
				  "sed '/session_id/s/[0-9a-f]\\{8\\}/01234567/' costs.json "
				  ">others.json && gzip -k *.json*",
				  dir, dir)),
		  "gzip");
}

TestSuite(small_cli_packed, .init = prepare, .fini = remove_dir, .timeout = 300);

/* $Z: nothing, or .gz. */
static const char *const commands[] = {
	"show --check one.jsonl$Z both.jsonl$Z costs.json$Z",
	"show --check both.jsonl$Z --csv p.csv --side b && cat p.csv && rm p.csv",
	"show --check both.jsonl$Z --ratios p.csv && cat p.csv && rm p.csv",
	"show one.jsonl$Z",
	"show both.jsonl$Z",
	"show both.jsonl$Z:b",
	"show both.jsonl$Z --side a",
	"show costs.json$Z",
	"fit one.jsonl$Z",
	"fit both.jsonl$Z:a --over both.jsonl$Z:b --json",
	"compare one.jsonl$Z other.jsonl$Z",
	"compare both.jsonl$Z --all",
	"compare one.jsonl$Z both.jsonl$Z:b",
	"compare --self-test one.jsonl$Z",
	"predict work.jsonl$Z --on one.jsonl$Z --json",
	"predict both.jsonl$Z:a --on both.jsonl$Z:b --measured both.jsonl$Z:b",
	"predict --validate work.jsonl$Z --on one.jsonl$Z",
	"fit --stack work.jsonl$Z --from one.jsonl$Z --costs costs.json$Z",
	"compare one.jsonl$Z both.jsonl$Z other.jsonl$Z",
	"compare costs.json$Z others.json$Z",
};

/* All that it prints, and its exit code; names as of plain files, lines wrapped at none. */
static char *printed(const char *command, const char *ending)
{
	const char *text;

	shell(&text,
	      "rift=$(realpath '%s'); cd '%s'; Z=%s; { \"$rift\" %s; echo \"exit code $?\"; } "
	      "2>&1 | sed 's/[.]gz//g' | tr -s ' \\n' ' '",
	      rift(), dir, ending, command);
	return strdup(text);
}

Test(small_cli_packed, every_reader_prints_the_same)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
		char *plain = printed(commands[i], ""), *packed = printed(commands[i], ".gz");

		cr_assert(lt(sz, 40, strlen(plain)), "%s: %s", commands[i], plain);
		cr_assert(eq(ptr, strstr(plain, "exit code 3"), NULL), "%s: %s", commands[i],
			  plain);
		cr_assert(eq(str, packed, plain), "%s", commands[i]);
		free(plain);
		free(packed);
	}
}

/* Where pictures go is told by what is made, with gnuplot or without. */
Test(small_cli_packed, pictures_are_named_after_the_session)
{
	const char *text;

	shell(NULL, "rift=$(realpath '%s'); cd '%s'; \"$rift\" plot one.jsonl.gz >out 2>&1", rift(),
	      dir);
	cr_assert(zero(int, shell(&text, "ls '%s'/one.plots/*.csv", dir)), "%s", text);
}

/* All of them, on a file whose last bytes are missing: each would be read but for that. */
Test(small_cli_packed, every_reader_refuses_a_broken_file)
{
	static const char *const readers[] = {
		"show --check '%s/cut.jsonl.gz'",
		"show '%s/cut.jsonl.gz'",
		"fit '%s/cut.jsonl.gz'",
		"fit --stack '%s/cut.jsonl.gz'",
		"plot '%s/cut.jsonl.gz'",
		"compare '%s/cut.jsonl.gz'",
		"compare '%s/one.jsonl' '%s/cut.jsonl.gz'",
		"predict '%s/one.jsonl' --on '%s/cut.jsonl.gz'",
		"predict --validate '%s/one.jsonl' --on '%s/cut.jsonl.gz'",
		"fit --stack '%s/one.jsonl' --from '%s/cut.jsonl.gz'",
		"compare '%s/one.jsonl' 'row=%s/cut.jsonl.gz'",
		"fit --stack '%s/one.jsonl' --costs '%s/cut.json.gz'",
		"show '%s/cut.json.gz'",
	};

	for (int bytes = 1; bytes <= 9; bytes += 4) {
		shell(NULL,
		      "cd '%s'; for f in both.jsonl costs.json; do head -c -%d $f.gz "
		      ">cut.${f##*.}.gz; done",
		      dir, bytes);
		for (size_t i = 0; i < sizeof(readers) / sizeof(*readers); i++) {
			char command[256];

			snprintf(command, sizeof(command), readers[i], dir, dir);
			refused(3, "broken gzip", "%s", command);
		}
	}
}

/* And what writes leaves it alone. */
Test(small_cli_packed, no_command_writes_into_it)
{
	const char *text;

	shell(NULL, "cd '%s'; mkdir before; cp one.jsonl.gz before; rm one.jsonl", dir);
	refused(3, "gunzip", "sweep --resume '%s/one.jsonl.gz'", dir);
	refused(3, "--output", "sweep launch us=0 --quick --output '%s/one.jsonl.gz'", dir);
	refused(3, "--output", "sweep launch us=0 --quick --output '%s/new.jsonl.gz'", dir);
	refused(3, "--output", "probe --output '%s/new.json.gz'", dir);
	refused(3, "--csv", "show --check '%s/one.jsonl.gz' --csv '%s/new.csv.gz'", dir, dir);
	cr_assert(zero(int, shell(&text,
				  "cd '%s'; cmp one.jsonl.gz before/one.jsonl.gz && ! ls | "
				  "grep -E 'new|part|visits|lock'",
				  dir)),
		  "%s", text);
}
