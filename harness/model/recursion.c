/* recursion.c - the model launch by launch. */
#include "harness/model/recursion.h"

#include <math.h>
#include <stdlib.h>

#include "common/check.h"

/* Stations of a launch, ns. */
struct stations {
	double call, behind, start; /* c, d, L */
	double gap;		    /* g */
	double room;		    /* r: a place in the queue is free -> the call goes on */
	int64_t queue;		    /* Q; 0: no limit */
	double *ends;		    /* F of the last Q launches, a ring */
	int64_t n;		    /* launches so far */
	double returned, left, end; /* A, W, F of the last */
};

static void launch(struct stations *s, double kernel_ns)
{
	double *slot = s->queue ? &s->ends[s->n % s->queue] : NULL;
	bool full = slot && s->n >= s->queue;
	double first = s->n++ ? 0 : -INFINITY; /* before the first there is no end to wait for */

	s->returned = fmax(s->returned, full ? *slot + s->room : 0) + s->call;
	s->left = fmax(s->returned, s->left) + s->behind;
	s->end = fmax(s->left + s->start, s->end + s->gap + first) + kernel_ns;
	if (slot)
		*slot = s->end;
}

static struct block_times finish(struct stations *s)
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
	s.room = m->v[MODEL_W] - m->v[MODEL_Z];
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
		launch(&s, device_ns(m, kernel_ns[i]));
	return finish(&s);
}

static struct block_times equal_launches(const struct model *m, const struct batch *b)
{
	struct stations s = stream_stations(m);

	for (double i = 0; i < b->depth * b->launches; i++)
		launch(&s, device_ns(m, b->kernel_ns));
	return finish(&s);
}

static void launch_graph(struct stations *s, const struct model *m, double nodes, double kernel_ns)
{
	s->call = m->v[MODEL_GRAPH_A] + nodes * m->v[MODEL_GRAPH_B];
	launch(s, nodes * device_ns(m, kernel_ns) + (nodes - 1) * m->v[MODEL_GRAPH_G]);
}

static struct block_times graph_launches(const struct model *m, const struct batch *b)
{
	struct stations s = { .start = m->v[MODEL_GRAPH_Z], .gap = m->v[MODEL_GRAPH_GG] };
	const struct graph_shape shape = graph_shape_of(b);

	for (double i = 0; i < shape.graphs; i++)
		launch_graph(&s, m, shape.nodes, b->kernel_ns);
	if (shape.rest >= 1)
		launch_graph(&s, m, shape.rest, b->kernel_ns);
	return finish(&s);
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
