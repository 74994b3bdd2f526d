/*
 * test_mlp_reference.c - the reference itself: its gradient against differences, its order of
 * images and its first weights against what they must be as a whole.
 */
/* sanitizers: seen elsewhere */
#include "tests/plain.h"
#include "workloads/mlp/test_mlp.h"

TestSuite(small_mlp_reference, .timeout = 300);

struct fixture {
	struct mlp_net net;
	double *weight, *gradient;
	struct mlp_batch batch;
};

/* Weights as at the start, biases a little off 0, a few random images. */
static struct fixture fixture_new(struct mlp_opts o)
{
	struct fixture f = { .net = mlp_make_net(&o) };
	struct mlp_images im;

	f.weight = calloc(f.net.numbers, sizeof(double));
	f.gradient = calloc(f.net.numbers, sizeof(double));
	CHECK(f.weight && f.gradient, "memory");
	for (int l = 1; l <= f.net.last; l++) {
		for (uint32_t i = 0; i < f.net.width[l - 1] * f.net.width[l]; i++)
			f.weight[f.net.weight_at[l] + i] = mlp_reference_init(&f.net, l, i, 7);
		for (int64_t i = 0; i < f.net.width[l]; i++)
			f.weight[f.net.bias_at[l] + (size_t)i] = 0.01 * (double)(i % 5 - 2);
	}
	cr_assert(!mlp_generate(&im, 40, 0, 3), "images");
	f.batch = mlp_batch_new(&im, 0, (uint32_t)o.batch, 1);
	mlp_images_free(&im);
	return f;
}

static void fixture_free(struct fixture *f)
{
	free(f->weight);
	free(f->gradient);
	mlp_batch_free(&f->batch);
}

/* A parameter's index in the array, anywhere but in the gaps. */
static size_t draw_parameter(const struct mlp_net *net, uint32_t i)
{
	struct philox r = philox4x32(i, 0, 0, 0, 11);
	int l = 1 + (int)(r.word[0] % (uint32_t)net->last);
	uint32_t n = (uint32_t)(net->width[l - 1] * net->width[l]);

	if (r.word[1] % 4 == 0)
		return net->bias_at[l] + r.word[2] % (uint32_t)net->width[l];
	return net->weight_at[l] + r.word[2] % n;
}

static double loss_with(struct fixture *f, size_t at, double value)
{
	double was = f->weight[at], loss;

	f->weight[at] = value;
	loss = mlp_reference(&f->net, f->weight, &f->batch, NULL, NULL, NULL);
	f->weight[at] = was;
	return loss;
}

/* The slope by central differences, their error of second order taken out (Richardson). */
static double slope(struct fixture *f, size_t at)
{
	const double h = 1e-3;
	double w = f->weight[at], s[2];

	for (int i = 0; i < 2; i++) {
		double step = i ? h / 2 : h;

		s[i] = (loss_with(f, at, w + step) - loss_with(f, at, w - step)) / (2 * step);
	}
	return (4 * s[1] - s[0]) / 3;
}

/* Does a step of +-h from here cross an activation's 0? Differences then say nothing. */
static bool is_smooth(struct fixture *f, size_t at)
{
	const double h = 1e-3;
	double w = f->weight[at], s[3];

	for (int i = 0; i < 3; i++) {
		double step = h / (1 << i);

		s[i] = (loss_with(f, at, w + step) + loss_with(f, at, w - step) -
			2 * loss_with(f, at, w)) /
		       (step * step);
	}
	return fabs(s[0] - s[1]) + fabs(s[1] - s[2]) <= 1e-3 * fabs(s[0]) + 1e-7;
}

/* 200 parameters, each relative to the larger of its slope and a thousandth of the steepest. */
Test(small_mlp_reference, its_gradient_is_the_slope)
{
	static const int64_t width[] = { 24, 16 };
	struct mlp_opts o = hidden_opts(2, width);
	struct fixture f;
	double steepest = 0;
	int compared = 0;

	o.batch = 4;
	f = fixture_new(o);
	mlp_reference(&f.net, f.weight, &f.batch, NULL, f.gradient, NULL);
	for (size_t i = 0; i < f.net.numbers; i++)
		steepest = fmax(steepest, fabs(f.gradient[i]));
	for (uint32_t i = 0; compared < 200; i++) {
		size_t at = draw_parameter(&f.net, i);
		double want, scale;

		cr_assert(i < 2000, "only %d parameters without a kink nearby", compared);
		if (!is_smooth(&f, at))
			continue;
		want = slope(&f, at);
		scale = fmax(fabs(want), 1e-3 * steepest);
		cr_assert(fabs(f.gradient[at] - want) <= 1e-6 * scale,
			  "parameter %zu: %.12g, by differences %.12g", at, f.gradient[at], want);
		compared++;
	}
	fixture_free(&f);
}

/* The loss is that of a uniform guess where all weights are 0, and the gradient of b is known. */
Test(small_mlp_reference, of_no_weights_every_digit_is_as_likely)
{
	struct mlp_opts o = default_opts();
	struct fixture f;
	double loss, sum = 0;

	o.batch = 10;
	f = fixture_new(o);
	memset(f.weight, 0, f.net.numbers * sizeof(double));
	loss = mlp_reference(&f.net, f.weight, &f.batch, NULL, f.gradient, NULL);
	cr_assert(fabs(loss - log(10)) < 1e-14, "%.17g", loss);
	for (int c = 0; c < MLP_CLASSES; c++) {
		double want = 0.1;

		for (int r = 0; r < 10; r++)
			want -= f.batch.label[r] == c ? 0.1 : 0;
		sum += fabs(want);
		cr_assert(fabs(f.gradient[f.net.bias_at[2] + (size_t)c] - want) < 1e-14, "class %d",
			  c);
	}
	cr_assert(sum > 0.1, "labels say nothing");
	fixture_free(&f);
}

/* A loss of nearly nothing keeps its digits, and so does its gradient. */
Test(small_mlp_reference, a_certain_answer_keeps_its_digits)
{
	static const int64_t width[] = { 8 };
	struct mlp_opts o = hidden_opts(1, width);
	struct fixture f;
	double loss, *b;

	o.batch = 1;
	f = fixture_new(o);
	memset(f.weight, 0, f.net.numbers * sizeof(double));
	b = f.weight + f.net.bias_at[2];
	b[f.batch.label[0]] = 60;
	loss = mlp_reference(&f.net, f.weight, &f.batch, NULL, f.gradient, NULL);
	cr_assert(fabs(loss / (9 * exp(-60)) - 1) < 1e-12, "%g", loss);
	cr_assert(fabs(f.gradient[f.net.bias_at[2] + f.batch.label[0]] / (-9 * exp(-60)) - 1) <
			  1e-12,
		  "its gradient");
	fixture_free(&f);
}

/* ---- order and weights ----------------------------------------------------------------- */

static void expect_permutation(uint32_t n, uint64_t epoch)
{
	uint8_t *seen = calloc(n, 1);

	CHECK(seen, "%u", n);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t at = mlp_permuted(i, n, epoch, 5);

		cr_assert(at < n && !seen[at]++, "n=%u: %u twice or too large", n, at);
	}
	free(seen);
}

Test(small_mlp_reference, an_epoch_takes_every_image_once)
{
	static const uint32_t n[] = { 1, 2, 3, 4, 5, 16, 17, 255, 256, 257, 1000, 60000, 65537 };

	for (size_t i = 0; i < sizeof(n) / sizeof(*n); i++)
		for (uint64_t epoch = 0; epoch < 3; epoch++)
			expect_permutation(n[i], epoch);
}

/* Places of neighbours and of the same image in two epochs look independent: mean distance n / 3.
 */
Test(small_mlp_reference, the_order_is_shuffled_anew_each_epoch)
{
	enum { N = 60000 };
	double neighbours = 0, epochs = 0, seeds = 0;

	for (uint32_t i = 1; i < N; i++) {
		double at = mlp_permuted(i, N, 1, 5);

		neighbours += fabs(at - mlp_permuted(i - 1, N, 1, 5)) / N;
		epochs += fabs(at - mlp_permuted(i, N, 2, 5)) / N;
		seeds += fabs(at - mlp_permuted(i, N, 1, 6)) / N;
	}
	/* standard deviation of such a mean: 0.236 / sqrt(60000) = 0.001 */
	cr_assert(fabs(neighbours / N - 1.0 / 3) < 0.006, "neighbours: %g", neighbours / N);
	cr_assert(fabs(epochs / N - 1.0 / 3) < 0.006, "epochs: %g", epochs / N);
	cr_assert(fabs(seeds / N - 1.0 / 3) < 0.006, "seeds: %g", seeds / N);
}

Test(small_mlp_reference, minibatches_follow_each_other_over_the_end)
{
	enum { N = 100, BATCH = 32 };

	for (uint64_t step = 0; step < 8; step++)
		for (uint32_t r = 0; r < BATCH; r++) {
			uint64_t at = step * BATCH + r;

			cr_assert(mlp_sample(step, BATCH, r, N, 3) ==
					  mlp_permuted((uint32_t)(at % N), N, at / N, 3),
				  "step %lu, row %u", (unsigned long)step, r);
		}
}

/* Mean 0 and variance 2 / fan_in, on the device as in the reference. */
Test(small_mlp_reference, first_weights_are_hes)
{
	struct run *r;
	double *w;

	need_device();
	r = run_begin(default_opts());
	w = fetch_numbers(r, r->s.weight);
	for (int l = 1; l <= r->s.net.last; l++) {
		uint32_t n = (uint32_t)(r->s.net.width[l - 1] * r->s.net.width[l]);
		double sum = 0, squares = 0, variance = 2.0 / (double)r->s.net.width[l - 1];

		for (uint32_t i = 0; i < n; i++) {
			double v = w[r->s.net.weight_at[l] + i];

			cr_assert(fabs(v - mlp_reference_init(&r->s.net, l, i, 1)) <=
					  1e-7 * sqrt(variance) * 6,
				  "layer %d, weight %u: %g", l, i, v);
			sum += v;
			squares += v * v;
		}
		/* five standard deviations of the mean and of the variance of n numbers */
		cr_assert(fabs(sum / n) < 5 * sqrt(variance / n), "layer %d: mean %g", l, sum / n);
		cr_assert(fabs(squares / n / variance - 1) < 5 * sqrt(2.0 / n),
			  "layer %d: variance %g", l, squares / n);
		for (int64_t i = 0; i < r->s.net.width[l]; i++)
			cr_assert(w[r->s.net.bias_at[l] + (size_t)i] == 0, "a bias");
	}
	free(w);
	run_end(r);
}
