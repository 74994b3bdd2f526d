/* json_file.c - JSON objects in files of others; see json_file.h. */
#include "workloads/decode/json_file.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/check.h"
#include "common/input.h"

int decode_json_file_bytes(int fd, uint64_t at, void *out, uint64_t n)
{
	for (char *to = out; n;) {
		ssize_t got = pread(fd, to, n, (off_t)at);

		if (got < 0 && errno != EINTR)
			return -errno;
		if (got == 0)
			return -ENODATA;
		if (got > 0) {
			to += got;
			at += (uint64_t)got;
			n -= (uint64_t)got;
		}
	}
	return 0;
}

/* jansson bounds the nesting (2048), refuses numbers beyond 64 bits, and takes hashes of its own.
 */
static int parse(const char *text, size_t n, const char *what, json_t **out)
{
	json_error_t e;
	json_t *o = json_loadb(text, n, JSON_REJECT_DUPLICATES, &e);

	if (!o)
		return complain(EINVAL, "%s: no JSON: line %d, column %d: %s", what, e.line,
				e.column, e.text);
	if (!json_is_object(o)) {
		json_decref(o);
		return complain(EINVAL, "%s: no JSON object; must begin with {", what);
	}
	*out = o;
	return 0;
}

int decode_json_file_piece(int fd, const char *what, uint64_t at, uint64_t n, uint64_t *budget,
			   json_t **out)
{
	char *text;
	int err;

	if (n > *budget)
		return complain(EFBIG, "%s: %llu bytes of JSON; %llu of %d are left", what,
				(unsigned long long)n, (unsigned long long)*budget, JSON_FILE_MAX);
	*budget -= n;
	text = malloc(n ? n : 1);
	CHECK(text, "memory for %s", what);
	err = decode_json_file_bytes(fd, at, text, n);
	err = err ? complain(-err, "%s: %s", what,
			     err == -ENODATA ? "cut while it was read" : input_reason(err))
		  : parse(text, n, what, out);
	free(text);
	return err;
}

int decode_json_file_read(const char *path, uint64_t *budget, json_t **out)
{
	int fd = input_open(path, false), err;
	struct stat st;

	if (fd < 0)
		return complain(-fd, "%s: %s", path, input_reason(fd));
	err = fstat(fd, &st)
		      ? complain(errno, "%s: %s", path, input_reason(-errno))
		      : decode_json_file_piece(fd, path, 0, (uint64_t)st.st_size, budget, out);
	close(fd);
	return err;
}
