/*
 * compute.c - the products themselves: by OpenBLAS, on the thread that runs the kernel. With
 * -DCPUDEV_BLAS_PLAIN by loops, which the sanitizers see into: each element that is read or written
 * once, in place of each time that it is.
 */
#include "common/cpu/blas/product.h"

static void scale(const struct product *p)
{
	for (int j = 0; j < p->n; j++)
		for (int i = 0; i < p->m; i++) {
			float *d = &p->d[(int64_t)j * p->ldd + i];

			*d = p->beta == 0 ? 0 : p->beta * *d; /* without reading it */
		}
}

#ifdef CPUDEV_BLAS_PLAIN
static void read_all(const float *m, int rows, int cols, int ld)
{
	volatile float last;

	for (int j = 0; j < cols; j++)
		for (int i = 0; i < rows; i++)
			last = m[(int64_t)j * ld + i];
	(void)last;
}

__attribute__((no_sanitize("address,undefined,thread"), noinline)) static void
add_product(const struct product *p)
{
	int64_t a_row = p->trans_a ? p->lda : 1, a_col = p->trans_a ? 1 : p->lda;
	int64_t b_row = p->trans_b ? p->ldb : 1, b_col = p->trans_b ? 1 : p->ldb;
	const float *left = p->a, *right = p->b;

	for (int j = 0; j < p->n; j++)
		for (int l = 0; l < p->k; l++) {
			float b = p->alpha * right[l * b_row + j * b_col];

			for (int i = 0; i < p->m; i++)
				p->d[(int64_t)j * p->ldd + i] += left[i * a_row + l * a_col] * b;
		}
}

void product_compute(const struct product *p)
{
	read_all(p->a, p->trans_a ? p->k : p->m, p->trans_a ? p->m : p->k, p->lda);
	read_all(p->b, p->trans_b ? p->n : p->k, p->trans_b ? p->k : p->n, p->ldb);
	scale(p);
	add_product(p);
}

const char *cpudev_blas_name(void)
{
	return "plain loops";
}
#else
#include <pthread.h>
#include <stdio.h>

/* From OpenBLAS; distributions do not agree on where its headers are. */
enum { COLUMNS_FIRST = 102, NO_TRANS = 111, TRANS = 112 };
void cblas_sgemm(int order, int trans_a, int trans_b, int m, int n, int k, float alpha,
		 const float *a, int lda, const float *b, int ldb, float beta, float *c, int ldc);
void openblas_set_num_threads(int n);
char *openblas_get_config(void);

/* Builds without threads may lack the locks that callers on two streams need. */
static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

/* Sums in an order that depends on nothing but the sizes. */
__attribute__((constructor)) static void take_one_thread(void)
{
	openblas_set_num_threads(1);
}

void product_compute(const struct product *p)
{
	if (!p->k) { /* which cblas_sgemm may not take */
		scale(p);
		return;
	}
	pthread_mutex_lock(&one_at_a_time);
	cblas_sgemm(COLUMNS_FIRST, p->trans_a ? TRANS : NO_TRANS, p->trans_b ? TRANS : NO_TRANS,
		    p->m, p->n, p->k, p->alpha, p->a, p->lda, p->b, p->ldb, p->beta, p->d, p->ldd);
	pthread_mutex_unlock(&one_at_a_time);
}

const char *cpudev_blas_name(void)
{
	static char name[64];
	char version[32] = "";

	sscanf(openblas_get_config(), "OpenBLAS %31s", version);
	snprintf(name, sizeof(name), "OpenBLAS %s, one thread", version);
	return name;
}
#endif
