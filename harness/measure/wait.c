/* wait.c - how the host waits for the end of a block, and what the modes of its steps are called.
 */
#include "harness/measure/wait.h"

#include <errno.h>
#include <stddef.h>

#include "common/cuda_check.h"

const char *const sync_names[] = { "spin", "yield", "blocking", "event", "poll", NULL };

/* Asked of the driver: this must not make a context, whose flags would then be settled. */
enum wait_policy sync_default(void)
{
	int major = 0;

	if (cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0)) {
		cudaGetLastError(); /* no device: it does not matter how it is waited for */
		return SYNC_SPIN;
	}
	return major ? SYNC_SPIN : SYNC_YIELD;
}

int sync_prepare(enum wait_policy kind)
{
	static const unsigned flags[SYNC_COUNT] = {
		[SYNC_SPIN] = cudaDeviceScheduleSpin,
		[SYNC_YIELD] = cudaDeviceScheduleYield,
		[SYNC_BLOCKING] = cudaDeviceScheduleBlockingSync,
		[SYNC_EVENT] = cudaDeviceScheduleSpin,
		[SYNC_POLL] = cudaDeviceScheduleSpin,
	};
	int count = 0;
	cudaError_t err = cudaGetDeviceCount(&count);

	if (!err && count)
		err = cudaSetDeviceFlags(flags[kind]);
	else
		err = cudaSuccess;
	cudaGetLastError();
	if (err == cudaErrorMemoryAllocation) /* since CUDA 12 the call makes the context */
		return complain(ENOTSUP, "the device cannot be opened: %s",
				cudaGetErrorString(err));
	return err ? complain(ENOTSUP, "--sync=%s: the device refuses it: %s", sync_names[kind],
			      cudaGetErrorString(err))
		   : 0;
}

cudaEvent_t sync_event(enum wait_policy kind)
{
	cudaEvent_t event = NULL;

	if (kind == SYNC_EVENT)
		CUDA(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
	return event;
}

/* A plain loop: each query is a call of its own, as in programs that have other work to do. */
static void poll(cudaStream_t stream)
{
	cudaError_t err;

	while ((err = cudaStreamQuery(stream)) == cudaErrorNotReady)
		;
	CUDA(err);
	cudaGetLastError(); /* "not ready" is no failure of later calls */
}

void sync_wait(enum wait_policy kind, cudaStream_t stream, cudaEvent_t event)
{
	if (kind == SYNC_POLL) {
		poll(stream);
	} else if (kind == SYNC_EVENT) {
		CUDA(cudaEventRecord(event, stream));
		CUDA(cudaEventSynchronize(event));
	} else {
		CUDA(cudaStreamSynchronize(stream));
	}
}

const char *mode_name(enum mode mode)
{
	static const char *const name[MODE_COUNT] = { "stream", "graph", "fused" };

	return name[mode];
}
