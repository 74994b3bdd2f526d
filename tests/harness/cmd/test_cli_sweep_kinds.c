/*
 * test_cli_sweep_kinds.c - `rift sweep --sync A,B` of the real binary: an operating-system process
 * for each wait policy, in turn, and what resume makes of it. No clock is judged.
 */
/* sanitizers: seen elsewhere */
#include "tests/test.h"
#include "tests/cli.h"
#include "tests/folder.h"

TEST_FOLDER(dir);
static char file[64], part[80];

static void prepare(void)
{
	make_dir();
	snprintf(file, sizeof(file), "%s/s.jsonl", dir);
	snprintf(part, sizeof(part), "%s.part", file);
}

TestSuite(small_cli_sweep_kinds, .init = prepare, .fini = remove_dir, .timeout = 600);
TestSuite(large_cli_sweep_kinds, .init = prepare, .fini = remove_dir, .timeout = 600);

/* Two points of each kind, two processes. */
static const char *plan(void)
{
	static char text[256];

	snprintf(text, sizeof(text),
		 "sweep %s --size 1 --depth 1,4 --mode stream --express --processes 2 --rounds 2 "
		 "--warm-up 0.01 --sync yield,blocking",
		 name());
	return text;
}

static void sweep(const char *options)
{
	const char *text;

	need_device();
	cr_assert(zero(int, run_rift(ERR, &text, "%s --output '%s' %s", plan(), file, options)),
		  "%s", text);
}

/* "ay ab bb by ...": side and kind of each header, in their order. */
static const char *headers(void)
{
	const char *text;

	shell(&text,
	      "sed -n 's/^{\"record\":\"header\",\"side\":\"\\(.\\)\".*\"sync\":\"\\(.\\)[a-z]*\".*"
	      "/\\1\\2/p' '%s' | tr '\\n' ' '",
	      file);
	return text;
}

static int points_of(const char *kind)
{
	const char *text;

	shell(&text, "grep -c '^{\"record\":\"point\".*\"sync\":\"%s\"' '%s'", kind, file);
	return atoi(text);
}

Test(small_cli_sweep_kinds, a_process_has_one_for_each_in_turn)
{
	const char *text;

	sweep("");
	cr_assert(eq(str, (char *)headers(), "ay ab ab ay "), "forth and back");
	cr_assert(eq(int, points_of("yield"), 4), "2 points x 2 processes");
	cr_assert(eq(int, points_of("blocking"), 4), "2 points x 2 processes");
	cr_assert(zero(int, run_rift(OUT, &text, "show --check '%s'", file)), "%s", text);
	cr_assert(tells(text, "2 of 2 *8 points ok"), "%s", text);
	shell(&text, "grep -c '\"sync_flag\":\"yield\".*\"sync\":\"yield\"' '%s'", file);
	cr_assert(eq(int, atoi(text), 2), "the device was told");
	shell(&text, "grep -c '\"process_index\":0,.*\"rounds\":\\[0[],]' '%s'", file);
	cr_assert(eq(int, atoi(text), 4), "the first process checks the points of each kind");
}

Test(large_cli_sweep_kinds, sides_and_kinds)
{
	const char *text;

	sweep("--against 'env CUDA_X=1' --apart");
	cr_assert(eq(str, (char *)headers(), "ay ab by bb bb by ab ay "), "ABBA, forth and back");
	shell(NULL, "rm -r '%s'; mkdir '%s'", dir, dir);
	sweep("--against 'env CUDA_X=1'");
	/* in pairs, whose sides start at once, forth and back */
	shell(&text, "echo '%s' | sed 's/by ay/ay by/g; s/bb ab/ab bb/g'", headers());
	cr_assert(eq(str, (char *)text, "ay by ab bb ab bb ay by \n"), "%s", text);
}

/* A crash after the first kind of the first process: plan; header, 2 points. */
static void cut(void)
{
	shell(NULL, "{ head -n 4 '%s'; sed -n 5p '%s' | head -c 40; } >'%s' && rm '%s'", file, file,
	      part, file);
}

Test(large_cli_sweep_kinds, resume_goes_on_with_the_kind_that_is_missing)
{
	const char *text;

	sweep("");
	cut();
	cr_assert(zero(int, run_rift(ERR, &text, "sweep --resume '%s'", file)), "%s", text);
	cr_assert(eq(str, (char *)headers(), "ay ab ab ay "), "yield was done");
	cr_assert(zero(int, run_rift(OUT, &text, "show --check '%s'", file)), "%s", text);
	cr_assert(ne(ptr, strstr(text, "8 points ok"), NULL), "%s", text);
}

/* Neither another wait policy nor another variable is another machine. */
Test(large_cli_sweep_kinds, a_changed_variable_is_a_remark)
{
	const char *text;

	sweep("");
	cut();
	cr_assert(zero(int, shell(&text, "CUDA_CACHE_DISABLE=1 '%s' sweep --resume '%s' 2>&1",
				  rift(), part)),
		  "%s", text);
	cr_assert(ne(ptr, strstr(text, "env.CUDA_CACHE_DISABLE: missing -> \"1\""), NULL), "%s",
		  text);
	cr_assert(eq(ptr, strstr(text, "cuda_flags.sync"), NULL), "%s", text);
	shell(&text, "ls '%s'", dir);
	cr_assert(eq(str, (char *)text, "s.jsonl\n"), "%s", text);
}

Test(small_cli_sweep_kinds, a_dry_run_tells_and_nonsense_is_refused)
{
	const char *text;

	need_device();
	cr_assert(zero(int, run_rift(OUT, &text, "%s --dry-run", plan())), "dry run");
	cr_assert(tells(text, "\nsync              yield, blocking: "), "%s", text);
	cr_assert(ne(ptr, strstr(text, "stream depth 4 sync blocking "), NULL), "%s", text);
	refused(3, "--sync ", "%s --sync spin", plan());
	refused(3, "spin, yield, blocking", "sweep %s --sync spin,sleep", name());
	refused(3, "--sync", "sweep %s --sync spin,spin", name());
	refused(3, "--sync", "sweep %s --sync ''", name());
	refused(3, "--resume", "sweep --sync spin --resume '%s'", file);
}

/* Whole seconds that an express sweep of launch is predicted to take; more than `limit_s` only
 * where the machine is too busy for less, and it says so. */
static int express_s(const char *sync, int limit_s)
{
	const char *text, *line;
	int s;

	cr_assert(
		zero(int, run_rift(OUT, &text, "sweep launch --express --dry-run --sync %s", sync)),
		"%s", text);
	line = strstr(text, "\npredicted ");
	cr_assert(ne(ptr, (char *)(uintptr_t)line, NULL), "%s", text);
	s = atoi(line + strlen("\npredicted "));
	cr_assert(s <= limit_s || strstr(text, "rift: --express: it takes ") != NULL, "%s", text);
	return s;
}

/* Two policies have twice the 15 s of one; rounds fill more than half of what there is. */
Test(small_cli_sweep_kinds, time_is_shared_by_policies)
{
	int one, two;

	need_device();
	one = express_s("yield", 15);
	two = express_s("yield,poll", 30);
	cr_assert(lt(int, 7, one), "%d s", one);
	cr_assert(lt(int, 15, two), "%d s", two);
}
