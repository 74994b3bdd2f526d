/*
 * do_blas.c - a daemon's commands about cuBLAS: the library, handles, cublasGemmEx(). The library
 * is opened for the first client that asks for it: its file is 600 MB, and a machine may have none.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "common/blas.h"
#include "layers/remote/daemon/session.h"

/* ---- the library -------------------------------------------------------------------------- */

static int load_one_at_a_time(const struct blas **library)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	int err;

	pthread_mutex_lock(&lock);
	err = blas_load(library);
	pthread_mutex_unlock(&lock);
	return err;
}

/* NULL: there is none, which was said in a line. */
static const struct blas *library(struct session *s)
{
	if (!s->library && !s->no_library && load_one_at_a_time(&s->library)) {
		s->library = NULL;
		s->no_library = true;
	}
	return s->library;
}

int do_blas_version(struct session *s, struct request *r)
{
	const struct blas *b = library(s);
	uint64_t version = b ? b->cublasLtGetVersion() : 0;

	answer_put(r, &version, sizeof(version));
	return b ? 0 : remote_status(BLAS_NOT_INITIALIZED);
}

/* ---- handles ------------------------------------------------------------------------------ */

/* A handle of cuBLAS serves for one of cuBLASLt, as NVIDIA says. */
struct served_blas *blas_handle(const struct session *s, uint64_t number, bool lt)
{
	struct served_blas *h = table_get(&s->blas, number);

	return h && (lt || !h->lt) ? h : NULL;
}

static void close_handle(struct session *s, struct served_blas *h)
{
	if (h->lt) {
		s->library->cublasLtDestroy(h->handle);
	} else {
		s->library->cublasDestroy(h->handle);
		s->memory_bytes -= REMOTE_BLAS_BYTES;
	}
	free(h);
}

static int create(struct session *s, struct served_blas *h)
{
	cublasLtHandle_t lt = NULL;
	cublasHandle_t own = NULL;
	cublasStatus_t status =
		h->lt ? s->library->cublasLtCreate(&lt) : s->library->cublasCreate(&own);

	h->handle = h->lt ? (void *)lt : (void *)own;
	if (!status && !h->lt && s->order) {
		h->stream = s->order->legacy.stream;
		status = s->library->cublasSetStream(own, h->stream);
		if (status)
			s->library->cublasDestroy(own);
	}
	return remote_status((int)status);
}

int do_blas_create(struct session *s, struct request *r)
{
	bool lt = r->word[1];
	uint64_t bytes = lt ? 0 : REMOTE_BLAS_BYTES;
	struct served_blas *h;
	int err;

	if (r->word[0] >= REMOTE_BLAS || r->word[1] > 1 || table_get(&s->blas, r->word[0]))
		return remote_status(BLAS_INVALID_VALUE);
	if (!library(s))
		return remote_status(BLAS_NOT_INITIALIZED);
	h = bytes <= s->memory_max - s->memory_bytes ? calloc(1, sizeof(*h)) : NULL;
	if (!h)
		return remote_status(BLAS_ALLOC_FAILED);
	h->lt = lt;
	if (!table_put(&s->blas, r->word[0], h)) {
		free(h);
		return remote_status(BLAS_ALLOC_FAILED);
	}
	err = create(s, h);
	if (err)
		free(table_take(&s->blas, r->word[0]));
	else
		s->memory_bytes += bytes;
	return err;
}

int do_blas_destroy(struct session *s, struct request *r)
{
	struct served_blas *h = table_take(&s->blas, r->word[0]);

	if (!h)
		return remote_status(BLAS_NOT_INITIALIZED);
	close_handle(s, h);
	return 0;
}

void blas_release(struct session *s)
{
	for (uint64_t i = 0; i < s->blas.room; i++)
		if (s->blas.at[i])
			close_handle(s, s->blas.at[i]);
	free(s->blas.at);
	s->blas = (struct table){ .max = s->blas.max };
}

void blas_forget_stream(struct session *s, cudaStream_t stream)
{
	for (uint64_t i = 0; i < s->blas.room; i++) {
		struct served_blas *h = s->blas.at[i];

		if (!h || h->lt || h->stream != stream)
			continue;
		s->library->cublasSetStream(h->handle, s->order ? s->order->legacy.stream : NULL);
		*h = (struct served_blas){ .handle = h->handle,
					   .on_device = h->on_device,
					   .lost = true };
	}
}

/* ---- how a handle computes ---------------------------------------------------------------- */

/* A new stream takes the workspace away. */
int do_blas_stream(struct session *s, struct request *r)
{
	struct served_blas *h = blas_handle(s, r->word[0], false);
	cudaStream_t stream;
	cublasStatus_t status;

	if (!h)
		return remote_status(BLAS_NOT_INITIALIZED);
	if (session_find_stream(s, r->word[1], &stream))
		return remote_status(BLAS_INVALID_VALUE);
	status = s->library->cublasSetStream(h->handle, stream);
	if (!status) {
		h->stream = stream;
		h->where = r->word[1];
		h->lost = false;
		h->workspace = (struct extent){ 0, 0 };
	}
	return remote_status((int)status);
}

int do_blas_workspace(struct session *s, struct request *r)
{
	struct served_blas *h = blas_handle(s, r->word[0], false);
	struct extent e = { r->word[1], r->word[2] };
	cublasStatus_t status;

	if (!h)
		return remote_status(BLAS_NOT_INITIALIZED);
	if (!product_holds(&s->regions, &e, 1))
		return remote_status(BLAS_INVALID_VALUE);
	status = s->library->cublasSetWorkspace(h->handle, pointer_of(e.at), e.bytes);
	if (!status)
		h->workspace = e;
	return remote_status((int)status);
}

int do_blas_pointer_mode(struct session *s, struct request *r)
{
	struct served_blas *h = blas_handle(s, r->word[0], false);
	cublasStatus_t status;

	if (!h)
		return remote_status(BLAS_NOT_INITIALIZED);
	if (r->word[1] > CUBLAS_POINTER_MODE_DEVICE)
		return remote_status(BLAS_INVALID_VALUE);
	status = s->library->cublasSetPointerMode(h->handle, (cublasPointerMode_t)r->word[1]);
	if (!status)
		h->on_device = r->word[1];
	return remote_status((int)status);
}

int do_blas_math_mode(struct session *s, struct request *r)
{
	struct served_blas *h = blas_handle(s, r->word[0], false);

	return h ? remote_status(
			   (int)s->library->cublasSetMathMode(h->handle, (cublasMath_t)r->word[1]))
		 : remote_status(BLAS_NOT_INITIALIZED);
}

/* ---- products ----------------------------------------------------------------------------- */

static int multiply(const struct session *s, const struct served_blas *h,
		    const struct remote_gemm *g)
{
	const void *alpha = &g->alpha, *beta = &g->beta; /* their first bytes are the floats */

	if (h->on_device) {
		alpha = pointer_of(g->alpha);
		beta = pointer_of(g->beta);
	}
	return remote_status((int)s->library->cublasGemmEx(
		h->handle, (cublasOperation_t)g->trans_a, (cublasOperation_t)g->trans_b, g->m, g->n,
		g->k, alpha, pointer_of(g->a), (cudaDataType)g->type_a, g->lda, pointer_of(g->b),
		(cudaDataType)g->type_b, g->ldb, beta, pointer_of(g->c), (cudaDataType)g->type_c,
		g->ldc, (cublasComputeType_t)g->compute, (cublasGemmAlgo_t)g->algo));
}

/* Memory that was freed since is no workspace any more. */
int do_blas_gemm(struct session *s, struct request *r)
{
	const struct served_blas *h = blas_handle(s, r->word[0], false);
	struct extent e[GEMM_EXTENTS];
	struct remote_gemm g;
	cudaStream_t stream;
	int status;

	if (!h)
		return remote_status(BLAS_NOT_INITIALIZED);
	if (r->payload_bytes != sizeof(g))
		return remote_status(BLAS_INVALID_VALUE);
	memcpy(&g, r->payload, sizeof(g));
	status = gemm_extents(&g, h->on_device, e);
	if (!status && (h->lost || !product_holds(&s->regions, e, GEMM_EXTENTS) ||
			!product_holds(&s->regions, &h->workspace, 1)))
		status = BLAS_INVALID_VALUE;
	if (!status && session_stream(s, h->where, &stream))
		status = BLAS_EXECUTION_FAILED;
	return status ? remote_status(status) : multiply(s, h, &g);
}
