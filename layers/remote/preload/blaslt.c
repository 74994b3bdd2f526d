/*
 * blaslt.c - functions of cuBLASLt: handles, descriptors, the heuristic, products. Descriptors stay
 * here; a command has what is in them. All other functions are in refused_blas.c.
 */
#include <stdlib.h>
#include <string.h>

#include "layers/remote/preload/blas.h"

struct desc;
struct preference;

SHOWN int cublasLtCreate(void **handle);
SHOWN int cublasLtDestroy(void *handle);
SHOWN size_t cublasLtGetVersion(void);
SHOWN size_t cublasLtGetCudartVersion(void);
SHOWN int cublasLtMatmulDescCreate(struct desc **desc, int compute, int scale);
SHOWN int cublasLtMatmulDescDestroy(struct desc *desc);
SHOWN int cublasLtMatmulDescSetAttribute(struct desc *desc, int attribute, const void *value,
					 size_t bytes);
SHOWN int cublasLtMatrixLayoutCreate(struct remote_layout **layout, int type, uint64_t rows,
				     uint64_t cols, int64_t ld);
SHOWN int cublasLtMatrixLayoutDestroy(struct remote_layout *layout);
SHOWN int cublasLtMatmulPreferenceCreate(struct preference **preference);
SHOWN int cublasLtMatmulPreferenceDestroy(struct preference *preference);
SHOWN int cublasLtMatmulPreferenceSetAttribute(struct preference *preference, int attribute,
					       const void *value, size_t bytes);
SHOWN int
cublasLtMatmulAlgoGetHeuristic(void *handle, const struct desc *desc, const struct remote_layout *a,
			       const struct remote_layout *b, const struct remote_layout *c,
			       const struct remote_layout *d, const struct preference *preference,
			       int wanted, void *found, int *n_found);
SHOWN int cublasLtMatmul(void *handle, const struct desc *desc, const float *alpha, const void *a,
			 const struct remote_layout *layout_a, const void *b,
			 const struct remote_layout *layout_b, const float *beta, const void *c,
			 const struct remote_layout *layout_c, void *d,
			 const struct remote_layout *layout_d, const uint64_t algo[8],
			 void *workspace, size_t workspace_bytes, void *stream);

/* ---- handles ------------------------------------------------------------------------------ */

int cublasLtCreate(void **handle)
{
	return blas_create(handle, true);
}

int cublasLtDestroy(void *handle)
{
	return blas_destroy(handle, true);
}

size_t cublasLtGetVersion(void)
{
	return blas_version();
}

/* It has no status to return. */
size_t cublasLtGetCudartVersion(void)
{
	client_say_refused("cublasLtGetCudartVersion");
	return 0;
}

/* ---- descriptors -------------------------------------------------------------------------- */

/* Layouts of the product are unused here. */
struct desc {
	struct remote_product of;
};

struct preference {
	uint64_t workspace_bytes;
};

/* All zero. */
static int make(void *out, size_t bytes)
{
	void *p = out ? calloc(1, bytes) : NULL;

	if (!out)
		return BLAS_INVALID_VALUE;
	memcpy(out, &p, sizeof(p));
	return p ? BLAS_SUCCESS : BLAS_ALLOC_FAILED;
}

static int drop(void *p)
{
	free(p);
	return BLAS_SUCCESS;
}

int cublasLtMatmulDescCreate(struct desc **desc, int compute, int scale)
{
	enum { R_32F = 0 };
	int status;

	if (!product_has_compute(compute))
		return blas_refuse_number("cublasLtMatmulDescCreate of compute type", compute);
	if (scale != R_32F)
		return blas_refuse_number("cublasLtMatmulDescCreate of scale type", scale);
	status = make(desc, sizeof(**desc));
	if (!status)
		(*desc)->of = (struct remote_product){ .compute = compute,
						       .scale = scale,
						       .epilogue = EPILOGUE_DEFAULT };
	return status;
}

int cublasLtMatmulDescDestroy(struct desc *desc)
{
	return drop(desc);
}

static int put(void *field, size_t field_bytes, const void *value, size_t bytes)
{
	if (!value || bytes != field_bytes)
		return BLAS_INVALID_VALUE;
	memcpy(field, value, bytes);
	return BLAS_SUCCESS;
}

static int put_epilogue(struct desc *desc, const void *value, size_t bytes)
{
	uint32_t epilogue = 0;
	int status = put(&epilogue, sizeof(epilogue), value, bytes);

	if (!status && !product_has_epilogue(epilogue))
		return blas_refuse_number("cublasLtMatmulDescSetAttribute of epilogue",
					  (int)epilogue);
	if (!status)
		desc->of.epilogue = epilogue;
	return status;
}

/* Numbers are cublasLtMatmulDescAttributes_t's. */
int cublasLtMatmulDescSetAttribute(struct desc *desc, int attribute, const void *value,
				   size_t bytes)
{
	enum { TRANSA = 3, TRANSB, EPILOGUE = 7, BIAS, AUX = 11, AUX_LD };

	if (!desc)
		return BLAS_INVALID_VALUE;
#define FIELD(f) put(&desc->of.f, sizeof(desc->of.f), value, bytes)
	switch (attribute) {
	case TRANSA:
		return FIELD(trans_a);
	case TRANSB:
		return FIELD(trans_b);
	case EPILOGUE:
		return put_epilogue(desc, value, bytes);
	case BIAS:
		return FIELD(bias);
	case AUX:
		return FIELD(mask);
	case AUX_LD:
		return FIELD(mask_ld);
	default:
		return blas_refuse_number("cublasLtMatmulDescSetAttribute of attribute", attribute);
	}
#undef FIELD
}

int cublasLtMatrixLayoutCreate(struct remote_layout **layout, int type, uint64_t rows,
			       uint64_t cols, int64_t ld)
{
	int status;

	if (!product_type_bytes(type))
		return blas_refuse_number("cublasLtMatrixLayoutCreate of type", type);
	status = make(layout, sizeof(**layout));
	if (!status)
		**layout = (struct remote_layout){ rows, cols, ld, type, 0 };
	return status;
}

int cublasLtMatrixLayoutDestroy(struct remote_layout *layout)
{
	return drop(layout);
}

int cublasLtMatmulPreferenceCreate(struct preference **preference)
{
	return make(preference, sizeof(**preference));
}

int cublasLtMatmulPreferenceDestroy(struct preference *preference)
{
	return drop(preference);
}

int cublasLtMatmulPreferenceSetAttribute(struct preference *preference, int attribute,
					 const void *value, size_t bytes)
{
	enum { MAX_WORKSPACE_BYTES = 1 };

	if (!preference)
		return BLAS_INVALID_VALUE;
	if (attribute != MAX_WORKSPACE_BYTES)
		return blas_refuse_number("cublasLtMatmulPreferenceSetAttribute of attribute",
					  attribute);
	return put(&preference->workspace_bytes, sizeof(preference->workspace_bytes), value, bytes);
}

/* ---- products ----------------------------------------------------------------------------- */

static struct remote_product describe(const struct desc *desc, const struct remote_layout *a,
				      const struct remote_layout *b, const struct remote_layout *c,
				      const struct remote_layout *d)
{
	struct remote_product p = desc->of;

	p.a = *a;
	p.b = *b;
	p.c = *c;
	p.d = *d;
	return p;
}

/* With the lock and a handle's number, if it returns 0. */
static int enter_with(const void *handle, uint64_t *number)
{
	int status = blas_enter();

	if (status || blas_number(handle, true, number))
		return status;
	return blas_leave(remote_status(BLAS_NOT_INITIALIZED));
}

int cublasLtMatmulAlgoGetHeuristic(void *handle, const struct desc *desc,
				   const struct remote_layout *a, const struct remote_layout *b,
				   const struct remote_layout *c, const struct remote_layout *d,
				   const struct preference *preference, int wanted, void *found,
				   int *n_found)
{
	struct {
		uint64_t n;
		uint8_t result[REMOTE_RESULTS * REMOTE_RESULT_BYTES];
	} answer = { 0 };
	struct remote_product p;
	uint64_t number;
	int status = enter_with(handle, &number), error;

	if (status)
		return status;
	if (!desc || !a || !b || !c || !d || !preference || wanted < 1 || !found || !n_found)
		return blas_leave(remote_status(BLAS_INVALID_VALUE));
	wanted = wanted < REMOTE_RESULTS ? wanted : REMOTE_RESULTS;
	p = describe(desc, a, b, c, d);
	memcpy(client_begin(REMOTE_BLAS_HEURISTIC,
			    WORDS(number, preference->workspace_bytes, (uint64_t)wanted),
			    sizeof(p)),
	       &p, sizeof(p));
	error = client_ask_now(&answer, sizeof(answer), false);
	*n_found = error || answer.n > (uint64_t)wanted ? 0 : (int)answer.n;
	memcpy(found, answer.result, (size_t)*n_found * REMOTE_RESULT_BYTES);
	return blas_leave(error);
}

/* What does not depend on operands: the product, and the algorithm. */
static int send_matmul(uint64_t number, uint64_t where, const struct remote_matmul *m)
{
	struct {
		struct remote_product product;
		uint64_t has_algo, algo[8];
	} like = { m->product, m->has_algo, { 0 } };
	struct extent e[MATMUL_EXTENTS];
	bool promising = !matmul_extents(m, e) && product_holds(&client_regions, e, MATMUL_EXTENTS);

	memcpy(like.algo, m->algo, sizeof(like.algo));
	memcpy(client_begin(REMOTE_BLAS_MATMUL, WORDS(number, where), sizeof(*m)), m, sizeof(*m));
	return blas_send_product(&like, sizeof(like), promising);
}

int cublasLtMatmul(void *handle, const struct desc *desc, const float *alpha, const void *a,
		   const struct remote_layout *layout_a, const void *b,
		   const struct remote_layout *layout_b, const float *beta, const void *c,
		   const struct remote_layout *layout_c, void *d,
		   const struct remote_layout *layout_d, const uint64_t algo[8], void *workspace,
		   size_t workspace_bytes, void *stream)
{
	struct remote_matmul m = { .has_algo = algo != NULL };
	uint64_t number, where;
	int status = enter_with(handle, &number);

	if (status)
		return status;
	if (!desc || !alpha || !a || !layout_a || !b || !layout_b || !beta || !layout_c || !d ||
	    !layout_d || !handle_stream(stream, &where))
		return blas_leave(remote_status(BLAS_INVALID_VALUE));
	m.product = describe(desc, layout_a, layout_b, layout_c, layout_d);
	m.a = (uint64_t)(uintptr_t)a;
	m.b = (uint64_t)(uintptr_t)b;
	m.c = (uint64_t)(uintptr_t)c;
	m.d = (uint64_t)(uintptr_t)d;
	m.workspace = (uint64_t)(uintptr_t)workspace;
	m.workspace_bytes = workspace_bytes;
	m.alpha = *alpha;
	m.beta = *beta;
	if (algo)
		memcpy(m.algo, algo, sizeof(m.algo));
	return blas_leave(send_matmul(number, where, &m));
}
