/* dtype.c - conversions of elements, on their bits; see dtype.h. */
#include "workloads/decode/dtype.h"

#include <stdint.h>
#include <string.h>

#include "workloads/decode/device.h"

static const struct {
	const char *name;
	enum dtype type;
	size_t bytes;
} types[] = { { "F32", DTYPE_F32, 4 }, { "F16", DTYPE_F16, 2 }, { "BF16", DTYPE_BF16, 2 } };

enum { TYPES = sizeof(types) / sizeof(types[0]), INFINITE = 0x7f800000 };

enum dtype decode_dtype_named(const char *name)
{
	for (int i = 0; i < TYPES; i++)
		if (!strcmp(types[i].name, name))
			return types[i].type;
	return DTYPE_OTHER;
}

size_t decode_dtype_bytes(enum dtype type)
{
	for (int i = 0; i < TYPES; i++)
		if (types[i].type == type)
			return types[i].bytes;
	return 0;
}

/* Exponents are biased by 15 in a half and by 127 in a float; a half's subnormals are normal there.
 */
static uint32_t float_of_half(uint16_t half)
{
	uint32_t sign = (uint32_t)(half & 0x8000) << 16;
	uint32_t exponent = half >> 10 & 31, fraction = half & 0x3ff, bits;
	float small = (float)fraction * 0x1p-24F;

	memcpy(&bits, &small, sizeof(bits));
	if (exponent == 31)
		bits = INFINITE | fraction << 13;
	else if (exponent)
		bits = (exponent + 112) << 23 | fraction << 13;
	return sign | bits;
}

static uint16_t bfloat_of_float(uint32_t bits)
{
	union decode_float_bits u = { .bits = bits };

	return decode_round(u.value).bits;
}

static uint16_t get_16(const uint8_t *from, size_t i)
{
	uint16_t v;

	memcpy(&v, from + 2 * i, sizeof(v));
	return v;
}

static uint32_t get_32(const uint8_t *from, size_t i)
{
	uint32_t v;

	memcpy(&v, from + 4 * i, sizeof(v));
	return v;
}

static void to_bfloat(enum dtype type, const uint8_t *from, size_t n, uint16_t *out)
{
	if (type == DTYPE_BF16)
		memcpy(out, from, n * sizeof(*out));
	else if (type == DTYPE_F16)
		for (size_t i = 0; i < n; i++)
			out[i] = bfloat_of_float(float_of_half(get_16(from, i)));
	else
		for (size_t i = 0; i < n; i++)
			out[i] = bfloat_of_float(get_32(from, i));
}

static void to_float(enum dtype type, const uint8_t *from, size_t n, uint32_t *out)
{
	if (type == DTYPE_F32)
		memcpy(out, from, n * sizeof(*out));
	else if (type == DTYPE_F16)
		for (size_t i = 0; i < n; i++)
			out[i] = float_of_half(get_16(from, i));
	else
		for (size_t i = 0; i < n; i++)
			out[i] = (uint32_t)get_16(from, i) << 16;
}

void decode_dtype_convert(enum dtype type, const void *from, size_t n, int bytes, void *out)
{
	if (bytes == 2)
		to_bfloat(type, from, n, out);
	else
		to_float(type, from, n, out);
}
