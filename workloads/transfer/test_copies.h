/* test_copies.h - what the tests of the transfer workload share: copies through the hooks. */
#ifndef RIFT_TRANSFER_TEST_COPIES_H
#define RIFT_TRANSFER_TEST_COPIES_H

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "common/cuda_check.h"
#include "tests/cli.h"
#include "workloads/transfer/transfer.h"

static inline struct transfer_opts make_copy_opts(enum transfer_dir dir, enum transfer_host host,
						  int64_t bytes)
{
	struct transfer_opts o;

	memset(&o, 0, sizeof(o));
	o.bytes = bytes;
	o.dir = dir;
	o.host = host;
	return o;
}

#define RUN transfer
#include "tests/workload_run.h"

/* Everything is compared, and what is wrong has a place. */
static inline struct verdict run_verdict(struct run *r, int64_t steps)
{
	struct verdict v = run_check(r, steps, false);

	cr_assert(v.compared == v.total && v.total == r->s.slots, "all are compared");
	cr_assert(v.passed == !*v.worst, "%g, %s", v.error, v.worst);
	return v;
}

#endif
