/* app_plot.c - the picture of `rift run mlp --plot`: loss and test accuracy over the epochs. */
#include <errno.h>
#include <string.h>

#include "common/plural.h"

#include "common/plot.h"
#include "workloads/mlp/mlp.h"

enum { EPOCHS = 3, POINTS = 400 }; /* epochs, unless epochs= says otherwise; points of the curve */

/* Steps are averaged where there are more of them than points. */
static int write_loss(const struct mlp_state *s, struct plot *plot)
{
	const struct mlp_history *h = &s->history;
	int64_t points = h->steps < POINTS ? h->steps : POINTS;
	struct output out = { 0 };
	int err = plot_open(plot, "loss_file", "-loss.csv", &out);

	if (err)
		return err;
	fputs("epoch,loss\n", out.file);
	for (int64_t i = 0; i < points; i++) {
		int64_t from = h->steps * i / points, to = h->steps * (i + 1) / points;
		double row[] = { (double)(from + to) / 2 * s->batch / (double)s->data->train.n,
				 mlp_mean_loss(h, from, to) };

		output_numbers(&out, row, 2);
	}
	err = output_commit(&out);
	output_discard(&out);
	return err;
}

static int write_accuracy(const struct mlp_state *s, struct plot *plot)
{
	const struct mlp_history *h = &s->history;
	struct output out = { 0 };
	int err = plot_open(plot, "accuracy_file", "-accuracy.csv", &out);

	if (err)
		return err;
	fputs("epoch,wrong_percent\n", out.file);
	for (int64_t i = 0; i <= h->epochs * MLP_TESTS; i++) {
		double row[] = { (double)i / MLP_TESTS, 100 - 100 * h->accuracy[i] };

		output_numbers(&out, row, 2);
	}
	err = output_commit(&out);
	output_discard(&out);
	return err;
}

static void set_texts(const struct mlp_opts *o, const struct mlp_state *s, struct plot *p)
{
	const struct mlp_history *h = &s->history;
	char net[120];

	mlp_net_text(&s->net, net, sizeof(net));
	plot_text(p, "title", "%.44s learns %s: %.2f %% of the test images right after %s", net,
		  strncmp(s->data->source, "gen", 3) ? "digits" : "drawn digits",
		  100 * h->accuracy[h->epochs * MLP_TESTS], counted(h->epochs, "epoch").s);
	plot_text(p, "made", "minibatches of %ld, rate %g, momentum %g; %.60s; computed on: %.60s",
		  (long)o->batch, mlp_rate(o), o->momentum, s->data->source, p->device);
	plot_count(p, "epochs", (long)h->epochs);
	p->script = "workloads/mlp/plot.gp";
}

int mlp_plot(const void *opts, void *state, struct plot *plot)
{
	const struct mlp_opts *o = opts;
	struct mlp_state *s = state;
	int err = 0;

	if (o->work == MLP_INFERENCE) {
		complain(EINVAL, "not drawn: work=inference learns nothing");
		return -EINVAL;
	}
	if (o->input == MLP_HOST) {
		complain(EINVAL, "not drawn: input=host copies the same minibatch each step");
		return -EINVAL;
	}
	if (!s->history.epochs)
		err = mlp_train(o, s, o->epochs ? o->epochs : EPOCHS);
	if (!err)
		err = write_loss(s, plot);
	if (!err)
		err = write_accuracy(s, plot);
	if (!err)
		set_texts(o, s, plot);
	return err;
}
