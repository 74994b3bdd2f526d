/*
 * graph.h - the graph workload: CUDA graphs of a chosen shape, and each call that has to do with
 * them.
 *
 * A step is one such call (`op`): mostly the launch of a graph. Options and what they mean:
 * README.md.
 */
#ifndef RIFT_GRAPH_H
#define RIFT_GRAPH_H

#include <stdbool.h>

#include "common/pattern.h"
#include "workloads/workload.h"

#ifdef __cplusplus
extern "C" {
#endif

enum graph_topology {
	GRAPH_LINE,	/* one chain */
	GRAPH_CHAINS,	/* `width` chains that know nothing of each other */
	GRAPH_ROOTED,	/* one more kernel before all of them */
	GRAPH_FORKJOIN, /* and one behind all of them */
};
enum graph_kind {
	GRAPH_KERNEL,
	GRAPH_MEMSET,
	GRAPH_MEMCPY, /* within the device */
	GRAPH_MIXED,  /* these three in turn */
	GRAPH_H2D,    /* copies from the host, and to it */
	GRAPH_D2H,
	GRAPH_STAGED,	/* copies from the host and a kernel in turn */
	GRAPH_STREAMED, /* copies from the host, a kernel and a copy to the host in turn */
};
/* In which order nodes of several chains are made. */
enum graph_order {
	GRAPH_KEPT, /* chain by chain */
	GRAPH_SHUFFLED,
	GRAPH_LEVELS, /* the first node of each chain, then the second of each ... */
	GRAPH_LATE,   /* chain by chain, the first chain last */
};
enum graph_op {
	GRAPH_LAUNCH,	   /* of a graph that was launched before */
	GRAPH_ALTERNATE,   /* of two in turn */
	GRAPH_FIRST,	   /* of one that was never launched, nor uploaded */
	GRAPH_CAPTURE,	   /* all nodes, by launching into streams that are captured */
	GRAPH_INSTANTIATE, /* cudaGraphInstantiate */
	GRAPH_UPLOAD,	   /* cudaGraphUpload of one that was never launched */
	GRAPH_UPDATE,	   /* cudaGraphExecUpdate to a graph with other arguments */
	GRAPH_PARAMS,	   /* cudaGraphExecKernelNodeSetParams of one node */
	GRAPH_EAGER,	   /* no graph: all nodes into streams, as they would be captured */
	GRAPH_OPS,
};
enum graph_probe { GRAPH_NO, GRAPH_YES, GRAPH_QUICK, GRAPH_ONE };

struct graph_opts {
	int64_t length;
	int topology; /* enum graph_topology */
	int64_t width;
	int node;	/* enum graph_kind */
	int64_t bytes;	/* of a copy between host and device */
	int64_t copies; /* to the device before a kernel that hangs on them */
	int64_t us, first_us;
	int order; /* enum graph_order */
	int op;	   /* enum graph_op */
	int probe; /* enum graph_probe */
};

enum {
	GRAPH_LENGTH_MAX = 4096,
	GRAPH_WIDTH_MAX = 16,
	GRAPH_US_MAX = 1000,
	GRAPH_KEPT_MAX = 64, /* graphs that calls made, or need, between two resets */
	GRAPH_THREADS = 32,
	GRAPH_COPY_MAX = 64 << 20,
	GRAPH_COPIES_MAX = 16,	    /* before a kernel */
	GRAPH_COPIED_MAX = 1 << 30, /* bytes of all copies of a graph */
};

/* What a run of a kernel node adds to its word: tells one graph from another, and from none. */
enum graph_adds { GRAPH_ADD = 1, GRAPH_ADD_OTHER = 3, GRAPH_ADD_PARAMS = 5 };

/* Which nodes there are, and in which order they are made. */
struct graph_shape {
	int width;
	int64_t length, nodes;
	int64_t edges, roots; /* that come of it */
	bool root, end;	      /* kernels before and behind all chains: the last nodes by number */
	enum graph_kind kind;
	unsigned char *order;	    /* [width * length]: the chain of each node, as they are made */
	int64_t copies, copy_bytes; /* between host and device */
	int64_t before_kernel;	    /* staged, streamed: copies to the device */
	int64_t copies_back;	    /* streamed: of the last copy before each kernel */
};

/*
 * What copies between host and device are from and to: copy k has the pattern's words from
 * k * copy_bytes / 8 on. One end is pinned memory of the host, the other one of the device. Where
 * nodes are streamed, what a kernel hangs on is copied back to `back`.
 */
struct graph_areas {
	unsigned long long *from, *to, *zero; /* zero: of the device, to clear the host's by */
	unsigned long long *back;	      /* pinned memory of the host */
	struct pattern_wrong *wrong;	      /* device memory */
};

struct graph_state {
	struct graph_shape shape;
	unsigned long long cycles;	 /* of a kernel node */
	unsigned long long first_cycles; /* of the first chain's */
	struct graph_areas areas;
	/* Device memory: when each chain's last kernel ended, and behind them when a launch began;
	 * staged nodes only. */
	unsigned long long *ends;
	unsigned long long *trace;  /* device memory: a word a node */
	unsigned long long *source; /* device memory: what memcpy nodes copy from */
	unsigned long long *found;  /* the trace on the host, for checks */
	unsigned char *add;	    /* what runs of kernel nodes of exec[0] add */
	cudaStream_t stream[GRAPH_WIDTH_MAX];
	cudaEvent_t forked, joined[GRAPH_WIDTH_MAX];
	cudaGraph_t graph, other; /* the latter with GRAPH_ADD_OTHER */
	cudaGraphExec_t exec[2];  /* of graph, both uploaded and launched once */
	cudaGraphNode_t *kernel;  /* nodes of graph that are kernels */
	int64_t *kernel_number;	  /* and their numbers */
	int64_t kernels;
	/* Graphs of steps since the reset: the last ones that steps made, or that were made for
	 * them. */
	cudaGraph_t kept_graph[GRAPH_KEPT_MAX];
	cudaGraphExec_t kept[GRAPH_KEPT_MAX];
	int64_t made, used; /* since the reset; number i is at i mod GRAPH_KEPT_MAX */
	int64_t wanted;	    /* the most that a block has used */
	int64_t steps;	    /* since the reset */
	int64_t updates;    /* since the setup */
	char (*names)[REPORT_ROWS_MAX][32]; /* of rows of a report */
};

/* ---- hooks, and what they share --------------------------------------------------------- */

int graph_limits(const void *opts, struct limits *out);
int graph_setup(const void *opts, void *state);
int graph_reset(const void *opts, void *state, cudaStream_t stream);
int graph_step(const void *opts, void *state, cudaStream_t stream);
int graph_check(const void *opts, void *state, int64_t steps, struct verdict *verdict);
int graph_report(const void *opts, void *state, struct report *out);
int graph_plot(const void *opts, void *state, struct plot *plot);
void graph_teardown(void *state);

/* The part of setup that makes graphs; 0, or a negative errno after one line. */
int graph_prepare(const struct graph_opts *o, struct graph_state *s);

/* Enqueues: words of the trace to 0. */
/* After a refusal: no stream is left capturing. */
void graph_end_captures(struct graph_state *s);
void graph_clear(struct graph_state *s, cudaStream_t stream);

/* Frees what steps have kept. */
void graph_drop(struct graph_state *s);

/* One more executable graph of s->graph, not uploaded, in the place of the oldest one. */
void graph_instantiate(struct graph_state *s);

/* The same with a graph, which is owned from here on. */
void graph_keep(struct graph_state *s, cudaGraph_t graph);

/* Points kernel node number i of exec[0] at another number to add. */
void graph_set_params(struct graph_state *s, int64_t i, unsigned add);

/*
 * Words of the trace that do not say that every node ran `runs` times: kernel nodes exactly so,
 * each run adding add[node] (or `one` where add is NULL); copies and sets, which leave the same
 * bytes every time, at least once. After a synchronize. The first one that does not is told.
 */
int64_t graph_wrong(struct graph_state *s, int64_t runs, const unsigned char *add, unsigned one,
		    char *worst, size_t size);

/* ---- copies between host and device (areas.c) ---------------------------------------------- */

/* 0, or -ENOMEM after one line. */
int graph_areas_init(struct graph_areas *a, const struct graph_shape *shape);
void graph_areas_release(struct graph_areas *a, const struct graph_shape *shape);

/* Enqueues: nothing has been copied. */
void graph_areas_clear(const struct graph_areas *a, const struct graph_shape *shape,
		       cudaStream_t stream);

/* Captures copy k: to the device or to the host; of streamed nodes the latter is its copy back. */
void graph_areas_copy(const struct graph_areas *a, const struct graph_shape *shape, bool to_host,
		      int64_t k, cudaStream_t stream);

/* Its last word, on the device, where a kernel behind it looks. */
const unsigned long long *graph_areas_last(const struct graph_areas *a,
					   const struct graph_shape *shape, int64_t k);

/* Words that are not as they should be after a run, or without any. *first: the first one. */
int64_t graph_areas_wrong(const struct graph_areas *a, const struct graph_shape *shape, bool ran,
			  int64_t *first);

/* ---- shapes (shape.c) --------------------------------------------------------------------- */

int64_t graph_nodes(const struct graph_opts *o);

void graph_shape_init(struct graph_shape *shape, const struct graph_opts *o);
void graph_shape_release(struct graph_shape *shape);

enum graph_kind graph_node_kind(const struct graph_shape *shape, int64_t node);

/* Copies between host and device that a graph has, and how many back. */
int64_t graph_copies(const struct graph_opts *o);
int64_t graph_copies_back(const struct graph_opts *o);

/* Do kernels hang on copies? */
bool graph_stages(enum graph_kind kind);

/* Which of them a node is, or copies back; of a kernel, the last one that it hangs on. */
int64_t graph_copy_number(const struct graph_shape *shape, int64_t node);

/* Which of them copy back number i copies; these are chain by chain, too. */
int64_t graph_copied_back(const struct graph_shape *shape, int64_t i);

/* Captures all nodes, whose kernels add `add`. Nothing of it may be in flight. */
cudaGraph_t graph_capture(struct graph_state *s, unsigned add);

/* The same graph, node by node (nodes.c); not of copies between host and device. */
bool graph_can_be_made(const struct graph_shape *shape);
cudaGraph_t graph_make(const struct graph_state *s, unsigned add);

/* Enqueues all nodes, the first chain and what joins the others in `stream`. */
void graph_enqueue(const struct graph_state *s, unsigned add, cudaStream_t stream);

/* Do nodes run in a step of this kind? */
static inline bool graph_runs(enum graph_op op)
{
	return op == GRAPH_LAUNCH || op == GRAPH_ALTERNATE || op == GRAPH_FIRST ||
	       op == GRAPH_EAGER;
}

/* Kernels among the nodes. */
int64_t graph_kernels(const struct graph_opts *o);

/*
 * Nodes, edges and roots of a graph that are missing, or too many. Where a layer refuses to say
 * what a node hangs on, *edges_hidden becomes true, and it is nodes alone.
 */
int64_t graph_misshapen(const struct graph_shape *shape, cudaGraph_t graph, bool *edges_hidden);

/* What a memset node writes to the first 4 bytes of its word, and a memcpy node to all of it. */
unsigned long long graph_set_word(int64_t node);
unsigned long long graph_copied_word(int64_t node);

/* ---- kernels (kernels.cu) ----------------------------------------------------------------- */

/* (unsigned long long *word, unsigned long long add, unsigned long long cycles) */
const void *graph_kernel(void);

/*
 * (word, add, cycles, const unsigned long long *copied, unsigned long long expected,
 *  unsigned long long *ended): adds 2^32 more where *copied is not what is expected, and leaves
 * the device's time, in ns, at its end. The last pointers may be NULL.
 */
const void *graph_staged_kernel(void);

/* Enqueues: the device's time, in ns, to *at. */
void graph_stamp_time(unsigned long long *at, cudaStream_t stream);

void graph_load_kernels(void);

extern const struct workload workload_graph;

#ifdef __cplusplus
}
#endif
#endif
