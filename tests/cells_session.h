/* cells_session.h - small sessions without noise, for fits: of launches, and of another workload.
 */
#ifndef RIFT_TESTS_CELLS_SESSION_H
#define RIFT_TESTS_CELLS_SESSION_H

#include "tests/fake_session.h"

static inline struct fake_session small_session(void)
{
	struct fake_session s = fake_session();

	s.processes = 5;
	s.noise = 0;
	s.quick = true;
	return s;
}

/* Its sizes are no durations. */
static inline double cells_ns(double cells)
{
	return 3000 + 10 * cells;
}

static inline struct fake_session cells_session(void)
{
	struct fake_session s = small_session();

	s.workload = "myocyte";
	s.size = "1,100,1000,10000";
	s.depth = "1,4,16,64";
	s.kernel_ns = cells_ns;
	return s;
}

#endif
