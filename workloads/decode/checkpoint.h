/*
 * checkpoint.h - a model as it usually comes: a folder with config.json and model.safetensors, or
 * the shards that model.safetensors.index.json names.
 *
 * Source: the format of safetensors (8 bytes of length, a JSON header, the data); the names and
 * defaults of transformers' LlamaConfig.
 *
 * Whatever cannot be right is refused with one line that names file, tensor and what would be
 * right; a function that returns a negative errno has written it. Nothing takes over a second or
 * 100 MB for what is broken: index and headers have at most 1 MiB together (json_file.h).
 */
#ifndef RIFT_DECODE_CHECKPOINT_H
#define RIFT_DECODE_CHECKPOINT_H

#include "workloads/decode/model.h"

#ifdef __cplusplus
extern "C" {
#endif

struct checkpoint;

/* Reads FOLDER/config.json only. 0 or a negative errno after a line. */
int decode_checkpoint_model(const char *folder, struct decode_model *out);

/*
 * Opens the files and finds every tensor of the model, `m->layers` of its layers, which may be
 * fewer than the files have. The files stay open until decode_checkpoint_close(), which takes NULL
 * too.
 */
int decode_checkpoint_open(const char *folder, const struct decode_model *m,
			   struct checkpoint **out);
void decode_checkpoint_close(struct checkpoint *c);

/*
 * Rows `row` to `row + rows - 1` of a tensor as they lie in the arena: `stride` elements each, with
 * zeros behind the columns, as bfloat16 (bytes 2) or float (4). float to bfloat16 rounds to the
 * nearest, ties to even; a NaN stays one. Several threads may call it at once.
 *
 * Rows are read by pread() and by pieces of 32 KiB into `out`, not mapped: a file that is cut
 * meanwhile is then an error of the call, where a page of a mapping would be SIGBUS whatever was
 * asked before. 0 or a negative errno after a line; -EINTR without one after Ctrl-C.
 */
int decode_checkpoint_rows(const struct checkpoint *c, const struct decode_tensor *t, uint32_t row,
			   uint32_t rows, int bytes, void *out);

#ifdef __cplusplus
}
#endif
#endif
