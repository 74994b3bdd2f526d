/*
 * blas.c - a cuBLAS that computes nothing: it stands for NVIDIA's, which does not need libcudart.
 * It counts products and notes their factors; built as libcublas.so by the test.
 */
#include <string.h>

#define SHOWN __attribute__((visibility("default")))

static struct {
	int products, others;
	float alpha[2]; /* of the first product, the last one */
	const void *stream;
} seen;

static char handle;

SHOWN void blas_seen(int *products, int *others, float alpha[2], const void **stream)
{
	*products = __atomic_load_n(&seen.products, __ATOMIC_ACQUIRE);
	*others = seen.others;
	memcpy(alpha, seen.alpha, sizeof(seen.alpha));
	*stream = seen.stream;
}

SHOWN int cublasCreate_v2(void **out)
{
	*out = &handle;
	return 0;
}

SHOWN int cublasSetStream_v2(void *of, void *stream)
{
	seen.stream = stream;
	return of != &handle;
}

static int note(const float *alpha)
{
	seen.alpha[seen.products > 0] = *alpha;
	__atomic_fetch_add(&seen.products, 1, __ATOMIC_RELEASE);
	return 0;
}

SHOWN int cublasGemmEx(void *of, int trans_a, int trans_b, int m, int n, int k, const float *alpha,
		       const void *a, int type_a, int lda, const void *b, int type_b, int ldb,
		       const float *beta, void *c, int type_c, int ldc, int compute, int algo)
{
	/* that all words came through, those on the stack too */
	if (of != &handle || trans_a != 1 || trans_b != 2 || m != 3 || n != 4 || k != 5 || !a ||
	    type_a || lda != 6 || !b || type_b || ldb != 7 || *beta != 0 || !c || type_c ||
	    ldc != 8 || compute != 68 || algo != -1)
		return 7;
	return note(alpha);
}

SHOWN int cublasLtMatmulDescCreate(void **desc, int compute, int scale)
{
	*desc = &handle;
	return compute != 68 || scale;
}

SHOWN int cublasLtMatmul(void *of, void *desc, const float *alpha, const void *a,
			 const void *layout_a, const void *b, const void *layout_b,
			 const float *beta, const void *c, const void *layout_c, void *d,
			 const void *layout_d, const char *algo, void *workspace,
			 unsigned long bytes, void *stream)
{
	if (of || desc != &handle || !a || layout_a || !b || layout_b || *beta != 0 || !c ||
	    layout_c || !d || layout_d || memcmp(algo, "algo", 4) != 0 || workspace || bytes != 9 ||
	    stream)
		return 7;
	return note(alpha);
}

/* One that no layer knows the arguments of. */
SHOWN int cublasSgemm_v2(void)
{
	seen.others++;
	return seen.products;
}

/* One that is made of the library's own functions, as NVIDIA's are. */
SHOWN int cublasDgemm_v2(void)
{
	static const float alpha = 5, none;
	void *desc;
	char at[4];

	return cublasLtMatmulDescCreate(&desc, 68, 0) ||
	       cublasLtMatmul(NULL, desc, &alpha, at, NULL, at, NULL, &none, at, NULL, at, NULL,
			      "algo", NULL, 9, NULL);
}
