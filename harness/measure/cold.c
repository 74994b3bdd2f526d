/* cold.c - since when this process runs. */
#include "harness/measure/cold.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/*
 * proc(5): field 22, in ticks since boot. Field 2 is the program's name in parentheses, which may
 * hold both spaces and parentheses, so fields are counted from the last of these.
 */
static double started_ticks(void)
{
	char line[1024], *at;
	unsigned long long ticks;
	FILE *f = fopen("/proc/self/stat", "r");
	size_t n = f ? fread(line, 1, sizeof(line) - 1, f) : 0;

	if (f)
		fclose(f);
	line[n] = 0;
	at = strrchr(line, ')');
	for (int field = 2; at && field < 22; field++)
		at = strchr(at + 1, ' ');
	return at && sscanf(at, "%llu", &ticks) == 1 ? (double)ticks : NAN;
}

double cold_since_start_ns(void)
{
	double started_ns = started_ticks() * 1e9 / (double)sysconf(_SC_CLK_TCK), since_ns;
	struct timespec now;

	/* the clock that ticks since boot are of: it goes on while the machine sleeps */
	if (clock_gettime(CLOCK_BOOTTIME, &now))
		return NAN;
	since_ns = (double)now.tv_sec * 1e9 + (double)now.tv_nsec - started_ns;
	return since_ns >= 0 ? since_ns : NAN;
}

double cold_total_ns(const struct cold *c)
{
	return c->start_ns + c->setup_ns + c->block_ns;
}
