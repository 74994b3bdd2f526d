/* streams.c - functions about streams and events. */
#include "layers/remote/preload/client.h"

SHOWN int cudaStreamCreate(void **stream);
SHOWN int cudaStreamCreateWithFlags(void **stream, unsigned flags);
SHOWN int cudaStreamCreateWithPriority(void **stream, unsigned flags, int priority);
SHOWN int cudaStreamGetFlags(void *stream, unsigned *flags);
SHOWN int cudaStreamDestroy(void *stream);
SHOWN int cudaStreamSynchronize(void *stream);
SHOWN int cudaStreamQuery(void *stream);
SHOWN int cudaStreamWaitEvent(void *stream, void *event, unsigned flags);
SHOWN int cudaEventCreate(void **event);
SHOWN int cudaEventCreateWithFlags(void **event, unsigned flags);
SHOWN int cudaEventDestroy(void *event);
SHOWN int cudaEventRecord(void *event, void *stream);
SHOWN int cudaEventRecordWithFlags(void *event, void *stream, unsigned flags);
SHOWN int cudaEventSynchronize(void *event);
SHOWN int cudaEventQuery(void *event);
SHOWN int cudaEventElapsedTime(float *ms, void *start, void *end);

/* ---- streams ------------------------------------------------------------------------------ */

enum { NON_BLOCKING = 1 };

int cudaStreamCreateWithPriority(void **stream, unsigned flags, int priority)
{
	int error = stream && flags <= NON_BLOCKING ? client_enter()
						    : client_result(CUDA_INVALID_VALUE);
	uint64_t number;

	if (error)
		return error;
	*stream = handle_open(HANDLE_STREAM, &number);
	if (!*stream)
		return client_leave(CUDA_NO_MEMORY);
	*handle_note(HANDLE_STREAM, number) = flags;
	return client_leave(client_ahead(REMOTE_STREAM_CREATE,
					 WORDS(number, flags, (uint64_t)(unsigned)priority)));
}

int cudaStreamCreateWithFlags(void **stream, unsigned flags)
{
	return cudaStreamCreateWithPriority(stream, flags, 0);
}

int cudaStreamCreate(void **stream)
{
	return cudaStreamCreateWithPriority(stream, 0, 0);
}

int cudaStreamGetFlags(void *stream, unsigned *flags)
{
	int error = client_enter();
	uint64_t word;

	if (error)
		return error;
	if (!handle_stream(stream, &word))
		return client_leave(CUDA_INVALID_HANDLE);
	if (!flags)
		return client_leave(CUDA_INVALID_VALUE);
	*flags = word < REMOTE_OWN ? 0 : (unsigned)*handle_note(HANDLE_STREAM, word - REMOTE_OWN);
	return client_leave(0);
}

int cudaStreamDestroy(void *stream)
{
	int error = client_enter();
	uint64_t number;

	if (error)
		return error;
	return client_leave(handle_close(HANDLE_STREAM, stream, &number)
				    ? client_ahead(REMOTE_STREAM_DESTROY, WORDS(number))
				    : CUDA_INVALID_HANDLE);
}

static int ask_stream(void *stream, enum remote_op op)
{
	int error = client_enter();
	uint64_t where;

	if (error)
		return error;
	return client_leave(handle_stream(stream, &where) ? client_ask(op, WORDS(where), NULL, 0)
							  : CUDA_INVALID_HANDLE);
}

int cudaStreamSynchronize(void *stream)
{
	return ask_stream(stream, REMOTE_STREAM_WAIT);
}

int cudaStreamQuery(void *stream)
{
	return ask_stream(stream, REMOTE_STREAM_QUERY);
}

int cudaStreamWaitEvent(void *stream, void *event, unsigned flags)
{
	int error = client_enter();
	uint64_t where, number;

	if (error)
		return error;
	if (!handle_stream(stream, &where) || !handle_number(HANDLE_EVENT, event, &number))
		return client_leave(CUDA_INVALID_HANDLE);
	return client_leave(
		client_ahead_if(!flags, REMOTE_STREAM_WAIT_EVENT, WORDS(where, number, flags)));
}

/* ---- events ------------------------------------------------------------------------------- */

int cudaEventCreateWithFlags(void **event, unsigned flags)
{
	enum { BLOCKING_SYNC = 1, DISABLE_TIMING = 2 };
	int error = event && flags <= (BLOCKING_SYNC | DISABLE_TIMING)
			    ? client_enter()
			    : client_result(CUDA_INVALID_VALUE);
	uint64_t number;

	if (error)
		return error;
	*event = handle_open(HANDLE_EVENT, &number);
	return client_leave(*event ? client_ahead(REMOTE_EVENT_CREATE, WORDS(number, flags))
				   : CUDA_NO_MEMORY);
}

int cudaEventCreate(void **event)
{
	return cudaEventCreateWithFlags(event, 0);
}

int cudaEventDestroy(void *event)
{
	int error = client_enter();
	uint64_t number;

	if (error)
		return error;
	return client_leave(handle_close(HANDLE_EVENT, event, &number)
				    ? client_ahead(REMOTE_EVENT_DESTROY, WORDS(number))
				    : CUDA_INVALID_HANDLE);
}

int cudaEventRecordWithFlags(void *event, void *stream, unsigned flags)
{
	int error = client_enter();
	uint64_t where, number;

	if (error)
		return error;
	if (!handle_stream(stream, &where) || !handle_number(HANDLE_EVENT, event, &number))
		return client_leave(CUDA_INVALID_HANDLE);
	return client_leave(
		client_ahead_if(!flags, REMOTE_EVENT_RECORD, WORDS(number, where, flags)));
}

int cudaEventRecord(void *event, void *stream)
{
	return cudaEventRecordWithFlags(event, stream, 0);
}

static int ask_event(void *event, enum remote_op op)
{
	int error = client_enter();
	uint64_t number;

	if (error)
		return error;
	return client_leave(handle_number(HANDLE_EVENT, event, &number)
				    ? client_ask(op, WORDS(number), NULL, 0)
				    : CUDA_INVALID_HANDLE);
}

int cudaEventSynchronize(void *event)
{
	return ask_event(event, REMOTE_EVENT_WAIT);
}

int cudaEventQuery(void *event)
{
	return ask_event(event, REMOTE_EVENT_QUERY);
}

int cudaEventElapsedTime(float *ms, void *start, void *end)
{
	int error = ms ? client_enter() : client_result(CUDA_INVALID_VALUE);
	uint64_t first, second;

	if (error)
		return error;
	if (!handle_number(HANDLE_EVENT, start, &first) ||
	    !handle_number(HANDLE_EVENT, end, &second))
		return client_leave(CUDA_INVALID_HANDLE);
	return client_leave(
		client_ask(REMOTE_EVENT_ELAPSED, WORDS(first, second), ms, sizeof(*ms)));
}
