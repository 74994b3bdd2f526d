/*
 * stream.h - the floor of streams: operations, what they refer to, and the queues that they wait
 * in (CPU device, internal).
 *
 * A stream is a queue and a thread that runs it. An operation is an entry of a queue, or a node of
 * a graph. What it refers to lives as long as it does: streams and events that it waits for, and
 * lists of other operations, which are what a launch of a graph runs.
 *
 * This floor carries what a capture keeps with a stream and with an event, and never looks at it.
 */
#ifndef RIFT_CPU_STREAM_H
#define RIFT_CPU_STREAM_H

#include "common/cpu/kernel/kernel.h"

/* ---- what captures keep here (the floor of graphs) ------------------------------------- */

struct capture;
struct node;

struct node_set {
	struct node **node;
	size_t n;
};

/* What an event that was recorded in a capture stands for. */
struct capture_point {
	atomic_uint_least64_t id; /* of the capture; 0: recorded outside, or never */
	struct node_set nodes;
};

/* ---- operations (op.c) ----------------------------------------------------------------- */

struct stream;
struct event;
struct exec;
struct body;

/* So many operations of a stream: who waits for it waits until they are done. Holds a reference. */
struct stream_point {
	struct stream *stream; /* NULL: nothing is waited for */
	uint64_t count;
};

enum op_kind {
	OP_COPY,
	OP_SET,
	OP_KERNEL,
	OP_RECORD,
	OP_WAIT,
	OP_JOIN,
	OP_HOST,
	OP_GRAPH,
	OP_CHILD, /* a graph as a node of another: only graph.body counts */
	OP_EMPTY, /* a node without work */
	OP_FREE,
	OP_QUIT
};

enum { OP_ROOM_BYTES = 256 }; /* arguments that fit into an op; larger ones are allocated */

/* An entry of a stream's queue or a node of a graph. */
struct op {
	struct op *next;
	enum op_kind kind;
	char tag;	   /* address orders submission before execution */
	uint64_t recorded; /* what recorder_submit() gave; 0: not recorded, or a node */
	char *data;	   /* OP_KERNEL: packed arguments, in room or allocated */
	union {
		struct transfer memory;
		struct {
			struct cpudev_kernel *kernel;
			dim3 grid, block;
			size_t shared_bytes;
		} launch;
		struct {
			struct event *event;
			uint64_t record;	   /* OP_RECORD: its number */
			struct stream_point point; /* OP_WAIT: what is waited for */
		} event;
		struct stream_point join;
		struct {
			cudaHostFn_t fn;
			void *user_data;
		} host;
		struct {
			struct exec *exec;
			struct body *body;
			uint64_t ticket; /* launches of it run one after the other */
		} graph;
	};
	_Alignas(16) char room[OP_ROOM_BYTES];
};

struct op *op_new(void); /* NULL: no memory */
/* A copy, arguments included, of a kind that graphs hold. NULL: no memory. */
struct op *op_clone(const struct op *op);
void op_run(struct op *op);
/* The same, with a row in the trace; e is zeroed, but for what is told of the stream. */
void op_run_recorded(struct op *op, struct trace_event *e);
void op_clear(struct op *op); /* drops what it refers to; it can then be filled again */
void op_free(struct op *op);

/* Makes an op a launch, arguments included, if the device's limits allow it. */
cudaError_t launch_fill(struct op *op, struct cpudev_kernel *k, dim3 grid, dim3 block, void **args,
			size_t shared_bytes);

/* Whether so much dynamic shared memory may be asked for. */
bool shared_fits(const struct cpudev_kernel *k, size_t bytes);

extern __thread bool in_host_function;

/* ---- events (op.c) --------------------------------------------------------------------- */

/*
 * A record is a point of the stream that it is in. Who waits takes the point of the last record at
 * the call, as CUDA promises: a later record, perhaps elsewhere, does not concern him. So an event
 * is reached when its stream's work up to it is done, and no sooner.
 */
struct event {
	struct lock lock;		/* of at, at_record, timed */
	struct stream_point at;		/* the last record; no stream: there was none */
	uint64_t at_record, timed;	/* numbers of the records that at and time_ns are of */
	atomic_uint_least64_t recorded; /* number of the last record */
	struct capture_point point;	/* where a capture recorded it last */
	atomic_int_least64_t time_ns;	/* when the last record was reached */
	unsigned flags, number;		/* number: in a trace */
	char tag;			/* orders what came before the record before who waits */
	atomic_int n_refs;
};

void event_ref(struct event *e);
void event_unref(struct event *e);
void events_close_all(void);

/* Where it was recorded last, with a reference of the caller's. */
struct stream_point event_point(struct event *e);
/* It was recorded there, by the record of that number; takes over the reference. */
void event_move(struct event *e, uint64_t record, struct stream_point p);
bool event_reached(struct event *e); /* or never recorded */

/* ---- what graphs keep for the program (op.c) ------------------------------------------- */

/* cudaUserObject_t: destroyed when nobody refers to it, of whom the program is one. */
struct object {
	void *data;
	cudaHostFn_t destroy;
	cudaUserObject_t handle;
	atomic_int n_refs;
};

void object_unref(struct object *o, unsigned count);

/* Each once, and how often it is referred to from here. */
struct object_set {
	struct kept_object {
		struct object *object;
		unsigned count;
	} * at;
	size_t n;
};

/* The references are the caller's before, and the set's after. False: no memory. */
bool objects_add(struct object_set *set, struct object *o, unsigned count);
/* Refers to each of them as well, once. */
bool objects_copy(struct object_set *to, const struct object_set *from);
void objects_clear(struct object_set *set);

/* ---- lists of operations that run as one (op.c) ---------------------------------------- */

/* What a launch runs. It is not changed while launches in flight, or other graphs, refer to it. */
struct body {
	struct op **op;		 /* own copies: the graph may be destroyed before */
	size_t n_ops, n_kernels; /* n_kernels: those of child graphs as well */
	struct object_set objects;
	atomic_int n_refs;
};

/* An executable graph. */
struct exec {
	struct body *body;		  /* of the next launch */
	uint64_t graph_id;		  /* of the graph it was made from */
	unsigned number;		  /* in a trace */
	size_t *needs;			  /* indices of nodes that node i needs: */
	size_t *needs_end;		  /* those before needs[needs_end[i]] */
	atomic_uint_least64_t n_launches; /* ever submitted */
	struct progress finished;	  /* launches that have run */
	atomic_int n_refs;
};

/* Copies of operations, arguments included, which may need the objects; NULL: no memory. */
struct body *body_new(struct op *const *op, size_t n, const struct object_set *objects);
void body_ref(struct body *b);
void body_unref(struct body *b);
void exec_unref(struct exec *x);
void execs_close_all(void);

/* ---- streams (stream.c) ---------------------------------------------------------------- */

/* What a stream's queue holds, as CUDA's do by default: who submits more waits for room. */
enum { QUEUE_OPS = 1024 };

struct stream {
	/* What submitters write, guarded by lock where not atomic. */
	_Alignas(64) struct lock lock;
	struct op *first, **last; /* queued, not yet taken by the service thread */
	struct op *spare;	  /* for reuse */
	uint64_t n_submitted;
	atomic_uint_least64_t done_seen; /* when last looked: reading `done` costs a cache line */
	struct progress queued;		 /* operations submitted */
	bool blocking;			 /* takes part in the legacy default stream's order */
	unsigned number;		 /* in a trace */
	struct stream *next_live;	 /* list of streams whose thread has not ended */

	/* While it is captured; see graph.h. */
	_Atomic(struct capture *) capture;
	struct node_set frontier;
	struct stream *next_captured; /* of the same capture */

	/* What the service thread writes. */
	_Alignas(64) struct progress done;
	char tag; /* orders its operations before who waits for them */
	atomic_int n_refs;
};

/* The stream of a handle; NULL when it is none. 0, 1 and 2 are the legacy default stream. */
struct stream *stream_find(cudaStream_t handle);

/* The legacy default stream. */
struct stream *stream_null(void);
bool stream_is_null(const struct stream *s);

struct stream *stream_new(bool blocking); /* NULL: no memory or no thread */
void stream_ref(struct stream *s);
void stream_unref(struct stream *s);
void stream_quit(struct stream *s); /* its thread ends after what is queued */

/* Calls f for each stream whose thread has not ended, under the lock of the list. */
void streams_each(void (*f)(struct stream *s, void *arg), void *arg);

struct op *stream_new_op(struct stream *s); /* NULL: no memory */

/* Its numbers in a trace, for what is recorded of it. */
void stream_tell(const struct stream *s, struct trace_event *e);

/* Queues a filled op, in the legacy default stream's order and once there is room for it. Returns
 * its number in the stream: when so many operations are done, it is. */
uint64_t stream_queue(struct stream *s, struct op *op);

bool stream_done(struct stream *s); /* everything submitted so far */
void stream_wait(struct stream *s); /* the same, for spin_ns polling then sleeping */
void streams_wait_all(bool only_blocking);

#endif
