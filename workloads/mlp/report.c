/* report.c - what `rift run` prints about the network, its data and its training; and the counts.
 */
#include <inttypes.h>
#include <stdio.h>

#include "common/cuda_check.h"
#include "workloads/mlp/mlp.h"
#include "workloads/workload.h"

static struct report_row *add_row(struct report *r, const char *name, const char *unit,
				  double value)
{
	struct report_row *row = &r->row[r->n];

	CHECK(r->n < REPORT_ROWS_MAX, "%s", name);
	r->n++;
	*row = (struct report_row){ .name = name, .unit = unit, .value = value };
	return row;
}

static void report_network(const struct mlp_opts *o, const struct mlp_state *s, struct report *out)
{
	struct report_row *row = add_row(out, "network", "", 0);
	char text[120];

	mlp_net_text(&s->net, text, sizeof(text));
	if (o->work == MLP_INFERENCE)
		snprintf(row->text, sizeof(row->text), "%s, %ld weights", text,
			 (long)s->net.parameters);
	else
		snprintf(row->text, sizeof(row->text), "%s, %ld parameters, rate %g", text,
			 (long)s->net.parameters, mlp_rate(o));
}

static void report_data(const struct mlp_state *s, struct report *out)
{
	struct report_row *row = add_row(out, "data", "", 0);

	snprintf(row->text, sizeof(row->text), "%.100s: %ld images to train with, %ld to test",
		 s->data->source, (long)s->data->train.n, (long)s->data->test.n);
}

/* Which products do the work of a kernel on the side, and which could not be made to. */
static void report_epilogues(const struct mlp_opts *o, const struct mlp_state *s,
			     struct report *out)
{
	const struct mlp_products *p = &s->products;
	unsigned there = 0, back = 0, hidden = (unsigned)s->net.hidden;
	struct report_row *row = add_row(out, "epilogues", "", 0);

	for (int l = 1; l <= s->net.hidden; l++) {
		there += p->forward[l].fused;
		back += p->back[l].fused;
	}
	snprintf(row->text, sizeof(row->text),
		 "bias and ReLU: %u of %u, dReLU and bias gradient: %u of %u%s", there, hidden,
		 back, hidden - 1,
		 !o->epilogues			      ? " (epilogues=no)"
		 : there + back < hidden + hidden - 1 ? "; kernels of our own for the others"
						      : "");
}

static void report_products(const struct mlp_opts *o, const struct mlp_state *s, struct report *out)
{
	struct report_row *row = add_row(out, "products", "", 0);

	snprintf(row->text, sizeof(row->text), "%s%s", s->products.blas->name,
		 o->launches == MLP_ONE ? ", for tests only; a step's are its kernel's own" : "");
	if (o->launches == MLP_FEW)
		report_epilogues(o, s, out);
}

/* In graphs the gradients of weights may stand beside the rest. */
static void report_launches(const struct mlp_opts *o, const struct mlp_state *s, struct report *out)
{
	struct report_row *row = add_row(out, "kernels a step", "", 0);
	int products = o->launches == MLP_MANY	? 3 * s->net.last - 1
		       : o->launches == MLP_FEW ? 3 * s->net.hidden - 1
						: 0;
	bool forks = o->launches == MLP_FEW && s->net.hidden > 1 && o->fork != MLP_FORK_NEVER;

	char kernels[48];

	snprintf(kernels, sizeof(kernels), "%d, counted in a captured step", s->kernels);
	snprintf(row->text, sizeof(row->text), "%s; %d products%s",
		 s->kernels ? kernels : "not counted: no step can be captured here", products,
		 !forks			      ? ""
		 : o->fork == MLP_FORK_ALWAYS ? "; in two streams"
					      : "; in graphs two branches");
}

static void report_inference(const struct mlp_opts *o, const struct mlp_state *s,
			     struct report *out)
{
	struct report_row *kernels = add_row(out, "kernels a step", "", 0), *touched;

	if (s->kernels)
		snprintf(kernels->text, sizeof(kernels->text), "%d, counted in a captured step; %s",
			 s->kernels,
			 o->launches == MLP_ONE ? "rift's own" : s->products.blas->name);
	else
		snprintf(kernels->text, sizeof(kernels->text),
			 "not counted: no step can be captured here");
	touched = add_row(out, "inputs, outputs", "", 0);
	dataset_touched_text(&s->infer.set, touched->text);
}

static void report_weights(struct mlp_state *s, struct report *out)
{
	struct report_row *row = add_row(out, "weights, sum of bits", "", 0);

	snprintf(row->text, sizeof(row->text), "%016" PRIx64, mlp_fingerprint_weights(s).bits);
}

static int report_last(const struct mlp_opts *o, struct mlp_state *s, struct report *out)
{
	uint64_t steps = mlp_steps_done(s);
	double share;
	int err = mlp_test_accuracy(o, s, &share);

	if (steps)
		add_row(out, "loss of the last step", "", (double)mlp_step_loss(s, steps - 1));
	add_row(out, "test accuracy", "%", 100 * share);
	return err;
}

/* The table holds the last ones. */
static void report_epochs(const struct mlp_state *s, struct report *out)
{
	const struct mlp_history *h = &s->history;
	int64_t rows_left = REPORT_ROWS_MAX - out->n - 1;
	int64_t from = h->epochs > rows_left ? h->epochs - rows_left : 0;

	for (int64_t e = from; e <= h->epochs; e++) {
		struct report_row *row = add_row(out, "training", "", 0);
		double accuracy = 100 * h->accuracy[e * MLP_TESTS];

		if (!e)
			snprintf(row->text, sizeof(row->text),
				 "at the start: test accuracy %.2f %%", accuracy);
		else
			snprintf(row->text, sizeof(row->text),
				 "epoch %ld: loss %.4f, test accuracy %.2f %%", (long)e,
				 mlp_mean_loss(h, mlp_steps_for(s, (e - 1) * MLP_TESTS),
					       mlp_steps_for(s, e * MLP_TESTS)),
				 accuracy);
	}
}

int mlp_report(const void *opts, void *state, struct report *out)
{
	const struct mlp_opts *o = opts;
	struct mlp_state *s = state;
	int err;

	report_network(o, s, out);
	if (o->work == MLP_INFERENCE) {
		report_inference(o, s, out);
		return 0;
	}
	report_data(s, out);
	report_products(o, s, out);
	report_launches(o, s, out);
	report_weights(s, out);
	err = report_last(o, s, out);
	if (err || !o->epochs)
		return err;
	err = mlp_train(o, s, o->epochs);
	if (!err)
		report_epochs(s, out);
	return err;
}

/* ---- cost ------------------------------------------------------------------------------ */

/* Forward and gradients of weights 2 m n k each, what flows back too, but not into the input. */
static double step_flops(const struct mlp_state *s)
{
	const int64_t *w = s->net.width;
	double flops = 0;

	for (int l = 1; l <= s->net.last; l++)
		flops += (l > 1 ? 6.0 : 4.0) * (double)s->batch * (double)(w[l - 1] * w[l]);
	return flops;
}

/*
 * Bytes: pixels read; activations written and read by the next layer and by its gradient; what
 * flows back written and read twice; weights read twice, gradients written and read, weights and
 * velocities read and written.
 */
static double step_bytes(const struct mlp_state *s)
{
	double each = s->half ? 2 : 4, units = 0;

	for (int l = 0; l <= s->net.last; l++)
		units += (double)s->net.width[l] * (l && l < s->net.last ? 6 : 3);
	return (double)s->batch * (MLP_PIXELS + each * units) +
	       (double)s->net.parameters * (2 * each + 24);
}

int mlp_cost(const void *opts, const void *state, struct cost *out)
{
	const struct mlp_opts *o = opts;
	const struct mlp_state *s = state;
	double images = o->input == MLP_HOST ? s->batch * (MLP_PIXELS + 1.0) : 0;

	if (o->work == MLP_INFERENCE) {
		mlp_infer_cost(o, s, out);
		return 0;
	}
	*out = (struct cost){
		.launches = s->kernels,
		.flops = step_flops(s),
		.bytes_moved = step_bytes(s),
		.bytes_transferred = images,
		.to_device = { .calls = images > 0, .bytes = images },
		.evaluations = s->batch,
		.evaluation = "image",
		.formula =
			"launches: kernels in a captured step; flops: 2 m n k of each product, 3 a "
			"layer, 2 for the first; moved: pixels, activations and what flows back "
			"3 times each, weights 2 times and 24 bytes of gradient and update; "
			"transferred: pixels and labels with input=host",
	};
	return 0;
}
