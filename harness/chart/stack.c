/* stack.c - where the time of a step goes: a bar a block. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/check.h"
#include "harness/base/text.h"
#include "harness/chart/chart.h"
#include "harness/chart/words.h"
#include "workloads/workload.h"
#include "harness/measure/wait.h"

/* What is drawn: the selection of stacks_select() without what is refused, by mode. */
struct bars {
	const struct grid *g;
	const struct stack *stack;
	int *point; /* of each bar, from the top; owned */
	int n;
};

static void bars_init(struct bars *b, const struct grid *g, const struct stack *stack)
{
	bool *in = calloc((size_t)g->n_points + 1, sizeof(*in));

	*b = (struct bars){ .g = g, .stack = stack };
	b->point = calloc((size_t)g->n_points + 1, sizeof(*b->point));
	CHECK(in && b->point, "memory of %d blocks", g->n_points);
	stacks_select(g, in);
	for (int mode = 0; mode < MODE_COUNT; mode++)
		for (int i = 0; i < g->n_points; i++)
			if (in[i] && !*stack[i].refused && (int)g->point[i].batch.mode == mode)
				b->point[b->n++] = i;
	free(in);
}

static double bar_share(const struct bars *b, int bar, int part)
{
	return stack_share(&b->stack[b->point[bar]], (enum stack_part)part);
}

/* ---- data file -------------------------------------------------------------------------- */

/*
 * Parts stand one after the other from 0 on, in their order; those below 0 from 0 to the left. The
 * lengths of all add up to 100 %.
 */
static int write_parts(const struct bars *b, struct plot *p)
{
	struct output out;
	int err = plot_open(p, "parts", "-parts.csv", &out);

	if (err)
		return err;
	fprintf(out.file, "bar,part,from_percent,to_percent,ns,name\n");
	for (int i = 0; i < b->n; i++) {
		double right = 0, left = 0;

		for (int k = 0; k < STACK_PARTS; k++) {
			double share = 100 * bar_share(b, i, k), *end = share < 0 ? &left : &right;

			if (isnan(share))
				continue;
			fprintf(out.file, "%d,%d,%.6g,%.6g,%.6g,%s\n", i, k + 1, *end, *end + share,
				b->stack[b->point[i]].part_ns[k], stack_names[k]);
			*end += share;
		}
	}
	return output_commit(&out);
}

/* ---- texts ------------------------------------------------------------------------------ */

/* The largest share of some part but kernels and other in all bars; NaN: there is none. */
static double largest_share(const struct bars *b, int *bar, int *part)
{
	double most = NAN;

	for (int i = 0; i < b->n; i++)
		for (int k = STACK_KERNEL + 1; k < STACK_OTHER; k++) {
			double share = bar_share(b, i, k);

			if (isnan(share) || share <= most)
				continue;
			most = share;
			*bar = i;
			*part = k;
		}
	return most;
}

/* "kernel 26 to 99 %" and the end, of all bars; "" where none has that part. */
static struct text range(const struct bars *b, int part, const char *end)
{
	double least = INFINITY, most = -INFINITY;
	struct text t = { "" };

	for (int i = 0; i < b->n; i++) {
		double share = bar_share(b, i, part);

		if (isnan(share))
			continue;
		least = fmin(least, share);
		most = fmax(most, share);
	}
	if (least <= most)
		snprintf(t.s, sizeof(t.s), "%s %.16s to %.16s %%%s", stack_names[part],
			 words_percent(least).s, words_percent(most).s, end);
	return t;
}

/* What takes most of a step, but for its kernels. */
static void label_title(const struct bars *b, const struct chart_set *s, int side, struct plot *p)
{
	int bar = 0, part = 0;
	double most = largest_share(b, &bar, &part);
	const struct grid_point *at = &b->g->point[b->point[bar]];

	if (most > 0)
		words_title(p, s, side,
			    "the part \"%s\" takes up to %s %% of a step (%s, %s, depth %.0f)",
			    stack_names[part], words_percent(most).s,
			    words_of_size(b->g, at->size).s, mode_name(at->batch.mode),
			    at->batch.depth);
	else
		words_title(p, s, side, "kernels take all of a step");
}

static void label_plot(const struct bars *b, const struct chart_set *s, int side,
		       const struct stack_request *r, struct plot *p)
{
	struct stack_notes notes;

	label_title(b, s, side, p);
	words_finding(p, "shares of the time of a step: %s%s", range(b, STACK_KERNEL, "; ").s,
		      range(b, STACK_OTHER, "").s);
	stack_notes(&notes, r, b->stack);
	plot_text(p, "made1", "%s", s->side[side].made);
	plot_count(p, "notes", notes.n);
	for (int i = 0; i < notes.n; i++) {
		words_cut(notes.text[i], sizeof(notes.text[i]), NOTE_CHARACTERS);
		plot_text(p, words_name("note", i + 1).s, "%s", notes.text[i]);
	}
}

static void name_bars(const struct bars *b, struct plot *p)
{
	plot_count(p, "bars", b->n);
	for (int i = 0; i < b->n; i++) {
		const struct grid_point *at = &b->g->point[b->point[i]];

		plot_text(p, words_name("bar", i + 1).s, "%s, %s, depth %.0f",
			  mode_name(at->batch.mode), words_of_size(b->g, at->size).s,
			  at->batch.depth);
		plot_text(p, words_name("total", i + 1).s, "%s",
			  words_time(at->total_ns / at->batch.depth).s);
		plot_count(p, words_name("mode", i + 1).s, (long)at->batch.mode);
	}
}

static int draw_bars(const struct bars *b, const struct chart_set *s, int side,
		     const struct stack_request *r, struct plot *p)
{
	p->script = "plots/stack.gp";
	label_plot(b, s, side, r, p);
	name_bars(b, p);
	return write_parts(b, p);
}

/* Nothing to draw, for a reason that no other chart shows. */
static int refuse_all(const struct stack_request *r, const struct stack *stack)
{
	complain(ENODATA, "%s: no time stack: of its first sample, %s", r->work->workload->name,
		 stack->refused);
	return 1;
}

int chart_stack(const struct chart_set *s, int side, struct plot *p)
{
	struct stack_request r = { .work = &s->grid[side],
				   .own = s->fitted[side] ? &s->fit[side] : NULL,
				   .from = s->from,
				   .costs = s->costs };
	struct stack *stack;
	struct bars b;
	int err;

	if (!r.work->n_points || (stack_step_of(r.work, 0) != STACK_CALLS && !stack_fit(&r, 0)))
		return 1; /* all would be other */
	stack = stacks_make(&r);
	bars_init(&b, r.work, stack);
	err = b.n ? draw_bars(&b, s, side, &r, p) : refuse_all(&r, stack);
	free(b.point);
	free(stack);
	return err;
}
