/* products_float.cu - the products of product.cuh, with weights in float. */
#include "workloads/decode/product.cuh"

DECODE_PRODUCT_KERNELS(float, 1);
DECODE_PRODUCT_KERNELS(float, 2);
DECODE_PRODUCT_KERNELS(float, 4);
DECODE_PRODUCT_KERNELS(float, 8);

extern "C" void decode_multiply_float(enum decode_product which, const struct decode_device *d,
				      const struct decode_layer *l, bool overlaps,
				      cudaStream_t stream)
{
	launch_product<float>(which, d, l, overlaps, stream);
}

extern "C" void decode_load_float(const struct decode_device *d)
{
	load_products<float>(d);
}
