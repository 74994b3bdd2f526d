/*
 * test_mlp_steps.c - steps: gradients against the reference for many shapes, the loss curve, and
 * what is learnt.
 */
#include "tests/plain.h"
#include "tests/on_cpu.h"
#include "tests/races.h"
#include "workloads/mlp/test_mlp.h"

TestSuite(small_mlp_steps, .timeout = 300);
TestSuite(large_mlp_steps, .timeout = 600);

/* ---- gradients ------------------------------------------------------------------------- */

struct shape {
	int64_t batch;
	int layers;
	int64_t width[4];
};

static const struct shape shapes[] = {
	{ 3, 2, { 33, 8 } },	{ 1, 1, { 8 } },
	{ 2, 1, { 9 } },	{ 7, 3, { 13, 9, 8 } },
	{ 33, 1, { 128 } },	{ 64, 1, { 257 } },
	{ 65, 2, { 64, 40 } },	{ 300, 1, { 8 } },
	{ 1025, 2, { 8, 10 } }, { 130, 4, { 16, 24, 32, 17 } },
};

enum { SHAPES = sizeof(shapes) / sizeof(*shapes) };

/* Every gradient, the loss and every update of the first three steps. */
static void expect_right(struct mlp_opts o)
{
	struct run *r = run_begin(o);
	struct verdict v;

	run_steps(r, 3);
	v = run_verdict(r, 3, true);
	cr_assert(v.passed, "batch=%ld, %d hidden, epilogues=%d, launches=%d: %g, %s",
		  (long)o.batch, r->s.net.hidden, o.epilogues, o.launches, v.error, v.worst);
	cr_assert(v.compared == v.total && v.total == 3 * r->s.net.parameters, "%ld of %ld",
		  (long)v.compared, (long)v.total);
	run_end(r);
}

static void expect_variants(const struct shape *shape)
{
	struct mlp_opts o = hidden_opts(shape->layers, shape->width);

	o.batch = shape->batch;
	for (o.epilogues = RACES ? 1 : 0; o.epilogues <= MLP_EPILOGUES_YES; o.epilogues++)
		expect_right(o);
	o.epilogues = MLP_EPILOGUES_YES;
	o.launches = MLP_MANY;
	expect_right(o);
}

Test(small_mlp_steps, gradients_are_the_references)
{
	need_device();
	expect_variants(&shapes[0]);
}

/* The first one is above. */
Test(large_mlp_steps, gradients_of_many_shapes)
{
	need_device();
	for (int i = 1; i < SHAPES; i++)
		expect_variants(&shapes[i]);
}

Test(small_mlp_steps, so_they_are_of_a_copied_minibatch)
{
	static const int64_t width[] = { 12 };
	struct mlp_opts o = hidden_opts(1, width);

	need_device();
	o.input = MLP_HOST;
	o.batch = 5;
	expect_right(o);
	o.launches = MLP_MANY;
	expect_right(o);
}

/* A batch of more rows than there are images takes some of them more than once. */
Test(small_mlp_steps, a_batch_may_span_epochs)
{
	static const int64_t width[] = { 12 };
	struct mlp_opts o = hidden_opts(1, width);

	need_device();
	o.images = 11;
	o.batch = 25;
	expect_right(o);
}

/* The reference goes its own way for so many steps. */
static void expect_curve(struct mlp_opts o, uint64_t steps)
{
	struct run *r = run_begin(o);
	size_t n = r->s.net.numbers;
	double *w = fetch_numbers(r, r->s.weight), *g = calloc(n, sizeof(*g));
	double *v = calloc(n, sizeof(*v));

	CHECK(g && v, "memory");
	run_steps(r, (int64_t)steps);
	for (uint64_t k = 0; k < steps; k++) {
		struct mlp_batch b =
			mlp_batch_new(&r->s.data->train, k, (uint32_t)o.batch, (uint64_t)o.seed);
		double loss = mlp_reference(&r->s.net, w, &b, NULL, g, NULL);

		cr_assert(fabs((double)mlp_step_loss(&r->s, k) / loss - 1) <= 1e-3,
			  "step %lu: loss %g, not %g", (unsigned long)k,
			  (double)mlp_step_loss(&r->s, k), loss);
		for (size_t i = 0; i < n; i++) {
			v[i] = (double)(float)o.momentum * v[i] + g[i];
			w[i] -= (double)(float)mlp_rate(&o) * v[i];
		}
		mlp_batch_free(&b);
	}
	free(w);
	free(g);
	free(v);
	run_end(r);
}

Test(small_mlp_steps, losses_are_the_references)
{
	static const int64_t width[] = { 16, 8 };
	struct mlp_opts o = hidden_opts(2, width);

	need_device();
	o.batch = 4;
	expect_curve(o, 8);
}

Test(large_mlp_steps, a_hundred_losses_are_the_references)
{
	static const int64_t width[] = { 32, 16 };
	struct mlp_opts o = hidden_opts(2, width);

	need_device();
	expect_curve(default_opts(), ON_CPU ? 40 : 100);
	o.batch = 16;
	o.rate = 0.05;
	expect_curve(o, 100);
	o.launches = MLP_MANY;
	expect_curve(o, 100);
}

/* ---- learning -------------------------------------------------------------------------- */

Test(large_mlp_steps, a_network_learns)
{
	static const int64_t width[] = { 32 };
	struct mlp_opts o = hidden_opts(1, width);
	double before, after;
	struct run *r;

	need_device();
	o.images = 2000;
	r = run_begin(o);
	cr_assert(!mlp_test_accuracy(&o, &r->s, &before), "tested");
	run_steps(r, 60);
	cr_assert(!mlp_test_accuracy(&o, &r->s, &after), "tested");
	cr_assert(before < 0.3 && after > 0.9, "%g before, %g after", before, after);
	run_end(r);
}

/* What the test counts is what the reference's rule says, row by row, at batches that do not fit.
 */
Test(small_mlp_steps, accuracy_counts_every_test_image_once)
{
	static const int64_t width[] = { 16 };
	struct mlp_opts o = hidden_opts(1, width);
	struct run *r;
	double *w, share;
	int right = 0;

	need_device();
	o.batch = 24;
	r = run_begin(o);
	run_steps(r, 3);
	cr_assert(!mlp_test_accuracy(&o, &r->s, &share), "tested");
	w = fetch_numbers(r, r->s.weight);
	for (int64_t i = 0; i < r->s.data->test.n; i++) {
		double least = INFINITY, loss;
		int best = 0;

		for (int c = 0; c < MLP_CLASSES; c++) { /* the likeliest class costs least */
			uint8_t label = (uint8_t)c;
			struct mlp_images one = { 1, r->s.data->test.pixel + i * MLP_PIXELS,
						  &label };
			struct mlp_batch b = mlp_batch_new(&one, 0, 1, 0);

			loss = mlp_reference(&r->s.net, w, &b, NULL, NULL, NULL);
			best = loss < least ? c : best;
			least = fmin(loss, least);
			mlp_batch_free(&b);
		}
		right += best == r->s.data->test.label[i];
	}
	cr_assert(fabs(share - right / 100.0) < 1e-9 && r->s.data->test.n == 100, "%g, not %d",
		  share, right);
	free(w);
	run_end(r);
}

/* Epochs of the drawn digits at the defaults, on the CPU device of fewer; evaluated at quarters. */
Test(large_mlp_steps, epochs_reach_97_percent)
{
	enum { EPOCHS = ON_CPU ? 1 : 3, IMAGES = ON_CPU ? 12000 : 60000 };
	struct mlp_opts o = default_opts();
	struct run *r;

	need_device();
	o.images = IMAGES;
	r = run_begin(o);
	cr_assert(!mlp_train(&o, &r->s, EPOCHS), "trained");
	cr_assert(r->s.data->test.n == IMAGES / 6, "%ld test images", (long)r->s.data->test.n);
	cr_assert(r->s.history.accuracy[EPOCHS * MLP_TESTS] >= 0.97, "%g",
		  r->s.history.accuracy[EPOCHS * MLP_TESTS]);
	cr_assert(run_verdict(r, (int64_t)mlp_steps_done(&r->s), false).passed, "its last step");
	run_end(r);
}
