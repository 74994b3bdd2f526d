/* program_change.c - fewer and larger launches; the host's work beside the device's. */
#include "harness/profile/program_change.h"

#include <math.h>
#include <stdlib.h>

#include "common/check.h"

static void *zeroed(int64_t n, size_t size)
{
	void *p = calloc((size_t)n + 1, size);

	CHECK(p, "memory of %ld calls", (long)n);
	return p;
}

/* ---- a kernel's time over its thread blocks -------------------------------------------------- */

/* From so many times as many blocks on, two sizes are a slope. */
static const double sizes_apart = 1.5;

/* Of one kernel: sums over its launches, x blocks and y ns; and those that are to be merged. */
struct kernel {
	double n, x, y, xx, xy, least, most;
	int64_t last, count; /* launches so far of the next one; the last of them */
	int32_t thread, stream;
};

static double blocks_of(const struct trace_op *op)
{
	return (double)op->grid[0] * op->grid[1] * op->grid[2];
}

static double took(const struct trace_op *op)
{
	return (double)(op->t1 - op->t0);
}

/* NULL: no launch of one kernel that has a name. */
static const struct trace_op *launched(const struct trace *t, const struct step *step, int64_t i)
{
	const struct trace_call *c = &t->call[i];
	const struct trace_op *op = &t->op[c->first_op];

	return step[i].role == STEP_LAUNCH && c->ops == 1 && op->kind == OP_KERNEL && op->name >= 0
		       ? op
		       : NULL;
}

static void add_launch(struct kernel *k, const struct trace_op *op)
{
	double x = blocks_of(op), y = took(op);

	k->least = k->n > 0 ? fmin(k->least, x) : x;
	k->most = fmax(k->most, x);
	k->n++;
	k->x += x;
	k->y += y;
	k->xx += x * x;
	k->xy += x * y;
}

/* ns for each block more; NAN: the trace has one size. */
static double slope_of(const struct kernel *k)
{
	double spread = k->xx - k->x * k->x / k->n;

	if (!(k->least > 0) || k->most < sizes_apart * k->least || !(spread > 0))
		return NAN;
	return (k->xy - k->x * k->y / k->n) / spread;
}

/* ---- launches merged ------------------------------------------------------------------------ */

struct merging {
	const struct trace *t;
	struct step *step;
	struct call_extra *extra;
	struct kernel *kernel;
	int64_t *before; /* of a launch that is to be merged, the one before */
	int64_t n, merged, sloped;
};

static void drop(struct merging *m, int64_t i)
{
	struct step *step = &m->step[i];

	step->role = STEP_FIXED;
	step->own_ns = 0;
	if (step->gap_ns < CHANGE_GAP_NS)
		step->gap_ns = 0;
	m->extra[i] = (struct call_extra){ 0 };
}

/* n launches of which call i is the last. */
static void merge(struct merging *m, const struct kernel *k, int64_t i)
{
	const struct trace_op *op = &m->t->op[m->t->call[i].first_op];
	double sum = took(op), blocks = 0, longer, slope = slope_of(k);

	for (int64_t left = m->n - 1, at = m->before[i]; left; left--, at = m->before[at]) {
		const struct trace_op *other = &m->t->op[m->t->call[at].first_op];

		sum += took(other);
		blocks += blocks_of(other);
		drop(m, at);
	}
	longer = sum - took(op);
	if (!isnan(slope)) {
		longer = fmin(fmax(slope * blocks, 0), longer);
		m->sloped += m->n;
	}
	m->extra[i].length_ns += longer;
	m->merged += m->n;
}

static void take_launch(struct merging *m, const struct trace_op *op, int64_t i)
{
	struct kernel *k = &m->kernel[op->name];
	int32_t thread = m->t->call[i].thread;

	if (k->count && (k->thread != thread || k->stream != op->stream))
		k->count = 0;
	k->thread = thread;
	k->stream = op->stream;
	m->before[i] = k->last;
	k->last = i;
	if (++k->count < m->n)
		return;
	merge(m, k, i);
	k->count = 0;
}

int64_t change_merge(const struct trace *t, struct step *step, struct call_extra *extra, int64_t n,
		     int64_t *sloped)
{
	struct merging m = { .t = t, .step = step, .extra = extra, .n = n };
	const struct trace_op *op;

	m.kernel = zeroed(t->strings, sizeof(*m.kernel));
	m.before = zeroed(t->calls, sizeof(*m.before));
	for (int64_t i = 0; i < t->calls; i++) {
		op = launched(t, step, i);
		if (op)
			add_launch(&m.kernel[op->name], op);
	}
	for (int64_t i = 0; i < t->calls; i++) {
		op = launched(t, step, i);
		if (op)
			take_launch(&m, op, i);
	}
	free(m.kernel);
	free(m.before);
	*sloped = m.sloped;
	return m.merged;
}

/* ---- the host's work beside the device's ------------------------------------------------------
 */

static bool gives_work(enum step_role role)
{
	return role == STEP_LAUNCH || role == STEP_GRAPH || role == STEP_SUBMIT ||
	       role == STEP_COPY || role == STEP_COPY_WAIT;
}

int64_t change_overlap(const struct trace *t, struct step *step)
{
	int64_t *sync = zeroed(t->threads, sizeof(*sync)), calls = 0;

	for (int32_t i = 0; i < t->threads; i++)
		sync[i] = TRACE_NONE;
	for (int64_t i = 0; i < t->calls; i++) {
		int64_t *at = &sync[t->call[i].thread];

		if (*at != TRACE_NONE && step[i].after == TRACE_NONE && step[i].gap_ns > 0) {
			step[*at].gap_ns += step[i].gap_ns;
			step[i].gap_ns = 0;
			calls++;
		}
		if (step[i].role == STEP_SYNC)
			*at = i;
		else if (gives_work(step[i].role))
			*at = TRACE_NONE;
	}
	free(sync);
	return calls;
}
