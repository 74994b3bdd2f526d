/* dataset.c - what the arrays of data sets are, how they are cut, and what copies that makes. */
#include "common/dataset.h"

#include <errno.h>
#include <stdio.h>

#include "common/cuda_check.h"
#include "common/device.h"
#include "common/timing.h"

enum { SAMPLES = 5, STEPS_MAX = 4096, WORD = 4 };

static const double sample_ns = 1e7; /* at least one step */

/* ---- chunks ----------------------------------------------------------------------------- */

int dataset_chunks(const struct dataset_opts *o)
{
	return o->overlap ? (int)o->overlap : 1;
}

static int64_t rows_of(const struct dataset_array *a)
{
	return (a->words + a->row - 1) / a->row;
}

int64_t dataset_edge(const struct dataset_array *a, int chunk, int chunks)
{
	int64_t rows = rows_of(a), row = chunk ? rows * chunk / chunks + a->halo : 0;

	return chunk == chunks || row >= rows ? a->words : row * a->row;
}

static struct streamed_form form_of(const struct dataset_opts *o)
{
	return (struct streamed_form){ o->block, (enum streamed_memory)o->memory, o->overlap };
}

static int total_check(const struct dataset_opts *o, const struct dataset_shape *shape)
{
	int64_t bytes = dataset_bytes(shape);

	if (o->total && o->total < bytes)
		return complain(EINVAL, "total=%ld: less than the %ld bytes of one step",
				(long)o->total, (long)bytes);
	if (dataset_steps(o, shape) > DATASET_STEPS_MAX)
		return complain(EINVAL, "total=%ld: more than %d steps of %ld bytes",
				(long)o->total, DATASET_STEPS_MAX, (long)bytes);
	return 0;
}

/* The first output decides into how many chunks a set can be cut. */
int dataset_opts_check(const struct dataset_opts *o, const struct dataset_shape *shape)
{
	const struct streamed_form form = form_of(o);
	const struct dataset_array *a = &shape->array[shape->inputs];
	int err;

	if (o->data != STREAMED_STREAMED)
		return 0;
	err = streamed_form_check(&form);
	if (!err && rows_of(a) < o->overlap)
		err = complain(EINVAL, "overlap=%ld: %ld %ss make at most %ld chunks of %ld",
			       (long)o->overlap, (long)a->words, shape->unit, (long)rows_of(a),
			       (long)a->row);
	return err ? err : total_check(o, shape);
}

int64_t dataset_steps(const struct dataset_opts *o, const struct dataset_shape *shape)
{
	int64_t bytes = dataset_bytes(shape);

	return o->total / bytes + (o->total % bytes != 0);
}

/* ---- copies ----------------------------------------------------------------------------- */

static struct dataset_copies copies(const struct dataset_opts *o, const struct dataset_shape *shape,
				    int first, int end)
{
	int chunks = dataset_chunks(o);
	struct dataset_copies all = { 0 };

	for (int k = first; k < end && o->data == STREAMED_STREAMED; k++)
		for (int c = 0; c < chunks; c++) {
			const struct dataset_array *a = &shape->array[k];
			int64_t words = dataset_edge(a, c + 1, chunks) - dataset_edge(a, c, chunks);

			all.calls += (double)streamed_calls(words * WORD, o->block);
			all.bytes += (double)(words * WORD);
		}
	return all;
}

struct dataset_copies dataset_copies_in(const struct dataset_opts *o,
					const struct dataset_shape *shape)
{
	return copies(o, shape, 0, shape->inputs);
}

struct dataset_copies dataset_copies_out(const struct dataset_opts *o,
					 const struct dataset_shape *shape)
{
	return copies(o, shape, shape->inputs, shape->inputs + shape->outputs);
}

int64_t dataset_bytes(const struct dataset_shape *shape)
{
	int64_t words = 0;

	for (int k = 0; k < shape->inputs + shape->outputs; k++)
		words += shape->array[k].words;
	return words * WORD;
}

const char *dataset_graph_refused(const struct dataset_opts *o, const struct dataset_shape *shape)
{
	const struct streamed_form form = form_of(o);
	double calls = dataset_copies_in(o, shape).calls + dataset_copies_out(o, shape).calls;

	return o->data == STREAMED_STREAMED ? streamed_graph_refused(&form, (int64_t)calls) : NULL;
}

const char *dataset_fused_refused(const struct dataset_opts *o)
{
	return o->data == STREAMED_STREAMED
		       ? "a step of data=streamed has copies, which no launch does"
		       : NULL;
}

/* ---- reports ---------------------------------------------------------------------------- */

void dataset_touched_text(const struct dataset *d, char text[DATASET_TEXT])
{
	double mb = (double)dataset_bytes(&d->shape) * d->device_slots / 1e6;
	int l2 = device_attribute(cudaDevAttrL2CacheSize);

	if (l2 > 0)
		snprintf(text, DATASET_TEXT, "%.4g MB of device memory; the L2 cache has %.4g", mb,
			 l2 / 1e6);
	else
		snprintf(text, DATASET_TEXT, "%.4g MB of device memory", mb);
}

void dataset_copies_text(const struct dataset *d, char text[DATASET_TEXT])
{
	struct dataset_copies in = dataset_copies_in(&d->o, &d->shape);
	struct dataset_copies out = dataset_copies_out(&d->o, &d->shape);

	snprintf(text, DATASET_TEXT, "%.0f of %.4g MB to the device, %.0f of %.4g MB back",
		 in.calls, in.bytes / 1e6, out.calls, out.bytes / 1e6);
}

static int64_t time_steps(int (*step)(const void *, void *, cudaStream_t), const void *opts,
			  void *state, cudaStream_t stream, int64_t steps)
{
	int64_t begin = timing_now_ns();

	for (int64_t i = 0; i < steps; i++)
		CHECK(!step(opts, state, stream), "step %ld", (long)i);
	CUDA(cudaStreamSynchronize(stream));
	return timing_now_ns() - begin;
}

double dataset_step_ns(int (*step)(const void *, void *, cudaStream_t), const void *opts,
		       void *state, int64_t *n)
{
	int64_t ns[SAMPLES], steps, begin;
	cudaStream_t stream;

	CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	begin = timing_now_ns(); /* the first stream of a process waits for its context */
	steps = (int64_t)(sample_ns / (double)time_steps(step, opts, state, stream, 1));
	steps = steps < 1 ? 1 : steps > STEPS_MAX ? STEPS_MAX : steps;
	for (*n = 0; *n < SAMPLES && (!*n || timing_now_ns() - begin < 500000000); ++*n)
		ns[*n] = time_steps(step, opts, state, stream, steps);
	CUDA(cudaStreamDestroy(stream));
	return timing_median(ns, *n) / (double)steps;
}
