/* fit_identify.c - which parameters the data hold, and why not the others. */
#include "harness/model/fit_identify.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "harness/base/text.h"

static void not_known(struct fit *f, enum model_param which, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static void not_known(struct fit *f, enum model_param which, const char *fmt, ...)
{
	struct fit_param *p = &f->param[which];
	va_list args;

	p->identified = false;
	va_start(args, fmt);
	vsnprintf(p->why, sizeof(p->why), fmt, args);
	va_end(args);
}

/* ---- what no part fits -------------------------------------------------------------------- */

/* The smallest of kK + g that was measured: p is no more than that where no kernel waits for it. */
static double least_device_ns(const struct fit *f)
{
	double least = INFINITY;

	for (int i = 0; i < f->grid->n_points; i++) {
		const struct batch *b = &f->grid->point[i].batch;

		if (b->mode == MODE_STREAM)
			least = fmin(least, f->model.v[MODEL_CLOCK] * b->kernel_ns +
						    (b->kernel_ns > 0 ? f->model.v[MODEL_E] : 0));
	}
	return least + f->model.v[MODEL_G];
}

static void missing_stream(struct fit *f, enum model_param which)
{
	if (!f->has[MODE_STREAM])
		not_known(f, which, "stream mode was not swept, or at one depth only");
	else if (which == MODEL_P)
		not_known(f, which,
			  "hidden: every kernel outlasts it, so it is at most %s; sweep smaller "
			  "kernels",
			  text_time(least_device_ns(f)).s);
	else if (which == MODEL_G)
		not_known(f, which, "no kernel outlasts p, which hides it; sweep larger kernels");
	else if (which == MODEL_W)
		not_known(f, which, "no block is slowed by a full queue");
	else
		not_known(f, which, "no launches of one size at 3 depths within half a queue");
}

static void missing_clock(struct fit *f)
{
	if (!f->grid->nominal)
		not_known(f, MODEL_CLOCK, "1: K is measured");
	else
		not_known(f, MODEL_CLOCK,
			  "taken to be 1: it takes 3 sizes that the device sets "
			  "the pace of, the largest 4 times the smallest");
}

static void missing_e(struct fit *f)
{
	if (!f->grid->nominal)
		not_known(f, MODEL_E, "0: K is measured");
	else
		not_known(f, MODEL_E,
			  "taken to be 0: empty kernels are in line with the others, or "
			  "none were swept");
}

static void missing_graph(struct fit *f, enum model_param which)
{
	if (!f->has[MODE_GRAPH])
		not_known(f, which, "graph mode was not swept, or at one depth only");
	else if (which == MODEL_GRAPH_G)
		not_known(f, which, "part of K, which is measured in graphs");
	else if (which == MODEL_GRAPH_GG)
		not_known(f, which, "fewer than 3 blocks hold several graphs; sweep deeper");
	else
		not_known(f, which, "no graphs of one size at 3 depths of one launch");
}

static void missing(struct fit *f, enum model_param which)
{
	switch (which) {
	case MODEL_CLOCK:
		missing_clock(f);
		return;
	case MODEL_E:
		missing_e(f);
		return;
	case MODEL_Q:
		not_known(f, which, "no launch waited: more than 4096 fit, or the probe failed");
		return;
	case MODEL_FUSED_Z:
	case MODEL_FUSED_PHI:
	case MODEL_FUSED_B:
	case MODEL_FUSED_B0:
		not_known(f, which, "%s",
			  !f->has[MODE_FUSED] ? "fused mode was not swept, or at one depth only"
			  : which == MODEL_FUSED_B0 ? "no empty kernels were swept"
						    : "only empty kernels were swept");
		return;
	default:
		if (model_param_rows[which].mode == MODE_GRAPH)
			missing_graph(f, which);
		else
			missing_stream(f, which);
	}
}

/* ---- what a part fits --------------------------------------------------------------------- */

/* A gap near 0 is known when it is known beside what one launch costs. */
static double least_step(const struct fit *f, enum model_param which)
{
	double z = f->model.v[model_param_rows[which].mode == MODE_GRAPH   ? MODEL_GRAPH_Z
			      : model_param_rows[which].mode == MODE_FUSED ? MODEL_FUSED_Z
									   : MODEL_Z];

	return which == MODEL_CLOCK || which == MODEL_FUSED_PHI ? 0 : 0.1 * z;
}

static void judge(struct fit *f, struct fit_part *part, const struct fit_data *d,
		  enum model_param which)
{
	double step = least_step(f, which);

	f->param[which].identified = true;
	if (part_holds(part, d, &f->model, which, step))
		return;
	not_known(f, which, "the blocks leave it open by half of its value and more: about %s",
		  model_param_rows[which].unit[0] == 'n' ? text_time(f->model.v[which]).s
							 : text_real(f->model.v[which]).s);
}

void fit_identify(struct fit *f, struct fit_parts *parts, const struct fit_data *d)
{
	for (int i = 0; i < MODEL_PARAMS; i++) {
		enum model_param which = (enum model_param)i;
		struct fit_part *part = parts_find(parts, which);

		if (which == MODEL_Q && isfinite(f->model.v[MODEL_Q]))
			f->param[i].identified = true;
		else if (part)
			judge(f, part, d, which);
		else
			missing(f, which);
	}
}
