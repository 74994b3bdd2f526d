/* reference.c - products in double, row by row of B. */
#include "workloads/matmul/reference.h"

#include <math.h>
#include <string.h>

#include "workloads/matmul/inputs.h"

/* Four elements come at a time; the last four are kept. */
struct stream {
	const struct matmul_inputs *in;
	enum matmul_tag tag;
	int64_t at; /* which four; -1: none yet */
	struct philox vec4;
};

static double next_element(struct stream *s, int64_t e)
{
	if (s->at != e >> 2) {
		s->at = e >> 2;
		s->vec4 = matmul_words((uint32_t)s->at, s->in->slot, s->tag, s->in->seed);
	}
	return matmul_value(s->vec4.word[e & 3], s->in->fill);
}

void matmul_row(const struct matmul_inputs *in, uint32_t i, double *row)
{
	struct stream s = { .in = in, .tag = MATMUL_TAG_A, .at = -1 };

	for (uint32_t l = 0; l < in->shape.k; l++)
		row[l] = next_element(&s, (int64_t)i * in->shape.k + l);
}

void matmul_columns(const struct matmul_inputs *in, const uint32_t *column, uint32_t count,
		    double *out)
{
	struct stream s = { .in = in, .tag = MATMUL_TAG_B, .at = -1 };

	for (uint32_t l = 0; l < in->shape.k; l++)
		for (uint32_t c = 0; c < count; c++)
			*out++ = next_element(&s, (int64_t)l * in->shape.n + column[c]);
}

void matmul_reference(const double *row, const double *columns, uint32_t k, uint32_t count,
		      double *sum)
{
	memset(sum, 0, count * sizeof(*sum));
	for (uint32_t l = 0; l < k; l++, columns += count)
		for (uint32_t c = 0; c < count; c++)
			sum[c] += row[l] * columns[c];
}

double matmul_norm(const double *x, uint32_t k, uint32_t apart)
{
	double sum = 0;

	for (uint32_t l = 0; l < k; l++)
		sum += x[(int64_t)l * apart] * x[(int64_t)l * apart];
	return sqrt(sum);
}
