/*
 * test_matmul_modes.c - steps of data=resident: the same bits in every mode, slots in turn, sizes
 * around the borders of tiles, and what the check finds.
 */
#include "workloads/matmul/test_matmul.h"

#include "tests/races.h"

TestSuite(small_matmul_modes, .timeout = 60);
TestSuite(large_matmul_modes, .timeout = 120);

/* ---- modes ------------------------------------------------------------------------------ */

static void modes_agree(struct run *r, int64_t n)
{
	float *products[3];
	size_t bytes;

	for (int mode = 0; mode < 3; mode++) {
		run_reset(r);
		(mode == 0 ? run_steps : mode == 1 ? run_graph : run_fused)(r, n);
		run_passes(r, n);
		products[mode] = run_products(r, &bytes);
		cr_assert(!memcmp(products[0], products[mode], bytes), "depth=%ld, mode %d",
			  (long)n, mode);
	}
	for (int mode = 0; mode < 3; mode++)
		free(products[mode]);
}

/* Of fewer steps than slots, as many, and more. */
Test(small_matmul_modes, stream_graph_and_fused_give_the_same_bits)
{
	static const int64_t depths[] = { 1, 3, 5 };

	need_device();
	for (int tile = MATMUL_TILE_128; tile <= MATMUL_TILE_32; tile++) {
		struct matmul_opts o = tile_opts(33, 36, 68, tile);
		struct run *r;

		o.set.slots = 3;
		r = run_begin(o);
		for (size_t i = RACES; i < sizeof(depths) / sizeof(*depths); i += 1 + RACES)
			modes_agree(r, depths[i]);
		run_end(r);
	}
}

Test(small_matmul_modes, graphs_go_on_where_the_last_one_ended)
{
	struct matmul_opts o = opts_of(20, 20, 20);
	struct run *r;

	need_device();
	o.set.slots = 5;
	r = run_begin(o);
	run_graphs(r, 2, 2);
	run_passes(r, 4); /* slot 4 is still poison */
	run_fused(r, 3);
	run_passes(r, 7);
	run_fails(r, 6, "7 steps were counted, not 6");
	run_end(r);
}

/* The library's graphs repeat the slots that they were captured with. */
Test(small_matmul_modes, the_library_in_streams_and_graphs)
{
	struct matmul_opts o = opts_of(24, 40, 17);
	struct run *r;

	need_device();
	o.impl = MATMUL_CUBLAS;
	o.set.slots = 3;
	r = run_begin(o);
	run_steps(r, 2);
	run_passes(r, 2); /* slot 2 is still poison */
	run_steps(r, 2);
	run_passes(r, 4);
	run_reset(r);
	run_graphs(r, 2, 3);
	run_passes(r, 6);
	run_fails(r, 5, "6 steps were counted, not 5");
	run_end(r);
}

/* ---- sizes ------------------------------------------------------------------------------ */

struct size {
	int64_t m, n, k;
};

static void multiplies(struct size s, int tile)
{
	struct run *r = run_begin(tile_opts(s.m, s.n, s.k, tile));

	run_steps(r, 2);
	run_passes(r, 2);
	run_end(r);
}

/* One tile and a bit of the next, with and without rows that begin at multiples of 16 bytes. */
Test(small_matmul_modes, sizes_around_borders_of_tiles)
{
	static const struct size around[4][4] = {
		[MATMUL_TILE_128] = { { 129, 132, 16 }, { 130, 129, 17 }, { 128, 128, 40 },
				      { 127, 127, 33 } },
		[MATMUL_TILE_64] = { { 65, 68, 32 }, { 66, 65, 33 }, { 64, 64, 68 }, { 63, 63, 65 } },
		[MATMUL_TILE_32] = { { 33, 36, 64 }, { 34, 33, 65 }, { 32, 32, 132 }, { 31, 31, 130 } },
	};

	need_device();
	for (int tile = MATMUL_TILE_128; tile <= MATMUL_TILE_32; tile++)
		for (int i = 0; i < (RACES ? 2 : 4); i++)
			multiplies(around[tile][i], tile);
}

Test(small_matmul_modes, any_small_size)
{
	static const struct size any[] = { { 1, 1, 1 },	 { 1, 70, 5 }, { 70, 1, 6 },  { 3, 2, 200 },
					   { 4, 4, 4 },	 { 5, 3, 7 },  { 2, 64, 12 }, { 9, 10, 15 },
					   { 17, 5, 16 } };

	need_device();
	for (size_t i = 0; i < sizeof(any) / sizeof(*any); i++)
		multiplies(any[i], MATMUL_TILE_AUTO);
	multiplies(any[8], MATMUL_TILE_64);
	multiplies(any[3], MATMUL_TILE_128);
}

/* ---- what the check finds --------------------------------------------------------------- */

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

Test(small_matmul_modes, the_check_finds_what_is_wrong)
{
	enum { M = 19, N = 21, LAST = M * N - 1 }; /* one step comes to the first of two slots */
	struct run *r;
	float *c;

	need_device();
	r = run_begin(opts_of(M, N, 23));
	c = on_device(r, MATMUL_C, 0);
	again(r);
	spoil(c + LAST, 12345);
	run_fails(r, 1, "C[18,20], slot 0: 12345 instead of");
	again(r);
	CUDA(cudaMemset(c + LAST, SLOTS_POISON_REAL, sizeof(float)));
	run_fails(r, 1, "no number, slot 0, element 398");
	again(r);
	spoil(c + LAST + 1, 0);
	run_fails(r, 1, "written where nothing was to be, slot 0, element 399");
	again(r);
	spoil(on_device(r, MATMUL_C, 1) + 5, 0);
	run_fails(r, 1, "written where nothing was to be, slot 1, element 5");
	run_reset(r);
	run_fails(r, 1, "0 steps were counted, not 1");
	run_end(r);
}

/* ---- mistakes that products are known for ----------------------------------------------------- */

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
	struct run *r = run_begin(opts_of(SIDE, SIDE, SIDE));
	float *a = take_array(r, MATMUL_A, 0), *b = take_array(r, MATMUL_B, 0);

	make(a, b);
	put_array(r, MATMUL_A, 0, a);
	put_array(r, MATMUL_B, 0, b);
	run_steps(r, 1);
	run_fails(r, 1, "instead of");
	run_end(r);
}

Test(small_matmul_modes, the_check_finds_wrong_products)
{
	need_device();
	is_found(transpose_a);
	is_found(drop_last_tile);
	is_found(round_to_tf32);
}

/* beta = 1: what was there before is added. */
Test(small_matmul_modes, the_check_finds_sums_with_what_was_there)
{
	struct run *r;
	float *c;

	need_device();
	r = run_begin(opts_of(SIDE, SIDE, SIDE));
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
Test(small_matmul_modes, the_check_finds_the_last_bit_of_integers)
{
	struct matmul_opts o = opts_of(SIDE, SIDE, SIDE);
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

/* ---- samples ---------------------------------------------------------------------------- */

/* Above 2^27 multiply-adds some rows and columns are compared; all is looked at for poison. */
Test(large_matmul_modes, a_sample_of_many_is_compared)
{
	struct matmul_opts o = opts_of(600, 520, 440);
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
	cr_assert(!v.passed && strstr(v.worst, "no number, slot 0, element 123456"), "%s", v.worst);
	run_end(r);
}
