/* streamed.c - copies in blocks, memory for them, and streams side by side. */
#include "common/streamed.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/cuda_check.h"

enum { PAGE = 4096 };

const char *const streamed_data_names[] = { "resident", "streamed", NULL };
const char *const streamed_memory_names[] = { "pinned", "pageable", NULL };

/* ---- forms ------------------------------------------------------------------------------ */

int streamed_form_check(const struct streamed_form *form)
{
	int64_t b = form->block;

	if (b && (b < STREAMED_BLOCK_MIN || b > STREAMED_BLOCK_MAX || b & (b - 1)))
		return complain(EINVAL, "block=%ld: must be 0 or a power of two, 64k to 128M",
				(long)b);
	if (form->overlap == 1)
		return complain(
			EINVAL,
			"overlap=1: one chunk has nothing to overlap with; must be 0, or 2 to %d",
			STREAMED_CHUNKS_MAX);
	return 0;
}

const char *streamed_graph_refused(const struct streamed_form *form, int64_t copies)
{
	if (form->memory == STREAMED_PAGEABLE)
		return "memory=pageable: the host takes part in such copies; stream mode only";
	return copies > STREAMED_GRAPH_COPIES
		       ? "more than 2048 copies per step: use a larger block, or stream mode"
		       : NULL;
}

/* ---- copies ----------------------------------------------------------------------------- */

int64_t streamed_calls(int64_t bytes, int64_t block)
{
	if (!bytes)
		return 0;
	return block ? (bytes + block - 1) / block : 1;
}

void streamed_copy(void *dst, const void *src, size_t bytes, int64_t block,
		   enum cudaMemcpyKind kind, cudaStream_t stream)
{
	size_t most = block ? (size_t)block : bytes;

	for (size_t at = 0; at < bytes; at += most)
		CUDA(cudaMemcpyAsync((char *)dst + at, (const char *)src + at,
				     bytes - at < most ? bytes - at : most, kind, stream));
}

void *streamed_host_new(size_t bytes, enum streamed_memory memory)
{
	void *host = NULL;

	if (memory == STREAMED_PAGEABLE)
		host = aligned_alloc(PAGE, (bytes + PAGE - 1) / PAGE * PAGE);
	else if (CUDA_RESULT(cudaMallocHost(&host, bytes))) {
		cudaGetLastError();
		host = NULL;
	}
	if (host)
		memset(host, 0, bytes);
	else
		complain(ENOMEM, "cannot allocate %zu bytes of %s host memory", bytes,
			 streamed_memory_names[memory]);
	return host;
}

void streamed_host_free(void *host, enum streamed_memory memory)
{
	if (memory == STREAMED_PAGEABLE)
		free(host);
	else if (host)
		CUDA(cudaFreeHost(host));
}

/* ---- streams side by side --------------------------------------------------------------- */

static void make_event(cudaEvent_t *event)
{
	CUDA(cudaEventCreateWithFlags(event, cudaEventDisableTiming));
}

void streamed_lanes_make(struct streamed_lanes *l, int chunks)
{
	if (chunks < 2)
		return;
	CUDA(cudaStreamCreateWithFlags(&l->in, cudaStreamNonBlocking));
	CUDA(cudaStreamCreateWithFlags(&l->out, cudaStreamNonBlocking));
	make_event(&l->forked);
	make_event(&l->left);
	for (int c = 0; c < chunks; c++) {
		make_event(&l->arrived[c]);
		make_event(&l->computed[c]);
	}
}

static void drop_event(cudaEvent_t event)
{
	if (event)
		CUDA(cudaEventDestroy(event));
}

void streamed_lanes_release(struct streamed_lanes *l)
{
	for (int c = 0; c < STREAMED_CHUNKS_MAX; c++) {
		drop_event(l->arrived[c]);
		drop_event(l->computed[c]);
	}
	drop_event(l->forked);
	drop_event(l->left);
	if (l->in)
		CUDA(cudaStreamDestroy(l->in));
	if (l->out)
		CUDA(cudaStreamDestroy(l->out));
	memset(l, 0, sizeof(*l));
}

/* Makes `after` wait for what `before` has been given so far. */
static void follow(cudaStream_t after, cudaStream_t before, cudaEvent_t event)
{
	CUDA(cudaEventRecord(event, before));
	CUDA(cudaStreamWaitEvent(after, event, 0));
}

/* The stream waits for every arrival, so only the way out is left to be joined. */
static void step_in_lanes(const struct streamed_lanes *l, const struct streamed_parts *p,
			  int chunks, cudaStream_t stream)
{
	follow(l->in, stream, l->forked);
	for (int c = 0; c < chunks; c++) {
		p->in(p->arg, c, l->in);
		follow(stream, l->in, l->arrived[c]);
		p->compute(p->arg, c, stream);
		follow(l->out, stream, l->computed[c]);
		p->out(p->arg, c, l->out);
	}
	follow(stream, l->out, l->left);
}

void streamed_step(const struct streamed_lanes *l, const struct streamed_parts *p, int chunks,
		   cudaStream_t stream)
{
	if (chunks > 1) {
		step_in_lanes(l, p, chunks, stream);
		return;
	}
	p->in(p->arg, 0, stream);
	p->compute(p->arg, 0, stream);
	p->out(p->arg, 0, stream);
}
