/* test_contract.c - a workload that leaves something out is named, with what it lacks. */
#include "tests/test.h"
#include "harness/measure/contract.h"
#include "tests/cli.h"
#include "tests/fake_workload.h"

#include <criterion/redirect.h>
#include <cuda_runtime_api.h>

TestSuite(small_contract, .timeout = 300);

static struct workload whole(void)
{
	return *workloads[0];
}

static void expect_refused(const struct workload *const *table, const char *part)
{
	const char *text;

	cr_redirect_stderr();
	cr_assert(eq(int, contract_check(table), -EINVAL), "result for: %s", part);
	text = captured_stderr();
	cr_assert(ne(ptr, strstr(text, part), NULL), "'%s' is not in: %s", part, text);
	cr_assert(eq(sz, strcspn(text, "\n"), strlen(text) - 1), "one line: %s", text);
}

Test(small_contract, the_generated_table_keeps_it)
{
	cr_assert(zero(int, contract_check(workloads)), "see stderr");
}

Test(small_contract, a_missing_hook_is_named)
{
	struct workload w = whole();
	const struct workload *const table[] = { &w, NULL };

	w.teardown = NULL;
	expect_refused(table, " .teardown");
}

Test(small_contract, a_missing_text_is_named)
{
	struct workload w = whole();
	const struct workload *const table[] = { &w, NULL };

	w.source = NULL;
	expect_refused(table, " .source");
}

Test(small_contract, needs_of_what_there_is_not_are_named)
{
	static const struct param_need bad[][2] = {
		{ { "rtae", "file" }, { NULL, NULL } },
		{ { "rate", "flie" }, { NULL, NULL } },
		{ { "rate", "solver=rk5" }, { NULL, NULL } },
		{ { "rate", "solver" }, { NULL, NULL } },
		{ { "rate", "solver=rk4|" }, { NULL, NULL } },
		{ { "rate", "cells" }, { NULL, NULL } },
		{ { "rate", "file=x" }, { NULL, NULL } },
	};
	struct workload w = workload_fake;
	const struct workload *const table[] = { &w, NULL };

	cr_assert(zero(int, contract_check(table)), "see stderr");
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		const char *text;

		w.needs = bad[i];
		divert_stderr();
		cr_assert(eq(int, contract_check(table), -EINVAL), "%s when %s", bad[i][0].name,
			  bad[i][0].when);
		text = diverted_stderr();
		cr_assert(ne(ptr, strstr(text, bad[i][0].when), NULL), "%s", text);
	}
}

Test(small_contract, presets_that_do_not_fit_are_named)
{
	static const struct preset bad[][2] = {
		{ { "one", "cels=4", "" }, { NULL, NULL, NULL } },
		{ { "one", "cells=many", "" }, { NULL, NULL, NULL } },
		{ { "one", "cells=4 rate=2", "" }, { NULL, NULL, NULL } },
		{ { "one", "fail=limits", "" }, { NULL, NULL, NULL } },
	};
	struct workload w = workload_fake;
	const struct workload *const table[] = { &w, NULL };

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		const char *text;

		w.presets = bad[i];
		divert_stderr();
		cr_assert(eq(int, contract_check(table), -EINVAL), "%s", bad[i][0].values);
		text = diverted_stderr();
		cr_assert(ne(ptr, strstr(text, bad[i][0].values), NULL), "%s", text);
	}
}

Test(small_contract, optional_hooks_may_be_missing)
{
	struct workload w = whole();
	const struct workload *const table[] = { &w, NULL };

	w.fused = NULL;
	w.report = NULL;
	w.needs = NULL;
	w.presets = NULL;
	cr_assert(zero(int, contract_check(table)), "see stderr");
}

Test(small_contract, an_added_parameter_that_is_none_is_found)
{
	static const char *const added[] = { "unheard", NULL };
	struct workload w = whole();
	const struct workload *const table[] = { &w, NULL };

	w.added = added;
	expect_refused(table, ".added names unheard");
}

/* Whichever row it is, and behind one that is right. */
Test(small_contract, each_parameter_may_be_an_added_one)
{
	struct workload w = workload_fake;
	const struct workload *const table[] = { &w, NULL };
	const char *added[] = { NULL, NULL, NULL };

	w.added = added;
	for (const struct param *p = w.params; p->name; p++) {
		added[0] = p->name;
		cr_expect(zero(int, contract_check(table)), "%s", p->name);
	}
	added[1] = "unheard";
	expect_refused(table, ".added names unheard");
}

Test(small_contract, a_parameter_preset_beside_presets_is_found)
{
	static const struct preset one[] = { { "one", "", "" }, { NULL, NULL, NULL } };
	struct workload w = workload_fake;
	const struct workload *const table[] = { &w, NULL };
	struct param renamed[64];
	int n = 0;

	while (w.params[n].name)
		n++;
	cr_assert(lt(int, 1, n), "%d parameters", n);
	cr_assert(lt(int, n, 64), "%d parameters", n);
	memcpy(renamed, w.params, (size_t)(n + 1) * sizeof(*renamed));
	w.params = renamed;
	w.needs = NULL;
	w.presets = one;
	cr_assert(zero(int, contract_check(table)), "see stderr");
	renamed[0].name = "preset";
	expect_refused(table, "a parameter of that name");
	w.presets = NULL;
	cr_expect(zero(int, contract_check(table)), "without presets it may be one");
}

Test(small_contract, a_copied_folder_with_the_old_name_is_found)
{
	struct workload a = whole(), b = whole();
	const struct workload *const table[] = { &a, &b, NULL };

	expect_refused(table, ".name");
}

Test(small_contract, no_axis_is_found)
{
	static const struct param none[] = { PARAM_END };
	struct workload w = whole();
	const struct workload *const table[] = { &w, NULL };

	w.params = none;
	expect_refused(table, " 0 ");
}

/* ---- set up ----------------------------------------------------------------------------- */

static cudaStream_t slow_stream;

static void take_20_ms(void *unused)
{
	(void)unused;
	usleep(20000);
}

/* As cudaMemcpy() from pageable memory may: it returns before the device is done. */
static int slow_setup(const void *opts, void *state)
{
	(void)opts, (void)state;
	return cudaStreamCreateWithFlags(&slow_stream, cudaStreamNonBlocking) ||
	       cudaLaunchHostFunc(slow_stream, take_20_ms, NULL);
}

static int failing_setup(const void *opts, void *state)
{
	(void)opts, (void)state;
	return -ENOMEM;
}

Test(small_contract, nothing_is_under_way_behind_a_setup)
{
	const struct workload slow = { .setup = slow_setup }, failing = { .setup = failing_setup };

	need_device();
	cr_assert(zero(int, workload_set_up(&slow, NULL, NULL)));
	cr_assert(eq(int, (int)cudaStreamQuery(slow_stream), cudaSuccess));
	cr_assert(eq(int, workload_set_up(&failing, NULL, NULL), -ENOMEM));
}
