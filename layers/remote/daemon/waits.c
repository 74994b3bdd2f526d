/*
 * waits.c - threads of a client that wait for the device, while others of it are served. A wait is
 * for what was submitted before it: an event is recorded behind that, and asked for.
 */
#include <cuda_runtime_api.h>
#include <stdlib.h>

#include "layers/remote/daemon/session.h"

static void drop(struct parked *p)
{
	for (size_t i = 0; i < p->n; i++)
		cudaEventDestroy(p->before[i]);
	free(p->before);
	*p = (struct parked){ 0 };
}

/* False: a stream that records forbids it, or there is no memory. */
static bool record_behind(struct parked *p, cudaStream_t stream)
{
	cudaEvent_t event;

	if (cudaEventCreateWithFlags(&event, cudaEventDisableTiming))
		return false;
	p->before[p->n++] = event;
	return !cudaEventRecord(event, stream);
}

/* Behind one stream, or all that the client has, and CUDA's default ones. */
static bool record(struct session *s, struct parked *p, const struct remote_command *c)
{
	enum { OTHERS = 3 };
	const cudaStream_t defaults[OTHERS] = { (cudaStream_t)pointer_of(0),
						(cudaStream_t)pointer_of(2), NULL };
	const cudaStream_t own[OTHERS] = { s->order ? s->order->legacy.stream : NULL,
					   s->order ? s->order->per_thread.stream : NULL,
					   s->order ? s->order->ended : NULL };
	cudaStream_t stream;

	p->before = calloc(s->streams.room + OTHERS, sizeof(*p->before));
	if (!p->before)
		return false;
	if (c->op == REMOTE_STREAM_WAIT)
		return !session_stream(s, c->word[0], &stream) && record_behind(p, stream);
	for (size_t i = 0; i < (s->order ? OTHERS : 2); i++)
		if (!record_behind(p, s->order ? own[i] : defaults[i]))
			return false;
	for (uint64_t i = 0; i < s->streams.room; i++) {
		const struct served_stream *served = s->streams.at[i];

		if (served && !record_behind(p, served->stream))
			return false;
	}
	return true;
}

/* A command of such a kind has its words, and no payload. */
static bool is_wait(const struct remote_command *c, uint64_t readable)
{
	unsigned words = c->op != REMOTE_DEVICE_WAIT;

	return c->flags & REMOTE_ANSWERED && c->thread < REMOTE_THREADS && !c->payload &&
	       (c->op == REMOTE_STREAM_WAIT || c->op == REMOTE_EVENT_WAIT ||
		c->op == REMOTE_DEVICE_WAIT) &&
	       c->bytes == remote_command_bytes(words, 0) && c->bytes <= readable;
}

/* Then the wait is an error, which whoever does the command finds. */
static bool captures(const struct session *s, const struct remote_command *c)
{
	enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
	cudaStream_t stream;

	if (c->op == REMOTE_DEVICE_WAIT)
		return s->order && order_captures(s);
	return c->op == REMOTE_STREAM_WAIT &&
	       (session_find_stream(s, c->word[0], &stream) ||
		cudaStreamIsCapturing(stream, &status) || status != cudaStreamCaptureStatusNone);
}

bool waits_park(struct session *s, const struct remote_command *c, uint64_t readable)
{
	struct parked p = { .thread = c->thread, .event = REMOTE_EVENTS };

	if (!is_wait(c, readable) || s->n_parked == REMOTE_THREADS || captures(s, c))
		return false;
	if (c->op == REMOTE_EVENT_WAIT) {
		p.event = c->word[0];
	} else if (!record(s, &p, c)) {
		cudaGetLastError();
		drop(&p);
		return false;
	}
	s->parked[s->n_parked++] = p;
	s->done++;
	return true;
}

/* cudaErrorNotReady: not yet. */
static int ask(const struct session *s, struct parked *p)
{
	int error = 0;

	if (p->event != REMOTE_EVENTS) {
		cudaEvent_t event = table_get(&s->events, p->event);

		return event ? (int)cudaEventQuery(event) : (int)cudaErrorInvalidResourceHandle;
	}
	while (p->done < p->n && !(error = (int)cudaEventQuery(p->before[p->done])))
		p->done++;
	return error;
}

bool waits_take(struct session *s, unsigned *thread, int *error)
{
	for (unsigned i = 0; i < s->n_parked; i++) {
		*error = ask(s, &s->parked[i]);
		if (*error == cudaErrorNotReady)
			continue;
		*thread = s->parked[i].thread;
		drop(&s->parked[i]);
		s->parked[i] = s->parked[--s->n_parked];
		return true;
	}
	return false;
}

void waits_release(struct session *s)
{
	while (s->n_parked)
		drop(&s->parked[--s->n_parked]);
}
