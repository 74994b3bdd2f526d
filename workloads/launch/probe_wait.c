/*
 * probe_wait.c - what waiting for a stream costs: idle, and for one kernel.
 *
 * Nothing is in flight when a sample begins. A sample of calls that take less than a microsecond
 * is 16 of them, as reading the clock takes some 30 ns.
 */
#include <sched.h>
#include <stdio.h>

#include "common/cuda_check.h"
#include "common/timing.h"
#include "workloads/launch/probe.h"

enum { WARMUP = 20, CALLS = 16, FLAG_S = 2 };

static void stream_sync(struct probe *p)
{
	CUDA(cudaStreamSynchronize(p->stream));
}

static void device_sync(struct probe *p)
{
	(void)p;
	CUDA(cudaDeviceSynchronize());
}

/* Refused here where it was refused before. */
static void need_event(struct probe *p)
{
	if (!p->event)
		CUDA(cudaEventCreateWithFlags(&p->event, cudaEventDisableTiming));
}

static void event_sync(struct probe *p)
{
	need_event(p);
	CUDA(cudaEventSynchronize(p->event));
}

static void record_and_sync(struct probe *p)
{
	need_event(p);
	CUDA(cudaEventRecord(p->event, p->stream));
	CUDA(cudaEventSynchronize(p->event));
}

static void poll_stream(struct probe *p)
{
	cudaError_t err;

	while ((err = cudaStreamQuery(p->stream)) == cudaErrorNotReady)
		;
	CUDA(err);
	cudaGetLastError(); /* "not ready" is no failure of later calls */
}

static void record_event(struct probe *p)
{
	need_event(p);
	CUDA(cudaEventRecord(p->event, p->stream));
}

/* Times a call on an idle stream. */
static void probe_idle(struct probe *p, const char *name, void (*call)(struct probe *))
{
	int64_t ns[PROBE_SAMPLES];

	CUDA(cudaStreamSynchronize(p->stream));
	if (p->event)
		record_and_sync(p);
	for (int i = -WARMUP; i < p->samples; i++) {
		int64_t begin = timing_now_ns();

		for (int j = 0; j < CALLS; j++)
			call(p);
		ns[i < 0 ? 0 : i] = timing_now_ns() - begin;
	}
	launch_probe_add(p, name, "us", timing_median(ns, p->samples) / CALLS * PROBE_US,
			 p->samples);
}

/* From a launch call to the return of a wait for its kernel. */
static void probe_wait(struct probe *p, const char *name, void (*wait)(struct probe *))
{
	int64_t ns[PROBE_SAMPLES];

	for (int i = -WARMUP; i < p->samples; i++) {
		int64_t begin = timing_now_ns();

		launch_probe_step(p);
		wait(p);
		ns[i < 0 ? 0 : i] = timing_now_ns() - begin;
	}
	launch_probe_add(p, name, "us", timing_median(ns, p->samples) * PROBE_US, p->samples);
}

struct waiting {
	struct probe *p;
	const char *name;
	void (*call)(struct probe *);
	void (*probe)(struct probe *, const char *, void (*)(struct probe *));
};

static int call_wait(void *arg)
{
	struct waiting *w = arg;

	w->probe(w->p, w->name, w->call);
	return 0;
}

void launch_probe_waits(struct probe *p)
{
	struct waiting rows[] = {
		{ p, "idle stream sync", stream_sync, probe_idle },
		{ p, "idle device sync", device_sync, probe_idle },
		{ p, "idle event sync", event_sync, probe_idle },
		{ p, "idle stream query", poll_stream, probe_idle },
		{ p, "event record", record_event, probe_idle },
		{ p, "to stream sync", stream_sync, probe_wait },
		{ p, "to device sync", device_sync, probe_wait },
		{ p, "to event sync", record_and_sync, probe_wait },
		{ p, "to stream query", poll_stream, probe_wait },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		launch_probe_row(p, rows[i].name, call_wait, &rows[i]);
}

/* ---- a flag in mapped memory ------------------------------------------------------------ */

/* Returns false when the flag does not come. After a while others have a turn: on the CPU device
 * the kernel may wait for this core. */
static bool flag_comes(const struct probe *p, uint32_t value)
{
	int64_t until = timing_now_ns() + FLAG_S * 1000000000ll;

	for (unsigned polls = 1; __atomic_load_n(p->word + PROBE_FLAG, __ATOMIC_ACQUIRE) != value;
	     polls++) {
		if (polls % 65536)
			continue;
		if (timing_now_ns() > until)
			return false;
		sched_yield();
	}
	return true;
}

void launch_probe_flag(struct probe *p)
{
	const dim3 one = { 1, 1, 1 }, block = { LAUNCH_THREADS, 1, 1 };
	uint32_t *flag = p->on_device + PROBE_FLAG, value = 0;
	void *args[] = { &flag, &value };
	int64_t ns[PROBE_SAMPLES];
	char text[120];

	for (int i = -WARMUP; i < p->samples; i++) {
		int64_t begin = timing_now_ns();

		value++;
		CUDA(cudaLaunchKernel(launch_teller(), one, block, args, 0, p->stream));
		if (!flag_comes(p, value)) {
			CUDA(cudaStreamSynchronize(p->stream));
			snprintf(text, sizeof(text),
				 "not supported here: a kernel's write to mapped memory has not "
				 "arrived after %d s",
				 FLAG_S);
			launch_probe_text(p, "to mapped flag", text);
			return;
		}
		ns[i < 0 ? 0 : i] = timing_now_ns() - begin;
		CUDA(cudaStreamSynchronize(p->stream));
	}
	launch_probe_add(p, "to mapped flag", "us", timing_median(ns, p->samples) * PROBE_US,
			 p->samples);
}
