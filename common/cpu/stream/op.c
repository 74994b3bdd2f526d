/* op.c - operations: entries of a stream's queue and nodes of a graph. */
#include "common/cpu/base/base.h"

#include <stdlib.h>
#include <string.h>

__thread bool in_host_function;
__thread const struct transfer *volatile running_copy;

struct op *op_new(void)
{
	struct op *op = aligned_alloc(_Alignof(struct op), sizeof(struct op));

	if (op) {
		op->next = NULL;
		op->kind = OP_JOIN; /* refers to nothing until it is filled */
		op->join.stream = NULL;
		op->data = NULL;
	}
	return op;
}

/* Arguments mostly fit into the op itself, which saves an allocation a launch. */
char *op_data(struct op *op, size_t bytes)
{
	op->data = bytes <= OP_ROOM_BYTES ? op->room : malloc(bytes);
	return op->data;
}

/* Ops are reused: what is left is one that refers to nothing. */
void op_clear(struct op *op)
{
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
}

void op_free(struct op *op)
{
	if (op)
		op_clear(op);
	free(op);
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

	unsigned times = 1;

	if (atomic_load_explicit(&launches_watched, memory_order_relaxed))
		times = watch_launch(&l);
	for (; times; times--) {
		l.next_block = 0;
		execute_launch(&l);
	}
}

/* CUDA leaves overlapping ranges open; here they are at least not torn. */
static void run_copy(const struct transfer *t)
{
	running_copy = t;
	for (size_t row = 0; row < t->rows; row++)
		memmove((char *)t->dst + row * t->dst_pitch,
			(const char *)t->src + row * t->src_pitch, t->bytes);
	running_copy = NULL;
}

static void run_set(const struct transfer *t)
{
	running_copy = t;
	memset(t->dst, t->value, t->bytes);
	running_copy = NULL;
}

static void run_join(const struct op *op)
{
	progress_wait(&op->join.stream->done, op->join.count, config()->spin_ns);
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
		event_record(op->event.event, op->event.generation);
		break;
	case OP_WAIT:
		event_await(op->event.event, op->event.generation);
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
	case OP_QUIT:
		break;
	}
}
