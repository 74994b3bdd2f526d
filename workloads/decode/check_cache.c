/* check_cache.c - rows of the cache: those of the device against those that the reference has. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/interrupt.h"
#include "workloads/decode/check.h"

/* A row of the device's cache, in double. */
static void fetch_row(const struct audit *a, const void *cache, uint32_t layer, uint32_t sequence,
		      uint32_t head, uint32_t position, uint32_t positions, double *out,
		      uint32_t out_stride)
{
	const struct decode_device *d = &a->s->device;
	size_t row = (((size_t)layer * d->batch + sequence) * d->kv_heads + head) * d->positions +
		     position;
	size_t bytes = (size_t)decode_bytes(a->s), n = (size_t)positions * d->head_stride;
	void *raw = decode_audit_allocate(n, bytes);

	decode_audit_fetch(raw, (const char *)cache + row * d->head_stride * bytes, n * bytes);
	for (uint32_t p = 0; p < positions; p++)
		for (uint32_t i = 0; i < d->head_dim; i++) {
			size_t at = (size_t)p * d->head_stride + i;

			out[(size_t)p * out_stride + i] =
				a->s->half ? (double)decode_widen(((struct decode_bf16 *)raw)[at])
					   : (double)((float *)raw)[at];
		}
	free(raw);
}

/* All heads' rows of a layer, from `from` to `to` - 1: out[position][heads head_dim]. */
static void fetch_layer(const struct audit *a, const void *cache, uint32_t layer, uint32_t sequence,
			uint32_t from, uint32_t to, double *out)
{
	const struct decode_model *m = &a->s->shape.model;

	for (uint32_t head = 0; head < m->kv_heads; head++)
		fetch_row(a, cache, layer, sequence, head, from, to - from,
			  out + (size_t)head * m->head_dim, m->kv_heads * m->head_dim);
}

void decode_audit_fetch_cache(const struct audit *a, uint32_t sequence, uint32_t from, uint32_t to,
			      struct reference_cache *out)
{
	const struct decode_model *m = &a->s->shape.model;

	for (uint32_t layer = 0; layer < m->layers; layer++) {
		size_t at = ((size_t)layer * out->positions + from) * m->kv_heads * m->head_dim;

		fetch_layer(a, a->s->key, layer, sequence, from, to, out->key + at);
		fetch_layer(a, a->s->value, layer, sequence, from, to, out->value + at);
	}
}

/* Rows that some step, or what came before, has written. */
static uint32_t rows_there(const struct audit *a)
{
	const struct decode_shape *s = &a->s->shape;
	int64_t rows = s->start + a->steps;

	return rows < s->positions ? (uint32_t)rows : s->positions;
}

/* Beyond one unit in the last place of bfloat16: near the middle between two both may be right. */
static double stored_difference(const struct audit *a, double got, double want)
{
	double off = fabs(got - want), unit = ldexp(1, ilogb(fmax(fabs(want), 0x1p-100)) - 7);

	if (!a->s->half || !(off <= 1.5 * unit))
		return off;
	return 0;
}

/* A row as it must be, and as it is. */
struct row {
	const char *what; /* key or value */
	uint32_t layer, sequence, position;
	const double *got, *want;
};

static void compare_row(struct audit *a, const struct row *r)
{
	const struct decode_model *m = &a->s->shape.model;
	const uint32_t width = m->kv_heads * m->head_dim;
	double squares = 0;

	for (uint32_t i = 0; i < width; i++)
		squares += r->want[i] * r->want[i];
	for (uint32_t i = 0; i < width; i++) {
		double off = stored_difference(a, r->got[i], r->want[i]);

		/* a row may be zeros, of a token whose embedding is */
		if (decode_audit_is_worst(a, off == 0 ? 0 : off / sqrt(squares / width)))
			snprintf(a->v->worst, sizeof(a->v->worst),
				 "%s, sequence %u, layer %u, position %u: %.6g instead of %.6g",
				 r->what, r->sequence, r->layer, r->position, r->got[i],
				 r->want[i]);
	}
}

/* Rows that nothing has written yet are no numbers. */
static void check_unwritten(struct audit *a, const struct row *r)
{
	const struct decode_model *m = &a->s->shape.model;

	for (uint32_t i = 0; i < m->kv_heads * m->head_dim; i++)
		if (!isnan(r->got[i])) {
			decode_audit_flaw(
				a, "%s, sequence %u, layer %u, position %u: was written by no step",
				r->what, r->sequence, r->layer, r->position);
			return;
		}
}

/* r is the first of them; a row follows the other. */
static void compare_layer(struct audit *a, struct row r, uint32_t to, const bool *fresh)
{
	const struct decode_model *m = &a->s->shape.model;
	const uint32_t width = m->kv_heads * m->head_dim, there = rows_there(a);

	for (; r.position < to; r.position++, r.got += width, r.want += width)
		if (r.position >= there)
			check_unwritten(a, &r);
		else if (!fresh || fresh[r.position])
			compare_row(a, &r);
}

void decode_audit_compare_cache(struct audit *a, uint32_t sequence, uint32_t from, uint32_t to,
				const struct reference_cache *want, const bool *fresh)
{
	const struct decode_model *m = &a->s->shape.model;
	const uint32_t width = m->kv_heads * m->head_dim;
	double *got = decode_audit_allocate((size_t)(to - from) * width, sizeof(*got));

	for (uint32_t layer = 0; layer < m->layers; layer++) {
		size_t at = ((size_t)layer * want->positions + from) * width;
		struct row key = { "key", layer, sequence, from, got, want->key + at };
		struct row value = { "value", layer, sequence, from, got, want->value + at };

		fetch_layer(a, a->s->key, layer, sequence, from, to, got);
		compare_layer(a, key, to, fresh);
		fetch_layer(a, a->s->value, layer, sequence, from, to, got);
		compare_layer(a, value, to, fresh);
	}
	free(got);
}

static double kept(const struct audit *a, float v)
{
	return a->s->half ? (double)decode_widen(decode_round(v)) : (double)v;
}

/* Of one layer and head. */
static void generate_rows(const struct audit *a, uint32_t sequence, uint32_t layer, uint32_t head,
			  struct reference_cache *c)
{
	const struct decode_shape *shape = &a->s->shape;
	const struct decode_model *m = &shape->model;
	uint64_t row = ((uint64_t)layer * shape->batch + sequence) * m->kv_heads + head;

	for (uint32_t i = 0; i < shape->start * m->head_dim; i++) {
		uint64_t n = row * shape->start * m->head_dim + i;
		size_t position = (size_t)layer * c->positions + i / m->head_dim;
		size_t at = (position * m->kv_heads + head) * m->head_dim + i % m->head_dim;

		c->key[at] = kept(a, decode_bell(n, DECODE_TAG_KEY, 0, a->s->seed));
		c->value[at] = kept(a, decode_bell(n, DECODE_TAG_VALUE, 0, a->s->seed));
	}
}

int decode_audit_generate_cache(const struct audit *a, uint32_t sequence, struct reference_cache *c)
{
	const struct decode_model *m = &a->s->shape.model;

	for (uint32_t layer = 0; layer < m->layers; layer++)
		for (uint32_t head = 0; head < m->kv_heads; head++) {
			if (interrupted())
				return -EINTR;
			generate_rows(a, sequence, layer, head, c);
		}
	return 0;
}
