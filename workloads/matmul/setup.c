/* setup.c - memory and inputs of the matmul workload. */
#include <stdio.h>

#include "common/cuda_check.h"
#include "common/device.h"
#include "workloads/matmul/matmul.h"

/* The tile for a chunk's product, which is what one launch computes. */
static enum matmul_tile choose_tile(const struct matmul_opts *o)
{
	struct matmul_shape s = matmul_shape_from(o);
	uint32_t chunks = (uint32_t)dataset_chunks(&o->set);

	if (o->tile != MATMUL_TILE_AUTO)
		return (enum matmul_tile)o->tile;
	s.m = (s.m + chunks - 1) / chunks;
	return matmul_tile_for(s);
}

/* A first product of each chunk makes the library load kernels, which may not happen in a capture.
 */
static void warm_up(const struct matmul_opts *o, struct matmul_state *s)
{
	const struct dataset_part all = { 0, 1, false, 0 };

	if (o->impl != MATMUL_CUBLAS)
		return;
	matmul_work.compute(o, s, &all, 0);
	CUDA(cudaDeviceSynchronize());
}

int matmul_setup(const void *opts, void *state)
{
	const struct matmul_opts *o = opts;
	struct matmul_state *s = state;
	struct dataset_shape layout = matmul_layout(o);
	int err = device_present();
	char what[96];

	if (err)
		return err;
	matmul_load_kernels();
	s->shape = matmul_shape_from(o);
	s->tile = choose_tile(o);
	snprintf(what, sizeof(what), "m=%u n=%u k=%u slots=%ld", s->shape.m, s->shape.n, s->shape.k,
		 (long)o->set.slots);
	err = dataset_make(&s->set, &o->set, &layout, what);
	if (!err && o->impl == MATMUL_CUBLAS)
		err = matmul_library_init(&s->library);
	if (!err)
		err = dataset_fill(&s->set, &matmul_work, o, s);
	if (!err)
		warm_up(o, s);
	return err;
}

void matmul_teardown(void *state)
{
	struct matmul_state *s = state;

	matmul_library_release(&s->library);
	dataset_release(&s->set);
}
