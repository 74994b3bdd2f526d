/* do_streams.c - a daemon's commands about streams and events. */
#include "layers/remote/daemon/session.h"

#include <cuda_runtime_api.h>
#include <stdlib.h>

/* ---- streams ------------------------------------------------------------------------------ */

/* CUDA's default stream is all clients', so a shared process has none that wait for it. */
int do_stream_create(struct session *s, struct request *r)
{
	unsigned flags = (unsigned)r->word[1], own = s->order ? cudaStreamNonBlocking : 0;
	struct served_stream *served = calloc(1, sizeof(*served));
	int err = served ? (int)cudaStreamCreateWithPriority(&served->stream, flags | own,
							     (int)r->word[2])
			 : (int)cudaErrorMemoryAllocation;

	if (!err) {
		served->blocking = !(flags & cudaStreamNonBlocking);
		if (table_put(&s->streams, r->word[0], served))
			return 0;
		cudaStreamDestroy(served->stream);
		err = cudaErrorInvalidResourceHandle;
	}
	free(served);
	return err;
}

int do_stream_destroy(struct session *s, struct request *r)
{
	struct served_stream *served = table_take(&s->streams, r->word[0]);
	int err;

	if (!served)
		return cudaErrorInvalidResourceHandle;
	blas_forget_stream(s, served->stream);
	if (s->order)
		order_leave(s, served);
	err = (int)cudaStreamDestroy(served->stream);
	free(served);
	return err;
}

int do_stream_wait(struct session *s, struct request *r)
{
	cudaStream_t stream;
	int err = session_stream(s, r->word[0], &stream);

	return err ? err : (int)cudaStreamSynchronize(stream);
}

int do_stream_query(struct session *s, struct request *r)
{
	cudaStream_t stream;
	int err = session_stream(s, r->word[0], &stream);

	return err ? err : (int)cudaStreamQuery(stream);
}

int do_stream_wait_event(struct session *s, struct request *r)
{
	cudaEvent_t event = table_get(&s->events, r->word[1]);
	unsigned flags = (unsigned)r->word[2];
	cudaStream_t stream;
	int err;

	if (!event)
		return cudaErrorInvalidResourceHandle;
	if (s->order)
		return order_wait_event(s, r->word[0], event, flags);
	err = session_stream(s, r->word[0], &stream);
	return err ? err : (int)cudaStreamWaitEvent(stream, event, flags);
}

/* ---- events ------------------------------------------------------------------------------- */

int do_event_create(struct session *s, struct request *r)
{
	cudaEvent_t event;
	int err = (int)cudaEventCreateWithFlags(&event, (unsigned)r->word[1]);

	if (err || table_put(&s->events, r->word[0], event))
		return err;
	cudaEventDestroy(event);
	return cudaErrorInvalidResourceHandle;
}

int do_event_destroy(struct session *s, struct request *r)
{
	cudaEvent_t event = table_take(&s->events, r->word[0]);

	return event ? (int)cudaEventDestroy(event) : (int)cudaErrorInvalidResourceHandle;
}

int do_event_record(struct session *s, struct request *r)
{
	cudaEvent_t event = table_get(&s->events, r->word[0]);
	cudaStream_t stream;
	int err = event ? session_stream(s, r->word[1], &stream)
			: (int)cudaErrorInvalidResourceHandle;

	return err ? err : (int)cudaEventRecordWithFlags(event, stream, (unsigned)r->word[2]);
}

int do_event_wait(struct session *s, struct request *r)
{
	cudaEvent_t event = table_get(&s->events, r->word[0]);

	return event ? (int)cudaEventSynchronize(event) : (int)cudaErrorInvalidResourceHandle;
}

int do_event_query(struct session *s, struct request *r)
{
	cudaEvent_t event = table_get(&s->events, r->word[0]);

	return event ? (int)cudaEventQuery(event) : (int)cudaErrorInvalidResourceHandle;
}

int do_event_elapsed(struct session *s, struct request *r)
{
	cudaEvent_t start = table_get(&s->events, r->word[0]),
		    end = table_get(&s->events, r->word[1]);
	float ms = 0;
	int err = start && end ? (int)cudaEventElapsedTime(&ms, start, end)
			       : (int)cudaErrorInvalidResourceHandle;

	answer_put(r, &ms, sizeof(ms));
	return err;
}
