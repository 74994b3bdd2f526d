/* reference.c - forward and backward of one sample after the other, in double. */
#include "workloads/mlp/reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"

struct mlp_batch mlp_batch_new(const struct mlp_images *im, uint64_t step, uint32_t batch,
			       uint64_t seed)
{
	struct mlp_batch b = { .batch = batch };

	b.input = malloc((size_t)batch * MLP_PIXELS * sizeof(double));
	b.label = malloc(batch);
	CHECK(b.input && b.label, "%u images", batch);
	for (uint32_t r = 0; r < batch; r++) {
		size_t at = mlp_sample(step, batch, r, (uint32_t)im->n, seed);

		for (int i = 0; i < MLP_PIXELS; i++)
			b.input[(size_t)r * MLP_PIXELS + (size_t)i] =
				im->pixel[at * MLP_PIXELS + (size_t)i] / 255.0;
		b.label[r] = im->label[at];
	}
	return b;
}

void mlp_batch_free(struct mlp_batch *b)
{
	free(b->input);
	free(b->label);
	memset(b, 0, sizeof(*b));
}

/* What one sample passes through: a[l] of each layer, d[l] = dloss/dz[l]. */
struct pass {
	const struct mlp_net *net;
	const double *weight;
	double *a[MLP_LAYERS_MAX + 1], *d[MLP_LAYERS_MAX + 1];
};

static void pass_init(struct pass *p, const struct mlp_net *net, const double *weight)
{
	memset(p, 0, sizeof(*p));
	p->net = net;
	p->weight = weight;
	for (int l = 0; l <= net->last; l++) {
		p->a[l] = calloc((size_t)net->width[l], sizeof(double));
		p->d[l] = calloc((size_t)net->width[l], sizeof(double));
		CHECK(p->a[l] && p->d[l], "layer %d", l);
	}
}

static void pass_release(struct pass *p)
{
	for (int l = 0; l <= p->net->last; l++) {
		free(p->a[l]);
		free(p->d[l]);
	}
}

/* a[l] = a[l-1] W + b */
static void affine_layer(struct pass *p, int l)
{
	int64_t in = p->net->width[l - 1], out = p->net->width[l];
	const double *w = p->weight + p->net->weight_at[l];
	double *z = p->a[l];

	memcpy(z, p->weight + p->net->bias_at[l], (size_t)out * sizeof(*z));
	for (int64_t k = 0; k < in; k++) {
		double a = p->a[l - 1][k];

		if (a == 0)
			continue;
		for (int64_t j = 0; j < out; j++)
			z[j] += a * w[k * out + j];
	}
}

/* Below 0 becomes 0; row: the device's activations of this sample, or NULL. */
static void cut_negative(struct pass *p, int l, const float *row, double slack)
{
	double *z = p->a[l], squares = 0, near;
	int64_t n = p->net->width[l];

	for (int64_t j = 0; j < n; j++)
		squares += z[j] * z[j];
	near = slack * sqrt(squares / (double)n);
	for (int64_t j = 0; j < n; j++) {
		bool on = z[j] > 0;

		if (row && fabs(z[j]) <= near)
			on = row[j] > 0;
		z[j] = on ? z[j] : 0;
		p->d[l][j] = on; /* the derivative of the cut, until what flows back comes */
	}
}

/* The largest sum of magnitudes among the terms of the logits: how far rounding may move one. */
static double logit_magnitude(const struct pass *p)
{
	const struct mlp_net *net = p->net;
	const double *w = p->weight + net->weight_at[net->last];
	const double *b = p->weight + net->bias_at[net->last], *a = p->a[net->hidden];
	double most = 0;

	for (int c = 0; c < MLP_CLASSES; c++) {
		double sum = fabs(b[c]);

		for (int64_t k = 0; k < net->width[net->hidden]; k++)
			sum += fabs(a[k] * w[k * MLP_CLASSES + c]);
		most = fmax(most, sum);
	}
	return most;
}

/* Loss of the sample; d[last] = P - onehot(label). */
static double softmax_loss(struct pass *p, int label)
{
	double *z = p->a[p->net->last], *d = p->d[p->net->last], most = z[0], sum = 0, others = 0;

	for (int c = 1; c < MLP_CLASSES; c++)
		most = fmax(most, z[c]);
	for (int c = 0; c < MLP_CLASSES; c++) {
		d[c] = exp(z[c] - most);
		sum += d[c];
		others += c == label ? 0 : d[c];
	}
	for (int c = 0; c < MLP_CLASSES; c++)
		d[c] /= sum;
	d[label] = -others / sum;
	return z[label] == most ? log1p(others) : log(sum) - (z[label] - most);
}

static double forward_pass(struct pass *p, const double *input, int label,
			   const struct mlp_sides *sides, int64_t row)
{
	memcpy(p->a[0], input, MLP_PIXELS * sizeof(*input));
	for (int l = 1; l < p->net->last; l++) {
		const float *device = sides ? sides->activation[l] + row * p->net->width[l] : NULL;

		affine_layer(p, l);
		cut_negative(p, l, device, sides ? sides->slack : 0);
	}
	affine_layer(p, p->net->last);
	return softmax_loss(p, label);
}

/* Adds share x the sample's gradient of layer l, and finds d[l-1]. */
static void layer_back(struct pass *p, int l, double share, double *gradient)
{
	int64_t in = p->net->width[l - 1], out = p->net->width[l];
	const double *w = p->weight + p->net->weight_at[l], *d = p->d[l];
	double *gw = gradient + p->net->weight_at[l], *gb = gradient + p->net->bias_at[l];

	for (int64_t j = 0; j < out; j++)
		gb[j] += share * d[j];
	for (int64_t k = 0; k < in; k++) {
		double a = share * p->a[l - 1][k], flows = 0;

		for (int64_t j = 0; a != 0 && j < out; j++)
			gw[k * out + j] += a * d[j];
		if (l == 1 || p->d[l - 1][k] == 0)
			continue;
		for (int64_t j = 0; j < out; j++)
			flows += w[k * out + j] * d[j];
		p->d[l - 1][k] = flows;
	}
}

double mlp_reference(const struct mlp_net *net, const double *weight, const struct mlp_batch *b,
		     const struct mlp_sides *sides, double *gradient, double *reach)
{
	double loss = 0, share = 1 / (double)b->batch;
	struct pass p;

	pass_init(&p, net, weight);
	if (gradient)
		memset(gradient, 0, net->numbers * sizeof(*gradient));
	if (reach)
		*reach = 0;
	for (int64_t r = 0; r < b->batch; r++) {
		loss += share * forward_pass(&p, b->input + r * MLP_PIXELS, b->label[r], sides, r);
		if (reach)
			*reach = fmax(*reach, logit_magnitude(&p));
		for (int l = net->last; gradient && l >= 1; l--)
			layer_back(&p, l, share, gradient);
	}
	pass_release(&p);
	return loss;
}

double mlp_reference_init(const struct mlp_net *net, int l, uint32_t i, uint64_t seed)
{
	struct philox r = philox4x32(i, (uint32_t)l, MLP_TAG_WEIGHTS, 0, seed);
	double u = philox_uniform(r.word[0]), turn = 2 * acos(-1) * philox_uniform(r.word[1]);

	return sqrt(2.0 / (double)net->width[l - 1]) * sqrt(-2 * log(u)) * cos(turn);
}
