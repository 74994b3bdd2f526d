/* app_train.c - epochs=N: training as such, with the loss of each step and tests in between. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/cuda_check.h"
#include "common/interrupt.h"
#include "common/plot.h"
#include "workloads/mlp/mlp.h"

enum { PIECE = 256 }; /* steps enqueued at a time */

int mlp_test_accuracy(const struct mlp_opts *o, struct mlp_state *s, double *share)
{
	const struct mlp_images *im = &s->data->test_device;
	struct mlp_source source = { im->pixel, im->label, (uint32_t)im->n, 0, NULL, 0 };
	const struct mlp_head head = mlp_head_of(s);
	unsigned right = 0, *device;

	CUDA(cudaMalloc((void **)&device, sizeof(*device)));
	CUDA(cudaMemsetAsync(device, 0, sizeof(*device), s->own));
	for (; source.first < source.n && !interrupted(); source.first += s->batch) {
		uint32_t left = source.n - source.first;

		mlp_forward(o, s, &source, s->own);
		mlp_predict(&head, left < s->batch ? left : s->batch, device, s->half, s->own);
	}
	CUDA(cudaStreamSynchronize(s->own));
	CUDA(cudaMemcpy(&right, device, sizeof(right), cudaMemcpyDeviceToHost));
	CUDA(cudaFree(device));
	*share = (double)right / (double)im->n;
	return interrupted() ? -EINTR : 0;
}

/* ---- epochs ---------------------------------------------------------------------------- */

/* Losses of the steps from *done on, up to `end`. */
static int run_steps(const struct mlp_opts *o, struct mlp_state *s, int64_t *done, int64_t end)
{
	struct mlp_history *h = &s->history;

	while (*done < end) {
		int64_t n = end - *done < PIECE ? end - *done : PIECE;

		/* no piece goes over the end of the losses that are kept */
		if (*done % MLP_LOSSES + n > MLP_LOSSES)
			n = MLP_LOSSES - *done % MLP_LOSSES;
		for (int64_t i = 0; i < n; i++)
			mlp_step(o, s, s->own);
		CUDA(cudaStreamSynchronize(s->own));
		CUDA(cudaMemcpy(h->loss + *done, &s->progress->loss[*done % MLP_LOSSES],
				(size_t)n * sizeof(float), cudaMemcpyDeviceToHost));
		*done += n;
		if (interrupted())
			return -EINTR;
	}
	return 0;
}

int64_t mlp_steps_for(const struct mlp_state *s, int64_t parts)
{
	int64_t each = (int64_t)s->batch * MLP_TESTS;

	return (parts * s->data->train.n + each - 1) / each;
}

double mlp_mean_loss(const struct mlp_history *h, int64_t from, int64_t to)
{
	double sum = 0;

	for (int64_t i = from; i < to; i++)
		sum += (double)h->loss[i];
	return sum / (double)(to - from);
}

static void print_epoch(const struct mlp_state *s, int64_t epoch)
{
	const struct mlp_history *h = &s->history;
	int64_t to = epoch * MLP_TESTS;

	fprintf(stderr, "epoch %ld of %ld: loss %.4f, test accuracy %.2f %%\n", (long)epoch,
		(long)h->epochs,
		mlp_mean_loss(h, mlp_steps_for(s, to - MLP_TESTS), mlp_steps_for(s, to)),
		100 * h->accuracy[to]);
}

static void begin_history(struct mlp_state *s, int64_t epochs)
{
	struct mlp_history *h = &s->history;
	size_t tests = (size_t)epochs * MLP_TESTS + 1;

	free(h->loss);
	free(h->accuracy);
	*h = (struct mlp_history){ .steps = mlp_steps_for(s, epochs * MLP_TESTS),
				   .epochs = epochs };
	h->loss = calloc((size_t)h->steps + 1, sizeof(*h->loss));
	h->accuracy = calloc(tests, sizeof(*h->accuracy));
	CHECK(h->loss && h->accuracy, "%ld steps", (long)h->steps);
}

int mlp_train(const struct mlp_opts *o, struct mlp_state *s, int64_t epochs)
{
	int64_t done = 0;
	int err;

	begin_history(s, epochs);
	mlp_reset(o, s, s->own);
	err = mlp_test_accuracy(o, s, &s->history.accuracy[0]);
	for (int64_t part = 1; !err && part <= epochs * MLP_TESTS; part++) {
		err = run_steps(o, s, &done, mlp_steps_for(s, part));
		err = err ? err : mlp_test_accuracy(o, s, &s->history.accuracy[part]);
		if (!err && part % MLP_TESTS == 0)
			print_epoch(s, part / MLP_TESTS);
	}
	return err;
}
