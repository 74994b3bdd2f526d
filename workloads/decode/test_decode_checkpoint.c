/* test_decode_checkpoint.c - checkpoints that are right: golden ones, each dtype, shards, links. */
#include "tests/plain.h"

#include <sys/stat.h>

#include "tests/folder.h"
#include "workloads/decode/safetensors.h"
#include "workloads/decode/test_checkpoint.h"

TEST_FOLDER(folder);

TestSuite(small_decode_checkpoint, .init = make_folder, .fini = remove_folder, .timeout = 120);

/* ---- golden ---------------------------------------------------------------------------- */

/* Bits of an element, read from the file by other means. */
struct weight {
	enum decode_part part;
	uint32_t layer, row, col, bits;
};

static const struct weight tied_weights[] = {
	{ DECODE_EMBEDDING, 0, 0, 0, 0x3bc78f97 },   { DECODE_EMBEDDING, 0, 48, 33, 0xbd57e559 },
	{ DECODE_EMBEDDING, 0, 95, 63, 0x3c8670f8 }, { DECODE_HEAD, 0, 48, 33, 0xbd57e559 },
	{ DECODE_Q, 0, 0, 0, 0x3f1e6a07 },	     { DECODE_Q, 0, 32, 33, 0xbdb01cb9 },
	{ DECODE_K, 1, 16, 33, 0xbe7934c6 },	     { DECODE_K, 1, 31, 63, 0xbe3df1f9 },
	{ DECODE_DOWN, 1, 32, 81, 0x3d906662 },	     { DECODE_DOWN, 1, 63, 159, 0x3d54b10e },
	{ DECODE_NORM_OUT, 0, 0, 0, 0x3f8c4409 },    { DECODE_NORM_OUT, 0, 0, 63, 0x3f74e8d7 },
};

static const struct weight untied_weights[] = {
	{ DECODE_EMBEDDING, 0, 0, 0, 0xbe14 }, { DECODE_EMBEDDING, 0, 79, 47, 0xbc0d },
	{ DECODE_V, 2, 12, 25, 0xbe6c },       { DECODE_V, 2, 23, 47, 0xbe18 },
	{ DECODE_DOWN, 2, 24, 57, 0x3d8e },    { DECODE_DOWN, 2, 47, 111, 0xbd85 },
	{ DECODE_HEAD, 0, 0, 0, 0xbd69 },      { DECODE_HEAD, 0, 40, 25, 0x3d2f },
	{ DECODE_NORM_FFN, 1, 0, 0, 0x3f8a },  { DECODE_NORM_FFN, 1, 0, 47, 0x3f4e },
};

static void expect_weights(const char *path, const struct decode_model *m, int bytes,
			   const struct weight *w, int n)
{
	struct checkpoint *c = opened(path, m);

	for (int i = 0; i < n; i++) {
		struct decode_tensor t = decode_find(m, w[i].part, w[i].layer);
		uint32_t row[256], is = 0;

		cr_assert(!decode_checkpoint_rows(c, &t, w[i].row, 1, bytes, row),
			  "row of weight %d", i);
		memcpy(&is, (char *)row + w[i].col * (size_t)bytes, (size_t)bytes);
		cr_assert(is == w[i].bits, "weight %d: %x, not %x", i, is, w[i].bits);
	}
	decode_checkpoint_close(c);
}

Test(small_decode_checkpoint, a_tied_one_of_floats_loads)
{
	static const char path[] = "workloads/decode/golden/tied-f32";
	struct decode_model m;

	cr_assert(!decode_checkpoint_model(path, &m), "%s", path);
	cr_assert(m.dim == 64 && m.layers == 2 && m.heads == 4 && m.kv_heads == 2 &&
			  m.head_dim == 16 && m.hidden == 160 && m.vocab == 96 && m.tied &&
			  m.theta == 1e4 && m.eps == 1e-5 && m.positions == 64 &&
			  m.rope_factor == 0,
		  "shape");
	expect_weights(path, &m, 4, tied_weights, 12);
}

Test(small_decode_checkpoint, one_of_bfloats_with_a_head_loads)
{
	static const char path[] = "workloads/decode/golden/untied-bf16";
	struct decode_model m;

	cr_assert(!decode_checkpoint_model(path, &m), "%s", path);
	cr_assert(m.dim == 48 && m.layers == 3 && m.heads == 6 && m.kv_heads == 3 &&
			  m.head_dim == 8 && m.hidden == 112 && m.vocab == 80 && !m.tied &&
			  m.theta == 5e5,
		  "shape");
	expect_weights(path, &m, 2, untied_weights, 10);
	m.layers = 1;
	expect_weights(path, &m, 2, untied_weights, 2);
}

/* ---- rows ------------------------------------------------------------------------------ */

/* The tensor's number in the file's order; elements before it. */
static int in_file(const struct decode_tensor *t, unsigned *first)
{
	static const int number[DECODE_PARTS] = { 10, 1, 3, 4, 5, 6, 2, 7, 8, 9, 0, 10 };

	*first = 0;
	for (int i = 0; i < number[t->part]; i++)
		*first += small_elements(i);
	return number[t->part];
}

static float value_at(const void *rows, int bytes, size_t i)
{
	uint32_t bits = bytes == 4 ? ((const uint32_t *)rows)[i]
				   : (uint32_t)((const uint16_t *)rows)[i] << 16;
	float f;

	memcpy(&f, &bits, sizeof(f));
	return f;
}

/* Rows of `t` from `row` on, at `out`, which has been overwritten up to their end alone. */
static void expect_rows(const struct checkpoint *c, const struct decode_tensor *t, uint32_t row,
			int bytes)
{
	uint32_t out[8 * 8], rows = t->rows - row;
	unsigned first;
	int tensor = in_file(t, &first);

	memset(out, 0xff, sizeof(out));
	cr_assert(!decode_checkpoint_rows(c, t, row, rows, bytes, out), "%s",
		  small_tensors[tensor].name);
	for (uint32_t i = 0; i < rows * t->stride; i++) {
		uint32_t col = i % t->stride;
		float should = col < t->cols
				       ? small_value(first + (row + i / t->stride) * t->cols + col)
				       : 0;

		cr_assert(value_at(out, bytes, i) == should, "%s: element %u: %g, not %g",
			  small_tensors[tensor].name, i, value_at(out, bytes, i), should);
	}
	cr_assert(((unsigned char *)out)[(size_t)rows * t->stride * (size_t)bytes] == 0xff,
		  "beyond the rows");
}

static void expect_small(const struct decode_model *m)
{
	struct checkpoint *c = opened(folder, m);

	for (int part = 0; part < DECODE_PARTS; part++) {
		struct decode_tensor t = decode_find(m, (enum decode_part)part, 0);

		for (uint32_t row = 0; row < t.rows; row++) {
			expect_rows(c, &t, row, 2);
			expect_rows(c, &t, row, 4);
		}
	}
	decode_checkpoint_close(c);
}

Test(small_decode_checkpoint, each_dtype_gives_rows_filled_up_with_zeros)
{
	static const char *const dtypes[] = { "F32", "F16", "BF16" };

	for (int i = 0; i < 3; i++) {
		struct decode_model m;

		put_small(folder, dtypes[i]);
		cr_assert(!decode_checkpoint_model(folder, &m), "%s", dtypes[i]);
		expect_small(&m);
	}
}

enum { WIDE = 20001, BEFORE_WIDE = 3 * 6 + 4 * 12, WIDE_FILE = BEFORE_WIDE + 3 * WIDE * 6 + 30 };

/* The small model with `hidden` WIDE, of halves. */
static void put_wide(void)
{
	static unsigned char file[SMALL_TEXT + 2 * WIDE_FILE];
	static const char *const shapes[] = { "[3, 6]", "[3, 6]", "[6, 3]", "[5, 6]" };
	static const char *const wide[] = { "[20001, 6]", "[20001, 6]", "[6, 20001]", "[5, 6]" };
	unsigned was = 2 * BEFORE_WIDE, is = was;
	char header[SMALL_TEXT];
	size_t n;

	small_header("F16", 0, SMALL_TENSORS, header);
	for (int i = 0; i < 4; i++) {
		unsigned small = i < 3 ? 36 : 60, large = i < 3 ? 2 * WIDE * 6 : 60;
		char from[64], to[64];

		snprintf(from, sizeof(from), "%s, \"data_offsets\": [%u, %u]", shapes[i], was,
			 was + small);
		snprintf(to, sizeof(to), "%s, \"data_offsets\": [%u, %u]", wide[i], is, is + large);
		replace(header, from, to);
		was += small;
		is += large;
	}
	n = small_file("F16", header, 0, 0, file);
	for (unsigned i = 0; i < WIDE_FILE; i++, n += 2)
		small_encode("F16", small_value(i), file + n);
	put_file(folder, "model.safetensors", file, n);
}

/* Pieces of 32 KiB end within rows, short ones and such as are longer than a piece. */
Test(small_decode_checkpoint, rows_of_several_pieces_are_whole)
{
	static uint32_t out[WIDE * 8];
	const enum decode_part parts[] = { DECODE_UP, DECODE_DOWN };
	struct decode_model m = small_model;
	struct checkpoint *c;

	m.hidden = WIDE;
	put_wide();
	c = opened(folder, &m);
	for (unsigned k = 0; k < 2; k++) {
		struct decode_tensor t = decode_find(&m, parts[k], 0);
		unsigned first = BEFORE_WIDE + (k + 1) * WIDE * 6;

		memset(out, 0xff, sizeof(out));
		cr_assert(!decode_checkpoint_rows(c, &t, 0, t.rows, 4, out), "rows");
		for (unsigned i = 0; i < t.rows * t.stride; i++) {
			unsigned row = i / t.stride, col = i % t.stride;
			float should = col < t.cols ? small_value(first + row * t.cols + col) : 0;

			cr_assert(value_at(out, 4, i) == should, "part %u, element %u", k, i);
		}
	}
	decode_checkpoint_close(c);
}

/* ---- files ----------------------------------------------------------------------------- */

/* Two shards; the first has `first` tensors. */
static void put_shards(int first)
{
	char text[SMALL_TEXT];

	put_index(folder, first);
	small_header("F16", 0, first, text);
	put_tensors(folder, "one", "F16", text, 0, first);
	small_header("F16", first, SMALL_TENSORS, text);
	put_tensors(folder, "two", "F16", text, first, SMALL_TENSORS);
}

static void move(const char *from, const char *to)
{
	char a[512], b[512];

	snprintf(a, sizeof(a), "%s/%s", folder, from);
	snprintf(b, sizeof(b), "%s/%s", folder, to);
	cr_assert(!rename(a, b), "%s", a);
}

static void make_link(const char *to, const char *name)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	unlink(path);
	cr_assert(!symlink(to, path), "%s", path);
}

Test(small_decode_checkpoint, shards_are_found_by_the_index)
{
	put_shards(4);
	expect_small(&small_model);
}

Test(small_decode_checkpoint, a_link_to_another_folder_is_followed)
{
	char blob[512];

	put_small(folder, "F32");
	snprintf(blob, sizeof(blob), "%s/blobs", folder);
	cr_assert(!mkdir(blob, 0700), "%s", blob);
	move("model.safetensors", "blobs/0f");
	make_link("blobs/0f", "model.safetensors");
	expect_small(&small_model);
}

/* Buffers that older files have, and a head of its own in a file that says tied. */
Test(small_decode_checkpoint, tensors_beyond_the_models_are_ignored)
{
	char header[SMALL_TEXT];
	unsigned char bytes[SMALL_TEXT];
	size_t n;

	small_header("F32", 0, SMALL_TENSORS, header);
	replace(header, "}  ",
		", \"model.layers.0.self_attn.rotary_emb.inv_freq\": {\"dtype\": \"I64\", "
		"\"shape\": [1], \"data_offsets\": [600, 608]}, \"none\": {\"dtype\": \"F32\", "
		"\"shape\": [7, 0, 1, 1, 1], \"data_offsets\": [608, 608]}, \"lm_head.weight\": "
		"{\"dtype\": \"U8\", \"shape\": [], \"data_offsets\": [608, 609]}}");
	n = small_file("F32", header, 0, SMALL_TENSORS, bytes);
	memset(bytes + n, 0xee, 9);
	put_file(folder, "model.safetensors", bytes, n + 9);
	expect_small(&small_model);
}

Test(small_decode_checkpoint, a_file_that_is_cut_later_is_a_line)
{
	struct decode_tensor t = decode_find(&small_model, DECODE_EMBEDDING, 0);
	struct checkpoint *c;
	uint32_t row[8];
	char path[512];
	int err;

	put_small(folder, "F32");
	c = opened(folder, &small_model);
	snprintf(path, sizeof(path), "%s/model.safetensors", folder);
	cr_assert(!truncate(path, 1000), "%s", path);
	divert_stderr();
	err = decode_checkpoint_rows(c, &t, 4, 1, 4, row);
	expect_line(err, "tensor model.embed_tokens.weight: the file has been cut since");
	cr_assert(err == -EIO, "%d", err);
	decode_checkpoint_close(c);
}

Test(small_decode_checkpoint, closing_nothing_is_nothing)
{
	decode_checkpoint_close(NULL);
	decode_safetensors_close(NULL);
	cr_assert(true, "no fault");
}

/* ---- indices that are wrong ------------------------------------------------------------ */

/* The index with one text in place of another. */
static void spoil_index(const char *from, const char *to)
{
	char path[512], text[SMALL_TEXT] = { 0 };
	FILE *f;

	put_shards(4);
	snprintf(path, sizeof(path), "%s/model.safetensors.index.json", folder);
	f = fopen(path, "rb");
	cr_assert(f && fread(text, 1, sizeof(text) - 1, f) && !fclose(f), "%s", path);
	replace(text, from, to);
	put_text(folder, "model.safetensors.index.json", text);
}

Test(small_decode_checkpoint, broken_indices_are_refused)
{
	static const struct {
		const char *from, *to, *says;
	} cases[] = {
		{ "\"one\"", "\"../one\"", "file '../one' is not in the same folder" },
		{ "\"one\"", "\"..\"", "file '..' is not in the same folder" },
		{ "\"one\"", "\".\"", "file '.' is not in the same folder" },
		{ "\"one\"", "\"/etc/passwd\"", "file '/etc/passwd' is not in the same folder" },
		{ "\"one\"", "\"\"", "tensor model.norm.weight: file '' is not" },
		{ "\"one\"", "5", "tensor model.norm.weight: must be the name of a file" },
		{ "\"one\"", "\"six\"", "/six: No such file or directory" },
		{ "\"one\"", "\"two\"", "/two: no tensor model.norm.weight" },
		{ "model.norm.weight", "model.norm", "no tensor model.norm.weight in weight_map" },
		{ "weight_map", "map", "no object weight_map; must name each tensor's file" },
		{ "{\"metadata\": {\"total_size\": 1}, \"weight_map\": {",
		  "{\"weight_map\": [], \"b\": {", "no object weight_map" },
		{ "}}", "}", "no JSON: line 1" },
		{ "model.layers.0.input_layernorm.weight", "model.norm.weight", "duplicate" },
		{ "\"one\"", "\"a\\u0000b\"", "no JSON: line 1" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		spoil_index(cases[i].from, cases[i].to);
		expect_not_opened(folder, &small_model, cases[i].says);
	}
}
