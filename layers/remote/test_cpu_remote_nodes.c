/*
 * test_cpu_remote_nodes.c - graphs that are made node by node, by way of the layer remote: the
 * suite small_remote_nodes holds with and without it, and runs again as a client of this program's
 * daemon. What that one was sent is damaged as in test_cpu_remote_calls.c.
 */
/* sanitizers: seen elsewhere */
#include "tests/test.h"

#include <cuda_runtime_api.h>

#include "layers/remote/daemon/serve.h"
#include "layers/remote/test_daemon.h"
#include "layers/remote/test_fuzz.h"
#include "layers/remote/test_passes.h"

TestSuite(small_remote_nodes, .fini = await_daemon, .timeout = 100);
TestSuite(small_remote_nodes_daemon, .init = layers_apart, .timeout = 300);

/* ---- parts -------------------------------------------------------------------------------- */

static cudaGraph_t new_graph(void)
{
	cudaGraph_t graph;

	OK(cudaGraphCreate(&graph, 0));
	return graph;
}

static cudaGraphExec_t exec_of(cudaGraph_t graph)
{
	cudaGraphExec_t exec;

	OK(cudaGraphInstantiate(&exec, graph, 0));
	return exec;
}

static void run(cudaGraphExec_t exec)
{
	OK(cudaGraphLaunch(exec, 0));
	OK(cudaStreamSynchronize(0));
}

/* *to += value. */
static cudaGraphNode_t add(cudaGraph_t graph, const cudaGraphNode_t *needs, size_t n, uint64_t *to,
			   uint64_t value)
{
	uint8_t times = 1;
	void *arguments[] = { &to, &value, &times };
	const struct cudaKernelNodeParams p = {
		.func = (void *)kernel_add(),
		.gridDim = { 1, 1, 1 },
		.blockDim = { 1, 1, 1 },
		.kernelParams = arguments,
	};
	cudaGraphNode_t node;

	OK(cudaGraphAddKernelNode(&node, graph, needs, n, &p));
	return node;
}

static struct cudaMemcpy3DParms row(void *dst, void *src, size_t bytes, enum cudaMemcpyKind kind)
{
	return (struct cudaMemcpy3DParms){
		.srcPtr = { src, bytes, bytes, 1 },
		.dstPtr = { dst, bytes, bytes, 1 },
		.extent = { bytes, 1, 1 },
		.kind = kind,
	};
}

static uint64_t *device_words(size_t n)
{
	uint64_t *words;

	OK(cudaMalloc((void **)&words, 8 * n));
	OK(cudaMemset(words, 0, 8 * n));
	return words;
}

static size_t nodes_of(cudaGraph_t graph)
{
	size_t n;

	OK(cudaGraphGetNodes(graph, NULL, &n));
	return n;
}

/* ---- a graph as programs make them -------------------------------------------------------- */

/* What the host function finds, and puts back to 0. */
struct tally {
	uint64_t result, sum;
	int calls;
};

static void tally(void *at)
{
	struct tally *t = at;

	t->sum += t->result;
	t->result = 0;
	t->calls++;
}

/* Pinned memory goes to the device while a word is set to 0; both are needed by a sum, of which the
 * result comes to the program's own memory, where a host function reads it. */
static cudaGraph_t summing_graph(uint64_t *pinned, uint64_t *device, uint64_t *sum, struct tally *t)
{
	struct cudaMemcpy3DParms in = row(device, pinned, 64, cudaMemcpyHostToDevice);
	struct cudaMemcpy3DParms out = row(&t->result, sum, 8, cudaMemcpyDeviceToHost);
	struct cudaMemsetParams zero = { .dst = sum, .elementSize = 4, .width = 2, .height = 1 };
	struct cudaHostNodeParams host = { tally, t };
	cudaGraph_t graph = new_graph();
	cudaGraphNode_t node[5];

	OK(cudaGraphAddMemcpyNode(&node[0], graph, NULL, 0, &in));
	OK(cudaGraphAddMemsetNode(&node[1], graph, NULL, 0, &zero));
	node[2] = add(graph, node, 2, sum, 7);
	OK(cudaGraphAddMemcpyNode(&node[3], graph, &node[2], 1, &out));
	OK(cudaGraphAddHostNode(&node[4], graph, &node[3], 1, &host));
	return graph;
}

Test(small_remote_nodes, a_graph_and_its_clone_give_the_same)
{
	uint64_t *pinned, *device = device_words(8), *sum = device_words(1);
	struct tally t = { 0 };
	cudaGraph_t graph, clone;
	cudaGraphExec_t exec, of_clone;

	OK(cudaMallocHost((void **)&pinned, 64));
	graph = summing_graph(pinned, device, sum, &t);
	cr_assert(eq(sz, nodes_of(graph), 5));
	exec = exec_of(graph);
	OK(cudaGraphClone(&clone, graph));
	cr_assert(eq(sz, nodes_of(clone), 5));
	of_clone = exec_of(clone);
	OK(cudaGraphDestroy(graph));
	for (int i = 0; i < 3; i++)
		OK(cudaGraphLaunch(exec, 0));
	OK(cudaGraphExecDestroy(exec));
	OK(cudaStreamSynchronize(0));
	cr_assert(t.calls == 3 && t.sum == 21, "%d", t.calls);
	for (int i = 0; i < 3; i++)
		run(of_clone);
	cr_assert(t.calls == 6 && t.sum == 42, "%d", t.calls);
	OK(cudaGraphExecDestroy(of_clone));
	OK(cudaGraphDestroy(clone));
	FAILS(cudaGraphClone(&clone, graph), cudaErrorInvalidValue);
}

/* ---- nodes -------------------------------------------------------------------------------- */

static void check_needs(cudaGraphNode_t node, const cudaGraphNode_t *want, size_t n)
{
	cudaGraphNode_t needs[8];
	size_t got = 8;

	OK(cudaGraphNodeGetDependencies(node, needs, NULL, &got));
	cr_assert(eq(sz, got, n));
	for (size_t i = 0; i < n; i++)
		cr_assert(needs[i] == want[i], "need %zu of %zu", i, n);
}

/* The program's own memory on both ends; each node is one, and needs what it was told to. */
Test(small_remote_nodes, copies_of_own_memory_are_ordered)
{
	uint64_t in[2] = { 10, 20 }, out[2] = { 0 }, *device = device_words(2);
	cudaGraph_t graph = new_graph();
	cudaGraphNode_t node[5], empty;
	enum cudaGraphNodeType type;

	OK(cudaGraphAddMemcpyNode1D(&node[0], graph, NULL, 0, device, in, 16,
				    cudaMemcpyHostToDevice));
	node[1] = add(graph, &node[0], 1, device, 1);
	OK(cudaGraphAddMemcpyNode1D(&node[2], graph, &node[1], 1, out, device, 16,
				    cudaMemcpyDefault));
	OK(cudaGraphAddMemcpyNode1D(&node[3], graph, &node[2], 1, device, out, 8,
				    cudaMemcpyHostToDevice)); /* what the last one wrote */
	OK(cudaGraphAddEmptyNode(&empty, graph, &node[1], 1));
	node[4] = add(graph, &node[3], 1, device, 100);
	OK(cudaGraphAddDependencies(graph, &empty, &node[4], NULL, 1));
	OK(cudaGraphAddDependencies(graph, &node[0], &node[2], NULL, 1));
	cr_assert(eq(sz, nodes_of(graph), 6));
	check_needs(node[0], NULL, 0);
	check_needs(node[2], (cudaGraphNode_t[]){ node[1], node[0] }, 2);
	check_needs(node[3], &node[2], 1);
	check_needs(node[4], (cudaGraphNode_t[]){ node[3], empty }, 2);
	OK(cudaGraphNodeGetType(node[2], &type));
	cr_assert(eq(int, type, cudaGraphNodeTypeMemcpy));
	OK(cudaGraphNodeGetType(empty, &type));
	cr_assert(eq(int, type, cudaGraphNodeTypeEmpty));
	run(exec_of(graph));
	cr_assert(out[0] == 11 && out[1] == 20, "%d", (int)out[0]);
	OK(cudaMemcpy(in, device, 16, cudaMemcpyDeviceToHost));
	cr_assert(in[0] == 111 && in[1] == 20, "%d", (int)in[0]);
}

/* Rows that lie apart, from a corner, there and back. */
Test(small_remote_nodes, copies_and_sets_have_rows)
{
	uint8_t from[3][32], to[2][16] = { 0 }, *device = (uint8_t *)device_words(16);
	struct cudaMemcpy3DParms in = {
		.srcPtr = { from, 32, 32, 3 },
		.srcPos = { 4, 1, 0 },
		.dstPtr = { device, 64, 64, 2 },
		.extent = { 12, 2, 1 },
		.kind = cudaMemcpyHostToDevice,
	};
	struct cudaMemcpy3DParms out = {
		.srcPtr = { device, 64, 64, 2 },
		.dstPtr = { to, 16, 16, 2 },
		.extent = { 12, 2, 1 },
		.kind = cudaMemcpyDeviceToHost,
	};
	struct cudaMemsetParams set = { .dst = device,
					.pitch = 64,
					.value = 0xabcd,
					.elementSize = 2,
					.width = 2,
					.height = 2 };
	cudaGraph_t graph = new_graph();
	cudaGraphNode_t node[3];

	for (int i = 0; i < 96; i++)
		from[i / 32][i % 32] = (uint8_t)(i + 1);
	OK(cudaGraphAddMemcpyNode(&node[0], graph, NULL, 0, &in));
	OK(cudaGraphAddMemsetNode(&node[1], graph, &node[0], 1, &set));
	OK(cudaGraphAddMemcpyNode(&node[2], graph, &node[1], 1, &out));
	run(exec_of(graph));
	for (int i = 0; i < 32; i++) {
		int column = i % 16;
		int want = column >= 12 ? 0
			   : column < 4 ? (column % 2 ? 0xab : 0xcd)
					: from[1 + i / 16][4 + column];

		cr_assert(eq(int, to[i / 16][column], want), "byte %d", i);
	}
}

/* Both sides are memory of CUDA's. */
Test(small_remote_nodes, a_copy_on_the_device_is_a_command)
{
	uint64_t *device = device_words(4), got[2] = { 0 };
	struct cudaMemcpy3DParms within = row(device + 2, device, 16, cudaMemcpyDeviceToDevice);
	cudaGraph_t graph = new_graph();
	cudaGraphNode_t node[2];

	node[0] = add(graph, NULL, 0, device + 1, 9);
	OK(cudaGraphAddMemcpyNode(&node[1], graph, &node[0], 1, &within));
	run(exec_of(graph));
	OK(cudaMemcpy(got, device + 2, 16, cudaMemcpyDeviceToHost));
	cr_assert(got[0] == 0 && got[1] == 9, "%d", (int)got[1]);
}

/* A graph that a capture has made can go on: what comes behind a copy to the program's memory finds
 * it there. */
Test(small_remote_nodes, a_captured_graph_takes_more)
{
	uint64_t own = 5, back = 0, *device = device_words(2);
	cudaStream_t stream;
	cudaGraph_t graph;
	cudaGraphNode_t node[2], more;
	size_t n = 2;

	OK(cudaStreamCreate(&stream));
	OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
	OK(cudaMemcpyAsync(device, &own, 8, cudaMemcpyHostToDevice, stream));
	OK(cudaMemcpyAsync(&back, device, 8, cudaMemcpyDeviceToHost, stream));
	OK(cudaStreamEndCapture(stream, &graph));
	OK(cudaGraphGetNodes(graph, node, &n));
	cr_assert(eq(sz, n, 2));
	OK(cudaGraphAddMemcpyNode1D(&more, graph, &node[1], 1, device + 1, &back, 8,
				    cudaMemcpyHostToDevice));
	check_needs(more, &node[1], 1);
	more = add(graph, &more, 1, device + 1, 3);
	run(exec_of(graph));
	OK(cudaMemcpy(&own, device + 1, 8, cudaMemcpyDeviceToHost));
	cr_assert(eq(u64, own, 8));
}

Test(small_remote_nodes, many_are_as_good_as_few)
{
	enum { NODES = 600 };
	uint64_t *device = device_words(1), got = 0;
	static cudaGraphNode_t node[NODES + 1];
	cudaGraph_t graph = new_graph();

	for (int i = 0; i < NODES; i++)
		node[i] = add(graph, &node[i ? i - 1 : 0], i > 0, device, (uint64_t)i);
	OK(cudaGraphAddEmptyNode(&node[NODES], graph, node, NODES));
	run(exec_of(graph));
	OK(cudaMemcpy(&got, device, 8, cudaMemcpyDeviceToHost));
	cr_assert(eq(u64, got, NODES * (NODES - 1) / 2));
	OK(cudaGraphDestroy(graph));
}

Test(small_remote_nodes, what_is_wrong_is_refused)
{
	uint64_t own = 0, *device = device_words(1);
	cudaGraph_t graph = new_graph(), other = new_graph(), none;
	cudaGraphNode_t node = add(graph, NULL, 0, device, 1), out;
	cudaGraphNode_t foreign = add(other, NULL, 0, device, 1);
	struct cudaMemcpy3DParms layers = row(device, &own, 8, cudaMemcpyHostToDevice);
	struct cudaMemsetParams set = { .dst = device, .elementSize = 3, .width = 1, .height = 1 };
	cudaGraphEdgeData port = { 1, 0, 0, { 0 } };

	FAILS(cudaGraphCreate(&none, 7), cudaErrorInvalidValue);
	FAILS(cudaGraphAddEmptyNode(&out, graph, &foreign, 1), cudaErrorInvalidValue);
	FAILS(cudaGraphAddKernelNode(&out, graph, NULL, 0, NULL), cudaErrorInvalidValue);
	FAILS(cudaGraphAddMemsetNode(&out, graph, NULL, 0, &set), cudaErrorInvalidValue);
	set.elementSize = 4;
	set.width = 3;
	FAILS(cudaGraphAddMemsetNode(&out, graph, NULL, 0, &set), cudaErrorInvalidValue);
	FAILS(cudaGraphAddMemcpyNode1D(&out, graph, NULL, 0, device, &own, 16,
				       cudaMemcpyHostToDevice),
	      cudaErrorInvalidValue);
	FAILS(cudaGraphAddMemcpyNode1D(&out, graph, NULL, 0, &own, &own, 8, cudaMemcpyHostToDevice),
	      cudaErrorInvalidValue);
	layers.extent.depth = 2;
	FAILS(cudaGraphAddMemcpyNode(&out, graph, NULL, 0, &layers), cudaErrorNotSupported);
	FAILS(cudaGraphAddDependencies(graph, &node, &node, NULL, 1), cudaErrorInvalidValue);
	FAILS(cudaGraphAddDependencies(graph, &node, &foreign, NULL, 1), cudaErrorInvalidValue);
	FAILS(cudaGraphAddDependencies(graph, &node, &node, &port, 1), cudaErrorNotSupported);
	cr_assert(eq(sz, nodes_of(graph), 1));
	OK(cudaGraphDestroy(graph));
	FAILS(cudaGraphAddEmptyNode(&out, graph, NULL, 0), cudaErrorInvalidValue);
}

/* ---- the same by way of a daemon ---------------------------------------------------------- */

enum { TESTS = 7 };

static void passes_with(bool strict)
{
	passes_as_client("small_remote_nodes/*", TESTS, strict, NULL);
}

Test(small_remote_nodes_daemon, all_pass_by_way_of_it)
{
	passes_with(false);
	passes_with(true);
}

Test(small_remote_nodes_daemon, all_pass_where_one_process_serves)
{
	own_is_shared = true;
	passes_with(false);
}

Test(small_remote_nodes_daemon, all_pass_over_a_unix_socket)
{
	own_transport = REMOTE_UNIX;
	passes_with(false);
}

Test(small_remote_nodes_daemon, all_pass_over_tcp)
{
	own_transport = REMOTE_TCP;
	passes_with(false);
}

/* ---- commands, one by one ----------------------------------------------------------------- */

static struct session own_session(void)
{
	static uint8_t blocks[2 * REMOTE_BLOCKS][REMOTE_BLOCK_BYTES];

	return session_new(backend_cpu(), UINT64_C(0x7e8000000000), blocks[0],
			   blocks[REMOTE_BLOCKS], 1 << 20);
}

#define ASK(op, ...)                                                                               \
	command_error(&s, &answer, op, "", (const uint64_t[]){ __VA_ARGS__ },                      \
		      sizeof((uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))

/* With places of nodes behind the words. */
static int add_with(struct session *s, enum remote_op op, const uint64_t *word, size_t words,
		    const uint64_t *places, size_t n)
{
	static struct remote_answer answer;
	_Alignas(16) uint8_t bytes[256] = { 0 };
	struct remote_command *c = (struct remote_command *)bytes;

	*c = (struct remote_command){
		.bytes = remote_command_bytes((unsigned)words, (uint32_t)(8 * n)),
		.op = (uint16_t)op,
		.flags = REMOTE_ANSWERED,
		.payload = (uint32_t)(8 * n),
	};
	memcpy(c->word, word, 8 * words);
	memcpy(c->word + words, places, 8 * n);
	cr_assert(session_do(s, c, c->bytes, &answer));
	return answer.error;
}

/* The daemon's own memory is out of reach, whichever node names it. */
Test(small_remote_nodes_daemon, addresses_of_its_own_are_refused)
{
	static struct remote_answer answer;
	static uint64_t secret = 42;
	uint64_t there = word_of(&secret), own;
	struct session s = own_session();

	cr_assert(zero(int, ASK(REMOTE_MALLOC, 64)));
	memcpy(&own, answer.data, sizeof(own));
	cr_assert(zero(int, ASK(REMOTE_GRAPH_CREATE, 0)));
	cr_assert(eq(int, ASK(REMOTE_ADD_COPY, 0, there, 8, own, 8, 8, 1, 4), 1));
	cr_assert(eq(int, ASK(REMOTE_ADD_COPY, 0, own, 8, there, 8, 8, 1, 4), 1));
	cr_assert(eq(int, ASK(REMOTE_ADD_COPY, 0, own, 40, own, 8, 8, 3, 4), 1));
	cr_assert(eq(int, ASK(REMOTE_ADD_COPY, 0, own, 4, own, 4, 8, 2, 4), 1));
	cr_assert(eq(int, ASK(REMOTE_ADD_SET, 0, there, 8, 0, 4, 2, 1), 1));
	cr_assert(eq(int, ASK(REMOTE_ADD_SET, 0, own, 40, 0, 4, 2, 3), 1));
	cr_assert(eq(int, ASK(REMOTE_ADD_SET, 0, own, 40, 0, 4, UINT64_C(1) << 62, 1), 1));
	cr_assert(eq(int, ASK(REMOTE_ADD_HOST_COPY, 0, 9, there, 8, 8, 1, 1), 1));
	cr_assert(eq(int, ASK(REMOTE_ADD_HOST_COPY, 0, 9, own, 8, UINT64_C(1) << 40, 1, 0), 1));
	cr_assert(eq(int, ASK(REMOTE_ADD_EMPTY, 1), 1));
	cr_assert(zero(int, ASK(REMOTE_ADD_HOST_COPY, 0, 9, own, 8, 8, 8, 1)));
	cr_assert(eq(u64, s.memory_bytes, 128));
	cr_assert(zero(int, ASK(REMOTE_GRAPH_DESTROY, 0)));
	cr_assert(zero(int, ASK(REMOTE_MEM_INFO)));
	cr_assert(eq(u64, s.memory_bytes, 64), "its buffer counts no longer");
	cr_assert(eq(u64, secret, 42));
	session_close(&s);
}

static void check_edge(const struct served_graph *g, size_t from, size_t to)
{
	cudaGraphNode_t need;
	size_t n = 1;

	OK(cudaGraphNodeGetDependencies(g->node[to].first, &need, NULL, &n));
	cr_assert(n == 1 && need == g->node[from].last, "%zu of %zu nodes", n, to);
}

/* The CPU device runs nodes in their order, whatever their edges: here these are looked at. What
 * needs a copy to the client's memory needs what moves that; and a copy from it is needed there. */
Test(small_remote_nodes_daemon, who_needs_a_copy_needs_what_moves_its_memory)
{
	static struct remote_answer answer;
	struct session s = own_session();
	struct served_graph *g;
	uint64_t own, one = 1, edge[2] = { 1, 3 };
	int err;

	cr_assert(zero(int, ASK(REMOTE_MALLOC, 64)));
	memcpy(&own, answer.data, sizeof(own));
	cr_assert(zero(int, ASK(REMOTE_STREAM_CREATE, 0, 1, 0)));
	cr_assert(zero(int, ASK(REMOTE_CAPTURE_BEGIN, REMOTE_OWN, 2)));
	cr_assert(zero(int, ASK(REMOTE_HOST_COPY, 7, REMOTE_OWN, own, 8, 8, 1, 1)));
	cr_assert(zero(int, ASK(REMOTE_HOST_COPY, 8, REMOTE_OWN, own, 8, 8, 1, 0)));
	cr_assert(zero(int, ASK(REMOTE_CAPTURE_END, REMOTE_OWN, 5)));
	cr_assert(eq(int, ASK(REMOTE_HOST_COPY, 8, REMOTE_OWN, own, 8, 8, 1, 0), 1), "no capture");
	g = graph_find(&s, 5, &err);
	cr_assert(g != NULL);
	cr_assert(eq(sz, g->nodes, 2));
	check_edge(g, 0, 1);
	for (size_t i = 0; i < 2; i++)
		cr_assert(i ? g->node[i].last != g->node[i].node
			    : g->node[i].first != g->node[i].node);
	cr_assert(zero(int, add_with(&s, REMOTE_ADD_EMPTY, (uint64_t[]){ 5 }, 1, &one, 1)));
	check_edge(g, 1, 2);
	cr_assert(zero(int, ASK(REMOTE_ADD_HOST_COPY, 5, 9, own, 8, 8, 1, 1)));
	cr_assert(zero(int, add_with(&s, REMOTE_ADD_NEEDS, (uint64_t[]){ 5 }, 1, edge, 2)));
	check_edge(g, 1, 3);
	cr_assert(eq(int,
		     add_with(&s, REMOTE_ADD_EMPTY, (uint64_t[]){ 5 }, 1, (uint64_t[]){ 4 }, 1),
		     1));
	session_close(&s);
}

static void are_refused(bool by_socket)
{
	fuzz_new_record();
	passes_as_client("small_remote_nodes/*", TESTS, false, fuzz_watch);
	fuzz_session(&harmless, NULL, REMOTE_GRAPH_CREATE, REMOTE_ADD_NEEDS, fuzz_messages(),
		     by_socket);
}

Test(small_remote_nodes_daemon, damaged_commands_are_refused)
{
	are_refused(false);
}

Test(small_remote_nodes_daemon, damaged_messages_of_a_socket_are_refused)
{
	are_refused(true);
}
