/* half.c - products of bfloat16: a copy of both matrices in floats, which the same product takes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cpu/blas/product.h"

/* Columns without what lies between them, which is not to be read. */
static float *widened(const uint16_t *from, int rows, int cols, int ld)
{
	float *out = malloc(((size_t)rows * (size_t)cols + 1) * sizeof(*out));

	if (!out) {
		fprintf(stderr, "no memory for %d x %d numbers of a product\n", rows, cols);
		abort();
	}
	for (size_t j = 0; j < (size_t)cols; j++)
		for (size_t i = 0; i < (size_t)rows; i++) {
			uint32_t bits = (uint32_t)from[j * (size_t)ld + i] << 16;

			memcpy(&out[j * (size_t)rows + i], &bits, sizeof(bits));
		}
	return out;
}

static int at_least_one(int n)
{
	return n ? n : 1;
}

void product_compute_half(const struct product *p)
{
	int rows_a = p->trans_a ? p->k : p->m, rows_b = p->trans_b ? p->n : p->k;
	float *a = widened(p->a, rows_a, p->trans_a ? p->m : p->k, p->lda);
	float *b = widened(p->b, rows_b, p->trans_b ? p->k : p->n, p->ldb);
	struct product wide = *p;

	wide.a = a;
	wide.b = b;
	wide.lda = at_least_one(rows_a);
	wide.ldb = at_least_one(rows_b);
	wide.half = 0;
	product_compute(&wide);
	free(a);
	free(b);
}
