/* fit_parts.c - all parameters from one set of measurements: streams, then graphs and fused. */
#include "harness/fit/fit_parts.h"

#include <math.h>
#include <string.h>

/* ---- which points and parameters a part of the fit takes -------------------------------- */

/* Sizes that differ by less leave open whether a gap or the clock makes kernels longer. */
static const double clock_range = 4;

void part_set_free(struct fit_part *p, int n, const enum model_param *which)
{
	p->n_free = n;
	memcpy(p->free, which, (size_t)n * sizeof(*which));
}

bool part_is_free(const struct fit_part *p, enum model_param which)
{
	for (int i = 0; i < p->n_free; i++)
		if (p->free[i] == which)
			return true;
	return false;
}

/* ---- points ------------------------------------------------------------------------------- */

static bool is_in(const struct grid *g, const bool *in, int i, enum mode mode)
{
	return g->point[i].batch.mode == mode && (!in || in[i]);
}

/* Enough points at two depths or more? */
bool part_is_enough(const struct fit_part *p)
{
	bool large = false;

	for (int i = 1; i < p->n; i++)
		large |= p->grid->point[p->at[i]].batch.depth !=
			 p->grid->point[p->at[0]].batch.depth;
	return p->n >= POINTS_MIN && large;
}

void part_take_mode(struct fit_part *p, const bool *in, enum mode mode)
{
	p->n = 0;
	for (int i = 0; i < p->grid->n_points; i++)
		if (is_in(p->grid, in, i, mode))
			part_take(p, i);
}

/* The smallest size of the mode that has enough points. */
void part_take_smallest(struct fit_part *p, const bool *in, enum mode mode,
			bool (*wanted)(const struct grid *, const struct batch *))
{
	const struct grid *g = p->grid;

	for (int size = 0; size < g->n_sizes; size++) {
		p->n = 0;
		for (int i = 0; i < g->n_points; i++)
			if (g->point[i].size == size && is_in(g, in, i, mode) &&
			    wanted(g, &g->point[i].batch))
				part_take(p, i);
		if (part_is_enough(p))
			return;
	}
	p->n = 0;
}

bool batch_is_half_a_queue(const struct grid *g, const struct batch *b)
{
	return b->depth * b->launches <= g->queue / 2;
}

bool batch_is_one_graph(const struct grid *g, const struct batch *b)
{
	const struct graph_shape s = graph_shape_of(b);

	(void)g;
	return s.graphs < 2 && s.rest < 1;
}

/* The least that a block takes beside one kernel: about Z. */
double part_least_beside_kernel(const struct fit_part *p, const struct fit_data *d)
{
	double least = INFINITY;

	for (int i = 0; i < p->n; i++) {
		double rest_ns = d->total_ns[p->at[i]] - p->grid->point[p->at[i]].batch.kernel_ns;

		if (rest_ns > 0)
			least = fmin(least, rest_ns);
	}
	return isfinite(least) ? least : 0;
}

/* ---- clock -------------------------------------------------------------------------------- */

/* Do these points hold sizes enough, set by the device, to tell the clock from a gap? */
bool part_says_clock(const struct fit_part *p, const struct model *m)
{
	double least = INFINITY, most = 0;
	int sizes = 0;

	for (int size = 0; p->grid->nominal && size < p->grid->n_sizes; size++) {
		double kernel_ns = p->grid->size[size].kernel_ns;
		bool there = false;

		for (int i = 0; i < p->n && kernel_ns > 0; i++) {
			const struct grid_point *at = &p->grid->point[p->at[i]];
			enum regime r = model_regime(m, &at->batch);

			there |= at->size == size && (r == REGIME_DEVICE || r == REGIME_GRAPH);
		}
		if (!there)
			continue;
		sizes++;
		least = fmin(least, kernel_ns);
		most = fmax(most, kernel_ns);
	}
	return sizes >= 3 && most >= clock_range * least;
}

/* Points of kernels, or of empty ones. */
int part_count_kernels(const struct fit_part *p, bool empty)
{
	int n = 0;

	for (int i = 0; i < p->n; i++)
		n += (p->grid->point[p->at[i]].batch.kernel_ns > 0) != empty;
	return n;
}

/* Are there empty kernels and others, enough of each to tell what the others take beyond K? */
bool part_has_empty(const struct fit_part *p)
{
	int empty = part_count_kernels(p, true);

	return p->grid->nominal && empty >= POINTS_MIN && p->n - empty >= POINTS_MIN;
}

/* In stream blocks p may hide what empty kernels would say: then it changes nothing and stays out.
 */
void part_try_e(struct fit_part *p, const struct fit_data *d, struct model *m)
{
	static const double share_left = 0.9;
	const struct model before = *m;
	double without;

	if (!part_has_empty(p))
		return;
	without = part_fit(p, d, m, LOSS_GUESS);
	m->v[MODEL_E] = 100;
	p->free[p->n_free++] = MODEL_E;
	if (part_fit(p, d, m, LOSS_GUESS) < share_left * without)
		return;
	p->n_free--;
	*m = before;
	part_fit(p, d, m, LOSS_GUESS);
}

/* ---- stream ------------------------------------------------------------------------------- */

/* Is it a stream block whose pace noise makes slower than the closed form? */
static bool is_corner(const struct model *m, const struct batch *b, double share)
{
	return b->depth * b->launches >= 2 && model_regime(m, b) != REGIME_WINDOW &&
	       model_corner_distance(m, b) <= share;
}

static int count_regime(const struct fit_part *s, const struct model *m, enum regime regime)
{
	int n = 0;

	for (int i = 0; i < s->n; i++) {
		const struct batch *b = &s->grid->point[s->at[i]].batch;

		n += b->depth * b->launches >= 2 && model_regime(m, b) == regime;
	}
	return n;
}

/*
 * Those within this share of the corner are bounds, as neither p nor K + g is above their pace.
 * Where that leaves too few others, all are points.
 */
static void take_stream(struct fit_parts *p, const bool *in, const struct model *m, double share)
{
	struct fit_part *s = &p->part[PART_STREAM];
	const struct grid *g = s->grid;

	s->n = s->bounds = 0;
	for (int corner = 0; corner <= 1; corner++)
		for (int i = 0; i < g->n_points; i++)
			if (is_in(g, in, i, MODE_STREAM) &&
			    is_corner(m, &g->point[i].batch, share) == corner) {
				s->at[s->n + s->bounds] = i;
				*(corner ? &s->bounds : &s->n) += 1;
			}
	p->bound[0] = count_regime(s, m, REGIME_LAUNCH);
	p->bound[1] = count_regime(s, m, REGIME_DEVICE);
	if (s->n < POINTS_MIN) {
		s->n += s->bounds;
		s->bounds = 0;
	}
}

static void free_stream(struct fit_parts *p, const struct model *m)
{
	struct fit_part *s = &p->part[PART_STREAM];

	part_set_free(s, 1, (enum model_param[]){ MODEL_Z });
	if (p->bound[0] || !p->bound[1])
		s->free[s->n_free++] = MODEL_P;
	if (p->bound[1])
		s->free[s->n_free++] = MODEL_G;
	if (!p->part[PART_GRAPH].n && part_says_clock(s, m))
		s->free[s->n_free++] = MODEL_CLOCK;
}

/* Z from the smallest block of the smallest kernels; p and g where the caller says. */
static struct model stream_start(const struct fit_part *s, const struct fit_data *d,
				 const struct model *m, double p, double g)
{
	struct model start = *m;

	start.v[MODEL_P] = p;
	start.v[MODEL_G] = g;
	start.v[MODEL_Z] = part_least_beside_kernel(s, d);
	return start;
}

/* The least time per launch in large batches: no pace is faster. */
static double best_pace(const struct fit_part *s, const struct fit_data *d)
{
	double best = INFINITY;

	for (int i = 0; i < s->n; i++) {
		const struct batch *b = &s->grid->point[s->at[i]].batch;

		best = fmin(best, d->total_ns[s->at[i]] / (b->depth * b->launches));
	}
	return best;
}

/* Is there a block of several launches whose kernels are not empty? Single ones have no pace. */
static bool has_paced_kernels(const struct fit_part *s)
{
	for (int i = 0; i < s->n; i++) {
		const struct batch *b = &s->grid->point[s->at[i]].batch;

		if (b->kernel_ns > 0 && b->depth * b->launches >= 2)
			return true;
	}
	return false;
}

/*
 * Where all kernels that follow each other are empty, their pace is p: nothing tells a gap between
 * them from it.
 */
static void fit_from_starts(struct fit_parts *p, const struct fit_data *d, struct model *m)
{
	static const double shares[][2] = { { 1, 0.1 }, { 0.5, 0.5 }, { 0.9, 0.9 }, { 2, 0.1 } };
	struct fit_part *s = &p->part[PART_STREAM];
	double pace = best_pace(s, d), least = INFINITY;
	bool kernels = has_paced_kernels(s);
	const struct model before = *m;

	part_set_free(s, kernels ? 3 : 2, (enum model_param[]){ MODEL_Z, MODEL_P, MODEL_G });
	for (size_t i = 0; i < sizeof(shares) / sizeof(*shares); i++) {
		struct model at = stream_start(s, d, &before, shares[i][0] * pace,
					       kernels ? shares[i][1] * pace : 0);
		double loss = part_fit(s, d, &at, LOSS_GUESS);

		if (loss < least) {
			least = loss;
			*m = at;
		}
	}
}

/*
 * What a full queue's round trip would have to be for each block; the least of all, as blocks whose
 * kernels outlast it are slow for another reason.
 */
static double window_start(const struct fit_part *s, const struct fit_data *d,
			   const struct model *m)
{
	double least = INFINITY, q = m->v[MODEL_Q];

	for (int i = 0; i < s->n; i++) {
		struct batch b = s->grid->point[s->at[i]].batch;
		double n = b.depth * b.launches;

		if (n < 2 * q) /* too near to tell a slope */
			continue;
		b.depth = q / b.launches;
		least = fmin(least, q * (d->total_ns[s->at[i]] - model_total_ns(m, &b)) / (n - q) -
					    m->v[MODEL_CLOCK] * b.kernel_ns);
	}
	return isfinite(least) ? fmax(least, 0) : 0;
}

/* Blocks of more launches than the queue holds that are slower than the model without W has them.
 */
static int count_slowed(const struct fit_part *s, const struct fit_data *d, const struct model *m)
{
	static const double slowed = 1.05;
	int n = 0;

	for (int i = 0; i < s->n; i++) {
		const struct batch *b = &s->grid->point[s->at[i]].batch;

		n += b->depth * b->launches > m->v[MODEL_Q] &&
		     d->total_ns[s->at[i]] > slowed * model_total_ns(m, b);
	}
	return n;
}

/* The model of the blocks that fit the queue. */
static struct model fit_below_queue(const struct fit_part *s, const struct fit_data *d,
				    const struct model *m)
{
	struct model below = *m;
	struct fit_part part;

	part_init(&part, s->grid);
	part_set_free(&part, s->n_free, s->free);
	for (int i = 0; i < s->n; i++) {
		const struct batch *b = &s->grid->point[s->at[i]].batch;

		if (b->depth * b->launches <= m->v[MODEL_Q])
			part_take(&part, s->at[i]);
	}
	if (part_is_enough(&part))
		part_fit(&part, d, &below, LOSS_GUESS);
	part_release(&part);
	return below;
}

/* Is there a slope above Q that W explains? Else it stays out. */
static bool try_window(struct fit_parts *p, const struct fit_data *d, struct model *m)
{
	static const double share_left = 0.5;
	struct fit_part *s = &p->part[PART_STREAM];
	const struct model without = *m;
	struct model below;
	double loss;

	if (!isfinite(m->v[MODEL_Q]))
		return false;
	below = fit_below_queue(s, d, m);
	if (count_slowed(s, d, &below) < POINTS_MIN)
		return false;
	loss = part_fit(s, d, m, LOSS_GUESS);
	*m = below;
	m->v[MODEL_W] = window_start(s, d, m);
	s->free[s->n_free++] = MODEL_W;
	if (part_fit(s, d, m, LOSS_GUESS) < share_left * loss)
		return true;
	s->n_free--;
	*m = without;
	return false;
}

/*
 * Points and parameters of a fit. Where no block is launch-bound p hides behind the kernels: it is
 * taken to be the call, and nothing is near the corner then. What was taken for it are kernels in a
 * row, which say g.
 */
static void choose_stream(struct fit_parts *p, const bool *in, struct model *m, double share,
			  bool window)
{
	struct fit_part *s = &p->part[PART_STREAM];

	take_stream(p, in, m, share);
	if (!p->bound[0]) {
		m->v[MODEL_P] = m->v[MODEL_C];
		take_stream(p, in, m, -1);
	}
	free_stream(p, m);
	if (window)
		s->free[s->n_free++] = MODEL_W;
}

/*
 * What g was as long as p hid it may be far off: kernels that touch are another start. Where p is
 * fitted too, it would hide them.
 */
static void fit_chosen(struct fit_part *s, const struct fit_data *d, struct model *m)
{
	struct model touching = *m;

	touching.v[MODEL_G] = 0;
	if (part_fit(s, d, m, LOSS_GUESS) > part_fit(s, d, &touching, LOSS_GUESS) &&
	    !part_is_free(s, MODEL_P))
		*m = touching;
}

/*
 * Which points are in the corner is known once p and g are. From wide to narrow: blocks of the
 * corner that are taken for launch-bound ones make p too large, by which they then are.
 */
static void settle_stream(struct fit_parts *p, const bool *in, const struct fit_data *d,
			  struct model *m, bool window)
{
	static const double shares[] = { 2 * CORNER_SHARE, 1.3 * CORNER_SHARE, CORNER_SHARE };
	struct fit_part *s = &p->part[PART_STREAM];

	for (int pass = 0; pass < 3; pass++) {
		choose_stream(p, in, m, shares[pass], window);
		fit_chosen(s, d, m);
	}
}

void parts_fit_stream(struct fit_parts *p, const bool *in, const struct fit_data *d,
		      struct model *m)
{
	struct fit_part *s = &p->part[PART_STREAM];

	part_take_mode(s, in, MODE_STREAM);
	p->has[MODE_STREAM] = part_is_enough(s);
	if (!p->has[MODE_STREAM]) {
		s->n = 0;
		return;
	}
	fit_from_starts(p, d, m);
	settle_stream(p, in, d, m, false);
	if (try_window(p, d, m))
		settle_stream(p, in, d, m, true);
	if (!p->part[PART_GRAPH].n)
		part_try_e(s, d, m);
}

/* ---- calls -------------------------------------------------------------------------------- */

/* Per launch, of one of the blocks. */
static double call_start(const struct fit_part *p, const struct fit_data *d)
{
	const struct batch *b;

	if (!p->n)
		return 0;
	b = &p->grid->point[p->at[0]].batch;
	return d->enq_ns[p->at[0]] / (b->depth * b->launches);
}

void parts_fit_calls(struct fit_parts *p, const bool *in, const struct fit_data *d, struct model *m)
{
	struct fit_part *call = &p->part[PART_CALL], *graph = &p->part[PART_GRAPH_CALL];

	call->enqueue = call->offset = graph->enqueue = true;
	part_take_smallest(call, in, MODE_STREAM, batch_is_half_a_queue);
	part_set_free(call, 1, (enum model_param[]){ MODEL_C });
	m->v[MODEL_C] = call_start(call, d);
	part_fit(call, d, m, LOSS_GUESS);
	part_take_smallest(graph, in, MODE_GRAPH, batch_is_one_graph);
	part_set_free(graph, 2, (enum model_param[]){ MODEL_GRAPH_A, MODEL_GRAPH_B });
	m->v[MODEL_GRAPH_A] = graph->n ? d->enq_ns[graph->at[0]] : 0;
	part_fit(graph, d, m, LOSS_GUESS);
}

/* ---- graph -------------------------------------------------------------------------------- */

static int relaunches(const struct fit_part *p)
{
	int n = 0;

	for (int i = 0; i < p->n; i++)
		n += !batch_is_one_graph(p->grid, &p->grid->point[p->at[i]].batch);
	return n;
}

void parts_fit_graph(struct fit_parts *p, const bool *in, const struct fit_data *d, struct model *m)
{
	struct fit_part *graph = &p->part[PART_GRAPH];

	part_take_mode(graph, in, MODE_GRAPH);
	p->has[MODE_GRAPH] = part_is_enough(graph);
	if (!p->has[MODE_GRAPH]) {
		graph->n = 0;
		return;
	}
	part_set_free(graph, 1, (enum model_param[]){ MODEL_GRAPH_Z });
	m->v[MODEL_GRAPH_Z] = part_least_beside_kernel(graph, d);
	m->v[MODEL_GRAPH_G] = -m->v[MODEL_GRAPH_B]; /* where K is measured, see model.h */
	if (graph->grid->nominal) {
		graph->free[graph->n_free++] = MODEL_GRAPH_G;
		m->v[MODEL_GRAPH_G] = 0.1 * m->v[MODEL_GRAPH_Z];
	}
	if (relaunches(graph) >= POINTS_MIN)
		graph->free[graph->n_free++] = MODEL_GRAPH_GG;
	if (part_says_clock(graph, m))
		graph->free[graph->n_free++] = MODEL_CLOCK;
	if (part_has_empty(graph))
		graph->free[graph->n_free++] = MODEL_E;
	part_fit(graph, d, m, LOSS_GUESS);
}

/* ---- fused -------------------------------------------------------------------------------- */

void parts_fit_fused(struct fit_parts *p, const bool *in, const struct fit_data *d, struct model *m)
{
	struct fit_part *fused = &p->part[PART_FUSED];

	part_take_mode(fused, in, MODE_FUSED);
	p->has[MODE_FUSED] = part_is_enough(fused);
	if (!p->has[MODE_FUSED]) {
		fused->n = 0;
		return;
	}
	part_set_free(fused, 1, (enum model_param[]){ MODEL_FUSED_Z });
	if (part_count_kernels(fused, false) >= POINTS_MIN) {
		fused->free[fused->n_free++] = MODEL_FUSED_PHI;
		fused->free[fused->n_free++] = MODEL_FUSED_B;
	}
	if (part_count_kernels(fused, true) >= POINTS_MIN)
		fused->free[fused->n_free++] = MODEL_FUSED_B0;
	m->v[MODEL_FUSED_Z] = m->v[MODEL_Z];
	part_fit(fused, d, m, LOSS_GUESS);
}

/* ---- all parameters from one set of measurements ---------------------------------------- */

void parts_fit(struct fit_parts *p, const struct grid *g, const bool *in, const struct fit_data *d,
	       struct model *m)
{
	*p = (struct fit_parts){ 0 };
	*m = (struct model){ { 0 } };
	m->v[MODEL_CLOCK] = m->v[MODEL_FUSED_PHI] = 1;
	m->v[MODEL_Q] = g->queue;
	for (int i = 0; i < PARTS; i++)
		part_init(&p->part[i], g);
	parts_fit_calls(p, in, d, m);
	parts_fit_graph(p, in, d, m);
	parts_fit_stream(p, in, d, m);
	parts_fit_fused(p, in, d, m);
}

void parts_refit(struct fit_parts *p, const struct fit_data *d, struct model *m)
{
	for (int i = 0; i < PARTS; i++) {
		part_refit(&p->part[i], d, m);
		if (i == PART_GRAPH_CALL && !p->part[i].grid->nominal)
			m->v[MODEL_GRAPH_G] = -m->v[MODEL_GRAPH_B];
		if (i == PART_STREAM && !part_is_free(&p->part[i], MODEL_P))
			m->v[MODEL_P] = m->v[MODEL_C];
	}
}

struct fit_part *parts_find(struct fit_parts *p, enum model_param which)
{
	for (int i = 0; i < PARTS; i++)
		if (p->part[i].n && part_is_free(&p->part[i], which))
			return &p->part[i];
	return NULL;
}

void parts_copy(struct fit_parts *out, const struct fit_parts *p)
{
	*out = *p;
	for (int i = 0; i < PARTS; i++)
		part_copy(&out->part[i], &p->part[i]);
}

/* Where no pace is said by two blocks, p is that of all of them. */
bool parts_is_single(const struct fit_parts *p, enum model_param which)
{
	return which == MODEL_P	  ? p->bound[0] == 1 && p->bound[1] >= 2
	       : which == MODEL_G ? p->bound[1] == 1
				  : false;
}

void parts_release(struct fit_parts *p)
{
	for (int i = 0; i < PARTS; i++)
		part_release(&p->part[i]);
}
