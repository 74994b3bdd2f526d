/* test_decode_dtype.c - conversions of elements, against arithmetic in double. */
#include "tests/plain.h"

#include "workloads/decode/dtype.h"

TestSuite(small_decode_dtype, .timeout = 60);

enum { HALVES = 1 << 16 };

static float float_of(uint32_t bits)
{
	float f;

	memcpy(&f, &bits, sizeof(f));
	return f;
}

static double half_value(unsigned h)
{
	int e = h >> 10 & 31;
	double f = h & 0x3ff, v = e ? ldexp(1024 + f, e - 25) : ldexp(f, -24);

	if (e == 31)
		v = f > 0 ? NAN : INFINITY;
	return h & 0x8000 ? -v : v;
}

static uint16_t half_in[HALVES], bfloat_out[HALVES];
static uint32_t float_out[HALVES];

static void fill_halves(void)
{
	for (unsigned i = 0; i < HALVES; i++)
		half_in[i] = (uint16_t)i;
}

Test(small_decode_dtype, each_half_becomes_its_float)
{
	fill_halves();
	decode_dtype_convert(DTYPE_F16, half_in, HALVES, 4, float_out);
	for (unsigned i = 0; i < HALVES; i++) {
		double should = half_value(i), is = float_of(float_out[i]);

		cr_assert(isnan(should) ? isnan(is)
					: is == should && !signbit(is) == !signbit(should),
			  "%04x: %g, not %g", i, is, should);
	}
}

Test(small_decode_dtype, each_bfloat_becomes_its_float_and_stays_itself)
{
	fill_halves();
	decode_dtype_convert(DTYPE_BF16, half_in, HALVES, 4, float_out);
	decode_dtype_convert(DTYPE_BF16, half_in, HALVES, 2, bfloat_out);
	for (unsigned i = 0; i < HALVES; i++)
		cr_assert(float_out[i] == i << 16 && bfloat_out[i] == i, "%04x", i);
}

/* Of the two bfloat16 around it the nearer; of both as near the even one. Infinity counts as 2^128.
 */
static uint16_t nearest(uint32_t bits)
{
	uint16_t low = (uint16_t)(bits >> 16);
	double x = fabs(float_of(bits)), below = fabs(float_of((uint32_t)low << 16));
	double above = fabs(float_of((uint32_t)(low + 1) << 16));

	if (isinf(x))
		return low;
	above = isinf(above) ? ldexp(1, 128) : above;
	if (x - below == above - x)
		return low & 1 ? low + 1 : low;
	return x - below < above - x ? low : low + 1;
}

static uint16_t rounded(uint32_t bits)
{
	uint16_t out;

	decode_dtype_convert(DTYPE_F32, &bits, 1, 2, &out);
	return out;
}

Test(small_decode_dtype, floats_become_the_nearest_bfloat)
{
	uint32_t lower[] = { 0, 1, 0x7fff, 0x8000, 0x8001, 0xffff };

	for (uint32_t high = 0; high < HALVES; high++)
		for (int i = 0; i < 6; i++) {
			uint32_t bits = high << 16 | lower[i];

			if (isnan(float_of(bits)))
				continue;
			cr_assert(rounded(bits) == nearest(bits), "%08x: %04x", bits,
				  rounded(bits));
		}
	cr_assert(rounded(0x3f808000) == 0x3f80 && rounded(0x3f818000) == 0x3f82, "ties");
	cr_assert(rounded(0x7f7fffff) == 0x7f80 && rounded(0xff7fffff) == 0xff80, "largest");
}

Test(small_decode_dtype, a_nan_stays_one)
{
	const uint32_t nan[] = { 0x7f800001, 0x7fc00000, 0xff80ffff, 0xffffffff, 0x7fffffff };

	for (int i = 0; i < 5; i++)
		cr_assert((rounded(nan[i]) & 0x7fff) > 0x7f80 &&
				  rounded(nan[i]) >> 15 == nan[i] >> 31,
			  "%08x: %04x", nan[i], rounded(nan[i]));
}

/* By way of float, which has every half. */
Test(small_decode_dtype, each_half_becomes_the_nearest_bfloat)
{
	fill_halves();
	decode_dtype_convert(DTYPE_F16, half_in, HALVES, 4, float_out);
	decode_dtype_convert(DTYPE_F16, half_in, HALVES, 2, bfloat_out);
	for (unsigned i = 0; i < HALVES; i++) {
		if (isnan(half_value(i)))
			cr_assert((bfloat_out[i] & 0x7fff) > 0x7f80, "%04x", i);
		else
			cr_assert(bfloat_out[i] == nearest(float_out[i]), "%04x", i);
	}
}

Test(small_decode_dtype, floats_stay_and_need_no_alignment)
{
	unsigned char raw[13] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 };
	uint32_t out[3];
	uint16_t half[3];

	decode_dtype_convert(DTYPE_F32, raw + 1, 3, 4, out);
	cr_assert(!memcmp(out, raw + 1, 12), "floats");
	decode_dtype_convert(DTYPE_F32, raw + 1, 3, 2, half);
	cr_assert(half[0] == 0x0403 && half[2] == 0x0c0b, "bfloat16 %04x, %04x", half[0], half[2]);
}

Test(small_decode_dtype, other_types_have_no_size)
{
	cr_assert(decode_dtype_named("F16") == DTYPE_F16 && decode_dtype_bytes(DTYPE_F16) == 2,
		  "F16");
	cr_assert(decode_dtype_named("F32") == DTYPE_F32 && decode_dtype_bytes(DTYPE_F32) == 4,
		  "F32");
	cr_assert(decode_dtype_named("BF16") == DTYPE_BF16 && decode_dtype_bytes(DTYPE_BF16) == 2,
		  "BF16");
	cr_assert(decode_dtype_named("F8_E4M3") == DTYPE_OTHER &&
			  decode_dtype_bytes(DTYPE_OTHER) == 0,
		  "F8");
	cr_assert(decode_dtype_named("f16") == DTYPE_OTHER && decode_dtype_named("") == DTYPE_OTHER,
		  "f16");
}
