/* clock_probe.c - what reading the harness's clock costs, and how fine it is. */
#include "harness/measure/clock_probe.h"

#include "harness/measure/measure.h"

enum { BATCHES = 5, READINGS = 2000 };

/* The fastest batch: others were interrupted. */
struct clock_probe clock_probe_of(int64_t (*now_ns)(void))
{
	struct clock_probe out = { .cost_ns = 1e18, .tick_ns = INT64_MAX };

	for (int b = 0; b < BATCHES; b++) {
		int64_t start = now_ns(), before = start, now = start;

		for (int i = 0; i < READINGS; i++, before = now) {
			now = now_ns();
			if (now > before && now - before < out.tick_ns)
				out.tick_ns = now - before;
		}
		if ((double)(now - start) / READINGS < out.cost_ns)
			out.cost_ns = (double)(now - start) / READINGS;
	}
	return out;
}

struct clock_probe clock_probe(void)
{
	return clock_probe_of(clock_ns);
}
