/*
 * hold.c - what the process holds while launches are measured (hold_*=): a layer may look through
 * it, or move it, at every call.
 *
 * All of it is taken and touched before the first step and given back, the last first, by teardown.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/cuda_check.h"
#include "common/room.h"
#include "workloads/launch/launch.h"
#include "workloads/workload.h"

static const char *const names[LAUNCH_HOLDS] = { "hold_pinned",	 "hold_mapped", "hold_device",
						 "hold_streams", "hold_events", "hold_modules" };

int64_t launch_holds(const struct launch_opts *o, enum launch_hold kind)
{
	const int64_t asked[LAUNCH_HOLDS] = { o->hold_pinned,  o->hold_mapped, o->hold_device,
					      o->hold_streams, o->hold_events, o->hold_modules };

	return asked[kind];
}

static bool is_memory(enum launch_hold kind)
{
	return kind <= LAUNCH_HOLD_DEVICE;
}

bool launch_holds_any(const struct launch_opts *o)
{
	for (int kind = 0; kind < LAUNCH_HOLDS; kind++)
		if (launch_holds(o, (enum launch_hold)kind))
			return true;
	return false;
}

/* A piece has a byte at least. */
int launch_hold_limits(const struct launch_opts *o)
{
	bool memory = false;

	for (int kind = 0; kind <= LAUNCH_HOLD_DEVICE; kind++) {
		int64_t bytes = launch_holds(o, (enum launch_hold)kind);

		memory |= bytes != 0;
		if (bytes && bytes < o->hold_pieces)
			return complain(EINVAL, "hold_pieces=%ld: %s has only %ld bytes",
					(long)o->hold_pieces, names[kind], (long)bytes);
	}
	if (o->hold_pieces > 1 && !memory)
		return complain(EINVAL,
				"hold_pieces=%ld: needs hold_pinned=, hold_mapped= or hold_device=",
				(long)o->hold_pieces);
	return 0;
}

/* ---- a module of code ------------------------------------------------------------------- */

/*
 * The driver loads modules, and the runtime gives out its functions from CUDA 12.5 on. Its name
 * alone: headers of CUDA 12.4 and of the CPU device, which loads no modules, do not have it.
 */
extern cudaError_t driver_function(const char *name, void **out, unsigned version,
				   unsigned long long flags,
				   int *status) __asm__("cudaGetDriverEntryPointByVersion")
	__attribute__((weak));

/* As cuda.h has them; errors of the driver have the runtime's numbers. */
typedef int load_function(void **module, const void *image);
typedef int unload_function(void *module);
typedef int kernel_function(void **kernel, void *module, const char *name);
typedef int launch_function(void *kernel, unsigned grid_x, unsigned grid_y, unsigned grid_z,
			    unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
			    cudaStream_t stream, void **args, void **extra);

static struct {
	load_function *load;
	unload_function *unload;
	kernel_function *kernel;
	launch_function *launch;
} driver;

/* One kernel, which does nothing: PTX, for every GPU that CUDA 12 knows. */
static const char module_code[] = ".version 6.0\n.target sm_50\n.address_size 64\n"
				  ".visible .entry held()\n{\n\tret;\n}\n";

static bool find(const char *name, void *function, size_t size)
{
	enum { VERSION = 12000 };
	void *found = NULL;
	int status = 0;

	if (driver_function(name, &found, VERSION, 0, &status))
		cudaGetLastError(); /* forget it */
	memcpy(function, &found, size);
	return found;
}

static int find_driver(void)
{
	if (!driver_function)
		return complain(ENOTSUP, "hold_modules: needs a GPU's driver, reached through a "
					 "runtime of CUDA 12.5 or newer");
	if (!find("cuModuleLoadData", &driver.load, sizeof(driver.load)) ||
	    !find("cuModuleUnload", &driver.unload, sizeof(driver.unload)) ||
	    !find("cuModuleGetFunction", &driver.kernel, sizeof(driver.kernel)) ||
	    !find("cuLaunchKernel", &driver.launch, sizeof(driver.launch)))
		return complain(ENOTSUP, "hold_modules: the driver, or a layer before it, does not "
					 "provide its functions that load modules");
	return 0;
}

/* Runs its kernel, which may not be on the device before. */
static void touch_module(void *module, cudaStream_t stream)
{
	void *kernel;

	CUDA(driver.kernel(&kernel, module, "held"));
	CUDA(driver.launch(kernel, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL));
}

/* ---- one piece -------------------------------------------------------------------------- */

static cudaError_t take(enum launch_hold kind, size_t bytes, void **out)
{
	switch (kind) {
	case LAUNCH_HOLD_PINNED:
		return CUDA_RESULT(cudaHostAlloc(out, bytes, cudaHostAllocDefault));
	case LAUNCH_HOLD_MAPPED:
		return CUDA_RESULT(cudaHostAlloc(out, bytes, cudaHostAllocMapped));
	case LAUNCH_HOLD_DEVICE:
		return CUDA_RESULT(cudaMalloc(out, bytes));
	case LAUNCH_HOLD_STREAMS:
		return CUDA_RESULT(
			cudaStreamCreateWithFlags((cudaStream_t *)out, cudaStreamNonBlocking));
	case LAUNCH_HOLD_EVENTS:
		return CUDA_RESULT(cudaEventCreate((cudaEvent_t *)out));
	default:
		return CUDA_RESULT(driver.load(out, module_code));
	}
}

static void give_back(enum launch_hold kind, void *piece)
{
	switch (kind) {
	case LAUNCH_HOLD_PINNED:
	case LAUNCH_HOLD_MAPPED:
		CUDA(cudaFreeHost(piece));
		break;
	case LAUNCH_HOLD_DEVICE:
		CUDA(cudaFree(piece));
		break;
	case LAUNCH_HOLD_STREAMS:
		CUDA(cudaStreamDestroy(piece));
		break;
	case LAUNCH_HOLD_EVENTS:
		CUDA(cudaEventDestroy(piece));
		break;
	default:
		CUDA(driver.unload(piece));
	}
}

/* What nobody has used may not be there yet: pages, and a stream's queue on the device. */
static void touch(enum launch_hold kind, void *piece, size_t bytes, cudaStream_t stream,
		  cudaEvent_t event)
{
	switch (kind) {
	case LAUNCH_HOLD_PINNED:
	case LAUNCH_HOLD_MAPPED:
		memset(piece, 1, bytes);
		break;
	case LAUNCH_HOLD_DEVICE:
		CUDA(cudaMemsetAsync(piece, 1, bytes, stream));
		break;
	case LAUNCH_HOLD_STREAMS:
		launch_touch_stream(piece);
		CUDA(cudaEventRecord(event, piece));
		CUDA(cudaStreamWaitEvent(stream, event, 0));
		break;
	case LAUNCH_HOLD_EVENTS:
		CUDA(cudaEventRecord(piece, stream));
		break;
	default:
		touch_module(piece, stream);
	}
}

/* ---- all of them ------------------------------------------------------------------------ */

static int64_t pieces(const struct launch_opts *o, enum launch_hold kind)
{
	int64_t asked = launch_holds(o, kind);

	return is_memory(kind) && asked ? o->hold_pieces : asked;
}

/* Number i of them; together they are what was asked for. */
static size_t piece_bytes(const struct launch_opts *o, enum launch_hold kind, int64_t i)
{
	int64_t bytes = launch_holds(o, kind), n = o->hold_pieces;

	if (!is_memory(kind))
		return 0;
	return (size_t)(bytes / n + (i < bytes % n));
}

static int take_kind(const struct launch_opts *o, enum launch_hold kind, struct launch_held *h,
		     cudaStream_t stream, cudaEvent_t event)
{
	int64_t n = pieces(o, kind);

	h->piece[kind] = calloc((size_t)n + 1, sizeof(*h->piece[kind]));
	CHECK(h->piece[kind], "memory of %ld pieces", (long)n);
	for (int64_t i = 0; i < n; i++) {
		size_t bytes = piece_bytes(o, kind, i);
		cudaError_t err = take(kind, bytes, &h->piece[kind][i]);

		if (err) {
			cudaGetLastError(); /* forget it */
			return complain(ENOMEM, "%s=%ld: number %ld of %ld is not available: %s",
					names[kind], (long)launch_holds(o, kind), (long)i + 1,
					(long)n, cudaGetErrorString(err));
		}
		h->n[kind]++;
		touch(kind, h->piece[kind][i], bytes, stream, event);
	}
	return 0;
}

/* Is all of it to be had? The host's memory is pinned: nobody else gets it back. */
static int can_be_had(const struct launch_opts *o)
{
	int64_t host = o->hold_pinned + o->hold_mapped;
	int err = o->hold_device ? room_on_both(o->hold_device, host, "hold_*") : 0;

	if (!err && host)
		err = room_for_buffers(host, "hold_pinned and hold_mapped");
	return !err && o->hold_modules ? find_driver() : err;
}

int launch_hold(const struct launch_opts *o, struct launch_held *h)
{
	int err = launch_holds_any(o) ? can_be_had(o) : 0;
	cudaStream_t stream;
	cudaEvent_t event;

	if (err || !launch_holds_any(o))
		return err;
	CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	CUDA(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
	for (int kind = 0; kind < LAUNCH_HOLDS && !err; kind++)
		err = take_kind(o, (enum launch_hold)kind, h, stream, event);
	CUDA(cudaStreamSynchronize(stream));
	CUDA(cudaEventDestroy(event));
	CUDA(cudaStreamDestroy(stream));
	return err;
}

void launch_release(struct launch_held *h)
{
	for (int kind = LAUNCH_HOLDS - 1; kind >= 0; kind--) {
		while (h->n[kind])
			give_back((enum launch_hold)kind, h->piece[kind][--h->n[kind]]);
		free(h->piece[kind]);
		h->piece[kind] = NULL;
	}
}

/* ---- what is said of it ----------------------------------------------------------------- */

void launch_report_held(const struct launch_held *h, const struct launch_opts *o,
			struct report *out)
{
	static const char *const rows[LAUNCH_HOLDS] = { "held pinned", "held mapped",
							"held device", "held streams",
							"held events", "held modules" };

	for (int kind = 0; kind < LAUNCH_HOLDS; kind++) {
		struct report_row *row = &out->row[out->n];
		int64_t asked = launch_holds(o, (enum launch_hold)kind);

		if (!h->n[kind])
			continue;
		CHECK(out->n < REPORT_ROWS_MAX, "%s", rows[kind]);
		out->n++;
		*row = (struct report_row){ .name = rows[kind],
					    .unit = "1",
					    .value = (double)asked };
		if (is_memory((enum launch_hold)kind)) {
			row->unit = "MiB";
			row->value /= 1 << 20;
		}
	}
}
