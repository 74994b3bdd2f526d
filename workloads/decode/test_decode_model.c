/* test_decode_model.c - shapes, places, counts and the rotation's angles. */
#include "tests/plain.h"

#include "workloads/decode/model.h"

TestSuite(small_decode_model, .timeout = 60);

static const struct decode_model tiny = { .dim = 288,
					  .layers = 6,
					  .heads = 6,
					  .kv_heads = 6,
					  .head_dim = 48,
					  .hidden = 768,
					  .vocab = 32000,
					  .tied = true,
					  .theta = 1e4 };
static const struct decode_model large = { .dim = 4096,
					   .layers = 32,
					   .heads = 32,
					   .kv_heads = 8,
					   .head_dim = 128,
					   .hidden = 14336,
					   .vocab = 128256,
					   .theta = 5e5 };
/* Rows of 20, 12 and 10, which are no whole groups; Q and K, which end between multiples of 64. */
static const struct decode_model odd = { .dim = 20,
					 .layers = 3,
					 .heads = 2,
					 .kv_heads = 1,
					 .head_dim = 6,
					 .hidden = 10,
					 .vocab = 7,
					 .theta = 1e4 };

Test(small_decode_model, parameters_are_those_of_the_cards)
{
	struct decode_model m = { .dim = 2048,
				  .layers = 16,
				  .heads = 32,
				  .kv_heads = 8,
				  .head_dim = 64,
				  .hidden = 8192,
				  .vocab = 128256,
				  .tied = true };

	cr_assert(decode_parameters(&tiny) == 15191712, "tiny");
	cr_assert(decode_parameters(&large) == 8030261248, "8b");
	cr_assert(decode_parameters(&m) == 1235814400, "1b");
}

static void expect_shape(enum decode_part part, uint32_t rows, uint32_t cols, uint32_t stride)
{
	struct decode_tensor t = decode_find(&odd, part, 0);

	cr_assert(t.part == part && t.rows == rows && t.cols == cols && t.stride == stride,
		  "part %d: %u x %u, stride %u", (int)part, t.rows, t.cols, t.stride);
}

Test(small_decode_model, shapes_are_out_by_in)
{
	expect_shape(DECODE_EMBEDDING, 7, 20, 24);
	expect_shape(DECODE_NORM_ATT, 1, 20, 24);
	expect_shape(DECODE_Q, 12, 20, 24);
	expect_shape(DECODE_K, 6, 20, 24);
	expect_shape(DECODE_V, 6, 20, 24);
	expect_shape(DECODE_O, 20, 12, 16);
	expect_shape(DECODE_NORM_FFN, 1, 20, 24);
	expect_shape(DECODE_GATE, 10, 20, 24);
	expect_shape(DECODE_UP, 10, 20, 24);
	expect_shape(DECODE_DOWN, 20, 10, 16);
	expect_shape(DECODE_NORM_OUT, 1, 20, 24);
	expect_shape(DECODE_HEAD, 7, 20, 24);
}

/* One after the other, with less than DECODE_ALIGN between them; K and V with nothing. */
static void expect_order(const struct decode_model *m, uint32_t tensors)
{
	size_t end = 0;

	cr_assert(decode_tensors(m) == tensors, "%u tensors", decode_tensors(m));
	for (uint32_t i = 0; i < tensors; i++) {
		struct decode_tensor t = decode_tensor_at(m, i), found;
		bool follows = t.part == DECODE_K || t.part == DECODE_V;

		cr_assert(t.at >= end && t.at - end < (follows ? 1 : DECODE_ALIGN) &&
				  (follows || t.at % DECODE_ALIGN == 0),
			  "tensor %u, part %d: %zu behind %zu", i, (int)t.part, t.at, end);
		found = decode_find(m, t.part, t.layer);
		cr_assert(found.at == t.at && found.rows == t.rows && found.layer == t.layer,
			  "tensor %u is not where it is found", i);
		end = t.at + (size_t)t.rows * t.stride;
	}
	cr_assert(decode_arena(m) >= end && decode_arena(m) - end < DECODE_ALIGN &&
			  decode_arena(m) % DECODE_ALIGN == 0,
		  "an arena of %zu, and %zu are used", decode_arena(m), end);
}

Test(small_decode_model, tensors_lie_one_behind_the_other)
{
	expect_order(&odd, 3 * 9 + 3);
	expect_order(&tiny, 6 * 9 + 2);
	expect_order(&large, 32 * 9 + 3);
}

Test(small_decode_model, a_tied_head_is_the_embedding)
{
	struct decode_tensor e = decode_find(&tiny, DECODE_EMBEDDING, 0);
	struct decode_tensor h = decode_find(&tiny, DECODE_HEAD, 0);

	cr_assert(h.part == DECODE_HEAD && h.at == e.at && h.rows == e.rows && h.stride == e.stride,
		  "tied: at %zu", h.at);
	cr_assert(decode_find(&odd, DECODE_HEAD, 0).at > decode_find(&odd, DECODE_NORM_OUT, 0).at,
		  "not tied");
}

Test(small_decode_model, the_rotation_is_plain_where_nothing_scales_it)
{
	cr_assert(decode_frequency(&odd, 0) == 1, "pair 0");
	cr_assert(fabs(decode_frequency(&odd, 1) / 0.046415888336127795 - 1) < 1e-14, "pair 1");
	cr_assert(fabs(decode_frequency(&large, 32) / sqrt(1 / 5e5) - 1) < 1e-14, "the middle");
}

/* Llama 3.2's: turns in 8192 positions below 1 are 32 times slower, above 4 as they were. */
Test(small_decode_model, llama3_scales_slow_pairs_alone)
{
	struct decode_model scaled = large;
	double plain, two_pi = 2 * acos(-1);

	scaled.rope_factor = 32;
	scaled.rope_low = 1;
	scaled.rope_high = 4;
	scaled.rope_positions = 8192;
	for (uint32_t i = 0; i < 64; i++) {
		double wavelength, smooth, is = decode_frequency(&scaled, i), should;

		plain = decode_frequency(&large, i);
		wavelength = two_pi / plain;
		smooth = (8192 / wavelength - 1) / 3;
		should = wavelength < 8192 / 4.0 ? plain
			 : wavelength > 8192	 ? plain / 32
						 : (1 - smooth) * plain / 32 + smooth * plain;
		cr_assert(fabs(is / should - 1) < 1e-14, "pair %u: %g, not %g", i, is, should);
	}
	cr_assert(decode_frequency(&scaled, 63) < decode_frequency(&large, 63) / 31, "slowest");
	cr_assert(decode_frequency(&scaled, 30) > decode_frequency(&large, 30) / 31 &&
			  decode_frequency(&scaled, 30) < decode_frequency(&large, 30),
		  "between");
}
