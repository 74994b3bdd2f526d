/*
 * test_cli_session.c - what the real binary does with the files that it writes and the streams that
 * it is started with: nothing is lost, and each trouble is one line and the right exit code.
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

TestSuite(small_cli_session, .init = prepare, .fini = remove_dir, .timeout = 240);

/* One point a process. */
static const char *plan(int processes)
{
	static char text[256];

	snprintf(text, sizeof(text),
		 "sweep %s --size 1 --depth 1 --mode stream --quick --processes %d --rounds 1 "
		 "--seed 5 --warm-up 0.01 --quiet --output '%s'",
		 name(), processes, file);
	return text;
}

static void is_whole(const char *path)
{
	const char *text;

	cr_assert(zero(int, run_rift(ERR, &text, "show --check '%s'", path)), "%s", text);
}

/* A device that ends any program that uses it: what is refused, is refused before. */
static void refused_unmeasured(const char *says, const char *fmt, const char *arg)
{
	setenv("RIFT_CPU_WORKERS", "none", 1);
	refused(3, says, fmt, name(), arg);
	unsetenv("RIFT_CPU_WORKERS");
}

/* ---- streams ---------------------------------------------------------------------------- */

/* What the shell closes; may results be written? */
static const struct {
	const char *closed;
	bool writable;
} streams[] = {
	{ "<&-", true },	   { "2>&-", true },	    { "<&- 2>&-", true },
	{ ">&-", false },	   { "<&- >&-", false },    { ">&- 2>&-", false },
	{ "<&- >&- 2>&-", false }, { ">/dev/full", false },
};

Test(small_cli_session, closed_streams_spoil_no_sweep)
{
	need_device();
	for (size_t i = 0; i < sizeof(streams) / sizeof(*streams); i++) {
		const char *closed = streams[i].closed, *text;
		int code;

		shell(NULL, "rm -f '%s'", file);
		code = shell(&text, "exec 3>'%s/err'; '%s' %s 2>&3 %s", dir, rift(), plan(1),
			     closed);
		cr_assert(eq(int, code, streams[i].writable ? 0 : 3), "%s: %d", closed, code);
		is_whole(file);
		shell(&text, "cat '%s/err'", dir);
		if (!streams[i].writable && !strstr(closed, "2>&-"))
			cr_assert(is_one_complaint(text), "%s: %s", closed, text);
		else
			cr_assert(eq(str, (char *)text, ""), "%s: %s", closed, text);
	}
}

/* Commands without a device: their output does not fit, or a file is not to be so large. */
Test(small_cli_session, results_that_cannot_be_written_are_said)
{
	static const char *const commands[] = { "list",	     "help",
						"--version", "list launch",
						"show '%s'", "show --check '%s'",
						"fit '%s'",  "fit --stack '%s'",
						"run --help" };
	const char *text;

	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
		char command[128];

		snprintf(command, sizeof(command), commands[i],
			 "data/sessions/h200-pathtrace.jsonl");
		cr_assert(eq(int, shell(&text, "'%s' %s 2>&1 >/dev/full", rift(), command), 3),
			  "%s", command);
		cr_assert(is_one_complaint(text), "%s: %s", command, text);
		cr_assert(eq(int,
			     shell(&text, "ulimit -f 0; '%s' %s 2>&1 >'%s/out'", rift(), command,
				   dir),
			     3),
			  "%s", command);
		cr_assert(is_one_complaint(text), "%s: %s", command, text);
	}
	cr_assert(
		eq(int,
		   shell(&text,
			 "ulimit -f 0; '%s' show --check data/sessions/h200-pathtrace.jsonl --csv "
			 "'%s/p.csv' 2>&1 >/dev/null",
			 rift(), dir),
		   3),
		"%s", text);
	cr_assert(is_one_complaint(text), "%s", text);
	shell(&text, "LC_ALL=C ls '%s'", dir);
	cr_assert(eq(str, (char *)text, "out\n"), "%s", text);
}

/* ---- names ------------------------------------------------------------------------------ */

Test(small_cli_session, places_are_refused_before_anything_is_measured)
{
	char name[256];
	const char *text;

	memset(name, 'x', sizeof(name));
	name[250] = '\0';
	shell(NULL, "ln -s '%s/nowhere' '%s/link'", dir, dir);
	refused_unmeasured("No such file", "sweep %s --quick --output '%s/none/s.jsonl'", dir);
	refused_unmeasured("Not a directory", "sweep %s --quick --output '%s/s.jsonl'",
			   "/dev/null");
	refused_unmeasured("too long", "sweep %s --quick --output '%s'", name);
	refused_unmeasured("link", "sweep %s --quick --output '%s/link'", dir);
	setenv("RIFT_CPU_WORKERS", "none", 1);
	refused(3, "No such file", "probe --output '%s/none/card.json'", dir);
	refused(3, "Not a directory", "probe --output /dev/null/card.json");
	refused(3, "is a folder", "probe --output '%s'", dir);
	refused(3, "too long", "probe --output '%s'", name);
	unsetenv("RIFT_CPU_WORKERS");
	shell(&text, "LC_ALL=C ls '%s'", dir);
	cr_assert(eq(str, (char *)text, "link\n"), "%s", text);
}

/* While it is measured. */
Test(small_cli_session, what_appears_under_the_name_of_a_sweep_stays)
{
	const char *text;
	int code;

	need_device();
	code = shell(&text,
		     "'%s' %s 2>'%s/err' >/dev/null & "
		     "for i in $(seq 2000); do [ ! -e '%s' ] || break; sleep 0.01; done; "
		     "echo foreign >'%s'; wait $!",
		     rift(), plan(3), dir, part, file);
	cr_assert(eq(int, code, 3), "%d", code);
	shell(&text, "cat '%s/err'", dir);
	cr_assert(is_one_complaint(text), "%s", text);
	cr_assert(ne(ptr, strstr(text, "s-2.jsonl"), NULL), "%s", text);
	shell(&text, "cat '%s'; cd '%s'; ls", file, dir);
	cr_assert(eq(str, (char *)text, "foreign\nerr\ns-2.jsonl\ns.jsonl\n"), "%s", text);
	shell(NULL, "mv '%s/s-2.jsonl' '%s'", dir, file);
	is_whole(file);
}

Test(small_cli_session, what_appears_under_their_name_stays)
{
	const char *text;
	int code;

	need_device();
	code = shell(&text,
		     "cd '%s'; '%s' probe --processes 1 --quiet --output card.json 2>err >out & "
		     "for i in $(seq 500); do ! ls '%s' | grep -q part || break; sleep 0.01; done; "
		     "echo foreign >'%s/card.json'; wait $!",
		     dir, rift(), dir, dir);
	cr_assert(eq(int, code, 3), "%d", code);
	shell(&text, "cat '%s/err'", dir);
	cr_assert(is_one_complaint(text), "%s", text);
	cr_assert(ne(ptr, strstr(text, "card-2.json"), NULL), "%s", text);
	shell(&text, "cd '%s'; cat card.json; ls; grep -c 'call costs' out", dir);
	cr_assert(eq(str, (char *)text, "foreign\ncard-2.json\ncard.json\nerr\nout\n1\n"), "%s",
		  text);
	cr_assert(zero(int, run_rift(ERR, &text, "show '%s/card-2.json'", dir)), "%s", text);
}

/* ---- commands --------------------------------------------------------------------------- */

/* Cut, it would be another command; and a resume says what it is about to run, all of it. */
Test(small_cli_session, a_long_command_of_the_other_side_is_run_whole)
{
	const char *text;

	need_device();
	shell(NULL,
	      "{ printf 'env'; for i in $(seq 1000); do printf ' RIFT_PAD_%%d=12345' $i; done; "
	      "printf ' CUDA_X=whole'; } >'%s/command'",
	      dir);
	cr_assert(zero(int, shell(&text, "'%s' %s --against \"$(cat '%s/command')\" 2>&1", rift(),
				  plan(1), dir)),
		  "%s", text);
	shell(&text, "grep -c '\"CUDA_X\":\"whole\"' '%s'", file);
	cr_assert(eq(int, atoi(text), 1), "%s", text);
	shell(NULL, "head -n 1 '%s' >'%s'; rm '%s'", file, part, file);
	cr_assert(zero(int, run_rift(ERR, &text, "sweep --resume '%s' --quiet", file)), "%s", text);
	cr_assert(ne(ptr, strstr(text, "RIFT_PAD_1=12345"), NULL), "%s", text);
	cr_assert(ne(ptr, strstr(text, "CUDA_X=whole"), NULL), "%s", text);
	shell(&text, "grep -c '\"CUDA_X\":\"whole\"' '%s'", file);
	cr_assert(eq(int, atoi(text), 1), "%s", text);
}

/* ---- two at a time ---------------------------------------------------------------------- */

/* The note says nothing that is true here, as in another PID namespace. */
Test(small_cli_session, a_second_writer_leaves_a_sweep_alone)
{
	const char *text;
	int code;

	need_device();
	code = shell(&text,
		     "'%s' %s 2>'%s/err' >/dev/null & "
		     "for i in $(seq 2000); do [ ! -s '%s.lock' ] || [ ! -s '%s' ] || break; "
		     "sleep 0.01; done; "
		     "echo '2147483646 1 x' >'%s.lock'; "
		     "'%s' sweep --resume '%s' 2>'%s/second'; echo $? >>'%s/second'; wait $!",
		     rift(), plan(4), dir, file, part, file, rift(), file, dir, dir);
	cr_assert(zero(int, code), "%d", code);
	shell(&text, "cat '%s/second'", dir);
	cr_assert(ne(ptr, strstr(text, "\n3\n"), NULL), "%s", text);
	is_whole(file);
	shell(&text, "cd '%s'; cat err; LC_ALL=C ls", dir);
	cr_assert(eq(str, (char *)text, "err\ns.jsonl\nsecond\n"), "%s", text);
}

/* ---- memory ----------------------------------------------------------------------------- */

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SCARCE                                                                                     \
	"export ASAN_OPTIONS=allocator_may_return_null=1:max_allocation_size_mb=100 "              \
	"TSAN_OPTIONS=allocator_may_return_null=1:max_allocation_size_mb=100"
#else
#define SCARCE "ulimit -v 300000"
#endif

/* A line that there is no memory for is not the end of the file. */
Test(small_cli_session, a_file_that_cannot_be_read_to_its_end_is_not_valid)
{
	const char *text;

	shell(NULL, "cp data/sessions/h200-launch.jsonl '%s'; truncate -s 400M '%s'", file, file);
	cr_assert(eq(int,
		     shell(&text, SCARCE "; '%s' show --check '%s' 2>&1 >/dev/null", rift(), file),
		     3),
		  "%s", text);
	cr_assert(ne(ptr, strstr(text, "rift: "), NULL), "%s", text);
	cr_assert(ne(ptr, strstr(text, "longer than"), NULL), "%s", text);
}
