/* setup.c - streams, events, graphs and memory that a plan's acts need. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cuda_check.h"
#include "common/device.h"
#include "common/room.h"
#include "workloads/replay/replay.h"

enum { GUARD_BYTES = 64, ALIGN = 256, PAGE = 4096 };

size_t replay_stride(const struct replay_area *a)
{
	return ((size_t)a->bytes + GUARD_BYTES + ALIGN - 1) / ALIGN * ALIGN;
}

static void *array_new(int64_t n, size_t size)
{
	void *array = calloc((size_t)n + 1, size);

	CHECK(array, "memory of %ld elements", (long)n);
	return array;
}

/* ---- memory ----------------------------------------------------------------------------- */

static cudaError_t take_host(struct replay_memory_of *m)
{
	if (m->host == REPLAY_MAPPED)
		return CUDA_RESULT(cudaHostAlloc((void **)&m->base, m->bytes, cudaHostAllocMapped));
	if (m->host == REPLAY_PINNED)
		return CUDA_RESULT(cudaMallocHost((void **)&m->base, m->bytes));
	m->base = aligned_alloc(PAGE, (m->bytes + PAGE - 1) / PAGE * PAGE);
	return m->base ? cudaSuccess : cudaErrorMemoryAllocation;
}

static int take_memory(struct replay_memory_of *m)
{
	cudaError_t err =
		m->on_device ? CUDA_RESULT(cudaMalloc((void **)&m->base, m->bytes)) : take_host(m);

	if (!err)
		return 0;
	cudaGetLastError();
	m->base = NULL;
	return complain(ENOMEM, "trace: cannot allocate %zu bytes %s for its copies: %s", m->bytes,
			m->on_device ? "on the device" : "on the host", cudaGetErrorString(err));
}

static void give_memory(struct replay_memory_of *m)
{
	if (m->base && m->on_device)
		CUDA(cudaFree(m->base));
	else if (m->base && m->host != REPLAY_PAGEABLE)
		CUDA(cudaFreeHost(m->base));
	else
		free(m->base);
	m->base = NULL;
}

static struct replay_memory_of area_memory(const struct replay_area *a)
{
	return (struct replay_memory_of){ .bytes = replay_stride(a) * (size_t)a->slots,
					  .on_device = a->direction != REPLAY_TO_HOST || a->memset,
					  .host = a->memory };
}

/* The source that copies to an area come from; memsets have none. */
static struct replay_memory_of *source_of(struct replay_state *s, const struct replay_area *a)
{
	if (a->memset)
		return NULL;
	return &s->source[a->direction == REPLAY_TO_DEVICE ? (int)a->memory : REPLAY_SOURCE_DEVICE];
}

static void size_memory(struct replay_state *s)
{
	const size_t turns = (size_t)(REPLAY_SOURCES - 1) * REPLAY_SHIFT;

	for (int i = 0; i < REPLAY_SOURCES_OF; i++) {
		s->source[i].on_device = i == REPLAY_SOURCE_DEVICE;
		s->source[i].host =
			i == REPLAY_SOURCE_DEVICE ? REPLAY_PINNED : (enum replay_memory)i;
	}
	for (int i = 0; i < s->plan.areas; i++) {
		const struct replay_area *a = &s->plan.area[i];
		struct replay_memory_of *source = source_of(s, a);
		size_t bytes = turns + ((size_t)a->bytes + 7) / 8 * 8;

		s->area[i] = area_memory(a);
		if (source && source->bytes < bytes)
			source->bytes = bytes;
	}
}

static int check_room(const struct replay_state *s)
{
	int64_t bytes[2] = { 0, 0 }; /* of the host, of the device */

	for (int i = 0; i < REPLAY_SOURCES_OF; i++)
		bytes[s->source[i].on_device] += (int64_t)s->source[i].bytes;
	for (int i = 0; i < s->plan.areas; i++)
		bytes[s->area[i].on_device] += (int64_t)s->area[i].bytes;
	return room_on_both(bytes[1] + 8 * s->plan.counters, bytes[0], "trace");
}

static void fill_source(const struct replay_memory_of *m)
{
	uint64_t *word = (uint64_t *)m->base;

	if (m->on_device)
		pattern_fill(m->base, m->bytes, 0, m->bytes, 0);
	else
		for (size_t i = 0; i < m->bytes / 8; i++)
			word[i] = pattern_word(i);
}

static int make_memory(struct replay_state *s)
{
	int err;

	s->area = array_new(s->plan.areas, sizeof(*s->area));
	size_memory(s);
	err = check_room(s);
	for (int i = 0; i < REPLAY_SOURCES_OF && !err; i++)
		if (s->source[i].bytes) {
			err = take_memory(&s->source[i]);
			if (!err)
				fill_source(&s->source[i]);
		}
	for (int i = 0; i < s->plan.areas && !err; i++)
		err = take_memory(&s->area[i]);
	if (err)
		return err;
	CUDA(cudaMalloc((void **)&s->wrong, sizeof(*s->wrong)));
	CUDA(cudaMalloc((void **)&s->count, (size_t)(s->plan.counters + 1) * sizeof(*s->count)));
	return 0;
}

/* Memory that a step gives back before it takes it again. */
static int make_blocks(struct replay_state *s)
{
	const struct replay_plan *p = &s->plan;

	s->block = array_new(p->blocks, sizeof(*s->block));
	for (int64_t i = 0; i < p->acts; i++) {
		const struct replay_act *a = &p->act[i];
		cudaError_t err = cudaSuccess;

		if (a->kind != ACT_ALLOC || !p->kept[a->place])
			continue;
		err = a->taken == TAKEN_PINNED
			      ? CUDA_RESULT(cudaMallocHost(&s->block[a->place], (size_t)a->bytes))
			      : CUDA_RESULT(cudaMalloc(&s->block[a->place], (size_t)a->bytes));
		if (err) {
			cudaGetLastError();
			return complain(ENOMEM, "trace: cannot allocate %ld bytes: %s",
					(long)a->bytes, cudaGetErrorString(err));
		}
	}
	return 0;
}

/* ---- streams, events, graphs -------------------------------------------------------------- */

static void make_streams(struct replay_state *s)
{
	const struct replay_plan *p = &s->plan;

	s->stream = array_new(p->streams, sizeof(*s->stream));
	s->joined = array_new(p->streams, sizeof(cudaEvent_t));
	CUDA(cudaEventCreateWithFlags(&s->forked, cudaEventDisableTiming));
	for (int i = 0; i < p->streams; i++) {
		const struct replay_stream *of = &p->stream[i];

		if (of->open)
			CUDA(cudaEventCreateWithFlags(&s->joined[i], cudaEventDisableTiming));
		if (i == p->main || (of->kind == STREAM_OF_LEGACY && p->main < 0))
			continue;
		CUDA(cudaStreamCreateWithPriority(
			&s->stream[i],
			of->kind == STREAM_OF_BLOCKING ? cudaStreamDefault : cudaStreamNonBlocking,
			of->priority));
	}
	s->event = array_new(p->events, sizeof(cudaEvent_t));
	for (int i = 0; i < p->events; i++)
		CUDA(cudaEventCreateWithFlags(&s->event[i], cudaEventDisableTiming));
}

/* Nodes one behind the other; those that are no kernels set a word, spread among them. */
static void capture_nodes(struct replay_state *s, const struct replay_graph *g, cudaStream_t stream)
{
	unsigned long long *spare = s->count + s->plan.counters;
	double ns = g->ns / (double)(g->kernels ? g->kernels : 1) - s->plan.kernel_floor_ns;
	unsigned long long ticks = replay_ticks(&s->tuning, ns);
	int64_t kernel = 0;

	for (int64_t i = 0; i < g->nodes; i++) {
		if (kernel * g->nodes > i * g->kernels || kernel == g->kernels) {
			CUDA(cudaMemsetAsync(spare, 0, sizeof(*spare), stream));
			continue;
		}
		replay_launch(s->count + g->place + kernel++, ticks, 1, 1, stream);
	}
}

static void make_graphs(struct replay_state *s)
{
	cudaStream_t stream;
	cudaGraph_t graph;

	s->graph = array_new(s->plan.graphs, sizeof(cudaGraphExec_t));
	if (!s->plan.graphs)
		return;
	CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	for (int i = 0; i < s->plan.graphs; i++) {
		CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
		capture_nodes(s, &s->plan.graph[i], stream);
		CUDA(cudaStreamEndCapture(stream, &graph));
		CUDA(cudaGraphInstantiate(&s->graph[i], graph, 0));
		CUDA(cudaGraphUpload(s->graph[i], stream));
		CUDA(cudaGraphDestroy(graph));
	}
	CUDA(cudaStreamSynchronize(stream));
	CUDA(cudaStreamDestroy(stream));
}

static void make_functions(struct replay_state *s)
{
	const struct replay_plan *p = &s->plan;

	s->function = array_new(p->number[ACT_HOSTFUNC], sizeof(*s->function));
	for (int64_t i = 0; i < p->acts; i++)
		if (p->act[i].kind == ACT_HOSTFUNC)
			s->function[p->act[i].place] = (struct replay_function){ s, p->act[i].ns };
}

/* A grid is at most a wave: more blocks would take their turn, and spin for longer. */
static void cap_grids(struct replay_state *s)
{
	for (int64_t i = 0; i < s->plan.acts; i++) {
		struct replay_act *a = &s->plan.act[i];
		int64_t most;

		if (a->kind != ACT_KERNEL || a->blocks <= 1)
			continue;
		most = device_resident(replay_kernel(), a->threads, 0);
		a->blocks = most < 1 ? 1 : a->blocks > most ? (int)most : a->blocks;
	}
}

static void stretch_kernels(struct replay_plan *p, double by)
{
	for (int64_t i = 0; i < p->acts; i++)
		if (p->act[i].kind == ACT_KERNEL)
			p->act[i].ns *= by;
	for (int g = 0; g < p->graphs; g++)
		p->graph[g].ns *= by;
}

int replay_setup(const void *opts, void *state)
{
	const struct replay_opts *o = opts;
	struct replay_state *s = state;
	int err = device_present();

	if (!err)
		err = replay_plan_make(&s->plan, o);
	if (err)
		return err;
	stretch_kernels(&s->plan, (double)o->kernels / 100);
	replay_load_kernels();
	pattern_load_kernels();
	s->tuning = replay_tune();
	if (!(s->tuning.ticks_per_ns > 0))
		return complain(ENOTSUP, "the device's clocks do not agree");
	cap_grids(s);
	err = make_memory(s);
	if (!err)
		err = make_blocks(s);
	if (err)
		return err;
	make_streams(s);
	make_graphs(s);
	make_functions(s);
	CUDA(cudaDeviceSynchronize());
	return 0;
}

/* ---- all given back ----------------------------------------------------------------------- */

static void release_streams(struct replay_state *s)
{
	for (int i = 0; i < s->plan.streams; i++) {
		if (s->joined && s->joined[i])
			CUDA(cudaEventDestroy(s->joined[i]));
		if (s->stream && s->stream[i])
			CUDA(cudaStreamDestroy(s->stream[i]));
	}
	for (int i = 0; i < s->plan.events; i++)
		if (s->event && s->event[i])
			CUDA(cudaEventDestroy(s->event[i]));
	for (int i = 0; i < s->plan.graphs; i++)
		if (s->graph && s->graph[i])
			CUDA(cudaGraphExecDestroy(s->graph[i]));
	if (s->forked)
		CUDA(cudaEventDestroy(s->forked));
}

static void release_blocks(struct replay_state *s)
{
	for (int64_t i = 0; i < s->plan.acts; i++) {
		const struct replay_act *a = &s->plan.act[i];

		if (a->kind != ACT_ALLOC || !s->block || !s->block[a->place])
			continue;
		if (a->taken == TAKEN_PINNED)
			CUDA(cudaFreeHost(s->block[a->place]));
		else
			CUDA(cudaFree(s->block[a->place]));
		s->block[a->place] = NULL;
	}
}

void replay_teardown(void *state)
{
	struct replay_state *s = state;

	release_streams(s);
	release_blocks(s);
	for (int i = 0; i < REPLAY_SOURCES_OF; i++)
		give_memory(&s->source[i]);
	for (int i = 0; i < s->plan.areas && s->area; i++)
		give_memory(&s->area[i]);
	device_free(s->count);
	device_free(s->wrong);
	free(s->stream);
	free(s->joined);
	free(s->event);
	free(s->graph);
	free(s->area);
	free(s->function);
	free(s->block);
	replay_plan_release(&s->plan);
	memset(s, 0, sizeof(*s));
}
