/* model.c - what a block costs: the closed form, and launch by launch. */
#include "harness/measure/model.h"

#include <math.h>
#include <stdlib.h>

#include "common/check.h"
#include "harness/measure/submit.h"

/* ---- the closed form -------------------------------------------------------------------- */

const struct model_param_row model_param_rows[MODEL_PARAMS] = {
	[MODEL_C] = { "c", "c_ns", "ns", "a launch call, on the host", MODE_STREAM },
	[MODEL_P] = { "p", "p_ns", "ns", "launch interval", MODE_STREAM },
	[MODEL_G] = { "g", "g_ns", "ns", "gap between queued kernels", MODE_STREAM },
	[MODEL_Z] = { "Z", "z_ns", "ns", "one launch and a synchronize, less the kernel",
		      MODE_STREAM },
	[MODEL_CLOCK] = { "k", "clock", "1", "clock: device time per nominal time", MODE_GRAPH },
	[MODEL_E] = { "e", "e_ns", "ns", "what kernels take beyond that", MODE_GRAPH },
	[MODEL_Q] = { "Q", "q_launches", "launches", "launches that the queue takes", MODE_STREAM },
	[MODEL_W] = { "W", "w_ns", "ns", "round trip of a full queue, less the kernel",
		      MODE_STREAM },
	[MODEL_GRAPH_A] = { "a", "graph_a_ns", "ns", "launch call of a graph, on the host ...",
			    MODE_GRAPH },
	[MODEL_GRAPH_B] = { "b", "graph_b_ns", "ns", "... and for each of its nodes", MODE_GRAPH },
	[MODEL_GRAPH_Z] = { "Zg", "graph_z_ns", "ns",
			    "one graph and a synchronize, less call and nodes", MODE_GRAPH },
	[MODEL_GRAPH_G] = { "gn", "graph_g_ns", "ns", "gap between nodes", MODE_GRAPH },
	[MODEL_GRAPH_GG] = { "G", "graph_gg_ns", "ns", "gap between graphs", MODE_GRAPH },
	[MODEL_FUSED_Z] = { "Zf", "fused_z_ns", "ns",
			    "one fused launch and a synchronize, less its work", MODE_FUSED },
	[MODEL_FUSED_PHI] = { "phi", "fused_phi", "1", "work of a fused unit, in kernels",
			      MODE_FUSED },
	[MODEL_FUSED_B] = { "bf", "fused_b_ns", "ns", "between fused units", MODE_FUSED },
	[MODEL_FUSED_B0] = { "b0", "fused_b0_ns", "ns", "between empty fused units", MODE_FUSED },
};

const char *const regime_names[REGIMES] = {
	[REGIME_LAUNCH] = "launch-bound", [REGIME_DEVICE] = "device-bound",
	[REGIME_CORNER] = "corner",	  [REGIME_WINDOW] = "window",
	[REGIME_GRAPH] = "graph",	  [REGIME_FUSED] = "fused",
};

static double batch_launches(const struct batch *b)
{
	return b->depth * b->launches;
}

/* X of a launch. */
static double batch_kernel_ns(const struct model *m, const struct batch *b)
{
	return b->kernel_ns > 0 ? m->v[MODEL_CLOCK] * b->kernel_ns + m->v[MODEL_E] : 0;
}

/* ---- stream ------------------------------------------------------------------------------- */

/* Per launch, while the queue is not full. */
static double pace(const struct model *m, double kernel_ns)
{
	return fmax(m->v[MODEL_P], kernel_ns + m->v[MODEL_G]);
}

/* Per launch, while the queue is full. */
static double window_pace(const struct model *m, double kernel_ns)
{
	return fmax(pace(m, kernel_ns), (m->v[MODEL_W] + kernel_ns) / m->v[MODEL_Q]);
}

static double stream_ns(const struct model *m, const struct batch *b)
{
	double kernel_ns = batch_kernel_ns(m, b), n = batch_launches(b), q = m->v[MODEL_Q];
	double ns = m->v[MODEL_Z] + kernel_ns + (fmin(n, q) - 1) * pace(m, kernel_ns);

	return n > q ? ns + (n - q) * window_pace(m, kernel_ns) : ns;
}

/* A call that finds the queue full waits for the end of the launch Q before it. */
static double stream_enqueue_ns(const struct model *m, const struct batch *b)
{
	double n = batch_launches(b), q = m->v[MODEL_Q];
	struct batch ended = *b;

	if (n <= q)
		return n * m->v[MODEL_C];
	ended.depth = (n - q) / b->launches;
	return fmax(n * m->v[MODEL_C], stream_ns(m, &ended));
}

/* ---- graph -------------------------------------------------------------------------------- */

struct graph_shape graph_shape_of(const struct batch *b)
{
	double steps = (double)graph_steps_for((int64_t)b->depth, (int64_t)b->launches);

	return (struct graph_shape){ .graphs = floor(b->depth / steps),
				     .nodes = steps * b->launches,
				     .rest = fmod(b->depth, steps) * b->launches };
}

static double graph_host_ns(const struct model *m, double nodes)
{
	return nodes > 0 ? m->v[MODEL_GRAPH_A] + nodes * m->v[MODEL_GRAPH_B] : 0;
}

static double graph_device_ns(const struct model *m, double kernel_ns, double nodes)
{
	return nodes * kernel_ns + (nodes - 1) * m->v[MODEL_GRAPH_G];
}

static double graph_ns(const struct model *m, const struct batch *b, const struct graph_shape *s)
{
	double host_ns = graph_host_ns(m, s->nodes);
	double device_ns = graph_device_ns(m, batch_kernel_ns(m, b), s->nodes);
	double gap_ns = m->v[MODEL_GRAPH_GG];
	/* when the last of the equal graphs ends, the device's end of a synchronize included */
	double ns = host_ns + m->v[MODEL_GRAPH_Z] + device_ns +
		    (s->graphs - 1) * fmax(host_ns, device_ns + gap_ns);

	if (s->rest < 1)
		return ns;
	return fmax(s->graphs * host_ns + graph_host_ns(m, s->rest) + m->v[MODEL_GRAPH_Z],
		    ns + gap_ns) +
	       graph_device_ns(m, batch_kernel_ns(m, b), s->rest);
}

/* ---- all ---------------------------------------------------------------------------------- */

double model_total_ns(const struct model *m, const struct batch *b)
{
	struct graph_shape s = { 0 };

	if (b->mode == MODE_GRAPH)
		s = graph_shape_of(b);
	return model_total_of_shape(m, b, &s);
}

double model_total_of_shape(const struct model *m, const struct batch *b,
			    const struct graph_shape *s)
{
	double n = batch_launches(b);

	switch (b->mode) {
	case MODE_STREAM:
		return stream_ns(m, b);
	case MODE_GRAPH:
		return graph_ns(m, b, s);
	default:
		return m->v[MODEL_FUSED_Z] + m->v[MODEL_FUSED_PHI] * model_ideal_ns(m, b) +
		       (n - 1) * m->v[b->kernel_ns > 0 ? MODEL_FUSED_B : MODEL_FUSED_B0];
	}
}

double model_enqueue_ns(const struct model *m, const struct batch *b)
{
	struct graph_shape s;

	if (b->mode == MODE_STREAM)
		return stream_enqueue_ns(m, b);
	if (b->mode == MODE_FUSED)
		return m->v[MODEL_C];
	s = graph_shape_of(b);
	return s.graphs * graph_host_ns(m, s.nodes) + graph_host_ns(m, s.rest);
}

double model_ideal_ns(const struct model *m, const struct batch *b)
{
	return batch_launches(b) * m->v[MODEL_CLOCK] * b->kernel_ns;
}

double model_corner_distance(const struct model *m, const struct batch *b)
{
	double device_ns = batch_kernel_ns(m, b) + m->v[MODEL_G], p = m->v[MODEL_P];

	return fabs(device_ns - p) / fmax(device_ns, p);
}

enum regime model_regime(const struct model *m, const struct batch *b)
{
	double kernel_ns = batch_kernel_ns(m, b);

	if (b->mode != MODE_STREAM)
		return b->mode == MODE_GRAPH ? REGIME_GRAPH : REGIME_FUSED;
	if (batch_launches(b) > m->v[MODEL_Q] && window_pace(m, kernel_ns) > pace(m, kernel_ns))
		return REGIME_WINDOW;
	if (model_corner_distance(m, b) <= CORNER_SHARE)
		return REGIME_CORNER;
	return kernel_ns + m->v[MODEL_G] > m->v[MODEL_P] ? REGIME_DEVICE : REGIME_LAUNCH;
}

/* ---- launch by launch ------------------------------------------------------------------- */

/* Stations of a launch, ns. */
struct stations {
	double call, behind, start; /* c, d, L */
	double gap;		    /* g */
	double resume;		    /* r: a place in the queue is free -> the call goes on */
	int64_t queue;		    /* Q; 0: no limit */
	double *ends;		    /* F of the last Q launches, a ring */
	int64_t n;		    /* launches so far */
	double returned, left, end; /* A, W, F of the last */
};

static void add_launch(struct stations *s, double kernel_ns)
{
	double *slot = s->queue ? &s->ends[s->n % s->queue] : NULL;
	bool full = slot && s->n >= s->queue;
	double first = s->n++ ? 0 : -INFINITY; /* before the first there is no end to wait for */

	s->returned = fmax(s->returned, full ? *slot + s->resume : 0) + s->call;
	s->left = fmax(s->returned, s->left) + s->behind;
	s->end = fmax(s->left + s->start, s->end + s->gap + first) + kernel_ns;
	if (slot)
		*slot = s->end;
}

static struct block_times end_block(struct stations *s)
{
	struct block_times t = { .total_ns = fmax(s->returned, s->end), .enqueue_ns = s->returned };

	free(s->ends);
	return t;
}

/* X of a launch. */
static double device_ns(const struct model *m, double kernel_ns)
{
	return kernel_ns > 0 ? m->v[MODEL_CLOCK] * kernel_ns + m->v[MODEL_E] : 0;
}

static struct stations stream_stations(const struct model *m)
{
	double c = fmin(m->v[MODEL_C], m->v[MODEL_P]);
	struct stations s = { .call = c, .gap = m->v[MODEL_G] };

	s.behind = m->v[MODEL_P] > c ? m->v[MODEL_P] : 0;
	s.start = m->v[MODEL_Z] - s.call - s.behind;
	s.resume = m->v[MODEL_W] - m->v[MODEL_Z];
	if (isfinite(m->v[MODEL_Q])) {
		s.queue = (int64_t)fmax(m->v[MODEL_Q], 1);
		s.ends = calloc((size_t)s.queue, sizeof(*s.ends));
		CHECK(s.ends, "room for a queue of %ld", (long)s.queue);
	}
	return s;
}

struct block_times recursion_stream(const struct model *m, const double *kernel_ns, int64_t n)
{
	struct stations s = stream_stations(m);

	for (int64_t i = 0; i < n; i++)
		add_launch(&s, device_ns(m, kernel_ns[i]));
	return end_block(&s);
}

static struct block_times equal_launches(const struct model *m, const struct batch *b)
{
	struct stations s = stream_stations(m);

	for (double i = 0; i < b->depth * b->launches; i++)
		add_launch(&s, device_ns(m, b->kernel_ns));
	return end_block(&s);
}

static void launch_graph(struct stations *s, const struct model *m, double nodes, double kernel_ns)
{
	s->call = m->v[MODEL_GRAPH_A] + nodes * m->v[MODEL_GRAPH_B];
	add_launch(s, nodes * device_ns(m, kernel_ns) + (nodes - 1) * m->v[MODEL_GRAPH_G]);
}

static struct block_times graph_launches(const struct model *m, const struct batch *b)
{
	struct stations s = { .start = m->v[MODEL_GRAPH_Z], .gap = m->v[MODEL_GRAPH_GG] };
	const struct graph_shape shape = graph_shape_of(b);

	for (double i = 0; i < shape.graphs; i++)
		launch_graph(&s, m, shape.nodes, b->kernel_ns);
	if (shape.rest >= 1)
		launch_graph(&s, m, shape.rest, b->kernel_ns);
	return end_block(&s);
}

struct block_times recursion_block(const struct model *m, const struct batch *b)
{
	if (b->mode == MODE_STREAM)
		return equal_launches(m, b);
	if (b->mode == MODE_GRAPH)
		return graph_launches(m, b);
	return (struct block_times){ .total_ns = model_total_ns(m, b),
				     .enqueue_ns = model_enqueue_ns(m, b) };
}
