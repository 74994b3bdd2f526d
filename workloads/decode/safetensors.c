/* safetensors.c - one file of tensors; see safetensors.h. */
#include "workloads/decode/safetensors.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/check.h"
#include "common/input.h"
#include "common/json_get.h"
#include "workloads/decode/json_file.h"

enum { LENGTH_BYTES = 8 };

static int refuse_tensor(const struct safetensors *s, const char *name, const char *what)
{
	return complain(EINVAL, "%s: tensor %s: %s", s->path, name, what);
}

/* ---- a tensor's entry ------------------------------------------------------------------ */

/* *elements: of the whole shape, which overflows where it cannot be. */
static int read_shape(const struct safetensors *s, const json_t *o, struct safetensors_tensor *t,
		      uint64_t *elements)
{
	const json_t *shape = json_object_get(o, "shape");
	size_t n = json_array_size(shape);

	*elements = 1;
	if (!json_is_array(shape))
		return refuse_tensor(s, t->name, "no shape; must be an array of numbers");
	for (size_t i = 0; i < n; i++) {
		const json_t *value = json_array_get(shape, i);
		json_int_t v = json_integer_value(value);

		if (!json_is_integer(value) || v < 0)
			return refuse_tensor(s, t->name, "shape is not of whole numbers from 0 on");
		if (__builtin_mul_overflow(*elements, (uint64_t)v, elements))
			return refuse_tensor(s, t->name, "a shape beyond 64 bits");
		if (i < SAFETENSORS_DIMS)
			t->shape[i] = (uint64_t)v;
	}
	t->dims = (int)n;
	return 0;
}

/* From offsets in the data to bytes of the file; data_at: where the data begin. */
static int read_offsets(const struct safetensors *s, const json_t *o, uint64_t data_at,
			struct safetensors_tensor *t)
{
	const json_t *offsets = json_object_get(o, "data_offsets");
	const json_t *from = json_array_get(offsets, 0), *to = json_array_get(offsets, 1);
	json_int_t begin = json_integer_value(from), end = json_integer_value(to);
	uint64_t data = s->bytes - data_at;

	if (json_array_size(offsets) != 2 || !json_is_integer(from) || !json_is_integer(to))
		return refuse_tensor(s, t->name, "no data_offsets; must be two whole numbers");
	if (begin < 0 || begin > end)
		return complain(EINVAL,
				"%s: tensor %s: data_offsets %lld to %lld; must ascend from 0 on",
				s->path, t->name, (long long)begin, (long long)end);
	if ((uint64_t)end > data)
		return complain(EINVAL,
				"%s: tensor %s: data_offsets %lld to %lld, but the file has only "
				"%llu bytes of data; is it cut?",
				s->path, t->name, (long long)begin, (long long)end,
				(unsigned long long)data);
	t->begin = data_at + (uint64_t)begin;
	t->end = data_at + (uint64_t)end;
	return 0;
}

static int check_bytes(const struct safetensors *s, const struct safetensors_tensor *t,
		       uint64_t elements)
{
	uint64_t bytes;

	if (t->type == DTYPE_OTHER)
		return 0;
	if (__builtin_mul_overflow(elements, (uint64_t)decode_dtype_bytes(t->type), &bytes))
		return refuse_tensor(s, t->name, "a shape beyond 64 bits");
	if (bytes != t->end - t->begin)
		return complain(EINVAL,
				"%s: tensor %s: %llu bytes of data; its shape of %s has %llu",
				s->path, t->name, (unsigned long long)(t->end - t->begin), t->dtype,
				(unsigned long long)bytes);
	return 0;
}

static int read_tensor(const struct safetensors *s, const char *name, const json_t *o,
		       uint64_t data_at, struct safetensors_tensor *t)
{
	const char *dtype = json_get_text(o, "dtype");
	uint64_t elements;
	int err;

	t->name = strdup(name);
	CHECK(t->name, "memory for a tensor's name");
	if (!*dtype)
		return refuse_tensor(s, name,
				     "no dtype; must be an object with dtype, shape and "
				     "data_offsets");
	t->type = decode_dtype_named(dtype);
	snprintf(t->dtype, sizeof(t->dtype), "%s", dtype);
	err = read_shape(s, o, t, &elements);
	err = err ? err : read_offsets(s, o, data_at, t);
	return err ? err : check_bytes(s, t, elements);
}

/* ---- all of them ----------------------------------------------------------------------- */

static int by_place(const void *a, const void *b)
{
	const struct safetensors_tensor *s = a, *t = b;

	if (s->begin != t->begin)
		return s->begin < t->begin ? -1 : 1;
	return (s->end > t->end) - (s->end < t->end);
}

static int by_name(const void *a, const void *b)
{
	const struct safetensors_tensor *s = a, *t = b;

	return strcmp(s->name, t->name);
}

/* The format has neither gaps nor overlaps; what two tensors share would be read as both. */
static int check_places(struct safetensors *s, uint64_t data_at)
{
	uint64_t at = data_at;

	qsort(s->tensor, (size_t)s->tensors, sizeof(*s->tensor), by_place);
	for (int i = 0; i < s->tensors; i++) {
		const struct safetensors_tensor *t = &s->tensor[i];

		if (t->begin != at)
			return complain(
				EINVAL,
				"%s: tensor %s: begins at byte %llu of the data; must begin "
				"at %llu, where the one before it ends",
				s->path, t->name, (unsigned long long)(t->begin - data_at),
				(unsigned long long)(at - data_at));
		at = t->end;
	}
	if (at != s->bytes)
		return complain(EINVAL, "%s: the last tensor ends at byte %llu, the file at %llu",
				s->path, (unsigned long long)at, (unsigned long long)s->bytes);
	return 0;
}

static int read_tensors(struct safetensors *s, json_t *header, uint64_t data_at)
{
	const char *name;
	json_t *o;
	int err = 0;

	s->tensor = calloc(json_object_size(header) + 1, sizeof(*s->tensor));
	CHECK(s->tensor, "memory for the tensors of %s", s->path);
	json_object_foreach(header, name, o)
	{
		if (!err && strcmp(name, "__metadata__") != 0)
			err = read_tensor(s, name, o, data_at, &s->tensor[s->tensors++]);
	}
	err = err ? err : check_places(s, data_at);
	if (!err && s->tensors)
		qsort(s->tensor, (size_t)s->tensors, sizeof(*s->tensor), by_name);
	return err;
}

/* ---- a file ---------------------------------------------------------------------------- */

/* What `git clone` without LFS leaves in place of a large file. */
static bool is_pointer(const struct safetensors *s)
{
	static const char begin[] = "version https://git-lfs";
	char text[sizeof(begin) - 1];

	return !decode_json_file_bytes(s->fd, 0, text, sizeof(text)) &&
	       !memcmp(text, begin, sizeof(text));
}

/* The header's length, held to the file's. */
static int read_length(const struct safetensors *s, uint64_t *length)
{
	uint8_t b[LENGTH_BYTES];
	int err = decode_json_file_bytes(s->fd, 0, b, sizeof(b));

	if (err == -ENODATA)
		return complain(EINVAL, "%s: %llu bytes; must begin with %d bytes of length",
				s->path, (unsigned long long)s->bytes, LENGTH_BYTES);
	if (err)
		return complain(-err, "%s: %s", s->path, input_reason(err));
	if (is_pointer(s))
		return complain(EINVAL, "%s: a pointer of Git LFS; the file itself is needed",
				s->path);
	for (int i = LENGTH_BYTES; i-- > 0;)
		*length = *length << 8 | b[i];
	if (s->bytes < LENGTH_BYTES || *length > s->bytes - LENGTH_BYTES)
		return complain(EINVAL, "%s: a header of %llu bytes; the file has %llu", s->path,
				(unsigned long long)*length, (unsigned long long)s->bytes);
	return 0;
}

static int read_header(struct safetensors *s, uint64_t *budget)
{
	uint64_t length = 0;
	json_t *header;
	int err = read_length(s, &length);

	err = err ? err
		  : decode_json_file_piece(s->fd, s->path, LENGTH_BYTES, length, budget, &header);
	if (err)
		return err;
	err = read_tensors(s, header, LENGTH_BYTES + length);
	json_decref(header);
	return err;
}

int decode_safetensors_open(const char *path, uint64_t *budget, struct safetensors **out)
{
	struct safetensors *s;
	struct stat st;
	int fd = input_open(path, false), err;

	*out = NULL;
	if (fd < 0)
		return complain(-fd, "%s: %s", path, input_reason(fd));
	s = calloc(1, sizeof(*s));
	CHECK(s, "memory for %s", path);
	s->fd = fd;
	s->path = strdup(path);
	CHECK(s->path, "memory for %s", path);
	err = fstat(fd, &st) ? complain(errno, "%s: %s", path, input_reason(-errno)) : 0;
	s->bytes = err ? 0 : (uint64_t)st.st_size;
	err = err ? err : read_header(s, budget);
	if (err)
		decode_safetensors_close(s);
	else
		*out = s;
	return err;
}

void decode_safetensors_close(struct safetensors *s)
{
	if (!s)
		return;
	for (int i = 0; i < s->tensors; i++)
		free(s->tensor[i].name);
	free(s->tensor);
	free(s->path);
	close(s->fd);
	free(s);
}

const struct safetensors_tensor *decode_safetensors_find(const struct safetensors *s,
							 const char *name)
{
	struct safetensors_tensor key = { .name = (char *)(uintptr_t)name };

	if (!s->tensors)
		return NULL;
	return bsearch(&key, s->tensor, (size_t)s->tensors, sizeof(key), by_name);
}

int decode_safetensors_read(const struct safetensors *s, const struct safetensors_tensor *t,
			    uint64_t at, void *out, uint64_t n)
{
	int err;

	CHECK(n <= t->end - t->begin && at <= t->end - t->begin - n, "%s: byte %llu", t->name,
	      (unsigned long long)at);
	err = decode_json_file_bytes(s->fd, t->begin + at, out, n);
	if (err == -ENODATA)
		return complain(EIO, "%s: tensor %s: the file has been cut since it was opened",
				s->path, t->name);
	return err ? complain(-err, "%s: tensor %s: %s", s->path, t->name, input_reason(err)) : 0;
}
