/* stack_notes.c - what a reader of time stacks has to know. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "harness/base/text.h"
#include "harness/model/stack.h"

static void note(struct stack_notes *out, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static void note(struct stack_notes *out, const char *fmt, ...)
{
	va_list args;

	if (out->n == STACK_NOTES)
		return;
	va_start(args, fmt);
	vsnprintf(out->text[out->n], sizeof(out->text[0]), fmt, args);
	va_end(args);
	out->n++;
}

/* Steps of the session are all of one kind: those of one configuration but for its size. */
static void note_steps(struct stack_notes *out, const struct stack_request *r, enum stack_step step)
{
	const struct fit *f = stack_fit_of(r, 0);

	if (step == STACK_CALLS)
		note(out, "steps are calls and launch nothing that is waited for: sync is what is "
			  "left when the last call returns");
	else if (!f)
		note(out, "no model: the session has too few sizes or depths for a fit, and there "
			  "is no --from; all is other");
	else if (f == r->from)
		note(out, "gap, submission, sync: of launches on this platform (--from)");
	else
		note(out, "of a fit to these blocks, so other is what that fit leaves");
}

/* Sizes of which one depth says K: the whole block. */
static int whole_blocks(const struct grid *g)
{
	int n = 0;

	for (int i = 0; i < g->n_sizes; i++)
		n += !g->nominal && g->size[i].shallow < 0;
	return n;
}

static void note_kernel(struct stack_notes *out, const struct stack_request *r,
			enum stack_step step)
{
	const struct grid *g = r->work;
	const struct fit *f = stack_fit_of(r, 0);

	if (!f || step == STACK_CALLS)
		return;
	if (step == STACK_COPIES)
		note(out, "transfer: the slope of a block's time over copies; calls and waiting "
			  "for them where these set the pace");
	else if (f == r->from)
		note(out,
		     "kernel: the slope over launches in the deepest blocks (graphs where there "
		     "are any), less the gap of launches");
	else if (g->nominal)
		note(out, "kernel: %.3f x the nominal length, as fitted", f->model.v[MODEL_CLOCK]);
	else
		note(out,
		     "kernel: the slope over launches in the deepest blocks (graphs where there "
		     "are any), their gaps in it (--from takes them out); all of a block where a "
		     "size was "
		     "swept at one depth: %d of %d",
		     whole_blocks(g), g->n_sizes);
}

static void note_gap(struct stack_notes *out, const struct stack_request *r, enum stack_step step)
{
	const struct fit *f = stack_fit_of(r, 0);

	if (f && step != STACK_CALLS && f->has[MODE_STREAM] && !f->param[MODEL_G].identified)
		note(out, "gap in stream mode: part of submission, as it is not identified: %s",
		     f->param[MODEL_G].why);
}

/* Bytes that steps of some size copy between host and device. */
static double most_bytes(const struct grid *g)
{
	double most = 0;

	for (int i = 0; i < g->n_points; i++) {
		const struct cost *c = &g->j->step[g->point[i].point];

		most = fmax(most, c->to_device.bytes + c->to_host.bytes);
	}
	return most;
}

static void note_transfer(struct stack_notes *out, const struct stack_request *r,
			  enum stack_step step)
{
	const struct grid *g = r->work;
	double bytes = most_bytes(g);

	if (step != STACK_LAUNCHES)
		return;
	if (isnan(g->j->step[g->point[0].point].launches))
		note(out, "transfer: the record is older than counts of copies; if there are any, "
			  "they are part of kernel");
	else if (bytes > 0 && !r->card)
		note(out, "transfer: up to %s a step, part of kernel (--card takes them out)",
		     text_bytes(bytes).s);
	else if (bytes > 0)
		note(out,
		     "transfer: up to %s a step by the card's costs of a call and a byte, "
		     "taken out of kernel",
		     text_bytes(bytes).s);
}

static void note_negative(struct stack_notes *out, const struct stack_request *r,
			  const struct stack *all, enum stack_part part)
{
	double most = 0;
	int n = 0;

	for (int i = 0; i < r->work->n_points; i++) {
		double share = stack_share(&all[i], part);

		n += share < -0.0005; /* what is not printed as 0.0 % */
		most = fmin(most, share);
	}
	if (n && part == STACK_OTHER)
		note(out,
		     "other is below 0 in %d of %d blocks: the parts come to more than they "
		     "took, by up to %.1f %%",
		     n, r->work->n_points, -100 * most);
	else if (n)
		note(out,
		     "%s is below 0 in %d of %d blocks, down to -%.1f %%: what was taken out "
		     "of it costs less here",
		     stack_names[part], n, r->work->n_points, -100 * most);
}

void stack_notes(struct stack_notes *out, const struct stack_request *r, const struct stack *all)
{
	enum stack_step step = stack_step_of(r->work, 0);

	out->n = 0;
	note_steps(out, r, step);
	note_kernel(out, r, step);
	note_gap(out, r, step);
	note_transfer(out, r, step);
	for (int k = 0; k < STACK_PARTS; k++)
		note_negative(out, r, all, (enum stack_part)k);
}
