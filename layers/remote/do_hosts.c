/*
 * do_hosts.c - a daemon's commands about host functions of the client's, which its streams and
 * graphs call. relay() stands for one there: it asks the client and waits, on whichever thread the
 * device calls host functions. The session's own thread is not needed, as it may wait for the very
 * same stream.
 */
#include <cuda_runtime_api.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "layers/remote/session.h"

struct hosts {
	pthread_mutex_t turn_lock; /* held by who asks, until that is done */
	struct remote_turn *turn;
	struct outlet *outlet;
	unsigned asked;
	atomic_bool closed;
	atomic_uint live;		      /* there, or gone and not told */
	atomic_uint_least64_t released_bytes; /* and not settled */
	pthread_mutex_t gone_lock;
	unsigned n_gone;
	uint64_t gone[REMOTE_HOSTS];
};

struct host {
	struct hosts *all;
	uint64_t number; /* means something to the client alone */
	bool once;	 /* a stream's, which goes when it has run; else a graph's */
};

/* ---- all of them -------------------------------------------------------------------------- */

struct hosts *hosts_new(void)
{
	struct hosts *h = calloc(1, sizeof(*h));

	if (!h)
		return NULL;
	pthread_mutex_init(&h->turn_lock, NULL);
	pthread_mutex_init(&h->gone_lock, NULL);
	return h;
}

void hosts_connect(struct hosts *h, struct remote_turn *turn, struct outlet *outlet)
{
	if (!h)
		return;
	h->turn = turn;
	h->outlet = outlet;
}

void hosts_close(struct hosts *h)
{
	if (!h)
		return;
	atomic_store(&h->closed, true);
	if (h->turn)
		remote_wake(&h->turn->done);
}

void hosts_free(struct hosts *h)
{
	free(h);
}

void hosts_settle(struct session *s)
{
	if (s->hosts)
		s->memory_bytes -= atomic_exchange(&s->hosts->released_bytes, 0);
}

/* ---- asking the client -------------------------------------------------------------------- */

/* Where the session is closed, who sleeps may have missed it. */
enum { NAP_NS = 100000000 };

static void publish(struct hosts *h, const struct remote_asked *what)
{
	h->turn->what = *what;
	atomic_store(&h->turn->asked, ++h->asked);
	if (h->outlet)
		outlet_ask(h->outlet, what, NULL, 0);
	else
		remote_wake(&h->turn->asked);
}

/* False: nobody is there any more. */
static bool await(struct hosts *h)
{
	unsigned done;

	while ((done = atomic_load(&h->turn->done)) != h->asked && !atomic_load(&h->closed))
		remote_sleep(&h->turn->done, done, NAP_NS);
	return done == h->asked;
}

static bool ask(struct hosts *h, const struct remote_asked *what)
{
	bool done = false;

	pthread_mutex_lock(&h->turn_lock);
	if (h->turn && !atomic_load(&h->closed)) {
		publish(h, what);
		done = await(h);
	}
	pthread_mutex_unlock(&h->turn_lock);
	return done;
}

static void host_free(struct host *h)
{
	atomic_fetch_sub(&h->all->live, 1);
	free(h);
}

/* What streams and graphs call. */
static void relay(void *host)
{
	struct host *h = host;

	ask(h->all, &(struct remote_asked){ .number = h->number });
	if (h->once)
		host_free(h);
}

/* ---- which there are ---------------------------------------------------------------------- */

/* The client hears of it when it asks. Those that are not told are among the live. */
static void enter_gone(struct hosts *h, uint64_t number)
{
	pthread_mutex_lock(&h->gone_lock);
	if (h->n_gone < REMOTE_HOSTS)
		h->gone[h->n_gone++] = number;
	else
		atomic_fetch_sub(&h->live, 1);
	pthread_mutex_unlock(&h->gone_lock);
}

/* No graph has it any more, nor any launch of one; on a thread of the runtime's. */
static void let_go(void *host)
{
	struct host *h = host;

	enter_gone(h->all, h->number);
	free(h);
}

static struct host *host_new(struct session *s, uint64_t number, bool once)
{
	struct host *h;

	if (!s->hosts || atomic_load(&s->hosts->live) >= REMOTE_HOSTS)
		return NULL;
	h = calloc(1, sizeof(*h));
	if (!h)
		return NULL;
	*h = (struct host){ .all = s->hosts, .number = number, .once = once };
	atomic_fetch_add(&s->hosts->live, 1);
	return h;
}

/* It is the graph's from then on; after an error it is gone. */
static int give_to_graph(struct host *h, cudaGraph_t graph)
{
	cudaUserObject_t object;
	int err = (int)cudaUserObjectCreate(&object, h, let_go, 1, cudaUserObjectNoDestructorSync);

	if (err) {
		host_free(h);
		return err;
	}
	err = (int)cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove);
	if (err)
		cudaUserObjectRelease(object, 1);
	return err;
}

/* ---- commands ----------------------------------------------------------------------------- */

static int growing_graph(cudaStream_t stream, cudaGraph_t *graph)
{
	enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
	unsigned long long id;
#if CUDART_VERSION >= 13000
	int err = (int)cudaStreamGetCaptureInfo(stream, &status, &id, graph, NULL, NULL, NULL);
#else
	int err = (int)cudaStreamGetCaptureInfo(stream, &status, &id, graph, NULL, NULL);
#endif

	if (!err && status == cudaStreamCaptureStatusInvalidated)
		err = cudaErrorStreamCaptureInvalidated;
	if (status != cudaStreamCaptureStatusActive)
		*graph = NULL;
	return err;
}

static int launch(struct session *s, uint64_t number, cudaStream_t stream, cudaGraph_t graph)
{
	struct host *h = host_new(s, number, !graph);
	int err = h ? 0 : (int)cudaErrorMemoryAllocation;

	if (h && graph)
		err = give_to_graph(h, graph);
	if (err)
		return err;
	err = (int)cudaLaunchHostFunc(stream, relay, h);
	if (err && !graph)
		host_free(h);
	return err;
}

/* Who has sent it ahead hears of an error by the number's end. */
int do_host_call(struct session *s, struct request *r)
{
	uint64_t number = r->word[0];
	bool captured = r->word[2];
	cudaGraph_t graph = NULL;
	cudaStream_t stream;
	int err = session_stream(s, r->word[1], &stream) ? growing_graph(stream, &graph)
							 : (int)cudaErrorInvalidResourceHandle;

	if (!err && captured != (graph != NULL))
		err = cudaErrorInvalidValue;
	err = err ? err : launch(s, number, stream, graph);
	if (err && !captured && s->hosts) {
		atomic_fetch_add(&s->hosts->live, 1);
		enter_gone(s->hosts, number);
	}
	return err;
}

int do_host_gone(struct session *s, struct request *r)
{
	enum { FIT = REMOTE_ANSWER_BYTES / 8 - 1 };
	struct hosts *h = s->hosts;
	uint64_t n;

	if (!h)
		return cudaErrorMemoryAllocation;
	pthread_mutex_lock(&h->gone_lock);
	n = h->n_gone < FIT ? h->n_gone : FIT;
	h->n_gone -= (unsigned)n;
	answer_put(r, &n, sizeof(n));
	answer_put(r, h->gone + h->n_gone, n * sizeof(*h->gone));
	atomic_fetch_sub(&h->live, (unsigned)n);
	pthread_mutex_unlock(&h->gone_lock);
	return 0;
}
