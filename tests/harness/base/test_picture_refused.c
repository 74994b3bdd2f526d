/*
 * test_picture_refused.c - harness/base/picture.h on the fake workload: folders and workloads of
 * which there can be no picture, and runs that end without one.
 */
#include "tests/test.h"
#include "common/interrupt.h"
#include "tests/fake_picture.h"
#include "tests/need_gnuplot.h"

TestSuite(small_picture_refused, .init = make_folder, .fini = remove_folder, .timeout = 300);

static void must_refuse(int err, int why, const char *says)
{
	cr_assert(eq(int, err, why), "%s", said);
	cr_assert(eq(int, fake_log.setups, 0), "before anything takes time");
	cr_assert(is_one_complaint(said), "%s", said);
	cr_assert(ne(ptr, strstr(said, says), NULL), "'%s' in: %s", says, said);
	finish();
}

Test(small_picture_refused, a_file_where_the_folder_should_be_is_refused)
{
	cr_assert(zero(int, shell(NULL, "touch %s/file", folder)), "touch");
	must_refuse(run_fake("file", "cells=1"), -ENOTDIR, "/file: ");
	must_refuse(run_fake("file/sub", "cells=1"), -ENOTDIR, "/file/sub: ");
	/* not even root can make a folder there */
	must_refuse(run_fake("../../proc/self/p", "cells=1"), -ENOENT, "/proc/self/p: ");
}

Test(small_picture_refused, a_folder_in_the_way_of_a_file_is_told)
{
	NEED_GNUPLOT();
	cr_assert(zero(int, shell(NULL, "mkdir -p %s/p/fake-steps.csv", folder)), "mkdir");
	must_not_draw(run_fake("p", "cells=1"), -EISDIR, "fake-steps.csv: ");
	cr_assert(absent("p/fake.gp"), "no script without its data");
	finish();
	cr_assert(zero(int, shell(NULL, "rm -r %s/p && mkdir -p %s/p/fake.svg", folder, folder)),
		  "mkdir");
	must_not_draw(run_fake("p", "cells=1"), -EISDIR, "fake.svg");
	cr_assert(absent("p/fake.png"), "one without the other");
	finish();
}

Test(small_picture_refused, a_workload_without_a_picture_says_so)
{
	workload.plot = NULL;
	must_refuse(run_fake("p", "cells=1"), -EINVAL, "--plot: ");
	cr_assert(absent("p"), "nothing is made");
}

Test(small_picture_refused, an_action_draws_nothing)
{
	must_refuse(run_fake("p", "action=yes"), -EINVAL, "--plot: ");
}

Test(small_picture_refused, a_hook_that_fails_leaves_nothing)
{
	const char *text;

	must_not_draw(run_fake("p", "fail=plot"), -22, "fake: plot fails as asked");
	cr_assert(zero(int, run.picture.plot.files), "no data");
	shell(&text, "LC_ALL=C ls -A %s/p", folder);
	cr_assert(eq(str, (char *)text, ""), "%s", text);
	finish();
}

Test(small_picture_refused, control_c_before_drawing_keeps_the_data)
{
	interrupt_install();
	must_not_draw(run_fake("p", "script=interrupts"), -EINTR, "interrupted");
	cr_assert(exists("p/fake-steps.csv"), "data");
	cr_assert(absent("p/fake.png"), "PNG");
	finish();
}

Test(small_picture_refused, a_script_that_is_not_there_is_named)
{
	must_not_draw(run_fake("p", "script=missing"), -ENOENT, "tests/no_such.gp");
	cr_assert(exists("p/fake-steps.csv"), "data");
	cr_assert(absent("p/fake.gp"), "no script");
	cr_assert(zero(int, run.picture.written), "no script");
	finish();
}

Test(small_picture_refused, what_failed_its_check_is_not_drawn)
{
	cr_assert(zero(int, run_fake("p", "verdict=wrong")), "%s", said);
	cr_assert(zero(int, run.passed), "%s", said);
	cr_assert(zero(int, run.picture.drawn), "%s", said);
	cr_assert(ne(ptr, strstr(said, "check"), NULL), "%s", said);
	cr_assert(zero(int, fake_log.plots), "the hook is not called");
	finish();
}
