/* copies.c - see copies.h. */
#include "harness/fit/copies.h"

#include <math.h>
#include <string.h>

#include "common/line.h"
#include "harness/fit/grid.h"
#include "harness/stats/stats.h"
#include "workloads/workload.h"

/* ---- of a session ------------------------------------------------------------------------- */

struct copy_paces copy_paces_none(void)
{
	static const struct copy_pace none = { NAN, NAN, NAN, NAN, NAN };

	return (struct copy_paces){ .to_device = { none, none },
				    .to_host = { none, none },
				    .turns = { { .n = 0 } } };
}

/* ns a copy between the two deepest stream blocks of a size. */
struct slopes {
	double call_ns, total_ns;
};

static struct slopes slopes_of(const struct grid *g, int size)
{
	const struct grid_point *large, *small;
	double copies;

	grid_two_deepest(g, size, MODE_STREAM, &large, &small);
	if (!small)
		return (struct slopes){ NAN, NAN };
	copies = large->batch.depth - small->batch.depth;
	return (struct slopes){ (large->enq_ns - small->enq_ns) / copies,
				(large->total_ns - small->total_ns) / copies };
}

static struct copy_pace pace_of(const struct grid *g)
{
	int last = g->n_sizes - 1;
	struct slopes small = slopes_of(g, 0), large = slopes_of(g, last);
	double more = g->size[last].value - g->size[0].value;

	return (struct copy_pace){
		.call_ns = small.call_ns,
		.submit_ns = small.total_ns,
		.bytes = g->size[last].value,
		.large_ns = large.total_ns,
		.host_ns_per_byte = more > 0 ? fmax(large.call_ns - small.call_ns, 0) / more : 0,
	};
}

static bool has_value(const struct config *c, const char *name, const char *wanted)
{
	char value[64];

	for (const struct param *row = c->params.rows; row->name; row++)
		if (!strcmp(row->name, name)) {
			param_format(row, c->params.opts, value, sizeof(value));
			return !strcmp(value, wanted);
		}
	return false;
}

/* NAN: it has no such parameter. */
static double value_of(const struct config *c, const char *name)
{
	int i = params_find(c->params.rows, name, strlen(name));
	json_t *value = i < 0 ? NULL : param_json(&c->params.rows[i], c->params.opts);
	double x = json_is_number(value) ? json_number_value(value) : NAN;

	json_decref(value);
	return x;
}

/* Whose paces a configuration of transfer says; NULL: nobody's. */
static struct copy_pace *slot_of(struct copy_paces *out, const struct config *c)
{
	bool pageable = has_value(c, "host", "pageable");

	if (!has_value(c, "call", "async") || !has_value(c, "split", "0") ||
	    (!pageable && !has_value(c, "host", "pinned")))
		return NULL;
	if (has_value(c, "dir", "h2d"))
		return &out->to_device[pageable];
	return has_value(c, "dir", "d2h") ? &out->to_host[pageable] : NULL;
}

static int take_copies(struct copy_paces *out, const struct journal *j, int side,
		       const struct config *c)
{
	struct copy_pace *slot = slot_of(out, c);
	struct grid g;
	int err;

	if (!slot || isfinite(slot->call_ns))
		return 0;
	err = grid_make_like(&g, j, side, c);
	if (!err && g.n_points)
		*slot = pace_of(&g);
	grid_release(&g);
	return err;
}

/* Whose turns a configuration of graph says; NULL: nobody's. */
static struct copy_turns *turns_of(struct copy_paces *out, const struct config *c)
{
	if (!has_value(c, "node", "streamed") || !has_value(c, "topology", "line") ||
	    value_of(c, "us") != COPY_TURN_US)
		return NULL;
	if (has_value(c, "op", "eager"))
		return &out->turns[MODE_STREAM];
	return has_value(c, "op", "launch") ? &out->turns[MODE_GRAPH] : NULL;
}

enum { COPY_DEPTHS_MAX = 64 };

static bool is_turns(const struct grid *g, int size, double nodes)
{
	return fmod(g->size[size].value, nodes) == 0;
}

/* At one depth, one more turn of so many nodes: by lines of whole turns. NAN: not measured. */
static double turn_at(const struct grid *g, double nodes, int64_t depth)
{
	const struct grid_point *few, *many;
	int first = 0, last = g->n_sizes - 1;

	while (first < last && !is_turns(g, first, nodes))
		first++;
	while (last > first && !is_turns(g, last, nodes))
		last--;
	few = grid_find(g, MODE_STREAM, first, depth);
	many = grid_find(g, MODE_STREAM, last, depth);
	if (first == last || !few || !many)
		return NAN;
	return nodes * (many->total_ns - few->total_ns) / (double)depth /
	       (g->size[last].value - g->size[first].value);
}

/*
 * ns a turn of so many nodes: the median over depths. Turns of one process may take 10 % more or
 * less than those of the next.
 */
static double turn_ns(const struct grid *g, double nodes)
{
	double ns[COPY_DEPTHS_MAX];
	int n = 0;

	for (int i = 0; i < g->n_depths && n < COPY_DEPTHS_MAX; i++) {
		ns[n] = turn_at(g, nodes, g->depth[i]);
		n += isfinite(ns[n]);
	}
	return median_of(ns, n);
}

/*
 * A block of one turn, beyond one more of them. Longer lines do not say it: their blocks differ by
 * more from one to the next.
 */
static double first_ns(const struct grid *g, double nodes, double turn_ns)
{
	const struct grid_point *one = NULL;

	for (int i = 0; i < g->n_sizes; i++)
		if (g->size[i].value == nodes)
			one = grid_find(g, MODE_STREAM, i, 1);
	return one ? one->total_ns - turn_ns : NAN;
}

/* NULL: not known. */
static const struct copy_turn *turn_of(const struct copy_turns *t, double copies, double bytes)
{
	for (int i = 0; i < t->n; i++)
		if (t->of[i].copies == copies && t->of[i].bytes == bytes)
			return &t->of[i];
	return NULL;
}

static int take_turns(struct copy_paces *out, const struct journal *j, int side,
		      const struct config *c)
{
	struct copy_turns *t = turns_of(out, c);
	struct copy_turn turn = { .copies = value_of(c, "copies"),
				  .bytes = value_of(c, "bytes"),
				  .ns = NAN };
	struct grid g;
	int err;

	if (!t || t->n == COPY_TURNS_MAX || turn_of(t, turn.copies, turn.bytes))
		return 0;
	err = grid_make_like(&g, j, side, c);
	if (!err && g.n_points) {
		turn.ns = turn_ns(&g, turn.copies + 2);
		turn.first_ns = first_ns(&g, turn.copies + 2, turn.ns);
	}
	if (isfinite(turn.ns))
		t->of[t->n++] = turn;
	grid_release(&g);
	return err;
}

int copy_paces_of(struct copy_paces *out, const struct journal *j, int side)
{
	int err = 0;

	*out = copy_paces_none();
	for (int i = 0; i < j->plan.n_configs && !err; i++) {
		const struct config *c = &j->plan.config[i];

		if (!strcmp(c->workload->name, "transfer"))
			err = take_copies(out, j, side, c);
		else if (!strcmp(c->workload->name, "graph"))
			err = take_turns(out, j, side, c);
	}
	return err;
}

/* ---- of a step ---------------------------------------------------------------------------- */

/* Where no layer touches copies, small ones repeat within 6 % (data/sessions/atlas-*, medians). */
#define SMALL_IS_LONGER 1.1

/*
 * What a copy of so many bytes takes of the device beyond another platform's. A fixed part of that
 * shows in small copies too, and is no more than what one takes here: what is left is the rate. A
 * large copy alone may be longer by its rate or by chance.
 */
static double device_beyond_ns(const struct copy_pace *own, const struct copy_pace *other,
			       double bytes)
{
	double beyond = own->large_ns - other->large_ns;
	bool small_is_longer = own->submit_ns > SMALL_IS_LONGER * other->submit_ns;
	double fixed = small_is_longer ? fmin(fmax(beyond, 0), own->submit_ns) : 0;

	if (own->bytes != other->bytes)
		return NAN;
	return fixed + (beyond - fixed) * bytes / own->bytes;
}

static void add_copies(struct step_copies *out, const struct copy_pace *own,
		       const struct copy_pace *other, const struct copies *c)
{
	double bytes = c->calls > 0 ? c->bytes / c->calls : 0, device_ns;

	if (!(c->calls > 0) || !isfinite(own->call_ns) || !isfinite(other->call_ns))
		return;
	device_ns = device_beyond_ns(own, other, bytes);
	out->copies += c->calls;
	out->submit_ns +=
		c->calls * fmax(own->submit_ns, own->call_ns) + c->bytes * own->host_ns_per_byte;
	out->device_ns += isfinite(device_ns) ? c->calls * device_ns : 0;
}

/* What a turn of one copy each way takes beyond another platform's: fixed + slope * bytes. */
struct beyond {
	double fixed_ns, ns_per_byte;
};

/* By the sizes that both have; errors of turns are relative. A single one is fixed. NAN: none. */
static struct beyond beyond_of(const struct copy_turns *own, const struct copy_turns *other)
{
	double bytes[COPY_TURNS_MAX], ns[COPY_TURNS_MAX], error_ns[COPY_TURNS_MAX];
	struct line l;
	int n = 0;

	for (int i = 0; i < own->n; i++) {
		const struct copy_turn *a = &own->of[i], *b = turn_of(other, 1, a->bytes);

		if (a->copies != 1 || !b)
			continue;
		bytes[n] = a->bytes;
		ns[n] = a->ns - b->ns;
		error_ns[n++] = hypot(a->ns, b->ns);
	}
	if (n < 2)
		return (struct beyond){ n ? ns[0] : NAN, 0 };
	l = line_fit_weighted(bytes, ns, error_ns, n);
	return (struct beyond){ l.fixed, l.slope };
}

/*
 * How much longer one more copy of a turn takes, by the smallest copies and the most of them that
 * both have. 0: not known.
 */
static double one_more_beyond_ns(const struct copy_turns *own, const struct copy_turns *other)
{
	double bytes = INFINITY, copies = 1, ns = 0;

	for (int i = 0; i < own->n; i++) {
		const struct copy_turn *a = &own->of[i], *b = turn_of(other, a->copies, a->bytes);
		const struct copy_turn *a_one = turn_of(own, 1, a->bytes);
		const struct copy_turn *b_one = turn_of(other, 1, a->bytes);

		if (a->copies == 1 || !b || !a_one || !b_one || a->bytes > bytes ||
		    (a->bytes == bytes && a->copies < copies))
			continue;
		bytes = a->bytes;
		copies = a->copies;
		ns = ((a->ns - b->ns) - (a_one->ns - b_one->ns)) / (copies - 1);
	}
	return ns;
}

/* The median over sizes. NAN: not known. */
static double first_beyond_ns(const struct copy_turns *own, const struct copy_turns *other)
{
	double ns[COPY_TURNS_MAX];
	int n = 0;

	for (int i = 0; i < own->n; i++) {
		const struct copy_turn *a = &own->of[i], *b = turn_of(other, 1, a->bytes);

		ns[n] = a->copies == 1 && b ? a->first_ns - b->first_ns : NAN;
		n += isfinite(ns[n]);
	}
	return median_of(ns, n);
}

/*
 * Is a step a row of turns? Not where many copies come back for each launch, as in a step that is
 * the launch of a graph: what follows what is not known of it. Two do in blackscholes.
 */
static bool takes_turns(const struct cost *step)
{
	double to_host = step->to_host.calls;

	return !step->pageable && step->to_device.calls > 0 && to_host > 0 &&
	       to_host <= COPIES_BACK_MAX * fmax(1, step->launches);
}

/*
 * Such a step has as many turns as copies of each direction and launches, at least one. All other
 * copies are taken to be more of the same turns, and those back to cost what those to the device
 * do.
 */
static void by_turns(struct step_copies *out, const struct copy_turns *own,
		     const struct copy_turns *other, const struct cost *step)
{
	double to_device = step->to_device.calls, to_host = step->to_host.calls;
	double bytes = (step->to_device.bytes + step->to_host.bytes) / 2;
	double turns = fmax(1, fmin(fmin(to_device, to_host), step->launches));
	struct beyond turn = beyond_of(own, other);

	out->in_turn = isfinite(turn.fixed_ns);
	if (!out->in_turn)
		return;
	out->device_ns = turns * turn.fixed_ns + bytes * turn.ns_per_byte +
			 fmax(0, to_device + to_host - 2 * turns) * one_more_beyond_ns(own, other);
	out->first_ns = first_beyond_ns(own, other);
}

struct step_copies copies_of_step(const struct copy_paces *own, const struct copy_paces *other,
				  const struct cost *step, enum mode mode)
{
	struct step_copies out = { .first_ns = NAN };

	add_copies(&out, &own->to_device[step->pageable], &other->to_device[step->pageable],
		   &step->to_device);
	add_copies(&out, &own->to_host[step->pageable], &other->to_host[step->pageable],
		   &step->to_host);
	if (takes_turns(step))
		by_turns(&out, &own->turns[mode], &other->turns[mode], step);
	return out;
}

static bool is_unknown(const struct copy_pace *own, const struct copy_pace *other,
		       const struct copies *c)
{
	return c->calls > 0 && !(isfinite(own->call_ns) && isfinite(other->call_ns));
}

enum step_copying copying_of_step(const struct copy_paces *own, const struct copy_paces *other,
				  const struct cost *step)
{
	bool kind = step->pageable;

	if (!(step->to_device.calls + step->to_host.calls > 0))
		return STEP_COPIES_NOTHING;
	if (!own || !other ||
	    is_unknown(&own->to_device[kind], &other->to_device[kind], &step->to_device) ||
	    is_unknown(&own->to_host[kind], &other->to_host[kind], &step->to_host))
		return STEP_COPIES_UNKNOWN;
	return STEP_COPIES_KNOWN;
}
