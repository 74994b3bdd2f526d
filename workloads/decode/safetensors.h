/*
 * safetensors.h - one file of tensors: 8 bytes with the header's length, a JSON header, the data.
 *
 * A file is held to the format before anything of it is used: the header is a JSON object, no name
 * is there twice, tensors lie one behind the other from the first byte of the data to the last, and
 * each has as many bytes as its shape and dtype say, of the dtypes that rift reads.
 */
#ifndef RIFT_DECODE_SAFETENSORS_H
#define RIFT_DECODE_SAFETENSORS_H

#include <stdint.h>

#include "workloads/decode/dtype.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { SAFETENSORS_DIMS = 4, SAFETENSORS_DTYPE = 16 };

struct safetensors_tensor {
	char *name;
	enum dtype type;
	char dtype[SAFETENSORS_DTYPE];	  /* as the file says, cut to this */
	int dims;			  /* may be more than shape[] has */
	uint64_t shape[SAFETENSORS_DIMS]; /* 0 beyond dims */
	uint64_t begin, end;		  /* bytes of the file */
};

struct safetensors {
	char *path;
	int fd;
	uint64_t bytes; /* of the file */
	int tensors;
	struct safetensors_tensor *tensor; /* by name */
};

/*
 * Opens a regular file. Its header counts against *budget (json_file.h). 0 or a negative errno
 * after a line.
 */
int decode_safetensors_open(const char *path, uint64_t *budget, struct safetensors **out);
void decode_safetensors_close(struct safetensors *s); /* NULL too */

/* NULL: there is none of this name. */
const struct safetensors_tensor *decode_safetensors_find(const struct safetensors *s,
							 const char *name);

/*
 * Bytes `at` to `at + n - 1` of a tensor. -EIO or another negative errno after a line where the
 * file has been cut since, or cannot be read.
 */
int decode_safetensors_read(const struct safetensors *s, const struct safetensors_tensor *t,
			    uint64_t at, void *out, uint64_t n);

#ifdef __cplusplus
}
#endif
#endif
