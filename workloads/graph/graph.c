/*
 * graph.c - the graph workload: its parameters, its steps and its entry in the table.
 *
 * A step is one call on a CUDA graph of a chosen shape (op=):
 *
 *   launch, alternate    cudaGraphLaunch of one that was launched before; of two in turn
 *   first, upload        launch or upload of one that was instantiated just before
 *   capture              capture of all nodes, in one stream for each chain
 *   instantiate          cudaGraphInstantiate
 *   update, params       changes of an executable graph
 *   eager                none: the same nodes, given to streams one by one
 *
 * shape.c builds graphs, setup.c makes them before the measurement, check.c counts how often each
 * node has run. measure.c and samples.c time every call by itself (probe=yes).
 */
#include "workloads/graph/graph.h"

#include <errno.h>

#include "common/cuda_check.h"

static const char *const topologies[] = { "line", "chains", "rooted", "forkjoin", NULL };
static const char *const kinds[] = { "kernel", "memset", "memcpy",   "mixed", "h2d",
				     "d2h",    "staged", "streamed", NULL };
static const char *const orders[] = { "kept", "shuffled", "levels", "late", NULL };
static const char *const ops[] = { "launch", "alternate", "first",  "capture", "instantiate",
				   "upload", "update",	  "params", "eager",   NULL };
static const char *const probes[] = { "no", "yes", "quick", "one", NULL };

/* clang-format off */
static const struct param params[] = {
	PARAM_AXIS(graph_opts, length, "nodes", "100", 1, GRAPH_LENGTH_MAX,
		   "1,2,5,10,20,50,100,200,500,1025,2048", "nodes of a chain"),
	PARAM_CHOICE_ASIDE(graph_opts, topology, "line", topologies, "line,chains,rooted,forkjoin",
		   "one chain, several, several with a common root, with a common root and end"),
	PARAM_INT(graph_opts, width, "chains", "4", 1, GRAPH_WIDTH_MAX, "chains side by side"),
	PARAM_CHOICE_ASIDE(graph_opts, node, "kernel", kinds, "kernel,memset,memcpy,mixed",
		   "kind of nodes; mixed: these three in turn; staged: h2d and kernel in turn; "
		   "streamed: h2d, kernel and d2h in turn"),
	PARAM_SIZE(graph_opts, bytes, "bytes", "8", 8, GRAPH_COPY_MAX,
		   "size of a copy between host and device, a multiple of 8"),
	PARAM_INT(graph_opts, copies, "copies", "1", 1, GRAPH_COPIES_MAX,
		   "copies to the device before each kernel of staged and streamed nodes"),
	PARAM_INT_ASIDE(graph_opts, us, "us", "0", 0, GRAPH_US_MAX, "0,5",
		   "nominal duration of a kernel; 0 is the empty kernel"),
	PARAM_INT(graph_opts, first_us, "us", "0", 0, GRAPH_US_MAX,
		   "nominal duration of kernels of the first chain; 0: as us"),
	PARAM_CHOICE(graph_opts, order, "kept", orders,
		   "order in which nodes of several chains are made: chain by chain, any, level by "
		   "level, or the first chain last"),
	PARAM_CHOICE_ASIDE(graph_opts, op, "launch", ops,
		   "launch,alternate,first,capture,instantiate,upload,update,params",
		   "call that a step makes; eager: no graph, nodes go into streams one by one"),
	PARAM_CHOICE(graph_opts, probe, "no", probes,
		   "measure every call instead; one: at this length alone"),
	PARAM_END
};
/* clang-format on */

static const struct param_need needs[] = {
	{ "width", "topology=chains|rooted|forkjoin" },
	{ "order", "topology=chains|rooted|forkjoin" },
	{ "bytes", "node=h2d|d2h|staged|streamed" },
	{ "copies", "node=staged|streamed" },
	{ "us", "node=kernel|mixed|staged|streamed" },
	{ "first_us", "node=kernel|mixed|staged|streamed" },
	{ "first_us", "topology=chains|rooted|forkjoin" },
	{ "op", "probe=no" },
	{ NULL, NULL },
};

/* Sessions from before them have no others. */
static const char *const added[] = { "bytes", "copies", "first_us", NULL };

/* ---- limits ----------------------------------------------------------------------------- */

/* Calls that leave a graph behind, or use one up. */
static bool keeps_graphs(enum graph_op op)
{
	return op == GRAPH_FIRST || op == GRAPH_CAPTURE || op == GRAPH_INSTANTIATE ||
	       op == GRAPH_UPLOAD;
}

int graph_limits(const void *opts, struct limits *out)
{
	const struct graph_opts *o = opts;
	bool kernels = o->node == GRAPH_KERNEL || o->node == GRAPH_MIXED ||
		       o->topology == GRAPH_ROOTED || o->topology == GRAPH_FORKJOIN;
	int64_t copies = graph_copies(o) + graph_copies_back(o);

	if (o->op == GRAPH_PARAMS && !kernels && !graph_stages((enum graph_kind)o->node))
		return complain(EINVAL, "op=params sets arguments of kernels, but node=%s has none",
				kinds[o->node]);
	if (o->op == GRAPH_PARAMS && graph_stages((enum graph_kind)o->node))
		return complain(EINVAL,
				"op=params sets arguments of kernels that depend on no copy, which "
				"node=%s has not",
				kinds[o->node]);
	if (o->bytes % 8)
		return complain(EINVAL, "bytes=%ld: must be a multiple of 8", (long)o->bytes);
	if (copies * o->bytes > GRAPH_COPIED_MAX)
		return complain(
			EINVAL,
			"bytes=%ld: %ld copies of that size are more than %d MiB; at most %ld "
			"bytes each",
			(long)o->bytes, (long)copies, GRAPH_COPIED_MAX >> 20,
			(long)(GRAPH_COPIED_MAX / copies / 8 * 8));
	out->mode_refused[MODE_GRAPH] =
		o->op == GRAPH_EAGER
			? "op=eager is what graphs are compared with"
			: "a step is a call about graphs, which cannot be part of a graph";
	if (keeps_graphs((enum graph_op)o->op)) {
		out->depth_max = GRAPH_KEPT_MAX;
		out->depth_why = "each step takes a graph of its own";
	}
	out->depth_run = 16;
	out->action = o->probe != GRAPH_NO;
	return 0;
}

/* ---- steps ------------------------------------------------------------------------------ */

/* Graphs that steps will use up are made outside the clock, as many as a block has needed. */
int graph_reset(const void *opts, void *state, cudaStream_t stream)
{
	const struct graph_opts *o = opts;
	struct graph_state *s = state;

	if (s->used > s->wanted)
		s->wanted = s->used < GRAPH_KEPT_MAX ? s->used : GRAPH_KEPT_MAX;
	graph_drop(s);
	if (o->op == GRAPH_FIRST || o->op == GRAPH_UPLOAD)
		while (s->made < s->wanted)
			graph_instantiate(s);
	s->steps = 0;
	graph_clear(s, stream);
	return 0;
}

/* The next one that was never launched. In the first block there may be none left. */
static cudaGraphExec_t instantiate_fresh(struct graph_state *s)
{
	if (s->used == s->made)
		graph_instantiate(s);
	return s->kept[s->used++ % GRAPH_KEPT_MAX];
}

static void update_exec(struct graph_state *s)
{
	cudaGraph_t to = s->updates++ % 2 ? s->graph : s->other;
	cudaGraphExecUpdateResultInfo info;

	CUDA(cudaGraphExecUpdate(s->exec[0], to, &info));
}

void graph_set_params(struct graph_state *s, int64_t i, unsigned add)
{
	unsigned long long *word = s->trace + s->kernel_number[i], amount = add;
	void *args[] = { &word, &amount, &s->cycles };
	struct cudaKernelNodeParams p = { .func = (void *)graph_kernel(),
					  .gridDim = { 1, 1, 1 },
					  .blockDim = { GRAPH_THREADS, 1, 1 },
					  .kernelParams = args };

	CUDA(cudaGraphExecKernelNodeSetParams(s->exec[0], s->kernel[i], &p));
	s->add[s->kernel_number[i]] = (unsigned char)add;
}

static void set_next_params(struct graph_state *s)
{
	int64_t i = s->updates % s->kernels, round = s->updates / s->kernels;

	graph_set_params(s, i, GRAPH_ADD_PARAMS + (unsigned)(round % 2));
	s->updates++;
}

int graph_step(const void *opts, void *state, cudaStream_t stream)
{
	const struct graph_opts *o = opts;
	struct graph_state *s = state;

	switch ((enum graph_op)o->op) {
	case GRAPH_LAUNCH:
		CUDA(cudaGraphLaunch(s->exec[0], stream));
		break;
	case GRAPH_ALTERNATE:
		CUDA(cudaGraphLaunch(s->exec[s->steps % 2], stream));
		break;
	case GRAPH_FIRST:
		CUDA(cudaGraphLaunch(instantiate_fresh(s), stream));
		break;
	case GRAPH_CAPTURE:
		graph_keep(s, graph_capture(s, GRAPH_ADD));
		break;
	case GRAPH_INSTANTIATE:
		graph_instantiate(s);
		break;
	case GRAPH_UPLOAD:
		CUDA(cudaGraphUpload(instantiate_fresh(s), stream));
		break;
	case GRAPH_UPDATE:
		update_exec(s);
		break;
	case GRAPH_EAGER:
		graph_enqueue(s, GRAPH_ADD, stream);
		break;
	default:
		set_next_params(s);
	}
	s->steps++;
	return 0;
}

/* ---- cost ------------------------------------------------------------------------------- */

static int cost(const void *opts, const void *state, struct cost *out)
{
	const struct graph_opts *o = opts;
	bool eager = o->op == GRAPH_EAGER, runs = graph_runs((enum graph_op)o->op);
	struct copies copies = { (double)graph_copies(o), (double)(graph_copies(o) * o->bytes) };
	struct copies back = { (double)graph_copies_back(o),
			       (double)(graph_copies_back(o) * o->bytes) };

	(void)state;
	*out = (struct cost){
		.launches = eager ? (double)graph_kernels(o) : runs,
		.bytes_moved = runs ? 16.0 * (double)graph_nodes(o) : 0,
		.evaluations = (double)graph_nodes(o),
		.evaluation = "node",
		.formula = eager ? "a launch of each kernel; nodes x 16 B, a word read and written"
				 : "one launch of a graph; nodes x 16 B, a word read and written",
	};
	if (!runs || !copies.calls)
		return 0;
	out->bytes_transferred = copies.bytes + back.bytes;
	out->to_host = o->node == GRAPH_D2H ? copies : back;
	if (o->node != GRAPH_D2H)
		out->to_device = copies;
	out->formula = eager ? "a launch of each kernel; nodes x 16 B, and what copies carry"
			     : "one launch of a graph; nodes x 16 B, and what copies carry";
	return 0;
}

const struct workload workload_graph = {
	.name = "graph",
	.summary =
		"CUDA graphs of a chosen shape: what capturing, instantiating and launching cost",
	.source = "NVIDIA's cudaGraphsPerfScaling sample: what it measures, and the latch kernel",
	.step_unit = "a call that has to do with a graph",
	.params = params,
	.needs = needs,
	.added = added,
	.opts_size = sizeof(struct graph_opts),
	.state_size = sizeof(struct graph_state),
	.limits = graph_limits,
	.setup = graph_setup,
	.reset = graph_reset,
	.step = graph_step,
	.check = graph_check,
	.report = graph_report,
	.plot = graph_plot,
	.cost = cost,
	.teardown = graph_teardown,
};
