/* checkpoint.c - finds a model's tensors in its files and gives their rows; see checkpoint.h. */
#include "workloads/decode/checkpoint.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/check.h"
#include "common/interrupt.h"
#include "workloads/decode/json_file.h"
#include "workloads/decode/safetensors.h"

enum { NAME_BYTES = 96, PIECE_BYTES = 1 << 15 };

/* Where a tensor of the model is. */
struct place {
	const struct safetensors *file;
	const struct safetensors_tensor *tensor;
};

struct checkpoint {
	struct decode_model m;
	const char *folder; /* the caller's, while it opens */
	char *index;	    /* path of the index, or NULL: one file has all */
	json_t *shards;	    /* tensor to name of a file, or NULL */
	struct shard {
		char *name;
		struct safetensors *file;
	} * shard;
	int n;
	uint64_t budget;     /* bytes of JSON that may still come */
	struct place *place; /* [layers][DECODE_PARTS] */
};

static struct place *place_of(const struct checkpoint *c, enum decode_part part, uint32_t layer)
{
	if (part == DECODE_HEAD && c->m.tied)
		part = DECODE_EMBEDDING;
	return &c->place[layer * DECODE_PARTS + part];
}

static char *path_in(const char *folder, const char *name)
{
	char *path;

	CHECK(asprintf(&path, "%s/%s", folder, name) >= 0, "memory for a path");
	return path;
}

/* ---- files ----------------------------------------------------------------------------- */

/* NULL after a line. Files are few: even those of 405 billion parameters are 191. */
static const struct safetensors *file_named(struct checkpoint *c, const char *name)
{
	struct shard *s;
	char *path;
	int err;

	for (int i = 0; i < c->n; i++)
		if (!strcmp(c->shard[i].name, name))
			return c->shard[i].file;
	c->shard = realloc(c->shard, (size_t)(c->n + 1) * sizeof(*c->shard));
	CHECK(c->shard, "memory for %d files", c->n + 1);
	s = &c->shard[c->n++];
	s->name = strdup(name);
	CHECK(s->name, "memory for a name");
	path = path_in(c->folder, name);
	err = decode_safetensors_open(path, &c->budget, &s->file);
	free(path);
	return err ? NULL : s->file;
}

static bool leaves_folder(const char *name)
{
	return !*name || strchr(name, '/') || !strcmp(name, ".") || !strcmp(name, "..");
}

/* The name of the tensor's file, NULL after a line. */
static const char *shard_of(const struct checkpoint *c, const char *tensor)
{
	const json_t *value = json_object_get(c->shards, tensor);
	const char *name = json_string_value(value);

	if (!value)
		complain(EINVAL, "%s: no tensor %s in weight_map", c->index, tensor);
	else if (!name)
		complain(EINVAL, "%s: tensor %s: must be the name of a file", c->index, tensor);
	else if (leaves_folder(name))
		complain(EINVAL, "%s: tensor %s: file '%s' is not in the same folder", c->index,
			 tensor, name);
	else
		return name;
	return NULL;
}

static int read_index(struct checkpoint *c)
{
	json_t *o, *map;
	int err = decode_json_file_read(c->index, &c->budget, &o);

	if (err)
		return err;
	map = json_object_get(o, "weight_map");
	if (json_is_object(map))
		c->shards = json_incref(map);
	json_decref(o);
	return c->shards ? 0
			 : complain(EINVAL,
				    "%s: no object weight_map; must name each "
				    "tensor's file",
				    c->index);
}

/* By name alone: a link that leads nowhere is there, and what is wrong is said when it is opened.
 */
static bool there(const char *folder, const char *name)
{
	char *path = path_in(folder, name);
	struct stat st;
	bool found = !lstat(path, &st);

	free(path);
	return found;
}

static const char whole_name[] = "model.safetensors", index_name[] = "model.safetensors.index.json";

static int find_files(struct checkpoint *c)
{
	if (there(c->folder, whole_name))
		return 0;
	if (!there(c->folder, index_name))
		return complain(ENOENT, "%s: neither %s nor %s is there", c->folder, whole_name,
				index_name);
	c->index = path_in(c->folder, index_name);
	return read_index(c);
}

/* ---- tensors --------------------------------------------------------------------------- */

static void name_tensor(const struct decode_tensor *t, char out[NAME_BYTES])
{
	static const char *const names[DECODE_PARTS] = {
		[DECODE_EMBEDDING] = "model.embed_tokens",
		[DECODE_NORM_ATT] = "input_layernorm",
		[DECODE_Q] = "self_attn.q_proj",
		[DECODE_K] = "self_attn.k_proj",
		[DECODE_V] = "self_attn.v_proj",
		[DECODE_O] = "self_attn.o_proj",
		[DECODE_NORM_FFN] = "post_attention_layernorm",
		[DECODE_GATE] = "mlp.gate_proj",
		[DECODE_UP] = "mlp.up_proj",
		[DECODE_DOWN] = "mlp.down_proj",
		[DECODE_NORM_OUT] = "model.norm",
		[DECODE_HEAD] = "lm_head",
	};

	if (t->part >= DECODE_NORM_ATT && t->part < DECODE_NORM_OUT)
		snprintf(out, NAME_BYTES, "model.layers.%u.%s.weight", t->layer, names[t->part]);
	else
		snprintf(out, NAME_BYTES, "%s.weight", names[t->part]);
}

static bool is_norm(enum decode_part part)
{
	return part == DECODE_NORM_ATT || part == DECODE_NORM_FFN || part == DECODE_NORM_OUT;
}

/* "48 x 48", of what is there. */
static void shape_text(const struct safetensors_tensor *t, char out[128])
{
	int n = 0;

	out[0] = '\0';
	for (int i = 0; i < t->dims && i < SAFETENSORS_DIMS; i++)
		n += snprintf(out + n, (size_t)(128 - n), "%s%llu", i ? " x " : "",
			      (unsigned long long)t->shape[i]);
	if (t->dims == 0 || t->dims > SAFETENSORS_DIMS)
		snprintf(out + n, (size_t)(128 - n), t->dims ? " x ..." : "one number");
}

static int check_tensor(const struct safetensors *file, const struct safetensors_tensor *found,
			const struct decode_tensor *t)
{
	bool norm = is_norm(t->part);
	char is[128], must[48];

	if (found->type == DTYPE_OTHER)
		return complain(EINVAL, "%s: tensor %s: dtype %s; must be F32, F16 or BF16",
				file->path, found->name, found->dtype);
	if (norm ? found->dims == 1 && found->shape[0] == t->cols
		 : found->dims == 2 && found->shape[0] == t->rows && found->shape[1] == t->cols)
		return 0;
	shape_text(found, is);
	if (norm)
		snprintf(must, sizeof(must), "%u", t->cols);
	else
		snprintf(must, sizeof(must), "%u x %u", t->rows, t->cols);
	return complain(EINVAL, "%s: tensor %s: shape %s; must be %s by config.json", file->path,
			found->name, is, must);
}

static int find_tensor(struct checkpoint *c, const struct decode_tensor *t)
{
	struct place *p = place_of(c, t->part, t->layer);
	const char *shard = whole_name;
	char name[NAME_BYTES];

	name_tensor(t, name);
	if (c->shards)
		shard = shard_of(c, name);
	p->file = shard ? file_named(c, shard) : NULL;
	if (!p->file)
		return -EINVAL;
	p->tensor = decode_safetensors_find(p->file, name);
	return p->tensor ? check_tensor(p->file, p->tensor, t)
			 : complain(EINVAL, "%s: no tensor %s", p->file->path, name);
}

int decode_checkpoint_open(const char *folder, const struct decode_model *m,
			   struct checkpoint **out)
{
	struct checkpoint *c = calloc(1, sizeof(*c));
	int err;

	*out = NULL;
	CHECK(c, "memory for a checkpoint");
	*c = (struct checkpoint){ .m = *m, .folder = folder, .budget = JSON_FILE_MAX };
	c->place = calloc((size_t)m->layers * DECODE_PARTS, sizeof(*c->place));
	CHECK(c->place, "memory for a checkpoint");
	err = find_files(c);
	for (uint32_t i = 0; !err && i < decode_tensors(m); i++) {
		struct decode_tensor t = decode_tensor_at(m, i);

		err = find_tensor(c, &t);
	}
	if (err)
		decode_checkpoint_close(c);
	else
		*out = c;
	return err;
}

void decode_checkpoint_close(struct checkpoint *c)
{
	if (!c)
		return;
	for (int i = 0; i < c->n; i++) {
		decode_safetensors_close(c->shard[i].file);
		free(c->shard[i].name);
	}
	json_decref(c->shards);
	free(c->shard);
	free(c->index);
	free(c->place);
	free(c);
}

/* ---- rows ------------------------------------------------------------------------------ */

/* Where elements of a file go: rows of `cols`, each filled up to `stride` with zeros. */
struct target {
	char *out;
	uint32_t cols, stride;
	size_t bytes; /* of an element */
	uint64_t at;  /* elements that are there, without what fills up */
};

static void put_elements(struct target *to, enum dtype type, const char *from, size_t n)
{
	while (n) {
		uint64_t row = to->at / to->cols, col = to->at % to->cols;
		size_t run = to->cols - col < n ? to->cols - col : n;
		char *out = to->out + (row * to->stride + col) * to->bytes;

		decode_dtype_convert(type, from, run, (int)to->bytes, out);
		if (col + run == to->cols)
			memset(out + run * to->bytes, 0, (to->stride - to->cols) * to->bytes);
		from += run * decode_dtype_bytes(type);
		to->at += run;
		n -= run;
	}
}

int decode_checkpoint_rows(const struct checkpoint *c, const struct decode_tensor *t, uint32_t row,
			   uint32_t rows, int bytes, void *out)
{
	const struct place *p = place_of(c, t->part, t->layer);
	size_t size = decode_dtype_bytes(p->tensor->type);
	uint64_t at = (uint64_t)row * t->cols, left = (uint64_t)rows * t->cols;
	struct target to = { out, t->cols, t->stride, (size_t)bytes, 0 };
	char piece[PIECE_BYTES];

	CHECK(row <= t->rows && rows <= t->rows - row, "rows %u to %u of %u", row, row + rows,
	      t->rows);
	while (left) {
		size_t n = left < PIECE_BYTES / size ? left : PIECE_BYTES / size;
		int err = interrupted() ? -EINTR
					: decode_safetensors_read(p->file, p->tensor, at * size,
								  piece, n * size);

		if (err)
			return err;
		put_elements(&to, p->tensor->type, piece, n);
		at += n;
		left -= n;
	}
	return 0;
}
