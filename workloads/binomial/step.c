/* step.c - steps of the binomial workload. */

#include "common/check.h"
#include "common/device.h"
#include "workloads/binomial/binomial.h"

int binomial_reset(const void *opts, void *state, cudaStream_t stream)
{
	struct binomial_state *s = state;

	(void)opts;
	dataset_reset(&s->set, stream);
	return 0;
}

/* `steps` steps on options [first, end), in as many launches as options say. */
static void launch_options(const struct binomial_opts *o, const struct binomial_state *s,
			   int64_t first, int64_t end, uint32_t steps, bool counts,
			   cudaStream_t stream)
{
	int64_t most = o->launch_options ? o->launch_options : end - first;
	struct binomial_launch l = {
		.arrays.out = dataset_device(&s->set, BINOMIAL_INPUTS, 0),
		.arrays.stride = dataset_stride(&s->set.shape.array[0]),
		.counter = s->set.counter,
		.slots = s->set.device_slots,
		.steps = steps,
		.minus_one = -1,
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

static void compute_part(const void *opts, void *state, const struct dataset_part *part,
			 cudaStream_t stream)
{
	const struct binomial_state *s = state;
	const struct dataset_array *a = &s->set.shape.array[0];

	launch_options(opts, s, dataset_edge(a, part->chunk, part->chunks),
		       dataset_edge(a, part->chunk + 1, part->chunks), 1, part->counts, stream);
}

const struct dataset_work binomial_work = { binomial_make, compute_part };

int binomial_step(const void *opts, void *state, cudaStream_t stream)
{
	struct binomial_state *s = state;

	dataset_step(&s->set, &binomial_work, opts, state, stream);
	return 0;
}

int binomial_fused(const void *opts, void *state, cudaStream_t stream, int64_t n)
{
	const struct binomial_opts *o = opts;
	int err = device_steps_fit(n);

	if (err)
		return err;
	launch_options(o, state, 0, o->options, (uint32_t)n, true, stream);
	return 0;
}
