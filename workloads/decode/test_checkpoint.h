/* test_checkpoint.h - a small checkpoint in a test's own folder, good, and spoilt in one place. */
#ifndef RIFT_DECODE_TEST_CHECKPOINT_H
#define RIFT_DECODE_TEST_CHECKPOINT_H

#include <criterion/criterion.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "tests/divert.h"
#include "workloads/decode/checkpoint.h"
#include "workloads/decode/dtype.h"

/* Rows of 6, 2 and 3 are filled up to 8. */
static const char small_config[] =
	"{\"architectures\": [\"LlamaForCausalLM\"], \"model_type\": \"llama\", "
	"\"hidden_size\": 6, \"intermediate_size\": 3, \"num_hidden_layers\": 1, "
	"\"num_attention_heads\": 1, \"num_key_value_heads\": 1, \"head_dim\": 2, "
	"\"vocab_size\": 5, \"max_position_embeddings\": 64, \"rms_norm_eps\": 1e-05, "
	"\"rope_theta\": 10000.0, \"rope_scaling\": null, \"rope_parameters\": null, "
	"\"tie_word_embeddings\": true, \"hidden_act\": \"silu\", \"attention_bias\": false, "
	"\"mlp_bias\": false, \"torch_dtype\": \"float32\", \"pretraining_tp\": 2, \"is\": 0}";

static const struct decode_model small_model = {
	.dim = 6,
	.layers = 1,
	.heads = 1,
	.kv_heads = 1,
	.head_dim = 2,
	.hidden = 3,
	.vocab = 5,
	.tied = true,
	.theta = 1e4,
	.eps = 1e-5,
	.positions = 64,
	.rope_factor = 0,
	.rope_low = 0,
	.rope_high = 0,
	.rope_positions = 0,
};

/* cols 0: a norm. In the order in which the file has them, which is not the arena's. */
static const struct small_tensor {
	const char *name;
	unsigned rows, cols;
} small_tensors[] = {
	{ "model.norm.weight", 6, 0 },
	{ "model.layers.0.input_layernorm.weight", 6, 0 },
	{ "model.layers.0.post_attention_layernorm.weight", 6, 0 },
	{ "model.layers.0.self_attn.q_proj.weight", 2, 6 },
	{ "model.layers.0.self_attn.k_proj.weight", 2, 6 },
	{ "model.layers.0.self_attn.v_proj.weight", 2, 6 },
	{ "model.layers.0.self_attn.o_proj.weight", 6, 2 },
	{ "model.layers.0.mlp.gate_proj.weight", 3, 6 },
	{ "model.layers.0.mlp.up_proj.weight", 3, 6 },
	{ "model.layers.0.mlp.down_proj.weight", 6, 3 },
	{ "model.embed_tokens.weight", 5, 6 },
};

enum {
	SMALL_TENSORS = sizeof(small_tensors) / sizeof(small_tensors[0]),
	SMALL_ELEMENTS = 3 * 6 + 4 * 12 + 3 * 18 + 30,
	SMALL_TEXT = 1 << 13,
};

static inline unsigned small_elements(int tensor)
{
	const struct small_tensor *t = &small_tensors[tensor];

	return t->rows * (t->cols ? t->cols : 1);
}

/* Tensors `from` to `to - 1`, which is what a shard has. */
static inline void small_header(const char *dtype, int from, int to, char text[SMALL_TEXT])
{
	unsigned bytes = (unsigned)decode_dtype_bytes(decode_dtype_named(dtype)), at = 0;
	char *end = text + sprintf(text, "{\"__metadata__\": {\"format\": \"pt\"}");

	for (int i = from; i < to; i++) {
		const struct small_tensor *t = &small_tensors[i];
		unsigned next = at + small_elements(i) * bytes;

		end += sprintf(end, ", \"%s\": {\"dtype\": \"%s\", \"shape\": [%u", t->name, dtype,
			       t->rows);
		if (t->cols)
			end += sprintf(end, ", %u", t->cols);
		end += sprintf(end, "], \"data_offsets\": [%u, %u]}", at, next);
		at = next;
	}
	strcpy(end, "}  ");
}

/* Element i of the file, of few enough bits for each dtype. */
static inline float small_value(unsigned i)
{
	return ((float)(i * 37 % 251) - 125) / 64;
}

/* Little endian, of a number that a half has exactly and that is 0 or normal there. */
static inline void small_encode(const char *dtype, float v, unsigned char *out)
{
	uint32_t bits;
	uint16_t low;
	int e;
	double m = frexp(fabs(v), &e);

	memcpy(&bits, &v, sizeof(bits));
	if (!strcmp(dtype, "F32")) {
		memcpy(out, &bits, sizeof(bits));
		return;
	}
	low = (uint16_t)(bits >> 16);
	if (!strcmp(dtype, "F16")) {
		low = v < 0 ? 0x8000 : 0;
		if (m > 0)
			low |= (uint16_t)((e + 14) * 1024 + (int)((2 * m - 1) * 1024));
	}
	memcpy(out, &low, sizeof(low));
}

static inline void put_file(const char *folder, const char *name, const void *bytes, size_t n)
{
	char path[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "wb");
	cr_assert(f && fwrite(bytes, 1, n, f) == n && !fclose(f), "%s", path);
}

static inline void put_text(const char *folder, const char *name, const char *text)
{
	put_file(folder, name, text, strlen(text));
}

/* Length, header and the elements of tensors `from` to `to - 1`; returns the bytes. */
static inline size_t small_file(const char *dtype, const char *header, int from, int to,
				unsigned char out[SMALL_TEXT])
{
	uint64_t length = strlen(header);
	size_t bytes = decode_dtype_bytes(decode_dtype_named(dtype)), n = 8 + length;
	unsigned first = 0, last;

	for (int i = 0; i < from; i++)
		first += small_elements(i);
	last = first;
	for (int i = from; i < to; i++)
		last += small_elements(i);
	memcpy(out, &length, 8);
	memcpy(out + 8, header, length);
	for (unsigned i = first; i < last; i++, n += bytes)
		small_encode(dtype, small_value(i), out + n);
	return n;
}

static inline void put_tensors(const char *folder, const char *name, const char *dtype,
			       const char *header, int from, int to)
{
	unsigned char bytes[SMALL_TEXT];

	put_file(folder, name, bytes, small_file(dtype, header, from, to, bytes));
}

/* The first `from` becomes `to`; it must be there. */
static inline void replace(char text[SMALL_TEXT], const char *from, const char *to)
{
	char *at = strstr(text, from), rest[SMALL_TEXT];

	cr_assert(at, "no '%s' in %s", from, text);
	strcpy(rest, at + strlen(from));
	strcpy(stpcpy(at, to), rest);
}

/* Says that the first `first` tensors are in "one" and the rest in "two". */
static inline void put_index(const char *folder, int first)
{
	char text[SMALL_TEXT] = "{\"metadata\": {\"total_size\": 1}, \"weight_map\": {";
	char *end = text + strlen(text);

	for (int i = 0; i < SMALL_TENSORS; i++)
		end += sprintf(end, "%s\"%s\": \"%s\"", i ? ", " : "", small_tensors[i].name,
			       i < first ? "one" : "two");
	strcpy(end, "}}");
	put_text(folder, "model.safetensors.index.json", text);
}

static inline void put_small(const char *folder, const char *dtype)
{
	char header[SMALL_TEXT];

	put_text(folder, "config.json", small_config);
	small_header(dtype, 0, SMALL_TENSORS, header);
	put_tensors(folder, "model.safetensors", dtype, header, 0, SMALL_TENSORS);
}

/* One line with these words, and an error; the line is stderr's since divert_stderr(). */
static inline void expect_line(int err, const char *says)
{
	const char *text = diverted_stderr();

	cr_assert(err < 0 && is_one_complaint(text), "'%s': %d, %s", says, err, text);
	cr_assert(strstr(text, says), "'%s' is not in: %s", says, text);
}

static inline void expect_not_opened(const char *folder, const struct decode_model *m,
				     const char *says)
{
	struct checkpoint *c;
	int err;

	divert_stderr();
	err = decode_checkpoint_open(folder, m, &c);
	expect_line(err, says);
	cr_assert(!c, "a checkpoint of '%s'", says);
}

static inline struct checkpoint *opened(const char *folder, const struct decode_model *m)
{
	struct checkpoint *c;

	cr_assert(!decode_checkpoint_open(folder, m, &c) && c, "%s", folder);
	return c;
}

#endif
