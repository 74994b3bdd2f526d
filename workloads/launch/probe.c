/*
 * probe.c - probe=yes: calls one by one, where blocks of steps show only their sum.
 *
 * Nothing is in flight when a sample begins. A sample of calls that take less than a microsecond
 * is 16 of them, as reading the clock takes some 30 ns.
 */
#include "workloads/launch/probe.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/cuda_check.h"

enum { WARMUP = 20, CALLS = 16, CLOCKS = 11, CLOCK_US = 2000, FLAG_S = 2 };

static const double us = 1e-3; /* of a nanosecond */

int64_t probe_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

double probe_median(int64_t *ns, int64_t n)
{
	qsort(ns, (size_t)n, sizeof(*ns), by_value);
	return ((double)ns[(n - 1) / 2] + (double)ns[n / 2]) / 2;
}

static struct report_row *next_row(struct probe *p, const char *name)
{
	CHECK(p->out->n < REPORT_ROWS_MAX, "%s", name);
	return &p->out->row[p->out->n++];
}

void probe_add(struct probe *p, const char *name, const char *unit, double value, int64_t n)
{
	*next_row(p, name) =
		(struct report_row){ .name = name, .unit = unit, .value = value, .n = n };
}

void probe_add_text(struct probe *p, const char *name, const char *why)
{
	struct report_row *row = next_row(p, name);

	*row = (struct report_row){ .name = name, .unit = "" };
	snprintf(row->text, sizeof(row->text), "%s", why);
}

void probe_step(struct probe *p)
{
	CHECK(!launch_step(p->o, p->s, p->stream), "a step fails");
	p->steps++;
}

/* ---- the first launch of a kernel ------------------------------------------------------- */

static void first_launches(struct probe *p)
{
	const dim3 one = { 1, 1, 1 };
	unsigned long long *count, ran = 0;
	int64_t call_ns[LAUNCH_FIRSTS];
	void *args[] = { &count };

	CUDA(cudaMalloc((void **)&count, sizeof(*count)));
	CUDA(cudaMemset(count, 0, sizeof(*count)));
	CUDA(cudaDeviceSynchronize());
	for (int i = 0; i < LAUNCH_FIRSTS; i++) {
		int64_t begin = probe_now_ns();

		CUDA(cudaLaunchKernel(launch_first(i), one, one, args, 0, p->stream));
		call_ns[i] = probe_now_ns() - begin;
		CUDA(cudaStreamSynchronize(p->stream));
	}
	CUDA(cudaMemcpy(&ran, count, sizeof(ran), cudaMemcpyDeviceToHost));
	CUDA(cudaFree(count));
	CHECK(ran == LAUNCH_FIRSTS, "%llu kernels ran", ran);
	/* of a module, which is loaded by it, then of others in that module */
	probe_add(p, "first launch", "us", (double)call_ns[0] * us, 1);
	probe_add(p, "next first launch", "us", probe_median(call_ns + 1, LAUNCH_FIRSTS - 1) * us,
		  LAUNCH_FIRSTS - 1);
}

static void probe_first(struct probe *p)
{
	static const char why[] = "not applicable: the CPU device loads no kernels";

	if (p->s->device.major) {
		first_launches(p);
		return;
	}
	probe_add_text(p, "first launch", why);
	probe_add_text(p, "next first launch", why);
}

/* ---- launches one behind the other ------------------------------------------------------ */

static void probe_pace(struct probe *p)
{
	int64_t enq_ns[PROBE_BLOCKS], total_ns[PROBE_BLOCKS];

	for (int i = -1; i < PROBE_BLOCKS; i++) { /* the first one warms up */
		int64_t begin = probe_now_ns(), enqueued;

		for (int j = 0; j < PROBE_BLOCK; j++)
			probe_step(p);
		enqueued = probe_now_ns();
		CUDA(cudaStreamSynchronize(p->stream));
		if (i < 0)
			continue;
		enq_ns[i] = enqueued - begin;
		total_ns[i] = probe_now_ns() - begin;
	}
	probe_add(p, "launch call", "us", probe_median(enq_ns, PROBE_BLOCKS) / PROBE_BLOCK * us,
		  PROBE_BLOCKS);
	probe_add(p, "launch pace", "us", probe_median(total_ns, PROBE_BLOCKS) / PROBE_BLOCK * us,
		  PROBE_BLOCKS);
}

/* ---- waiting ---------------------------------------------------------------------------- */

static void stream_sync(struct probe *p)
{
	CUDA(cudaStreamSynchronize(p->stream));
}

static void device_sync(struct probe *p)
{
	(void)p;
	CUDA(cudaDeviceSynchronize());
}

static void event_sync(struct probe *p)
{
	CUDA(cudaEventSynchronize(p->event));
}

static void record_and_sync(struct probe *p)
{
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

/* Of a call on a stream that has nothing to do. */
static void probe_idle(struct probe *p, const char *name, void (*call)(struct probe *))
{
	int64_t ns[PROBE_SAMPLES];

	record_and_sync(p);
	for (int i = -WARMUP; i < PROBE_SAMPLES; i++) {
		int64_t begin = probe_now_ns();

		for (int j = 0; j < CALLS; j++)
			call(p);
		ns[i < 0 ? 0 : i] = probe_now_ns() - begin;
	}
	probe_add(p, name, "us", probe_median(ns, PROBE_SAMPLES) / CALLS * us, PROBE_SAMPLES);
}

/* From a launch call to the return of a wait for its kernel. */
static void probe_wait(struct probe *p, const char *name, void (*wait)(struct probe *))
{
	int64_t ns[PROBE_SAMPLES];

	for (int i = -WARMUP; i < PROBE_SAMPLES; i++) {
		int64_t begin = probe_now_ns();

		probe_step(p);
		wait(p);
		ns[i < 0 ? 0 : i] = probe_now_ns() - begin;
	}
	probe_add(p, name, "us", probe_median(ns, PROBE_SAMPLES) * us, PROBE_SAMPLES);
}

/* ---- a flag in mapped memory ------------------------------------------------------------ */

/* Returns false when the flag does not come. */
static bool flag_comes(const struct probe *p, uint32_t value)
{
	int64_t until = probe_now_ns() + FLAG_S * 1000000000ll;

	for (unsigned polls = 1; __atomic_load_n(p->word + PROBE_FLAG, __ATOMIC_ACQUIRE) != value;
	     polls++)
		if (polls % 65536 == 0 && probe_now_ns() > until)
			return false;
	return true;
}

/* A kernel that writes the flag, and a host that polls it: the cheapest notice there is. */
static int probe_flag(struct probe *p)
{
	const dim3 one = { 1, 1, 1 }, block = { LAUNCH_THREADS, 1, 1 };
	uint32_t *flag = p->on_device + PROBE_FLAG, value = 0;
	void *args[] = { &flag, &value };
	int64_t ns[PROBE_SAMPLES];

	for (int i = -WARMUP; i < PROBE_SAMPLES; i++) {
		int64_t begin = probe_now_ns();

		value++;
		CUDA(cudaLaunchKernel(launch_teller(), one, block, args, 0, p->stream));
		if (!flag_comes(p, value))
			return complain(EIO,
					"probe: a kernel's write to mapped memory has not "
					"arrived after %d s",
					FLAG_S);
		ns[i < 0 ? 0 : i] = probe_now_ns() - begin;
		CUDA(cudaStreamSynchronize(p->stream));
	}
	probe_add(p, "to mapped flag", "us", probe_median(ns, PROBE_SAMPLES) * us, PROBE_SAMPLES);
	return 0;
}

/* What needs mapped memory, or says that there is none. */
static int probe_mapped(struct probe *p)
{
	static const char why[] = "not applicable: the device maps no host memory";
	int err;

	if (!p->word) {
		probe_add_text(p, "to mapped flag", why);
		probe_add_text(p, "launch queue", why);
		return 0;
	}
	err = probe_flag(p);
	if (!err)
		probe_queue(p);
	return err;
}

/* ---- the clock that spins count with ---------------------------------------------------- */

static void two_clocks(struct probe *p)
{
	const dim3 one = { 1, 1, 1 };
	unsigned long long *out, v[3] = { (unsigned long long)(CLOCK_US * p->s->cycles_per_us) };
	int64_t per_ms[CLOCKS];
	void *args[] = { &out };

	CUDA(cudaMalloc((void **)&out, sizeof(v)));
	for (int i = -1; i < CLOCKS; i++) {
		CUDA(cudaMemcpy(out, v, sizeof(v), cudaMemcpyHostToDevice));
		CUDA(cudaLaunchKernel(launch_clock(), one, one, args, 0, p->stream));
		CUDA(cudaStreamSynchronize(p->stream));
		CUDA(cudaMemcpy(v, out, sizeof(v), cudaMemcpyDeviceToHost));
		per_ms[i < 0 ? 0 : i] = (int64_t)(1e6 * (double)v[1] / (double)v[2]);
	}
	CUDA(cudaFree(out));
	probe_add(p, "cycles per us", "1", probe_median(per_ms, CLOCKS) / 1000, CLOCKS);
}

static void probe_clock(struct probe *p)
{
	if (p->s->device.major)
		two_clocks(p);
	else
		probe_add_text(p, "cycles per us",
			       "not applicable: the CPU device's clock64() counts nanoseconds");
}

/* ---- all of it -------------------------------------------------------------------------- */

static void begin(struct probe *p)
{
	int mapped = 0, device;

	CUDA(cudaGetDevice(&device));
	CUDA(cudaDeviceGetAttribute(&mapped, cudaDevAttrCanMapHostMemory, device));
	CUDA(cudaStreamCreateWithFlags(&p->stream, cudaStreamNonBlocking));
	CUDA(cudaEventCreateWithFlags(&p->event, cudaEventDisableTiming));
	if (mapped) {
		CUDA(cudaHostAlloc((void **)&p->word, PROBE_WORDS * sizeof(*p->word),
				   cudaHostAllocMapped));
		memset(p->word, 0, PROBE_WORDS * sizeof(*p->word));
		CUDA(cudaHostGetDevicePointer((void **)&p->on_device, p->word, 0));
	}
	CHECK(!launch_reset(p->o, p->s, p->stream), "reset");
	CUDA(cudaStreamSynchronize(p->stream));
}

static void end(struct probe *p)
{
	CUDA(cudaStreamSynchronize(p->stream));
	if (p->word)
		CUDA(cudaFreeHost(p->word));
	CUDA(cudaEventDestroy(p->event));
	CUDA(cudaStreamDestroy(p->stream));
}

/* All launches of all probes, counted at the end so that nothing disturbs them. */
static int check_steps(const struct probe *p)
{
	struct verdict v = { .full = true };
	int err = launch_check(p->o, p->s, p->steps, &v);

	if (!err && !v.passed)
		err = complain(EIO, "probe: %ld launches left a wrong trace: %s", (long)p->steps,
			       v.worst);
	return err;
}

int launch_probe(const struct launch_opts *o, struct launch_state *s, struct report *out)
{
	struct probe p = { .o = o, .s = s, .out = out };
	int err;

	begin(&p);
	probe_first(&p);
	launch_load_probe_kernels();
	probe_pace(&p);
	probe_idle(&p, "idle stream sync", stream_sync);
	probe_idle(&p, "idle device sync", device_sync);
	probe_idle(&p, "idle event sync", event_sync);
	probe_idle(&p, "idle stream query", poll_stream);
	probe_wait(&p, "to stream sync", stream_sync);
	probe_wait(&p, "to device sync", device_sync);
	probe_wait(&p, "to event sync", record_and_sync);
	probe_wait(&p, "to stream query", poll_stream);
	err = probe_mapped(&p);
	probe_clock(&p);
	end(&p);
	return err ? err : check_steps(&p);
}
