/*
 * fake_picture.h - runs of the fake workload that are to draw a picture. For one test program each:
 * everything is static.
 */
#ifndef RIFT_TESTS_FAKE_PICTURE_H
#define RIFT_TESTS_FAKE_PICTURE_H

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/base/command.h"
#include "harness/measure/run.h"
#include "tests/capture.h"
#include "tests/cli.h"
#include "tests/divert.h"
#include "tests/fake_workload.h"
#include "tests/folder.h"

static char folder[] = TEST_FOLDER_PATH;

static struct fake_opts opts;
static struct run_options values;
static struct params params, options;
static struct run run;
static struct workload workload;
static char said[8192]; /* what it wrote to stderr */

/* For a suite's init and fini. */
static inline void make_folder(void)
{
	test_folder_make(folder);
	workload = workload_fake;
}

static inline void remove_folder(void)
{
	test_folder_remove(folder);
}

/* A run with --plot=FOLDER/sub and one parameter. */
static inline int run_fake(const char *sub, const char *assignment)
{
	char plot[256];
	int err;

	need_device();
	memset(&opts, 0, sizeof(opts));
	memset(&values, 0, sizeof(values));
	snprintf(plot, sizeof(plot), "%s/%s", folder, sub);
	params_init(&params, workload.params, "fake", &opts);
	params_init(&options, run_option_rows, "rift run", &values);
	cr_assert(zero(int, params_assign(&params, assignment)), "%s", assignment);
	cr_assert(zero(int, params_set(&options, "depth", "2")), "depth");
	cr_assert(zero(int, params_set(&options, "samples", "2")), "samples");
	cr_assert(zero(int, params_set(&options, "plot", plot)), "plot");
	run = (struct run){ .workload = &workload, .params = &params, .options = &options };
	divert_stderr();
	err = run_execute(&run);
	snprintf(said, sizeof(said), "%s", diverted_stderr());
	return err;
}

static inline void finish(void)
{
	run_release(&run);
	params_release(&options);
	params_release(&params);
}

/* The run itself went well, but there is no new picture; the line says why. */
static inline void must_not_draw(int err, int why, const char *says)
{
	cr_assert(zero(int, err), "the run: %s", said);
	cr_assert(run.passed, "passed");
	cr_assert(eq(int, run.picture_error, why), "%s", said);
	cr_assert(zero(int, run.picture.drawn), "drawn");
	cr_assert(is_one_complaint(said), "%s", said);
	cr_assert(tells(said, says), "'%s' in: %s", says, said);
}

static inline bool exists(const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return !access(path, F_OK);
}

static inline bool absent(const char *name)
{
	return !exists(name);
}

#endif
