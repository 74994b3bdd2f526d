/* model.c - shapes and places of weights; see model.h. */
#include "workloads/decode/model.h"

#include <math.h>

#include "common/check.h"

static const double two_pi = 6.283185307179586;

static uint32_t rows_of(const struct decode_model *m, enum decode_part part)
{
	switch (part) {
	case DECODE_EMBEDDING:
	case DECODE_HEAD:
		return m->vocab;
	case DECODE_Q:
		return m->heads * m->head_dim;
	case DECODE_K:
	case DECODE_V:
		return m->kv_heads * m->head_dim;
	case DECODE_GATE:
	case DECODE_UP:
		return m->hidden;
	case DECODE_O:
	case DECODE_DOWN:
		return m->dim;
	default:
		return 1; /* norms */
	}
}

static uint32_t cols_of(const struct decode_model *m, enum decode_part part)
{
	return part == DECODE_O ? m->heads * m->head_dim : part == DECODE_DOWN ? m->hidden : m->dim;
}

static size_t aligned(size_t elements)
{
	return (elements + DECODE_ALIGN - 1) / DECODE_ALIGN * DECODE_ALIGN;
}

static size_t elements_of(const struct decode_model *m, enum decode_part part)
{
	return (size_t)rows_of(m, part) * decode_padded(cols_of(m, part));
}

static bool once(enum decode_part part)
{
	return part == DECODE_EMBEDDING || part >= DECODE_NORM_OUT;
}

/* Where a part begins, counted from its layer's begin; of DECODE_NORM_OUT: the layer's elements. */
static size_t within_layer(const struct decode_model *m, enum decode_part part)
{
	size_t at = 0;

	for (int p = DECODE_NORM_ATT; p < (int)part; p++) {
		at += elements_of(m, (enum decode_part)p);
		if (p != DECODE_Q && p != DECODE_K)
			at = aligned(at);
	}
	return at;
}

static size_t place_of(const struct decode_model *m, enum decode_part part, uint32_t layer)
{
	size_t layers_at = aligned(elements_of(m, DECODE_EMBEDDING));
	size_t out_at = layers_at + m->layers * within_layer(m, DECODE_NORM_OUT);

	if (part == DECODE_EMBEDDING || (part == DECODE_HEAD && m->tied))
		return 0;
	if (part == DECODE_NORM_OUT)
		return out_at;
	if (part == DECODE_HEAD)
		return out_at + aligned(elements_of(m, DECODE_NORM_OUT));
	return layers_at + layer * within_layer(m, DECODE_NORM_OUT) + within_layer(m, part);
}

struct decode_tensor decode_find(const struct decode_model *m, enum decode_part part,
				 uint32_t layer)
{
	CHECK((unsigned)part < DECODE_PARTS && (once(part) ? layer == 0 : layer < m->layers),
	      "part %d of layer %u", (int)part, layer);
	return (struct decode_tensor){
		.part = part,
		.layer = layer,
		.rows = rows_of(m, part),
		.cols = cols_of(m, part),
		.stride = decode_padded(cols_of(m, part)),
		.at = place_of(m, part, layer),
	};
}

size_t decode_arena(const struct decode_model *m)
{
	enum decode_part last = m->tied ? DECODE_NORM_OUT : DECODE_HEAD;

	return place_of(m, last, 0) + aligned(elements_of(m, last));
}

uint64_t decode_parameters(const struct decode_model *m)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < decode_tensors(m); i++) {
		struct decode_tensor t = decode_tensor_at(m, i);

		sum += (uint64_t)t.rows * t.cols;
	}
	return sum;
}

enum { IN_LAYER = DECODE_NORM_OUT - DECODE_NORM_ATT };

uint32_t decode_tensors(const struct decode_model *m)
{
	return m->layers * IN_LAYER + (m->tied ? 2 : 3);
}

struct decode_tensor decode_tensor_at(const struct decode_model *m, uint32_t i)
{
	uint32_t behind = 1 + m->layers * IN_LAYER;

	CHECK(i < decode_tensors(m), "tensor %u of %u", i, decode_tensors(m));
	if (i == 0)
		return decode_find(m, DECODE_EMBEDDING, 0);
	if (i >= behind)
		return decode_find(m, i == behind ? DECODE_NORM_OUT : DECODE_HEAD, 0);
	return decode_find(m, (enum decode_part)(DECODE_NORM_ATT + (i - 1) % IN_LAYER),
			   (i - 1) / IN_LAYER);
}

double decode_frequency(const struct decode_model *m, uint32_t i)
{
	double plain = pow(m->theta, -2.0 * i / m->head_dim), turns, kept;

	if (m->rope_factor == 0)
		return plain;
	turns = m->rope_positions * plain / two_pi;
	kept = fmin(fmax((turns - m->rope_low) / (m->rope_high - m->rope_low), 0), 1);
	return plain * (kept + (1 - kept) / m->rope_factor);
}
