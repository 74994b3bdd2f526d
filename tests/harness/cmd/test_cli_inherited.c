/*
 * test_cli_inherited.c - whatever a command was started with, it does the same: signals that are
 * ignored or blocked, no locale, no variables.
 */
/* sanitizers: seen elsewhere */
/* begins early: it waits long */
#include "tests/test.h"

#include <cuda_runtime_api.h>

#include "tests/cli.h"
#include "tests/folder.h"
#include "tests/need_gnuplot.h"

TEST_FOLDER(folder);
static char session[4096];

static void prepare(void)
{
	cr_assert(ne(ptr, realpath("data/sessions/h200-launch.jsonl", session), NULL));
	make_folder();
	cr_assert(zero(int, chdir(folder)));
}

TestSuite(small_cli_inherited, .timeout = 200, .init = prepare, .fini = remove_folder);

/* A worker's end would not be learned, and nothing but SIGKILL would end one that hangs. */
#define ODD "env --ignore-signal=CHLD --block-signal=TERM,INT,ALRM"

Test(small_cli_inherited, what_was_ignored_and_blocked)
{
	static const char *const commands[] = {
		"run launch us=0 --samples 2 --quiet --layer shim",
		"probe launch us=0 --processes 1 --quiet",
		"sweep launch us=0 --depth 1 --mode stream --quick --processes 1 --quiet "
		"--warm-up 0.01 --output s.jsonl",
		"share launch us=0 --arms processes --clients 2 --repetitions 1 --starts 1 "
		"--window 0.1 --quiet --output share.jsonl",
		"probe --warmup launch us=0 --depth 1 --rest 0.1 --seconds 0.1 --quiet",
		"sweep launch us=0 --processes 1 --depth 1 --samples 2 --quiet "
		"--layer 'emulate call=0,5'",
#ifdef RIFT_CPU_DEVICE
		"profile --quiet --runs 1 --output p.trace -- \"$TRACED\" ten",
#endif
	};

	need_device();
	setenv("TRACED", beside_tests("cpu/traced"), 1);
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
		const char *said;
		int rc = shell(&said, ODD " timeout 60 '%s' %s 2>&1", rift(), commands[i]);

		cr_expect(zero(int, rc), "%s: %d: %s", commands[i], rc, said);
	}
}

/* timeout sends SIGTERM, and SIGKILL where that was not heard. */
Test(small_cli_inherited, a_signal_that_was_blocked_ends_it_in_order)
{
	const char *said;
	int rc;

	need_device();
	rc = shell(&said,
		   ODD " sh -c '\"%s\" sweep launch us=0 --depth 1 --mode stream --processes 90 "
		       "--output s.jsonl 2>&1 & p=$!; until [ -s s.jsonl.part ]; do sleep 0.01; "
		       "done; kill -TERM $p; wait $p'",
		   rift());
	cr_expect(eq(int, rc, 75), "%s", said);
}

/* gnuplot would remark on its own degree sign. */
Test(small_cli_inherited, no_locale_and_no_variables)
{
	static const char *const states[] = { ODD, "env LC_ALL=C", "env LC_ALL=xx_XX",
					      "env -i PATH=\"$PATH\"" };

	NEED_GNUPLOT();
	for (size_t i = 0; i < sizeof(states) / sizeof(*states); i++) {
		const char *said;

		cr_expect(zero(int, shell(&said, "%s '%s' plot '%s' --quiet --output p 2>&1",
					  states[i], rift(), session)),
			  "%s: %s", states[i], said);
		cr_expect(eq(ptr, strstr(said, "remark"), NULL), "%s: %s", states[i], said);
	}
}

/* Its runtime wants to come first, and what is preloaded does. */
Test(small_cli_inherited, a_program_with_the_address_sanitizer)
{
	static const char *const starts[] = { "layer --quiet shim", "layer --quiet emulate call=1",
					      "profile --runs 0 --recorder calls" };

	if (shell(NULL, "echo 'int main(void) { return 7; }' | "
			"cc -fsanitize=address -x c - -o sane 2>/dev/null && ./sane; [ $? = 7 ]"))
		cr_skip("needs a compiler with the address sanitizer");
	for (size_t i = 0; i < sizeof(starts) / sizeof(*starts); i++) {
		const char *said;

		shell(&said, "'%s' %s -- sh -c './sane; echo it ended with $? >&2' 2>&1", rift(),
		      starts[i]);
		cr_expect(ne(ptr, strstr(said, "it ended with 7"), NULL), "%s: %s", starts[i],
			  said);
	}
	cr_expect(zero(int, shell(NULL,
				  "ASAN_OPTIONS=exitcode=3 '%s' layer --quiet shim -- sh -c '[ "
				  "\"$ASAN_OPTIONS\" = verify_asan_link_order=0:exitcode=3 ]'",
				  rift())));
}
