/* setup.c - memory at both ends of the copies. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cuda_check.h"
#include "common/device.h"
#include "common/room.h"
#include "workloads/transfer/transfer.h"

enum { SLOTS_BYTES = 64 << 20, ALIGN = 256, GUARD_BYTES = 64, PAGE = 4096 };

/* ---- slots ------------------------------------------------------------------------------ */

static size_t stride_for(int64_t bytes)
{
	return ((size_t)bytes + GUARD_BYTES + ALIGN - 1) / ALIGN * ALIGN;
}

/* A multiple of the number of sources would bring the same bytes again and again. */
static int slots_for(int64_t bytes)
{
	size_t n = SLOTS_BYTES / stride_for(bytes);

	n = n < 1 ? 1 : n > TRANSFER_SLOTS_MAX ? TRANSFER_SLOTS_MAX : n;
	return (int)(n % TRANSFER_SOURCES ? n : n - 1);
}

static size_t dst_bytes_for(int64_t bytes)
{
	return (size_t)slots_for(bytes) * stride_for(bytes);
}

static size_t src_bytes_for(int64_t bytes)
{
	size_t last = (size_t)(TRANSFER_SOURCES - 1) * TRANSFER_SHIFT;

	return (last + (size_t)bytes + 7) / 8 * 8;
}

void transfer_lay_out(struct transfer_state *s, int64_t bytes, int most)
{
	size_t used;

	s->bytes = bytes;
	s->stride = stride_for(bytes);
	s->slots = slots_for(bytes);
	s->slots = s->slots < most ? s->slots : most;
	s->copies = s->steps = 0;
	used = (size_t)s->slots * s->stride;
	CHECK(used <= s->dst.bytes && src_bytes_for(bytes) <= s->src.bytes, "%ld bytes",
	      (long)bytes);
	if (!s->dst.on_device) {
		memset(s->dst.base, PATTERN_GUARD_BYTE, used);
		return;
	}
	pattern_fill(s->dst.base, used, 0, 0, 0);
	CUDA(cudaDeviceSynchronize());
}

/* ---- memory ----------------------------------------------------------------------------- */

static int no_memory(const struct transfer_end *end, cudaError_t err)
{
	cudaGetLastError();
	return complain(ENOMEM, "cannot allocate %zu bytes %s: %s", end->bytes,
			end->on_device ? "on the device" : "on the host", cudaGetErrorString(err));
}

static cudaError_t allocate_host(struct transfer_end *end)
{
	if (end->host == TRANSFER_PINNED)
		return CUDA_RESULT(cudaMallocHost((void **)&end->base, end->bytes));
	end->base = aligned_alloc(PAGE, (end->bytes + PAGE - 1) / PAGE * PAGE);
	if (!end->base)
		return cudaErrorMemoryAllocation;
	memset(end->base, 0, end->bytes); /* pages, before they are pinned or timed */
	return end->host == TRANSFER_REGISTERED
		       ? CUDA_RESULT(
				 cudaHostRegister(end->base, end->bytes, cudaHostRegisterDefault))
		       : cudaSuccess;
}

static int allocate_device(struct transfer_end *end)
{
	cudaError_t err =
		end->on_device ? cudaMalloc((void **)&end->base, end->bytes) : allocate_host(end);

	return err ? no_memory(end, err) : 0;
}

static void release_memory(struct transfer_end *end)
{
	if (end->base && end->on_device)
		CUDA(cudaFree(end->base));
	else if (end->base && end->host == TRANSFER_PINNED)
		CUDA(cudaFreeHost(end->base));
	else if (end->base) {
		/* where registering failed there is nothing to take back */
		if (end->host == TRANSFER_REGISTERED && cudaHostUnregister(end->base))
			cudaGetLastError();
		free(end->base);
	}
	end->base = NULL;
}

static int check_memory(const struct transfer_opts *o, const struct transfer_state *s)
{
	const struct transfer_end *ends[] = { &s->src, &s->dst };
	int64_t device = 0, host = 0;
	char what[48];

	for (int i = 0; i < 2; i++)
		*(ends[i]->on_device ? &device : &host) += (int64_t)ends[i]->bytes;
	snprintf(what, sizeof(what), "bytes=%lld", (long long)o->bytes);
	return room_on_both(device, host, what);
}

static void fill_source(const struct transfer_end *src)
{
	uint64_t *word = (uint64_t *)src->base;

	if (src->on_device)
		pattern_fill(src->base, src->bytes, 0, src->bytes, 0);
	else
		for (size_t i = 0; i < src->bytes / 8; i++)
			word[i] = pattern_word(i);
}

static int make_ends(const struct transfer_opts *o, struct transfer_state *s, bool all_sizes)
{
	int err;

	s->src = (struct transfer_end){ .bytes = src_bytes_for(o->bytes),
					.on_device = o->dir != TRANSFER_H2D,
					.host = (enum transfer_host)o->host };
	s->dst = (struct transfer_end){ .bytes = dst_bytes_for(o->bytes),
					.on_device = o->dir != TRANSFER_D2H,
					.host = (enum transfer_host)o->host };
	/* smaller copies have more slots, which take up to SLOTS_BYTES */
	if (all_sizes && s->dst.bytes < SLOTS_BYTES)
		s->dst.bytes = SLOTS_BYTES;
	err = check_memory(o, s);
	if (!err)
		err = allocate_device(&s->src);
	return err ? err : allocate_device(&s->dst);
}

int transfer_prepare(const struct transfer_opts *o, struct transfer_state *s, bool all_sizes)
{
	int err = make_ends(o, s, all_sizes);

	if (err)
		return err;
	CUDA(cudaMalloc((void **)&s->wrong, sizeof(*s->wrong)));
	fill_source(&s->src);
	transfer_lay_out(s, o->bytes, TRANSFER_SLOTS_MAX);
	CUDA(cudaDeviceSynchronize());
	return 0;
}

int transfer_setup(const void *opts, void *state)
{
	const struct transfer_opts *o = opts;
	int err = device_present();

	if (err)
		return err;
	pattern_load_kernels();
	transfer_load_kernels();
	/* a probe makes ends of its own, of each kind */
	return o->probe ? 0 : transfer_prepare(o, state, false);
}

void transfer_teardown(void *state)
{
	struct transfer_state *s = state;

	release_memory(&s->src);
	release_memory(&s->dst);
	device_free(s->wrong);
	s->wrong = NULL;
	free(s->names);
	s->names = NULL;
}
