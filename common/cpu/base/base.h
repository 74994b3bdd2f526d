/*
 * base.h - the lowest floor of the CPU device: threads and what they wait for, settings and the
 * costs of calls, errors, handles, memory (internal).
 *
 * It knows nothing of kernels, streams or graphs: what the floors above put into its tables is
 * theirs. sanitize.h says what the sanitizers are told.
 */
#ifndef RIFT_CPU_BASE_H
#define RIFT_CPU_BASE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/cpu/base/sanitize.h"
#include "common/cpu/include/cuda_runtime_api.h"
#include "common/recorder/recorder.h"

/* ---- threads (thread.c) ---------------------------------------------------------------- */

/*
 * Everything that one thread waits for from another is a counter that only grows: operations
 * queued on a stream, operations done, records of an event, launches offered to the workers.
 * Who waits polls first and sleeps later, since waking a sleeping thread takes longer than most
 * kernels. Polling gives the core away about every microsecond: other threads of the device may
 * need it.
 */
struct lock {
	atomic_int held;
};

void lock_acquire_slow(struct lock *lock);

static inline void lock_acquire(struct lock *lock)
{
	if (atomic_exchange_explicit(&lock->held, 1, memory_order_acquire))
		lock_acquire_slow(lock);
}

static inline void lock_release(struct lock *lock)
{
	atomic_store_explicit(&lock->held, 0, memory_order_release);
}

struct progress {
	atomic_uint_least64_t reached;
	atomic_uint_least64_t wake_at; /* lowest value a sleeper waits for; see progress_init */
	atomic_uint wakes;	       /* futex word; changes at every wake-up */
};

void progress_init(struct progress *p);

/* Raises the counter to value, if it is lower, and wakes who waits for that. */
void progress_raise(struct progress *p, uint64_t value);

/* Returns once the counter is at least value; polls for spin_ns, then sleeps. */
void progress_wait(struct progress *p, uint64_t value, int64_t spin_ns);

static inline bool progress_passed(struct progress *p, uint64_t value)
{
	return atomic_load_explicit(&p->reached, memory_order_acquire) >= value;
}

int64_t clock_ns(void); /* monotonic */

/*
 * A thread of the device. Its stack is no matter of `ulimit -s`, which may be too small for kernels
 * and, as it usually is, takes four times the address space. Returns 0 or an errno.
 */
int thread_start(pthread_t *thread, void *(*run)(void *), void *arg);

/* Tells host threads apart. */
const void *this_thread(void);

/* ---- settings, and the costs of calls (config.c) --------------------------------------- */

enum thread_order { ORDER_UP, ORDER_DOWN, ORDER_RANDOM };

/* Kinds of calls that can be given a cost. */
enum cost { COST_LAUNCH, COST_SYNC, COST_ALLOC, COST_COPY, COSTS };

enum { DEVICES_MAX = 8 };

struct config {
	unsigned workers; /* threads that run blocks of one launch */
	enum thread_order order;
	uint64_t seed; /* of ORDER_RANDOM */
	int64_t spin_ns;
	bool strict; /* overruns fault */
	int64_t cost_ns[COSTS];
	int64_t per_pinned_mib_ns,
		per_pinned_ns;	  /* of a synchronize, for memory that is held ... */
	uint64_t memory_mib;	  /* of the device; 0: the host's */
	bool pinned_leak;	  /* ... or ever was */
	int64_t beside_ns;	  /* of a launch, while another process launches */
	int64_t ramp_ns, ramp_ms; /* of a launch, after the device was idle */
	int devices;		  /* that it shows; which they are, of RIFT_CPU_DEVICES */
	int device[DEVICES_MAX];
	const char *fail; /* RIFT_CPU_FAIL; NULL: not set */
};

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

/* Is there any call that RIFT_CPU_FAIL lets fail? True until the first call has looked. */
extern atomic_bool injects;

/* The error that it has for a call. */
cudaError_t injected_error(const char *call);

/* ---- errors (error.c) ------------------------------------------------------------------ */

/* Remembers an error for cudaGetLastError and returns it. */
cudaError_t result(cudaError_t error);

/* The remembered error; forget_error() remembers none from then on. */
cudaError_t last_result(void);
cudaError_t forget_error(void);

/* Its name and its meaning. */
const char *error_name(cudaError_t error);
const char *error_meaning(cudaError_t error);

/* The error of that name, of n characters; cudaSuccess for none. */
cudaError_t error_named(const char *name, size_t n);

/* Prints "rift: CPU device: MESSAGE" and aborts. For what a kernel must not do. */
__attribute__((noreturn, cold, format(printf, 1, 2))) void fatal(const char *format, ...);

/*
 * The same where the host lacks memory, address space or threads: limits are the user's to lift.
 * Ends the process with status 4, as there is no device without.
 */
__attribute__((noreturn, cold, format(printf, 1, 2))) void starve(const char *format, ...);

/* fatal() has spoken in this thread: the abort needs no further explanation. */
extern __thread bool told_why;

/* ---- handles (handle.c) ---------------------------------------------------------------- */

enum handle_kind {
	HANDLE_STREAM = 1,
	HANDLE_EVENT,
	HANDLE_GRAPH,
	HANDLE_EXEC,
	HANDLE_NODE,
	HANDLE_OBJECT
};

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

/* ---- memory (memory.c) ----------------------------------------------------------------- */

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
void allocations_free_all(void);

/* Memory of ALIGN_BYTES, entered into the table. */
cudaError_t memory_allocate(void **ptr, size_t bytes, enum cudaMemoryType type);
void memory_put(const struct allocation *a); /* gives its memory back */

/* Device memory, bytes: all there is, and what is left of it. */
size_t memory_total_bytes(void);
size_t memory_free_bytes(void);

/* Blocks that end at a page which faults: whether one of that size should be such. */
bool pages_serve(size_t bytes);
void *pages_new(size_t bytes, size_t align); /* NULL: no memory */
void pages_free(void *block, size_t bytes);
bool pages_buried(const void *address); /* of a freed block, which faults for some time */

/* A copy, or a memset of dst. */
struct transfer {
	void *dst;
	const void *src;
	size_t bytes; /* of a row */
	size_t rows, dst_pitch, src_pitch;
	int value;
	unsigned element;		   /* of a memset: bytes of the value, 1 (or 0), 2 or 4 */
	bool dst_on_device, src_on_device; /* when it was submitted */
	bool waits;			   /* the call returns when it is done */
	enum trace_memory memory;	   /* of the host's side, for a trace */
};

void run_copy(const struct transfer *t);
void run_set(const struct transfer *t);

/* What this thread copies or sets; NULL: nothing. Volatile, as a signal handler reads it. */
extern __thread const struct transfer *volatile running_copy;

#endif
