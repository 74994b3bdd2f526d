/*
 * stream.c - streams as the host sees them: submission, the legacy default stream's order,
 * waiting.
 */
#include "common/cpu/base/base.h"

#include <pthread.h>
#include <stdlib.h>

/* Made at its first use: many programs never need it, and it costs a thread. */
static _Atomic(struct stream *) null_stream;

static void make_null_stream(void)
{
	struct stream *s = stream_new(true);

	if (!s)
		starve("no memory or thread for the default stream");
	atomic_store(&null_stream, s);
}

struct stream *stream_null(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct stream *s = atomic_load_explicit(&null_stream, memory_order_acquire);

	if (s)
		return s;
	pthread_once(&once, make_null_stream);
	return atomic_load(&null_stream);
}

bool stream_is_null(const struct stream *s)
{
	return s == atomic_load_explicit(&null_stream, memory_order_relaxed);
}

struct stream *stream_find(cudaStream_t handle)
{
	if ((uintptr_t)handle <= (uintptr_t)cudaStreamPerThread)
		return stream_null();
	return handle_object(HANDLE_STREAM, handle);
}

/* ---- submission ------------------------------------------------------------------------- */

static uint64_t count_submitted(struct stream *s)
{
	return atomic_load_explicit(&s->queued.reached, memory_order_acquire);
}

/* Lets s wait for what `other` has been given so far. */
static void join(struct stream *s, struct stream *other)
{
	uint64_t count = count_submitted(other);

	/* Idle streams, the usual case, cost two loads. The checker must be told all the same. */
	if (!TS_PRESENT && progress_passed(&other->done, count))
		return;
	struct op *op = stream_new_op(s);

	if (!op)
		starve("no memory to order two streams");
	stream_ref(other);
	op->kind = OP_JOIN;
	op->join.stream = other;
	op->join.count = count;
	stream_append(s, op);
}

static void join_if_blocking(struct stream *other, void *arg)
{
	struct stream *s = arg;

	if (other != s && other->blocking)
		join(s, other);
}

/* The legacy default stream waits for all blocking streams, and they for it. */
static void keep_default_order(struct stream *s)
{
	struct stream *null = atomic_load_explicit(&null_stream, memory_order_acquire);

	if (s == null)
		streams_each(join_if_blocking, s);
	else if (s->blocking && null)
		join(s, null);
}

/*
 * Returns when less than QUEUE_OPS operations are queued or running; more by what other threads
 * submit meanwhile. Under no lock: the stream's thread may need one to go on.
 */
static void wait_for_room(struct stream *s)
{
	uint64_t queued = count_submitted(s);

	if (queued - atomic_load_explicit(&s->done_seen, memory_order_relaxed) < QUEUE_OPS)
		return;
	if (queued >= QUEUE_OPS)
		progress_wait(&s->done, queued - QUEUE_OPS + 1,
			      atomic_load_explicit(&host_spin_ns, memory_order_relaxed));
	atomic_store_explicit(&s->done_seen,
			      atomic_load_explicit(&s->done.reached, memory_order_relaxed),
			      memory_order_relaxed);
}

cudaError_t stream_accepts(struct stream *s)
{
	if (in_host_function)
		return cudaErrorNotPermitted;
	if (capture_status(s) == cudaStreamCaptureStatusInvalidated)
		return cudaErrorStreamCaptureInvalidated;
	return legacy_call(s);
}

cudaError_t stream_submit(struct stream *s, struct op *op)
{
	cudaError_t error = stream_accepts(s);

	if (error) {
		op_free(op);
		return error;
	}
	TS_RELEASE(&op->tag);
	if (stream_captures(s))
		return capture_add(s, op);
	wait_for_room(s);
	keep_default_order(s);
	stream_append(s, op);
	return cudaSuccess;
}

/* ---- waiting ---------------------------------------------------------------------------- */

bool stream_done(struct stream *s)
{
	bool done = progress_passed(&s->done, count_submitted(s));

	if (done)
		TS_ACQUIRE(&s->tag);
	return done;
}

/* What is submitted meanwhile by other threads is not waited for. */
void stream_wait(struct stream *s)
{
	int64_t spin_ns = atomic_load_explicit(&host_spin_ns, memory_order_relaxed);

	progress_wait(&s->done, count_submitted(s), spin_ns);
	TS_ACQUIRE(&s->tag);
}

struct snapshot {
	struct stream **stream;
	size_t n, room;
};

/* References, as waiting under the lock of the list would hold up every submission. */
static void take_into(struct stream *s, void *arg)
{
	struct snapshot *all = arg;

	if (all->n == all->room) {
		all->room = all->room ? 2 * all->room : 16;
		all->stream = realloc(all->stream, all->room * sizeof(*all->stream));
		if (!all->stream)
			starve("no memory to wait for %zu streams", all->room);
	}
	stream_ref(s);
	all->stream[all->n++] = s;
}

void streams_wait_all(bool only_blocking)
{
	struct snapshot all = { NULL, 0, 0 };

	streams_each(take_into, &all);
	for (size_t i = 0; i < all.n; i++) {
		if (all.stream[i]->blocking || !only_blocking)
			stream_wait(all.stream[i]);
		stream_unref(all.stream[i]);
	}
	free(all.stream);
}

static void find_busy(struct stream *s, void *arg)
{
	bool *busy = arg;

	if (s->blocking && !stream_done(s))
		*busy = true;
}

/* ---- the runtime's functions ------------------------------------------------------------ */

static cudaError_t create(cudaStream_t *stream, unsigned flags)
{
	if (!stream || (flags != cudaStreamDefault && flags != cudaStreamNonBlocking))
		return cudaErrorInvalidValue;
	struct stream *s = stream_new(flags == cudaStreamDefault);

	if (!s)
		return cudaErrorMemoryAllocation;
	*stream = handle_open(HANDLE_STREAM, s);
	if (*stream)
		return cudaSuccess;
	stream_quit(s);
	stream_unref(s);
	return cudaErrorMemoryAllocation;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
	INJECT();
	return result(create(stream, flags));
}

cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
	INJECT();
	return result(create(stream, cudaStreamDefault));
}

/* A priority outside the range is brought into it, and here the range is 0 alone. */
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int priority)
{
	INJECT();
	(void)priority;
	return result(create(stream, flags));
}

/* Returns at once; what is queued still runs. */
cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
	INJECT();
	struct stream *s = handle_close(HANDLE_STREAM, stream);

	if (!s)
		return result(cudaErrorInvalidResourceHandle);
	capture_drop(s);
	stream_quit(s);
	stream_unref(s);
	return cudaSuccess;
}

static cudaError_t may_wait(struct stream *s)
{
	if (!s)
		return cudaErrorInvalidResourceHandle;
	if (in_host_function)
		return cudaErrorNotPermitted;
	if (stream_captures(s))
		return capture_forbids(s);
	cudaError_t error = legacy_call(s);

	return error ? error : unsafe_call();
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
	INJECT();
	struct stream *s = stream_find(stream);
	cudaError_t error = may_wait(s);

	if (error)
		return result(error);
	/* The default stream is behind all blocking ones, so waiting for it is waiting for them. */
	if (stream_is_null(s))
		streams_wait_all(true);
	else
		stream_wait(s);
	return charge(COST_SYNC, cudaSuccess);
}

cudaError_t cudaStreamQuery(cudaStream_t stream)
{
	INJECT();
	struct stream *s = stream_find(stream);
	cudaError_t error = may_wait(s);
	bool busy = false;

	if (error)
		return result(error);
	if (stream_is_null(s))
		streams_each(find_busy, &busy);
	else
		busy = !stream_done(s);
	return busy ? cudaErrorNotReady : cudaSuccess; /* an answer, not an error to remember */
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t fn, void *user_data)
{
	INJECT();
	struct stream *s = stream_find(stream);

	if (!fn)
		return result(cudaErrorInvalidValue);
	if (!s)
		return result(cudaErrorInvalidResourceHandle);
	struct op *op = stream_new_op(s);

	if (!op)
		return result(cudaErrorMemoryAllocation);
	op->kind = OP_HOST;
	op->host.fn = fn;
	op->host.user_data = user_data;
	return result(stream_submit(s, op));
}
