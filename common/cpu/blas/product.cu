/* product.cu - the kernel behind the CPU device's cuBLAS: a product, then its epilogue. */
#include "common/gpu.h"
#include "common/cpu/blas/product.h"

static inline bool bit(const struct product *p, int row, int col)
{
	int64_t at = col * p->mask_ld + row;

	return p->mask[at / 8] >> at % 8 & 1;
}

static inline void set_bit(const struct product *p, int row, int col, bool on)
{
	int64_t at = col * p->mask_ld + row;
	int old = p->mask[at / 8] & ~(1 << at % 8);

	p->mask[at / 8] = (uint8_t)(old | on << at % 8);
}

static void relu(const struct product *p, bool biased, bool masked)
{
	for (int j = 0; j < p->n; j++)
		for (int i = 0; i < p->m; i++) {
			float *d = &p->d[(int64_t)j * p->ldd + i];
			float v = biased ? *d + p->bias[i] : *d;

			*d = v > 0 ? v : v != v ? v : 0; /* NaN stays */
			if (masked)
				set_bit(p, i, j, v > 0);
		}
}

/* Sums in double: of many columns they stay as good as those of a GPU, which adds in a tree. */
static void relu_gradient(const struct product *p)
{
	for (int i = 0; i < p->m; i++) {
		double sum = 0;

		for (int j = 0; j < p->n; j++) {
			float *d = &p->d[(int64_t)j * p->ldd + i];

			*d = bit(p, i, j) ? *d : 0;
			sum += *d;
		}
		p->bias[i] = (float)sum;
	}
}

extern "C" __global__ void cublas_product(struct product p)
{
	if (p.alpha_at)
		p.alpha = *p.alpha_at;
	if (p.beta_at)
		p.beta = *p.beta_at;
	if (p.half)
		product_compute_half(&p);
	else
		product_compute(&p);
	if (p.epilogue == CUBLASLT_EPILOGUE_DRELU_BGRAD)
		relu_gradient(&p);
	else if (p.epilogue != CUBLASLT_EPILOGUE_DEFAULT)
		relu(&p, p.epilogue != CUBLASLT_EPILOGUE_RELU,
		     p.epilogue == CUBLASLT_EPILOGUE_RELU_AUX_BIAS);
}
KERNEL(cublas_product);

extern "C" cublasStatus_t product_submit(const struct product *p, cudaStream_t stream)
{
	return LAUNCH(cublas_product, 1, 1, 0, stream, *p) ? CUBLAS_STATUS_EXECUTION_FAILED
							   : CUBLAS_STATUS_SUCCESS;
}
