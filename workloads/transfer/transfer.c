/*
 * transfer.c - the transfer workload: its parameters, its steps and its entry in the table.
 *
 * A step is one copy of bytes= bytes:
 *
 *   dir=h2d, d2h, d2d   host to device, device to host, within the device
 *   split=              in several calls of so many bytes, instead of one
 *   call=sync           cudaMemcpy instead of cudaMemcpyAsync
 *   call=kernel         a kernel instead, whose neighbouring threads take words stride= apart
 *
 * Sources and slots are taken in turn, so that caches serve no copy but small ones. setup.c lays
 * them out, measure.c times all sizes and kinds (probe=yes), check.c compares what has arrived.
 */
#include "workloads/transfer/transfer.h"

#include <errno.h>
#include <math.h>

#include "common/cuda_check.h"

const char *const transfer_dirs[] = { "h2d", "d2h", "d2d", NULL };
const char *const transfer_hosts[] = { "pinned", "pageable", "registered", NULL };
static const char *const calls[] = { "async", "sync", "kernel", NULL };
static const char *const probes[] = { "no", "yes", "quick", NULL };

#define BYTES_MAX 17179869184.0 /* 16 GiB */

/* clang-format off */
static const struct param params[] = {
	PARAM_AXIS(transfer_opts, bytes, "bytes", "1M", 1, BYTES_MAX,
		   "4,16,64,256,1k,4k,16k,64k,256k,1M,4M,16M,64M,256M,1G",
		   "size of a copy"),
	PARAM_CHOICE_ASIDE(transfer_opts, dir, "h2d", transfer_dirs, "h2d,d2h,d2d",
		   "host to device, device to host, or within the device"),
	PARAM_CHOICE_ASIDE(transfer_opts, host, "pinned", transfer_hosts, "pinned,pageable,registered",
		   "memory of the host: cudaMallocHost, malloc, or malloc and cudaHostRegister"),
	PARAM_CHOICE_ASIDE(transfer_opts, call, "async", calls, "async,sync",
		   "cudaMemcpyAsync or cudaMemcpy; within the device also a kernel"),
	PARAM_SIZE(transfer_opts, split, "bytes", "0", 0, BYTES_MAX,
		   "a step copies in blocks of this size; 0: in one"),
	PARAM_INT(transfer_opts, stride, "words", "1", 1, TRANSFER_STRIDE_MAX,
		   "words of 4 bytes that neighbouring threads of call=kernel are apart; 1: coalesced"),
	PARAM_CHOICE(transfer_opts, probe, "no", probes,
		   "measure all sizes and kinds of memory instead"),
	PARAM_END
};
/* clang-format on */

static const char *const added[] = { "stride", NULL };

static const struct param_need needs[] = {
	{ "host", "dir=h2d|d2h" },   { "bytes", "probe=no" }, { "dir", "probe=no" },
	{ "host", "probe=no" },	     { "call", "probe=no" },  { "split", "probe=no" },
	{ "stride", "call=kernel" }, { NULL, NULL },
};

/* ---- limits ----------------------------------------------------------------------------- */

/* Calls of a step. */
static int64_t call_count(const struct transfer_opts *o)
{
	return o->split && o->split < o->bytes ? (o->bytes + o->split - 1) / o->split : 1;
}

int transfer_limits(const void *opts, struct limits *out)
{
	const struct transfer_opts *o = opts;

	if (call_count(o) > TRANSFER_CALLS_MAX)
		return complain(
			EINVAL, "split=%ld: makes %ld calls of %ld bytes; must be at most %d",
			(long)o->split, (long)call_count(o), (long)o->bytes, TRANSFER_CALLS_MAX);
	out->mode_refused[MODE_GRAPH] = "copies in graphs are what `rift run graph node=memcpy` "
					"measures";
	if (o->call == TRANSFER_SYNC && o->dir == TRANSFER_D2D)
		out->mode_refused[MODE_STREAM] = "cudaMemcpy within the device returns before it "
						 "is done: call=sync would time nothing";
	if (o->call == TRANSFER_KERNEL && o->dir != TRANSFER_D2D)
		return complain(EINVAL, "call=kernel: copies within the device; needs dir=d2d");
	if (o->call == TRANSFER_KERNEL && o->split % TRANSFER_WORD)
		return complain(EINVAL,
				"split=%ld: must be a multiple of %d with call=kernel, which "
				"copies words",
				(long)o->split, TRANSFER_WORD);
	out->depth_max = TRANSFER_DEPTH_MAX;
	out->depth_why = "one more copy before a synchronize costs what the last ones did";
	out->depth_run = 16;
	out->action = o->probe != TRANSFER_NO;
	return 0;
}

/* ---- steps ------------------------------------------------------------------------------ */

uint64_t transfer_source_word(int64_t i)
{
	return (uint64_t)(i % TRANSFER_SOURCES) * (TRANSFER_SHIFT / 8);
}

/* Fresh bytes come with every copy, so nothing is to be brought back to the start. */
static int reset(const void *opts, void *state, cudaStream_t stream)
{
	struct transfer_state *s = state;

	(void)opts;
	(void)stream;
	s->steps = 0;
	return 0;
}

static cudaError_t copy_block(const struct transfer_opts *o, char *dst, const char *src,
			      size_t bytes, cudaStream_t stream)
{
	static const enum cudaMemcpyKind kinds[TRANSFER_DIRS] = { cudaMemcpyHostToDevice,
								  cudaMemcpyDeviceToHost,
								  cudaMemcpyDeviceToDevice };

	if (o->call == TRANSFER_KERNEL) {
		transfer_kernel_copy(dst, src, bytes, o->stride, stream);
		return cudaSuccess;
	}
	if (o->call == TRANSFER_SYNC)
		return cudaMemcpy(dst, src, bytes, kinds[o->dir]);
	return cudaMemcpyAsync(dst, src, bytes, kinds[o->dir], stream);
}

struct transfer_place transfer_next(const struct transfer_state *s)
{
	return (struct transfer_place){
		.src = s->src.base + 8 * transfer_source_word(s->copies),
		.dst = s->dst.base + (size_t)(s->copies % s->slots) * s->stride,
	};
}

int transfer_copy(const struct transfer_opts *o, struct transfer_state *s,
		  struct transfer_place place, cudaStream_t stream)
{
	int64_t block = o->split ? o->split : s->bytes;

	for (int64_t at = 0; at < s->bytes; at += block)
		CUDA(copy_block(o, place.dst + at, place.src + at,
				(size_t)(s->bytes - at < block ? s->bytes - at : block), stream));
	s->copies++;
	s->steps++;
	return 0;
}

static int step(const void *opts, void *state, cudaStream_t stream)
{
	return transfer_copy(opts, state, transfer_next(state), stream);
}

/* ---- cost ------------------------------------------------------------------------------- */

static int cost(const void *opts, const void *state, struct cost *out)
{
	const struct transfer_opts *o = opts;
	double bytes = (double)o->bytes, block = o->split ? (double)o->split : bytes;
	const struct copies copies = { .calls = ceil(bytes / block), .bytes = bytes };

	bool kernel = o->call == TRANSFER_KERNEL;

	(void)state;
	*out = (struct cost){
		.launches = kernel ? copies.calls : 0,
		.to_device = o->dir == TRANSFER_H2D ? copies : (struct copies){ 0 },
		.to_host = o->dir == TRANSFER_D2H ? copies : (struct copies){ 0 },
		.within = o->dir == TRANSFER_D2D && !kernel ? copies : (struct copies){ 0 },
		.pageable = o->host == TRANSFER_PAGEABLE,
		.bytes_moved = o->dir == TRANSFER_D2D ? 2 * bytes : bytes,
		.moves_only = o->dir == TRANSFER_D2D,
		.bytes_transferred = o->dir == TRANSFER_D2D ? 0 : bytes,
		.formula = kernel ? "bytes read and written by a kernel, each once"
				  : "bytes; within the device read and written; no kernels",
	};
	return 0;
}

/* Copies go on, over resets, through slots and sources: none brings what lies there already. */
static void scratch(const void *opts, const void *state, struct scratch *out)
{
	const struct transfer_state *s = state;

	(void)opts;
	out->part[out->n++] = (struct scratch_part){ s->dst.base, (size_t)s->slots * s->stride };
}

const struct workload workload_transfer = {
	.name = "transfer",
	.summary = "copies between host and device and nothing else: what a call and a byte cost",
	.source = "this project's own; compare NVIDIA's nvbandwidth, SHOC's BusSpeed",
	.step_unit = "a copy",
	.params = params,
	.needs = needs,
	.added = added,
	.opts_size = sizeof(struct transfer_opts),
	.state_size = sizeof(struct transfer_state),
	.limits = transfer_limits,
	.setup = transfer_setup,
	.reset = reset,
	.step = step,
	.check = transfer_check,
	.report = transfer_report,
	.plot = transfer_plot,
	.cost = cost,
	.scratch = scratch,
	.teardown = transfer_teardown,
};
