/* setup.c - what the memory workload needs beside what it takes. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cuda_check.h"
#include "common/device.h"
#include "common/room.h"
#include "workloads/memory/memory.h"

void *memory_buffer(size_t bytes)
{
	size_t whole = (bytes + MEMORY_PAGE - 1) / MEMORY_PAGE * MEMORY_PAGE;
	void *p = aligned_alloc(MEMORY_PAGE, whole);

	CHECK(p, "%zu bytes", bytes);
	memset(p, 0, whole);
	return p;
}

int memory_check_size(enum memory_call call, int64_t bytes)
{
	const char *why = memory_call_refused(call);
	char what[48];

	if (why)
		return complain(ENOTSUP, "call=%s: %s", call == MEMORY_MISS ? "miss" : "async",
				why);
	snprintf(what, sizeof(what), "bytes=%lld", (long long)bytes);
	return memory_on_device(call) ? room_on_device(bytes, what) : room_on_host(bytes, what);
}

static int prepare_step(const struct memory_opts *o, struct memory_state *s)
{
	int err = memory_check_size((enum memory_call)o->call, o->bytes);

	if (err)
		return err;
	if (o->call == MEMORY_REGISTER)
		s->buffer = memory_buffer((size_t)o->bytes);
	CUDA(cudaMalloc((void **)&s->stamps, sizeof(*s->stamps)));
	return 0;
}

int memory_setup(const void *opts, void *state)
{
	const struct memory_opts *o = opts;
	int err = device_present();

	if (err)
		return err;
	memory_load_kernels();
	if (!o->probe)
		return prepare_step(o, state);
	/* a probe takes what it needs itself: what it takes first is the first of its kind */
	err = memory_check_size(MEMORY_MALLOC, o->bytes);
	return err ? err : memory_check_size(MEMORY_PINNED, o->bytes);
}

void memory_teardown(void *state)
{
	struct memory_state *s = state;

	if (s->stamps) {
		CUDA(cudaFree(s->stamps));
		/* what a pool was told to keep would be missing elsewhere */
		memory_pool_keep(false);
	}
	free(s->buffer);
	free(s->names);
	s->stamps = NULL;
	s->buffer = NULL;
	s->names = NULL;
}
