/* report.c - what `rift run` tells about the options: sizes, and rates of blocks of its own. */
#include <stdio.h>

#include "common/cuda_check.h"
#include "common/timing.h"
#include "workloads/blackscholes/blackscholes.h"

enum { SAMPLES = 5, STEPS_MAX = 4096 };

static const double sample_ns = 1e7; /* at least one step */

static struct report_row *add(struct report *r, const char *name, const char *unit, double value)
{
	struct report_row *row = &r->row[r->n];

	CHECK(r->n < REPORT_ROWS_MAX, "%s", name);
	r->n++;
	*row = (struct report_row){ .name = name, .unit = unit, .value = value };
	return row;
}

/* Which of the caches could hold what steps touch in turn. */
static void report_sizes(const struct blackscholes_opts *o, const struct blackscholes_state *s,
			 struct report *out)
{
	double bytes = 20.0 * (double)o->options * s->device_slots;
	struct report_row *row = add(out, "touched in turn", "", 0);
	int l2, device;

	CUDA(cudaGetDevice(&device));
	CUDA(cudaDeviceGetAttribute(&l2, cudaDevAttrL2CacheSize, device));
	if (l2 > 0)
		snprintf(row->text, sizeof(row->text),
			 "%.4g MB of device memory; the L2 cache has %.4g", bytes / 1e6, l2 / 1e6);
	else
		snprintf(row->text, sizeof(row->text), "%.4g MB of device memory", bytes / 1e6);
}

static void report_copies(const struct blackscholes_opts *o, struct report *out)
{
	struct copies in = blackscholes_copies(o, BLACKSCHOLES_INPUTS);
	struct copies back = blackscholes_copies(o, BLACKSCHOLES_OUTPUTS);
	struct report_row *row = add(out, "copies a step", "", 0);

	snprintf(row->text, sizeof(row->text),
		 "%.0f of %.4g MB to the device, %.0f of %.4g MB back", in.calls, in.bytes / 1e6,
		 back.calls, back.bytes / 1e6);
}

static int64_t time_steps(const struct blackscholes_opts *o, struct blackscholes_state *s,
			  cudaStream_t stream, int64_t steps)
{
	int64_t begin = timing_now_ns();

	for (int64_t i = 0; i < steps; i++)
		blackscholes_step(o, s, stream);
	CUDA(cudaStreamSynchronize(stream));
	return timing_now_ns() - begin;
}

/* ns of a step, the median of *n deep blocks: of SAMPLES, or of what half a second holds. */
static double step_ns(const struct blackscholes_opts *o, struct blackscholes_state *s, int64_t *n)
{
	int64_t ns[SAMPLES], steps, begin = timing_now_ns();
	cudaStream_t stream;

	CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	steps = (int64_t)(sample_ns / (double)time_steps(o, s, stream, 1));
	steps = steps < 1 ? 1 : steps > STEPS_MAX ? STEPS_MAX : steps;
	for (*n = 0; *n < SAMPLES && (!*n || timing_now_ns() - begin < 500000000); ++*n)
		ns[*n] = time_steps(o, s, stream, steps);
	CUDA(cudaStreamDestroy(stream));
	return timing_median(ns, *n) / (double)steps;
}

int blackscholes_report(const void *opts, void *state, struct report *out)
{
	const struct blackscholes_opts *o = opts;
	bool streamed = o->data == STREAMED_STREAMED;
	int64_t n;
	double ns = step_ns(o, state, &n);

	add(out, "options", "G/s", (double)o->options / ns)->n = n;
	add(out, streamed ? "copied" : "moved", "GB/s", 20.0 * (double)o->options / ns)->n = n;
	report_sizes(o, state, out);
	if (streamed)
		report_copies(o, out);
	return 0;
}
