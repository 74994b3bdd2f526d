/*
 * probe.c - probe=yes: calls one by one, where blocks of steps show only their sum. First
 * launches, launches one behind the other, the clock; the waits are in probe_wait.c.
 */
#include "workloads/launch/probe.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/cuda_check.h"
#include "common/device.h"
#include "common/timing.h"
#include "workloads/workload.h"

enum { CLOCKS = 11, CLOCK_US = 2000 };

static struct report_row *next_row(struct probe *p, const char *name)
{
	CHECK(p->out->n < REPORT_ROWS_MAX, "%s", name);
	return &p->out->row[p->out->n++];
}

void launch_probe_add(struct probe *p, const char *name, const char *unit, double value, int64_t n)
{
	*next_row(p, name) =
		(struct report_row){ .name = name, .unit = unit, .value = value, .n = n };
}

void launch_probe_text(struct probe *p, const char *name, const char *why)
{
	struct report_row *row = next_row(p, name);

	*row = (struct report_row){ .name = name, .unit = "" };
	snprintf(row->text, sizeof(row->text), "%s", why);
}

void launch_probe_row(struct probe *p, const char *name, int (*fn)(void *), void *arg)
{
	char text[REFUSAL_TEXT];
	struct refusal r;

	if (!refusal_catch(fn, arg, &r))
		return;
	refusal_text(&r, text);
	launch_probe_text(p, name, text);
}

void launch_probe_step(struct probe *p)
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
		int64_t begin = timing_now_ns();

		CUDA(cudaLaunchKernel(launch_first(i), one, one, args, 0, p->stream));
		call_ns[i] = timing_now_ns() - begin;
		CUDA(cudaStreamSynchronize(p->stream));
	}
	CUDA(cudaMemcpy(&ran, count, sizeof(ran), cudaMemcpyDeviceToHost));
	CUDA(cudaFree(count));
	CHECK(ran == LAUNCH_FIRSTS, "%llu kernels ran", ran);
	/* of a module, which is loaded by it, then of others in that module */
	launch_probe_add(p, "first launch", "us", (double)call_ns[0] * PROBE_US, 1);
	launch_probe_add(p, "next first launch", "us",
			 timing_median(call_ns + 1, LAUNCH_FIRSTS - 1) * PROBE_US,
			 LAUNCH_FIRSTS - 1);
}

static void probe_first(struct probe *p)
{
	static const char why[] = "not applicable: the CPU device loads no kernels";

	if (p->s->device.major) {
		first_launches(p);
		return;
	}
	launch_probe_text(p, "first launch", why);
	launch_probe_text(p, "next first launch", why);
}

/* ---- launches one behind the other ------------------------------------------------------ */

static void probe_pace(struct probe *p)
{
	int64_t enq_ns[PROBE_BLOCKS], total_ns[PROBE_BLOCKS];

	for (int i = -1; i < p->blocks; i++) { /* the first one warms up */
		int64_t begin = timing_now_ns(), enqueued;

		for (int j = 0; j < PROBE_BLOCK; j++)
			launch_probe_step(p);
		enqueued = timing_now_ns();
		CUDA(cudaStreamSynchronize(p->stream));
		if (i < 0)
			continue;
		enq_ns[i] = enqueued - begin;
		total_ns[i] = timing_now_ns() - begin;
	}
	launch_probe_add(p, "launch call", "us",
			 timing_median(enq_ns, p->blocks) / PROBE_BLOCK * PROBE_US, p->blocks);
	launch_probe_add(p, "launch pace", "us",
			 timing_median(total_ns, p->blocks) / PROBE_BLOCK * PROBE_US, p->blocks);
}

/* ---- mapped memory ---------------------------------------------------------------------- */

/* What needs mapped memory, or says that there is none. */
static void probe_mapped(struct probe *p)
{
	static const char why[] = "not applicable: the device maps no host memory";

	if (!p->word) {
		launch_probe_text(p, "to mapped flag", *p->unmapped ? p->unmapped : why);
		launch_probe_text(p, "launch queue", *p->unmapped ? p->unmapped : why);
		return;
	}
	launch_probe_flag(p);
	launch_probe_queue(p);
}

/* ---- the clock that spins count with ---------------------------------------------------- */

/* Returns false when the timer stands still. */
static bool two_clocks(struct probe *p, int64_t per_ms[CLOCKS])
{
	const dim3 one = { 1, 1, 1 };
	unsigned long long *out, v[3] = { (unsigned long long)(CLOCK_US * p->s->cycles_per_us) };
	void *args[] = { &out };
	bool runs = true;

	CUDA(cudaMalloc((void **)&out, sizeof(v)));
	for (int i = -1; i < CLOCKS; i++) {
		CUDA(cudaMemcpyAsync(out, v, sizeof(v), cudaMemcpyHostToDevice, p->stream));
		CUDA(cudaLaunchKernel(launch_clock(), one, one, args, 0, p->stream));
		CUDA(cudaMemcpyAsync(v, out, sizeof(v), cudaMemcpyDeviceToHost, p->stream));
		CUDA(cudaStreamSynchronize(p->stream));
		runs = runs && v[2];
		per_ms[i < 0 ? 0 : i] = runs ? (int64_t)(1e6 * (double)v[1] / (double)v[2]) : 0;
	}
	CUDA(cudaFree(out));
	return runs;
}

static void probe_clock(struct probe *p)
{
	static const char name[] = "cycles per us";
	int64_t per_ms[CLOCKS];

	if (!p->s->device.major)
		launch_probe_text(p, name,
				  "not applicable: the CPU device's clock64() counts nanoseconds");
	else if (!two_clocks(p, per_ms))
		launch_probe_text(p, name, "not measured: the device's timer stands still");
	else
		launch_probe_add(p, name, "1", timing_median(per_ms, CLOCKS) / 1000, CLOCKS);
}

/* ---- all of it -------------------------------------------------------------------------- */

static int make_event(void *probe)
{
	struct probe *p = probe;

	CUDA(cudaEventCreateWithFlags(&p->event, cudaEventDisableTiming));
	return 0;
}

static int map_word(void *probe)
{
	struct probe *p = probe;
	uint32_t *word;

	CUDA(cudaHostAlloc((void **)&word, PROBE_WORDS * sizeof(*word), cudaHostAllocMapped));
	memset(word, 0, PROBE_WORDS * sizeof(*word));
	CUDA(cudaHostGetDevicePointer((void **)&p->on_device, word, 0));
	p->word = word;
	return 0;
}

static void begin_probe(struct probe *p)
{
	struct refusal r;

	CUDA(cudaStreamCreateWithFlags(&p->stream, cudaStreamNonBlocking));
	refusal_catch(make_event, p, &r); /* the rows that need it say so */
	if (device_attribute(cudaDevAttrCanMapHostMemory) && refusal_catch(map_word, p, &r))
		refusal_text(&r, p->unmapped);
	CHECK(!launch_reset(p->o, p->s, p->stream), "reset");
	CUDA(cudaStreamSynchronize(p->stream));
}

static void end_probe(void *probe)
{
	struct probe *p = probe;

	CUDA(cudaStreamSynchronize(p->stream));
	if (p->word)
		CUDA(cudaFreeHost(p->word));
	if (p->event)
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
	bool quick = o->probe == LAUNCH_PROBE_QUICK;
	struct probe p = { .o = o,
			   .s = s,
			   .out = out,
			   .samples = quick ? PROBE_SAMPLES_QUICK : PROBE_SAMPLES,
			   .blocks = quick ? PROBE_BLOCKS_QUICK : PROBE_BLOCKS };
	int err;

	begin_probe(&p);
	probe_first(&p);
	launch_load_probe_kernels();
	probe_pace(&p);
	launch_probe_waits(&p);
	err = launch_probe_gap(&p);
	if (!err)
		probe_mapped(&p);
	probe_clock(&p);
	refusal_ignore(end_probe, &p);
	return err ? err : check_steps(&p);
}
