/* many.c - launches=many: an operation a launch, products by cuBLAS. */
#include "common/cuda_check.h"
#include "workloads/decode/decode.h"

enum { WORKSPACE = 32 << 20 }; /* bytes: what NVIDIA recommends for compute capability 9.0 */

static const float one = 1, none = 0;

/* A new stream takes the workspace away. */
static void use_stream(struct decode_many *m, cudaStream_t stream)
{
	if (m->stream == stream)
		return;
	BLAS(m->blas, m->blas->cublasSetStream(m->handle, stream));
	BLAS(m->blas, m->blas->cublasSetWorkspace(m->handle, m->workspace, WORKSPACE));
	m->stream = stream;
}

/*
 * out[batch][rows] of a matrix and in[batch][stride]. The library counts columns first: it sees the
 * matrix transposed, and activations as columns.
 */
static void multiply(struct decode_state *s, const void *matrix, uint32_t rows, uint32_t stride,
		     const void *in, float *out)
{
	const struct decode_many *m = &s->many;
	cudaDataType type = s->half ? CUDA_R_16BF : CUDA_R_32F;

	BLAS(m->blas,
	     m->blas->cublasGemmEx(m->handle, CUBLAS_OP_T, CUBLAS_OP_N, (int)rows,
				   (int)s->shape.batch, (int)stride, &one, matrix, type,
				   (int)stride, in, type, (int)stride, &none, out, CUDA_R_32F,
				   (int)rows, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
}

/* The rows of a matrix behind its first `rows`. */
static const void *behind(const struct decode_state *s, const void *matrix, uint32_t rows,
			  uint32_t stride)
{
	return (const char *)matrix + (size_t)rows * stride * (size_t)decode_bytes(s);
}

static void attention_layer(struct decode_state *s, const struct decode_layer *l,
			    cudaStream_t stream)
{
	const struct decode_device *d = &s->device;
	struct decode_many *m = &s->many;
	uint32_t of_q = d->heads * d->head_dim, of_k = d->kv_heads * d->head_dim;

	decode_many_norm(d, l->norm_att, m->norm, s->half, stream);
	multiply(s, l->qkv, of_q, d->dim_stride, m->norm, m->q);
	multiply(s, behind(s, l->qkv, of_q, d->dim_stride), of_k, d->dim_stride, m->norm, m->k);
	multiply(s, behind(s, l->qkv, of_q + of_k, d->dim_stride), of_k, d->dim_stride, m->norm,
		 m->v);
	decode_many_rotate(d, m->q, m->k, stream);
	decode_many_append(d, l, m->k, m->v, s->half, stream);
	decode_attend(d, l, s->half, s->half, false, stream);
	multiply(s, l->o, d->dim, d->att_stride, d->att, m->y);
	decode_many_add(d, m->y, stream);
}

static void wide_layer(struct decode_state *s, const struct decode_layer *l, cudaStream_t stream)
{
	const struct decode_device *d = &s->device;
	struct decode_many *m = &s->many;

	decode_many_norm(d, l->norm_ffn, m->norm, s->half, stream);
	multiply(s, l->gate, d->hidden, d->dim_stride, m->norm, m->gate);
	multiply(s, l->up, d->hidden, d->dim_stride, m->norm, m->up);
	decode_many_silu(d, m->gate, m->up, s->half, stream);
	multiply(s, l->down, d->dim, d->hidden_stride, d->act, m->y);
	decode_many_add(d, m->y, stream);
}

void decode_many_step(struct decode_state *s, cudaStream_t stream)
{
	const struct decode_device *d = &s->device;

	use_stream(&s->many, stream);
	for (uint32_t i = 0; i < s->shape.model.layers; i++) {
		attention_layer(s, &s->layer[i], stream);
		wide_layer(s, &s->layer[i], stream);
	}
	decode_many_norm(d, d->norm_out, s->many.norm, s->half, stream);
	multiply(s, d->head, d->vocab, d->dim_stride, s->many.norm, d->logits);
	decode_many_best(d, stream);
	decode_choose(d, s->half, false, stream);
}

/* ---- begin and end -------------------------------------------------------------------------- */

int decode_many_init(struct decode_state *s)
{
	const struct decode_device *d = &s->device;
	struct decode_many *m = &s->many;
	size_t batch = s->shape.batch, heads = batch * d->head_dim * sizeof(float);
	int err = blas_load(&m->blas);

	if (!err)
		err = decode_allocate(s, &m->workspace, WORKSPACE);
	if (!err)
		err = decode_allocate(s, &m->norm, batch * d->dim_stride * sizeof(float));
	if (!err)
		err = decode_allocate(s, &m->q, heads * (d->heads + 2 * d->kv_heads));
	if (!err)
		err = decode_allocate(s, &m->y, batch * (d->dim + 2 * d->hidden) * sizeof(float));
	if (err)
		return err;
	m->k = m->q + batch * d->heads * d->head_dim;
	m->v = m->k + batch * d->kv_heads * d->head_dim;
	m->gate = m->y + batch * d->dim;
	m->up = m->gate + batch * d->hidden;
	m->stream = cudaStreamLegacy; /* none that steps come in */
	decode_load_many(s->half);
	return blas_create(m->blas, &m->handle);
}

void decode_many_release(struct decode_state *s)
{
	if (s->many.handle)
		BLAS(s->many.blas, s->many.blas->cublasDestroy(s->many.handle));
}
