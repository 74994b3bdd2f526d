/* products_bf16.cu - the products of product.cuh, with weights in bfloat16. */
#include "workloads/decode/product.cuh"

DECODE_PRODUCT_KERNELS(decode_bf16, 1);
DECODE_PRODUCT_KERNELS(decode_bf16, 2);
DECODE_PRODUCT_KERNELS(decode_bf16, 4);
DECODE_PRODUCT_KERNELS(decode_bf16, 8);

extern "C" void decode_multiply_bf16(enum decode_product which, const struct decode_device *d,
				     const struct decode_layer *l, bool overlaps,
				     cudaStream_t stream)
{
	launch_product<decode_bf16>(which, d, l, overlaps, stream);
}

extern "C" void decode_load_bf16(const struct decode_device *d)
{
	load_products<decode_bf16>(d);
}
