/* work.c - see work.h. */
#include "layers/neighbour/work.h"

#include <errno.h>

#include "common/cuda_check.h"
#include "common/device.h"

/*
 * Multiply-adds that a multiprocessor does in a cycle: 64 in 7.x and 8.0, 128 since (CUDA C++
 * Programming Guide). With as many threads as fit, each does one every threads / lanes cycles. A
 * thread of the CPU device takes 1.1 ns for one, as launch has measured, and a worker runs the
 * threads of a block in turn.
 */
static uint32_t links_of_a_ms(int blocks)
{
	int major = device_attribute(cudaDevAttrComputeCapabilityMajor);
	int minor = device_attribute(cudaDevAttrComputeCapabilityMinor);
	int sms = device_attribute(cudaDevAttrMultiProcessorCount);
	int lanes = major > 8 || (major == 8 && minor > 0) ? 128 : 64;
	int64_t per_lane = (int64_t)blocks / sms * NEIGHBOUR_THREADS / lanes;
	int64_t khz = device_attribute(cudaDevAttrClockRate); /* cycles of a ms */

	if (!major)
		return 1000000 / NEIGHBOUR_THREADS;
	return (uint32_t)(khz / (per_lane > 4 ? per_lane : 4)); /* 4 cycles: the latency of one */
}

static int open_spin(struct work *w)
{
	w->blocks = neighbour_blocks();
	w->links = links_of_a_ms(w->blocks);
	if (cudaMalloc((void **)&w->out, sizeof(*w->out)))
		return complain(ENOMEM, "layer neighbour: no memory left on the device");
	return 0;
}

static int open_copy(struct work *w)
{
	for (int i = 0; i < 2; i++)
		if (cudaMallocHost(&w->host[i], NEIGHBOUR_COPY_BYTES) ||
		    cudaMalloc(&w->device[i], NEIGHBOUR_COPY_BYTES))
			return complain(ENOMEM, "layer neighbour: no memory left for copies");
	return 0;
}

/* Who waits for a long unit sleeps: the neighbour is to take the GPU's time, not the host's. */
static unsigned event_flags(enum neighbour_kind kind)
{
	return cudaEventDisableTiming | (kind == NEIGHBOUR_LAUNCH ? 0 : cudaEventBlockingSync);
}

int work_open(struct work *w, enum neighbour_kind kind)
{
	int err = device_present();

	*w = (struct work){ .kind = kind };
	if (err)
		return err;
	CUDA(cudaStreamCreateWithFlags(&w->stream, cudaStreamNonBlocking));
	CUDA(cudaStreamCreateWithFlags(&w->back, cudaStreamNonBlocking));
	for (int i = 0; i < NEIGHBOUR_QUEUE; i++) {
		CUDA(cudaEventCreateWithFlags(&w->done[i], event_flags(kind)));
		CUDA(cudaEventCreateWithFlags(&w->copied[i], cudaEventDisableTiming));
	}
	if (kind == NEIGHBOUR_SPIN)
		return open_spin(w);
	return kind == NEIGHBOUR_COPY ? open_copy(w) : 0;
}

/* Both directions at once; the unit has ended when both have. */
static void submit_copies(struct work *w, cudaEvent_t copied)
{
	CUDA(cudaMemcpyAsync(w->device[0], w->host[0], NEIGHBOUR_COPY_BYTES, cudaMemcpyHostToDevice,
			     w->stream));
	CUDA(cudaMemcpyAsync(w->host[1], w->device[1], NEIGHBOUR_COPY_BYTES, cudaMemcpyDeviceToHost,
			     w->back));
	CUDA(cudaEventRecord(copied, w->back));
	CUDA(cudaStreamWaitEvent(w->stream, copied, 0));
}

void work_submit(struct work *w)
{
	int at = (int)(w->submitted % NEIGHBOUR_QUEUE);

	CHECK(work_queued(w) < NEIGHBOUR_QUEUE, "%ld units", (long)work_queued(w));
	switch (w->kind) {
	case NEIGHBOUR_SPIN:
		neighbour_spin(w->links, w->blocks, w->out, w->stream);
		break;
	case NEIGHBOUR_COPY:
		submit_copies(w, w->copied[at]);
		break;
	default:
		for (int i = 0; i < NEIGHBOUR_LAUNCHES; i++)
			neighbour_nothing(w->stream);
	}
	CUDA(cudaEventRecord(w->done[at], w->stream));
	w->submitted++;
}

void work_await(struct work *w)
{
	CHECK(work_queued(w), "nothing is queued");
	CUDA(cudaEventSynchronize(w->done[w->finished % NEIGHBOUR_QUEUE]));
	w->finished++;
}

int64_t work_queued(const struct work *w)
{
	return w->submitted - w->finished;
}

static void close_memory(struct work *w)
{
	if (w->out)
		CUDA(cudaFree(w->out));
	for (int i = 0; i < 2; i++) {
		if (w->host[i])
			CUDA(cudaFreeHost(w->host[i]));
		if (w->device[i])
			CUDA(cudaFree(w->device[i]));
	}
}

void work_close(struct work *w)
{
	while (work_queued(w))
		work_await(w);
	close_memory(w);
	for (int i = 0; i < NEIGHBOUR_QUEUE; i++) {
		CUDA(cudaEventDestroy(w->done[i]));
		CUDA(cudaEventDestroy(w->copied[i]));
	}
	CUDA(cudaStreamDestroy(w->stream));
	CUDA(cudaStreamDestroy(w->back));
	*w = (struct work){ 0 };
}
