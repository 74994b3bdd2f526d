/* setup.c - memory and inputs of the radixsort workload. */
#include <errno.h>
#include <stdio.h>

#include "common/cuda_check.h"
#include "common/device.h"
#include "workloads/radixsort/radixsort.h"

/* The workspace: shape.besides bytes, for which dataset_make() has found memory.
 */
static int allocate_workspace(struct radixsort_state *s, int64_t pairs, const char *what)
{
	size_t board = (size_t)radixsort_board_bytes(pairs, s->size);
	size_t between = (size_t)s->set.shape.besides - board;
	int err = board ? device_new(&s->between, between, "%s", what) : 0;

	return err || !board ? err : device_new(&s->board, board, "%s", what);
}

/*
 * An SM holds one block that takes half of its shared memory, as each takes 1 KiB besides. Where
 * blocks cannot have as much as tiles for so many pairs take (64 KiB on compute capability 7.5),
 * tiles are smaller.
 */
static void fit_device(struct radixsort_state *s, int64_t pairs)
{
	size_t half = (size_t)device_attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor) / 2;
	size_t most = (size_t)device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
	int size = radixsort_size_for(pairs);

	while (size > 0 && radixsort_tile_bytes((enum radixsort_size)size) > most)
		size--;
	s->size = (enum radixsort_size)size;
	s->processors = (uint32_t)device_attribute(cudaDevAttrMultiProcessorCount);
	s->alone_bytes = half <= most ? (uint32_t)half : 0;
}

int radixsort_setup(const void *opts, void *state)
{
	const struct radixsort_opts *o = opts;
	struct radixsort_state *s = state;
	struct dataset_shape shape = radixsort_shape(o);
	struct radixsort_launch launch;
	int err = device_present();
	char what[64];

	if (!err)
		err = programmatic_check((enum programmatic)o->launch);
	if (err)
		return err;
	fit_device(s, o->pairs);
	shape.besides += radixsort_board_bytes(o->pairs, s->size) -
			 radixsort_board_bytes(o->pairs, radixsort_size_for(o->pairs));
	snprintf(what, sizeof(what), "pairs=%ld slots=%ld", (long)o->pairs, (long)o->set.slots);
	err = dataset_make(&s->set, &o->set, &shape, what);
	if (!err)
		err = allocate_workspace(s, o->pairs, what);
	if (err)
		return err;
	launch = radixsort_make_launch(o, s, 1, true);
	radixsort_load_kernels(&launch);
	return dataset_fill(&s->set, &radixsort_work, o, s);
}

void radixsort_teardown(void *state)
{
	struct radixsort_state *s = state;

	dataset_release(&s->set);
	device_free(s->between);
	device_free(s->board);
	*s = (struct radixsort_state){ 0 };
}
