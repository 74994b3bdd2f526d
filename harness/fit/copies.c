/* copies.c - see copies.h. */
#include "harness/fit/copies.h"

#include <math.h>
#include <string.h>

#include "harness/fit/grid.h"
#include "harness/stats/stats.h"

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

/* At one depth, a node more of a line; NAN: not measured. */
static double node_at(const struct grid *g, int64_t depth)
{
	int last = g->n_sizes - 1;
	const struct grid_point *few = grid_find(g, MODE_STREAM, 0, depth);
	const struct grid_point *many = grid_find(g, MODE_STREAM, last, depth);

	if (!last || !few || !many)
		return NAN;
	return (many->total_ns - few->total_ns) / (double)depth /
	       (g->size[last].value - g->size[0].value);
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
		ns[n] = nodes * node_at(g, g->depth[i]);
		n += isfinite(ns[n]);
	}
	return median_of(ns, n);
}

/* ns; NAN: not known. */
static double turn_of(const struct copy_turns *t, double copies, double bytes)
{
	for (int i = 0; i < t->n; i++)
		if (t->of[i].copies == copies && t->of[i].bytes == bytes)
			return t->of[i].ns;
	return NAN;
}

static int take_turns(struct copy_paces *out, const struct journal *j, int side,
		      const struct config *c)
{
	struct copy_turns *t = turns_of(out, c);
	struct copy_turn turn = { .copies = value_of(c, "copies"), .bytes = value_of(c, "bytes") };
	struct grid g;
	int err;

	if (!t || t->n == COPY_TURNS_MAX || isfinite(turn_of(t, turn.copies, turn.bytes)))
		return 0;
	err = grid_make_like(&g, j, side, c);
	turn.ns = !err && g.n_points ? turn_ns(&g, turn.copies + 2) : NAN;
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

/* How much longer a turn takes than on another platform; NAN: not known on both. */
static double turn_beyond_ns(const struct copy_turns *own, const struct copy_turns *other,
			     double copies, double bytes)
{
	return turn_of(own, copies, bytes) - turn_of(other, copies, bytes);
}

/* A turn of one copy each way: a time of its own, and one for each byte. NAN: not known. */
struct turn_beyond {
	double fixed_ns, ns_per_byte;
};

/* The median over sizes that both have is fixed; what the largest take beyond it is the rate. */
static struct turn_beyond beyond_of(const struct copy_turns *own, const struct copy_turns *other)
{
	double ns[COPY_TURNS_MAX], largest = 0, of_largest = NAN, fixed;
	int n = 0;

	for (int i = 0; i < own->n; i++) {
		double bytes = own->of[i].bytes;

		ns[n] = own->of[i].copies == 1 ? turn_beyond_ns(own, other, 1, bytes) : NAN;
		if (!isfinite(ns[n]))
			continue;
		if (bytes > largest) {
			largest = bytes;
			of_largest = ns[n];
		}
		n++;
	}
	fixed = median_of(ns, n); /* NAN where there is none */
	return (struct turn_beyond){ fixed, (of_largest - fixed) / largest };
}

/*
 * How much longer one more copy of a turn takes, by the smallest copies and the most of them that
 * both have. 0: not known.
 */
static double one_more_beyond_ns(const struct copy_turns *own, const struct copy_turns *other)
{
	struct copy_turn best = { .copies = 0, .bytes = INFINITY, .ns = 0 };

	for (int i = 0; i < own->n; i++) {
		struct copy_turn at = own->of[i];
		bool is_better = at.bytes < best.bytes ||
				 (at.bytes == best.bytes && at.copies > best.copies);

		at.ns = turn_beyond_ns(own, other, at.copies, at.bytes) -
			turn_beyond_ns(own, other, 1, at.bytes);
		if (at.copies > 1 && isfinite(at.ns) && is_better)
			best = at;
	}
	return best.copies > 1 ? best.ns / (best.copies - 1) : 0;
}

/*
 * How much longer a step takes that copies in both directions. It has as many turns as copies of
 * each direction and launches, at least one; all other copies are more of the same turns. NAN: not
 * known, or the step does not copy so.
 */
static double turns_beyond_ns(const struct copy_turns *own, const struct copy_turns *other,
			      const struct cost *step)
{
	double to_device = step->to_device.calls, to_host = step->to_host.calls;
	double bytes = (step->to_device.bytes + step->to_host.bytes) / 2;
	double turns = fmax(1, fmin(fmin(to_device, to_host), step->launches));
	struct turn_beyond turn = beyond_of(own, other);

	if (step->pageable || !(to_device > 0) || !(to_host > 0))
		return NAN;
	return turns * turn.fixed_ns + bytes * turn.ns_per_byte +
	       fmax(0, to_device + to_host - 2 * turns) * one_more_beyond_ns(own, other);
}

struct step_copies copies_of_step(const struct copy_paces *own, const struct copy_paces *other,
				  const struct cost *step, enum mode mode)
{
	double turns_ns = turns_beyond_ns(&own->turns[mode], &other->turns[mode], step);
	struct step_copies out = { .in_turn = isfinite(turns_ns) };

	add_copies(&out, &own->to_device[step->pageable], &other->to_device[step->pageable],
		   &step->to_device);
	add_copies(&out, &own->to_host[step->pageable], &other->to_host[step->pageable],
		   &step->to_host);
	if (out.in_turn)
		out.device_ns = turns_ns;
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
