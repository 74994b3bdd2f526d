/*
 * runtime.h - what the parts of the CPU device share: settings, errors, handles, operations,
 * streams, kernels and launches (internal).
 */
#ifndef RIFT_CPU_RUNTIME_H
#define RIFT_CPU_RUNTIME_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/cpu/graph/capture.h"
#include "common/cpu/include/cpudev.h"
#include "common/cpu/include/cuda_runtime_api.h"
#include "common/cpu/base/progress.h"
#include "common/cpu/base/sanitize.h"

/* ---- settings (config.c) --------------------------------------------------------------- */

enum thread_order { ORDER_UP, ORDER_DOWN, ORDER_RANDOM };

/* Kinds of calls that can be given a cost. */
enum cost { COST_LAUNCH, COST_SYNC, COST_ALLOC, COST_COPY, COSTS };

struct config {
	unsigned workers; /* threads that run blocks of one launch */
	enum thread_order order;
	uint64_t seed; /* of ORDER_RANDOM */
	int64_t spin_ns;
	bool strict; /* overruns fault */
	int64_t cost_ns[COSTS];
	int64_t per_pinned_mib_ns,
		per_pinned_ns; /* of a synchronize, for memory that is held ... */
	uint64_t memory_mib;   /* of the device; 0: the host's */
	bool pinned_leak;      /* ... or ever was */
	int64_t beside_ns;     /* of a launch, while another process launches */
	const char *fail;      /* RIFT_CPU_FAIL; NULL: not set */
};

/* Is this a value for RIFT_CPU_FAIL? (error.c) */
bool injection_is_valid(const char *text);

/* The settings from the environment, read at the first call. */
const struct config *config(void);

/* How long a host thread polls; cudaSetDeviceFlags and blocking events change it. */
extern atomic_int_least64_t host_spin_ns;

/*
 * For the return of a call of that kind: spends what the settings say it costs, unless it failed.
 * Returns the error.
 */
cudaError_t charge(enum cost cost, cudaError_t error);

/* Pinned host memory has come, or gone: bytes and count are then below 0. */
void pinned_changes(int64_t bytes, int count);

/* ---- errors (error.c) ------------------------------------------------------------------ */

/*
 * The first line of every call of the interface: returns the error that RIFT_CPU_FAIL has for it,
 * before the call has done anything.
 */
#define INJECT()                                                                                   \
	do {                                                                                       \
		cudaError_t injected_ = injects ? injected_error(__func__) : cudaSuccess;          \
		if (injected_)                                                                     \
			return result(injected_);                                                  \
	} while (0)

/* Is there any? True until the first call has looked. */
extern atomic_bool injects;
cudaError_t injected_error(const char *call);

/* Remembers an error for cudaGetLastError and returns it. */
cudaError_t result(cudaError_t error);

/* Returns the remembered error and remembers none. */
cudaError_t forget_error(void);

/* Prints "rift: CPU device: MESSAGE" and aborts. For what a kernel must not do. */
__attribute__((noreturn, cold, format(printf, 1, 2))) void fatal(const char *format, ...);

/*
 * The same where the host lacks memory, address space or threads: limits are the user's to lift.
 * Ends the process with status 4, as there is no device without.
 */
__attribute__((noreturn, cold, format(printf, 1, 2))) void starve(const char *format, ...);

/* fatal() has spoken in this thread: the abort needs no further explanation. */
extern __thread bool told_why;

/* From the first call on, faults of kernels and copies are explained (fault.c). */
void faults_explain(void);

/* ---- handles (handle.c) ---------------------------------------------------------------- */

enum handle_kind { HANDLE_STREAM = 1, HANDLE_EVENT, HANDLE_GRAPH, HANDLE_EXEC, HANDLE_NODE };

/* A new handle of object; NULL when the table (a million entries) or memory is full. */
void *handle_open(enum handle_kind kind, void *object);

/* The object of a handle; NULL for one that is closed, of another kind, or no handle. */
void *handle_object(enum handle_kind kind, const void *handle);

/* Closes a handle and returns its object, or NULL as above. */
void *handle_close(enum handle_kind kind, const void *handle);

/* Handles of that kind that are open. */
size_t handle_count(enum handle_kind kind);

/* Closes some handle of that kind; NULL when none is left. */
void *handle_close_any(enum handle_kind kind);

/* ---- kernels (kernel.c) ---------------------------------------------------------------- */

enum {
	MAX_THREADS = 1024, /* a block */
	WARP_THREADS = 32,
	DYNAMIC_BYTES_DEFAULT = 48 << 10, /* dynamic shared memory without opting in */
	DYNAMIC_BYTES_MAX = 227 << 10,	  /* as on compute capability 9.0 */
};

/* NULL for a function that KERNEL() has not named. */
struct cpudev_kernel *kernel_find(const void *function);

/* Static shared arrays: number of slots so far, and the size and alignment of one. */
unsigned shared_slot_count(void);
void shared_slot_get(unsigned slot, size_t *bytes, size_t *align);

/* One execution of a kernel. */
struct launch {
	struct cpudev_kernel *kernel;
	const char *args; /* packed */
	dim3 grid, block;
	size_t shared_bytes; /* dynamic */
	unsigned n_threads;  /* a block */
	uint64_t n_blocks;
	uint64_t chunk; /* blocks that a worker takes at a time */
	atomic_uint_least64_t next_block;
	char start_tag, end_tag; /* order of a launch, for the thread sanitizer */
};

/* Runs blocks of the launch on the calling thread until none is left (block.c). */
void execute_blocks(struct launch *launch);

/* Gives the thread's executor back; before a thread that ran blocks ends. */
void executor_release(void);

/*
 * While tests watch launches (watch.c): how often this one, which is about to run, is to; what the
 * calling thread has computed so far, ns; and what it spent in blocks.
 */
extern atomic_bool launches_watched;
unsigned watch_launch(const struct launch *l);
int64_t thread_ns(void);
void watch_time(int64_t ns);

/* Runs a whole launch, with the help of the worker pool if it is worth it (pool.c). */
void execute_launch(struct launch *launch);

/* ---- operations (op.c) ----------------------------------------------------------------- */

struct stream;
struct event;
struct exec;
struct body;

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
	OP_FREE,
	OP_QUIT
};

enum { OP_ROOM_BYTES = 256 }; /* arguments that fit into an op; larger ones are allocated */

/* A copy, or a memset of dst. */
struct transfer {
	void *dst;
	const void *src;
	size_t bytes; /* of a row */
	size_t rows, dst_pitch, src_pitch;
	int value;
	bool dst_on_device, src_on_device; /* when it was submitted */
};

/* An entry of a stream's queue or a node of a graph. */
struct op {
	struct op *next;
	enum op_kind kind;
	char tag;   /* address orders submission before execution */
	char *data; /* OP_KERNEL: packed arguments, in room or allocated */
	union {
		struct transfer memory;
		struct {
			struct cpudev_kernel *kernel;
			dim3 grid, block;
			size_t shared_bytes;
		} launch;
		struct {
			struct event *event;
			uint64_t generation;
		} event;
		struct {
			struct stream *stream;
			uint64_t count; /* operations of it that must be done */
		} join;
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

struct op *op_new(void);		    /* NULL: no memory */
char *op_data(struct op *op, size_t bytes); /* room for arguments; NULL: no memory */
void op_run(struct op *op);
void op_clear(struct op *op); /* drops what it refers to; it can then be filled again */
void op_free(struct op *op);
struct op *op_clone(const struct op *op); /* NULL: no memory */

extern __thread bool in_host_function;

/* What this thread copies or sets; NULL: nothing. Volatile, as a signal handler reads it. */
extern __thread const struct transfer *volatile running_copy;

/* ---- streams (stream.c, service.c) ----------------------------------------------------- */

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
	struct stream *next_live;	 /* list of streams whose thread has not ended */

	/* While it is captured; see capture.h. */
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

static inline bool stream_captures(struct stream *s)
{
	return atomic_load_explicit(&s->capture, memory_order_relaxed);
}

struct stream *stream_new(bool blocking); /* NULL: no memory or no thread */
void stream_ref(struct stream *s);
void stream_unref(struct stream *s);
void stream_quit(struct stream *s); /* its thread ends after what is queued */

/*
 * A thread of the device. Its stack is no matter of `ulimit -s`, which may be too small for kernels
 * and, as it usually is, takes four times the address space. Returns 0 or an errno.
 */
int thread_start(pthread_t *thread, void *(*run)(void *), void *arg);

/* Calls f for each stream whose thread has not ended, under the lock of the list. */
void streams_each(void (*f)(struct stream *s, void *arg), void *arg);

struct op *stream_new_op(struct stream *s); /* NULL: no memory */

/* Queues an op as it is, without checks and default-stream order. */
void stream_append(struct stream *s, struct op *op);

/* Whether an operation may be submitted to the stream now. */
cudaError_t stream_accepts(struct stream *s);

/* Queues a filled op, or adds it to the capture; on an error the op is freed. */
cudaError_t stream_submit(struct stream *s, struct op *op);

bool stream_done(struct stream *s); /* everything submitted so far */
void stream_wait(struct stream *s); /* the same, for spin_ns polling then sleeping */
void streams_wait_all(bool only_blocking);

/* ---- events (event.c) ------------------------------------------------------------------ */

void event_record(struct event *e, uint64_t generation);
void event_await(struct event *e, uint64_t generation);
void event_unref(struct event *e);
void events_close_all(void);

/* ---- copies (copy.c) ------------------------------------------------------------------- */

/* Checks the pointers against the kind and the table of allocations, and queues the copy. */
cudaError_t copy_submit(struct transfer *t, enum cudaMemcpyKind kind, cudaStream_t stream);

/* For the synchronous forms: without an error waits for the legacy default stream. */
cudaError_t copy_wait(cudaError_t error);

/* ---- launches (launch.c) ---------------------------------------------------------------- */

/* Makes an op a launch, arguments included, if the device's limits allow it. */
cudaError_t launch_fill(struct op *op, struct cpudev_kernel *k, dim3 grid, dim3 block, void **args,
			size_t shared_bytes);

/* ---- executable graphs (exec.c) -------------------------------------------------------- */

void exec_run(struct exec *x, struct body *b, uint64_t ticket);
void body_run(const struct body *b);
void body_ref(struct body *b);
void body_unref(struct body *b);
void exec_release(struct exec *x, struct body *b); /* after a launch */
void execs_close_all(void);

/* ---- memory (memory.c, allocation.c) --------------------------------------------------- */

enum memory_owner {
	OWNER_RUNTIME, /* given out by cudaMalloc and its kin */
	OWNER_HOST,    /* cudaHostRegister */
	OWNER_PROGRAM, /* a variable that SYMBOL() has named */
};

struct allocation {
	char *base;
	size_t bytes;
	enum cudaMemoryType type;
	enum memory_owner owner;
	uint64_t number; /* set by allocation_add(): so many came before */
};

bool allocation_add(const struct allocation *a); /* false: no memory */
bool allocation_overlaps(const void *base, size_t bytes);

/* Takes an entry of that type and owner out of the table; false when there is none at base. */
bool allocation_remove(const void *base, enum cudaMemoryType type, enum memory_owner owner);

/* The allocation that ptr points into; a type of Unregistered for none. */
struct allocation allocation_find(const void *ptr);
size_t allocation_count(enum cudaMemoryType type, enum memory_owner owner);
size_t allocation_total_bytes(void);
void memory_put(const struct allocation *a); /* gives its memory back */
void allocations_free_all(void);

/* Blocks that end at a page which faults (pages.c): whether one of that size should be such. */
bool pages_serve(size_t bytes);
void *pages_new(size_t bytes, size_t align); /* NULL: no memory */
void pages_free(void *block, size_t bytes);
void pages_bury(void *block, size_t bytes); /* frees it; using it faults for some time */
bool pages_buried(const void *address);

/* Memory of ALIGN_BYTES, entered into the table. */
cudaError_t memory_allocate(void **ptr, size_t bytes, enum cudaMemoryType type);

/* Device memory, bytes: all there is, and what is left of it. */
size_t memory_total_bytes(void);
size_t memory_free_bytes(void);

#endif
