/* setup.c - memory and inputs of the binomial workload. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/cuda_check.h"
#include "common/device.h"
#include "workloads/binomial/binomial.h"
#include "workloads/binomial/inputs.h"
#include "workloads/binomial/plan.h"

/* In double; what the device gets is rounded once. */
static struct binomial_option make_option(const struct binomial_opts *o, struct binomial_input in)
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

void binomial_make(const void *opts, void *state, int64_t slot, int64_t at)
{
	const struct binomial_opts *o = opts;
	const struct binomial_state *s = state;
	size_t bytes = (size_t)o->options * sizeof(float);
	float *in = malloc(BINOMIAL_INPUTS * bytes), *p = in;

	CHECK(in, "%ld options", (long)o->options);
	for (int64_t i = 0; i < o->options; i++) {
		struct binomial_option x = make_option(
			o, binomial_input((uint32_t)i, (uint32_t)slot, (uint64_t)o->seed));
		const float word[BINOMIAL_INPUTS] = { x.S, x.X, x.up, x.a, x.b };

		for (int k = 0; k < BINOMIAL_INPUTS; k++)
			in[k * o->options + i] = word[k];
	}
	for (int k = 0; k < BINOMIAL_INPUTS; k++, p += o->options)
		CUDA(cudaMemcpy(dataset_device(&s->set, k, at), p, bytes, cudaMemcpyHostToDevice));
	free(in);
}

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

void binomial_teardown(void *state)
{
	struct binomial_state *s = state;

	dataset_release(&s->set);
}
