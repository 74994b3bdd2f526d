/* step.c - steps of the stereo workload. */

#include "common/cuda_check.h"
#include "common/device.h"
#include "workloads/stereo/stereo.h"

enum { LEFT, RIGHT, ZEROS };

int stereo_reset(const void *opts, void *state, cudaStream_t stream)
{
	struct stereo_state *s = state;

	(void)opts;
	dataset_reset(&s->set, stream);
	return 0;
}

/* The arrays of a slot of the device; all have one size. */
static struct stereo_arrays slot_arrays(const struct stereo_state *s, int64_t slot)
{
	return (struct stereo_arrays){
		.left = dataset_device(&s->set, LEFT, slot),
		.right = dataset_device(&s->set, RIGHT, slot),
		.out = dataset_device(&s->set, s->set.shape.inputs, slot),
		.stride = dataset_stride(&s->set.shape.array[LEFT]),
	};
}

/* The device makes the images, as the host would take minutes for the largest. */
static void make_slot(const void *opts, void *state, int64_t slot, int64_t at)
{
	const struct stereo_opts *o = opts;
	const struct stereo_state *s = state;
	struct stereo_arrays arrays = slot_arrays(s, at);
	size_t bytes = (size_t)s->size.w * (size_t)s->size.h * sizeof(uint32_t);

	if (o->upload_output)
		CUDA(cudaMemset(dataset_device(&s->set, ZEROS, at), 0, bytes));
	if (!s->left) {
		stereo_fill(&arrays, s->size, (uint32_t)slot, (uint64_t)o->seed, 0);
		return;
	}
	CUDA(cudaMemcpy(arrays.left, s->left, bytes, cudaMemcpyHostToDevice));
	CUDA(cudaMemcpy(arrays.right, s->right, bytes, cudaMemcpyHostToDevice));
}

/* `steps` steps on rows [first, end). */
static void launch_rows(const struct stereo_opts *o, const struct stereo_state *s, int64_t first,
			int64_t end, uint32_t steps, bool counts, cudaStream_t stream)
{
	const struct stereo_launch l = {
		.arrays = slot_arrays(s, 0),
		.size = s->size,
		.first = (int32_t)first,
		.end = (int32_t)end,
		.strip = s->strip,
		.dmin = (int32_t)o->dmin,
		.dmax = (int32_t)o->dmax,
		.slots = s->set.device_slots,
		.steps = steps,
		.advance = counts ? steps : 0,
		.counter = s->set.counter,
	};

	stereo_match(&l, stream);
}

static void compute_part(const void *opts, void *state, const struct dataset_part *part,
			 cudaStream_t stream)
{
	const struct stereo_state *s = state;
	const struct dataset_array *out = &s->set.shape.array[s->set.shape.inputs];

	launch_rows(opts, s, dataset_edge(out, part->chunk, part->chunks) / s->size.w,
		    dataset_edge(out, part->chunk + 1, part->chunks) / s->size.w, 1, part->counts,
		    stream);
}

const struct dataset_work stereo_work = { make_slot, compute_part };

int stereo_step(const void *opts, void *state, cudaStream_t stream)
{
	struct stereo_state *s = state;

	dataset_step(&s->set, &stereo_work, opts, state, stream);
	return 0;
}

int stereo_fused(const void *opts, void *state, cudaStream_t stream, int64_t n)
{
	const struct stereo_state *s = state;
	int err = device_steps_fit(n);

	if (err)
		return err;
	launch_rows(opts, s, 0, s->size.h, (uint32_t)n, true, stream);
	return 0;
}
