/* step.c - steps of the blackscholes workload. */

#include "common/cuda_check.h"
#include "common/device.h"
#include "workloads/blackscholes/blackscholes.h"

int blackscholes_reset(const void *opts, void *state, cudaStream_t stream)
{
	struct blackscholes_state *s = state;

	(void)opts;
	dataset_reset(&s->set, stream);
	return 0;
}

/* The device makes the inputs: for 2^29 options the host would take a minute. */
static void make_slot(const void *opts, void *state, int64_t slot, int64_t at)
{
	const struct blackscholes_opts *o = opts;
	struct blackscholes_arrays a = blackscholes_device_arrays(state);

	for (int k = 0; k < BLACKSCHOLES_INPUTS; k++)
		a.in[k] += at * a.stride;
	blackscholes_fill(&a, o->options, (uint32_t)slot, (uint64_t)o->seed, 0);
}

/* `steps` steps on options [first, end). */
static void launch_options(const struct blackscholes_opts *o, const struct blackscholes_state *s,
			   int64_t first, int64_t end, uint32_t steps, bool counts,
			   cudaStream_t stream)
{
	const struct blackscholes_launch l = {
		.arrays = blackscholes_device_arrays(s),
		.market = s->market,
		.first = (uint32_t)first,
		.end = (uint32_t)end,
		.slots = s->set.device_slots,
		.steps = steps,
		.advance = counts ? steps : 0,
		.pdl = o->launch == PROGRAMMATIC_YES,
		.resident = s->resident,
		.counter = s->set.counter,
	};

	blackscholes_price(&l, (enum blackscholes_cnd)o->cnd, (enum blackscholes_math)o->math,
			   stream);
}

static void compute_part(const void *opts, void *state, const struct dataset_part *part,
			 cudaStream_t stream)
{
	const struct blackscholes_state *s = state;
	const struct dataset_array *a = &s->set.shape.array[0];

	launch_options(opts, s, dataset_edge(a, part->chunk, part->chunks),
		       dataset_edge(a, part->chunk + 1, part->chunks), 1, part->counts, stream);
}

const struct dataset_work blackscholes_work = { make_slot, compute_part };

int blackscholes_step(const void *opts, void *state, cudaStream_t stream)
{
	struct blackscholes_state *s = state;

	dataset_step(&s->set, &blackscholes_work, opts, state, stream);
	return 0;
}

int blackscholes_fused(const void *opts, void *state, cudaStream_t stream, int64_t n)
{
	const struct blackscholes_opts *o = opts;
	int err = device_steps_fit(n);

	if (err)
		return err;
	launch_options(o, state, 0, o->options, (uint32_t)n, true, stream);
	return 0;
}
