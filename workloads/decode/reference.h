/*
 * reference.h - the step in double, apart from the kernels: what a column of activations becomes.
 *
 * A *column* is one token at one position of one sequence. All columns go through the model
 * together, so that a matrix is read once; weights stay in their precision of storage until a row is
 * used. Threads share the rows.
 */
#ifndef RIFT_DECODE_REFERENCE_H
#define RIFT_DECODE_REFERENCE_H

#include "workloads/decode/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Rows of a tensor as they lie in the arena, in at least rows * stride * bytes bytes. Called from one
 * thread. 0 or a negative errno after a line.
 */
typedef int reference_rows(void *from, const struct decode_tensor *t, uint32_t row, uint32_t rows,
			   void *out);

/* Keys and values of one sequence, layer by layer, position by position. */
struct reference_cache {
	uint32_t positions;
	double *key, *value; /* [layers][positions][kv_heads head_dim] */
};

struct reference_column {
	uint32_t token, position;
	struct reference_cache *cache; /* read below position, written at it */
	bool wanted;		       /* its logits are */
};

struct reference {
	const struct decode_model *m;
	int bytes; /* of a weight: 2 bfloat16, 4 float */
	reference_rows *rows;
	void *from;
	int threads;
};

/* Zeros. Memory that is missing ends the process (common/check.h). */
struct reference_cache reference_cache_new(const struct decode_model *m, uint32_t positions);
void reference_cache_free(struct reference_cache *c);

/*
 * The step of `n` columns. Columns of one cache come in order of their positions, each of which
 * sees the ones before it. logits: [wanted columns][vocab], in their order. Asks interrupted() and
 * returns -EINTR; else 0 or what rows() returned.
 */
int reference_step(const struct reference *r, const struct reference_column *column, uint32_t n,
		   double *logits);

#ifdef __cplusplus
}
#endif
#endif
