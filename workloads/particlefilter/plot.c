/* plot.c - stub until the picture is drawn */
#include "workloads/particlefilter/particlefilter.h"
int pf_plot(const void *opts, void *state, struct plot *plot)
{
	(void)opts;
	(void)state;
	(void)plot;
	return 0;
}
