/* kernels_tensor.cu - the products of tensor.cuh, and what is loaded and launched for them. */
#include "common/cuda_check.h"
#include "common/device.h"
#include "workloads/decode/tensor.cuh"

/* Blocks that share columns: one, and where there are clusters four or eight. */
#ifdef __CUDACC__
enum { TOGETHER_SOME = 4, TOGETHER_MOST = 8 };
#else
enum { TOGETHER_SOME = 1, TOGETHER_MOST = 1 };
#endif

enum { FILL_PERCENT = 60 }; /* of multiprocessors, that are to have a block */

#define TENSOR_KERNELS(N, BLOCKS)                                                                  \
	KERNEL(decode_tensor_kernel<tensor_qkv, N, BLOCKS>);                                       \
	KERNEL(decode_tensor_kernel<tensor_residual<false>, N, BLOCKS>);                           \
	KERNEL(decode_tensor_kernel<tensor_gate_up, N, BLOCKS>);                                   \
	KERNEL(decode_tensor_kernel<tensor_residual<true>, N, BLOCKS>)
TENSOR_KERNELS(2, 1);
TENSOR_KERNELS(4, 1);
TENSOR_KERNELS(8, 1);
KERNEL(decode_tensor_kernel<tensor_logits, 2, 1>);
KERNEL(decode_tensor_kernel<tensor_logits, 4, 1>);
KERNEL(decode_tensor_kernel<tensor_logits, 8, 1>);

/* Logits have rows enough, and their best is one block's. */
template <int N, int BLOCKS> static product_kernel *choose_tensor(enum decode_product which)
{
	static product_kernel *const kernels[DECODE_PRODUCTS] = {
		[DECODE_QKV] = decode_tensor_kernel<tensor_qkv, N, BLOCKS>,
		[DECODE_OUT] = decode_tensor_kernel<tensor_residual<false>, N, BLOCKS>,
		[DECODE_GATE_UP] = decode_tensor_kernel<tensor_gate_up, N, BLOCKS>,
		[DECODE_BACK] = decode_tensor_kernel<tensor_residual<true>, N, BLOCKS>,
		[DECODE_LOGITS] = decode_tensor_kernel<tensor_logits, N, 1>,
	};

	return kernels[which];
}

/* A product's launch. */
struct tensor_launch {
	product_kernel *kernel;
	dim3 grid;
	size_t bytes;
};

template <int N>
static tensor_launch choose_launch(enum decode_product which, uint32_t blocks, uint32_t chunks,
				   uint32_t together)
{
	return { together == 1		     ? choose_tensor<N, 1>(which)
		 : together == TOGETHER_SOME ? choose_tensor<N, TOGETHER_SOME>(which)
					     : choose_tensor<N, TOGETHER_MOST>(which),
		 dim3(blocks * chunks * together), tensor_shape<N>::BYTES };
}

/* The fewest that give most multiprocessors a block. */
static uint32_t choose_together(enum decode_product which, const struct decode_device *d,
				uint32_t blocks)
{
	const uint32_t wanted = d->processors * FILL_PERCENT / 100;
	const uint32_t some = TOGETHER_SOME, most = TOGETHER_MOST;

	if (which == DECODE_LOGITS || !d->has_clusters || blocks >= wanted)
		return 1;
	return blocks * some >= wanted ? some : most;
}

static tensor_launch find_launch(enum decode_product which, const struct decode_device *d)
{
	uint32_t blocks = (product_units(which, d) + DECODE_TENSOR_UNITS - 1) / DECODE_TENSOR_UNITS;
	uint32_t chunks = d->tiles * DECODE_TILE / d->tensor;
	uint32_t together = choose_together(which, d, blocks * chunks);

	return d->tensor == 16	 ? choose_launch<2>(which, blocks, chunks, together)
	       : d->tensor == 32 ? choose_launch<4>(which, blocks, chunks, together)
				 : choose_launch<8>(which, blocks, chunks, together);
}

extern "C" void decode_multiply_tensor(enum decode_product which, const struct decode_device *d,
				       const struct decode_layer *l, bool overlaps,
				       cudaStream_t stream)
{
	tensor_launch t = find_launch(which, d);

	CUDA(LAUNCH_PROGRAMMATIC(overlaps, t.kernel, t.grid, DECODE_THREADS, t.bytes, stream, *d,
				 *l));
}

extern "C" void decode_load_tensor(const struct decode_device *d)
{
	for (int i = 0; i < DECODE_PRODUCTS; i++) {
		tensor_launch t = find_launch((enum decode_product)i, d);
		const void *kernel = (const void *)t.kernel;

		CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
					  (int)t.bytes));
		device_load_kernel(kernel);
	}
}
