/*
 * decode.h - the decode workload: a language model of Llama's kind writes tokens, one after
 * another.
 *
 * A step is one new token for each sequence of a batch. Options and what they mean: README.md.
 */
#ifndef RIFT_DECODE_H
#define RIFT_DECODE_H

#include "common/blas.h"
#include "common/output.h"
#include "common/programmatic.h"
#include "workloads/decode/checkpoint.h"
#include "workloads/decode/kernels.h"
#include "workloads/workload.h"

#ifdef __cplusplus
extern "C" {
#endif

enum decode_size { DECODE_TINY, DECODE_SMALL, DECODE_1B, DECODE_8B };
enum decode_precision { DECODE_FP32, DECODE_BF16 };
enum decode_launches { DECODE_FEW, DECODE_MANY };
enum decode_output { DECODE_STAYS, DECODE_TO_HOST };

struct decode_opts {
	int64_t batch;
	int model; /* enum decode_size */
	const char *checkpoint;
	int64_t layers, context, positions;
	const char *prompt;
	int precision; /* enum decode_precision */
	int launches;  /* enum decode_launches */
	int launch;    /* enum programmatic */
	int output;    /* enum decode_output */
	int64_t seed;
	const char *tokens;
};

/* ---- what options come to (shape.c) ------------------------------------------------------- */

enum { DECODE_NOTES = 4 << 20, DECODE_HISTORY_MIN = 4096, DECODE_HISTORY_MAX = 65536 };

struct decode_shape {
	struct decode_model model;
	uint32_t batch, positions;
	uint32_t start; /* position of the first step's token; rows of the cache below are there */
	uint32_t lap;	/* where a sequence goes on behind its last position */
	uint32_t *prompt, prompts; /* token ids, NULL: none were given */
	uint32_t history;	   /* steps whose tokens the device keeps: the last ones */
};

/* 0 or a negative errno after a line; the shape is to be released in any case. */
int decode_shape_init(const struct decode_opts *o, struct decode_shape *out);
void decode_shape_release(struct decode_shape *s);

/* The token that a sequence begins with: the prompt's last one, and one more for each sequence. */
uint32_t decode_first_token(const struct decode_opts *o, const struct decode_shape *s,
			    uint32_t sequence);

/* Position of the token that step `step` since the reset takes. */
uint32_t decode_position(const struct decode_shape *s, int64_t step);

/* ---- the state ------------------------------------------------------------------------------ */

enum { DECODE_OWNED_MAX = 16, DECODE_HOST_SLOTS = 64 };

/* What launches=many has besides; device memory. */
struct decode_many {
	const struct blas *blas;
	cublasHandle_t handle;
	cudaStream_t stream; /* that the handle is set to */
	void *workspace, *norm;
	float *q, *k, *v, *y, *gate, *up;
};

struct decode_state {
	struct decode_shape shape;
	struct checkpoint *checkpoint; /* NULL: weights are generated */
	bool half;		       /* weights and cache are bfloat16 */
	uint64_t seed;
	struct decode_device device;
	struct decode_layer layer[DECODE_LAYERS_MAX];
	void *arena, *key, *value; /* device memory, as all pointers below */
	uint32_t *first;	   /* [prompts, or 1][batch] */
	struct decode_many many;
	uint32_t *host;	   /* output=host: pinned, [DECODE_HOST_SLOTS][batch] */
	uint64_t enqueued; /* steps since the reset, for the slot of the next one */
	cudaStream_t own;
	struct output tokens; /* tokens= */
	void *owned[DECODE_OWNED_MAX];
	int n_owned;
};

/* Bytes of a weight, and of a number of the cache. */
static inline int decode_bytes(const struct decode_state *s)
{
	return s->half ? sizeof(struct decode_bf16) : sizeof(float);
}

/* ---- hooks, and what they share -------------------------------------------------------------- */

int decode_setup(const void *opts, void *state);
int decode_reset(const void *opts, void *state, cudaStream_t stream);
int decode_step(const void *opts, void *state, cudaStream_t stream);
int decode_check(const void *opts, void *state, int64_t steps, struct verdict *v);
int decode_report(const void *opts, void *state, struct report *out);
int decode_cost(const void *opts, const void *state, struct cost *out);
void decode_teardown(void *state);

/* Device memory of the state's, zeroed. 0 or -ENOMEM after a line. */
int decode_allocate(struct decode_state *s, void *out, size_t bytes);

/* Buffers and the library of launches=many (many.c). */
int decode_many_init(struct decode_state *s);
void decode_many_release(struct decode_state *s);
void decode_many_step(struct decode_state *s, cudaStream_t stream);

/* Rows of a tensor as the device must have them: from the checkpoint, or generated once more. */
int decode_source_rows(const struct decode_state *s, const struct decode_tensor *t, uint32_t row,
		       uint32_t rows, void *out);

/* Was the run interrupted? Asked behind step `step` of many; waits for each 64th. */
bool decode_interrupted(struct decode_state *s, int64_t step);

/* Launches of a step. */
int64_t decode_launches(const struct decode_opts *o, const struct decode_model *m);

extern const struct workload workload_decode;

#ifdef __cplusplus
}
#endif
#endif
