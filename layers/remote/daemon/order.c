/*
 * order.c - a client whose daemon's process has other clients, too. CUDA's default streams and its
 * waits for the device are the process's, and would have each client wait for all. So a client has
 * streams in their place. They are kept in CUDA's order among the client's own streams: by events,
 * where a stream and the default one have had work since they last met.
 */
#include <cuda_runtime_api.h>
#include <errno.h>
#include <stdlib.h>

#include "common/check.h"
#include "layers/remote/daemon/session.h"

/* ---- beginning and end -------------------------------------------------------------------- */

static int new_stream(cudaStream_t *stream)
{
	return (int)cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking);
}

/* Where memory can be taken in a stream's order. */
static bool has_pools(int device)
{
	int has = 0;

	return !cudaDeviceGetAttribute(&has, cudaDevAttrMemoryPoolsSupported, device) && has;
}

bool order_begin(struct session *s)
{
	struct order *o = calloc(1, sizeof(*o));
	int err = !o			 ? (int)cudaErrorMemoryAllocation
		  : has_pools(s->device) ? new_stream(&o->legacy.stream)
					 : (int)cudaErrorNotSupported;

	err = err ? err : new_stream(&o->per_thread.stream);
	err = err ? err : new_stream(&o->aside);
	err = err ? err : new_stream(&o->ended);
	err = err ? err : (int)cudaEventCreateWithFlags(&o->mark, cudaEventDisableTiming);
	s->order = o;
	if (err)
		order_release(s);
	else
		o->per_thread.blocking = true;
	return !err;
}

void order_release(struct session *s)
{
	struct order *o = s->order;
	const cudaStream_t all[] = { o ? o->legacy.stream : NULL, o ? o->per_thread.stream : NULL,
				     o ? o->aside : NULL, o ? o->ended : NULL };

	s->order = NULL;
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (all[i])
			cudaStreamDestroy(all[i]);
	if (o && o->mark)
		cudaEventDestroy(o->mark);
	free(o);
}

/* ---- which streams there are -------------------------------------------------------------- */

/* One after the other, from i = 0; NULL: that was the last. The default one is not among them. */
static struct served_stream *next_stream(const struct session *s, uint64_t *i)
{
	while (*i < s->streams.room) {
		struct served_stream *found = s->streams.at[(*i)++];

		if (found)
			return found;
	}
	return (*i)++ == s->streams.room ? &s->order->per_thread : NULL;
}

static bool is_default(uint64_t word)
{
	return word < 2;
}

struct served_stream *order_find(const struct session *s, uint64_t word)
{
	if (word < REMOTE_WAITS)
		return is_default(word) ? &s->order->legacy : &s->order->per_thread;
	return word < REMOTE_OWN ? NULL : table_get(&s->streams, word - REMOTE_OWN);
}

/* Where the device does no more, who asks goes on, to the call that returns why. */
static bool captures(const struct served_stream *stream)
{
	enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
	int err = (int)cudaStreamIsCapturing(stream->stream, &status);

	return err ? !ends_the_device(err) : status != cudaStreamCaptureStatusNone;
}

bool order_captures(const struct session *s)
{
	struct served_stream *stream;

	for (uint64_t i = 0; (stream = next_stream(s, &i));)
		if (captures(stream))
			return true;
	return false;
}

/* A call that no capture bears. */
static void spoil(const struct served_stream *stream)
{
	cudaStreamSynchronize(stream->stream);
	cudaGetLastError();
}

/* ---- the default stream's order ----------------------------------------------------------- */

/* What is submitted to `later` from now on waits for what `first` has been given. */
static int put_behind(const struct session *s, cudaStream_t later, cudaStream_t first)
{
	int err = (int)cudaEventRecord(s->order->mark, first);

	return err ? err : (int)cudaStreamWaitEvent(later, s->order->mark, 0);
}

/* The default stream is used: behind all blocking ones that were, too. */
static int use_default(struct session *s)
{
	struct order *o = s->order;
	struct served_stream *other;
	int err = 0;

	for (uint64_t i = 0; !err && (other = next_stream(s, &i));) {
		if (!other->blocking || other->used == other->joined)
			continue;
		if (captures(other)) {
			spoil(other);
			return cudaErrorStreamCaptureImplicit;
		}
		err = put_behind(s, o->legacy.stream, other->stream);
		other->joined = other->used;
	}
	o->legacy.used = ++o->clock;
	return err;
}

/* What a capture takes in does not run now, so it is behind nothing. */
static int use(struct session *s, struct served_stream *stream)
{
	struct order *o = s->order;
	int err = 0;

	if (stream->blocking && stream->behind != o->legacy.used && !captures(stream)) {
		err = put_behind(s, stream->stream, o->legacy.stream);
		stream->behind = o->legacy.used;
	}
	stream->used = ++o->clock;
	return err;
}

int order_stream(struct session *s, uint64_t word, cudaStream_t *stream)
{
	struct served_stream *found = order_find(s, word);

	if (!found)
		return cudaErrorInvalidResourceHandle;
	*stream = found->stream;
	return is_default(word) ? use_default(s) : use(s, found);
}

static void end_capture(struct served_stream *origin)
{
	cudaGraph_t graph = NULL;

	if (origin->captures && !cudaStreamEndCapture(origin->stream, &graph) && graph)
		cudaGraphDestroy(graph);
	origin->captures = CAPTURES_NOT;
}

/* All of them: a stream that takes part in one is not waited for otherwise. */
static void end_captures(struct session *s)
{
	struct served_stream *stream;

	for (uint64_t i = 0; (stream = next_stream(s, &i));)
		end_capture(stream);
	s->order->open = s->order->strict = 0;
	cudaGetLastError();
}

void order_leave(struct session *s, struct served_stream *stream)
{
	struct order *o = s->order;

	if (captures(stream)) {
		end_capture(stream); /* which is none of the client's any more */
		end_captures(s);
	}
	if (put_behind(s, o->ended, stream->stream) ||
	    (stream->blocking && put_behind(s, o->legacy.stream, stream->stream)))
		cudaGetLastError();
}

/* ---- waiting ------------------------------------------------------------------------------ */

int order_wait(struct session *s)
{
	struct order *o = s->order;
	struct served_stream *stream;
	int err = order_device_call(s);

	for (uint64_t i = 0; !err && (stream = next_stream(s, &i));)
		err = (int)cudaStreamSynchronize(stream->stream);
	err = err ? err : (int)cudaStreamSynchronize(o->legacy.stream);
	return err ? err : (int)cudaStreamSynchronize(o->ended);
}

/* ---- captures ----------------------------------------------------------------------------- */

static int forbid(struct session *s, bool relaxed_ones)
{
	struct served_stream *stream;
	int err = 0;

	for (uint64_t i = 0; (stream = next_stream(s, &i));)
		if ((relaxed_ones || stream->captures == CAPTURES_STRICTLY) && captures(stream)) {
			spoil(stream);
			err = cudaErrorStreamCaptureUnsupported;
		}
	return err;
}

int order_unsafe_call(struct session *s)
{
	return s->order->strict ? forbid(s, false) : 0;
}

int order_device_call(struct session *s)
{
	return forbid(s, true);
}

/* A stream that captures cannot be waited for: what it has been given before is, by another. */
static int leave_to_wait_for(const struct session *s, const struct served_stream *stream)
{
	return captures(stream) ? 0 : put_behind(s, s->order->ended, stream->stream);
}

/* Who waits for what is captured takes part in that capture from then on. */
int order_wait_event(struct session *s, uint64_t word, cudaEvent_t event, unsigned flags)
{
	struct served_stream *found = order_find(s, word);
	cudaStream_t stream;
	int err = order_stream(s, word, &stream);

	if (!err && s->order->open && !is_default(word))
		err = leave_to_wait_for(s, found);
	err = err ? err : (int)cudaStreamWaitEvent(stream, event, flags);
	return err ? err : order_keep_out(s, word);
}

/* Thread-local where the client asks for one of all threads: its calls are all made by this one,
 * and those of other clients are none of its business. */
int order_capture_begin(struct session *s, uint64_t word, enum cudaStreamCaptureMode mode)
{
	struct served_stream *stream = order_find(s, word);
	bool relaxed = mode == cudaStreamCaptureModeRelaxed;
	int err;

	if (!stream)
		return cudaErrorInvalidResourceHandle;
	if (is_default(word))
		return cudaErrorStreamCaptureUnsupported;
	if (mode == cudaStreamCaptureModeGlobal)
		mode = cudaStreamCaptureModeThreadLocal;
	err = leave_to_wait_for(s, stream);
	err = err ? err : (int)cudaStreamBeginCapture(stream->stream, mode);
	if (!err) {
		stream->captures = relaxed ? CAPTURES : CAPTURES_STRICTLY;
		stream->used = ++s->order->clock; /* the default stream meets it */
		s->order->open++;
		s->order->strict += !relaxed;
	}
	return err;
}

int order_capture_end(struct session *s, uint64_t word, cudaGraph_t *graph)
{
	struct served_stream *stream = order_find(s, word);
	int err = stream ? (int)cudaStreamEndCapture(stream->stream, graph)
			 : (int)cudaErrorInvalidResourceHandle;

	if (stream && stream->captures && !captures(stream)) {
		s->order->open--;
		s->order->strict -= stream->captures == CAPTURES_STRICTLY;
		stream->captures = CAPTURES_NOT;
	}
	return err;
}

int order_ask_default(const struct session *s, uint64_t word)
{
	struct served_stream *stream;

	for (uint64_t i = 0; is_default(word) && (stream = next_stream(s, &i));)
		if (stream->blocking && captures(stream))
			return cudaErrorStreamCaptureImplicit;
	return 0;
}

int order_keep_out(struct session *s, uint64_t word)
{
	if (!is_default(word) || !captures(&s->order->legacy))
		return 0;
	spoil(&s->order->legacy);
	return cudaErrorStreamCaptureUnsupported;
}

/* ---- memory ------------------------------------------------------------------------------- */

/* cudaMalloc() and cudaFree() may wait for the work of all clients. As they do, nothing is NULL. */
int order_malloc(struct session *s, void **memory, uint64_t bytes)
{
	int err = order_unsafe_call(s);

	*memory = NULL;
	if (!bytes)
		return err;
	err = err ? err : (int)cudaMallocAsync(memory, bytes, s->order->aside);
	return err ? err : (int)cudaStreamSynchronize(s->order->aside);
}

/* For the client's own work. What captures forbid is forbidden as well. */
int order_free(struct session *s, void *memory)
{
	struct served_stream *stream;
	int err = order_unsafe_call(s);

	if (!memory)
		return err;
	for (uint64_t i = 0; !err && (stream = next_stream(s, &i));)
		err = captures(stream) ? 0 : (int)cudaStreamSynchronize(stream->stream);
	err = err ? err : (int)cudaStreamSynchronize(s->order->legacy.stream);
	err = err ? err : (int)cudaStreamSynchronize(s->order->ended);
	err = err ? err : (int)cudaFreeAsync(memory, s->order->aside);
	return err ? err : (int)cudaStreamSynchronize(s->order->aside);
}

/* ---- the end ------------------------------------------------------------------------------ */

enum { NAP_NS = 1000000 };

void order_say_slow(void)
{
	complain(EBUSY, "layer remote: a client has ended, but its work has not; its memory stays "
			"in use until then");
}

/* A kernel cannot be stopped without all others: what the client had stays until it ends. */
static void await_end(cudaStream_t stream, int64_t began_ns, bool *said)
{
	const struct timespec nap = { .tv_nsec = NAP_NS };

	while (cudaStreamQuery(stream) == cudaErrorNotReady) {
		if (!*said && remote_now_ns() - began_ns > ORDER_SLOW_NS) {
			order_say_slow();
			*said = true;
		}
		nanosleep(&nap, NULL);
	}
}

void order_settle(struct session *s)
{
	int64_t began_ns = remote_now_ns();
	struct served_stream *stream;
	bool said = false;

	end_captures(s);
	for (uint64_t i = 0; (stream = next_stream(s, &i));)
		await_end(stream->stream, began_ns, &said);
	await_end(s->order->legacy.stream, began_ns, &said);
	await_end(s->order->ended, began_ns, &said);
	cudaGetLastError();
}
