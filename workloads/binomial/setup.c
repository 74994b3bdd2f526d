/* setup.c - memory, inputs and steps of the binomial workload. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/cuda_check.h"
#include "common/device.h"
#include "workloads/binomial/binomial.h"
#include "workloads/binomial/inputs.h"
#include "workloads/binomial/plan.h"

/* In double; what the device gets is rounded once. */
static struct binomial_option option_of(const struct binomial_opts *o, struct binomial_input in)
{
	double dt = in.T / (double)o->steps, up = o->volatility * sqrt(dt);
	double p = (exp(o->rate * dt) - exp(-up)) / (exp(up) - exp(-up)), each = exp(-o->rate * dt);
	bool two = o->form == BINOMIAL_TWO;

	return (struct binomial_option){
		.S = in.S,
		.X = in.X,
		.up = (float)up,
		.a = (float)(two ? each * p : p),
		.b = (float)(two ? each * (1 - p) : exp(-o->rate * in.T)),
	};
}

/* The host makes the inputs: there are at most 65,536 of them. */
static void make(const void *opts, void *state, int64_t slot, int64_t at)
{
	const struct binomial_opts *o = opts;
	const struct binomial_state *s = state;
	size_t bytes = (size_t)o->options * sizeof(float);
	float *in = malloc(BINOMIAL_INPUTS * bytes), *p = in;

	CHECK(in, "%ld options", (long)o->options);
	for (int64_t i = 0; i < o->options; i++) {
		struct binomial_option x = option_of(
			o, binomial_input((uint32_t)i, (uint32_t)slot, (uint64_t)o->seed));
		const float word[BINOMIAL_INPUTS] = { x.S, x.X, x.up, x.a, x.b };

		for (int k = 0; k < BINOMIAL_INPUTS; k++)
			in[k * o->options + i] = word[k];
	}
	for (int k = 0; k < BINOMIAL_INPUTS; k++, p += o->options)
		CUDA(cudaMemcpy(dataset_device(&s->set, k, at), p, bytes, cudaMemcpyHostToDevice));
	free(in);
}

/* ---- steps ------------------------------------------------------------------------------ */

/* `steps` steps on options [first, end), in as many launches as options say. */
static void launch(const struct binomial_opts *o, const struct binomial_state *s, int64_t first,
		   int64_t end, uint32_t steps, bool counts, cudaStream_t stream)
{
	int64_t most = o->launch_options ? o->launch_options : end - first;
	struct binomial_launch l = {
		.arrays.out = dataset_device(&s->set, BINOMIAL_INPUTS, 0),
		.arrays.stride = dataset_stride(&s->set.shape.array[0]),
		.counter = s->set.counter,
		.slots = s->set.device_slots,
		.steps = steps,
		.plan = s->plan,
	};

	for (int k = 0; k < BINOMIAL_INPUTS; k++)
		l.arrays.in[k] = dataset_device(&s->set, k, 0);
	for (int64_t at = first; at < end; at += most) {
		l.first = (uint32_t)at;
		l.end = (uint32_t)(end - at < most ? end : at + most);
		l.advance = counts && l.end == end ? steps : 0;
		binomial_price(&l, (enum binomial_form)o->form, stream);
	}
}

static void compute(const void *opts, void *state, const struct dataset_part *part,
		    cudaStream_t stream)
{
	const struct binomial_state *s = state;
	const struct dataset_array *a = &s->set.shape.array[0];

	launch(opts, s, dataset_edge(a, part->chunk, part->chunks),
	       dataset_edge(a, part->chunk + 1, part->chunks), 1, part->counts, stream);
}

const struct dataset_work binomial_work = { make, compute };

int binomial_step(const void *opts, void *state, cudaStream_t stream)
{
	struct binomial_state *s = state;

	dataset_step(&s->set, &binomial_work, opts, state, stream);
	return 0;
}

int binomial_fused(const void *opts, void *state, cudaStream_t stream, int64_t n)
{
	const struct binomial_opts *o = opts;

	if (n > UINT32_MAX)
		return complain(ENOTSUP, "%ld steps: at most %ld fit one launch", (long)n,
				(long)UINT32_MAX);
	launch(o, state, 0, o->options, (uint32_t)n, true, stream);
	return 0;
}

/* ---- the other hooks -------------------------------------------------------------------- */

int binomial_setup(const void *opts, void *state)
{
	const struct binomial_opts *o = opts;
	struct binomial_state *s = state;
	struct dataset_shape shape = binomial_shape(o);
	int err = device_present();
	char what[64];

	if (err)
		return err;
	binomial_load_kernels();
	s->plan = binomial_plan(o->steps);
	snprintf(what, sizeof(what), "options=%ld slots=%ld", (long)o->options, (long)o->set.slots);
	err = dataset_make(&s->set, &o->set, &shape, what);
	return err ? err : dataset_fill(&s->set, &binomial_work, o, s);
}

int binomial_reset(const void *opts, void *state, cudaStream_t stream)
{
	struct binomial_state *s = state;

	(void)opts;
	dataset_reset(&s->set, stream);
	return 0;
}

void binomial_teardown(void *state)
{
	struct binomial_state *s = state;

	dataset_release(&s->set);
}
