/*
 * fake_run.h - whole runs of the fake workload, in words like those of the command line. For one
 * test program each: everything is static.
 */
#ifndef RIFT_TESTS_FAKE_RUN_H
#define RIFT_TESTS_FAKE_RUN_H

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "harness/measure/run.h"
#include "harness/base/text.h"
#include "tests/cli.h"
#include "tests/divert.h"
#include "tests/fake_workload.h"

static struct fake_opts fake_opts;
static struct run_options fake_values;
static struct params fake_params, fake_options;
static struct run run;
static char said[8192]; /* what it wrote to stderr */

/* Progress is shown there. */
static bool on_terminal;

/* Runs with words like the command line's, ending with NULL: "cells=3" and "--depth=7". */
static inline int run_fake(const char *word, ...)
{
	va_list args;
	int err;

	need_device();
	memset(&fake_opts, 0, sizeof(fake_opts));
	memset(&fake_values, 0, sizeof(fake_values));
	memset(&fake_log, 0, sizeof(fake_log));
	params_init(&fake_params, workload_fake.params, "fake", &fake_opts);
	params_init(&fake_options, run_option_rows, "rift run", &fake_values);
	va_start(args, word);
	for (; word; word = va_arg(args, const char *))
		if (strncmp(word, "--", 2))
			cr_assert(zero(int, params_assign(&fake_params, word)), "%s", word);
		else
			cr_assert(zero(int, params_assign(&fake_options, word + 2)), "%s", word);
	va_end(args);
	run = (struct run){ .workload = &workload_fake,
			    .params = &fake_params,
			    .options = &fake_options };
	if (on_terminal)
		divert_terminal();
	else
		divert_stderr();
	progress_init(false);
	err = run_execute(&run);
	snprintf(said, sizeof(said), "%s", diverted_stderr());
	return err;
}

static inline void must_pass(int err)
{
	cr_assert(zero(int, err), "%s", said);
	cr_assert(eq(str, said, ""), "stderr");
	cr_assert(run.passed, "passed");
}

/* After run_fake(), whatever it returned. */
static inline void release_fake(void)
{
	run_release(&run);
	params_release(&fake_params);
}

#endif
