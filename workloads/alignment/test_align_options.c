/* test_align_options.c - `rift run alignment`: what it takes, refuses, says and writes. */
/* sanitizers: seen elsewhere */
#include "tests/plain.h"
#include "tests/folder.h"
#include "tests/rows.h"
#include "workloads/alignment/test_batch.h"

TEST_FOLDER(folder);

TestSuite(small_align_options, .init = make_folder, .fini = remove_folder, .timeout = 300);
TestSuite(large_align_options, .timeout = 300);

/* default_opts() of the other tests is what a user gets. */
Test(small_align_options, defaults)
{
	rows_are(&workload_alignment,
		 "pairs=1k length=150 error=-1 profile=balanced output=cigar letters=fold cap=-1 "
		 "band=0.05 transfer=bytes host=auto resident=no streams=1 memory=4G seed=1 input= "
		 "results= "
		 "columns=few");
}

Test(small_align_options, refused)
{
	static const struct wrong_args rows[] = {
		{ "pairs=2 streams=4", "streams=4" },
		{ "profile=unrelated error=0.1", "only with profile=" },
		{ "input=a.fa pairs=3", "only without input=" },
		{ "input=a.fa seed=3", "only without input=" },
		{ "output=distance memory=1G", "only with output=cigar" },
		{ "columns=all", "only with results=" },
		{ "resident=yes host=pageable", "only with resident=no" },
		{ "host=pageable --mode graph", "pageable" },
		{ "--mode fused", "fused" },
		{ "pairs=8k length=512k", "at least 6 GiB of letters" },
	};

	words_refused("run alignment", "error=-0.5 profile=nanopore pairs=1048577");
	ROWS_REFUSED("run alignment", rows);
}

Test(small_align_options, input_that_cannot_be_read)
{
	need_device();
	refused(3, "No such file", "run alignment input=%s/none.fa", folder);
	shell(NULL, "echo hello >%s/hello", folder);
	refused(3, "a record must begin with", "run alignment input=%s/hello", folder);
	shell(NULL, "printf '>a\\nA\\n>b\\nA\\n' >%s/one.fa", folder);
	refused(3, "each stream needs one", "run alignment input=%s/one.fa streams=2", folder);
	refused(3, "is read as input=", "run alignment input=%s/one.fa results=%s/./one.fa", folder,
		folder);
}

/* What is written of a file whose pairs have each another end. */
static void expect_table(const char *args, const char *want)
{
	const char *text;

	shell(NULL, "rm -f %s/out.tsv", folder);
	cr_assert(!run_rift(OUT, &text,
			    "run alignment input=%s/in.fa.gz results=%s/out.tsv %s --samples 1 "
			    "--depth 1",
			    folder, folder, args),
		  "%s", text);
	cr_assert(strstr(text, "passed"), "%s", text);
	cr_assert(strstr(text, "5 rows in "), "%s", text);
	shell(&text, "cat %s/out.tsv", folder);
	cr_assert(!strcmp(text, want), "%s", text);
}

Test(small_align_options, results_as_a_table)
{
	need_device();
	shell(NULL,
	      "printf '>q1\\nATAAAAAAAA\\n>t1\\nAAAAAAAAA\\n>q2\\nACGU\\n>t2\\nACGT\\n>q3\\n>t3\\n"
	      ">q4\\nACGT\\n>t4\\nGGacgt\\n>q5\\nAC\\n>t5\\nA.\\n' | gzip >%s/in.fa.gz",
	      folder);
	expect_table("", "query\ttarget\tstatus\tdistance\tcigar\n"
			 "q1\tt1\tok\t1\t1=1I8=\n"
			 "q2\tt2\tbad_character\t\t\n"
			 "q3\tt3\tok\t0\t\n"
			 "q4\tt4\tok\t2\t2D4=\n"
			 "q5\tt5\tbad_character\t\t\n");
	expect_table("columns=all", "query\ttarget\tstatus\tdistance\tcigar\trounds\tclassic\tbad\n"
				    "q1\tt1\tok\t1\t1=1I8=\t1\t1M1I8M\t\n"
				    "q2\tt2\tbad_character\t\t\t0\t\tquery:3\n"
				    "q3\tt3\tok\t0\t\t1\t\t\n"
				    "q4\tt4\tok\t2\t2D4=\t1\t2D4M\t\n"
				    "q5\tt5\tbad_character\t\t\t0\t\ttarget:1\n");
}

/* Refused before there is a batch: the input, which is not read, is wrong too. */
Test(small_align_options, results_that_cannot_be_written)
{
	need_device();
	shell(NULL, "echo hello >%s/hello", folder);
	refused(3, "results=/none/out.tsv", "run alignment input=%s/hello results=/none/out.tsv",
		folder);
	refused(3, "results=/dev/null", "run alignment input=%s/hello results=/dev/null", folder);
	refused(3, folder, "run alignment input=%s/hello results=%s", folder, folder);
}

/* What is there stays, byte for byte, and is refused; a run that fails leaves nothing. */
Test(small_align_options, results_of_runs_that_fail)
{
	struct alignment_opts o = default_opts();
	char path[64];
	struct run *r;

	need_device();
	snprintf(path, sizeof(path), "%s/out.tsv", folder);
	shell(NULL, "echo precious >%s", path);
	refused(3, "out.tsv: exists; give another name", "run alignment pairs=2 results=%s", path);
	cr_assert(!shell(NULL, "echo precious | cmp - %s", path), "it has changed");
	cr_assert(!shell(NULL, "rm %s", path), "%s", path);
	o.pairs = 2;
	o.length = 20;
	o.results = path;
	r = run_new(o);
	run_setup(r, NULL);
	cr_assert(!shell(NULL, "test $(ls %s | wc -l) = 1", folder), "open from setup on");
	run_end(r); /* without report: as if it had failed */
	cr_assert(!shell(NULL, "test $(ls %s | wc -l) = 0", folder), "a part is left");
}

/* Every mode and way, checked by rift itself. */
static void expect_pass(const char *args)
{
	const char *text;

	need_device();
	cr_assert(!run_rift(OUT, &text, "run alignment %s --samples 2 --depth 2 --check-steps 2",
			    args),
		  "%s: %s", args, text);
	cr_assert(strstr(text, "passed: error 0"), "%s: %s", args, text);
}

Test(small_align_options, runs_that_pass)
{
	expect_pass("pairs=24 length=60 streams=8 --mode graph");
}

Test(large_align_options, runs_that_pass)
{
	static const char *const args[] = {
		"pairs=1",
		"pairs=2 length=512 --mode graph",
		"pairs=2 profile=unrelated length=100",
		"pairs=3 profile=bursty",
		"pairs=5 profile=illumina",
		"pairs=2 profile=hifi length=1500",
		"pairs=2 profile=ont length=600",
		"pairs=3 error=0",
		"pairs=3 host=pageable",
		"pairs=3 resident=yes output=distance",
		"pairs=16 streams=8 --mode graph",
		"pairs=8 cap=3",
		"pairs=3 letters=exact",
	};

	for (size_t i = 0; i < sizeof(args) / sizeof(*args); i++)
		expect_pass(args[i]);
}
