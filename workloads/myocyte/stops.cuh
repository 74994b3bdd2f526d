/*
 * stops.cuh - where steps must end: edges of the stimulus, rows of the trajectory, the span's end.
 *
 * Rounds alike on host and device: see control.cuh.
 */
#ifndef RIFT_MYOCYTE_STOPS_CUH
#define RIFT_MYOCYTE_STOPS_CUH

#include "workloads/myocyte/rkf78.cuh"

namespace myocyte
{
namespace
{
/* The first of 5, T, T + 5, 2 T, .. behind t: where the stimulus changes, or a cycle ends. */
EITHER double next_edge(double t, double T)
{
	double cycle = floor(t / T) - 1; /* t/T may round either way when t is an edge */

	for (;; cycle++) {
		double off = fma(cycle, T, t_stim), on = (cycle + 1) * T;

		if (off > t && off < on)
			return off;
		if (on > t)
			return on;
	}
}

/* Output times and other stops nearer than this share of `every` are one. */
constexpr double same_time = 1e-9;

/* The first multiple of `every` behind t. */
EITHER double next_output(double t, double every)
{
	double n = floor(t / every);

	while (!(n * every > fma(same_time, every, t)))
		n++;
	return n * every;
}

struct stop {
	double t;
	bool output; /* a row of the trajectory belongs here */
};

EITHER struct stop next_stop(const struct myocyte_cells &a, double t, double T)
{
	double edge = next_edge(t, T);
	struct stop stop = { fmin(edge, a.span), edge >= a.span };
	double output;

	if (!a.rows)
		return stop;
	output = next_output(t, a.every);
	if (output < fma(-same_time, a.every, stop.t))
		return { output, true };
	stop.output = stop.output || output <= fma(same_time, a.every, stop.t);
	return stop;
}
} // namespace
} // namespace myocyte

#endif
