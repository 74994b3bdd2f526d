/*
 * test_mlp_data.c - images that a process draws once and keeps: when they are drawn again, and that
 * no result shows it.
 */
/* sanitizers: seen elsewhere */
#include "tests/plain.h"

#include <signal.h>

#include "common/interrupt.h"
#include "workloads/mlp/test_mlp.h"

TestSuite(small_mlp_data, .init = need_device, .timeout = 300);

enum { STEPS = 5 };

/* Set up, trained, checked and given back; the bits that this leaves. */
static uint64_t whole_run(struct mlp_opts o)
{
	struct run *r = run_begin(o);
	struct verdict v;
	uint64_t bits;

	run_steps(r, STEPS);
	bits = run_bits(r);
	v = run_verdict(r, STEPS, true);
	cr_assert(v.passed, "error %g at %s", v.error, v.worst);
	run_end(r);
	return bits;
}

static struct mlp_opts make_opts(int64_t images, int64_t data_seed)
{
	struct mlp_opts o = default_opts();

	o.images = images;
	o.data_seed = data_seed;
	return o;
}

static void expect_draws(int64_t expected, const char *when)
{
	cr_assert(mlp_data_draws() == expected, "%s: drawn %ld times, not %ld", when,
		  (long)mlp_data_draws(), (long)expected);
}

Test(small_mlp_data, configurations_after_each_other_draw_once)
{
	const int64_t width[] = { 40, 16 };
	struct mlp_opts o = default_opts(), deep = hidden_opts(2, width);

	expect_draws(0, "before");
	whole_run(o);
	expect_draws(1, "the first");
	whole_run(o);
	expect_draws(1, "the same again");
	o.batch = 16;
	o.seed = 2;
	whole_run(o);
	expect_draws(1, "another batch and seed of the weights");
	o.input = MLP_HOST;
	whole_run(o);
	expect_draws(1, "copied from the host");
	deep.launches = MLP_MANY;
	whole_run(deep);
	expect_draws(1, "other layers and launches");
}

Test(small_mlp_data, another_number_or_seed_draws_again)
{
	whole_run(make_opts(600, 1));
	whole_run(make_opts(600, 2));
	expect_draws(2, "another seed");
	whole_run(make_opts(300, 2));
	expect_draws(3, "another number");
	whole_run(make_opts(600, 1));
	expect_draws(4, "the first, after others");
	whole_run(make_opts(600, 1));
	expect_draws(4, "the same again");
}

Test(small_mlp_data, results_do_not_show_what_came_before)
{
	struct mlp_opts device = make_opts(600, 1), host = device;
	uint64_t drawn[2], after[2], other;

	host.input = MLP_HOST;
	drawn[0] = whole_run(device);
	whole_run(make_opts(600, 2));
	drawn[1] = whole_run(host);
	expect_draws(3, "before anything is kept");
	after[0] = whole_run(device);
	after[1] = whole_run(host);
	expect_draws(3, "kept");
	other = whole_run(make_opts(600, 2));
	cr_assert(drawn[0] == after[0] && drawn[1] == after[1], "drawn %lx, %lx; kept %lx, %lx",
		  drawn[0], drawn[1], after[0], after[1]);
	cr_assert(other != drawn[0], "the images make no difference");
}

/* ---- without runs ---------------------------------------------------------------------- */

static const struct mlp_data *get(int64_t images, uint64_t seed)
{
	const struct mlp_data_wish wish = { MLP_DATA_GENERATED, NULL, images, seed };
	const struct mlp_data *d;

	cr_assert(!mlp_data_get(&wish, &d), "see stderr");
	return d;
}

static void expect_images(const struct mlp_images *im, int64_t n, uint32_t set, uint64_t seed)
{
	struct mlp_images fresh;

	cr_assert(!mlp_generate(&fresh, n, set, seed), "drawn");
	cr_assert(im->n == n && !memcmp(im->pixel, fresh.pixel, (size_t)n * MLP_PIXELS) &&
			  !memcmp(im->label, fresh.label, (size_t)n),
		  "%ld images of set %u, seed %lu", (long)n, set, (unsigned long)seed);
	mlp_images_free(&fresh);
}

static void expect_data(const struct mlp_data *d, int64_t images, uint64_t seed)
{
	uint8_t *device = (uint8_t *)malloc((size_t)images * MLP_PIXELS);

	expect_images(&d->train, images, 0, seed);
	expect_images(&d->test, images / 6, 1, seed);
	CHECK(device, "memory");
	CUDA(cudaMemcpy(device, d->train_device.pixel, (size_t)images * MLP_PIXELS,
			cudaMemcpyDeviceToHost));
	cr_assert(!memcmp(device, d->train.pixel, (size_t)images * MLP_PIXELS), "on the device");
	free(device);
}

/* Images in use outlive the draw of others, whichever is given back first. */
Test(small_mlp_data, two_configurations_with_different_images_at_a_time)
{
	const struct mlp_data *a = get(120, 1), *b = get(90, 2), *again;

	expect_data(a, 120, 1);
	expect_data(b, 90, 2);
	again = get(120, 1);
	cr_assert(again == a, "two of the same");
	expect_draws(2, "a configuration has them");
	mlp_data_put(again);
	mlp_data_put(a);
	expect_data(b, 90, 2);
	mlp_data_put(b);
	b = get(90, 2);
	expect_draws(2, "they are the last drawn");
	expect_data(b, 90, 2);
	a = get(120, 1);
	mlp_data_put(b);
	expect_draws(3, "they were forgotten");
	expect_data(a, 120, 1);
	mlp_data_put(a);
}

/* A draw that ends early leaves nothing, and those who have other images keep them. */
Test(small_mlp_data, an_interrupted_draw_is_not_kept)
{
	const struct mlp_data_wish other = { MLP_DATA_GENERATED, NULL, 120, 2 };
	const struct mlp_data_wish first = { MLP_DATA_GENERATED, NULL, 120, 1 };
	const struct mlp_data *used = get(120, 1), *d = used;
	uint8_t pixel[120 * MLP_PIXELS];

	memcpy(pixel, used->train.pixel, sizeof(pixel));
	interrupt_install();
	raise(SIGINT);
	cr_assert(mlp_data_get(&other, &d) == -EINTR && !d, "another seed");
	cr_assert(mlp_data_get(&other, &d) == -EINTR && !d, "another seed, again");
	cr_assert(!memcmp(pixel, used->train.pixel, sizeof(pixel)), "images in use");
	mlp_data_put(used);
	cr_assert(mlp_data_get(&first, &d) == -EINTR && !d, "the first, which is forgotten");
	expect_draws(1, "whole");
}
