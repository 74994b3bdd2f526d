/* report.c - what `rift run` prints about the model and its speed; the file of tokens. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/check.h"
#include "common/cuda_check.h"
#include "workloads/decode/decode.h"

static struct report_row *add_row(struct report *r, const char *name, const char *unit,
				  double value)
{
	struct report_row *row = &r->row[r->n];

	CHECK(r->n < REPORT_ROWS_MAX, "%s", name);
	r->n++;
	*row = (struct report_row){ .name = name, .unit = unit, .value = value };
	return row;
}

static void report_model(const struct decode_state *s, struct report *out)
{
	const struct decode_model *m = &s->shape.model;
	struct report_row *row = add_row(out, "model", "", 0);

	snprintf(row->text, sizeof(row->text),
		 "%" PRIu64 " weights in %s; %u layers of %u, heads %u / %u of %u, hidden %u, "
		 "vocabulary %u",
		 decode_parameters(m), s->half ? "bf16" : "fp32", m->layers, m->dim, m->heads,
		 m->kv_heads, m->head_dim, m->hidden, m->vocab);
}

static void report_positions(const struct decode_state *s, struct report *out)
{
	const struct decode_shape *shape = &s->shape;
	struct report_row *row = add_row(out, "positions", "", 0);

	snprintf(row->text, sizeof(row->text), "%u before the first step, %s; %u in all",
		 shape->start, shape->prompts ? "of the prompt" : "generated", shape->positions);
}

/* ---- tokens=FILE --------------------------------------------------------------------- */

/* Steps that fill the cache from a reset on, as far as they are noted. Returns how many or -EINTR.
 */
static int64_t fill_cache(const struct decode_opts *o, struct decode_state *s)
{
	int64_t steps = s->shape.positions - s->shape.start;

	steps = steps < s->shape.history ? steps : s->shape.history;
	decode_reset(o, s, s->own);
	for (int64_t i = 0; i < steps; i++) {
		decode_step(o, s, s->own);
		if (decode_interrupted(s, i))
			return -EINTR;
	}
	CUDA(cudaStreamSynchronize(s->own));
	return steps;
}

static int write_tokens(const struct decode_opts *o, struct decode_state *s)
{
	int64_t steps = fill_cache(o, s);
	size_t batch = s->shape.batch, n = (size_t)steps * batch;
	FILE *out = s->tokens.file;
	uint32_t *token;

	if (steps < 0)
		return (int)steps;
	token = malloc(n * sizeof(*token));
	CHECK(token, "%zu tokens", n);
	CUDA(cudaMemcpy(token, s->device.history_token, n * sizeof(*token),
			cudaMemcpyDeviceToHost));
	for (size_t b = 0; b < batch; b++)
		for (int64_t i = 0; i < steps; i++)
			fprintf(out, "%u%c", token[(size_t)i * batch + b],
				i + 1 < steps ? ',' : '\n');
	free(token);
	return output_commit(&s->tokens);
}

int decode_report(const void *opts, void *state, struct report *out)
{
	const struct decode_opts *o = opts;
	struct decode_state *s = state;

	report_model(s, out);
	report_positions(s, out);
	if (o->launches == DECODE_MANY)
		snprintf(add_row(out, "products", "", 0)->text, sizeof(out->row->text), "%s",
			 s->many.blas->name);
	return o->tokens ? write_tokens(o, s) : 0;
}
