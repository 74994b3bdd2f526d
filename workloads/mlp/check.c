/*
 * check.c - are the weights what these steps make of the first ones?
 *
 * The steps are done again, one by one in a stream, and must leave the same bits: so what was
 * timed, in whatever mode and depth, is what is looked at. Of the last step (with `full` of each)
 * gradients, loss and update are compared with double arithmetic on the host.
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

/* Operations of the reference that take 0.2 s at 1e9 a second. */
static const double operations_most = 2e8;

enum { ASK_EVERY = 64 }; /* steps */

double mlp_tolerance(const struct mlp_opts *o)
{
	static const double tolerance[] = {
		[MLP_FP32] = 1e-5,
		[MLP_TF32] = 2e-3,
		[MLP_BF16] = 2e-2,
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

double mlp_relative(const struct mlp_norms *n)
{
	return n->difference == 0 ? 0 : sqrt(n->difference / n->right);
}

/* ---- what is on the device ------------------------------------------------------------------ */

static double number_at(const void *from, bool half, int64_t i)
{
	uint32_t bits;
	float v;

	if (!half)
		return (double)((const float *)from)[i];
	bits = (uint32_t)((const uint16_t *)from)[i] << 16;
	memcpy(&v, &bits, sizeof(v));
	return (double)v;
}

void mlp_fetch(const struct mlp_matrix *m, int64_t row, int64_t col, int64_t rows, int64_t cols,
	       double *out)
{
	size_t each = m->half ? sizeof(uint16_t) : sizeof(float);
	void *host = malloc((size_t)(rows * cols) * each + 1);

	CHECK(host, "%ld x %ld numbers", (long)rows, (long)cols);
	CUDA(cudaMemcpy2D(host, (size_t)cols * each,
			  (const char *)m->at + (size_t)(row * m->cols + col) * each,
			  (size_t)m->cols * each, (size_t)cols * each, (size_t)rows,
			  cudaMemcpyDeviceToHost));
	for (int64_t i = 0; i < rows * cols; i++)
		out[i] = number_at(host, m->half, i);
	free(host);
}

void mlp_fetch_gradient(const struct mlp_tensor *t, int64_t first, int64_t n, double *out)
{
	const struct mlp_matrix m = { t->gradient, t->half, t->parts,
				      t->parts > 1 ? (int64_t)t->stride : (int64_t)t->n };
	double *part = malloc((size_t)(n * t->parts) * sizeof(*part));

	CHECK(part, "%u parts", t->parts);
	mlp_fetch(&m, 0, first, t->parts, n, part);
	for (int64_t i = 0; i < n; i++) {
		out[i] = 0;
		for (uint32_t p = 0; p < t->parts; p++)
			out[i] += part[p * n + i];
	}
	free(part);
}

struct mlp_sum mlp_sum_of(struct mlp_state *s)
{
	unsigned long long sum[2], *device;

	CUDA(cudaMalloc((void **)&device, sizeof(sum)));
	CUDA(cudaMemsetAsync(device, 0, sizeof(sum), s->own));
	mlp_fingerprint(s->weight, s->net.numbers, device, s->own);
	mlp_fingerprint(s->velocity, s->net.numbers, device, s->own);
	CUDA(cudaStreamSynchronize(s->own));
	CUDA(cudaMemcpy(sum, device, sizeof(sum), cudaMemcpyDeviceToHost));
	CUDA(cudaFree(device));
	return (struct mlp_sum){ sum[0], sum[1] };
}

/* ---- the steps again ------------------------------------------------------------------------- */

static void before_free(struct mlp_before *b)
{
	cudaFree(b->weight);
	cudaFree(b->velocity);
	cudaFree(b->copy);
}

static int before_begin(const struct mlp_state *s, struct mlp_before *b)
{
	size_t bytes = s->net.numbers * sizeof(float);

	*b = (struct mlp_before){ 0 };
	if (!cudaMalloc((void **)&b->weight, bytes) && !cudaMalloc((void **)&b->velocity, bytes) &&
	    (!s->copy || !cudaMalloc((void **)&b->copy, bytes / 2)))
		return 0;
	cudaGetLastError();
	before_free(b);
	return complain(ENOMEM, "no %zu bytes left on the device to check with", 2 * bytes);
}

static void before_take(const struct mlp_state *s, struct mlp_before *b)
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

	before_take(s, b);
	mlp_step(o, s, s->own);
	CUDA(cudaStreamSynchronize(s->own));
	if (v->full || operations <= operations_most)
		mlp_check_whole(o, s, b, v);
	else
		mlp_check_tiles(o, s, b, v);
}

/* From the reset on; looks at the last step, or at all of them. */
static int again(const struct mlp_opts *o, struct mlp_state *s, int64_t steps, struct verdict *v)
{
	struct mlp_before b;
	int err = before_begin(s, &b);

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
	before_free(&b);
	return err;
}

int mlp_check(const void *opts, void *state, int64_t steps, struct verdict *v)
{
	const struct mlp_opts *o = opts;
	struct mlp_state *s = state;
	struct mlp_sum timed = mlp_sum_of(s), second;
	uint64_t done = mlp_steps_done(s);
	int err;

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
	err = again(o, s, steps, v);
	second = mlp_sum_of(s);
	if (!err && second.bits != timed.bits)
		mlp_note(v, INFINITY, 1, "the same steps in a stream leave other weights");
	v->passed = v->error <= v->tolerance;
	return err;
}
