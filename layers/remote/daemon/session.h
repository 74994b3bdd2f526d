/*
 * session.h - what a daemon keeps of its client, and the commands that it does for it.
 *
 * session_do() takes a command that the client can no longer change. Nothing in it is believed:
 * lengths, numbers and addresses are held against what the client was given. Memory is bounded by
 * `memory=`, handles, nodes of a graph and host functions by their number. One thread at a time.
 *
 * A session that shares the process with others (order.c) has streams in place of CUDA's default
 * ones, and waits for its own work alone.
 */
#ifndef RIFT_REMOTE_SESSION_H
#define RIFT_REMOTE_SESSION_H

#include <cuda_runtime_api.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "layers/remote/daemon/backend.h"
#include "layers/remote/wire/products.h"
#include "layers/remote/transport/receive.h"
#include "layers/remote/wire/regions.h"
#include "layers/remote/wire/wire.h"

/* A stream of the client's. Where the process is shared, CUDA's own are all non-blocking, and the
 * rest says how this one stands to the client's default stream. */
struct served_stream {
	cudaStream_t stream;
	bool blocking;
	enum { CAPTURES_NOT, CAPTURES, CAPTURES_STRICTLY } captures; /* the latter: not relaxed */
	uint64_t used;	 /* the session's clock at the last use; 0: never */
	uint64_t joined; /* `used` when the default stream was last put behind it */
	uint64_t behind; /* `used` of the default stream when it was last put behind that */
};

/* What stands for CUDA's default streams, and what else a shared process needs of its own. */
struct order {
	struct served_stream legacy, per_thread;
	cudaStream_t aside; /* memory is taken and given back there; nothing else is in it */
	cudaStream_t ended; /* behind what was left in streams that were destroyed */
	cudaEvent_t mark;
	uint64_t clock;
	unsigned open;	 /* captures that have begun and not ended */
	unsigned strict; /* of these, those that forbid unsafe calls */
	unsigned flags;	 /* of cudaSetDeviceFlags(), which are the process's */
};

/* Objects by the client's numbers; room grows to max. */
struct table {
	void **at;
	uint64_t room, max;
};

/* A fat binary, of which so much has come. */
struct served_image {
	uint64_t bytes, got;
	struct remote_hash hash;
	uint8_t *body; /* until it is loaded */
	void *library; /* the backend's; NULL: not loaded */
};

struct served_kernel {
	const void *function;
	uint32_t params, bytes; /* of all arguments, as they lie in a command */
	struct remote_param param[REMOTE_PARAMS];
};

/* A node that the client knows of. A copy from or to the client's memory is two of the runtime's:
 * what the copy needs is needed by the first, and who needs the copy needs the last. */
struct served_node {
	cudaGraphNode_t node, first, last;
};

/* Nodes by their order in cudaGraphGetNodes. */
struct served_graph {
	cudaGraph_t graph;
	struct served_node *node; /* NULL: not asked for yet */
	size_t nodes, room;
};

/* A handle of cuBLAS, or of cuBLASLt. */
struct served_blas {
	void *handle;
	bool lt;
	bool on_device; /* where alpha and beta are */
	bool lost;	/* its stream is gone: it takes no product before it has another */
	cudaStream_t stream;
	uint64_t where; /* that, as the client names it */
	struct extent workspace;
};

/* What streams and graphs ask of the client (do_hosts.c). */
struct hosts;

/* A thread of the client's that waits, while others of it are served. */
struct parked {
	uint8_t thread;
	uint64_t event;	     /* the client's; REMOTE_EVENTS: none, but these, in turn */
	cudaEvent_t *before; /* recorded behind all that it waits for */
	size_t n, done;
};

struct session {
	const struct remote_backend *backend;
	uint64_t pinned_base; /* REMOTE_PINNED_BYTES that the client has mapped there, too */
	uint8_t *in, *out;    /* REMOTE_BLOCKS blocks each */
	uint64_t block_bytes; /* of each */
	bool pinned_blocks;   /* the device reads them itself, and later than the call */
	const char *store;    /* folder of fat binaries that any client has brought; NULL: none */
	uint64_t memory_max, memory_bytes; /* of the device and pinned: allowed, and taken */
	atomic_uint_least64_t *told;	   /* memory_bytes for other processes; NULL: nobody asks */
	struct regions regions;
	struct order *order; /* NULL: the process is the client's alone */
	int device;
	atomic_bool over;	 /* the client is gone: nothing more is done for it */
	bool device_ended;	 /* an error was returned after which it does no more */
	void (*lost)(void *arg); /* called once then; NULL: nobody asks */
	void *lost_arg;
	struct table streams, events, graphs, execs, kernels, images, blas;
	const struct blas *library; /* of matrix products; NULL: not asked for, or there is none */
	bool no_library;
	struct plan **plans;	  /* of cuBLASLt, by hash; NULL: none */
	int late[REMOTE_THREADS]; /* by thread: the last error of a command without answer */
	uint64_t done;		  /* commands */
	struct hosts *hosts;
	struct parked parked[REMOTE_THREADS];
	unsigned n_parked;
	struct mirrors *mirrors; /* pinned memory that the client has a copy of; NULL: the same */
	struct outlet *outlet;	 /* tells what is done over a socket; NULL: the client sees it */
};

/* What one command is, and what it answers. */
struct request {
	const uint64_t *word;
	const uint8_t *payload;
	uint32_t payload_bytes;
	uint32_t bytes; /* of the answer */
	uint8_t *data;	/* REMOTE_ANSWER_BYTES */
};

/* A session without a client. The memory is the caller's: in and out are of REMOTE_BLOCK_BYTES a
 * block, unless the caller changes block_bytes before the first command. */
struct session session_new(const struct remote_backend *backend, uint64_t pinned_base, uint8_t *in,
			   uint8_t *out, uint64_t memory_max);

/*
 * Does the command, of which `readable` bytes are there. Fills the answer (all but count and
 * sleeping) where one is asked for. False: it is none that can be gone on from, as its length is
 * wrong; nothing was done.
 */
bool session_do(struct session *s, const struct remote_command *c, uint64_t readable,
		struct remote_answer *answer);

/* ---- threads that wait (waits.c) ---------------------------------------------------------- */

/*
 * Where the command is a wait that is not over: has the thread wait without holding up the session.
 * False: it is to be done as any.
 */
bool waits_park(struct session *s, const struct remote_command *c, uint64_t readable);

/* A wait that is over now, and what it returns. False: none. */
bool waits_take(struct session *s, unsigned *thread, int *error);

void waits_release(struct session *s);

/* ---- host functions (do_hosts.c) ---------------------------------------------------------- */

struct hosts *hosts_new(void); /* NULL: no memory */

/* Where the client is asked: by what both share, or over the outlet, which may be NULL. Without
 * that, none of its functions is called. */
void hosts_connect(struct hosts *h, struct remote_turn *turn, struct outlet *outlet);

/* From now on none is called; who waits for the client waits no longer. */
void hosts_close(struct hosts *h);

/* Nobody asks for them any more; they go when the last one in a graph does. NULL: nothing. */
void hosts_free(struct hosts *h);

/* Does the node, which the client does not know of, move the memory of a copy? *in: before it. */
bool hosts_moves(cudaGraphNode_t node, bool *in);

/* A node more of the graph, for the function of that number, or for a copy of its memory: the words
 * are those of HOST_COPY, from the address on. */
int hosts_add_call(struct session *s, cudaGraph_t graph, uint64_t number,
		   const cudaGraphNode_t *needs, size_t n, struct served_node *node);
int hosts_add_copy(struct session *s, cudaGraph_t graph, uint64_t number, const uint64_t word[5],
		   const cudaGraphNode_t *needs, size_t n, struct served_node *node);

/* Has the client any, in a stream or a graph? */
bool hosts_are_there(const struct session *s);

/* Takes what graphs that are gone had from memory_bytes. */
void hosts_settle(struct session *s);

/* An error of CUDA's after which, as its documentation says, a process must be started anew; or of
 * memory that is wrong. All later calls return it. */
bool ends_the_device(int error);

/* What session_do() leaves in an answer. */
void session_answer(struct session *s, unsigned thread, int error, uint32_t bytes,
		    struct remote_answer *answer);

/* Gives back all that the client has. */
void session_close(struct session *s);

/* ---- tables (session.c) ------------------------------------------------------------------- */

/* False: the number is beyond the table or taken, or there is no memory. */
bool table_put(struct table *t, uint64_t number, void *object);
/* NULL: there is none. */
void *table_get(const struct table *t, uint64_t number);
void *table_take(struct table *t, uint64_t number);

/* The stream of that number, or one of CUDA's default streams, in whose order it is from now on. A
 * CUDA error: it is none of the client's, or a capture forbids its use. */
int session_stream(struct session *s, uint64_t word, cudaStream_t *stream);

/* The same, to ask about it: nothing is submitted. */
int session_find_stream(const struct session *s, uint64_t word, cudaStream_t *stream);

/* A further part of the answer; it must fit. */
void answer_put(struct request *r, const void *data, size_t bytes);

/* ---- several clients in one process (order.c) --------------------------------------------- */

/* Has the session share its process. False: CUDA gave no streams or has no pools of memory, and
 * nothing has changed. */
bool order_begin(struct session *s);
void order_release(struct session *s);

/* Below: only where there is an order. */

/* NULL: it is none of the client's. */
struct served_stream *order_find(const struct session *s, uint64_t word);

/* As session_stream(). */
int order_stream(struct session *s, uint64_t word, cudaStream_t *stream);

/* Before a stream is destroyed: who waits for the device waits for what is left in it. */
void order_leave(struct session *s, struct served_stream *stream);

/* Waits for all that the client has submitted. A CUDA error. */
int order_wait(struct session *s);

/* Does any of its streams capture? */
bool order_captures(const struct session *s);

/* The error of a call that CUDA forbids during captures that are not relaxed; they are spoiled. */
int order_unsafe_call(struct session *s);
/* As order_unsafe_call(), for a call that no capture bears. */
int order_device_call(struct session *s);

int order_wait_event(struct session *s, uint64_t word, cudaEvent_t event, unsigned flags);
int order_capture_begin(struct session *s, uint64_t word, enum cudaStreamCaptureMode mode);
int order_capture_end(struct session *s, uint64_t word, cudaGraph_t *graph);
/* cudaErrorStreamCaptureImplicit where the stream is a default one and another captures. */
int order_ask_default(const struct session *s, uint64_t word);
/* After the stream has waited for an event: a default stream takes no part in a capture. */
int order_keep_out(struct session *s, uint64_t word);

int order_malloc(struct session *s, void **memory, uint64_t bytes);
int order_free(struct session *s, void *memory);

/* Before the session's end: ends captures, and waits until all that was submitted has run. Where
 * that takes longer than this, says so. */
enum { ORDER_SLOW_NS = 2000000000 };
void order_settle(struct session *s);
void order_say_slow(void);

/* ---- commands, by what they are about ----------------------------------------------------- */

/* Each returns a CUDA error. */
typedef int command(struct session *s, struct request *r);

command do_image, do_image_part, do_kernel, do_symbol, do_error_text;
command do_launch, do_func_attributes, do_func_set, do_occupancy;
command do_properties, do_attribute, do_device_count, do_set_flags, do_get_flags, do_set_limit;
command do_get_limit, do_versions, do_priorities, do_device_wait, do_mem_info;
command do_pool_keep, do_pool_trim, do_malloc, do_free, do_pin, do_unpin, do_malloc_async,
	do_free_async;
command do_copy, do_copy_in, do_copy_inline, do_copy_out, do_set;
command do_stream_create, do_stream_destroy, do_stream_wait, do_stream_query;
command do_stream_wait_event, do_event_create, do_event_destroy, do_event_record, do_event_wait;
command do_event_query, do_event_elapsed;
command do_capture_begin, do_capture_end, do_capture_status, do_graph_destroy, do_graph_nodes;
command do_host_call, do_host_copy, do_host_gone;
command do_graph_create, do_graph_clone, do_add_kernel, do_add_copy, do_add_set, do_add_host;
command do_add_host_copy, do_add_empty, do_add_needs;
command do_node_type, do_node_needs, do_node_kernel, do_exec_create, do_exec_upload;
command do_exec_launch, do_exec_set_kernel, do_exec_update, do_exec_destroy;
command do_blas_version, do_blas_create, do_blas_destroy, do_blas_stream, do_blas_workspace;
command do_blas_pointer_mode, do_blas_math_mode, do_blas_gemm, do_blas_heuristic, do_blas_matmul;

/* Handles of cuBLAS that submit to the stream, which is about to go. */
void blas_forget_stream(struct session *s, cudaStream_t stream);

/* The handle, for a function of cuBLASLt or of cuBLAS; NULL: it is none. */
struct served_blas *blas_handle(const struct session *s, uint64_t number, bool lt);

/* Handles, then what was planned for them. */
void blas_release(struct session *s);
void plans_release(struct session *s);

/* May the client have so much more memory? */
bool memory_may_take(struct session *s, uint64_t bytes);

/* On a stream, or waiting for the copy on the default stream. A CUDA error. */
int memory_copy(struct session *s, const struct remote_rows *rows, int kind, uint64_t where);

/* The arguments, so many bytes, each by its address; false: they are not this kernel's. */
bool kernel_arguments(const struct served_kernel *k, const uint8_t *at, uint32_t bytes,
		      void **argument);

void image_release(struct session *s, struct served_image *i);

/* The program's variables that the client has, where others may ask for the same: they are again
 * what they were. */
void variables_release(struct session *s);

/* The runtime's graph is the client's from then on, or destroyed. */
int graph_enter(struct session *s, uint64_t number, cudaGraph_t graph);
void graph_release(struct served_graph *g);

/* The graph of that number with its nodes; or NULL and *err. */
struct served_graph *graph_find(const struct session *s, uint64_t number, int *err);

/* The runtime's names for a copy of rows in linear memory. */
struct cudaMemcpy3DParms graph_copy_of(const struct remote_rows *rows, int kind);

/* ---- numbers ------------------------------------------------------------------------------ */

static inline void *pointer_of(uint64_t word)
{
	return (void *)(uintptr_t)word;
}

static inline uint64_t word_of(const void *pointer)
{
	return (uint64_t)(uintptr_t)pointer;
}

static inline uint64_t pair(uint32_t low, uint32_t high)
{
	return low | (uint64_t)high << 32;
}

static inline uint32_t low_of(uint64_t word)
{
	return (uint32_t)word;
}

static inline uint32_t high_of(uint64_t word)
{
	return (uint32_t)(word >> 32);
}

#endif
