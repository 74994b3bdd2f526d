/* do_streams.c - a daemon's commands about streams and events. */
#include "layers/remote/session.h"

#include <cuda_runtime_api.h>

/* ---- streams ------------------------------------------------------------------------------ */

int do_stream_create(struct session *s, struct request *r)
{
	cudaStream_t stream;
	int err = (int)cudaStreamCreateWithPriority(&stream, (unsigned)r->word[1], (int)r->word[2]);

	if (err || table_put(&s->streams, r->word[0], stream))
		return err;
	cudaStreamDestroy(stream);
	return cudaErrorInvalidResourceHandle;
}

int do_stream_destroy(struct session *s, struct request *r)
{
	cudaStream_t stream = table_take(&s->streams, r->word[0]);

	if (!stream)
		return cudaErrorInvalidResourceHandle;
	blas_forget_stream(s, stream);
	return (int)cudaStreamDestroy(stream);
}

int do_stream_wait(struct session *s, struct request *r)
{
	cudaStream_t stream;

	if (!session_stream(s, r->word[0], &stream))
		return cudaErrorInvalidResourceHandle;
	return (int)cudaStreamSynchronize(stream);
}

int do_stream_query(struct session *s, struct request *r)
{
	cudaStream_t stream;

	if (!session_stream(s, r->word[0], &stream))
		return cudaErrorInvalidResourceHandle;
	return (int)cudaStreamQuery(stream);
}

int do_stream_wait_event(struct session *s, struct request *r)
{
	cudaEvent_t event = table_get(&s->events, r->word[1]);
	cudaStream_t stream;

	if (!event || !session_stream(s, r->word[0], &stream))
		return cudaErrorInvalidResourceHandle;
	return (int)cudaStreamWaitEvent(stream, event, (unsigned)r->word[2]);
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

	if (!event || !session_stream(s, r->word[1], &stream))
		return cudaErrorInvalidResourceHandle;
	return (int)cudaEventRecordWithFlags(event, stream, (unsigned)r->word[2]);
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
