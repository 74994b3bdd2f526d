/* test_graphs.h - what the tests of the graph workload share: steps through the hooks. */
#ifndef RIFT_GRAPH_TEST_GRAPHS_H
#define RIFT_GRAPH_TEST_GRAPHS_H

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "common/cuda_check.h"
#include "tests/cli.h"
#include "workloads/graph/graph.h"

/* The defaults, shorter. */
static inline struct graph_opts make_graph_opts(enum graph_topology topology, enum graph_kind node,
						int64_t length)
{
	struct graph_opts o;

	memset(&o, 0, sizeof(o));
	o.length = length;
	o.topology = topology;
	o.width = 4;
	o.node = node;
	o.bytes = 8;
	o.copies = 1;
	return o;
}

#define RUN graph
#include "tests/workload_run.h"

/* Everything is compared, and what is wrong has a place. */
static inline struct verdict run_verdict(struct run *r, int64_t steps)
{
	struct verdict v = run_check(r, steps, false);

	cr_assert(v.compared == v.total && v.total == r->s.shape.nodes, "all");
	cr_assert(v.passed == !*v.worst, "%g, %s", v.error, v.worst);
	return v;
}

#endif
