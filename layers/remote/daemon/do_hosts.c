/*
 * do_hosts.c - a daemon's commands about host functions of the client's, which its streams and
 * graphs call. relay() stands for one there: it asks the client and waits, on whichever thread the
 * device calls host functions. The session's own thread is not needed, as it may wait for the very
 * same stream.
 *
 * A graph's copy from or to memory that the daemon does not have goes by way of a buffer of the
 * graph's: before the copy or behind it, relay() moves the client's memory, part by part.
 */
#include <cuda_runtime_api.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "layers/remote/daemon/session.h"

struct hosts {
	atomic_uint n_refs;	   /* the session's, and one each */
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

enum host_kind { HOST_CALL, HOST_IN, HOST_OUT };

struct host {
	struct hosts *all;
	uint64_t number; /* means something to the client alone */
	enum host_kind kind;
	bool once;	/* a stream's, which goes when it has run; else a graph's */
	uint64_t bytes; /* of the buffer */
	uint8_t buffer[];
};

/* ---- all of them -------------------------------------------------------------------------- */

struct hosts *hosts_new(void)
{
	struct hosts *h = calloc(1, sizeof(*h));

	if (!h)
		return NULL;
	atomic_init(&h->n_refs, 1);
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

/* A graph's may go on a thread of the runtime's, after the session. */
static void unref(struct hosts *h)
{
	if (atomic_fetch_sub(&h->n_refs, 1) == 1)
		free(h);
}

void hosts_free(struct hosts *h)
{
	if (h)
		unref(h);
}

bool hosts_are_there(const struct session *s)
{
	return s->hosts && atomic_load(&s->hosts->live);
}

void hosts_settle(struct session *s)
{
	if (s->hosts)
		s->memory_bytes -= atomic_exchange(&s->hosts->released_bytes, 0);
}

/* ---- asking the client -------------------------------------------------------------------- */

/* Where the session is closed, who sleeps may have missed it. */
enum { NAP_NS = 100000000 };

static void publish(struct hosts *h, const struct remote_asked *what, bool with_data)
{
	h->turn->what = *what;
	atomic_store(&h->turn->asked, ++h->asked);
	if (h->outlet)
		outlet_ask(h->outlet, what, h->turn->data, with_data ? what->bytes : 0);
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

static bool ask(struct host *host, const struct remote_asked *what)
{
	struct hosts *h = host->all;
	uint8_t *part = host->buffer + what->offset;
	bool done = false;

	pthread_mutex_lock(&h->turn_lock);
	if (h->turn && !atomic_load(&h->closed)) {
		if (host->kind == HOST_OUT)
			memcpy(h->turn->data, part, what->bytes);
		publish(h, what, host->kind == HOST_OUT);
		done = await(h);
		if (host->kind == HOST_IN)
			memcpy(part, h->turn->data, what->bytes);
	}
	pthread_mutex_unlock(&h->turn_lock);
	return done;
}

static void host_free(struct host *h)
{
	atomic_fetch_sub(&h->all->live, 1);
	unref(h->all);
	free(h);
}

/* What streams and graphs call. */
static void relay(void *host)
{
	struct host *h = host;
	struct remote_asked what = { .number = h->number };

	do {
		uint64_t left = h->bytes - what.offset;

		what.bytes = left < REMOTE_TURN_BYTES ? (uint32_t)left : REMOTE_TURN_BYTES;
		if (!ask(h, &what))
			break;
		what.offset += what.bytes;
	} while (what.offset < h->bytes);
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
	atomic_fetch_add(&h->all->released_bytes, h->bytes);
	unref(h->all);
	free(h);
}

/* The buffer counts as memory; NULL: there is none, or too much. */
static struct host *host_new(struct session *s, const struct host *like)
{
	struct host *h;

	if (!s->hosts || atomic_load(&s->hosts->live) >= REMOTE_HOSTS ||
	    !memory_may_take(s, like->bytes))
		return NULL;
	h = malloc(sizeof(*h) + like->bytes);
	if (!h)
		return NULL;
	*h = *like;
	h->all = s->hosts;
	atomic_fetch_add(&s->hosts->live, 1);
	atomic_fetch_add(&s->hosts->n_refs, 1);
	s->memory_bytes += h->bytes;
	return h;
}

/* It is the graph's from then on; after an error it is gone. */
static int give_to_graph(struct host *h, cudaGraph_t graph)
{
	cudaUserObject_t object;
	int err = (int)cudaUserObjectCreate(&object, h, let_go, 1, cudaUserObjectNoDestructorSync);

	if (err) {
		atomic_fetch_add(&h->all->released_bytes, h->bytes);
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
	struct host *h = host_new(s, &(struct host){ .number = number, .once = !graph });
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
	int err = session_stream(s, r->word[1], &stream);

	err = err ? err : growing_graph(stream, &graph);
	if (!err && captured != (graph != NULL))
		err = cudaErrorInvalidValue;
	err = err ? err : launch(s, number, stream, graph);
	if (err && !captured && s->hosts) {
		atomic_fetch_add(&s->hosts->live, 1);
		enter_gone(s->hosts, number);
	}
	return err;
}

/* The client's memory, the copy's rows and their buffer. */
static int copy_by_buffer(struct session *s, struct host *h, struct remote_rows rows,
			  uint64_t where)
{
	cudaStream_t stream;
	int err = session_find_stream(s, where, &stream);

	if (err)
		return err;
	if (h->kind == HOST_IN) {
		rows.src = word_of(h->buffer);
		rows.src_pitch = rows.width;
		err = (int)cudaLaunchHostFunc(stream, relay, h);
		return err ? err : memory_copy(s, &rows, cudaMemcpyDefault, where);
	}
	rows.dst = word_of(h->buffer);
	rows.dst_pitch = rows.width;
	err = memory_copy(s, &rows, cudaMemcpyDefault, where);
	return err ? err : (int)cudaLaunchHostFunc(stream, relay, h);
}

/* Rows of the client's memory on the device. False: they are not. */
static bool rows_of(const struct session *s, const uint64_t word[4], struct remote_rows *rows,
		    uint64_t *bytes)
{
	*rows = (struct remote_rows){ word[0], word[1], word[0], word[1], word[2], word[3] };
	return rows->width && rows->height && (rows->height == 1 || word[1] >= rows->width) &&
	       !__builtin_mul_overflow(rows->width, rows->height, bytes) &&
	       regions_hold(&s->regions, word[0], rows_extent(rows->height, word[1], rows->width));
}

int do_host_copy(struct session *s, struct request *r)
{
	struct host like = { .number = r->word[0], .kind = r->word[6] ? HOST_IN : HOST_OUT };
	struct remote_rows rows;
	cudaGraph_t graph = NULL;
	cudaStream_t stream;
	struct host *h;
	int err = session_stream(s, r->word[1], &stream);

	err = err ? err : growing_graph(stream, &graph);
	if (!err && (!graph || !rows_of(s, r->word + 2, &rows, &like.bytes)))
		err = cudaErrorInvalidValue;
	if (err)
		return err;
	h = host_new(s, &like);
	err = h ? give_to_graph(h, graph) : (int)cudaErrorMemoryAllocation;
	return err ? err : copy_by_buffer(s, h, rows, r->word[1]);
}

int hosts_add_call(struct session *s, cudaGraph_t graph, uint64_t number,
		   const cudaGraphNode_t *needs, size_t n, struct served_node *node)
{
	struct host *h = host_new(s, &(struct host){ .number = number });
	const struct cudaHostNodeParams p = { relay, h };
	int err = h ? give_to_graph(h, graph) : (int)cudaErrorMemoryAllocation;

	err = err ? err : (int)cudaGraphAddHostNode(&node->node, graph, needs, n, &p);
	node->first = node->last = node->node;
	return err;
}

/* The mover before the copy, or behind it. */
static int add_two(struct host *h, cudaGraph_t graph, struct remote_rows rows,
		   const cudaGraphNode_t *needs, size_t n, struct served_node *node)
{
	const struct cudaHostNodeParams p = { relay, h };
	struct cudaMemcpy3DParms copy;
	int err;

	if (h->kind == HOST_IN) {
		rows.src = word_of(h->buffer);
		rows.src_pitch = rows.width;
		copy = graph_copy_of(&rows, cudaMemcpyDefault);
		err = (int)cudaGraphAddHostNode(&node->first, graph, needs, n, &p);
		err = err ? err
			  : (int)cudaGraphAddMemcpyNode(&node->node, graph, &node->first, 1, &copy);
		node->last = node->node;
		return err;
	}
	rows.dst = word_of(h->buffer);
	rows.dst_pitch = rows.width;
	copy = graph_copy_of(&rows, cudaMemcpyDefault);
	err = (int)cudaGraphAddMemcpyNode(&node->node, graph, needs, n, &copy);
	node->first = node->node;
	return err ? err : (int)cudaGraphAddHostNode(&node->last, graph, &node->node, 1, &p);
}

int hosts_add_copy(struct session *s, cudaGraph_t graph, uint64_t number, const uint64_t word[5],
		   const cudaGraphNode_t *needs, size_t n, struct served_node *node)
{
	struct host like = { .number = number, .kind = word[4] ? HOST_IN : HOST_OUT };
	struct remote_rows rows;
	struct host *h;
	int err;

	if (!rows_of(s, word, &rows, &like.bytes))
		return cudaErrorInvalidValue;
	h = host_new(s, &like);
	err = h ? give_to_graph(h, graph) : (int)cudaErrorMemoryAllocation;
	return err ? err : add_two(h, graph, rows, needs, n, node);
}

bool hosts_moves(cudaGraphNode_t node, bool *in)
{
	enum cudaGraphNodeType type;
	struct cudaHostNodeParams p;
	const struct host *h;

	if (cudaGraphNodeGetType(node, &type) || type != cudaGraphNodeTypeHost ||
	    cudaGraphHostNodeGetParams(node, &p) || p.fn != relay)
		return false;
	h = p.userData;
	*in = h->kind == HOST_IN;
	return h->kind != HOST_CALL;
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
