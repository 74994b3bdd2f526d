/*
 * check_tiles.c - a step too large to be done again on the host: pieces of each of its results,
 * computed in double from the device's own operands. Every stage is looked at, so that what is
 * right from stage to stage is right as a whole.
 */
#include <math.h>
#include <stdlib.h>

#include "common/cuda_check.h"
#include "workloads/mlp/check.h"
#include "workloads/workload.h"

enum { SIDE = 8, TILES = 6, WINDOW = 4096 };

/* And the random numbers drawn so far. */
struct look {
	struct mlp_look at;
	uint32_t drawn;
};

static int64_t min_length(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* Where a piece of `length` of n begins: at the start, at the end, then anywhere. */
static int64_t draw_index(struct look *k, int tile, int64_t n, int64_t length)
{
	struct philox r = philox4x32(k->drawn++, 0, 0, 0, k->at.v->seed);

	return tile == 0 ? 0 : tile == 1 ? n - length : (int64_t)(r.word[0] % (n - length + 1));
}

static struct mlp_matrix activation_matrix(const struct look *k, int l)
{
	return (struct mlp_matrix){ k->at.s->activation[l], k->at.s->half, k->at.s->batch,
				    k->at.s->net.width[l] };
}

static struct mlp_matrix delta_matrix(const struct look *k, int l)
{
	bool wide = l == k->at.s->net.last && k->at.o->launches == MLP_FEW;

	return (struct mlp_matrix){ k->at.s->delta[l], k->at.s->half && !wide, k->at.s->batch,
				    k->at.s->net.width[l] };
}

/* W before the step, as products read it; the output layer's kernel reads floats. */
static struct mlp_matrix weight_matrix(const struct look *k, int l)
{
	const struct mlp_net *net = &k->at.s->net;
	bool half = k->at.s->half && !(l == net->last && k->at.o->launches == MLP_FEW);
	size_t at = net->weight_at[l];

	return (struct mlp_matrix){ half ? (void *)(k->at.b->copy + at)
					 : (void *)(k->at.b->weight + at),
				    half, net->width[l - 1], net->width[l] };
}

/* ---- the input ------------------------------------------------------------------------- */

/* The image in a row of the minibatch. */
static size_t batch_image(const struct look *k, int64_t row)
{
	uint64_t step = k->at.o->input == MLP_HOST ? 0 : k->at.b->step;

	return mlp_sample(step, k->at.s->batch, (uint32_t)row, (uint32_t)k->at.s->data->train.n,
			  (uint64_t)k->at.o->seed);
}

static void check_input(struct look *k, int tile, struct mlp_norms *norms)
{
	int64_t rows = min_length(SIDE, k->at.s->batch),
		first = draw_index(k, tile, k->at.s->batch, rows);
	struct mlp_matrix x = activation_matrix(k, 0);
	double *got = mlp_fetch_strip(&x, false, first, rows);

	for (int64_t r = 0; r < rows; r++) {
		const uint8_t *pixel =
			k->at.s->data->train.pixel + batch_image(k, first + r) * MLP_PIXELS;

		for (int64_t i = 0; i < MLP_PIXELS; i++)
			mlp_compare(norms, got[r * MLP_PIXELS + i], pixel[i] / 255.0);
	}
	k->at.v->compared += rows * MLP_PIXELS;
	free(got);
}

/* ---- hidden layers --------------------------------------------------------------------- */

/* Coordinates of a tile: rows of the batch and columns of layer l. */
struct tile {
	int64_t row, rows, col, cols;
};

static struct tile draw_tile(struct look *k, int tile, int64_t rows, int64_t cols)
{
	struct tile t = { .rows = min_length(SIDE, rows), .cols = min_length(SIDE, cols) };

	t.row = draw_index(k, tile, rows, t.rows);
	t.col = draw_index(k, tile, cols, t.cols);
	k->at.v->compared += t.rows * t.cols;
	return t;
}

static void fetch_tile(const struct mlp_matrix *m, const struct tile *t, double *out)
{
	mlp_fetch(m, t->row, t->col, t->rows, t->cols, out);
}

/* A = max(A W + b, 0) */
static void check_forward(struct look *k, int l, int at, struct mlp_norms *norms)
{
	struct mlp_matrix below = activation_matrix(k, l - 1), w = weight_matrix(k, l),
			  a = activation_matrix(k, l);
	struct mlp_matrix bias = { k->at.b->weight + k->at.s->net.bias_at[l], false, 1,
				   k->at.s->net.width[l] };
	struct tile t = draw_tile(k, at, a.rows, a.cols);
	double *x = mlp_fetch_strip(&below, false, t.row, t.rows),
	       *y = mlp_fetch_strip(&w, true, t.col, t.cols);
	double got[SIDE * SIDE], b[SIDE];

	fetch_tile(&a, &t, got);
	mlp_fetch(&bias, 0, t.col, 1, t.cols, b);
	for (int64_t i = 0; i < t.rows; i++)
		for (int64_t j = 0; j < t.cols; j++) {
			struct mlp_terms z = mlp_dot(x + i * w.rows, y + j * w.rows, w.rows);

			z.v = fmax(z.v + b[j], 0);
			mlp_compare_sum(norms, got[i * t.cols + j], &z);
		}
	free(x);
	free(y);
}

/* delta_l = delta_{l+1} W_{l+1}' where A > 0 */
static void check_back(struct look *k, int l, int at, struct mlp_norms *norms)
{
	struct mlp_matrix above = delta_matrix(k, l + 1), w = weight_matrix(k, l + 1),
			  d = delta_matrix(k, l);
	struct mlp_matrix a = activation_matrix(k, l);
	struct tile t = draw_tile(k, at, d.rows, d.cols);
	double *x = mlp_fetch_strip(&above, false, t.row, t.rows),
	       *y = mlp_fetch_strip(&w, false, t.col, t.cols);
	double got[SIDE * SIDE], on[SIDE * SIDE];

	fetch_tile(&d, &t, got);
	fetch_tile(&a, &t, on);
	for (int64_t i = 0; i < t.rows; i++)
		for (int64_t j = 0; j < t.cols; j++) {
			struct mlp_terms flows = mlp_dot(x + i * w.cols, y + j * w.cols, w.cols);

			if (on[i * t.cols + j] <= 0)
				flows.v = 0;
			mlp_compare_sum(norms, got[i * t.cols + j], &flows);
		}
	free(x);
	free(y);
}

/* dW = A' delta, db = sums of delta */
static void check_gradients(struct look *k, int l, int at, struct mlp_norms *w_norms,
			    struct mlp_norms *b_norms)
{
	struct mlp_matrix below = activation_matrix(k, l - 1), d = delta_matrix(k, l);
	struct tile t = draw_tile(k, at, below.cols, d.cols);
	double *x = mlp_fetch_strip(&below, true, t.row, t.rows),
	       *y = mlp_fetch_strip(&d, true, t.col, t.cols);
	double got[SIDE];

	for (int64_t i = 0; i < t.rows; i++) {
		mlp_fetch_gradient(mlp_find_tensor(k->at.s, l, false), (t.row + i) * d.cols + t.col,
				   t.cols, got);
		for (int64_t j = 0; j < t.cols; j++) {
			struct mlp_terms want = mlp_dot(x + i * d.rows, y + j * d.rows, d.rows);

			mlp_compare_sum(w_norms, got[j], &want);
		}
	}
	mlp_fetch_gradient(mlp_find_tensor(k->at.s, l, true), t.col, t.cols, got);
	for (int64_t j = 0; j < t.cols; j++) {
		struct mlp_terms want = mlp_dot(y + j * d.rows, NULL, d.rows);

		mlp_compare_sum(b_norms, got[j], &want);
	}
	free(x);
	free(y);
}

/* ---- the output layer ------------------------------------------------------------------ */

/* Replaces the logits z of one row by dloss/dz. */
static void row_delta(double z[MLP_CLASSES], int label, uint32_t batch)
{
	double most = z[0], sum = 0, others = 0;

	for (int c = 1; c < MLP_CLASSES; c++)
		most = fmax(most, z[c]);
	for (int c = 0; c < MLP_CLASSES; c++) {
		z[c] = exp(z[c] - most);
		sum += z[c];
		others += c == label ? 0 : z[c];
	}
	for (int c = 0; c < MLP_CLASSES; c++)
		z[c] = (c == label ? -others : z[c]) / sum / batch;
}

static void check_output(struct look *k, int at, struct mlp_norms *norms)
{
	int last = k->at.s->net.last;
	struct mlp_matrix below = activation_matrix(k, last - 1), w = weight_matrix(k, last),
			  d = delta_matrix(k, last);
	struct mlp_matrix bias = { k->at.b->weight + k->at.s->net.bias_at[last], false, 1,
				   MLP_CLASSES };
	struct tile t = draw_tile(k, at, d.rows, 1);
	double *x = mlp_fetch_strip(&below, false, t.row, t.rows),
	       *y = mlp_fetch_strip(&w, true, 0, MLP_CLASSES);
	double *got = mlp_fetch_strip(&d, false, t.row, t.rows), z[MLP_CLASSES], b[MLP_CLASSES];

	mlp_fetch(&bias, 0, 0, 1, MLP_CLASSES, b);
	for (int64_t i = 0; i < t.rows; i++) {
		for (int c = 0; c < MLP_CLASSES; c++)
			z[c] = mlp_dot(x + i * w.rows, y + c * w.rows, w.rows).v + b[c];
		row_delta(z, k->at.s->data->train.label[batch_image(k, t.row + i)], k->at.s->batch);
		for (int c = 0; c < MLP_CLASSES; c++)
			mlp_compare(norms, got[i * MLP_CLASSES + c], z[c]);
	}
	free(x);
	free(y);
	free(got);
}

/* ---- all of it ------------------------------------------------------------------------- */

static void note_error(struct look *k, const struct mlp_norms *n, const char *what, int l)
{
	mlp_note(k->at.v, mlp_relative(n), mlp_tolerance(k->at.o), "%s of layer %d: off by %.2g",
		 what, l, mlp_relative(n));
}

/* A run of numbers of a tensor: the first ones and the last ones. */
static void check_updates(struct look *k, int l, bool bias)
{
	int64_t all = mlp_find_tensor(k->at.s, l, bias)->n, n = min_length(WINDOW, all);

	for (int i = 0; i < 2; i++)
		mlp_check_update(&k->at, l, bias, draw_index(k, i, all, n), n);
}

static void check_layer(struct look *k, int l)
{
	struct mlp_norms forward = { 0, 0 }, back = { 0, 0 }, w = { 0, 0 }, b = { 0, 0 };
	bool last = l == k->at.s->net.last;

	for (int i = 0; i < TILES; i++) {
		if (last)
			check_output(k, i, &back);
		else
			check_forward(k, l, i, &forward);
		if (!last)
			check_back(k, l, i, &back);
		check_gradients(k, l, i, &w, &b);
	}
	note_error(k, &forward, "activations", l);
	note_error(k, &back, "what flows back out", l);
	note_error(k, &w, "gradient of the weights", l);
	note_error(k, &b, "gradient of the biases", l);
	check_updates(k, l, false);
	check_updates(k, l, true);
}

/* The device's loss is the mean of what its samples have; with launches=many those are not kept. */
static void check_loss(struct look *k)
{
	int64_t n = k->at.s->batch;
	const struct mlp_matrix m = { k->at.s->loss, false, 1, n };
	double *each = mlp_array(n), sum = 0, got = (double)mlp_step_loss(k->at.s, k->at.b->step);

	if (k->at.o->launches == MLP_FEW) {
		mlp_fetch(&m, 0, 0, 1, n, each);
		for (int64_t r = 0; r < n; r++)
			sum += each[r] / (double)n;
		mlp_note(k->at.v, fabs(got - sum) / sum, mlp_tolerance(k->at.o),
			 "loss: %.7g, not %.7g", got, sum);
	}
	mlp_note(k->at.v, isfinite(got) ? 0 : NAN, 1, "loss: %g", got);
	free(each);
}

void mlp_check_tiles(const struct mlp_look *at)
{
	struct look k = { *at, 0 };
	struct mlp_norms input = { 0, 0 };

	for (int i = 0; i < TILES; i++)
		check_input(&k, i, &input);
	note_error(&k, &input, "numbers", 0);
	for (int l = 1; l <= at->s->net.last; l++)
		check_layer(&k, l);
	check_loss(&k);
}
