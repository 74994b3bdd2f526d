/*
 * memory.c - the memory workload: its parameters, its steps and its entry in the table.
 *
 * A step allocates bytes= of memory by one function and frees them (call=):
 *
 *   malloc        cudaMalloc, cudaFree
 *   async, miss   cudaMallocAsync, cudaFreeAsync; miss: from a pool that is empty
 *   pinned        cudaMallocHost, cudaFreeHost
 *   register      cudaHostRegister, cudaHostUnregister of memory that is there
 *
 * With touch=yes each page is written and read back in between. pool.c has the calls, measure.c
 * times each by itself (probe=yes), check.c looks at what was written.
 */
#include "workloads/memory/memory.h"

#include <errno.h>

#include "common/cuda_check.h"

static const char *const calls[] = { "malloc", "async", "miss", "pinned", "register", NULL };
static const char *const no_yes[] = { "no", "yes", NULL };
static const char *const probes[] = { "no", "yes", "quick", NULL };

enum { DEPTH_MAX = 64 };

#define BYTES_MAX 1099511627776.0 /* 1 TiB */

/* clang-format off */
static const struct param params[] = {
	PARAM_AXIS(memory_opts, bytes, "bytes", "4M", 1, BYTES_MAX,
		   "1,4k,64k,1M,2M,16M,256M,1G", "size of what is allocated and freed"),
	PARAM_CHOICE_ASIDE(memory_opts, call, "malloc", calls, "malloc,async,miss,pinned,register",
		     "cudaMalloc, cudaMallocAsync (from a pool; miss: from an empty one), "
		     "cudaMallocHost, cudaHostRegister"),
	PARAM_CHOICE_ASIDE(memory_opts, touch, "no", no_yes, "no,yes",
		     "write to each page of 4 KiB in between"),
	PARAM_CHOICE(memory_opts, probe, "no", probes,
		     "measure every call by itself instead"),
	PARAM_END
};
/* clang-format on */

static const struct param_need needs[] = {
	{ "call", "probe=no" },
	{ "touch", "probe=no" },
	{ NULL, NULL },
};

bool memory_on_device(enum memory_call call)
{
	return call == MEMORY_MALLOC || call == MEMORY_ASYNC || call == MEMORY_MISS;
}

/* ---- limits ----------------------------------------------------------------------------- */

int memory_limits(const void *opts, struct limits *out)
{
	const struct memory_opts *o = opts;

	out->mode_refused[MODE_GRAPH] =
		"memory is allocated by a call of the host, which a graph does not repeat";
#ifdef RIFT_CPU_DEVICE
	out->mode_refused[MODE_STREAM] = memory_call_refused((enum memory_call)o->call);
#endif
	out->depth_run = 16;
	out->depth_max = DEPTH_MAX;
	out->depth_why = "one more pair of calls costs what the last ones did";
	if (o->call == MEMORY_MISS) {
		out->depth_max = 1;
		out->depth_why = "call=miss: the second one finds in the pool what the first one "
				 "gave back";
	}
	out->action = o->probe != MEMORY_NO;
	return 0;
}

/* ---- steps ------------------------------------------------------------------------------ */

cudaError_t memory_take(enum memory_call call, void **p, size_t bytes, cudaStream_t stream)
{
	switch (call) {
	case MEMORY_MALLOC:
		return cudaMalloc(p, bytes);
	case MEMORY_PINNED:
		return CUDA_RESULT(cudaMallocHost(p, bytes));
	case MEMORY_REGISTER:
		return CUDA_RESULT(cudaHostRegister(*p, bytes, cudaHostRegisterDefault));
	default:
		return CUDA_RESULT(cudaMallocAsync(p, bytes, stream));
	}
}

void memory_give(enum memory_call call, void *p, cudaStream_t stream)
{
	switch (call) {
	case MEMORY_MALLOC:
		CUDA(cudaFree(p));
		break;
	case MEMORY_PINNED:
		CUDA(cudaFreeHost(p));
		break;
	case MEMORY_REGISTER:
		CUDA(cudaHostUnregister(p));
		break;
	default:
		CUDA(cudaFreeAsync(p, stream));
	}
}

/* The pool is as the option says before every block. */
int memory_reset(const void *opts, void *state, cudaStream_t stream)
{
	const struct memory_opts *o = opts;
	struct memory_state *s = state;

	s->steps = s->strays = s->pages = 0;
	CUDA(cudaMemsetAsync(s->stamps, 0, sizeof(*s->stamps), stream));
	if (o->call == MEMORY_ASYNC || o->call == MEMORY_MISS)
		memory_pool_keep(o->call == MEMORY_ASYNC);
	if (o->call == MEMORY_MISS)
		memory_pool_trim();
	return 0;
}

/* Pages whose first byte holds what was written to it. */
static int64_t touch_host(void *p, int64_t bytes)
{
	volatile unsigned char *byte = p;
	int64_t agree = 0;

	for (int64_t at = 0; at < bytes; at += MEMORY_PAGE)
		byte[at] = (unsigned char)(at / MEMORY_PAGE * 7 + 1);
	for (int64_t at = 0; at < bytes; at += MEMORY_PAGE)
		agree += byte[at] == (unsigned char)(at / MEMORY_PAGE * 7 + 1);
	return agree;
}

static int refuse_call(const struct memory_opts *o, cudaError_t err)
{
	cudaGetLastError();
	return complain(ENOMEM, "call=%s, bytes=%ld: %s", calls[o->call], (long)o->bytes,
			cudaGetErrorString(err));
}

int memory_step(const void *opts, void *state, cudaStream_t stream)
{
	const struct memory_opts *o = opts;
	struct memory_state *s = state;
	enum memory_call call = (enum memory_call)o->call;
	void *p = s->buffer;
	cudaError_t err = memory_take(call, &p, (size_t)o->bytes, stream);

	if (err)
		return refuse_call(o, err);
	/* CUDA gives device memory at multiples of 256 */
	s->strays += !p || (memory_on_device(call) && (uintptr_t)p % 256);
	if (o->touch && memory_on_device(call))
		memory_touch(p, (size_t)o->bytes, s->stamps, stream);
	else if (o->touch)
		s->pages += touch_host(p, o->bytes);
	memory_give(call, p, stream);
	s->steps++;
	return 0;
}

/* ---- cost ------------------------------------------------------------------------------- */

static int cost(const void *opts, const void *state, struct cost *out)
{
	const struct memory_opts *o = opts;
	bool kernel = o->touch && memory_on_device((enum memory_call)o->call);

	(void)state;
	*out = (struct cost){
		.launches = kernel,
		.allocations = 2,
		.bytes_moved =
			kernel ? 64.0 * (double)((o->bytes + MEMORY_PAGE - 1) / MEMORY_PAGE) : 0,
		.formula = "touch: one launch, and a sector of 32 bytes of each page read and "
			   "written; else nothing",
	};
	return 0;
}

const struct workload workload_memory = {
	.name = "memory",
	.summary = "memory allocated and freed and nothing else: what allocating costs",
	.source = "this project's own; compare HeCBench mallocFree, streamOrderedAllocation",
	.step_unit = "memory taken and given back",
	.params = params,
	.needs = needs,
	.opts_size = sizeof(struct memory_opts),
	.state_size = sizeof(struct memory_state),
	.limits = memory_limits,
	.setup = memory_setup,
	.reset = memory_reset,
	.step = memory_step,
	.check = memory_check,
	.report = memory_report,
	.plot = memory_plot,
	.cost = cost,
	.teardown = memory_teardown,
};
