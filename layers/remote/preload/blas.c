/*
 * blas.c - functions of cuBLAS: handles, how they compute, cublasGemmEx(). All others are in
 * refused_blas.c.
 */
#include "layers/remote/preload/blas.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

SHOWN int cublasCreate_v2(void **handle);
SHOWN int cublasDestroy_v2(void *handle);
SHOWN int cublasGetVersion_v2(void *handle, int *version);
SHOWN int cublasSetStream_v2(void *handle, void *stream);
SHOWN int cublasGetStream_v2(void *handle, void **stream);
SHOWN int cublasSetWorkspace_v2(void *handle, void *workspace, size_t bytes);
SHOWN int cublasSetPointerMode_v2(void *handle, int mode);
SHOWN int cublasGetPointerMode_v2(void *handle, int *mode);
SHOWN int cublasSetMathMode(void *handle, int mode);
SHOWN int cublasGetMathMode(void *handle, int *mode);
SHOWN int cublasGemmEx(void *handle, int trans_a, int trans_b, int m, int n, int k,
		       const void *alpha, const void *a, int type_a, int lda, const void *b,
		       int type_b, int ldb, const void *beta, void *c, int type_c, int ldc,
		       int compute, int algo);

/* ---- entering and leaving ----------------------------------------------------------------- */

static int status_of(int error)
{
	if (error & REMOTE_STATUS)
		return error & ~REMOTE_STATUS;
	switch (error) {
	case CUDA_OK:
		return BLAS_SUCCESS;
	case CUDA_NOT_INITIALIZED:
	case CUDA_CONTEXT_GONE:
		return BLAS_NOT_INITIALIZED;
	case CUDA_NO_MEMORY:
		return BLAS_ALLOC_FAILED;
	case CUDA_INVALID_VALUE:
	case CUDA_INVALID_HANDLE:
		return BLAS_INVALID_VALUE;
	case CUDA_NOT_SUPPORTED:
		return BLAS_NOT_SUPPORTED;
	default:
		return BLAS_EXECUTION_FAILED;
	}
}

int blas_enter(void)
{
	return status_of(client_enter());
}

int blas_leave(int error)
{
	client_unlock();
	return status_of(error);
}

int blas_refuse(const char *what)
{
	client_say_refused(what);
	return BLAS_NOT_SUPPORTED;
}

/* A text that stays, of those that were asked for. */
static const char *keep_text(const char *text, const char *without)
{
	enum { TEXTS = 64, TEXT_BYTES = 96 };
	static pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
	static char kept[TEXTS][TEXT_BYTES];
	static unsigned n;
	unsigned i = 0;

	pthread_mutex_lock(&own);
	while (i < n && strcmp(kept[i], text) != 0)
		i++;
	if (i == n && n < TEXTS)
		snprintf(kept[n++], TEXT_BYTES, "%s", text);
	pthread_mutex_unlock(&own);
	return i < TEXTS ? kept[i] : without;
}

int blas_refuse_number(const char *what, int number)
{
	char text[96];

	snprintf(text, sizeof(text), "%s %d", what, number);
	return blas_refuse(keep_text(text, what));
}

/* ---- names of statuses -------------------------------------------------------------------- */

SHOWN const char *cublasGetStatusString(int status);
SHOWN const char *cublasLtGetStatusName(int status);
SHOWN const char *cublasLtGetStatusString(int status);

const char *cublasGetStatusName(int status)
{
	static const char *const names[] = {
		[0] = "CUBLAS_STATUS_SUCCESS",		 [1] = "CUBLAS_STATUS_NOT_INITIALIZED",
		[3] = "CUBLAS_STATUS_ALLOC_FAILED",	 [7] = "CUBLAS_STATUS_INVALID_VALUE",
		[8] = "CUBLAS_STATUS_ARCH_MISMATCH",	 [11] = "CUBLAS_STATUS_MAPPING_ERROR",
		[13] = "CUBLAS_STATUS_EXECUTION_FAILED", [14] = "CUBLAS_STATUS_INTERNAL_ERROR",
		[15] = "CUBLAS_STATUS_NOT_SUPPORTED",	 [16] = "CUBLAS_STATUS_LICENSE_ERROR",
	};
	const char *name = status >= 0 && status <= 16 ? names[status] : NULL;

	return name ? name : "unknown status";
}

const char *cublasGetStatusString(int status)
{
	return cublasGetStatusName(status);
}

const char *cublasLtGetStatusName(int status)
{
	return cublasGetStatusName(status);
}

const char *cublasLtGetStatusString(int status)
{
	return cublasGetStatusName(status);
}

/* ---- handles ------------------------------------------------------------------------------ */

/* By number. */
static struct {
	bool lt;
	void *stream;
	int pointer_mode, math_mode;
} handles[REMOTE_BLAS];

/* The daemon has the library: an earlier answer said so. */
static bool library_is_there;

bool blas_number(const void *handle, bool lt, uint64_t *number)
{
	return handle_number(HANDLE_BLAS, handle, number) && (lt || !handles[*number].lt);
}

/* The first one waits, as there may be no library; the others are sent ahead. */
int blas_create(void **handle, bool lt)
{
	int status = handle ? blas_enter() : BLAS_INVALID_VALUE, error;
	uint64_t number, version;

	if (status)
		return status;
	*handle = handle_open(HANDLE_BLAS, &number);
	if (!*handle)
		return blas_leave(remote_status(BLAS_ALLOC_FAILED));
	memset(&handles[number], 0, sizeof(handles[number]));
	handles[number].lt = lt;
	/* what failed before is told here, not by the create: the handle would be there, unknown
	 * here */
	error = library_is_there
			? 0
			: client_ask(REMOTE_BLAS_VERSION, NULL, 0, &version, sizeof(version));
	error = error ? error
		      : client_ahead_if(library_is_there, REMOTE_BLAS_CREATE, WORDS(number, lt));
	if (error) {
		handle_close(HANDLE_BLAS, *handle, &number);
		*handle = NULL;
	}
	library_is_there = library_is_there || !error;
	return blas_leave(error);
}

int blas_destroy(void *handle, bool lt)
{
	int status = blas_enter();
	uint64_t number;

	if (status)
		return status;
	if (!blas_number(handle, lt, &number) || handles[number].lt != lt)
		return blas_leave(remote_status(BLAS_NOT_INITIALIZED));
	handle_close(HANDLE_BLAS, handle, &number);
	return blas_leave(client_ahead(REMOTE_BLAS_DESTROY, WORDS(number)));
}

int cublasCreate_v2(void **handle)
{
	return blas_create(handle, false);
}

int cublasDestroy_v2(void *handle)
{
	return blas_destroy(handle, false);
}

size_t blas_version(void)
{
	static uint64_t version;
	static bool asked;
	uint64_t known;

	if (blas_enter())
		return 0;
	if (!asked && !client_ask(REMOTE_BLAS_VERSION, NULL, 0, &version, sizeof(version)))
		library_is_there = asked = true;
	known = version;
	client_unlock();
	return known;
}

/* With the lock and a handle's number, if it returns 0. */
static int enter_with(const void *handle, uint64_t *number)
{
	int status = blas_enter();

	if (status || blas_number(handle, false, number))
		return status;
	return blas_leave(remote_status(BLAS_NOT_INITIALIZED));
}

int cublasGetVersion_v2(void *handle, int *version)
{
	uint64_t number;
	int status = version ? enter_with(handle, &number) : BLAS_INVALID_VALUE;

	if (status)
		return status;
	client_unlock();
	*version = (int)blas_version();
	return *version ? BLAS_SUCCESS : BLAS_NOT_INITIALIZED;
}

/* ---- how a handle computes ---------------------------------------------------------------- */

int cublasSetStream_v2(void *handle, void *stream)
{
	uint64_t number, where;
	int status = enter_with(handle, &number);

	if (status)
		return status;
	if (!handle_stream(stream, &where))
		return blas_leave(remote_status(BLAS_INVALID_VALUE));
	handles[number].stream = stream;
	return blas_leave(client_ahead(REMOTE_BLAS_STREAM, WORDS(number, where)));
}

int cublasGetStream_v2(void *handle, void **stream)
{
	uint64_t number;
	int status = stream ? enter_with(handle, &number) : BLAS_INVALID_VALUE;

	if (status)
		return status;
	*stream = handles[number].stream;
	return blas_leave(0);
}

/* What it says against memory of the client's own comes late. */
int cublasSetWorkspace_v2(void *handle, void *workspace, size_t bytes)
{
	const struct extent e = { (uint64_t)(uintptr_t)workspace, bytes };
	uint64_t number;
	int status = enter_with(handle, &number);

	if (status)
		return status;
	return blas_leave(client_ahead_if(workspace && e.at % 256 == 0 &&
						  product_holds(&client_regions, &e, 1),
					  REMOTE_BLAS_WORKSPACE, WORDS(number, e.at, e.bytes)));
}

int cublasSetPointerMode_v2(void *handle, int mode)
{
	enum { HOST, DEVICE };
	uint64_t number;
	int status = enter_with(handle, &number), error;

	if (status)
		return status;
	error = client_ahead_if(mode == HOST || mode == DEVICE, REMOTE_BLAS_POINTER_MODE,
				WORDS(number, (uint64_t)(unsigned)mode));
	handles[number].pointer_mode = error ? handles[number].pointer_mode : mode;
	return blas_leave(error);
}

int cublasGetPointerMode_v2(void *handle, int *mode)
{
	uint64_t number;
	int status = mode ? enter_with(handle, &number) : BLAS_INVALID_VALUE;

	if (status)
		return status;
	*mode = handles[number].pointer_mode;
	return blas_leave(0);
}

/* Which there are is the library's to say. */
int cublasSetMathMode(void *handle, int mode)
{
	uint64_t number;
	int status = enter_with(handle, &number), error;

	if (status)
		return status;
	error = client_ahead_if(!mode, REMOTE_BLAS_MATH_MODE,
				WORDS(number, (uint64_t)(unsigned)mode));
	handles[number].math_mode = error ? handles[number].math_mode : mode;
	return blas_leave(error);
}

int cublasGetMathMode(void *handle, int *mode)
{
	uint64_t number;
	int status = mode ? enter_with(handle, &number) : BLAS_INVALID_VALUE;

	if (status)
		return status;
	*mode = handles[number].math_mode;
	return blas_leave(0);
}

/* ---- products ----------------------------------------------------------------------------- */

int blas_send_product(const void *like, size_t bytes, bool promising)
{
	enum { KNOWN = 256 };
	static uint64_t known[KNOWN]; /* by hash; 0: none */
	const struct remote_hash hash = remote_hash_of(like, bytes);
	uint64_t *place = &known[hash.half[0] % KNOWN], is = hash.half[1] | 1;
	int error;

	if (promising && *place == is)
		return client_send();
	error = client_ask_now(NULL, 0, false);
	if (!error)
		*place = is;
	return error;
}

/* Their bits, or where they are. Scaling is by floats: types that scale otherwise are refused. */
static void set_scales(struct remote_gemm *g, bool on_device, const void *alpha, const void *beta)
{
	if (on_device) {
		g->alpha = (uint64_t)(uintptr_t)alpha;
		g->beta = (uint64_t)(uintptr_t)beta;
	} else {
		memcpy(&g->alpha, alpha, sizeof(float));
		memcpy(&g->beta, beta, sizeof(float));
	}
}

static int refused_type(const struct remote_gemm *g)
{
	const int types[] = { g->type_a, g->type_b, g->type_c };

	for (size_t i = 0; i < 3; i++)
		if (!product_type_bytes(types[i]))
			return blas_refuse_number("cublasGemmEx of type", types[i]);
	if (!product_has_compute(g->compute))
		return blas_refuse_number("cublasGemmEx of compute type", g->compute);
	return 0;
}

/* What does not depend on memory. */
static int send_gemm(uint64_t number, const struct remote_gemm *g)
{
	struct extent e[GEMM_EXTENTS];
	bool promising = !gemm_extents(g, handles[number].pointer_mode, e) &&
			 product_holds(&client_regions, e, GEMM_EXTENTS);

	memcpy(client_begin(REMOTE_BLAS_GEMM, WORDS(number), sizeof(*g)), g, sizeof(*g));
	return blas_send_product(g, offsetof(struct remote_gemm, a), promising);
}

int cublasGemmEx(void *handle, int trans_a, int trans_b, int m, int n, int k, const void *alpha,
		 const void *a, int type_a, int lda, const void *b, int type_b, int ldb,
		 const void *beta, void *c, int type_c, int ldc, int compute, int algo)
{
	struct remote_gemm g = {
		trans_a,
		trans_b,
		m,
		n,
		k,
		lda,
		ldb,
		ldc,
		type_a,
		type_b,
		type_c,
		compute,
		algo,
		0,
		(uint64_t)(uintptr_t)a,
		(uint64_t)(uintptr_t)b,
		(uint64_t)(uintptr_t)c,
		0,
		0,
	};
	uint64_t number;
	int status = enter_with(handle, &number);

	if (status)
		return status;
	status = alpha && beta ? refused_type(&g) : BLAS_INVALID_VALUE;
	if (status)
		return blas_leave(remote_status(status));
	set_scales(&g, handles[number].pointer_mode, alpha, beta);
	return blas_leave(send_gemm(number, &g));
}
