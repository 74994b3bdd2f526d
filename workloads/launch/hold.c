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

static const char *const names[LAUNCH_HOLDS] = { "hold_pinned", "hold_mapped", "hold_device",
						 "hold_streams", "hold_events" };

int64_t launch_holds(const struct launch_opts *o, enum launch_hold kind)
{
	const int64_t asked[LAUNCH_HOLDS] = { o->hold_pinned, o->hold_mapped, o->hold_device,
					      o->hold_streams, o->hold_events };

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
				"hold_pieces=%ld: of what? give hold_pinned=, hold_mapped= or "
				"hold_device=",
				(long)o->hold_pieces);
	return 0;
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
	default:
		return CUDA_RESULT(cudaEventCreate((cudaEvent_t *)out));
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
	default:
		CUDA(cudaEventDestroy(piece));
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
	default:
		CUDA(cudaEventRecord(piece, stream));
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
			return complain(ENOMEM, "%s=%ld: number %ld of %ld cannot be had: %s",
					names[kind], (long)launch_holds(o, kind), (long)i + 1,
					(long)n, cudaGetErrorString(err));
		}
		h->n[kind]++;
		touch(kind, h->piece[kind][i], bytes, stream, event);
	}
	return 0;
}

/* The host's is pinned: nobody else gets it back. */
static int check_room(const struct launch_opts *o)
{
	int64_t host = o->hold_pinned + o->hold_mapped;
	int err = o->hold_device ? room_on_both(o->hold_device, host, "hold_*") : 0;

	if (!err && host)
		err = room_for_buffers(host, "hold_pinned and hold_mapped");
	return err;
}

int launch_hold(const struct launch_opts *o, struct launch_held *h)
{
	int err = launch_holds_any(o) ? check_room(o) : 0;
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
	static const char *const rows[LAUNCH_HOLDS] = { "held pinned", "held mapped", "held device",
							"held streams", "held events" };

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
