/*
 * test_picture.c - harness/base/picture.h and harness/base/picture.h on the fake workload: pictures
 * whole or not at all, data and script in any case, one line about what is wrong.
 */
#include "tests/test.h"
#include "tests/fake_picture.h"
#include "tests/need_gnuplot.h"

TestSuite(small_picture, .init = make_folder, .fini = remove_folder, .timeout = 300);

/* An executable called gnuplot in FOLDER/bin, first on PATH. */
static void fake_gnuplot(const char *body)
{
	char path[256];
	FILE *f;

	cr_assert(zero(int, shell(NULL, "mkdir -p %s/bin", folder)), "mkdir");
	snprintf(path, sizeof(path), "%s/bin/gnuplot", folder);
	f = fopen(path, "w");
	cr_assert(ne(ptr, f, NULL), "%s", path);
	fprintf(f, "#!/bin/sh\n%s\n", body);
	fclose(f);
	cr_assert(zero(int, shell(NULL, "chmod +x %s", path)), "chmod");
	snprintf(path, sizeof(path), "%s/bin:/usr/bin:/bin", folder);
	setenv("PATH", path, 1);
}

#define VERSION_5_4 "[ \"$1\" = --version ] && echo 'gnuplot 5.4 patchlevel 0' && exit\n"

/* ---- with gnuplot, which the tests need ------------------------------------------------- */

Test(small_picture, png_and_svg_with_title_and_size)
{
	const char *text;

	NEED_GNUPLOT();
	cr_assert(zero(int, run_fake("a/b/c", "cells=1")), "%s", said);
	cr_assert(eq(str, said, ""), "stderr");
	cr_assert(zero(int, run.picture_error), "error");
	cr_assert(run.picture.drawn && run.picture.written, "drawn");
	/* signature, then the header's width and height */
	shell(&text, "cd %s/a/b/c && od -An -tx1 -N24 fake.png | tr -d ' \\n'", folder);
	cr_assert(eq(str, (char *)text, "89504e470d0a1a0a0000000d494844520000012c000000c8"), "%s",
		  text);
	cr_assert(zero(int, shell(&text,
				  "grep -c \"it&apos;s &apos;quoted&apos; on\\|"
				  "it's 'quoted' on\" %s/a/b/c/fake.svg",
				  folder)),
		  "title in the SVG: %s", text);
	cr_assert(zero(int, shell(&text, "grep -q '>0.5<' %s/a/b/c/fake.svg", folder)),
		  "1 is no integer");
	shell(&text, "LC_ALL=C ls %s/a/b/c", folder);
	cr_assert(eq(str, (char *)text, "fake-steps.csv\nfake.gp\nfake.png\nfake.svg\n"), "%s",
		  text);
	finish();
}

Test(small_picture, the_script_draws_by_hand_and_says_how)
{
	const char *text;

	NEED_GNUPLOT();
	cr_assert(zero(int, run_fake("p", "cells=1")), "%s", said);
	finish();
	cr_assert(zero(int, shell(&text,
				  "mv %s/p %s/elsewhere && cd %s/elsewhere && "
				  "rm fake.png fake.svg && RIFT_HOME=/nowhere "
				  "gnuplot fake.gp 2>&1",
				  folder, folder, folder)),
		  "%s", text);
	cr_assert(exists("elsewhere/fake.png") && exists("elsewhere/fake.svg"), "drawn");
	shell(&text, "head -n 3 %s/elsewhere/fake.gp", folder);
	cr_assert(ne(ptr, strstr(text, "gnuplot fake.gp"), NULL), "%s", text);
}

Test(small_picture, a_failing_script_says_what_gnuplot_said_and_old_pictures_stay)
{
	const char *text;

	NEED_GNUPLOT();
	shell(NULL, "mkdir %s/p && echo old >%s/p/fake.png && echo old >%s/p/fake.svg", folder,
	      folder, folder);
	must_not_draw(run_fake("p", "script=bad"), -EIO, "undefined variable: no_such_variable");
	cr_assert(ne(ptr, strstr(said, "gnuplot fake.gp"), NULL), "%s", said);
	shell(&text, "cd %s/p && cat fake.png fake.svg && ls", folder);
	cr_assert(eq(str, (char *)text, "old\nold\nfake-steps.csv\nfake.gp\nfake.png\nfake.svg\n"),
		  "%s", text);
	finish();
}

Test(small_picture, a_warning_is_kept)
{
	NEED_GNUPLOT();
	cr_assert(zero(int, run_fake("p", "script=warns")), "%s", said);
	cr_assert(zero(int, run.picture_error), "drawn all the same: %s", said);
	cr_assert(ne(ptr, strstr(run.picture.said.s, "no-such-file.csv"), NULL), "%s",
		  run.picture.said.s);
	finish();
}

Test(small_picture, the_users_own_settings_do_not_matter)
{
	NEED_GNUPLOT();
	cr_assert(zero(int, shell(NULL, "echo 'exit status 7' >%s/.gnuplot", folder)), "settings");
	setenv("HOME", folder, 1);
	cr_assert(zero(int, run_fake("p", "cells=1")), "%s", said);
	cr_assert(run.picture.drawn, "%s", said);
	finish();
}

/* Real ones remark in a locale without UTF-8, as that of a bare system is. */
Test(small_picture, nor_does_the_users_locale)
{
	static const char *const locale[] = { "C", "de_DE.ISO-8859-1", NULL };
	const char *text;

	fake_gnuplot(VERSION_5_4 "echo \"$LC_ALL\" >locale");
	for (size_t i = 0; i < sizeof(locale) / sizeof(*locale); i++) {
		if (locale[i])
			setenv("LC_ALL", locale[i], 1);
		else
			unsetenv("LC_ALL");
		run_fake("p", "cells=1");
		shell(&text, "cat %s/p/locale", folder);
		cr_assert(eq(str, (char *)text, "C.UTF-8\n"), "%s: %s", locale[i], text);
		finish();
	}
}

/* ---- without one that works ------------------------------------------------------------- */

static void only_data_and_script(void)
{
	const char *text;

	cr_assert(run.picture.written, "script");
	cr_assert(eq(int, run.picture.plot.files, 1), "data");
	shell(&text, "LC_ALL=C ls %s/p", folder);
	cr_assert(eq(str, (char *)text, "fake-steps.csv\nfake.gp\n"), "%s", text);
	shell(&text, "cat %s/p/fake-steps.csv", folder);
	cr_assert(eq(str, (char *)text, "x,y\n1,1\n2,4\n3,9\n"), "%s", text);
}

Test(small_picture, without_gnuplot_data_and_script_and_what_to_install)
{
	char *path = strdup(getenv("PATH"));

	setenv("PATH", "/nonexistent", 1);
	must_not_draw(run_fake("p", "cells=1"), -ENOENT, "PATH");
	setenv("PATH", path, 1);
	free(path);
	cr_assert(ne(ptr, strstr(said, "apt-get install gnuplot-nox"), NULL), "%s", said);
	cr_assert(eq(int, exit_code_of(run.picture_error), RIFT_USAGE), "exit code");
	only_data_and_script();
	finish();
}

Test(small_picture, an_old_gnuplot_is_named)
{
	fake_gnuplot("echo 'gnuplot 5.0 patchlevel 7'");
	must_not_draw(run_fake("p", "cells=1"), -ENOENT, "5.2");
	cr_assert(ne(ptr, strstr(said, "'gnuplot 5.0 patchlevel 7'"), NULL), "%s", said);
	only_data_and_script();
	finish();
}

Test(small_picture, another_program_of_that_name_is_none)
{
	fake_gnuplot("echo 'Welcome!'; printf 'what\\tdo you want?\\n\\n'");
	must_not_draw(run_fake("p", "cells=1"), -ENOENT, "'what?do you want?'");
	only_data_and_script();
	finish();
}

/* As on a full disk, which gnuplot does not notice. */
Test(small_picture, half_a_picture_does_not_appear)
{
	fake_gnuplot(VERSION_5_4 "for f in fake.png fake.svg; do\n"
				 "printf 'much more than sixteen bytes</svg>' "
				 ">$f$(echo \"$3\" | sed \"s/.*'\\(.*\\)'/\\1/\")\ndone");
	must_not_draw(run_fake("p", "cells=1"), -EIO, "fake.png");
	only_data_and_script();
	finish();
}

Test(small_picture, a_gnuplot_that_dies_is_told)
{
	fake_gnuplot(VERSION_5_4 "kill -SEGV $$");
	must_not_draw(run_fake("p", "cells=1"), -EIO, "11");
	only_data_and_script();
	finish();
}

Test(small_picture, a_gnuplot_that_is_interrupted_is_75)
{
	fake_gnuplot(VERSION_5_4 "kill -INT $$");
	must_not_draw(run_fake("p", "cells=1"), -EINTR, "interrupted");
	cr_assert(eq(int, exit_code_of(run.picture_error), RIFT_INTERRUPTED), "exit code");
	finish();
}

/* More than a pipe holds; only the end of it counts. */
Test(small_picture, a_gnuplot_that_talks_does_not_block)
{
	fake_gnuplot(VERSION_5_4 "i=0; while [ $i -lt 20000 ]; do echo blah; i=$((i+1)); done\n"
				 "echo the end; exit 3");
	must_not_draw(run_fake("p", "cells=1"), -EIO, "end; to draw again");
	finish();
}

/* Short names, and from here. */
Test(small_picture, a_folder_is_made_with_those_above_it)
{
	cr_assert(zero(int, chdir(folder)), "%s", folder);
	cr_assert(zero(int, picture_folder("--output", "a/b/c")), "a/b/c");
	cr_assert(zero(int, shell(NULL, "test -d a/b/c")), "it is there");
}
