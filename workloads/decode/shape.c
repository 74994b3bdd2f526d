/* shape.c - what options come to: the model, the prompt, the length of a sequence. */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "workloads/decode/decode.h"

enum { POSITIONS_BEHIND = 256 }; /* the start, where positions= is not given */

/* Shapes of Llama's papers and model cards; tiny and small are those of llama2.c. */
static const struct decode_model models[] = {
	[DECODE_TINY] = { 288, 6, 6, 6, 48, 768, 32000, true, 1e4, 1e-5, 0 },
	[DECODE_SMALL] = { 768, 12, 12, 12, 64, 2048, 32000, true, 1e4, 1e-5, 0 },
	[DECODE_1B] = { 2048, 16, 32, 8, 64, 8192, 128256, true, 5e5, 1e-5, 0 },
	[DECODE_8B] = { 4096, 32, 32, 8, 128, 14336, 128256, false, 5e5, 1e-5, 0 },
};

static int find_model(const struct decode_opts *o, struct decode_model *m)
{
	int err = 0;

	if (o->checkpoint)
		err = decode_checkpoint_model(o->checkpoint, m);
	else
		*m = models[o->model];
	if (err || !o->layers)
		return err;
	if (o->layers > m->layers)
		return complain(EINVAL, "layers=%ld: the model has %u", (long)o->layers, m->layers);
	m->layers = (uint32_t)o->layers;
	return 0;
}

/* ---- the prompt --------------------------------------------------------------------------- */

static int refuse_prompt(const char *at, uint32_t vocab)
{
	return complain(EINVAL,
			"prompt=: '%.20s' is no token of this model: give ids from 0 to %u with "
			"commas between them",
			at, vocab - 1);
}

static int parse_prompt(const char *text, struct decode_shape *s)
{
	const char *at = text;
	char *end;

	s->prompt = calloc(strlen(text) / 2 + 1, sizeof(*s->prompt));
	CHECK(s->prompt, "a prompt of %zu bytes", strlen(text));
	for (;;) {
		unsigned long id = isdigit((unsigned char)*at) ? strtoul(at, &end, 10) : ULONG_MAX;

		if (id >= s->model.vocab || (*end && *end != ','))
			return refuse_prompt(at, s->model.vocab);
		s->prompt[s->prompts++] = (uint32_t)id;
		if (!*end)
			return 0;
		at = end + 1;
	}
}

/* ---- lengths -------------------------------------------------------------------------------- */

/* As many positions as the model allows cannot become more. */
static int refuse_start(const struct decode_shape *s, bool all)
{
	const char *before = s->prompts ? "prompt=" : "context=";

	return complain(EINVAL,
			"%s leaves no position for a new token: %u are taken, of %u%s "
			"%s less",
			before, s->lap, s->positions,
			all ? ", for which the model was made; give" : "; give positions= more, or",
			before);
}

static int set_positions(const struct decode_opts *o, struct decode_shape *s)
{
	uint32_t most = s->model.positions ? s->model.positions : DECODE_POSITIONS_MAX;

	s->lap = s->prompts ? s->prompts : (uint32_t)o->context;
	s->start = s->prompts ? s->prompts - 1 : s->lap;
	s->positions = o->positions ? (uint32_t)o->positions : s->lap + POSITIONS_BEHIND;
	if (!o->positions && s->positions > most)
		s->positions = most;
	if (s->positions > most)
		return complain(EINVAL, "positions=%ld: the model was made for %u",
				(long)o->positions, most);
	return s->positions > s->lap ? 0 : refuse_start(s, s->positions == most);
}

/* Some megabytes of notes, whatever the batch is. */
static uint32_t find_history(uint32_t batch)
{
	const uint32_t steps = DECODE_NOTES / batch;

	return steps < DECODE_HISTORY_MIN   ? DECODE_HISTORY_MIN
	       : steps > DECODE_HISTORY_MAX ? DECODE_HISTORY_MAX
					    : steps;
}

int decode_shape_init(const struct decode_opts *o, struct decode_shape *s)
{
	int err;

	memset(s, 0, sizeof(*s));
	s->batch = (uint32_t)o->batch;
	err = find_model(o, &s->model);
	if (!err && o->prompt)
		err = parse_prompt(o->prompt, s);
	if (!err)
		err = set_positions(o, s);
	if (!err)
		s->history = find_history(s->batch);
	return err;
}

void decode_shape_release(struct decode_shape *s)
{
	free(s->prompt);
	memset(s, 0, sizeof(*s));
}

uint32_t decode_first_token(const struct decode_opts *o, const struct decode_shape *s,
			    uint32_t sequence)
{
	struct philox r = philox4x32(sequence, 0, DECODE_TAG_TOKEN, 0, (uint64_t)o->seed);

	if (!s->prompts)
		return r.word[0] % s->model.vocab;
	return (s->prompt[s->prompts - 1] + sequence) % s->model.vocab;
}

uint32_t decode_position(const struct decode_shape *s, int64_t step)
{
	int64_t first = s->positions - s->start; /* steps of the first lap */

	if (step < first)
		return s->start + (uint32_t)step;
	return s->lap + (uint32_t)((step - first) % (s->positions - s->lap));
}
