/* step.c - steps of the matmul workload. */

#include "common/cuda_check.h"
#include "common/device.h"
#include "workloads/matmul/matmul.h"

int matmul_reset(const void *opts, void *state, cudaStream_t stream)
{
	struct matmul_state *s = state;

	(void)opts;
	dataset_reset(&s->set, stream);
	return 0;
}

/* The arrays of a slot of the device, with the strides to the slots behind it. */
static struct matmul_arrays slot_arrays(const struct matmul_state *s, int64_t slot)
{
	const struct dataset_array *a = s->set.shape.array;

	return (struct matmul_arrays){
		.a = dataset_device(&s->set, MATMUL_A, slot),
		.b = dataset_device(&s->set, MATMUL_B, slot),
		.c = dataset_device(&s->set, MATMUL_C, slot),
		.a_stride = dataset_stride(&a[MATMUL_A]),
		.b_stride = dataset_stride(&a[MATMUL_B]),
		.c_stride = dataset_stride(&a[MATMUL_C]),
	};
}

static void make_slot(const void *opts, void *state, int64_t slot, int64_t at)
{
	const struct matmul_opts *o = opts;
	const struct matmul_state *s = state;
	struct matmul_arrays arrays = slot_arrays(s, at);

	matmul_fill(&arrays, s->shape, (uint32_t)slot, (uint64_t)o->seed, (enum matmul_fill)o->fill,
		    0);
}

/* The rows of A, and of C, that a chunk has, and all of B. */
static struct matmul_shape cut_chunk(const struct matmul_state *s, struct matmul_arrays *arrays,
				     int chunk, int chunks)
{
	const struct dataset_array *a = s->set.shape.array;
	int64_t at = dataset_edge(&a[MATMUL_A], chunk, chunks);
	struct matmul_shape shape = s->shape;

	arrays->a += at;
	arrays->c += dataset_edge(&a[MATMUL_C], chunk, chunks);
	shape.m = (uint32_t)((dataset_edge(&a[MATMUL_A], chunk + 1, chunks) - at) / shape.k);
	return shape;
}

static void launch_tiles(const struct matmul_state *s, const struct dataset_part *part,
			 uint32_t steps, cudaStream_t stream)
{
	struct matmul_launch l = {
		.arrays = slot_arrays(s, 0),
		.slots = s->set.device_slots,
		.steps = steps,
		.advance = part->counts ? steps : 0,
		.counter = s->set.counter,
	};

	l.shape = cut_chunk(s, &l.arrays, part->chunk, part->chunks);
	matmul_multiply(&l, s->tile, stream);
}

/* The library may add in another order for other sizes: a step that is cut is always cut. */
static void launch_library(struct matmul_state *s, const struct dataset_part *part,
			   cudaStream_t stream)
{
	int chunks = dataset_chunks(&s->set.o);
	int first = part->chunks == chunks ? part->chunk : 0;
	int end = part->chunks == chunks ? part->chunk + 1 : chunks;

	for (int c = first; c < end; c++) {
		struct matmul_arrays at = slot_arrays(s, part->slot);
		struct matmul_shape shape = cut_chunk(s, &at, c, chunks);

		matmul_library_multiply(&s->library, shape, at.a, at.b, at.c, stream);
	}
	if (part->counts)
		matmul_count(s->set.counter, stream);
}

static void compute_part(const void *opts, void *state, const struct dataset_part *part,
			 cudaStream_t stream)
{
	const struct matmul_opts *o = opts;

	if (o->impl == MATMUL_CUBLAS)
		launch_library(state, part, stream);
	else
		launch_tiles(state, part, 1, stream);
}

const struct dataset_work matmul_work = { make_slot, compute_part };

int matmul_step(const void *opts, void *state, cudaStream_t stream)
{
	struct matmul_state *s = state;

	dataset_step(&s->set, &matmul_work, opts, state, stream);
	return 0;
}

int matmul_fused(const void *opts, void *state, cudaStream_t stream, int64_t n)
{
	const struct dataset_part all = { 0, 1, true, 0 };
	int err = device_steps_fit(n);

	(void)opts;
	if (err)
		return err;
	launch_tiles(state, &all, (uint32_t)n, stream);
	return 0;
}
