/*
 * check.c - are the weights what these steps make of the first ones?
 *
 * The steps are done again, one by one in a stream, and must leave the same bits: so what was
 * timed, in whatever mode and depth, is what is checked. Gradients, loss and update of the last
 * step (with `full` of each) are compared with double arithmetic on the host.
 */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cuda_check.h"
#include "common/interrupt.h"
#include "workloads/mlp/check.h"
#include "workloads/workload.h"

/* Relative error of a sum of two or three floats. */
static const double few_roundings = 1e-6;

/* Operations of the reference that take 0.2 s at 1e9 a second. */
static const double operations_most = 2e8;

enum { ASK_EVERY = 64 }; /* steps */

double mlp_tolerance(const struct mlp_opts *o)
{
	static const double tolerance[] = {
		[MLP_FP32] = 1e-5,
		[MLP_TF32] = 2e-3,
		[MLP_BF16] = 2e-2,
		/* Rounding to fp16 alone comes to 2.5e-3 in 3,000 inputs of 8 layers of 64. */
		[MLP_FP16] = 1e-2,
	};

	return tolerance[o->precision];
}

void mlp_note(struct verdict *v, double error, double allowed, const char *fmt, ...)
{
	double units = error / allowed;
	va_list args;

	if (units <= v->error || isnan(v->error))
		return;
	v->error = units;
	va_start(args, fmt);
	vsnprintf(v->worst, sizeof(v->worst), fmt, args);
	va_end(args);
}

void mlp_compare(struct mlp_norms *n, double got, double want)
{
	n->difference += (got - want) * (got - want);
	n->right += want * want;
}

struct mlp_terms mlp_dot(const double *a, const double *b, int64_t n)
{
	struct mlp_terms s = { 0, 0 };

	for (int64_t i = 0; i < n; i++) {
		double term = b ? a[i] * b[i] : a[i];

		s.v += term;
		s.magnitudes += fabs(term);
	}
	return s;
}

void mlp_compare_sum(struct mlp_norms *n, double got, const struct mlp_terms *want)
{
	double least = 0.01 * want->magnitudes;

	n->difference += (got - want->v) * (got - want->v);
	n->right += fmax(want->v * want->v, least * least);
}

double mlp_relative(const struct mlp_norms *n)
{
	return n->difference == 0 ? 0 : sqrt(n->difference / n->right);
}

/* ---- updates --------------------------------------------------------------------------- */

/* So many numbers of an array of floats. */
static double *fetch_floats(const float *from, int64_t n)
{
	const struct mlp_matrix m = { from, false, 1, n };
	double *out = malloc((size_t)n * sizeof(*out));

	CHECK(out, "%ld numbers", (long)n);
	mlp_fetch(&m, 0, 0, 1, n, out);
	return out;
}

void mlp_check_update(const struct mlp_look *k, int layer, bool bias, int64_t first, int64_t n)
{
	const struct mlp_tensor *t = mlp_find_tensor(k->s, layer, bias);
	size_t from = (size_t)(t->weight - k->s->weight) + (size_t)first;
	double *w = fetch_floats(k->b->weight + from, n),
	       *w_now = fetch_floats(t->weight + first, n);
	double *v = fetch_floats(k->b->velocity + from, n),
	       *v_now = fetch_floats(t->velocity + first, n);
	double *g = malloc((size_t)n * sizeof(*g));
	struct mlp_norms v_norms = { 0, 0 }, w_norms = { 0, 0 };

	CHECK(g, "%ld numbers", (long)n);
	mlp_fetch_gradient(t, first, n, g);
	for (int64_t i = 0; i < n; i++) {
		mlp_compare(&v_norms, v_now[i], (double)(float)k->o->momentum * v[i] + g[i]);
		mlp_compare(&w_norms, w_now[i], w[i] - (double)(float)mlp_rate(k->o) * v_now[i]);
	}
	mlp_note(k->v, mlp_relative(&v_norms), few_roundings, "velocity of %c%d: off by %.2g",
		 bias ? 'b' : 'W', layer, mlp_relative(&v_norms));
	mlp_note(k->v, mlp_relative(&w_norms), few_roundings, "update of %c%d: off by %.2g",
		 bias ? 'b' : 'W', layer, mlp_relative(&w_norms));
	free(w);
	free(w_now);
	free(v);
	free(v_now);
	free(g);
}

/* ---- the steps again ------------------------------------------------------------------- */

static void before_release(struct mlp_before *b)
{
	cudaFree(b->weight);
	cudaFree(b->velocity);
	cudaFree(b->copy);
}

static int before_init(const struct mlp_state *s, struct mlp_before *b)
{
	size_t bytes = s->net.numbers * sizeof(float);

	*b = (struct mlp_before){ 0 };
	if (!cudaMalloc((void **)&b->weight, bytes) && !cudaMalloc((void **)&b->velocity, bytes) &&
	    (!s->copy || !cudaMalloc((void **)&b->copy, bytes / 2)))
		return 0;
	cudaGetLastError();
	before_release(b);
	return complain(ENOMEM, "no %zu bytes left on the device to check with", 2 * bytes);
}

static void before_copy(const struct mlp_state *s, struct mlp_before *b)
{
	size_t bytes = s->net.numbers * sizeof(float);

	CUDA(cudaStreamSynchronize(s->own));
	b->step = mlp_steps_done(s);
	CUDA(cudaMemcpyAsync(b->weight, s->weight, bytes, cudaMemcpyDeviceToDevice, s->own));
	CUDA(cudaMemcpyAsync(b->velocity, s->velocity, bytes, cudaMemcpyDeviceToDevice, s->own));
	if (b->copy)
		CUDA(cudaMemcpyAsync(b->copy, s->copy, bytes / 2, cudaMemcpyDeviceToDevice,
				     s->own));
}

/* One more step, and whether it is right. */
static void check_step(const struct mlp_opts *o, struct mlp_state *s, struct mlp_before *b,
		       struct verdict *v)
{
	double operations = 6.0 * (double)s->batch * (double)s->net.parameters;
	const struct mlp_look k = { o, s, b, v };

	before_copy(s, b);
	mlp_step(o, s, s->own);
	CUDA(cudaStreamSynchronize(s->own));
	if (v->full || operations <= operations_most)
		mlp_check_whole(&k);
	else
		mlp_check_tiles(&k);
}

/* From the reset on; looks at the last step, or at all of them. */
static int repeat_steps(const struct mlp_opts *o, struct mlp_state *s, int64_t steps,
			struct verdict *v)
{
	struct mlp_before b;
	int err = before_init(s, &b);

	if (err)
		return err;
	mlp_reset(o, s, s->own);
	for (int64_t k = 0; !err && k < steps; k++) {
		bool asks = v->full || k % ASK_EVERY == ASK_EVERY - 1;

		if (asks) /* the queue stays short, so that the answer comes soon */
			CUDA(cudaStreamSynchronize(s->own));
		if (asks && interrupted())
			err = -EINTR;
		else if (v->full || k == steps - 1)
			check_step(o, s, &b, v);
		else
			mlp_step(o, s, s->own);
	}
	CUDA(cudaStreamSynchronize(s->own));
	before_release(&b);
	return err;
}

int mlp_check(const void *opts, void *state, int64_t steps, struct verdict *v)
{
	const struct mlp_opts *o = opts;
	struct mlp_state *s = state;
	struct mlp_sum timed, second;
	uint64_t done;
	int err;

	if (o->work == MLP_INFERENCE)
		return mlp_infer_check(o, s, steps, v);
	timed = mlp_fingerprint_weights(s);
	done = mlp_steps_done(s);
	v->measure =
		"largest error of a gradient, the loss or an update, in units of what is allowed";
	v->error = 0;
	v->tolerance = 1;
	v->compared = 0;
	v->total = s->net.parameters * (v->full ? steps : 1);
	if (done != (uint64_t)steps)
		mlp_note(v, INFINITY, 1, "the device counted %lu steps", (unsigned long)done);
	if (timed.odd)
		mlp_note(v, INFINITY, 1, "%lu weights or velocities are not finite",
			 (unsigned long)timed.odd);
	err = repeat_steps(o, s, steps, v);
	second = mlp_fingerprint_weights(s);
	if (!err && second.bits != timed.bits)
		mlp_note(v, INFINITY, 1, "the same steps in a stream leave other weights");
	v->passed = v->error <= v->tolerance;
	return err;
}
