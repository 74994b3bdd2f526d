/*
 * op.c - operations, entries of a stream's queue and nodes of a graph: what they refer to, how they
 * are filled, and how each kind runs.
 */
#include "common/cpu/stream/stream.h"

#include <stdlib.h>
#include <string.h>

__thread bool in_host_function;

/* ---- what they refer to: streams ------------------------------------------------------- */

void stream_ref(struct stream *s)
{
	atomic_fetch_add_explicit(&s->n_refs, 1, memory_order_relaxed);
}

void stream_unref(struct stream *s)
{
	if (atomic_fetch_sub_explicit(&s->n_refs, 1, memory_order_acq_rel) > 1)
		return;
	while (s->spare) {
		struct op *op = s->spare;

		s->spare = op->next;
		op_free(op);
	}
	free(s);
}

/* ---- events ---------------------------------------------------------------------------- */

void event_ref(struct event *e)
{
	atomic_fetch_add_explicit(&e->n_refs, 1, memory_order_relaxed);
}

void event_unref(struct event *e)
{
	if (atomic_fetch_sub_explicit(&e->n_refs, 1, memory_order_acq_rel) > 1)
		return;
	if (e->at.stream)
		stream_unref(e->at.stream);
	free(e->point.nodes.node);
	free(e);
}

struct stream_point event_point(struct event *e)
{
	struct stream_point p;

	lock_acquire(&e->lock);
	p = e->at;
	if (p.stream)
		stream_ref(p.stream);
	lock_release(&e->lock);
	return p;
}

void event_move(struct event *e, uint64_t record, struct stream_point p)
{
	struct stream_point before = p;

	lock_acquire(&e->lock);
	if (record > e->at_record) {
		before = e->at;
		e->at = p;
		e->at_record = record;
	}
	lock_release(&e->lock);
	if (before.stream)
		stream_unref(before.stream);
}

bool event_reached(struct event *e)
{
	bool reached;

	lock_acquire(&e->lock);
	reached = !e->at.stream || progress_passed(&e->at.stream->done, e->at.count);
	lock_release(&e->lock);
	if (reached)
		TS_ACQUIRE(&e->tag);
	return reached;
}

/* The time of the last record is what counts, and one before it may be reached later. */
static void event_record(struct event *e, uint64_t record)
{
	TS_RELEASE(&e->tag);
	if (e->flags & cudaEventDisableTiming)
		return;
	lock_acquire(&e->lock);
	if (record >= e->timed) {
		e->timed = record;
		atomic_store(&e->time_ns, clock_ns());
	}
	lock_release(&e->lock);
}

static void await_point(const struct stream_point *p)
{
	if (p->stream)
		progress_wait(&p->stream->done, p->count, config()->spin_ns);
}

static void event_await(struct event *e, const struct stream_point *p)
{
	await_point(p);
	TS_ACQUIRE(&e->tag);
}

void events_close_all(void)
{
	for (struct event *e; (e = handle_close_any(HANDLE_EVENT));)
		event_unref(e);
}

/* ---- objects of the program ------------------------------------------------------------ */

/* On whichever thread lets go of it last, which may be a stream's. */
void object_unref(struct object *o, unsigned count)
{
	bool before = in_host_function;

	if (atomic_fetch_sub_explicit(&o->n_refs, (int)count, memory_order_acq_rel) > (int)count)
		return;
	handle_close(HANDLE_OBJECT, o->handle);
	in_host_function = true;
	o->destroy(o->data);
	in_host_function = before;
	free(o);
}

bool objects_add(struct object_set *set, struct object *o, unsigned count)
{
	size_t i = 0;

	while (i < set->n && set->at[i].object != o)
		i++;
	if (i == set->n) {
		struct kept_object *larger = realloc(set->at, (set->n + 1) * sizeof(*larger));

		if (!larger)
			return false;
		set->at = larger;
		set->at[set->n++] = (struct kept_object){ o, 0 };
	}
	set->at[i].count += count;
	return true;
}

bool objects_copy(struct object_set *to, const struct object_set *from)
{
	for (size_t i = 0; i < from->n; i++) {
		atomic_fetch_add_explicit(&from->at[i].object->n_refs, 1, memory_order_relaxed);
		if (!objects_add(to, from->at[i].object, 1)) {
			object_unref(from->at[i].object, 1);
			return false;
		}
	}
	return true;
}

void objects_clear(struct object_set *set)
{
	for (size_t i = 0; i < set->n; i++)
		object_unref(set->at[i].object, set->at[i].count);
	free(set->at);
	*set = (struct object_set){ NULL, 0 };
}

/* ---- lists of operations --------------------------------------------------------------- */

void body_ref(struct body *b)
{
	atomic_fetch_add_explicit(&b->n_refs, 1, memory_order_relaxed);
}

void body_unref(struct body *b)
{
	if (!b || atomic_fetch_sub_explicit(&b->n_refs, 1, memory_order_acq_rel) > 1)
		return;
	for (size_t i = 0; i < b->n_ops; i++)
		op_free(b->op[i]);
	objects_clear(&b->objects);
	free(b->op);
	free(b);
}

/* Arguments mostly fit into the op itself, which saves an allocation a launch. */
static char *op_data(struct op *op, size_t bytes)
{
	op->data = bytes <= OP_ROOM_BYTES ? op->room : malloc(bytes);
	return op->data;
}

/* Only kinds that graphs hold: they refer to nothing but their data, or a graph's body. */
struct op *op_clone(const struct op *op)
{
	size_t bytes = 0;
	struct op *copy = op_new();

	if (!copy)
		return NULL;
	if (op->kind == OP_KERNEL)
		bytes = op->launch.kernel->offset[op->launch.kernel->n_params];
	memcpy(copy, op, offsetof(struct op, room));
	copy->next = NULL;
	copy->recorded = 0;
	if (!op_data(copy, bytes)) {
		free(copy);
		return NULL;
	}
	if (op->kind == OP_CHILD)
		body_ref(op->graph.body);
	memcpy(copy->data, op->data ? op->data : op->room, bytes);
	TS_RELEASE(&copy->tag);
	return copy;
}

static size_t count_kernels(const struct op *op)
{
	return op->kind == OP_CHILD ? op->graph.body->n_kernels : op->kind == OP_KERNEL;
}

struct body *body_new(struct op *const *op, size_t n, const struct object_set *objects)
{
	struct body *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	atomic_init(&b->n_refs, 1);
	b->op = calloc(n + 1, sizeof(struct op *));
	while (b->op && b->n_ops < n) {
		b->op[b->n_ops] = op_clone(op[b->n_ops]);
		if (!b->op[b->n_ops])
			break;
		b->n_kernels += count_kernels(b->op[b->n_ops]);
		b->n_ops++;
	}
	if (b->op && b->n_ops == n && objects_copy(&b->objects, objects))
		return b;
	body_unref(b);
	return NULL;
}

void exec_unref(struct exec *x)
{
	if (atomic_fetch_sub_explicit(&x->n_refs, 1, memory_order_acq_rel) > 1)
		return;
	body_unref(x->body);
	free(x->needs_end);
	free(x->needs);
	free(x);
}

/* After a launch. */
static void exec_release(struct exec *x, struct body *b)
{
	body_unref(b);
	exec_unref(x);
}

/*
 * Nodes run in the order of their capture, on the stream's thread: handing independent ones to
 * other threads would cost more than most of them.
 */
static void body_run(const struct body *b)
{
	for (size_t i = 0; i < b->n_ops; i++)
		op_run(b->op[i]);
}

/* Launches of one exec run in the order of their submission, whatever their streams. */
static void exec_run(struct exec *x, struct body *b, uint64_t ticket)
{
	progress_wait(&x->finished, ticket, config()->spin_ns);
	TS_ACQUIRE(&x->finished);
	body_run(b);
	TS_RELEASE(&x->finished);
	progress_raise(&x->finished, ticket + 1);
}

void execs_close_all(void)
{
	for (struct exec *x; (x = handle_close_any(HANDLE_EXEC));)
		exec_unref(x);
}

/* ---- birth and death ------------------------------------------------------------------- */

struct op *op_new(void)
{
	struct op *op = aligned_alloc(_Alignof(struct op), sizeof(struct op));

	if (op) {
		op->next = NULL;
		op->kind = OP_JOIN; /* refers to nothing until it is filled */
		op->join.stream = NULL;
		op->data = NULL;
		op->recorded = 0;
	}
	return op;
}

/* Ops are reused: what is left is one that refers to nothing. */
void op_clear(struct op *op)
{
	if (op->kind == OP_WAIT && op->event.point.stream)
		stream_unref(op->event.point.stream);
	if (op->kind == OP_RECORD || op->kind == OP_WAIT)
		event_unref(op->event.event);
	else if (op->kind == OP_JOIN && op->join.stream)
		stream_unref(op->join.stream);
	else if (op->kind == OP_GRAPH)
		exec_release(op->graph.exec, op->graph.body);
	else if (op->kind == OP_CHILD)
		body_unref(op->graph.body);
	if (op->data != op->room)
		free(op->data);
	op->kind = OP_JOIN;
	op->join.stream = NULL;
	op->data = NULL;
	op->recorded = 0;
}

void op_free(struct op *op)
{
	if (op)
		op_clear(op);
	free(op);
}

/* ---- launches -------------------------------------------------------------------------- */

/* The error codes are those of CUDA 13.0 on an H200, where the documentation leaves a choice. */

/* Limits of compute capability 7.0 to 12.0, as api/device.c reports them. */
static bool shape_fits(dim3 grid, dim3 block)
{
	uint64_t threads = (uint64_t)block.x * block.y * block.z;

	return grid.x && grid.y && grid.z && grid.x <= INT32_MAX && grid.y <= 65535 &&
	       grid.z <= 65535 && block.x <= MAX_THREADS && block.y <= MAX_THREADS &&
	       block.z <= 64 && threads && threads <= MAX_THREADS;
}

bool shared_fits(const struct cpudev_kernel *k, size_t bytes)
{
	int limit = k->dynamic_limit_bytes ? k->dynamic_limit_bytes : DYNAMIC_BYTES_DEFAULT;

	return bytes <= (size_t)(limit > DYNAMIC_BYTES_DEFAULT ? limit : DYNAMIC_BYTES_DEFAULT);
}

/* The launch is asynchronous: the arguments may be gone when it runs. */
static bool copy_arguments(struct op *op, const struct cpudev_kernel *k, void **args)
{
	op->data = op_data(op, k->offset[k->n_params]);
	if (!op->data)
		return false;
	for (unsigned i = 0; i < k->n_params; i++)
		memcpy(op->data + k->offset[i], args[i], k->size[i]);
	return true;
}

cudaError_t launch_fill(struct op *op, struct cpudev_kernel *k, dim3 grid, dim3 block, void **args,
			size_t shared_bytes)
{
	if (!shape_fits(grid, block) || !shared_fits(k, shared_bytes) || (k->n_params && !args))
		return cudaErrorInvalidValue;
	if (!copy_arguments(op, k, args))
		return cudaErrorMemoryAllocation;
	op->kind = OP_KERNEL;
	op->launch.kernel = k;
	op->launch.grid = grid;
	op->launch.block = block;
	op->launch.shared_bytes = shared_bytes;
	return cudaSuccess;
}

/* ---- running one ----------------------------------------------------------------------- */

/* The time of the kernels of the graph that this thread runs and records; NULL: of none. */
static __thread int64_t *graph_busy_ns;

/* On this thread's stack: the launch is over before the next operation starts. */
static void run_kernel(const struct op *op)
{
	struct launch l = {
		.kernel = op->launch.kernel,
		.args = op->data,
		.grid = op->launch.grid,
		.block = op->launch.block,
		.shared_bytes = op->launch.shared_bytes,
		.n_threads = op->launch.block.x * op->launch.block.y * op->launch.block.z,
		.n_blocks = (uint64_t)op->launch.grid.x * op->launch.grid.y * op->launch.grid.z,
	};

	int64_t start = graph_busy_ns ? clock_ns() : 0;
	unsigned times = 1;

	if (atomic_load_explicit(&launches_watched, memory_order_relaxed))
		times = watch_launch(&l);
	for (; times; times--) {
		l.next_block = 0;
		execute_launch(&l);
	}
	if (graph_busy_ns)
		*graph_busy_ns += clock_ns() - start;
}

static void run_join(const struct op *op)
{
	await_point(&op->join);
	TS_ACQUIRE(&op->join.stream->tag);
}

/* CUDA forbids its own functions in there; the flag lets them say so instead of hanging. */
static void run_host(const struct op *op)
{
	in_host_function = true;
	op->host.fn(op->host.user_data);
	in_host_function = false;
}

static void free_memory(const struct op *op)
{
	struct allocation a = { .base = op->memory.dst,
				.bytes = op->memory.bytes,
				.type = cudaMemoryTypeDevice };

	memory_put(&a);
}

void op_run(struct op *op)
{
	TS_ACQUIRE(&op->tag);
	switch (op->kind) {
	case OP_COPY:
		run_copy(&op->memory);
		break;
	case OP_SET:
		run_set(&op->memory);
		break;
	case OP_KERNEL:
		run_kernel(op);
		break;
	case OP_RECORD:
		event_record(op->event.event, op->event.record);
		break;
	case OP_WAIT:
		event_await(op->event.event, &op->event.point);
		break;
	case OP_JOIN:
		run_join(op);
		break;
	case OP_HOST:
		run_host(op);
		break;
	case OP_GRAPH:
		exec_run(op->graph.exec, op->graph.body, op->graph.ticket);
		break;
	case OP_CHILD:
		body_run(op->graph.body);
		break;
	case OP_FREE:
		free_memory(op);
		break;
	case OP_EMPTY:
	case OP_QUIT:
		break;
	}
}

/* ---- recorded -------------------------------------------------------------------------- */

static void tell_launch(const struct op *op, struct trace_event *e)
{
	const dim3 grid = op->launch.grid, block = op->launch.block;

	e->kind = TRACE_KIND_kernel;
	e->name = op->launch.kernel->name;
	memcpy(e->grid, (uint32_t[]){ grid.x, grid.y, grid.z }, sizeof(e->grid));
	memcpy(e->block, (uint32_t[]){ block.x, block.y, block.z }, sizeof(e->block));
	e->shared = (uint32_t)op->launch.shared_bytes;
}

static void tell_copy(const struct transfer *t, struct trace_event *e)
{
	e->kind = t->src ? TRACE_KIND_copy : TRACE_KIND_memset;
	e->bytes = t->bytes * t->rows;
	e->memory = (uint8_t)t->memory;
	e->is_async = !t->waits;
	if (t->src && t->dst_on_device)
		e->direction =
			t->src_on_device ? TRACE_DIRECTION_within : TRACE_DIRECTION_to_device;
	else if (t->src)
		e->direction = TRACE_DIRECTION_to_host;
}

static void tell_graph(const struct op *op, struct trace_event *e)
{
	e->kind = TRACE_KIND_graph;
	e->graph = op->graph.exec->number;
	e->nodes = (uint32_t)op->graph.body->n_ops;
	e->kernels = (uint32_t)op->graph.body->n_kernels;
}

static void tell(const struct op *op, struct trace_event *e)
{
	if (op->kind == OP_KERNEL)
		tell_launch(op, e);
	else if (op->kind == OP_GRAPH)
		tell_graph(op, e);
	else if (op->kind == OP_HOST)
		e->kind = TRACE_KIND_hostfunc;
	else
		tell_copy(&op->memory, e);
}

/* A graph starts when the launch of it before has ended: its span is its nodes' alone. */
void op_run_recorded(struct op *op, struct trace_event *e)
{
	tell(op, e);
	if (op->kind == OP_GRAPH) {
		progress_wait(&op->graph.exec->finished, op->graph.ticket, config()->spin_ns);
		graph_busy_ns = &e->busy_ns;
	}
	e->t0 = clock_ns();
	op_run(op);
	e->t1 = clock_ns();
	graph_busy_ns = NULL;
	recorder_op(op->recorded, e);
}
