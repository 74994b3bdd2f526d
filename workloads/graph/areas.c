/*
 * areas.c - what nodes that copy between host and device are from and to, and whether every byte
 * has arrived.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/cuda_check.h"
#include "common/device.h"
#include "workloads/graph/graph.h"

static size_t area_bytes(const struct graph_shape *shape)
{
	return (size_t)(shape->copies * shape->copy_bytes);
}

static bool is_to_host(const struct graph_shape *shape)
{
	return shape->kind == GRAPH_D2H;
}

static bool comes_back(const struct graph_shape *shape)
{
	return shape->copies_back > 0;
}

/* What copies to the host write to; NULL: there are none. */
static unsigned long long *host_area(const struct graph_areas *a, const struct graph_shape *shape)
{
	return is_to_host(shape) ? a->to : a->back;
}

static bool is_allocated(struct graph_areas *a, size_t bytes, const struct graph_shape *shape)
{
	bool to_host = is_to_host(shape), back = comes_back(shape);
	unsigned long long **host = to_host ? &a->to : &a->from;
	unsigned long long **device = to_host ? &a->from : &a->to;

	return !cudaMallocHost((void **)host, bytes) && !cudaMalloc((void **)device, bytes) &&
	       !cudaMalloc((void **)&a->wrong, sizeof(*a->wrong)) &&
	       (!back || !cudaMallocHost((void **)&a->back, bytes)) &&
	       (!(to_host || back) || !cudaMalloc((void **)&a->zero, bytes));
}

int graph_areas_init(struct graph_areas *a, const struct graph_shape *shape)
{
	size_t bytes = area_bytes(shape);

	if (!bytes)
		return 0;
	if (!is_allocated(a, bytes, shape)) {
		cudaGetLastError();
		return complain(ENOMEM,
				"cannot allocate %zu bytes on host and device for %ld copies",
				bytes, (long)shape->copies);
	}
	if (a->zero)
		CUDA(cudaMemset(a->zero, 0, bytes));
	if (is_to_host(shape)) {
		pattern_fill(a->from, bytes, 0, bytes, 0);
		CUDA(cudaStreamSynchronize(0));
		return 0;
	}
	for (size_t i = 0; i < bytes / 8; i++)
		a->from[i] = pattern_word(i);
	return 0;
}

void graph_areas_release(struct graph_areas *a, const struct graph_shape *shape)
{
	unsigned long long *host = is_to_host(shape) ? a->to : a->from;
	unsigned long long *device = is_to_host(shape) ? a->from : a->to;

	if (host)
		CUDA(cudaFreeHost(host));
	if (a->back)
		CUDA(cudaFreeHost(a->back));
	device_free(device);
	device_free(a->zero);
	device_free(a->wrong);
	*a = (struct graph_areas){ 0 };
}

void graph_areas_clear(const struct graph_areas *a, const struct graph_shape *shape,
		       cudaStream_t stream)
{
	size_t bytes = area_bytes(shape);

	if (!bytes)
		return;
	if (host_area(a, shape))
		CUDA(cudaMemcpyAsync(host_area(a, shape), a->zero, bytes, cudaMemcpyDeviceToHost,
				     stream));
	if (!is_to_host(shape))
		CUDA(cudaMemsetAsync(a->to, 0, bytes, stream));
}

void graph_areas_copy(const struct graph_areas *a, const struct graph_shape *shape, bool to_host,
		      int64_t k, cudaStream_t stream)
{
	int64_t at = k * shape->copy_bytes / 8;
	bool back = to_host && !is_to_host(shape);
	unsigned long long *to = back ? a->back : a->to, *from = back ? a->to : a->from;

	CUDA(cudaMemcpyAsync(to + at, from + at, (size_t)shape->copy_bytes,
			     to_host ? cudaMemcpyDeviceToHost : cudaMemcpyHostToDevice, stream));
}

const unsigned long long *graph_areas_last(const struct graph_areas *a,
					   const struct graph_shape *shape, int64_t k)
{
	return a->to + (k + 1) * shape->copy_bytes / 8 - 1;
}

/* The first word of each copy, which is 0 where it has not run. */
static int64_t count_begun(const unsigned long long *to, const struct graph_shape *shape,
			   int64_t *first)
{
	size_t n = (size_t)shape->copies, begun = 0;
	unsigned long long *word = calloc(n, sizeof(*word));

	CHECK(word, "%zu words", n);
	CUDA(cudaMemcpy2D(word, sizeof(*word), to, (size_t)shape->copy_bytes, sizeof(*word), n,
			  cudaMemcpyDefault));
	for (size_t k = 0; k < n; k++)
		if (word[k] && !begun++)
			*first = (int64_t)k * shape->copy_bytes / 8;
	free(word);
	return (int64_t)begun;
}

static struct pattern_wrong compare_on_device(const struct graph_areas *a, size_t bytes)
{
	struct pattern_wrong wrong = pattern_all_wrong(bytes);

	CUDA(cudaMemcpy(a->wrong, &wrong, sizeof(wrong), cudaMemcpyHostToDevice));
	pattern_compare(a->to, bytes, 0, bytes, a->wrong, 0);
	CUDA(cudaMemcpy(&wrong, a->wrong, sizeof(wrong), cudaMemcpyDeviceToHost));
	return wrong;
}

static int64_t words_wrong(const struct pattern_wrong *wrong, int64_t before, int64_t *first)
{
	if (wrong->words)
		*first = wrong->first == ~0ull ? 0 : before + (int64_t)wrong->first;
	return (int64_t)wrong->words;
}

/* What came back: some copies stay on the device. */
static int64_t back_wrong(const struct graph_areas *a, const struct graph_shape *shape,
			  int64_t *first)
{
	size_t bytes = (size_t)shape->copy_bytes;
	int64_t n = 0;

	for (int64_t i = shape->copies_back - 1; i >= 0; i--) {
		int64_t at = graph_copied_back(shape, i) * shape->copy_bytes / 8;
		struct pattern_wrong wrong =
			pattern_compare_host(a->back + at, bytes, (uint64_t)at, bytes);

		n += words_wrong(&wrong, at, first);
	}
	return n;
}

int64_t graph_areas_wrong(const struct graph_areas *a, const struct graph_shape *shape, bool ran,
			  int64_t *first)
{
	size_t bytes = area_bytes(shape);
	struct pattern_wrong wrong;
	int64_t n;

	if (!bytes)
		return 0;
	if (!ran)
		return (a->back ? count_begun(a->back, shape, first) : 0) +
		       count_begun(a->to, shape, first);
	n = back_wrong(a, shape, first);
	wrong = is_to_host(shape) ? pattern_compare_host(a->to, bytes, 0, bytes)
				  : compare_on_device(a, bytes);
	return n + words_wrong(&wrong, 0, first);
}
