/* check_whole.c - a step's gradient, loss and update against the reference, all of them. */
#include <math.h>
#include <stdlib.h>

#include "common/cuda_check.h"
#include "workloads/mlp/check.h"
#include "workloads/workload.h"

static double *fetch_all(const void *from, bool half, int64_t n)
{
	const struct mlp_matrix m = { from, half, 1, n };
	double *out = mlp_array(n);

	mlp_fetch(&m, 0, 0, 1, n, out);
	return out;
}

/* ---- the reference's answer ------------------------------------------------------------ */

static float *fetch_activation(const struct mlp_state *s, int l)
{
	int64_t n = (int64_t)s->batch * s->net.width[l];
	double *wide = fetch_all(s->activation[l], s->half, n);
	float *out = malloc((size_t)n * sizeof(*out));

	CHECK(out, "%ld activations", (long)n);
	for (int64_t i = 0; i < n; i++)
		out[i] = (float)wide[i];
	free(wide);
	return out;
}

static double run_reference(const struct mlp_look *k, double *gradient, double *reach)
{
	const struct mlp_state *s = k->s;
	uint64_t step = k->o->input == MLP_HOST ? 0 : k->b->step;
	struct mlp_batch batch =
		mlp_batch_new(&s->data->train, step, s->batch, (uint64_t)k->o->seed);
	struct mlp_sides sides = { .slack = 3 * mlp_tolerance(k->o) };
	double *weight = fetch_all(k->b->weight, false, (int64_t)s->net.numbers), loss;

	for (int l = 1; l <= s->net.hidden; l++)
		sides.activation[l] = fetch_activation(s, l);
	loss = mlp_reference(&s->net, weight, &batch, &sides, gradient, reach);
	for (int l = 1; l <= s->net.hidden; l++)
		free((void *)(uintptr_t)sides.activation[l]);
	mlp_batch_free(&batch);
	free(weight);
	return loss;
}

/* ---- comparisons ----------------------------------------------------------------------- */

/*
 * How far a gradient may be off. Logits are off by the rounding of their terms, and what flows back
 * from exp() of them by as much in relation to itself: more, where training has made them large.
 */
static double allowed_error(const struct mlp_look *k, double reach)
{
	return mlp_tolerance(k->o) * fmax(1, reach / 8);
}

static void check_gradient(const struct mlp_look *k, int layer, bool bias, const double *want,
			   double reach)
{
	const struct mlp_tensor *t = mlp_find_tensor(k->s, layer, bias);
	double *got = mlp_array(t->n);
	struct mlp_norms n = { 0, 0 };

	mlp_fetch_gradient(t, 0, t->n, got);
	for (uint32_t i = 0; i < t->n; i++)
		mlp_compare(&n, got[i], want[i]);
	mlp_note(k->v, mlp_relative(&n), allowed_error(k, reach), "gradient of %c%d: off by %.2g",
		 bias ? 'b' : 'W', layer, mlp_relative(&n));
	mlp_check_update(k, layer, bias, 0, t->n);
	k->v->compared += t->n;
	free(got);
}

void mlp_check_whole(const struct mlp_look *k)
{
	const struct mlp_net *net = &k->s->net;
	double *want = mlp_array((int64_t)net->numbers), reach,
	       loss = run_reference(k, want, &reach);
	double got = (double)mlp_step_loss(k->s, k->b->step);

	mlp_note(k->v, fabs(got - loss) / loss, allowed_error(k, reach), "loss: %.7g, not %.7g",
		 got, loss);
	for (int l = 1; l <= net->last; l++) {
		check_gradient(k, l, false, want + net->weight_at[l], reach);
		check_gradient(k, l, true, want + net->bias_at[l], reach);
	}
	free(want);
}
