/* check_whole.c - a step's gradient, loss and update against the reference, all of them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/cuda_check.h"
#include "workloads/mlp/check.h"

static double *array(size_t n)
{
	double *a = malloc(n * sizeof(*a));

	CHECK(a, "%zu numbers", n);
	return a;
}

static double *fetch_all(const void *from, bool half, int64_t n)
{
	const struct mlp_matrix m = { from, half, 1, n };
	double *out = array((size_t)n);

	mlp_fetch(&m, 0, 0, 1, n, out);
	return out;
}

/* ---- the reference's answer -------------------------------------------------------------------
 */

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

static double reference(const struct mlp_opts *o, const struct mlp_state *s,
			const struct mlp_before *b, double *gradient)
{
	uint64_t step = o->input == MLP_HOST ? 0 : b->step;
	struct mlp_batch batch = mlp_batch_of(&s->data->train, step, s->batch, (uint64_t)o->seed);
	struct mlp_sides sides = { .slack = 3 * mlp_tolerance(o) };
	double *weight = fetch_all(b->weight, false, (int64_t)s->net.numbers), loss;

	for (int l = 1; l <= s->net.hidden; l++)
		sides.activation[l] = fetch_activation(s, l);
	loss = mlp_reference(&s->net, weight, &batch, &sides, gradient);
	for (int l = 1; l <= s->net.hidden; l++)
		free((void *)(uintptr_t)sides.activation[l]);
	mlp_batch_free(&batch);
	free(weight);
	return loss;
}

/* ---- comparisons
 * --------------------------------------------------------------------------------- */

static void check_gradient(const struct mlp_tensor *t, const double *want, double allowed,
			   const char *name, int layer, struct verdict *v)
{
	double *got = array(t->n);
	struct mlp_norms n = { 0, 0 };

	mlp_fetch_gradient(t, 0, t->n, got);
	for (uint32_t i = 0; i < t->n; i++)
		mlp_compare(&n, got[i], want[i]);
	mlp_note(v, mlp_relative(&n), allowed, "gradient of %s%d: off by %.2g", name, layer,
		 mlp_relative(&n));
	v->compared += t->n;
	free(got);
}

/* V = momentum V + g and W = W - rate V, with the device's own g. */
static void check_update(const struct mlp_state *s, const struct mlp_tensor *t,
			 const struct mlp_before *b, const char *name, int layer, struct verdict *v)
{
	size_t at = (size_t)(t->weight - s->weight);
	double *w = fetch_all(b->weight + at, false, t->n),
	       *now = fetch_all(t->weight, false, t->n);
	double *old = fetch_all(b->velocity + at, false, t->n), *g = array(t->n);
	double *velocity = fetch_all(t->velocity, false, t->n);
	struct mlp_norms of_v = { 0, 0 }, of_w = { 0, 0 };

	mlp_fetch_gradient(t, 0, t->n, g);
	for (uint32_t i = 0; i < t->n; i++) {
		mlp_compare(&of_v, velocity[i], (double)s->update.momentum * old[i] + g[i]);
		mlp_compare(&of_w, now[i], w[i] - (double)s->update.rate * velocity[i]);
	}
	mlp_note(v, mlp_relative(&of_v), MLP_FEW_ROUNDINGS, "velocity of %s%d: off by %.2g", name,
		 layer, mlp_relative(&of_v));
	mlp_note(v, mlp_relative(&of_w), MLP_FEW_ROUNDINGS, "update of %s%d: off by %.2g", name,
		 layer, mlp_relative(&of_w));
	free(w);
	free(now);
	free(old);
	free(g);
	free(velocity);
}

static void check_loss(const struct mlp_state *s, const struct mlp_before *b, double want,
		       double allowed, struct verdict *v)
{
	float got;

	CUDA(cudaMemcpy(&got, &s->progress->loss[b->step % MLP_LOSSES], sizeof(got),
			cudaMemcpyDeviceToHost));
	mlp_note(v, fabs((double)got - want) / want, allowed, "loss: %.7g, not %.7g", (double)got,
		 want);
}

void mlp_check_whole(const struct mlp_opts *o, struct mlp_state *s, const struct mlp_before *b,
		     struct verdict *v)
{
	const struct mlp_net *net = &s->net;
	double *want = array(net->numbers), allowed = mlp_tolerance(o);
	double loss = reference(o, s, b, want);

	check_loss(s, b, loss, allowed, v);
	for (int l = 1; l <= net->last; l++) {
		const struct mlp_tensor *w = &s->update.tensor[2 * (l - 1)], *bias = w + 1;

		check_gradient(w, want + net->weight_at[l], allowed, "W", l, v);
		check_gradient(bias, want + net->bias_at[l], allowed, "b", l, v);
		check_update(s, w, b, "W", l, v);
		check_update(s, bias, b, "b", l, v);
	}
	free(want);
}
