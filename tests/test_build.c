/*
 * test_build.c - what build.mk makes again and what it puts into a dist, shown on a tree of a few
 * empty sources.
 */
/* sanitizers: one thread */
/* sanitizers: seen elsewhere */
#include "tests/plain.h"
#include "tests/folder.h"

TEST_FOLDER(folder);

/* A tree with one workload, one layer, two sources in common/ and one of the runtime. */
static void prepare(void)
{
	const char *text;

	make_folder();
	cr_assert(!shell(&text,
			 "{ cp -r Makefile build.mk tools LICENSE %s/ && "
			 "d=common/cpu && mkdir -p %s/$d/base && cp $d/libcudart.map %s/$d && cd "
			 "%s && "
			 "mkdir -p harness layers/l workloads/w/golden && echo 'int rt;' "
			 ">$d/base/rt.c && "
			 "echo 'int main(void) { return 0; }' >harness/main.c && "
			 "echo 'int stays;' >common/a.c && echo 'int goes;' >common/b.c && "
			 "printf '#include <stddef.h>\\nstruct workload { int x; };\\n' "
			 ">workloads/workload.h && "
			 "printf '#include <stddef.h>\\nstruct layer { const char *name; };\\n' "
			 ">layers/layer.h && "
			 "{ echo '#include \"layers/layer.h\"'; "
			 "echo 'const struct layer layer_l = { .name = \"l\" };'; } "
			 ">layers/l/l.c && "
			 "{ echo '#include \"workloads/workload.h\"'; "
			 "echo 'const struct workload workload_w = { 1 };'; } >workloads/w/w.c; } "
			 "2>&1",
			 folder, folder, folder, folder),
		  "%s", text);
}

TestSuite(small_build, .init = prepare, .fini = remove_folder, .timeout = 300);

/* make in the tree, for the CPU device; what it prints. */
static const char *run_make(const char *arguments)
{
	const char *text;
	int rc = shell(&text, "cd %s && MAKEFLAGS= make -f build.mk DEVICE=cpu %s 2>&1", folder,
		       arguments);

	cr_assert(!rc, "make %s: %s", arguments, text);
	return text;
}

static bool binary_has(const char *symbol)
{
	return !shell(NULL, "nm %s/build/cpu/rift | grep -qw %s", folder, symbol);
}

Test(small_build, a_source_that_is_gone_is_gone_from_the_binary)
{
	run_make("rift");
	cr_assert(binary_has("stays") && binary_has("goes"), "both are linked");
	cr_assert(!shell(NULL, "rm %s/common/b.c", folder), "rm");
	run_make("rift");
	cr_assert(binary_has("stays") && !binary_has("goes"), "one is left");
}

Test(small_build, nothing_is_made_twice_but_after_other_flags)
{
	static const char *const flags[] = { "RTFLAGS=-fPIC", "LIBS=-lm", "CFLAGS=-O0" };
	const char *text;

	run_make("rift");
	text = run_make("rift");
	cr_assert(!strstr(text, "CC ") && !strstr(text, "LINK "), "again: %s", text);
	for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++) {
		char arguments[64];

		snprintf(arguments, sizeof(arguments), "rift %s", flags[i]);
		text = run_make(arguments);
		cr_assert(strstr(text, "CC    common/cpu/base/rt.c") && strstr(text, "LINK"),
			  "%s: %s", flags[i], text);
	}
}

/* Between `make run` and `make test` packages come that tests alone want. */
Test(small_build, what_tests_want_makes_no_product_again)
{
	static const char *const flags[] = { "TESTLIBS=-lcriterion", "GIT=/lib/libgit2.so",
					     "TESTFLAGS=-O1", "LDFAST=-fuse-ld=gold" };
	const char *text;

	cr_assert(!shell(&text, "cd %s && mkdir tests && echo 'int t;' >tests/test_t.c", folder),
		  "%s", text);
	run_make("rift build/cpu/tests/test_t.c.o");
	for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++) {
		char arguments[96];

		snprintf(arguments, sizeof(arguments), "%s rift build/cpu/tests/test_t.c.o",
			 flags[i]);
		text = run_make(arguments);
		cr_assert(strstr(text, "CC    tests/test_t.c") && !strstr(text, "LINK"), "%s: %s",
			  flags[i], text);
		cr_assert(!strstr(text, "CC    common"), "%s: %s", flags[i], text);
	}
}

Test(small_build, compilers_are_those_that_setup_looks_for)
{
	const char *text;

	cr_assert(!shell(&text,
			 "cd %s && env -u CC -u CXX MAKEFLAGS= make -s -f build.mk DEVICE=cpu "
			 "--eval='show:; @echo $(CC) $(CXX)' show",
			 folder),
		  "%s", text);
	cr_assert(!strcmp(text, "cc c++\n"), "%s", text);
	text = run_make(
		"-s CC='gcc -pipe' CXX='g++ -pipe' --eval='show:; @echo $(CC) $(CXX)' show");
	cr_assert(!strcmp(text, "gcc -pipe g++ -pipe\n"), "%s", text);
	run_make("CC='gcc -pipe' CXX='g++ -pipe' rift");
}

/* Data files and READMEs of workloads, whatever their names; no golden data, and of the sessions
 * that are kept those that are carried alone. */
Test(small_build, a_dist_is_whole)
{
	const char *text;

	cr_assert(!shell(&text,
			 "cd %s/workloads/w && touch 'in put.csv' README.md golden/g.csv other.txt "
			 "&& "
			 "cd ../.. && mkdir -p data/sessions && cd data/sessions && touch "
			 "h200-launch.jsonl h200-other.jsonl",
			 folder),
		  "%s", text);
	run_make("dist");
	shell(&text, "cd %s/dist/rift-cpu && find . -type f | LC_ALL=C sort", folder);
	cr_assert(!strcmp(text, "./LICENSE\n./README.md\n./data/sessions/h200-launch.jsonl\n"
				"./libcublas.so.13\n./libcudart.so.13\n./rift\n"
				"./workloads/w/README.md\n./workloads/w/in put.csv\n"),
		  "%s", text);
	cr_assert(!shell(&text, "%s/dist/rift-cpu/rift", folder), "%s", text);
}
