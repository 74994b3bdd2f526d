/*
 * test_conformance.c - what workloads/workload.h promises, of every workload of the table: each
 * mode passes the check, also behind another, and the check finds a step too few or too many.
 * What only the CPU device can show: test_cpu_conformance.c.
 */
/* sanitizers: seen elsewhere */
#include "tests/plain.h"
#include "tests/cli.h"
#include "tests/conformance.h"

TestSuite(large_conformance, .timeout = 300);

enum { STEPS = 3 };

static const char *const names[MODE_COUNT] = { "stream", "graph", "fused" };

/* Calls f for each workload and each of its modes; a device is needed. */
static void each_mode(void (*f)(struct driven *d, enum mode mode))
{
	int n = 0;

	need_device();
	for (int i = 0; workloads[i]; i++) {
		struct driven *d = driven_begin(workloads[i], 4 * STEPS);

		for (enum mode m = 0; m < MODE_COUNT; m++) {
			if (!driven_allows(d, m, 2 * STEPS))
				continue;
			f(d, m);
			n++;
		}
		driven_end(d);
	}
	cr_assert(n > 0, "no workload");
}

static void passes(struct driven *d, enum mode mode)
{
	driven_run(d, mode, STEPS);
	cr_expect(driven_passes(d, mode, STEPS), "%s, %s", d->w->name, names[mode]);
}

Test(large_conformance, every_mode_passes_the_check)
{
	each_mode(passes);
}

static void finds_others(struct driven *d, enum mode mode)
{
	driven_run(d, mode, STEPS - 1);
	cr_expect(!driven_passes(d, mode, STEPS), "%s, %s: a step too few", d->w->name,
		  names[mode]);
	driven_run(d, mode, STEPS + 1);
	cr_expect(!driven_passes(d, mode, STEPS), "%s, %s: a step too many", d->w->name,
		  names[mode]);
}

Test(large_conformance, a_step_too_few_or_too_many_is_found)
{
	each_mode(finds_others);
}

static void goes_on(struct driven *d, enum mode mode)
{
	if (mode == MODE_GRAPH) /* whose launches follow a reset */
		return;
	driven_run(d, mode, STEPS);
	driven_add(d, MODE_STREAM, 1);
	driven_add(d, mode, STEPS - 1);
	cr_expect(driven_passes(d, mode, 2 * STEPS), "%s, %s", d->w->name, names[mode]);
}

Test(large_conformance, modes_follow_each_other)
{
	each_mode(goes_on);
}
