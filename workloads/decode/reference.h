/*
 * reference.h - the step in double, apart from the kernels: the logits of columns of tokens.
 *
 * A *column* is one token at one position of one sequence. All columns go through the model
 * together, so that each matrix is read once. Weights keep the precision in which they are stored
 * until their rows are multiplied; threads share those rows. A column's logits have the same bits
 * whatever the number of threads and whichever columns are computed in the same call.
 */
#ifndef RIFT_DECODE_REFERENCE_H
#define RIFT_DECODE_REFERENCE_H

#include "workloads/decode/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Writes rows `row` to `row + rows - 1` of a tensor as they lie in the arena: rows * stride * bytes
 * bytes. What fills a row up after its columns is not read. Called by the thread that called
 * decode_reference_step(), alone. Returns 0, or a negative errno after a line.
 */
typedef int reference_rows(void *from, const struct decode_tensor *t, uint32_t row, uint32_t rows,
			   void *out);

/* Keys and values of one sequence, layer by layer, position by position. */
struct reference_cache {
	uint32_t positions;
	double *key, *value; /* [layers][positions][kv_heads head_dim]; keys are rotated */
};

struct reference_column {
	uint32_t token, position;
	struct reference_cache *cache; /* written at position, read up to it */
	bool wanted;		       /* compute its logits */
};

struct reference {
	const struct decode_model *m;
	int bytes; /* of a weight: 2 bfloat16, 4 float */
	reference_rows *rows;
	void *from;
	bool rounds_cache; /* keys and values are kept as bfloat16 */
	int threads;	   /* at most; below 1 is 1 */
};

/* A cache of zeros. Missing memory ends the process (common/check.h). */
struct reference_cache decode_reference_cache_new(const struct decode_model *m, uint32_t positions);
void decode_reference_cache_free(struct reference_cache *c);

/*
 * Computes the step of `n` columns. Columns of one cache come in the order of their positions, and
 * each sees the ones before it; rows of the cache that no column writes are what earlier calls left
 * there, and those after a column's position are not read. logits: [wanted columns][vocab], in the
 * order of the columns. Returns 0, what rows() returned, or -EINTR soon after interrupted() (under
 * a second); then the caches are partly written.
 */
int decode_reference_step(const struct reference *r, const struct reference_column *column,
			  uint32_t n, double *logits);

#ifdef __cplusplus
}
#endif
#endif
