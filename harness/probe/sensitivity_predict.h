/*
 * sensitivity_predict.h - what a cost that is added to calls makes of a step, by a simple model.
 *
 * A step takes as long as the slowest of three, and a share of what a block's ends take:
 *
 *   T = max(host + calls x, device, bytes / rate) + (ends + waits x) / depth
 *
 * x is the cost. host is what submitting takes, device all else of the native time. So T is the
 * native time where x is 0. The model assumes that
 *
 *   - the native time is the same under the layer: what the layer itself takes is no part of it;
 *   - a step has no calls but its launches and copies, and a block waits once;
 *   - submitting never waits for a full queue: natively its time is the host's own;
 *   - what crosses at a limited rate does so beside all else of a step;
 *   - over a network a launch or copy is a message of 136 bytes, and a block's end a round trip;
 *   - a graph is one call whatever is in it, and so is a fused launch.
 */
#ifndef RIFT_PROBE_SENSITIVITY_PREDICT_H
#define RIFT_PROBE_SENSITIVITY_PREDICT_H

#include <stdbool.h>

#include "common/mode.h"

/* What `rift run` says of a step; in ns where it is a time. */
struct step_figures {
	double step_ns, submit_ns;
	double kernel_ns; /* NAN: not known */
	double ends_ns;	  /* of a block; NAN: not known */
	double launches, copies, bytes_transferred, allocations;
	double graphs; /* launches of graphs a block; 0: none */
	double depth;
	enum mode mode;
};

/* Commands of a step that the layer charges for; graphs and fused launches are shares of one. */
double step_commands(const struct step_figures *f);

/* Is a cost of that name part of a step? Unknown names are: only measuring can tell. */
bool step_has_cost(const struct step_figures *f, const char *name);

/* T over the native time with a cost of that value, in the unit of the layer's parameter; NAN where
 * the model knows nothing of such a cost. */
double step_predict(const struct step_figures *f, const char *name, double value);

#endif
