/*
 * matmul.c - the matmul workload: its parameters, what they allow and cost, and its entry in the
 * table.
 *
 * A step multiplies the two matrices of one slot, C = A B in float:
 *
 *   data=streamed  copy A and B to the device; with overlap= in chunks of rows of A
 *   multiply       by tiles (kernels.cu), one launch a chunk; or by cuBLAS (library.c)
 *   data=streamed  copy C back
 *
 * Slots are taken in turn; a counter on the device holds how many steps were made. step.c enqueues
 * it, reference.c is what check.c compares with.
 */
#include "workloads/matmul/matmul.h"
#include "workloads/workload.h"

static const char *const impls[] = { "tiled", "cublas", NULL };
static const char *const tiles[] = { "auto", "128", "64", "32", NULL };
static const char *const fills[] = { "small", "uniform", NULL };

/* clang-format off */
static const struct param params[] = {
	PARAM_AXIS(matmul_opts, n, "1", "1k", 1, MATMUL_MAX,
		   "32,64,128,256,512,1k,2k,4k,8k,16k", "columns of B and of the product"),
	PARAM_SIZE(matmul_opts, m, "1", "0", 0, MATMUL_MAX,
		   "rows of A and of the product; 0: as n"),
	PARAM_SIZE(matmul_opts, k, "1", "0", 0, MATMUL_MAX,
		   "columns of A and rows of B; 0: as n"),
	PARAM_CHOICE_ASIDE(matmul_opts, impl, "tiled", impls, "tiled,cublas",
		     "kernels of rift's own, or NVIDIA's library"),
	PARAM_CHOICE(matmul_opts, tile, "auto", tiles,
		     "rows and columns of the product that a block makes; auto: by the size"),
	PARAM_CHOICE(matmul_opts, fill, "uniform", fills,
		     "integers from -8 to 7, whose products are exact, or floats in [-1, 1)"),
	PARAM_INT(matmul_opts, seed, "1", "1", 0, 9007199254740992.0, "seed of the matrices"),
	DATASET_PARAMS(matmul_opts),
	PARAM_END
};
/* clang-format on */

static const struct param_need needs[] = {
	{ "tile", "impl=tiled" },
	DATASET_NEEDS,
	{ NULL, NULL },
};

/* The sizes of the vmCUDA paper: table 1, and as much as its largest series begins with. */
static const struct preset presets[] = {
	{ "vmcuda-table1", "n=4096 data=streamed total=192M",
	  "the paper's 128 MiB in and 64 MiB out: one product" },
	{ "vmcuda-large", "n=4096 data=streamed total=12800M", "12.5 GiB in 67 such products" },
	{ NULL, NULL, NULL },
};

struct matmul_shape matmul_shape_from(const struct matmul_opts *o)
{
	return (struct matmul_shape){ .m = (uint32_t)(o->m ? o->m : o->n),
				      .n = (uint32_t)o->n,
				      .k = (uint32_t)(o->k ? o->k : o->n) };
}

struct dataset_shape matmul_layout(const struct matmul_opts *o)
{
	struct matmul_shape s = matmul_shape_from(o);
	int64_t m = s.m, n = s.n, k = s.k;
	bool cublas = o->impl == MATMUL_CUBLAS;

	return (struct dataset_shape){
		.inputs = 2,
		.outputs = 1,
		.array = { [MATMUL_A] = { m * k, k, 0 },
			   [MATMUL_B] = { k * n, k * n, 1 },
			   [MATMUL_C] = { m * n, n, 0 } },
		.poison = SLOTS_POISON_REAL,
		.unit = "element",
		.besides = cublas ? MATMUL_WORKSPACE : 0,
		.host_turn = cublas,
	};
}

static int limits(const void *opts, struct limits *out)
{
	const struct matmul_opts *o = opts;
	struct dataset_shape layout = matmul_layout(o);

	out->mode_refused[MODE_GRAPH] = dataset_graph_refused(&o->set, &layout);
	out->mode_refused[MODE_FUSED] = dataset_fused_refused(&o->set);
	if (o->impl == MATMUL_CUBLAS)
		out->mode_refused[MODE_FUSED] = "impl=cublas: its launches are the library's own";
	out->depth_asked = dataset_steps(&o->set, &layout);
	return dataset_opts_check(&o->set, &layout);
}

static int cost(const void *opts, const void *state, struct cost *out)
{
	const struct matmul_opts *o = opts;
	struct dataset_shape layout = matmul_layout(o);
	struct dataset_copies in = dataset_copies_in(&o->set, &layout);
	struct dataset_copies back = dataset_copies_out(&o->set, &layout);
	struct matmul_shape s = matmul_shape_from(o);

	(void)state;
	*out = (struct cost){
		.launches = dataset_chunks(&o->set) + (o->impl == MATMUL_CUBLAS),
		.flops = 2.0 * s.m * s.n * s.k,
		.bytes_moved = (double)dataset_bytes(&layout),
		.bytes_transferred = in.bytes + back.bytes,
		.to_device = { in.calls, in.bytes },
		.to_host = { back.calls, back.bytes },
		.pageable = o->set.data == STREAMED_STREAMED && o->set.memory == STREAMED_PAGEABLE,
		.formula = "2 m n k flops, 4 (m k + k n + m n) B; cublas: one launch a product, "
			   "as far as is known, and one that counts the step",
	};
	return 0;
}

/* Launches are counted in it, and a fused one is one. */
static void scratch(const void *opts, const void *state, struct scratch *out)
{
	const struct matmul_state *s = state;

	(void)opts;
	out->part[out->n++] = (struct scratch_part){ s->set.counter, sizeof(*s->set.counter) };
}

const struct workload workload_matmul = {
	.name = "matmul",
	.summary = "product of two matrices of floats: from a launch and little else to all flops",
	.source = "dense matrix product; NVIDIA's matrixMul sample, as in the vmCUDA paper",
	.step_unit = "product of the two matrices of a slot",
	.params = params,
	.needs = needs,
	.presets = presets,
	.opts_size = sizeof(struct matmul_opts),
	.state_size = sizeof(struct matmul_state),
	.limits = limits,
	.setup = matmul_setup,
	.reset = matmul_reset,
	.step = matmul_step,
	.fused = matmul_fused,
	.check = matmul_check,
	.report = matmul_report,
	.cost = cost,
	.scratch = scratch,
	.teardown = matmul_teardown,
};
