/*
 * do_blaslt.c - a daemon's commands about cuBLASLt. Descriptors are the client's own: a command has
 * all that is in them. What the library makes of them is kept for the next one that is the same.
 */
#include <stdlib.h>
#include <string.h>

#include "common/blas.h"
#include "layers/remote/daemon/session.h"

/* ---- plans -------------------------------------------------------------------------------- */

enum { PLANS = 256 };

struct plan {
	struct remote_product of;
	cublasLtMatmulDesc_t desc;
	cublasLtMatrixLayout_t a, b, c, d; /* NULL: not made */
};

static void plan_release(const struct blas *b, struct plan *p)
{
	const cublasLtMatrixLayout_t all[] = { p->a, p->b, p->c, p->d };

	for (size_t i = 0; i < 4; i++)
		if (all[i])
			b->cublasLtMatrixLayoutDestroy(all[i]);
	if (p->desc)
		b->cublasLtMatmulDescDestroy(p->desc);
	free(p);
}

void plans_release(struct session *s)
{
	for (size_t i = 0; s->plans && i < PLANS; i++)
		if (s->plans[i])
			plan_release(s->library, s->plans[i]);
	free(s->plans);
	s->plans = NULL;
}

static cublasStatus_t set(const struct blas *b, struct plan *p, cublasStatus_t before,
			  cublasLtMatmulDescAttributes_t name, const void *value, size_t bytes)
{
	return before ? before : b->cublasLtMatmulDescSetAttribute(p->desc, name, value, bytes);
}

static cublasStatus_t make_desc(const struct blas *b, struct plan *p)
{
	const struct remote_product *of = &p->of;
	cublasStatus_t status = b->cublasLtMatmulDescCreate(
		&p->desc, (cublasComputeType_t)of->compute, (cudaDataType_t)of->scale);

#define SET(status, name, field)                                                                   \
	set(b, p, status, CUBLASLT_MATMUL_DESC_##name, &of->field, sizeof(of->field))
	status = SET(status, TRANSA, trans_a);
	status = SET(status, TRANSB, trans_b);
	status = SET(status, EPILOGUE, epilogue);
	if (of->bias)
		status = SET(status, BIAS_POINTER, bias);
	if (of->mask)
		status = SET(status, EPILOGUE_AUX_POINTER, mask);
	if (of->mask_ld)
		status = SET(status, EPILOGUE_AUX_LD, mask_ld);
#undef SET
	return status;
}

static cublasStatus_t make_layout(const struct blas *b, cublasStatus_t before,
				  cublasLtMatrixLayout_t *out, const struct remote_layout *l)
{
	return before ? before
		      : b->cublasLtMatrixLayoutCreate(out, (cudaDataType)l->type, l->rows, l->cols,
						      l->ld);
}

static struct plan *plan_new(const struct blas *b, const struct remote_product *of, int *status)
{
	struct plan *p = calloc(1, sizeof(*p));
	cublasStatus_t err;

	*status = BLAS_ALLOC_FAILED;
	if (!p)
		return NULL;
	p->of = *of;
	err = make_desc(b, p);
	err = make_layout(b, err, &p->a, &of->a);
	err = make_layout(b, err, &p->b, &of->b);
	err = make_layout(b, err, &p->c, &of->c);
	err = make_layout(b, err, &p->d, &of->d);
	*status = (int)err;
	if (!err)
		return p;
	plan_release(b, p);
	return NULL;
}

/* A plan of that hash, made anew where it is another's. NULL, and why: there is none. */
static const struct plan *plan_of(struct session *s, const struct remote_product *of, int *status)
{
	const struct remote_hash hash = remote_hash_of((const uint8_t *)of, sizeof(*of));
	struct plan **at;

	*status = BLAS_ALLOC_FAILED;
	if (!s->plans)
		s->plans = calloc(PLANS, sizeof(struct plan *));
	if (!s->plans)
		return NULL;
	at = &s->plans[hash.half[0] % PLANS];
	*status = BLAS_SUCCESS;
	if (*at && !memcmp(&(*at)->of, of, sizeof(*of)))
		return *at;
	if (*at)
		plan_release(s->library, *at);
	*at = plan_new(s->library, of, status);
	return *at;
}

/* ---- algorithms --------------------------------------------------------------------------- */

_Static_assert(sizeof(cublasLtMatmulHeuristicResult_t) == REMOTE_RESULT_BYTES, "a result");
_Static_assert(sizeof(uint64_t) + REMOTE_RESULTS * REMOTE_RESULT_BYTES <= REMOTE_ANSWER_BYTES,
	       "results in an answer");

static cublasStatus_t suggest(const struct blas *b, const struct served_blas *h,
			      const struct plan *p, uint64_t workspace, int wanted,
			      cublasLtMatmulHeuristicResult_t *found, int *n)
{
	cublasLtMatmulPreference_t want;
	cublasStatus_t status = b->cublasLtMatmulPreferenceCreate(&want);

	if (status)
		return status;
	status = b->cublasLtMatmulPreferenceSetAttribute(
		want, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace, sizeof(workspace));
	if (!status)
		status = b->cublasLtMatmulAlgoGetHeuristic(h->handle, p->desc, p->a, p->b, p->c,
							   p->d, want, wanted, found, n);
	b->cublasLtMatmulPreferenceDestroy(want);
	return status;
}

int do_blas_heuristic(struct session *s, struct request *r)
{
	cublasLtMatmulHeuristicResult_t found[REMOTE_RESULTS] = { 0 };
	const struct served_blas *h = blas_handle(s, r->word[0], true);
	struct remote_product of;
	const struct plan *p;
	uint64_t n_found;
	int status, n = 0;

	if (!h)
		return remote_status(BLAS_NOT_INITIALIZED);
	if (r->payload_bytes != sizeof(of) || !r->word[2] || r->word[2] > REMOTE_RESULTS)
		return remote_status(BLAS_INVALID_VALUE);
	memcpy(&of, r->payload, sizeof(of));
	status = product_check(&of);
	p = status ? NULL : plan_of(s, &of, &status);
	if (p)
		status = (int)suggest(s->library, h, p, r->word[1], (int)r->word[2], found, &n);
	n_found = !status && n > 0 && n <= REMOTE_RESULTS ? (uint64_t)n : 0;
	answer_put(r, &n_found, sizeof(n_found));
	answer_put(r, found, n_found * sizeof(*found));
	return remote_status(status);
}

/* ---- products ----------------------------------------------------------------------------- */

static int multiply(const struct session *s, const struct served_blas *h, const struct plan *p,
		    const struct remote_matmul *m, cudaStream_t stream)
{
	cublasLtMatmulAlgo_t algo;

	memcpy(&algo, m->algo, sizeof(algo));
	return (int)s->library->cublasLtMatmul(
		h->handle, p->desc, &m->alpha, pointer_of(m->a), p->a, pointer_of(m->b), p->b,
		&m->beta, pointer_of(m->c), p->c, pointer_of(m->d), p->d,
		m->has_algo ? &algo : NULL, pointer_of(m->workspace), m->workspace_bytes, stream);
}

int do_blas_matmul(struct session *s, struct request *r)
{
	const struct served_blas *h = blas_handle(s, r->word[0], true);
	struct extent e[MATMUL_EXTENTS];
	struct remote_matmul m;
	const struct plan *p;
	cudaStream_t stream;
	int status;

	if (!h)
		return remote_status(BLAS_NOT_INITIALIZED);
	if (r->payload_bytes != sizeof(m) || session_stream(s, r->word[1], &stream))
		return remote_status(BLAS_INVALID_VALUE);
	memcpy(&m, r->payload, sizeof(m));
	status = matmul_extents(&m, e);
	if (!status && !product_holds(&s->regions, e, MATMUL_EXTENTS))
		status = BLAS_INVALID_VALUE;
	p = status ? NULL : plan_of(s, &m.product, &status);
	return remote_status(p ? multiply(s, h, p, &m, stream) : status);
}
