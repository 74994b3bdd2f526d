/*
 * model.h - what a block of launches costs: parameters, closed form, regimes.
 *
 * A block is D steps of l launches each, N = D * l launches in all, then one synchronize. A launch
 * keeps the device for k K + e (k: a clock factor), an empty one, K = 0, for no time. In stream
 * mode launches pass three stations, one after the other: the call on the host (c each), a
 * submission proxy (a driver's thread, a layer, a remote link: d each; natively nothing) and the
 * device (a gap g beside the kernel). As in LogGP (Alexandrov et al., J. Parallel Distrib. Comput.
 * 44, 1997: o, L, g) the slowest sets the pace, and at most Q launches are under way (a window).
 * For equal kernels that recursion (below) has a closed form, in ns:
 *
 *   stream  T = Z + X + (min(N, Q) - 1) B + max(0, N - Q) max(B, (W + X) / Q)
 *           X = k K + e, B = max(p, X + g)
 *   graph   T = (a + b n) + Zg + n X + (n - 1) gn
 *             + (m - 1) max(a + b n, n X + (n - 1) gn + G)     m launches of a graph of n nodes;
 *           a rest of r < n nodes is one more, smaller graph
 *   fused   T = Zf + N phi k K + (N - 1) bf      b0 for bf where K = 0: another, empty program
 *   enqueue E = N c, and beyond Q launches no less than T of N - Q; graph m (a + b n); fused c
 *
 * K, the kernel size. Where the workload's axis is a duration (its unit is us), K is that nominal
 * duration: what "a kernel of 5 us" means to whoever asks, and equal on all platforms. What the
 * device makes of it is k times as long, one factor for all sizes (a device that runs below the
 * clock that it states), and, where empty kernels are not in line with the others, e longer.
 * Both are fitted, to graphs where there are any, as nothing but the device sets their pace.
 * Whatever a launch takes beyond that is part of g and gn: the empty kernel's own time, for one.
 * Elsewhere (cells, particles) K is measured: the slope of T over launches in the largest graphs.
 * Then k is 1, e 0, gn -b, and g what stream launches take beyond graph nodes. Without graphs the
 * same is said of the deepest fused, then stream, blocks.
 *
 * What cannot be told apart: L (call to start on an idle device) and s (end to awake host) are only
 * known as part of Z = c + d + L + s; d only as p, where p > c; g and an empty kernel's time only
 * as a sum.
 */
#ifndef RIFT_MEASURE_MODEL_H
#define RIFT_MEASURE_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "common/mode.h"

/* ---- parameters --------------------------------------------------------------------------- */

enum model_param {
	MODEL_C,     /* c: a launch call, host */
	MODEL_P,     /* p = max(c, d): pace of submission */
	MODEL_G,     /* g: gap between two kernels that are queued */
	MODEL_Z,     /* Z: one launch and a synchronize, less the kernel */
	MODEL_CLOCK, /* k: device time per nominal time; a pure number */
	MODEL_E, /* e: what a kernel takes beyond that and beyond an empty one; may be negative */
	MODEL_Q, /* Q: launches that a queue takes before a call waits; INFINITY: no limit seen */
	MODEL_W, /* W = c + d + L + r: a full queue's round trip beside the kernel; r: notice */
	MODEL_GRAPH_A, /* a: launch call of a graph, host ... */
	MODEL_GRAPH_B, /* b: ... and each of its nodes, host */
	MODEL_GRAPH_Z, /* Zg: beside the call, one graph launch and a synchronize, less the nodes */
	MODEL_GRAPH_G, /* gn: gap between two nodes */
	MODEL_GRAPH_GG,	 /* G: gap between two graph launches */
	MODEL_FUSED_Z,	 /* Zf: one fused launch and a synchronize, less its work */
	MODEL_FUSED_PHI, /* phi: work of a unit in a fused launch, in kernels; a pure number */
	MODEL_FUSED_B,	 /* bf: between two units of a fused launch */
	MODEL_FUSED_B0,	 /* b0: between two empty units, K = 0 */
	MODEL_PARAMS,
};

struct model_param_row {
	const char *name;   /* as above: "Z" */
	const char *symbol; /* for machines: "z_ns" */
	const char *unit;   /* "ns", "launches", "1" */
	const char *what;   /* one line, no full stop */
	enum mode mode;	    /* of the blocks that say it */
};

extern const struct model_param_row model_param_rows[MODEL_PARAMS];

/*
 * Values of all of them, in ns where they are times. All are numbers, so that blocks can be
 * predicted: one that is not identified (fit.h) has the value that makes no difference where it was
 * fitted.
 */
struct model {
	double v[MODEL_PARAMS];
};

/* ---- blocks ------------------------------------------------------------------------------- */

struct batch {
	enum mode mode;
	double depth;	  /* D, steps, 1 or more; a whole number for graphs */
	double launches;  /* l, of a step */
	double kernel_ns; /* K of a launch, nominal where the axis is a duration */
};

/* The part of the closed form that sets the pace. */
enum regime {
	REGIME_LAUNCH, /* stream: p > K + g by more than CORNER_SHARE */
	REGIME_DEVICE, /* stream: K + g > p by more than that */
	REGIME_CORNER, /* stream: neither. Noise makes the slower of two random times slower than */
	/* both means: measured times exceed the closed form there */
	REGIME_WINDOW, /* stream: more than Q launches, and the queue's round trip sets the pace */
	REGIME_GRAPH,
	REGIME_FUSED,
	REGIMES,
};

#define CORNER_SHARE 0.15

extern const char *const regime_names[REGIMES];

enum regime model_regime(const struct model *m, const struct batch *b);

/* How far K + g and p are apart, as a share of the larger: the corner is up to CORNER_SHARE. */
double model_corner_distance(const struct model *m, const struct batch *b);

/* T of the closed form: first call to return of the synchronize. */
double model_total_ns(const struct model *m, const struct batch *b);

/* E: first call to return of the last. */
double model_enqueue_ns(const struct model *m, const struct batch *b);

/* N k K: what nothing but the kernels would take. */
double model_ideal_ns(const struct model *m, const struct batch *b);

/* How a graph block of depth D is launched (harness/measure/submit.h): m graphs of n nodes, and a
 * rest. */
struct graph_shape {
	double graphs, nodes, rest; /* rest: nodes of the last, smaller graph; 0: none */
};

struct graph_shape graph_shape_of(const struct batch *b);

/* T likewise, where the shape is known: a fit asks for the same batch thousands of times. */
double model_total_of_shape(const struct model *m, const struct batch *b,
			    const struct graph_shape *s);

/* ---- launch by launch ------------------------------------------------------------------- */

/*
 * The model launch by launch: exact for kernels of any lengths, and what the closed form of model.h
 * is the sum of.
 *
 *   A_i = max(A_{i-1}, F_{i-Q} + r) + c    launch call i returns
 *   W_i = max(A_i, W_{i-1}) + d            leaves the submission proxy
 *   S_i = max(W_i + L, F_{i-1} + g)        starts on the device
 *   F_i = S_i + k K_i + e                  ends
 *   T   = max(A_N, F_N) + s
 *
 * A tandem queue with a window. Only sums of its constants are known (model.h): d is taken to be p
 * where p > c, else 0; L to be Z - c - d, and s to be 0. Neither choice changes T. Graphs are the
 * same with a + b n for c, n kernels and their gaps for K and G for g, without a window.
 */

struct block_times {
	double total_ns, enqueue_ns;
};

/* Stream launches of n kernels; kernel_ns[i] nominal where the axis is a duration. n >= 1. */
struct block_times recursion_stream(const struct model *m, const double *kernel_ns, int64_t n);

/* A block of equal kernels, in any mode. */
struct block_times recursion_block(const struct model *m, const struct batch *b);

#endif
