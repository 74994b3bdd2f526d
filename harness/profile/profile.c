/* profile.c - a trace analysed. */
#include "harness/profile/profile.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "common/philox.h"
#include "common/trace/host_gaps.h"
#include "harness/base/json.h"

/* Draws are the same each time. */
enum { SEED = 1, GROUP_PROCESSES = 1, GROUP_RUNS, GROUP_RECORDINGS };
/* Launches and waits, one after the other, that a calibration is made of, at most. */
enum { CALIBRATION_WAITS = 50 };

const char *const trust_names[] = { "passed", "low confidence", "refused" };
const char *const doubt_texts[DOUBTS] = {
	"the trace has no calibration, so shares are of calls as the recorder slowed them down",
	"the trace has no times of the device",
	"fewer than 5 runs without the recorder: nothing to check the re-timing against",
	"an interval is wider than 10 % on either side, of the re-timed trace or of the runs: more "
	"--recordings and --runs, or a quieter machine, narrow it",
	"the trace has no end: the program was killed, its disk was full, or it is still running",
	"rows were dropped while recording",
	"the cost of graph launches is unknown, and the recorder slows them down",
	"only a part of the program was recorded: no whole run can be compared with it",
	"the trace is of one process of several, but the runs without the recorder are of all",
	"call costs are estimated from the trace's own calls, with what its recorder adds to them",
};
const char *const profile_cost_names[PROFILE_COSTS] = { "launch", "sync", "gap", "copy" };
const char *const profile_cost_texts[PROFILE_COSTS] = {
	"each launch call (c)",
	"each launch and wait (Z)",
	"each gap between queued work (g)",
	"each copy (latency)",
};

/* ---- the interval ------------------------------------------------------------------------- */

/* Wall times at the 5 % and 95 % quantiles of c, Z and g, one at a time, less that at medians. */
struct swings {
	double base, low[3], high[3];
};

static double time_at(const struct profile *p, int which, int quantile)
{
	int at[3] = { QUANTILE_P50, QUANTILE_P50, QUANTILE_P50 };
	struct call_prices prices;

	at[which] = quantile;
	prices = prices_of_trace(&p->trace, at[0], at[1], at[2]);
	return retimed_ns(&p->steps, &prices);
}

static void find_swings(const struct profile *p, struct swings *s)
{
	for (int i = 0; i < 3; i++) {
		s->low[i] = time_at(p, i, QUANTILE_P05) - s->base;
		s->high[i] = time_at(p, i, QUANTILE_P95) - s->base;
	}
}

/*
 * How far the wall time moves with the median of n calls, z standard errors off: that of a median
 * is 1.253 sd / sqrt(n), and the 5 % and 95 % quantiles are 1.645 sd away. Not beyond them.
 */
static double swing(const struct swings *s, int which, double z, double n)
{
	double share = fmin(fabs(z) * 1.253 / (1.645 * sqrt(n)), 1);

	return share * (z < 0 ? s->low[which] : s->high[which]);
}

/* Waits are dearer to calibrate than launches: there are fewer. */
static double calls_behind(const struct profile *p, int which)
{
	double n = p->trace.calibration.n;

	return which == 1 ? fmin(n, CALIBRATION_WAITS) : n;
}

static void draw_from_calls(const struct profile *p, const struct swings *s, double *draws)
{
	for (int d = 0; d < BOOTSTRAP_DRAWS; d++) {
		draws[d] = s->base;
		for (int i = 0; i < 3; i++) {
			struct philox r = philox4x32((uint32_t)d, (uint32_t)i, 0, 0, SEED);
			double z = standard_normal(r);

			draws[d] += swing(s, i, z, calls_behind(p, i));
		}
	}
}

/* ---- c, Z and g differ between processes -------------------------------------------------- */

enum { PROCESSES_LEAST = 5, PROCESSES_MAX = TRACE_RUNS_MAX + 1 };

/* The medians of c, Z and g of the traced process and of those that did nothing. */
struct processes {
	double ns[3][PROCESSES_MAX];
	int n;
};

static double *quantiles_of(struct trace_calibration *c, int which)
{
	return which == 0 ? c->launch_call_ns : which == 1 ? c->launch_and_wait_ns : c->gap_ns;
}

static void find_processes(struct trace *t, struct processes *out)
{
	for (int i = 0; i < t->empties; i++) {
		const struct trace_empty *e = &t->empty[i];

		out->ns[0][i] = e->launch_call_ns;
		out->ns[1][i] = e->launch_and_wait_ns;
		out->ns[2][i] = e->gap_ns;
	}
	for (int which = 0; which < 3; which++)
		out->ns[which][t->empties] = quantiles_of(&t->calibration, which)[QUANTILE_P50];
	out->n = t->empties + 1;
}

/*
 * The runs without the recorder are processes of their own, and c moves by a quarter from one to
 * the next: prices are medians of processes, and their quantiles the least and the most.
 */
static void take_processes(struct trace *t, const struct processes *from)
{
	double sorted[PROCESSES_MAX];

	for (int which = 0; which < 3; which++) {
		double *q = quantiles_of(&t->calibration, which);

		memcpy(sorted, from->ns[which], sizeof(sorted));
		q[QUANTILE_P50] = median_of(sorted, from->n);
		q[QUANTILE_P05] = q[QUANTILE_P95] = q[QUANTILE_P50];
		for (int i = 0; i < from->n; i++) {
			q[QUANTILE_P05] = fmin(q[QUANTILE_P05], sorted[i]);
			q[QUANTILE_P95] = fmax(q[QUANTILE_P95], sorted[i]);
		}
	}
}

/* How far the wall time moves where a median is so many ns: a line on either side. */
static double swing_to(const struct swings *s, const double *quantiles, int which, double ns)
{
	double median = quantiles[QUANTILE_P50];
	double end = quantiles[ns < median ? QUANTILE_P05 : QUANTILE_P95];

	if (end == median)
		return 0;
	return (ns - median) / (end - median) * (ns < median ? s->low[which] : s->high[which]);
}

static void draw_from_processes(struct profile *p, const struct swings *s,
				const struct processes *from, double *draws)
{
	double *medians = malloc(BOOTSTRAP_DRAWS * sizeof(*medians)), median;
	struct resamples r = { 0 };
	int err = resamples_init(&r, from->n, SEED, GROUP_PROCESSES);

	CHECK(medians, "memory of draws");
	for (int d = 0; d < BOOTSTRAP_DRAWS; d++)
		draws[d] = s->base;
	for (int which = 0; which < 3 && !err; which++) {
		const double *q = quantiles_of(&p->trace.calibration, which);

		err = resamples_medians(&r, from->ns[which], medians, &median);
		for (int d = 0; d < BOOTSTRAP_DRAWS && !err; d++)
			draws[d] += swing_to(s, q, which, medians[d]);
	}
	CHECK(!err, "prices of %d processes", from->n);
	resamples_release(&r);
	free(medians);
}

void profile_add_starts(const struct trace *t, double *draws)
{
	double sorted[TRACE_RUNS_MAX], median;

	if (!t->plain_empties || t->partial)
		return;
	memcpy(sorted, t->plain_empty_ns, sizeof(sorted));
	median = median_of(sorted, t->plain_empties);
	for (int d = 0; d < BOOTSTRAP_DRAWS; d++)
		draws[d] += t->plain_empty_ns[d % t->plain_empties] - median;
}

/* ---- processes of one program differ ------------------------------------------------------ */

/* The median of n values, and draws of it. */
static double draw_medians(const double *value, int n, uint32_t group, double *draws)
{
	struct resamples r = { 0 };
	double median = NAN;
	int err = resamples_init(&r, n, SEED, group);

	if (!err)
		err = resamples_medians(&r, value, draws, &median);
	CHECK(!err, "times of %d processes", n);
	resamples_release(&r);
	return median;
}

double profile_draw_runs(const struct trace *t, double *draws)
{
	return draw_medians(t->unprofiled_wall_ns, t->unprofiled, GROUP_RUNS, draws);
}

static void add_recordings(const struct trace *t, double *draws)
{
	double *medians = malloc(BOOTSTRAP_DRAWS * sizeof(*medians)), median;

	CHECK(medians, "memory of draws");
	median = draw_medians(t->retimed_wall_ns, t->recordings, GROUP_RECORDINGS, medians);
	for (int d = 0; d < BOOTSTRAP_DRAWS; d++)
		draws[d] += medians[d] - median;
	free(medians);
}

/* One recording is one process, and differs from others as runs without the recorder do; the
 * median of a few differs by less. */
static void add_runs(const struct trace *t, double *draws)
{
	double sorted[TRACE_RUNS_MAX], median, few = sqrt(fmax(t->recordings, 1));

	memcpy(sorted, t->unprofiled_wall_ns, sizeof(sorted));
	median = median_of(sorted, t->unprofiled);
	for (int d = 0; d < BOOTSTRAP_DRAWS; d++)
		draws[d] += (t->unprofiled_wall_ns[d % t->unprofiled] - median) / few;
}

/* Are the runs without the recorder of what was recorded? */
static bool has_whole_runs(const struct trace *t)
{
	return t->unprofiled >= BOOTSTRAP_N_MIN && !t->partial && t->processes <= 1;
}

static double range_of(const double *value, int n)
{
	double least = n ? value[0] : 0, most = least;

	for (int i = 1; i < n; i++) {
		least = fmin(least, value[i]);
		most = fmax(most, value[i]);
	}
	return most - least;
}

/* A few recordings say too little of how processes differ, unless they are further apart than the
 * runs are. */
static bool recordings_say(const struct trace *t)
{
	double few = sqrt(fmax(t->recordings, 1));

	return t->recordings >= BOOTSTRAP_N_MIN ||
	       (t->recordings > 1 && range_of(t->retimed_wall_ns, t->recordings) >
					     range_of(t->unprofiled_wall_ns, t->unprofiled) / few);
}

/* By as much as is known; of few runs, by how unevenly processes start that do nothing. */
static void add_processes(const struct trace *t, double *draws)
{
	if (recordings_say(t))
		add_recordings(t, draws);
	else if (has_whole_runs(t))
		add_runs(t, draws);
	else
		profile_add_starts(t, draws);
}

/* What is printed is of a process: it reaches as far as the recordings do. */
static void widen(struct profile *p)
{
	const struct trace *t = &p->trace;

	for (int i = 0; p->predicted.known && i < t->recordings; i++) {
		p->predicted.lo = fmin(p->predicted.lo, t->retimed_wall_ns[i]);
		p->predicted.hi = fmax(p->predicted.hi, t->retimed_wall_ns[i]);
	}
}

static void predict(struct profile *p, const struct processes *from, double *draws)
{
	struct swings s = { .base = p->times.end - p->times.start };
	int err;

	find_swings(p, &s);
	if (from->n >= PROCESSES_LEAST)
		draw_from_processes(p, &s, from, draws);
	else
		draw_from_calls(p, &s, draws);
	add_processes(&p->trace, draws);
	err = interval_of_draws(&p->predicted, s.base, BOOTSTRAP_N_MIN, draws);
	CHECK(!err, "times of a trace");
	p->predicted.n = from->n >= PROCESSES_LEAST ? from->n : 1;
	widen(p);
}

static void measure(struct profile *p, double *draws)
{
	const struct trace *t = &p->trace;
	double median;

	p->measured = interval_unknown(t->unprofiled);
	if (!t->unprofiled)
		return;
	median = profile_draw_runs(t, draws);
	CHECK(!interval_of_draws(&p->measured, median, t->unprofiled, draws), "times of %d runs",
	      t->unprofiled);
}

/* ---- the self-check ----------------------------------------------------------------------- */

/* The draws of both sides are independent of each other. */
static void compare(struct profile *p, const double *own, double *runs)
{
	for (int d = 0; d < BOOTSTRAP_DRAWS; d++)
		runs[d] = own[d] / runs[d];
	CHECK(!interval_of_draws(&p->ratio, p->predicted.value / p->measured.value,
				 p->trace.unprofiled, runs),
	      "ratios of %d runs", p->trace.unprofiled);
}

/* How long the program takes: re-timed, and in runs without the recorder. */
static void check_times(struct profile *p, const struct processes *from)
{
	double *own = malloc(BOOTSTRAP_DRAWS * sizeof(*own));
	double *runs = malloc(BOOTSTRAP_DRAWS * sizeof(*runs));

	CHECK(own && runs, "memory of draws");
	p->predicted = p->ratio = interval_unknown(0);
	if (p->retimed)
		predict(p, from, own);
	measure(p, runs);
	if (p->retimed && has_whole_runs(&p->trace))
		compare(p, own, runs);
	free(own);
	free(runs);
}

static bool has_unpriced_graphs(const struct profile *p)
{
	if (p->trace.is_cpu || !isnan(p->prices.graph_call_ns[0]))
		return false;
	for (int64_t i = 0; i < p->trace.calls; i++)
		if (p->trace.call[i].class == CALL_GRAPH_LAUNCH)
			return true;
	return false;
}

static void judge_trust(struct profile *p)
{
	const struct interval *own = &p->predicted, *runs = &p->measured;

	if (!p->trace.finished)
		p->doubts |= DOUBT_UNFINISHED;
	if (p->trace.dropped)
		p->doubts |= DOUBT_DROPPED;
	if (p->trace.partial)
		p->doubts |= DOUBT_PARTIAL;
	else if (!runs->known)
		p->doubts |= DOUBT_RUNS;
	if (p->trace.processes > 1)
		p->doubts |= DOUBT_PROCESSES;
	if (p->retimed && has_unpriced_graphs(p))
		p->doubts |= DOUBT_GRAPHS;
	if (p->retimed && (interval_half_width(own) > PROFILE_WIDE ||
			   (runs->known && interval_half_width(runs) > PROFILE_WIDE)))
		p->doubts |= DOUBT_WIDE;
	p->trust = p->doubts ? TRUST_LOW : TRUST_FULL;
	if (p->ratio.known &&
	    (p->ratio.lo > 1 + PROFILE_SELF_MARGIN || p->ratio.hi < 1 - PROFILE_SELF_MARGIN))
		p->trust = TRUST_REFUSED;
}

/* ---- sensitivities ------------------------------------------------------------------------ */

struct call_prices prices_dearer(struct call_prices p, enum sensitivity_cost cost, double ns)
{
	switch (cost) {
	case COST_LAUNCH:
		p.launch_ns += ns;
		p.graph_added_ns += ns;
		break;
	case COST_SYNC:
		p.start_ns += ns / 2;
		p.wake_ns += ns / 2;
		break;
	case COST_GAP:
		p.gap_ns += ns;
		break;
	default:
		p.copy_latency_ns += ns;
	}
	return p;
}

static void find_costs(struct profile *p)
{
	double base = p->times.end - p->times.start;

	for (int i = 0; i < PROFILE_COSTS; i++) {
		struct call_prices prices =
			prices_dearer(p->prices, (enum sensitivity_cost)i, 1000);

		p->cost_ns[i] = p->retimed ? retimed_ns(&p->steps, &prices) - base : NAN;
	}
}

/* ---- all ---------------------------------------------------------------------------------- */

/* Costs that are estimated from a trace must give its own time again, or they are none. */
static bool agrees(const struct timed *a, const struct timed *b)
{
	return fabs((a->end - a->start) / (b->end - b->start) - 1) <= PROFILE_SELF_MARGIN;
}

/* Sets p->times, and p->retimed where these are without the recorder. */
static void retime(struct profile *p, struct processes *processes)
{
	struct timed recorded;

	timed_recorded(&recorded, &p->steps);
	p->recorded_ns = recorded.end - recorded.start;
	p->retimed = p->trace.is_calibrated && p->trace.device_times;
	if (!p->trace.is_calibrated)
		p->doubts |= DOUBT_CALIBRATION;
	if (!p->trace.device_times)
		p->doubts |= DOUBT_DEVICE_TIMES;
	if (!p->retimed) {
		p->times = recorded;
		return;
	}
	find_processes(&p->trace, processes);
	if (processes->n >= PROCESSES_LEAST)
		take_processes(&p->trace, processes);
	p->prices = prices_of_trace(&p->trace, QUANTILE_P50, QUANTILE_P50, QUANTILE_P50);
	p->host_gaps = host_gaps_apply(&p->steps, &p->prices);
	timed_priced(&p->times, &p->steps, &p->prices);
	if (p->trace.is_estimated && !agrees(&p->times, &recorded)) {
		timed_release(&p->times);
		p->times = recorded;
		p->retimed = false;
		p->doubts |= DOUBT_CALIBRATION;
		return;
	}
	p->doubts |= p->trace.is_estimated ? DOUBT_ESTIMATED : 0;
	timed_release(&recorded);
}

int profile_make(struct profile *p, const char *path, const struct kind_rules *rules,
		 bool with_idle)
{
	struct processes processes = { .n = 0 };
	int err;

	*p = (struct profile){ .rules = *rules };
	err = trace_read(&p->trace, path);
	if (err)
		return err;
	if (*p->trace.failed)
		return trace_refuse_failed(path, p->trace.failed);
	if (!p->trace.calls)
		return complain(EINVAL,
				"%s: has no calls: the program made none, or none within the given "
				"limits, or it ended before its calls were written",
				path);
	steps_init(&p->steps, &p->trace);
	retime(p, &processes);
	check_times(p, &processes);
	judge_trust(p);
	shares_make(&p->shares, &p->steps, &p->times,
		    p->retimed ? p->prices.start_ns : p->steps.latency_ns, with_idle);
	p->has_kind = p->trust != TRUST_REFUSED && p->trace.device_times;
	p->kind = program_kind_of(&p->shares, rules, p->retimed ? p->prices.gap_ns : NAN);
	find_costs(p);
	ranges_make(&p->ranges, &p->trace, p->retimed ? &p->times : NULL);
	return 0;
}

void profile_release(struct profile *p)
{
	ranges_release(&p->ranges);
	shares_release(&p->shares);
	timed_release(&p->times);
	steps_release(&p->steps);
	trace_release(&p->trace);
}
