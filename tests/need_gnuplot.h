/* need_gnuplot.h - a test that draws skips, visibly, where there is no gnuplot to draw with. */
#ifndef RIFT_NEED_GNUPLOT_H
#define RIFT_NEED_GNUPLOT_H

#include <criterion/criterion.h>
#include <stdlib.h>

#define NEED_GNUPLOT()                                                                             \
	do                                                                                         \
		if (system("command -v gnuplot >/dev/null"))                                       \
			cr_skip("needs gnuplot (gnuplot-nox)");                                    \
	while (0)

#endif
