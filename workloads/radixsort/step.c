/* step.c - steps of the radixsort workload. */

#include "common/check.h"
#include "common/device.h"
#include "common/cuda_check.h"
#include "workloads/radixsort/radixsort.h"

int radixsort_reset(const void *opts, void *state, cudaStream_t stream)
{
	struct radixsort_state *s = state;

	(void)opts;
	dataset_reset(&s->set, stream);
	if (s->board) /* a sort that was broken off may have left counts */
		CUDA(cudaMemsetAsync(s->board, 0, sizeof(*s->board), stream));
	return 0;
}

/* The arrays of slot `at` of the device. */
static struct radixsort_arrays slot_arrays(const struct radixsort_state *s, int64_t at)
{
	struct radixsort_arrays a = { .stride = dataset_stride(&s->set.shape.array[0]) };

	for (int k = 0; k < RADIXSORT_ARRAYS; k++) {
		a.in[k] = dataset_device(&s->set, k, at);
		a.out[k] = dataset_device(&s->set, RADIXSORT_ARRAYS + k, at);
	}
	return a;
}

static void make_slot(const void *opts, void *state, int64_t slot, int64_t at)
{
	const struct radixsort_opts *o = opts;
	struct radixsort_arrays a = slot_arrays(state, at);

	radixsort_fill(&a, o->pairs, (uint32_t)slot, o->keys, (uint64_t)o->seed, 0);
}

struct radixsort_launch radixsort_make_launch(const struct radixsort_opts *o,
					      const struct radixsort_state *s, uint32_t steps,
					      bool counts)
{
	struct radixsort_launch l = {
		.arrays = slot_arrays(s, 0),
		.between = { s->between },
		.board = s->board,
		.n = (uint32_t)o->pairs,
		.slots = s->set.device_slots,
		.steps = steps,
		.advance = counts ? steps : 0,
		.size = s->size,
		.pdl = o->launch == PROGRAMMATIC_YES,
		.processors = s->processors,
		.alone_bytes = s->alone_bytes,
		.counter = s->set.counter,
	};

	if (s->between)
		l.between[1] = s->between + l.arrays.stride;
	return l;
}

static void launch_sorts(const struct radixsort_opts *o, const struct radixsort_state *s,
			 uint32_t steps, bool counts, cudaStream_t stream)
{
	struct radixsort_launch l = radixsort_make_launch(o, s, steps, counts);

	radixsort_sort(&l, stream);
}

static void compute_part(const void *opts, void *state, const struct dataset_part *part,
			 cudaStream_t stream)
{
	launch_sorts(opts, state, 1, part->counts, stream);
}

const struct dataset_work radixsort_work = { make_slot, compute_part };

int radixsort_step(const void *opts, void *state, cudaStream_t stream)
{
	struct radixsort_state *s = state;

	dataset_step(&s->set, &radixsort_work, opts, state, stream);
	return 0;
}

/* For pairs that one block sorts; limits refuse more. */
int radixsort_fused(const void *opts, void *state, cudaStream_t stream, int64_t n)
{
	int err = device_steps_fit(n);

	if (err)
		return err;
	launch_sorts(opts, state, (uint32_t)n, true, stream);
	return 0;
}
