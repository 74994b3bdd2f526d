/* test_check.c - common/check.h: one line, the hook, the abort. */
#include "tests/test.h"
#include "common/check.h"
#include "common/cuda_check.h"

#include <criterion/redirect.h>
#include <signal.h>

TestSuite(small_check, .timeout = 300);

Test(small_check, complain_is_one_line_and_returns_the_negative_errno)
{
	cr_redirect_stderr();
	cr_assert(eq(int, complain(ENOMEM, "cells=%d: %s", 7, "too many"), -ENOMEM), "result");
	cr_assert(eq(str, (char *)captured_stderr(), "rift: cells=7: too many\n"), "text");
}

Test(small_check, silence_takes_the_line_and_leaves_the_errno)
{
	cr_redirect_stderr();
	complain_silence(true);
	cr_assert(eq(int, complain(EINVAL, "not %s", "seen"), -EINVAL), "silent");
	complain_silence(false);
	cr_assert(eq(int, complain(EINVAL, "seen"), -EINVAL), "loud");
	cr_assert(eq(str, (char *)captured_stderr(), "rift: seen\n"), "text");
}

/* What is wrong stands behind the name: it must be left when the name is cut. */
Test(small_check, complain_cuts_long_names_in_the_middle)
{
	static char huge[9000];
	const char *text;

	memset(huge, 'x', sizeof(huge) - 1);
	cr_redirect_stderr();
	complain(EINVAL, "trajectory=%s: File name too long", huge);
	text = captured_stderr();
	cr_assert(lt(sz, strlen(text), 1200), "%zu bytes", strlen(text));
	cr_assert(eq(ptr, strstr(text, "rift: trajectory=xxx"), (char *)text), "%s", text);
	cr_assert(ne(ptr, strstr(text, "xxx ... xxx"), NULL), "%s", text);
	cr_assert(ne(ptr, strstr(text, "xxx: File name too long\n"), NULL), "%s", text);
}

Test(small_check, complain_cuts_no_letter_in_two)
{
	char name[3001];
	const char *text, *cut;

	for (int i = 0; i < 3000; i += 3)
		memcpy(name + i, "\xe2\x82\xac", 3); /* the euro sign */
	cr_redirect_stderr();
	for (int i = 0; i < 3; i++) {
		name[3000 - i] = '\0';
		complain(EINVAL, "%.*s%s", i, "ab", name);
	}
	text = captured_stderr();
	for (int i = 0; i < 3; i++, text = strchr(text, '\n') + 1) {
		cut = strstr(text, " ... ");
		cr_assert(cut && !memcmp(cut - 3, "\xe2\x82\xac", 3) && cut[5] == '\xe2', "%s",
			  text);
	}
}

Test(small_check, complain_shows_control_characters)
{
	cr_redirect_stderr();
	complain(EINVAL, "%s", "a\nb\tc\x1b[31m\x7f\xc2\x9b\xc3\xa4 \xc2\xa7");
	cr_assert(eq(str, (char *)captured_stderr(),
		     "rift: a\\nb\\tc\\x1b[31m\\x7f\\u009b\xc3\xa4 \xc2\xa7\n"),
		  "text");
}

Test(small_check, check_holds_silently_and_evaluates_once)
{
	int calls = 0;

	CHECK(++calls == 1, "calls=%d", calls);
	cr_assert(eq(int, calls, 1), "calls=%d", calls);
}

Test(small_check, check_aborts, .signal = SIGABRT)
{
	CHECK(1 + 1 == 3, "sum is %d", 2);
}

/* exit() inside the hook ends the test before the abort, so that the text can be judged. */
static void judge_line(const char *line)
{
	const char *want = "check_aborts_through_the_hook_impl: 1 > 2 failed: got 1";

	exit(strstr(line, "tests/common/test_check.c:") == line && strstr(line, want) ? 42 : 1);
}

/* The host's lack is nobody's broken promise: one line for the user, and no core. */
Test(small_check, without_memory_it_ends_in_order, .exit_code = NO_MEMORY)
{
	errno = ENOMEM;
	CHECK(!errno, "%d bytes", 7);
}

Test(small_check, a_device_without_memory_too, .exit_code = NO_MEMORY)
{
	errno = 0;
	CUDA(cudaErrorMemoryAllocation);
}

Test(small_check, check_aborts_through_the_hook, .exit_code = 42)
{
	die_hook(judge_line);
	CHECK(1 > 2, "got %d", 1);
}

static void fail_again(const char *line)
{
	(void)line;
	CHECK(0, "inside the hook");
}

Test(small_check, a_failure_inside_the_hook_aborts, .signal = SIGABRT)
{
	die_hook(fail_again);
	CHECK(0, "first");
}

static void judge_cuda_line(const char *line)
{
	exit(strstr(line, "cudaSetDevice(12345) failed: cudaErrorInvalidDevice: ") ||
			     strstr(line,
				    "cudaSetDevice(12345) failed: cudaErrorInsufficientDriver: ") ||
			     strstr(line, "cudaSetDevice(12345) failed: cudaErrorNoDevice: ")
		     ? 42
		     : 1);
}

Test(small_check, cuda_names_call_error_and_text, .exit_code = 42)
{
	die_hook(judge_cuda_line);
	CUDA(cudaSetDevice(12345));
}

Test(small_check, cuda_success_is_silent)
{
	CUDA(cudaSuccess);
	cr_assert(true, "reached");
}

/* What fits stays whole: 1008 bytes, with a letter across the place of a cut. */
Test(small_check, complain_cuts_nothing_that_fits)
{
	char name[1010] = "a";
	const char *text;

	for (int i = 0; i < 335; i++)
		strcat(name, "\xe2\x82\xac"); /* the euro sign */
	strcat(name, "bc");
	cr_redirect_stderr();
	complain(EINVAL, "%s", name);
	complain(EINVAL, "%sd", name);
	text = captured_stderr();
	cr_assert(zero(int, strncmp(text + strlen("rift: "), name, 1008)), "%s", text);
	text += strlen("rift: ") + 1008 + 1;
	cr_assert(eq(ptr, strstr(text, " ... "), (char *)text + strlen("rift: ") + 598), "%s",
		  text);
}
