/*
 * test_matmul_values.c - known answers: matrices, products in double, and what both kinds of steps
 * make of them. They were computed by separate programs.
 */
/* sanitizers: seen elsewhere */
#include "tests/plain.h"
#include "workloads/matmul/test_matmul.h"

#include "common/fnv.h"
#include "tests/races.h"
#include "workloads/matmul/reference.h"

TestSuite(small_matmul_values, .timeout = 300);
TestSuite(large_matmul_values, .timeout = 300);

static void near(const char *what, double got, double want, double within)
{
	cr_assert(fabs(got - want) <= within, "%s: %.12g, known %.12g", what, got, want);
}

static struct matmul_inputs make_inputs(uint32_t m, uint32_t n, uint32_t k, enum matmul_fill fill)
{
	return (struct matmul_inputs){ { m, n, k }, 0, 1, fill };
}

/* ---- matrices --------------------------------------------------------------------------- */

Test(small_matmul_values, matrices_are_the_known_ones)
{
	static const double a[2][4] = { { -7, 5, 2, -5 },
					{ -0.777290463, 0.723592281, 0.315853357, -0.601675749 } };
	static const double b[2][2] = { { 3, 3 }, { 0.384894252, 0.450170279 } };
	static const uint32_t first_two[] = { 0, 1 };
	double row[4], columns[8];

	for (int fill = 0; fill < 2; fill++) {
		struct matmul_inputs in = make_inputs(4, 4, 4, (enum matmul_fill)fill);

		matmul_row(&in, 0, row);
		matmul_columns(&in, first_two, 2, columns);
		for (int i = 0; i < 4; i++)
			near("A", row[i], a[fill][i], 5e-10);
		for (int i = 0; i < 2; i++)
			near("B", columns[i], b[fill][i], 5e-10);
	}
}

/* ---- products --------------------------------------------------------------------------- */

struct known {
	uint32_t m, n, k;
	uint64_t hash;			 /* of the product of small integers, as floats */
	double first, second, last, sum; /* of that product */
	double uniform[4];		 /* the same of the other */
};

static const struct known few[] = {
	{ 64,
	  64,
	  64,
	  0x4c30990ec5a6235c,
	  281,
	  50,
	  77,
	  41082,
	  { 4.725300401, 1.091576831, 1.023526847, -149.668355881 } },
	{ 37,
	  53,
	  71,
	  0xd82cf8704129f631,
	  -349,
	  152,
	  -105,
	  22670,
	  { -5.331797724, 2.072201732, -2.122706541, -5.214249140 } },
};

static const struct known many[] = {
	{ 320,
	  640,
	  320,
	  0xa959839b38e3cf20,
	  267,
	  -374,
	  965,
	  16556195,
	  { 5.552489739, -5.975523869, 13.070788462, 2133.976645716 } },
	{ 512,
	  512,
	  512,
	  0x623bf8035ef3acdf,
	  353,
	  1203,
	  -480,
	  33345389,
	  { 4.961527057, 17.957934847, -8.831917271, -4712.528870129 } },
};

/* within: of an element; of the sum, as often as there are elements. */
static void is_known(const struct known *k, const double *c, bool small, double within)
{
	size_t n = (size_t)k->m * k->n;
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += c[i];
	near("C[0,0]", c[0], small ? k->first : k->uniform[0], within);
	near("C[0,1]", c[1], small ? k->second : k->uniform[1], within);
	near("C[last]", c[n - 1], small ? k->last : k->uniform[2], within);
	near("sum", sum, small ? k->sum : k->uniform[3], within * (double)n);
}

static double *product_in_double(const struct matmul_inputs *in)
{
	uint32_t m = in->shape.m, n = in->shape.n, k = in->shape.k;
	double *row = malloc(k * sizeof(*row)), *b = malloc((size_t)k * n * sizeof(*b));
	double *c = malloc((size_t)m * n * sizeof(*c));
	uint32_t *all = malloc(n * sizeof(*all));

	cr_assert(row && b && c && all, "memory");
	for (uint32_t j = 0; j < n; j++)
		all[j] = j;
	matmul_columns(in, all, n, b);
	for (uint32_t i = 0; i < m; i++) {
		matmul_row(in, i, row);
		matmul_reference(row, b, k, n, c + (size_t)i * n);
	}
	free(row);
	free(b);
	free(all);
	return c;
}

static void reference_knows(const struct known *k)
{
	for (int fill = 0; fill < 2; fill++) {
		struct matmul_inputs in = make_inputs(k->m, k->n, k->k, (enum matmul_fill)fill);
		double *c = product_in_double(&in);

		is_known(k, c, fill == MATMUL_SMALL, fill == MATMUL_SMALL ? 0 : 1e-9);
		free(c);
	}
}

Test(small_matmul_values, the_reference_gives_known_products)
{
	for (size_t i = 0; i < sizeof(few) / sizeof(*few); i++)
		reference_knows(&few[i]);
}

/* The first element and the last of 4096 x 4096 x 4096. */
Test(small_matmul_values, the_reference_gives_known_elements)
{
	enum { N = 4096 };
	static const double known[2][2] = { { 604, 2427 }, { -9.596263998, 14.086602336 } };
	static double row[N], column[N], sum;

	for (int fill = 0; fill < 2; fill++)
		for (uint32_t i = 0; i < 2; i++) {
			struct matmul_inputs in = make_inputs(N, N, N, (enum matmul_fill)fill);
			uint32_t at = i ? N - 1 : 0;

			matmul_row(&in, at, row);
			matmul_columns(&in, &at, 1, column);
			matmul_reference(row, column, N, 1, &sum);
			near("element", sum, known[fill][i], fill == MATMUL_SMALL ? 0 : 1e-9);
		}
}

Test(small_matmul_values, norms_are_euclidean)
{
	static const double x[] = { 3, 100, -4, 100, 12 };

	near("apart", matmul_norm(x, 3, 2), 13, 1e-12);
	near("together", matmul_norm(x, 2, 1), sqrt(10009), 1e-12);
}

/* ---- steps ------------------------------------------------------------------------------ */

static void steps_know(const struct known *k, int impl, int tile, int fill)
{
	struct matmul_opts o = tile_opts(k->m, k->n, k->k, tile);
	size_t n = (size_t)k->m * k->n;
	double *c = malloc(n * sizeof(*c));
	struct run *r;
	float *got;

	o.impl = impl;
	o.fill = fill;
	r = run_begin(o);
	run_steps(r, 1);
	got = take_array(r, MATMUL_C, 0);
	if (fill == MATMUL_SMALL)
		cr_assert(fnv_add(FNV_START, got, n * sizeof(*got)) == k->hash,
			  "m=%u n=%u k=%u impl %d tile %d: hash", k->m, k->n, k->k, impl, tile);
	cr_assert(c, "memory");
	for (size_t i = 0; i < n; i++)
		c[i] = got[i];
	is_known(k, c, fill == MATMUL_SMALL, fill == MATMUL_SMALL ? 0 : 5e-7 * k->k);
	free(c);
	free(got);
	run_end(r);
}

static void all_steps_know(const struct known *k)
{
	for (int fill = 0; fill < 2; fill++) {
		for (int tile = MATMUL_TILE_128; tile <= MATMUL_TILE_32; tile++)
			steps_know(k, MATMUL_TILED, tile, fill);
		steps_know(k, MATMUL_CUBLAS, MATMUL_TILE_AUTO, fill);
	}
}

Test(small_matmul_values, steps_give_known_products)
{
	need_device();
	for (size_t i = 0; i < sizeof(few) / sizeof(*few); i++)
		all_steps_know(&few[i]);
}

Test(large_matmul_values, larger_products_are_known_too)
{
	need_device();
	for (size_t i = 0; i < sizeof(many) / sizeof(*many); i++) {
		reference_knows(&many[i]);
		all_steps_know(&many[i]);
	}
}

/* What the device makes of slots, of small odd sizes too, is what the reference makes. */
Test(small_matmul_values, the_device_makes_the_matrices_of_each_slot)
{
	enum { M = 5, N = 7, K = 3, SLOTS = 3 };
	struct matmul_opts o = make_opts(M, N, K);
	uint32_t all[N] = { 0, 1, 2, 3, 4, 5, 6 };
	double row[K], columns[K * N];
	struct run *r;

	need_device();
	o.set.slots = SLOTS;
	r = run_begin(o);
	for (uint32_t slot = 0; slot < SLOTS; slot++) {
		struct matmul_inputs in = { { M, N, K }, slot, 1, MATMUL_UNIFORM };
		float *a = take_array(r, MATMUL_A, slot), *b = take_array(r, MATMUL_B, slot);

		for (uint32_t i = 0; i < M; i++) {
			matmul_row(&in, i, row);
			for (int l = 0; l < K; l++)
				cr_assert(a[i * K + l] == (float)row[l], "A[%u,%d]", i, l);
		}
		matmul_columns(&in, all, N, columns);
		for (int i = 0; i < K * N; i++)
			cr_assert(b[i] == (float)columns[i], "B, element %d", i);
		free(a);
		free(b);
	}
	run_end(r);
}
