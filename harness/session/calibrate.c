/* calibrate.c - what every clock and every wait costs here, and until when clocks warm up. */
#include "harness/session/calibrate.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/cuda_check.h"
#include "common/interrupt.h"
#include "harness/base/json.h"
#include "harness/measure/measure.h"
#include "harness/platform/system.h"
#include "harness/stats/stats.h"

/* ---- clocks and waits ------------------------------------------------------------------- */

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

enum { CLOCK_READS = 2000, EVENT_PAIRS = 100, CANARIES = 11, PINGS = 200 };

/*
 * Where calls take long, behind a slow layer, each part ends with as many samples as fit, but no
 * fewer than three: a layer is not to be measured for minutes before the first block.
 */
enum { SAMPLES_LEAST = 3 };
static const int64_t part_longest_ns = 100000000; /* of six parts */

/* Is there time for the i-th sample of a part that began at start_ns? */
static bool goes_on(int i, int n, int64_t start_ns)
{
	return i < n && (i < SAMPLES_LEAST || clock_ns() - start_ns < part_longest_ns);
}

static void host_clock(struct calibration *out)
{
	struct clock_probe c = clock_probe();

	out->clock_cost_ns = c.cost_ns;
	out->clock_tick_ns = c.tick_ns < INT64_MAX ? (double)c.tick_ns : NAN;
}

static void tsc(struct calibration *out)
{
	out->tsc_cost_ns = out->tsc_mhz = NAN;
#if defined(__x86_64__)
	if (system_tsc_is_invariant()) {
		int64_t start = clock_ns(), ns;
		uint64_t first = __rdtsc(), last = first;

		for (int i = 0; i < CLOCK_READS; i++)
			last = __rdtsc();
		ns = clock_ns() - start;
		out->tsc_cost_ns = (double)ns / CLOCK_READS;
		/* over 2 ms, so that the two reads of the other clock weigh nothing */
		while (clock_ns() - start < 2000000)
			last = __rdtsc();
		out->tsc_mhz = 1e3 * (double)(last - first) / (double)(clock_ns() - start);
	}
#endif
}

double calibration_tick(double *ns, int n)
{
	double tick = NAN;

	sort_doubles(ns, n);
	for (int i = 1; i < n; i++) {
		double step = ns[i] - ns[i - 1];

		if (step > 0 && !(step >= tick))
			tick = step;
	}
	return tick;
}

/* Their cost on the host, and their tick: pairs have nothing between them. */
static void calibrate_events(struct calibration *out, const struct canary *c)
{
	double cost[EVENT_PAIRS], elapsed[EVENT_PAIRS];
	int64_t begin = clock_ns();
	int n = 0;
	float ms;

	for (int i = 0; goes_on(i, EVENT_PAIRS, begin); i++, n++) {
		int64_t start = clock_ns();

		CUDA(cudaEventRecord(c->begin, c->stream));
		CUDA(cudaEventRecord(c->end, c->stream));
		cost[i] = (double)(clock_ns() - start);
		CUDA(cudaStreamSynchronize(c->stream));
		CUDA(cudaEventElapsedTime(&ms, c->begin, c->end));
		elapsed[i] = round(ms * 1e6);
	}
	out->event_pair_cost_ns = median_of(cost, n);
	out->event_tick_ns = calibration_tick(elapsed, n);
}

static void device_clock(struct calibration *out, const struct canary *c)
{
	int64_t begin = clock_ns();
	double best = INFINITY;
	int64_t tick;

	canary_tick(c);
	CUDA(cudaStreamSynchronize(c->stream));
	tick = canary_read(c);
	out->globaltimer_tick_ns = tick > 0 ? (double)tick : NAN;
	/* the ping-pong that took least bounds the difference of the clocks by half its time */
	for (int i = 0; goes_on(i, PINGS, begin); i++) {
		int64_t start = clock_ns(), end;

		canary_stamp(c);
		CUDA(cudaStreamSynchronize(c->stream));
		end = clock_ns();
		if ((double)(end - start) >= best)
			continue;
		best = (double)(end - start);
		out->clock_offset_ns = (double)canary_read(c) - (double)start - best / 2;
		out->clock_offset_err_ns = best / 2;
	}
}

static double spin_device_ns(const struct canary *c, int64_t cycles)
{
	int64_t start = clock_ns();
	float ms;

	if (c->begin)
		CUDA(cudaEventRecord(c->begin, c->stream));
	canary_spin(c, cycles);
	if (c->begin)
		CUDA(cudaEventRecord(c->end, c->stream));
	CUDA(cudaStreamSynchronize(c->stream));
	if (!c->begin)
		return (double)(clock_ns() - start);
	CUDA(cudaEventElapsedTime(&ms, c->begin, c->end));
	return ms * 1e6;
}

double calibration_rate(double *more_ns, int n, int64_t cycles)
{
	double ns = median_of(more_ns, n);

	return ns > 0 ? 1e3 * (double)cycles / ns : NAN;
}

/* From two lengths, so that what a launch adds falls out. */
static void spin_rate(struct calibration *out, const struct canary *c)
{
	const int64_t cycles = 100000;
	double more[CANARIES];
	int64_t begin = clock_ns();
	int n = 0;

	for (int i = 0; goes_on(i, CANARIES, begin); i++, n++) {
		double once = spin_device_ns(c, cycles);

		more[i] = spin_device_ns(c, 3 * cycles) - once;
	}
	out->spin_cycles_per_us = calibration_rate(more, n, 2 * cycles);
}

static void canaries(struct calibration *out, const struct canary *c)
{
	double ns[CANARIES];
	int64_t begin = clock_ns();
	int n = 0;

	for (int i = 0; goes_on(i, CANARIES, begin); i++, n++)
		ns[i] = (double)canary_run(c);
	out->canary_ns = median_of(ns, n);
}

/*
 * For at most 50 ms: nothing can hang. The CPU device spends a core on it, so there it is no longer
 * than twice what the launches take, but 10 ms.
 */
static double hold_ns(const struct canary *c)
{
	enum { LAUNCHES = 16 };
	const double most = 50e6, least = 10e6;
	int64_t begin = clock_ns();
	double launch_ns;

	if (c->is_gpu)
		return most;
	for (int i = 0; i < LAUNCHES; i++)
		canary_nothing(c);
	launch_ns = (double)(clock_ns() - begin) / LAUNCHES;
	CUDA(cudaStreamSynchronize(c->stream));
	return fmin(most, fmax(least, 2 * QUEUE_TRIED * launch_ns));
}

/*
 * Behind a kernel that holds the stream the launches pile up; the first that takes more than 20
 * times the median had to wait for a place. Until the holder ends, which on a GPU whose clock rises
 * may be early.
 */
static void queue_depth(struct calibration *out, const struct canary *c)
{
	static double took[QUEUE_TRIED], ended[QUEUE_TRIED], sorted[QUEUE_TRIED];
	double limit, holder_ns = hold_ns(c), late = c->is_gpu ? 0 : 0.9 * holder_ns;
	int64_t begin = clock_ns();
	int n = 0;

	out->queue_depth = NAN;
	if (isnan(out->spin_cycles_per_us))
		return; /* nothing tells how many cycles hold the stream for so long */
	canary_spin(c, (int64_t)(holder_ns / 1e3 * out->spin_cycles_per_us));
	for (int i = 0; goes_on(i, QUEUE_TRIED, begin); i++, n++) {
		int64_t start = clock_ns();

		/* nothing is left to wait for */
		if (i >= SAMPLES_LEAST && (double)(start - begin) > holder_ns)
			break;
		canary_nothing(c);
		ended[i] = (double)(clock_ns() - begin);
		took[i] = ended[i] - (double)(start - begin);
	}
	CUDA(cudaStreamSynchronize(c->stream));
	memcpy(sorted, took, (size_t)n * sizeof(*sorted));
	/* a wait for a place lasts until the holder ends; others are interrupts */
	limit = fmax(20 * median_of(sorted, n), 2.5e6);
	for (int i = 0; i < n; i++) {
		if (took[i] > limit && ended[i] > late) {
			out->queue_depth = i;
			return;
		}
	}
}

void calibrate(struct calibration *out, const struct canary *c)
{
	CUDA(cudaStreamSynchronize(c->stream));
	host_clock(out);
	tsc(out);
	out->event_tick_ns = out->event_pair_cost_ns = NAN;
	if (c->begin)
		calibrate_events(out, c);
	device_clock(out, c);
	spin_rate(out, c);
	canaries(out, c);
	queue_depth(out, c);
}

json_t *calibration_json(const struct calibration *c)
{
	const struct {
		const char *name;
		double value;
	} rows[] = {
		{ "clock_cost_ns", c->clock_cost_ns },
		{ "clock_tick_ns", c->clock_tick_ns },
		{ "tsc_cost_ns", c->tsc_cost_ns },
		{ "tsc_mhz", c->tsc_mhz },
		{ "event_tick_ns", c->event_tick_ns },
		{ "event_pair_cost_ns", c->event_pair_cost_ns },
		{ "globaltimer_tick_ns", c->globaltimer_tick_ns },
		{ "queue_depth", c->queue_depth },
		{ "canary_ns", c->canary_ns },
		{ "spin_cycles_per_us", c->spin_cycles_per_us },
		{ "clock_offset_ns", c->clock_offset_ns },
		{ "clock_offset_err_ns", c->clock_offset_err_ns },
	};
	json_t *o = json_object();

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		json_object_set_new(o, rows[i].name, json_number(rows[i].value));
	return o;
}

/* ---- warming up until the device's clock is stable -------------------------------------- */

bool warm_is_steady(const double ns[WARM_CANARIES])
{
	double mean = 0, slope = 0, squares = 0, least = ns[0], most = ns[0];

	for (int i = 0; i < WARM_CANARIES; i++) {
		mean += ns[i] / WARM_CANARIES;
		least = fmin(least, ns[i]);
		most = fmax(most, ns[i]);
	}
	for (int i = 0; i < WARM_CANARIES; i++) {
		double x = i - (WARM_CANARIES - 1) / 2.0;

		slope += x * ns[i];
		squares += x * x;
	}
	slope /= squares;
	return fabs(slope) < 1e-3 * mean && most - least < 1e-2 * mean;
}

/* A window of the last canaries, the oldest first. */
static void push(double window[WARM_CANARIES], int *n, double ns)
{
	if (*n == WARM_CANARIES)
		memmove(window, window + 1, (WARM_CANARIES - 1) * sizeof(*window));
	else
		++*n;
	window[*n - 1] = ns;
}

static void summarize(struct warm *out, const double *window, int n)
{
	double v[WARM_CANARIES];

	memcpy(v, window, sizeof(v));
	out->canary_ns = median_of(v, n);
	for (int i = 0; i < n; i++)
		v[i] = fabs(window[i] / out->canary_ns - 1);
	out->spread = median_of(v, n);
}

int warm_up(struct warm *out, const struct canary *c, struct prepared *longest,
	    const struct design *d)
{
	int64_t start = clock_ns(), passed;
	double window[WARM_CANARIES] = { 0 };
	int n = 0, err;

	out->ended_by = "time";
	do {
		err = longest ? visit_first(longest) : interrupted() ? -EINTR : 0;
		if (err)
			return err;
		push(window, &n, (double)canary_run(c));
		passed = clock_ns() - start;
		if (n == WARM_CANARIES && passed >= d->warmup_min_ns && warm_is_steady(window)) {
			out->ended_by = "steady";
			break;
		}
	} while (n < WARM_CANARIES || passed < d->warmup_max_ns);
	out->seconds = (double)passed / SECOND_NS;
	summarize(out, window, n);
	return 0;
}
