/*
 * test_graph_options.c - what the graph workload offers and refuses, its shapes, and probe=quick:
 * every row has a figure or a reason, and nothing hangs.
 */
/* sanitizers: seen elsewhere */
#include "tests/plain.h"
#include "workloads/graph/test_graphs.h"

#include <dlfcn.h>
#include <sched.h>

#include "common/device.h"
#include "tests/rows.h"
#include "workloads/graph/measure.h"

TestSuite(small_graph_options, .timeout = 300);

/* ---- a platform on which launches wait for the stream ------------------------------------ */

static bool waits, loses;
static uint32_t *words; /* the latch's */

cudaError_t cudaHostAlloc(void **p, size_t bytes, unsigned flags)
{
	cudaError_t (*real)(void **, size_t, unsigned) =
		(cudaError_t(*)(void **, size_t, unsigned))dlsym(RTLD_NEXT, "cudaHostAlloc");
	cudaError_t err = real(p, bytes, flags);

	words = (uint32_t *)*p;
	return err;
}

/* Until the latch is open: a deadlock, were it not for the watchdog. */
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream)
{
	cudaError_t (*real)(cudaGraphExec_t, cudaStream_t) =
		(cudaError_t(*)(cudaGraphExec_t, cudaStream_t))dlsym(RTLD_NEXT, "cudaGraphLaunch");
	uint32_t before = words ? __atomic_load_n(words, __ATOMIC_ACQUIRE) : 0;

	if (loses)
		return cudaSuccess;
	while (waits && words && cudaStreamQuery(stream) == cudaErrorNotReady &&
	       __atomic_load_n(words, __ATOMIC_ACQUIRE) == before)
		sched_yield();
	return real(exec, stream);
}

/* ---- options ---------------------------------------------------------------------------- */

static struct limits find_limits(struct graph_opts o)
{
	struct limits l = { 0 };

	cr_assert(!workload_graph.limits(&o, &l), "limits");
	return l;
}

Test(small_graph_options, a_step_is_never_part_of_a_graph)
{
	struct graph_opts o = make_graph_opts(GRAPH_LINE, GRAPH_KERNEL, 10);

	cr_assert(find_limits(o).mode_refused[MODE_GRAPH] &&
			  !find_limits(o).mode_refused[MODE_STREAM],
		  "modes");
	cr_assert(!find_limits(o).depth_max && !workload_graph.fused, "launches at any depth");
	o.op = GRAPH_INSTANTIATE;
	cr_assert(find_limits(o).depth_max == GRAPH_KEPT_MAX, "graphs are kept");
	o.probe = GRAPH_YES;
	cr_assert(find_limits(o).action, "action");
}

Test(small_graph_options, what_makes_no_sense_is_refused)
{
	static const struct wrong_args rows[] = {
		{ "width=8", "width=8 " },
		{ "node=memset us=5", "us=5 " },
		{ "probe=yes op=first", "op=first " },
		{ "node=memcpy op=params", "node=memcpy " },
		{ "node=staged op=params", "node=staged" },
		{ "node=streamed op=params", "node=streamed" },
		{ "bytes=64", "bytes=64 " },
		{ "node=h2d copies=2", "copies=2 " },
		{ "node=staged first_us=5", "first_us=5 " },
		/* sizes of copies */
		{ "node=h2d bytes=12", "bytes=12: must be a multiple of 8" },
		{ "node=d2h length=17 bytes=64M", "1024 MiB" },
	};

	ROWS_REFUSED("run graph", rows);
}

/* ---- shapes ----------------------------------------------------------------------------- */

static struct graph_shape make_shape(enum graph_topology topology, int64_t length, int64_t width)
{
	struct graph_opts o = make_graph_opts(topology, GRAPH_KERNEL, length);
	struct graph_shape shape;

	o.width = width;
	graph_shape_init(&shape, &o);
	graph_shape_release(&shape);
	return shape;
}

static void is(struct graph_shape s, int64_t nodes, int64_t edges, int64_t roots)
{
	cr_assert(s.nodes == nodes && s.edges == edges && s.roots == roots, "%ld %ld %ld",
		  (long)s.nodes, (long)s.edges, (long)s.roots);
}

Test(small_graph_options, shapes_by_hand)
{
	is(make_shape(GRAPH_LINE, 5, 4), 5, 4, 1);
	is(make_shape(GRAPH_CHAINS, 5, 4), 20, 16, 4);
	is(make_shape(GRAPH_ROOTED, 5, 4), 21, 20, 1);
	is(make_shape(GRAPH_FORKJOIN, 5, 4), 22, 24, 1);
	is(make_shape(GRAPH_FORKJOIN, 1, 1), 3, 2, 1);
}

static void is_order(enum graph_order order, const char *chains)
{
	struct graph_opts o = make_graph_opts(GRAPH_CHAINS, GRAPH_KERNEL, 2);
	struct graph_shape shape;

	o.width = 3;
	o.order = order;
	graph_shape_init(&shape, &o);
	for (int i = 0; i < 6; i++)
		cr_assert(shape.order[i] == chains[i] - '0', "order %d, node %d: chain %d", order,
			  i, shape.order[i]);
	graph_shape_release(&shape);
}

Test(small_graph_options, orders_by_hand)
{
	is_order(GRAPH_KEPT, "001122");
	is_order(GRAPH_LEVELS, "012012");
	is_order(GRAPH_LATE, "112200");
}

/* Chains of copy, kernel, copy: two copies each, and the kernel hangs on the first. */
Test(small_graph_options, staged_nodes_come_in_turn)
{
	struct graph_opts o = make_graph_opts(GRAPH_CHAINS, GRAPH_STAGED, 3);
	struct graph_shape shape;

	graph_shape_init(&shape, &o);
	cr_assert(shape.copies == 8, "%ld copies", (long)shape.copies);
	for (int chain = 0; chain < 4; chain++) {
		cr_assert(graph_node_kind(&shape, 3 * chain) == GRAPH_H2D, "first");
		cr_assert(graph_node_kind(&shape, 3 * chain + 1) == GRAPH_KERNEL, "second");
		cr_assert(graph_node_kind(&shape, 3 * chain + 2) == GRAPH_H2D, "third");
		for (int place = 0; place < 3; place++)
			cr_assert(graph_copy_number(&shape, 3 * chain + place) ==
					  2 * chain + place / 2,
				  "chain %d, node %d", chain, place);
	}
	graph_shape_release(&shape);
}

/* Chains of copy, kernel, copy back, copy: one of two copies comes back. */
Test(small_graph_options, streamed_nodes_come_in_turn)
{
	const enum graph_kind kinds[] = { GRAPH_H2D, GRAPH_KERNEL, GRAPH_D2H, GRAPH_H2D };
	struct graph_opts o = make_graph_opts(GRAPH_CHAINS, GRAPH_STREAMED, 4);
	struct graph_shape shape;
	struct cost cost;

	graph_shape_init(&shape, &o);
	cr_assert(shape.copies == 8 && shape.copies_back == 4, "%ld, %ld back", (long)shape.copies,
		  (long)shape.copies_back);
	for (int node = 0; node < 16; node++) {
		cr_assert(graph_node_kind(&shape, node) == kinds[node % 4], "node %d", node);
		cr_assert(graph_copy_number(&shape, node) == node / 4 * 2 + node % 4 / 3, "node %d",
			  node);
	}
	graph_shape_release(&shape);
	o.bytes = 8;
	o.op = GRAPH_EAGER;
	cr_assert(!workload_graph.cost(&o, NULL, &cost), "cost");
	cr_assert(cost.launches == 4, "%g kernels", cost.launches);
	cr_assert(cost.to_device.calls == 8 && cost.to_host.calls == 4 &&
			  cost.bytes_transferred == 96,
		  "%g, %g, %g", cost.to_device.calls, cost.to_host.calls, cost.bytes_transferred);
}

/* Chains of three copies, a kernel, a copy back, and two copies more: the third one comes back. */
Test(small_graph_options, copies_come_in_rows)
{
	const enum graph_kind kinds[] = { GRAPH_H2D, GRAPH_H2D, GRAPH_H2D, GRAPH_KERNEL,
					  GRAPH_D2H, GRAPH_H2D, GRAPH_H2D };
	const int numbers[] = { 0, 1, 2, 2, 2, 3, 4 };
	struct graph_opts o = make_graph_opts(GRAPH_CHAINS, GRAPH_STREAMED, 7);
	struct graph_shape shape;

	o.copies = 3;
	graph_shape_init(&shape, &o);
	cr_assert(shape.copies == 4 * 5 && shape.copies_back == 4, "%ld, %ld back",
		  (long)shape.copies, (long)shape.copies_back);
	for (int node = 0; node < 28; node++) {
		cr_assert(graph_node_kind(&shape, node) == kinds[node % 7], "node %d", node);
		cr_assert(graph_copy_number(&shape, node) == node / 7 * 5 + numbers[node % 7],
			  "node %d: %ld", node, (long)graph_copy_number(&shape, node));
	}
	for (int back = 0; back < 4; back++)
		cr_assert(graph_copied_back(&shape, back) == back * 5 + 2, "%d", back);
	graph_shape_release(&shape);
}

/* Kernels, copies and copies back, counted node by node. */
static void are_counted(enum graph_kind kind, enum graph_topology topology, int length, int copies)
{
	struct graph_opts o = make_graph_opts(topology, kind, length);
	int64_t kernels = 0, to_device = 0, to_host = 0;
	struct graph_shape shape;

	o.copies = copies;
	graph_shape_init(&shape, &o);
	for (int64_t node = 0; node < shape.nodes; node++) {
		enum graph_kind is = graph_node_kind(&shape, node);

		kernels += is == GRAPH_KERNEL;
		to_device += is == GRAPH_H2D;
		to_host += is == GRAPH_D2H;
	}
	cr_assert(graph_kernels(&o) == kernels, "kind %d, topology %d, %d: %ld, not %ld", kind,
		  topology, length, (long)graph_kernels(&o), (long)kernels);
	cr_assert(graph_copies(&o) == (kind == GRAPH_D2H ? to_host : to_device),
		  "kind %d, %d nodes, %d copies: %ld", kind, length, copies,
		  (long)graph_copies(&o));
	cr_assert(graph_copies_back(&o) == (kind == GRAPH_STREAMED ? to_host : 0),
		  "kind %d, %d nodes, %d copies: %ld back", kind, length, copies,
		  (long)graph_copies_back(&o));
	graph_shape_release(&shape);
}

Test(small_graph_options, nodes_are_counted)
{
	for (int kind = 0; kind <= GRAPH_STREAMED; kind++)
		for (int topology = 0; topology <= GRAPH_FORKJOIN; topology++)
			for (int length = 1; length <= 11; length++)
				for (int copies = 1; copies <= 4; copies++)
					are_counted((enum graph_kind)kind,
						    (enum graph_topology)topology, length, copies);
}

/* Every node once, and the order not that of the chains. */
Test(small_graph_options, shuffled_is_another_order_of_the_same_nodes)
{
	struct graph_opts o = make_graph_opts(GRAPH_CHAINS, GRAPH_KERNEL, 50);
	struct graph_shape shape;
	int made[4] = { 0 }, changes = 0;

	o.order = GRAPH_SHUFFLED;
	graph_shape_init(&shape, &o);
	for (int i = 0; i < 200; i++) {
		made[shape.order[i]]++;
		changes += i && shape.order[i] != shape.order[i - 1];
	}
	cr_assert(made[0] == 50 && made[1] == 50 && made[2] == 50 && made[3] == 50, "all");
	cr_assert(changes > 100, "%d changes of chain", changes);
	graph_shape_release(&shape);
}

Test(small_graph_options, mixed_nodes_come_in_turn)
{
	struct graph_opts o = make_graph_opts(GRAPH_FORKJOIN, GRAPH_MIXED, 4);
	struct graph_shape shape;

	graph_shape_init(&shape, &o);
	for (int chain = 0; chain < 4; chain++) {
		cr_assert(graph_node_kind(&shape, 4 * chain) == GRAPH_KERNEL, "first");
		cr_assert(graph_node_kind(&shape, 4 * chain + 1) == GRAPH_MEMSET, "second");
		cr_assert(graph_node_kind(&shape, 4 * chain + 2) == GRAPH_MEMCPY, "third");
		cr_assert(graph_node_kind(&shape, 4 * chain + 3) == GRAPH_KERNEL, "fourth");
	}
	cr_assert(graph_node_kind(&shape, 16) == GRAPH_KERNEL &&
			  graph_node_kind(&shape, 17) == GRAPH_KERNEL,
		  "root and end");
	graph_shape_release(&shape);
}

/* ---- probe ------------------------------------------------------------------------------ */

static struct report report;

static const struct report_row *row(const char *name)
{
	return report_row(&report, name);
}

static int probe(struct graph_opts o, struct graph_state *s)
{
	o.probe = o.probe ? o.probe : GRAPH_QUICK;
	memset(s, 0, sizeof(*s));
	memset(&report, 0, sizeof(report));
	cr_assert(!workload_graph.setup(&o, s), "setup");
	return workload_graph.report(&o, s, &report);
}

Test(small_graph_options, every_row_has_a_figure_or_a_reason)
{
	struct graph_state s;

	need_device();
	cr_assert(!probe(make_graph_opts(GRAPH_ROOTED, GRAPH_MIXED, 20), &s), "probe");
	cr_assert(row("nodes")->value == 81, "%g nodes", row("nodes")->value);
	for (int q = 0; q < MEASURE_QUANTITIES; q++) {
		const struct report_row *r;

		if (q == MEASURE_FIRST_CHAIN || q == MEASURE_LAST_CHAIN)
			continue; /* of staged nodes */
		r = row(graph_quantities[q].name);
		if (q >= MEASURE_MANY_MAKE && q <= MEASURE_MANY_CALL)
			cr_assert(!*r->text && r->value > 0 && !r->n, "%s: a mean", r->name);
		else if (q == MEASURE_MEMORY || q == MEASURE_HOST_MEMORY)
			cr_assert(*r->text || r->value > 0, "%s: %g, %s", r->name, r->value,
				  r->text);
		else
			cr_assert(!*r->text && r->value > 0 && r->n >= 5, "%s: %g, n=%ld, %s",
				  r->name, r->value, (long)r->n, r->text);
	}
	cr_assert(isfinite(row("instantiate, a node")->value), "fit");
	cr_assert(row("launch device, a node")->value > 0, "fit");
	workload_graph.teardown(&s);
}

/*
 * The chains follow each other on the CPU device, so the first one ends early or late; on a GPU
 * either may be.
 */
Test(small_graph_options, staged_chains_end_within_the_launch)
{
	struct graph_opts o = make_graph_opts(GRAPH_CHAINS, GRAPH_STAGED, 2);
	struct graph_state s;

	need_device();
	o.probe = GRAPH_ONE;
	o.bytes = 64 << 10;
	o.us = 20;
	for (int order = GRAPH_KEPT; order <= GRAPH_LATE; order += GRAPH_LATE) {
		double first, last;

		o.order = order;
		cr_assert(!probe(o, &s), "probe");
		first = row("first chain's end")->value;
		last = row("last chain's end")->value;
		cr_assert(0 < first && first <= last, "%g, %g", first, last);
		cr_assert(order == GRAPH_LATE ||
				  device_attribute(cudaDevAttrComputeCapabilityMajor) ||
				  first < last,
			  "%g, %g", first, last);
		workload_graph.teardown(&s);
	}
}

Test(small_graph_options, one_length_has_no_lines)
{
	struct graph_opts o = make_graph_opts(GRAPH_LINE, GRAPH_KERNEL, 3);
	struct graph_state s;

	need_device();
	o.probe = GRAPH_ONE;
	cr_assert(!probe(o, &s), "probe");
	cr_assert(row("nodes")->value == 3 && row("launch end to end")->n >= 5, "measured");
	for (int i = 0; i < report.n; i++)
		cr_assert(!strstr(report.row[i].name, ", a node"), "%s", report.row[i].name);
	workload_graph.teardown(&s);
}

/* Every shape whose nodes are within the device; others are captured alone, and say so. */
Test(small_graph_options, the_same_graph_is_made_node_by_node)
{
	static const enum graph_kind kinds[] = { GRAPH_KERNEL, GRAPH_MEMSET, GRAPH_MEMCPY,
						 GRAPH_MIXED };
	struct graph_state s;

	need_device();
	for (int topology = GRAPH_LINE; topology <= GRAPH_FORKJOIN; topology++)
		for (size_t k = 0; k < sizeof(kinds) / sizeof(*kinds); k++) {
			struct graph_opts o = make_graph_opts(topology, kinds[k], 7);

			o.probe = GRAPH_ONE;
			o.order = topology ? GRAPH_LEVELS : GRAPH_KEPT;
			cr_assert(!probe(o, &s), "probe");
			cr_assert(row("add nodes")->value > 0 && row("add nodes")->n >= 5,
				  "%d, %zu", topology, k);
			workload_graph.teardown(&s);
		}
	cr_assert(!probe(make_graph_opts(GRAPH_LINE, GRAPH_H2D, 3), &s), "probe");
	cr_assert(!strncmp(row("add nodes")->text, "not measured: ", 14), "%s",
		  row("add nodes")->text);
	workload_graph.teardown(&s);
}

Test(small_graph_options, a_process_with_many_graphs_has_its_rows)
{
	struct graph_opts o = make_graph_opts(GRAPH_LINE, GRAPH_KERNEL, 512);
	struct graph_state s;

	need_device();
	o.probe = GRAPH_ONE;
	cr_assert(!probe(o, &s), "probe");
	cr_expect(row("many: make one")->value > 0, "made");
	cr_expect(row("many: first launch call")->value > 0, "first");
	cr_expect(row("many: launch call")->value > 0, "next");
	cr_expect(row("updated, end to end")->value > row("updated, call, idle")->value, "longer");
	workload_graph.teardown(&s);
}

Test(small_graph_options, without_kernels_there_is_nothing_to_set)
{
	struct graph_state s;

	need_device();
	cr_assert(!probe(make_graph_opts(GRAPH_LINE, GRAPH_MEMSET, 5), &s), "probe");
	cr_assert(!strncmp(row("set one node")->text, "not applicable: ", 16), "%s",
		  row("set one node")->text);
	workload_graph.teardown(&s);
}

/* The planted deadlock: a call that waits for the stream which it is to be released behind. */
Test(small_graph_options, a_platform_whose_launches_wait_is_told_not_hung_on)
{
	struct graph_state s;

	need_device();
	waits = true;
	cr_assert(!probe(make_graph_opts(GRAPH_LINE, GRAPH_KERNEL, 5), &s), "probe");
	cr_assert(strstr(row("launch total")->text, "waits"), "%s", row("launch total")->text);
	cr_assert(row("instantiate")->value > 0 && row("pace of one graph")->value > 0,
		  "what needs no latch is measured all the same");
	workload_graph.teardown(&s);
}

Test(small_graph_options, a_launch_that_is_lost_ends_the_probe)
{
	struct measure_plan plan;
	struct measure_length m;
	struct graph_opts o = make_graph_opts(GRAPH_LINE, GRAPH_KERNEL, 5);
	const char *text;
	int err;

	need_device();
	graph_measure_init(&plan, true);
	loses = true;
	divert_stderr();
	err = graph_measure(&plan, &o, &m);
	text = diverted_stderr();
	loses = false;
	cr_assert(err == -EIO && is_one_complaint(text) && tells(text, " 0, *1"), "%d: %s", err,
		  text);
	graph_measure_release(&plan);
}
