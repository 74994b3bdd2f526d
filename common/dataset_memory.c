/* dataset_memory.c - memory of data sets, their inputs, and steps that copy. */
#include <errno.h>
#include <string.h>

#include "common/cuda_check.h"
#include "common/device.h"
#include "common/dataset.h"
#include "common/interrupt.h"
#include "common/room.h"

enum { WORD = 4 };

/* ---- where arrays lie ------------------------------------------------------------------- */

int64_t dataset_stride(const struct dataset_array *a)
{
	return (a->words / DATASET_ALIGN + 1) * DATASET_ALIGN;
}

/* Words of arrays [first, end), all of `slots` slots. */
static int64_t words_of(const struct dataset_shape *shape, int first, int end, int64_t slots)
{
	int64_t words = 0;

	for (int k = first; k < end; k++)
		words += dataset_stride(&shape->array[k]) * slots;
	return words;
}

static int arrays(const struct dataset_shape *shape)
{
	return shape->inputs + shape->outputs;
}

static int64_t bytes_for(const struct dataset_shape *shape, int64_t slots)
{
	return words_of(shape, 0, arrays(shape), slots) * WORD;
}

static void *place_array(const struct dataset_shape *shape, void *base, int k, int64_t slot,
			 int64_t slots)
{
	int64_t at = words_of(shape, 0, k, slots) + slot * dataset_stride(&shape->array[k]);

	return base ? (char *)base + at * WORD : NULL;
}

void *dataset_device(const struct dataset *d, int k, int64_t slot)
{
	return place_array(&d->shape, d->device, k, slot, d->device_slots);
}

void *dataset_host(const struct dataset *d, int k, int64_t slot)
{
	return place_array(&d->shape, d->host, k, slot, d->o.slots);
}

/* ---- allocation ------------------------------------------------------------------------- */

static int make_device(struct dataset *d, const char *what)
{
	int64_t bytes = bytes_for(&d->shape, d->device_slots);
	int err = room_on_device(bytes + d->shape.besides, what);

	if (err)
		return err;
	err = device_new(&d->device, (size_t)bytes, "%s", what);
	if (!err)
		d->counter = slots_counter_new();
	return err;
}

static int make_host(struct dataset *d, const char *what)
{
	int64_t bytes = bytes_for(&d->shape, d->o.slots);
	int err = room_for_buffers(bytes, what);

	if (err)
		return err;
	d->host = streamed_host_new((size_t)bytes, (enum streamed_memory)d->o.memory);
	if (!d->host)
		return -ENOMEM;
	streamed_lanes_make(&d->lanes, dataset_chunks(&d->o));
	return 0;
}

int dataset_make(struct dataset *d, const struct dataset_opts *o, const struct dataset_shape *shape,
		 const char *what)
{
	bool streamed = o->data == STREAMED_STREAMED;
	int err;

	CHECK(arrays(shape) <= DATASET_ARRAYS_MAX, "%d arrays", arrays(shape));
	*d = (struct dataset){ .o = *o,
			       .shape = *shape,
			       .device_slots = streamed ? 1 : (uint32_t)o->slots };
	err = make_device(d, what);
	return !err && streamed ? make_host(d, what) : err;
}

/* Streamed inputs are made on the device too and fetched once. */
int dataset_fill(struct dataset *d, const struct dataset_work *w, const void *opts, void *state)
{
	for (int64_t slot = 0; slot < d->o.slots; slot++) {
		if (interrupted())
			return -EINTR;
		w->make(opts, state, slot, d->host ? 0 : slot);
		for (int k = 0; k < d->shape.inputs && d->host; k++)
			CUDA(cudaMemcpy(dataset_host(d, k, slot), dataset_device(d, k, 0),
					(size_t)d->shape.array[k].words * WORD,
					cudaMemcpyDeviceToHost));
	}
	CUDA(cudaDeviceSynchronize());
	return 0;
}

void dataset_release(struct dataset *d)
{
	streamed_lanes_release(&d->lanes);
	streamed_host_free(d->host, (enum streamed_memory)d->o.memory);
	slots_counter_free(d->counter);
	device_free(d->device);
	*d = (struct dataset){ 0 };
}

/* ---- steps ------------------------------------------------------------------------------ */

size_t dataset_output_bytes(const struct dataset_shape *shape, int64_t slots)
{
	return (size_t)words_of(shape, shape->inputs, arrays(shape), slots) * WORD;
}

/* No step is under way when a reset is asked for. */
void dataset_reset(struct dataset *d, cudaStream_t stream)
{
	const struct dataset_shape *s = &d->shape;

	slots_counter_reset(d->counter, stream);
	CUDA(cudaMemsetAsync(dataset_device(d, s->inputs, 0), s->poison,
			     dataset_output_bytes(s, d->device_slots), stream));
	if (d->host)
		memset(dataset_host(d, s->inputs, 0), s->poison,
		       dataset_output_bytes(s, d->o.slots));
	d->enqueued = 0;
}

/* A streamed step that is being enqueued. */
struct going {
	const struct dataset *d;
	const struct dataset_work *w;
	const void *opts;
	void *state;
	int64_t slot; /* of the host */
};

/* A chunk of one array, inwards or back. */
static void copy(const struct going *g, int k, int chunk, enum cudaMemcpyKind kind,
		 cudaStream_t stream)
{
	const struct dataset_array *a = &g->d->shape.array[k];
	int chunks = dataset_chunks(&g->d->o);
	int64_t at = dataset_edge(a, chunk, chunks), end = dataset_edge(a, chunk + 1, chunks);
	char *device = (char *)dataset_device(g->d, k, 0) + at * WORD;
	char *host = (char *)dataset_host(g->d, k, g->slot) + at * WORD;
	bool in = kind == cudaMemcpyHostToDevice;

	streamed_copy(in ? device : host, in ? host : device, (size_t)(end - at) * WORD,
		      g->d->o.block, kind, stream);
}

static void copy_in(void *arg, int chunk, cudaStream_t stream)
{
	const struct going *g = arg;

	for (int k = 0; k < g->d->shape.inputs; k++)
		copy(g, k, chunk, cudaMemcpyHostToDevice, stream);
}

static void copy_out(void *arg, int chunk, cudaStream_t stream)
{
	const struct going *g = arg;

	for (int k = g->d->shape.inputs; k < arrays(&g->d->shape); k++)
		copy(g, k, chunk, cudaMemcpyDeviceToHost, stream);
}

/* The last chunk counts the step. */
static void compute(void *arg, int chunk, cudaStream_t stream)
{
	const struct going *g = arg;
	int chunks = dataset_chunks(&g->d->o);
	const struct dataset_part part = { chunk, chunks, chunk == chunks - 1, 0 };

	g->w->compute(g->opts, g->state, &part, stream);
}

void dataset_step(struct dataset *d, const struct dataset_work *w, const void *opts, void *state,
		  cudaStream_t stream)
{
	struct going g = { d, w, opts, state, 0 };
	const struct streamed_parts parts = { copy_in, compute, copy_out, &g };
	struct dataset_part all = { 0, 1, true, 0 };

	if (d->host || d->shape.host_turn)
		g.slot = d->enqueued++ % d->o.slots;
	if (!d->host) {
		all.slot = g.slot;
		w->compute(opts, state, &all, stream);
		return;
	}
	streamed_step(&d->lanes, &parts, dataset_chunks(&d->o), stream);
}
