/* test_tools.c - what make decides before it builds: device, toolkit, packages, folders. */
/* sanitizers: one thread */
/* sanitizers: seen elsewhere */
#include "tests/test.h"
#include "tests/folder.h"

/* A folder of its own with a fake nvcc of the given release; removed by fini. */
TEST_FOLDER(folder);

TestSuite(small_tools, .init = make_folder, .fini = remove_folder, .timeout = 300);

static void fake_nvcc(const char *release)
{
	int rc = shell(NULL,
		       "printf '#!/bin/sh\\necho \"Cuda compilation tools, release %s, V1\"\\n' "
		       ">%s/nvcc && chmod +x %s/nvcc",
		       release, folder, folder);

	cr_assert(zero(int, rc), "fake nvcc");
}

static void expect_has(const char *text, const char *part)
{
	cr_assert(tells(text, part), "'%s' is not in: %s", part, text);
}

Test(small_tools, nvcc_older_than_12_4_is_ignored_with_the_reason)
{
	const char *out;

	fake_nvcc("11.8");
	cr_assert(eq(int, shell(&out, "NVCC=%s/nvcc tools/nvcc.sh", folder), 1), "%s", out);
	expect_has(out, "CUDA 11.8; 12.4 ");
	cr_assert(
		zero(int, shell(&out, "NVCC=%s/nvcc DEVICE=auto tools/device.sh -v 2>&1", folder)),
		"%s", out);
	expect_has(out, "CPU device build, because: ");
	expect_has(out, "is CUDA 11.8");
	expect_has(out, "\ncpu\n");
}

Test(small_tools, nvcc_versions_compare_as_numbers)
{
	const char *out;

	fake_nvcc("12.10");
	cr_assert(zero(int, shell(&out, "NVCC=%s/nvcc tools/nvcc.sh", folder)), "%s", out);
	fake_nvcc("9.2");
	cr_assert(eq(int, shell(&out, "NVCC=%s/nvcc tools/nvcc.sh", folder), 1), "%s", out);
}

Test(small_tools, without_nvcc_auto_is_the_cpu_device_and_cuda_says_why)
{
	const char *out;

	cr_assert(zero(int, shell(&out, "NVCC=/no/nvcc DEVICE=auto tools/device.sh")), "%s", out);
	cr_assert(eq(str, (char *)out, "cpu\n"), "auto");
	cr_assert(eq(int, shell(&out, "NVCC=/no/nvcc DEVICE=cuda tools/device.sh 2>&1"), 4), "%s",
		  out);
	expect_has(out, "rift: DEVICE=cuda: no nvcc");
}

Test(small_tools, unknown_device_is_refused)
{
	const char *out;

	cr_assert(eq(int, shell(&out, "DEVICE=gpu tools/device.sh 2>&1"), 3), "%s", out);
	expect_has(out, "DEVICE=gpu: use auto, cpu or cuda");
}

Test(small_tools, architectures)
{
	const char *out;

	cr_assert(zero(int, shell(&out,
				  "printf '#!/bin/sh\\necho sm_52\\necho sm_75\\necho "
				  "sm_100\\necho sm_90\\n' >%s/nvcc && chmod +x %s/nvcc",
				  folder, folder)),
		  "fake nvcc");
	cr_assert(zero(int, shell(&out, "CUDA_ARCH=all tools/arch.sh %s/nvcc", folder)), "%s", out);
	cr_assert(eq(str, (char *)out,
		     " -gencode arch=compute_75,code=sm_75 -gencode arch=compute_90,code=sm_90"
		     " -gencode arch=compute_100,code=sm_100"
		     " -gencode arch=compute_100,code=compute_100"),
		  "all");
	cr_assert(zero(int, shell(&out, "CUDA_ARCH=80,sm_90 tools/arch.sh %s/nvcc", folder)), "%s",
		  out);
	cr_assert(eq(str, (char *)out,
		     " -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=sm_90"),
		  "list");
}

Test(small_tools, architectures_that_are_none_are_refused)
{
	static const char *const bad[] = { "hopper", "9", "80;90", ",", "sm_", "80,,90", "9000" };
	const char *out;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		cr_assert(eq(int, shell(&out, "CUDA_ARCH='%s' tools/arch.sh nvcc 2>&1", bad[i]), 3),
			  "%s: %s", bad[i], out);
		expect_has(out, "use native, all, or numbers");
	}
}

/* A compiler that finds no header stands for a machine without packages. */
Test(small_tools, setup_no_lists_what_is_missing_and_installs_nothing)
{
	const char *out;

	cr_assert(eq(int, shell(&out, "CC=false SETUP=no tools/setup.sh test 2>&1"), 3), "%s", out);
	expect_has(out, "libjansson-dev");
	expect_has(out, "libcriterion-dev");
	expect_has(out, "SETUP=no: install them");
}

Test(small_tools, setup_run_needs_compiler_make_and_libraries_only)
{
	const char *out;

	cr_assert(eq(int, shell(&out, "CC=false SETUP=no tools/setup.sh run 2>&1"), 3), "%s", out);
	expect_has(out, "libjansson-dev");
	cr_assert(eq(ptr, strstr(out, "criterion"), NULL), "%s", out);
	shell(&out, "PATH=/nonexistent SETUP=no /bin/sh tools/setup.sh run 2>&1");
	cr_assert(eq(ptr, strstr(out, "gnuplot"), NULL), "%s", out);
	cr_assert(zero(int, shell(&out, "SETUP=no tools/setup.sh run 2>&1")), "%s", out);
}

Test(small_tools, openblas_is_for_the_cpu_device)
{
	const char *out;

	fake_nvcc("13.0");
	shell(&out, "CC=false SETUP=no DEVICE=cpu tools/setup.sh run 2>&1");
	expect_has(out, "libopenblas");
	shell(&out, "NVCC=%s/nvcc CC=false SETUP=no DEVICE=cuda tools/setup.sh test 2>&1", folder);
	expect_has(out, "libjansson-dev");
	cr_assert(eq(ptr, strstr(out, "libopenblas"), NULL), "%s", out);
}

Test(small_tools, gnuplot_is_for_pictures_and_tests)
{
	const char *out;

	shell(&out, "PATH=/nonexistent SETUP=no /bin/sh tools/setup.sh plot 2>&1");
	expect_has(out, "gnuplot-nox");
	cr_assert(eq(ptr, strstr(out, "criterion"), NULL), "%s", out);
	shell(&out, "PATH=/nonexistent SETUP=no /bin/sh tools/setup.sh test 2>&1");
	expect_has(out, "no gnuplot: ");
	shell(&out, "PATH=/nonexistent SETUP=yes /bin/sh tools/setup.sh test 2>&1");
	expect_has(out, "gnuplot-nox");
}

Test(small_tools, setup_is_refused_where_it_is_no_answer_even_if_nothing_is_missing)
{
	const char *out;

	cr_assert(eq(int, shell(&out, "SETUP=maybe tools/setup.sh run 2>&1"), 3), "%s", out);
	expect_has(out, "SETUP=maybe: use ask, yes or no");
}

Test(small_tools, compilers_may_bring_options_along)
{
	const char *out;

	cr_assert(zero(int, shell(&out, "CC='cc -pipe' CXX='c++ -pipe' SETUP=no tools/setup.sh run "
					"2>&1")),
		  "%s", out);
	shell(&out, "cp -r tools %s/ && cd %s && CC='cc -pipe' tools/gpu.sh 2>&1", folder, folder);
	cr_assert(eq(ptr, strstr(out, "compiler"), NULL), "%s", out);
	cr_assert(eq(ptr, strstr(out, "cannot build"), NULL), "%s", out);
}

Test(small_tools, a_folder_that_cannot_be_written_to_is_told)
{
	const char *out;
	int rc = shell(
		&out,
		"cp -r tools %s/ && echo >%s/build && cd %s && DEVICE=cpu tools/build.sh rift "
		"2>&1",
		folder, folder, folder);

	cr_assert(eq(int, rc, 3), "%s", out);
	expect_has(out, "rift: * write ");
	cr_assert(eq(int, shell(&out, "cd %s && tools/gpu.sh 2>/dev/null", folder), 1), "%s", out);
	expect_has(out, "cannot build");
}

/* No compiler: packages are missing, which is of no interest yet. */
Test(small_tools, size_is_refused_before_anything_is_built)
{
	static const char *const bad[] = { "tiny", "small all" };
	const char *out;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		cr_assert(
			eq(int,
			   shell(&out,
				 "MAKEFLAGS= make test SETUP=no CC=/nonexistent/cc SIZE='%s' 2>&1",
				 bad[i]),
			   2),
			"%s", out);
		expect_has(out, "use all, small or large");
		cr_assert(eq(ptr, strstr(out, "device build"), NULL), "%s", out);
	}
}

Test(small_tools, a_broken_workload_folder_is_named)
{
	const char *out;
	int rc = shell(&out,
		       "cp -r Makefile build.mk tools workloads %s/ && mkdir %s/workloads/zz && "
		       "MAKEFLAGS= make -C %s -f build.mk DEVICE=cpu rift 2>&1",
		       folder, folder, folder);

	cr_assert(eq(int, rc, 2), "%s", out);
	expect_has(out, "workloads/zz: zz.c must define");
}

/*
 * Two folders must be able to live in one binary, a copy of a folder among them: what a workload
 * defines for the linker begins with its own name.
 */
Test(small_tools, a_workload_exports_only_names_that_begin_with_its_own)
{
	const char *out;
	int rc;

	cr_assert(ne(ptr, getenv("RIFT_BIN"), NULL), "RIFT_BIN names the binary");
	rc = shell(
		&out,
		"build=$(dirname $RIFT_BIN); "
		"nm -A -g --defined-only $(ls workloads/*/*.c workloads/*/*.cu | grep -v /test_ | "
		"sed \"s,.*,$build/&.o,\") | "
		"awk '{ n = $1; sub(\"/[^/]*$\", \"\", n); sub(\".*/\", \"\", n) } "
		"$2 ~ /[TDBRC]/ && $3 !~ \"^(workload_)?\" n \"(_|$)\" && "
		"$3 !~ /^_Z[0-9]*__device_stub|^__odr_asan/ { print $3 }'");
	cr_assert(eq(str, (char *)out, ""), "exit %d: %s", rc, out);
}

Test(small_tools, help_lists_every_target)
{
	const char *out;

	cr_assert(zero(int, shell(&out, "MAKEFLAGS= make -s help")), "%s", out);
	expect_has(out, "make run");
	expect_has(out, "make test");
	expect_has(out, "make dist");
	expect_has(out, "make clean");
}

/* ---- a new workload ------------------------------------------------------------------------ */

/* Each with one line, and nothing is made or changed. */
Test(small_tools, new_workloads_of_no_or_of_taken_names_are_refused)
{
	static const char *const wrong[][2] = {
		{ "", "give one name: tools/new_workload.sh NAME" },
		{ "''", "give one name" },
		{ "one two", "give one name" },
		{ "9lives", "letter" },
		{ "Fresh", "a to z" },
		{ "a_b", "a to z" },
		{ "../up", "a to z" },
		{ "\"$(printf 'a\\nb')\"", "'a?b': a name has" },
		{ "seventeenletters1", "at most 16" },
		{ "myocyte", "workloads/myocyte " },
		{ "template", "workloads/template " },
		{ "sweep", "command" },
		{ "int", "C" },
		{ "class", "C" },
		{ "errno", "C" },
		{ "find", "workload_find " },
	};
	const char *out;

	cr_assert(zero(int, shell(NULL, "ls -lR --time-style=full-iso workloads >%s/was", folder)));
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		cr_assert(eq(int, shell(&out, "tools/new_workload.sh %s 2>&1", wrong[i][0]), 3),
			  "%s: %s", wrong[i][0], out);
		expect_has(out, "rift: ");
		expect_has(out, wrong[i][1]);
		cr_assert(eq(sz, strcspn(out, "\n"), strlen(out) - 1), "one line: %s", out);
	}
	cr_assert(
		zero(int, shell(&out, "ls -lR --time-style=full-iso workloads | diff %s/was - 2>&1",
				folder)),
		"%s", out);
}

/* ---- mistakes on purpose ------------------------------------------------------------------- */

Test(small_tools, a_pattern_that_no_mistake_has_is_refused)
{
	const char *out;

	cr_assert(eq(int, shell(&out, "tests/mutants.sh 'no such mistake' 2>&1"), 3), "%s", out);
	expect_has(out, "no such mistake");
}

Test(small_tools, random_mistakes_want_a_seed_a_number_and_files)
{
	static const char *const wrong[] = { "", "1", "x 1", "1 0", "1 -2", "1 1 harness/no.c" };
	const char *out;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		cr_assert(eq(int, shell(&out, "tests/mutants_random.sh %s 2>&1", wrong[i]), 3),
			  "%s: %s", wrong[i], out);
	expect_has(out, "harness/no.c");
}

/* What may be changed in this file, ordered by place: line, column, what is there, what comes. */
static const char *changes(const char *seed)
{
	const char *out;
	int rc = shell(&out,
		       "printf '%%s\\n' '/* a + 1 */' '#if A < 2' '#endif' 'static int x[N + 7];' "
		       "'static int f(int *p)' '{' '\tchar text[8] = \"1 < 2\"; // 3' "
		       "'\treturn !p->a || *p < 1.5 * -b;' "
		       "'\tCHECK(p && q, \"memory of it\");' '}' >%s/m.c && "
		       "awk -v seed=%s -f tests/mutate.awk %s/m.c | tr '\\t' ' ' | "
		       "cut -d ' ' -f 2- | sort -k1n -k2n",
		       folder, seed, folder);

	cr_assert(zero(int, rc), "%s", out);
	return out;
}

Test(small_tools, random_mistakes_are_in_code_alone)
{
	static const char *const all[] = {
		"8 9 1 code \n",     "8 15 2 code &&\n", "8 21 1 code ",
		"8 23 3 code (1.5 ", "8 27 1 code /\n",	 "8 29 1 code \n"
	};
	const char *out = changes("1"), *at = out;

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		at = strstr(at, all[i]);
		cr_assert(ne(ptr, (void *)(uintptr_t)at, NULL), "no '%s' in:\n%s", all[i], out);
	}
	cr_assert(
		eq(int, shell(&out, "awk -v seed=1 -f tests/mutate.awk %s/m.c | wc -l", folder), 0),
		"%s", out);
	cr_assert(eq(int, atoi(out), 6), "and no others: %s", out);
}

Test(small_tools, random_mistakes_are_those_of_their_seed)
{
	const char *out;
	int rc = shell(&out,
		       "one() { awk -v seed=$1 -f tests/mutate.awk harness/stats/*.c | cksum; }; "
		       "five=$(one 5) && [ \"$five\" = \"$(one 5)\" ] && "
		       "[ \"$five\" != \"$(one 6)\" ]");

	cr_assert(zero(int, rc), "%s", out);
}

/* ---- sizes of tests ---------------------------------------------------------------------- */

/* A test program of one suite, whose tests pass as far as a filter lets them run. */
static void fake_program(const char *suite)
{
	int rc = shell(NULL,
		       "cat >%s/prog <<'E'\n#!/bin/sh\n"
		       "[ \"$1\" = --list ] && { printf '%%s' '%s' && exit; }\n"
		       "echo 'counts: passed 0 failed 0 skipped 0'\nE\nchmod +x %s/prog",
		       folder, suite, folder);

	cr_assert(zero(int, rc), "fake program");
}

Test(small_tools, a_suite_that_no_size_runs_fails_and_is_named)
{
	static const char *const sizes[] = { "small", "large", "all" };
	const char *out;

	fake_program("small_a: 1 test\n├── x\nstray_b: 2 tests\n├── y\n└── z\n");
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		int rc = shell(&out, "tools/run_test.sh %s %s/prog", sizes[i], folder);

		cr_assert(eq(int, rc, 1), "%s: %s", sizes[i], out);
		expect_has(out, "suite stray_b");
		cr_assert(eq(ptr, strstr(out, "suite small_a"), NULL), "%s", out);
	}
	shell(&out, "cat %s/prog.counts", folder);
	cr_assert(eq(str, (char *)out, "0 1 0\n"), "counted as failed");
}

Test(small_tools, a_program_without_tests_fails)
{
	const char *out;

	fake_program("");
	cr_assert(eq(int, shell(&out, "tools/run_test.sh all %s/prog", folder), 1), "%s", out);
}

Test(small_tools, a_program_may_have_tests_of_one_size)
{
	const char *out;

	fake_program("large_a: 1 test\n└── x\n");
	cr_assert(zero(int, shell(&out, "tools/run_test.sh small %s/prog", folder)), "%s", out);
}

/* Whoever reads the totals sees whether a GPU was missing, or a package. */
Test(small_tools, skips_are_counted_by_reason)
{
	const char *out;

	fake_program("small_a: 3 tests\n");
	shell(NULL,
	      "cd %s && sed -i 's/^echo .*/echo \"skipped: small_a::x: needs gnuplot "
	      "(gnuplot-nox)\"; echo \"skipped: small_a::y: needs gnuplot (gnuplot-nox)\"; echo "
	      "\"skipped: small_a::z: no CUDA device\"; echo \"counts: passed 1 failed 0 skipped "
	      "3\"/' prog && mkdir -p build/cpu tests workloads layers && mv prog build/cpu && "
	      "echo "
	      "build/cpu/prog >build/cpu/tests.list",
	      folder);
	cr_assert(zero(int, shell(&out,
				  "cp -r tools %s && cd %s && env -u REQUIRE_GPU "
				  "tools/run_tests.sh all cpu",
				  folder, folder)),
		  "%s", out);
	expect_has(out, "   1 of 1, 0 s left: build/cpu/prog: 1 passed, 3 skipped\n");
	expect_has(out,
		   "\n1 passed, 0 failed, 3 skipped\n   2 skipped: needs gnuplot (gnuplot-nox)\n"
		   "   1 skipped: no CUDA device\n");
}

Test(small_tools, programs_of_tests_have_one_locale)
{
	const char *out;

	shell(&out, "echo $LC_ALL");
	cr_assert(eq(str, (char *)out, "C.UTF-8\n"), "%s", out);
}

Test(small_tools, lint_names_a_suite_that_no_size_runs)
{
	const char *out;
	int rc =
		shell(&out,
		      "root=$PWD && mkdir %s/tests && cd %s && git init -q . && "
		      "printf 'TestSuite(small_a);\n\nTest(stray_b, x)\n{\n}\n' >tests/test_x.c && "
		      "timeout 60 $root/tools/lint.sh 2>&1",
		      folder, folder);

	cr_assert(eq(int, rc, 1), "%s", out);
	expect_has(out, "tests/test_x.c:3: suite stray_b");
	cr_assert(eq(ptr, strstr(out, "suite small_a"), NULL), "%s", out);
}

/* Half an interval's width may be beyond 100 %, which no format knows. */
Test(small_tools, lint_names_a_width_that_may_be_any_number)
{
	const char *out;
	int rc = shell(&out,
		       "root=$PWD && cd %s && mkdir harness tests && git init -q . && "
		       "echo '/* no test */' >tests/x.c && printf '\"±%%%%.1f "
		       "%%%%%%%%\"\n\"±%%%%s\"\n' >harness/x.c && "
		       "timeout 60 $root/tools/lint.sh 2>&1",
		       folder);

	cr_assert(eq(int, rc, 1), "%s", out);
	expect_has(out, "harness/x.c:1:");
	cr_assert(eq(ptr, strstr(out, "harness/x.c:2:"), NULL), "%s", out);
}
