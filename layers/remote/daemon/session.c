/* session.c - see session.h: tables, and which command is whose. */
#include "layers/remote/daemon/session.h"

#include <stdlib.h>
#include <string.h>

#include "common/check.h"

/* ---- tables ------------------------------------------------------------------------------- */

static bool table_grow(struct table *t, uint64_t number)
{
	uint64_t room = t->room ? t->room : 64;
	void **larger;

	while (room <= number)
		room *= 2;
	larger = realloc(t->at, room * sizeof(*larger));
	if (!larger)
		return false;
	memset(larger + t->room, 0, (room - t->room) * sizeof(*larger));
	t->at = larger;
	t->room = room;
	return true;
}

bool table_put(struct table *t, uint64_t number, void *object)
{
	if (number >= t->max || (number >= t->room && !table_grow(t, number)) || t->at[number])
		return false;
	t->at[number] = object;
	return true;
}

void *table_get(const struct table *t, uint64_t number)
{
	return number < t->room ? t->at[number] : NULL;
}

void *table_take(struct table *t, uint64_t number)
{
	void *object = table_get(t, number);

	if (object)
		t->at[number] = NULL;
	return object;
}

int session_find_stream(const struct session *s, uint64_t word, cudaStream_t *stream)
{
	const struct served_stream *found = NULL;

	*stream = (cudaStream_t)pointer_of(word);
	if (!s->order && word < REMOTE_WAITS)
		return 0;
	if (s->order)
		found = order_find(s, word);
	else if (word >= REMOTE_OWN)
		found = table_get(&s->streams, word - REMOTE_OWN);
	if (found)
		*stream = found->stream;
	return found ? 0 : (int)cudaErrorInvalidResourceHandle;
}

int session_stream(struct session *s, uint64_t word, cudaStream_t *stream)
{
	return s->order ? order_stream(s, word, stream) : session_find_stream(s, word, stream);
}

void answer_put(struct request *r, const void *data, size_t bytes)
{
	CHECK(r->bytes + bytes <= REMOTE_ANSWER_BYTES, "%u and %zu bytes", r->bytes, bytes);
	memcpy(r->data + r->bytes, data, bytes);
	r->bytes += (uint32_t)bytes;
}

/* ---- commands ----------------------------------------------------------------------------- */

static const struct {
	uint8_t words;
	uint32_t payload; /* at most */
} shapes[] = {
#define OP(name, words, payload) { words, payload },
	REMOTE_OPS(OP)
#undef OP
};

static int do_nothing(struct session *s, struct request *r)
{
	(void)s;
	(void)r;
	return 0;
}

static int do_count(struct session *s, struct request *r)
{
	answer_put(r, &s->done, sizeof(s->done));
	return 0;
}

static command *const commands[REMOTE_OPS_COUNT] = {
	[REMOTE_PAD] = do_nothing,
	[REMOTE_COUNT] = do_count,
	[REMOTE_POOL_KEEP] = do_pool_keep,
	[REMOTE_POOL_TRIM] = do_pool_trim,
	[REMOTE_IMAGE] = do_image,
	[REMOTE_IMAGE_PART] = do_image_part,
	[REMOTE_KERNEL] = do_kernel,
	[REMOTE_SYMBOL] = do_symbol,
	[REMOTE_ERROR_TEXT] = do_error_text,
	[REMOTE_PROPERTIES] = do_properties,
	[REMOTE_ATTRIBUTE] = do_attribute,
	[REMOTE_DEVICE_COUNT] = do_device_count,
	[REMOTE_SET_FLAGS] = do_set_flags,
	[REMOTE_GET_FLAGS] = do_get_flags,
	[REMOTE_SET_LIMIT] = do_set_limit,
	[REMOTE_GET_LIMIT] = do_get_limit,
	[REMOTE_VERSIONS] = do_versions,
	[REMOTE_PRIORITIES] = do_priorities,
	[REMOTE_DEVICE_WAIT] = do_device_wait,
	[REMOTE_MEM_INFO] = do_mem_info,
	[REMOTE_MALLOC] = do_malloc,
	[REMOTE_FREE] = do_free,
	[REMOTE_PIN] = do_pin,
	[REMOTE_UNPIN] = do_unpin,
	[REMOTE_MALLOC_ASYNC] = do_malloc_async,
	[REMOTE_FREE_ASYNC] = do_free_async,
	[REMOTE_COPY] = do_copy,
	[REMOTE_COPY_IN] = do_copy_in,
	[REMOTE_COPY_INLINE] = do_copy_inline,
	[REMOTE_COPY_OUT] = do_copy_out,
	[REMOTE_SET] = do_set,
	[REMOTE_STREAM_CREATE] = do_stream_create,
	[REMOTE_STREAM_DESTROY] = do_stream_destroy,
	[REMOTE_STREAM_WAIT] = do_stream_wait,
	[REMOTE_STREAM_QUERY] = do_stream_query,
	[REMOTE_STREAM_WAIT_EVENT] = do_stream_wait_event,
	[REMOTE_EVENT_CREATE] = do_event_create,
	[REMOTE_EVENT_DESTROY] = do_event_destroy,
	[REMOTE_EVENT_RECORD] = do_event_record,
	[REMOTE_EVENT_WAIT] = do_event_wait,
	[REMOTE_EVENT_QUERY] = do_event_query,
	[REMOTE_EVENT_ELAPSED] = do_event_elapsed,
	[REMOTE_LAUNCH] = do_launch,
	[REMOTE_FUNC_ATTRIBUTES] = do_func_attributes,
	[REMOTE_FUNC_SET] = do_func_set,
	[REMOTE_OCCUPANCY] = do_occupancy,
	[REMOTE_CAPTURE_BEGIN] = do_capture_begin,
	[REMOTE_CAPTURE_END] = do_capture_end,
	[REMOTE_CAPTURE_STATUS] = do_capture_status,
	[REMOTE_HOST_CALL] = do_host_call,
	[REMOTE_HOST_COPY] = do_host_copy,
	[REMOTE_GRAPH_CREATE] = do_graph_create,
	[REMOTE_GRAPH_CLONE] = do_graph_clone,
	[REMOTE_ADD_KERNEL] = do_add_kernel,
	[REMOTE_ADD_COPY] = do_add_copy,
	[REMOTE_ADD_SET] = do_add_set,
	[REMOTE_ADD_HOST] = do_add_host,
	[REMOTE_ADD_HOST_COPY] = do_add_host_copy,
	[REMOTE_ADD_EMPTY] = do_add_empty,
	[REMOTE_ADD_NEEDS] = do_add_needs,
	[REMOTE_HOST_GONE] = do_host_gone,
	[REMOTE_GRAPH_DESTROY] = do_graph_destroy,
	[REMOTE_GRAPH_NODES] = do_graph_nodes,
	[REMOTE_NODE_TYPE] = do_node_type,
	[REMOTE_NODE_NEEDS] = do_node_needs,
	[REMOTE_NODE_KERNEL] = do_node_kernel,
	[REMOTE_EXEC_CREATE] = do_exec_create,
	[REMOTE_EXEC_UPLOAD] = do_exec_upload,
	[REMOTE_EXEC_LAUNCH] = do_exec_launch,
	[REMOTE_EXEC_SET_KERNEL] = do_exec_set_kernel,
	[REMOTE_EXEC_UPDATE] = do_exec_update,
	[REMOTE_EXEC_DESTROY] = do_exec_destroy,
	[REMOTE_BLAS_VERSION] = do_blas_version,
	[REMOTE_BLAS_CREATE] = do_blas_create,
	[REMOTE_BLAS_DESTROY] = do_blas_destroy,
	[REMOTE_BLAS_STREAM] = do_blas_stream,
	[REMOTE_BLAS_WORKSPACE] = do_blas_workspace,
	[REMOTE_BLAS_POINTER_MODE] = do_blas_pointer_mode,
	[REMOTE_BLAS_MATH_MODE] = do_blas_math_mode,
	[REMOTE_BLAS_GEMM] = do_blas_gemm,
	[REMOTE_BLAS_HEURISTIC] = do_blas_heuristic,
	[REMOTE_BLAS_MATMUL] = do_blas_matmul,
};

static bool is_whole(const struct remote_command *c, uint64_t readable)
{
	return readable >= sizeof(*c) && c->bytes <= readable && c->op < REMOTE_OPS_COUNT &&
	       c->thread < REMOTE_THREADS && c->payload <= shapes[c->op].payload &&
	       c->bytes == remote_command_bytes(shapes[c->op].words, c->payload);
}

/* An answer of the runtime that is no error to remember. */
enum { NOT_READY = 600 };

bool ends_the_device(int error)
{
	switch (error) {
	case 214: /* uncorrectable ECC */
	case 226: /* contained */
	case 700: /* illegal address */
	case 702: /* launch timeout */
	case 710: /* assert */
	case 714: /* hardware stack */
	case 715: /* illegal instruction */
	case 716: /* misaligned address */
	case 717: /* invalid address space */
	case 718: /* invalid pc */
	case 719: /* launch failure */
	case 721: /* tensor memory leak */
	case 810: /* MPS client terminated */
	case 911: /* external device */
		return true;
	default:
		return false;
	}
}

static void look_for_the_end(struct session *s, int error)
{
	if (s->device_ended || !ends_the_device(error))
		return;
	s->device_ended = true;
	if (s->lost)
		s->lost(s->lost_arg);
}

void session_answer(struct session *s, unsigned thread, int error, uint32_t bytes,
		    struct remote_answer *answer)
{
	answer->error = error;
	answer->late = s->late[thread];
	look_for_the_end(s, error); /* of a wait that was parked */
	answer->bytes = error ? 0 : bytes;
	s->late[thread] = 0;
}

bool session_do(struct session *s, const struct remote_command *c, uint64_t readable,
		struct remote_answer *answer)
{
	struct request r = { .word = c->word, .data = answer->data };
	int error;

	if (!is_whole(c, readable))
		return false;
	r.payload = (const uint8_t *)(c->word + shapes[c->op].words);
	r.payload_bytes = c->payload;
	error = commands[c->op](s, &r);
	s->done += c->op != REMOTE_PAD;
	look_for_the_end(s, error);
	if (c->flags & REMOTE_ANSWERED)
		session_answer(s, c->thread, error, r.bytes, answer);
	else if (error && error != NOT_READY)
		s->late[c->thread] = error;
	return true;
}

/* ---- beginning and end -------------------------------------------------------------------- */

struct session session_new(const struct remote_backend *backend, uint64_t pinned_base, uint8_t *in,
			   uint8_t *out, uint64_t memory_max)
{
	return (struct session){
		.backend = backend,
		.pinned_base = pinned_base,
		.in = in,
		.out = out,
		.block_bytes = REMOTE_BLOCK_BYTES,
		.memory_max = memory_max,
		.streams.max = REMOTE_STREAMS,
		.events.max = REMOTE_EVENTS,
		.graphs.max = REMOTE_GRAPHS,
		.execs.max = REMOTE_EXECS,
		.kernels.max = REMOTE_KERNELS,
		.images.max = REMOTE_IMAGES_MAX,
		.blas.max = REMOTE_BLAS,
		.hosts = hosts_new(),
	};
}

static void close_all(struct table *t, void (*close)(void *object))
{
	for (uint64_t i = 0; i < t->room; i++)
		if (t->at[i])
			close(t->at[i]);
	free(t->at);
	*t = (struct table){ .max = t->max };
}

static void close_stream(void *stream)
{
	cudaStreamDestroy(((struct served_stream *)stream)->stream);
	free(stream);
}

static void close_event(void *event)
{
	cudaEventDestroy(event);
}

static void close_exec(void *exec)
{
	cudaGraphExecDestroy(exec);
}

static void close_graph(void *graph)
{
	graph_release(graph);
}

static void close_region(const struct session *s, const struct region *r)
{
	if (r->kind == REGION_DEVICE && s->order)
		cudaFreeAsync(pointer_of(r->base), s->order->aside);
	else if (r->kind == REGION_DEVICE)
		cudaFree(pointer_of(r->base));
	else if (r->kind == REGION_PINNED)
		cudaHostUnregister(pointer_of(r->base));
}

/* Streams first: captures end with them, and forbid what follows. */
void session_close(struct session *s)
{
	hosts_close(s->hosts);
	waits_release(s);
	if (s->order)
		order_settle(s);
	blas_release(s);
	close_all(&s->streams, close_stream);
	if (!s->order)
		cudaDeviceSynchronize();
	plans_release(s);
	close_all(&s->events, close_event);
	close_all(&s->execs, close_exec);
	close_all(&s->graphs, close_graph);
	close_all(&s->kernels, free);
	for (uint64_t i = 0; i < s->images.room; i++)
		if (s->images.at[i])
			image_release(s, s->images.at[i]);
	free(s->images.at);
	s->images = (struct table){ .max = s->images.max };
	for (size_t i = 0; i < s->regions.n; i++)
		close_region(s, &s->regions.at[i]);
	regions_release(&s->regions);
	variables_release(s);
	if (s->order)
		cudaStreamSynchronize(s->order->aside);
	order_release(s);
	s->memory_bytes = 0;
	hosts_free(s->hosts);
	s->hosts = NULL;
	look_for_the_end(s, (int)cudaGetLastError()); /* of the client's last work */
}
