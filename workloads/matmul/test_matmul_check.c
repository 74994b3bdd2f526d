/*
 * test_matmul_check.c - what the check finds: elements, bytes and copies that are not as they must
 * be, and the mistakes that matrix products are known for; what lies behind matrices; and how
 * chunks travel.
 */
/* sanitizers: seen elsewhere */
#include "tests/plain.h"
#include "workloads/matmul/test_matmul.h"

TestSuite(small_matmul_check, .timeout = 300);
TestSuite(large_matmul_check, .timeout = 300);

/* ---- elements --------------------------------------------------------------------------- */

static void spoil(float *p, float value)
{
	CUDA(cudaMemcpy(p, &value, sizeof(value), cudaMemcpyHostToDevice));
}

static void again(struct run *r)
{
	run_reset(r);
	run_steps(r, 1);
	run_passes(r, 1);
}

Test(small_matmul_check, the_check_finds_what_is_wrong)
{
	enum { M = 19, N = 21, LAST = M * N - 1 }; /* one step comes to the first of two slots */
	struct run *r;
	float *c;

	need_device();
	r = run_begin(make_opts(M, N, 23));
	c = on_device(r, MATMUL_C, 0);
	again(r);
	spoil(c + LAST, 12345);
	run_fails(r, 1, "C[18,20], slot 0: 12345 instead of");
	again(r);
	CUDA(cudaMemset(c + LAST, SLOTS_POISON_REAL, sizeof(float)));
	run_fails(r, 1, "no number, slot 0, element 398");
	again(r);
	spoil(c + LAST + 1, 0);
	run_fails(r, 1, "written *slot 0, element 399");
	again(r);
	spoil(on_device(r, MATMUL_C, 1) + 5, 0);
	run_fails(r, 1, "written *slot 1, element 5");
	run_reset(r);
	run_fails(r, 1, "0 steps *1");
	run_end(r);
}

/* ---- mistakes that products are known for ------------------------------------------------ */

enum { SIDE = 40 };

typedef void mistake(float *a, float *b);

static void transpose_a(float *a, float *b)
{
	(void)b;
	for (int i = 0; i < SIDE; i++)
		for (int l = 0; l < i; l++) {
			float v = a[i * SIDE + l];

			a[i * SIDE + l] = a[l * SIDE + i];
			a[l * SIDE + i] = v;
		}
}

/* The last tile along k, of which there is a part. */
static void drop_last_tile(float *a, float *b)
{
	(void)a;
	memset(b + SIDE / 16 * 16 * SIDE, 0, SIDE % 16 * SIDE * sizeof(*b));
}

/* To 10 bits behind the leading one, as tensor cores take floats. */
static float tf32(float x)
{
	uint32_t bits;

	memcpy(&bits, &x, sizeof(bits));
	bits = (bits + 0x1000) & ~0x1fffu;
	memcpy(&x, &bits, sizeof(x));
	return x;
}

static void round_to_tf32(float *a, float *b)
{
	for (int i = 0; i < SIDE * SIDE; i++) {
		a[i] = tf32(a[i]);
		b[i] = tf32(b[i]);
	}
}

static void is_found(mistake *make)
{
	struct run *r = run_begin(make_opts(SIDE, SIDE, SIDE));
	float *a = take_array(r, MATMUL_A, 0), *b = take_array(r, MATMUL_B, 0);

	make(a, b);
	put_array(r, MATMUL_A, 0, a);
	put_array(r, MATMUL_B, 0, b);
	run_steps(r, 1);
	run_fails(r, 1, "instead of");
	run_end(r);
}

Test(small_matmul_check, the_check_finds_wrong_products)
{
	need_device();
	is_found(transpose_a);
	is_found(drop_last_tile);
	is_found(round_to_tf32);
}

/* beta = 1: what was there before is added. */
Test(small_matmul_check, the_check_finds_sums_with_what_was_there)
{
	struct run *r;
	float *c;

	need_device();
	r = run_begin(make_opts(SIDE, SIDE, SIDE));
	run_steps(r, 1);
	run_passes(r, 1);
	c = take_array(r, MATMUL_C, 0);
	for (int i = 0; i < SIDE * SIDE; i++)
		c[i] += c[i];
	put_array(r, MATMUL_C, 0, c);
	run_fails(r, 1, "instead of");
	run_end(r);
}

/* Small integers have to be right to the last bit. */
Test(small_matmul_check, the_check_finds_the_last_bit_of_integers)
{
	struct matmul_opts o = make_opts(SIDE, SIDE, SIDE);
	struct run *r;
	uint32_t bits;

	need_device();
	o.fill = MATMUL_SMALL;
	r = run_begin(o);
	run_steps(r, 1);
	run_passes(r, 1);
	CUDA(cudaMemcpy(&bits, on_device(r, MATMUL_C, 0) + 77, 4, cudaMemcpyDeviceToHost));
	bits ^= 1;
	CUDA(cudaMemcpy(on_device(r, MATMUL_C, 0) + 77, &bits, 4, cudaMemcpyHostToDevice));
	run_fails(r, 1, "C[1,37], slot 0");
	run_end(r);
}

/* ---- what nothing depends on ------------------------------------------------------------ */

/* All bits of a NaN from the end of a matrix on. */
static void poison_behind(const struct run *r, int k)
{
	const struct dataset_array *a = &r->s.set.shape.array[k];
	size_t words = (size_t)(dataset_stride(a) - a->words);

	for (int64_t slot = 0; slot < r->o.set.slots; slot++)
		CUDA(cudaMemset(on_device(r, k, slot) + a->words, 0xff, words * sizeof(float)));
	CUDA(cudaDeviceSynchronize()); /* the run's stream does not wait for it */
}

/* Not even times zero. */
Test(small_matmul_check, what_lies_behind_matrices_is_not_used)
{
	need_device();
	for (int tile = MATMUL_TILE_128; tile <= MATMUL_TILE_32; tile++)
		for (int64_t size = 33; size <= 36; size += 3) {
			struct run *r = run_begin(tile_opts(size, size, size, tile));

			poison_behind(r, MATMUL_A);
			poison_behind(r, MATMUL_B);
			run_steps(r, 2);
			run_passes(r, 2);
			run_end(r);
		}
}

/* ---- copies ----------------------------------------------------------------------------- */

Test(small_matmul_check, the_check_finds_every_byte)
{
	enum { M = 19, N = 21, WORDS = M * N };
	char *first, *second;
	struct run *r;

	need_device();
	r = run_begin(streamed_opts(M, N, 23, 0, 0));
	first = (char *)on_host(r, MATMUL_C, 0);
	second = (char *)on_host(r, MATMUL_C, 1);
	run_steps(r, 2);
	run_passes(r, 2);
	first[0] ^= 1;
	run_fails(r, 2, "computed*slot 0, element 0");
	first[0] ^= 1;
	second[4 * WORDS - 4] ^= 1;
	run_fails(r, 2, "computed*slot 1, element 398");
	second[4 * WORDS - 4] ^= 1;
	second[4 * WORDS] = 0;
	run_fails(r, 2, "written *slot 1, element 399");
	second[4 * WORDS] = -1;
	run_passes(r, 2);
	run_end(r);
}

/* Wrong matrices that travelled as they should: the reference makes its own. */
Test(small_matmul_check, the_check_finds_wrong_inputs)
{
	struct run *r;

	need_device();
	for (int k = MATMUL_A; k <= MATMUL_B; k++) {
		r = run_begin(streamed_opts(12, 14, 16, 0, 0));
		on_host(r, k, 0)[5] += 1;
		run_steps(r, 1);
		run_fails(r, 1, "computed*slot 0");
		run_end(r);
	}
}

/* The same bits as data=resident with that tile, however they travel. */
Test(small_matmul_check, products_are_those_of_resident_matrices)
{
	struct run *resident, *streamed;
	float *want, *got;
	size_t bytes;

	need_device();
	resident = run_begin(tile_opts(45, 33, 50, MATMUL_TILE_64));
	run_steps(resident, 2);
	want = run_outputs(resident, &bytes);
	for (int overlap = 0; overlap <= 4; overlap += 4) {
		struct matmul_opts o = streamed_opts(45, 33, 50, 0, overlap);

		o.tile = MATMUL_TILE_64;
		streamed = run_begin(o);
		run_steps(streamed, 2);
		got = run_outputs(streamed, &bytes);
		cr_assert(!memcmp(want, got, bytes), "overlap=%d", overlap);
		free(got);
		run_end(streamed);
	}
	free(want);
	run_end(resident);
}

/* B comes whole before the first chunk, so it is copied once. */
Test(small_matmul_check, chunks_fork_and_join)
{
	enum { CHUNKS = 4 };
	size_t nodes = 0;
	cudaGraph_t graph;
	struct run *r;

	need_device();
	r = run_begin(streamed_opts(40, 24, 36, 0, CHUNKS));
	graph = run_capture(r, 2);
	CUDA(cudaGraphGetNodes(graph, NULL, &nodes));
	cr_assert(nodes == 2 * (3 * CHUNKS + 1), "%zu nodes", nodes);
	CUDA(cudaGraphDestroy(graph));
	run_end(r);
}

/* ---- samples ---------------------------------------------------------------------------- */

/* Above 2^27 multiply-adds some rows and columns are compared; all is looked at for poison. */
Test(large_matmul_check, a_sample_of_many_is_compared)
{
	struct matmul_opts o = make_opts(600, 520, 440);
	struct verdict v;
	struct run *r;

	need_device();
	o.set.slots = 1;
	r = run_begin(o);
	run_steps(r, 1);
	v = run_check(r, 1, false);
	cr_assert(v.passed && v.compared < v.total && v.compared >= 4096, "%g: %s, %ld", v.error,
		  v.worst, (long)v.compared);
	run_passes(r, 1);
	spoil(on_device(r, MATMUL_C, 0) + 599 * 520 + 512, 99);
	v = run_check(r, 1, false);
	cr_assert(!v.passed && strstr(v.worst, "C[599,512], slot 0: 99"), "%s", v.worst);
	CUDA(cudaMemset(on_device(r, MATMUL_C, 0) + 123456, SLOTS_POISON_REAL, sizeof(float)));
	v = run_check(r, 1, false);
	cr_assert(!v.passed && strstr(v.worst, "slot 0, element 123456"), "%s", v.worst);
	run_end(r);
}
