/* need_gnuplot.h - a test that draws skips, visibly, where there is no gnuplot to draw with. */
#ifndef RIFT_NEED_GNUPLOT_H
#define RIFT_NEED_GNUPLOT_H

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#define NEED_GNUPLOT()                                                                             \
	do                                                                                         \
		if (system("command -v gnuplot >/dev/null"))                                       \
			cr_skip("needs gnuplot (gnuplot-nox)");                                    \
	while (0)

/*
 * From now on this test and what it starts draw one picture of those that look alike, for tests of
 * what scripts and data hold: gnuplot takes ten times as long as they do. The folder is the test's.
 */
static inline void draw_each_look_once(const char *folder)
{
	char *first = realpath("tests/drawn_once", NULL), path[4096];

	snprintf(path, sizeof(path), "%s:%s", first ? first : "", getenv("PATH"));
	setenv("PATH", path, 1);
	free(first);
	setenv("RIFT_TEST_LOOKS", folder, 1);
}

#endif
