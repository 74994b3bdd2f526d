/*
 * test_cpu_remote_products.c - what the daemon's half does with commands of cuBLAS that no client
 * of ours sends: handles, memory, plans and descriptions are held against what the client was
 * given.
 */
/* sanitizers: seen elsewhere */
#include "tests/test.h"
#include "common/blas.h"
#include "layers/remote/daemon/serve.h"

TestSuite(small_remote_products, .timeout = 300);

#define OK(call) cr_assert(eq(int, (int)(call), 0), #call)
#define FAILS(call, error) cr_assert(eq(int, (int)(call), (int)(error)), #call)

static struct remote_answer answer;

/* The status of a command with a payload. */
static int status_of(struct session *s, enum remote_op op, const uint64_t *words, size_t n,
		     const void *payload, size_t bytes)
{
	_Alignas(16) uint8_t room[1024] = { 0 };
	struct remote_command *c = (struct remote_command *)room;

	*c = (struct remote_command){
		.bytes = remote_command_bytes((unsigned)n, (uint32_t)bytes),
		.op = (uint16_t)op,
		.flags = REMOTE_ANSWERED,
		.payload = (uint32_t)bytes,
	};
	if (n)
		memcpy(c->word, words, n * sizeof(*words));
	if (bytes)
		memcpy(c->word + n, payload, bytes);
	cr_assert(session_do(s, c, c->bytes, &answer), "op %d", op);
	return answer.error & ~REMOTE_STATUS;
}

#define WORDS_OF(...)                                                                              \
	(const uint64_t[]){ __VA_ARGS__ }, sizeof((uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t)
#define ASK(op, ...) status_of(&s, op, WORDS_OF(__VA_ARGS__), NULL, 0)

static struct session new_session(uint64_t memory_max)
{
	static uint8_t blocks[2 * REMOTE_BLOCKS][REMOTE_BLOCK_BYTES];

	return session_new(backend_cpu(), UINT64_C(0x7e8000000000), blocks[0],
			   blocks[REMOTE_BLOCKS], memory_max);
}

static uint64_t memory_of(struct session *s, uint64_t bytes)
{
	uint64_t at;

	cr_assert(zero(int, status_of(s, REMOTE_MALLOC, &bytes, 1, NULL, 0)));
	memcpy(&at, answer.data, sizeof(at));
	return at;
}

static struct remote_gemm small_gemm(uint64_t at)
{
	return (struct remote_gemm){
		.m = 4,
		.n = 4,
		.k = 4,
		.lda = 4,
		.ldb = 4,
		.ldc = 4,
		.compute = CUBLAS_COMPUTE_32F,
		.algo = CUBLAS_GEMM_DEFAULT,
		.a = at,
		.b = at,
		.c = at,
	};
}

Test(small_remote_products, handles_that_it_does_not_have_are_refused)
{
	struct session s = new_session(128 << 20);
	struct remote_gemm g = small_gemm(memory_of(&s, 64));

	FAILS(ASK(REMOTE_BLAS_DESTROY, 0), BLAS_NOT_INITIALIZED);
	FAILS(ASK(REMOTE_BLAS_CREATE, REMOTE_BLAS, 0), BLAS_INVALID_VALUE);
	FAILS(ASK(REMOTE_BLAS_CREATE, 0, 2), BLAS_INVALID_VALUE);
	OK(ASK(REMOTE_BLAS_CREATE, 0, 0));
	FAILS(ASK(REMOTE_BLAS_CREATE, 0, 1), BLAS_INVALID_VALUE);
	OK(ASK(REMOTE_BLAS_CREATE, 5, 1));
	OK(status_of(&s, REMOTE_BLAS_GEMM, WORDS_OF(0), &g, sizeof(g)));
	FAILS(status_of(&s, REMOTE_BLAS_GEMM, WORDS_OF(5), &g, sizeof(g)), BLAS_NOT_INITIALIZED);
	FAILS(status_of(&s, REMOTE_BLAS_GEMM, WORDS_OF(1), &g, sizeof(g)), BLAS_NOT_INITIALIZED);
	FAILS(ASK(REMOTE_BLAS_STREAM, 5, 0), BLAS_NOT_INITIALIZED);
	FAILS(ASK(REMOTE_BLAS_STREAM, 0, REMOTE_OWN + 3), BLAS_INVALID_VALUE);
	FAILS(ASK(REMOTE_BLAS_STREAM, 0, REMOTE_WAITS), BLAS_INVALID_VALUE);
	FAILS(ASK(REMOTE_BLAS_POINTER_MODE, 0, 2), BLAS_INVALID_VALUE);
	FAILS(ASK(REMOTE_BLAS_MATH_MODE, 9, 0), BLAS_NOT_INITIALIZED);
	OK(ASK(REMOTE_BLAS_DESTROY, 5));
	FAILS(ASK(REMOTE_BLAS_DESTROY, 5), BLAS_NOT_INITIALIZED);
	session_close(&s);
}

Test(small_remote_products, memory_of_its_own_is_out_of_reach)
{
	static float secret[16] = { 42 };
	struct session s = new_session(128 << 20);
	uint64_t own = memory_of(&s, 64), there = word_of(secret);
	struct remote_gemm g = small_gemm(own);

#define GEMM() status_of(&s, REMOTE_BLAS_GEMM, WORDS_OF(0), &g, sizeof(g))
	OK(ASK(REMOTE_BLAS_CREATE, 0, 0));
	OK(GEMM());
	for (int i = 0; i < 3; i++) {
		uint64_t *at[] = { &g.a, &g.b, &g.c };

		*at[i] = there;
		FAILS(GEMM(), BLAS_INVALID_VALUE);
		*at[i] = own + 4;
		FAILS(GEMM(), BLAS_INVALID_VALUE);
		*at[i] = own;
	}
	g.lda = INT32_MAX; /* 24 GB */
	FAILS(GEMM(), BLAS_INVALID_VALUE);
	g.lda = 4;
	g.k = -1;
	FAILS(GEMM(), BLAS_INVALID_VALUE);
	g.k = 4;
	g.trans_a = 2; /* conjugated */
	FAILS(GEMM(), BLAS_NOT_SUPPORTED);
	g.trans_a = 0;
	OK(ASK(REMOTE_BLAS_POINTER_MODE, 0, 1));
	g.alpha = own;
	g.beta = there;
	FAILS(GEMM(), BLAS_INVALID_VALUE);
	g.beta = own;
	OK(GEMM());
	FAILS(ASK(REMOTE_BLAS_WORKSPACE, 0, there, 64), BLAS_INVALID_VALUE);
	OK(ASK(REMOTE_BLAS_WORKSPACE, 0, own, 64));
	OK(GEMM());
	FAILS(status_of(&s, REMOTE_BLAS_GEMM, WORDS_OF(0), &g, sizeof(g) - 8), BLAS_INVALID_VALUE);
#undef GEMM
	cr_assert(eq(flt, secret[0], 42));
	session_close(&s);
}

Test(small_remote_products, a_workspace_that_was_freed_is_none)
{
	struct session s = new_session(128 << 20);
	uint64_t own = memory_of(&s, 64), workspace = memory_of(&s, 4096);
	struct remote_gemm g = small_gemm(own);

	OK(ASK(REMOTE_BLAS_CREATE, 0, 0));
	OK(ASK(REMOTE_BLAS_WORKSPACE, 0, workspace, 4096));
	OK(ASK(REMOTE_FREE, workspace));
	FAILS(status_of(&s, REMOTE_BLAS_GEMM, WORDS_OF(0), &g, sizeof(g)), BLAS_INVALID_VALUE);
	OK(ASK(REMOTE_BLAS_STREAM, 0, 0)); /* takes it away */
	OK(status_of(&s, REMOTE_BLAS_GEMM, WORDS_OF(0), &g, sizeof(g)));
	session_close(&s);
}

Test(small_remote_products, described_products_stay_in_the_client_s_memory)
{
	static uint8_t secret[64];
	struct session s = new_session(128 << 20);
	uint64_t own = memory_of(&s, 64), there = word_of(secret);
	const struct remote_layout square = { 4, 4, 4, CUDA_R_32F, 0 };
	struct remote_matmul m = {
		.product = { .compute = CUBLAS_COMPUTE_32F,
			     .epilogue = CUBLASLT_EPILOGUE_RELU_AUX_BIAS,
			     .bias = own,
			     .mask = own,
			     .mask_ld = 128,
			     .a = square,
			     .b = square,
			     .c = square,
			     .d = square },
		.a = own,
		.b = own,
		.c = own,
		.d = own,
		.workspace = own,
		.workspace_bytes = 64,
	};
	uint64_t *const at[] = { &m.a,	      &m.b, &m.c, &m.d, &m.product.bias, &m.product.mask,
				 &m.workspace };

#define MATMUL() status_of(&s, REMOTE_BLAS_MATMUL, WORDS_OF(0, 0), &m, sizeof(m))
	FAILS(MATMUL(), BLAS_NOT_INITIALIZED);
	OK(ASK(REMOTE_BLAS_CREATE, 0, 1));
	OK(MATMUL());
	for (size_t i = 0; i < sizeof(at) / sizeof(*at); i++) {
		*at[i] = there;
		FAILS(MATMUL(), BLAS_INVALID_VALUE);
		*at[i] = own + 4;
		if (i < 4 || i == 6) /* the bias and the mask are shorter than the memory */
			FAILS(MATMUL(), BLAS_INVALID_VALUE);
		*at[i] = own;
	}
	m.product.d.cols = UINT64_MAX / 8;
	FAILS(MATMUL(), BLAS_INVALID_VALUE);
	m.product.d = square;
	m.product.mask_ld = 256;
	FAILS(MATMUL(), BLAS_INVALID_VALUE);
	m.product.mask_ld = 128;
	m.product.epilogue = 32;
	FAILS(MATMUL(), BLAS_NOT_SUPPORTED);
	m.product.epilogue = CUBLASLT_EPILOGUE_DEFAULT;
	m.product.a.type = 1;
	FAILS(MATMUL(), BLAS_NOT_SUPPORTED);
#undef MATMUL
	FAILS(status_of(&s, REMOTE_BLAS_HEURISTIC, WORDS_OF(0, 0, 0), &m.product,
			sizeof(m.product)),
	      BLAS_INVALID_VALUE);
	FAILS(status_of(&s, REMOTE_BLAS_HEURISTIC, WORDS_OF(0, 0, 65), &m.product,
			sizeof(m.product)),
	      BLAS_INVALID_VALUE);
	session_close(&s);
}

/* Rows of a mask so far apart that its bits, to 2^64 - 4, would be no bytes where they are rounded
 * up. */
Test(small_remote_products, a_mask_of_almost_2_to_the_64_bits_is_not_the_client_s)
{
	struct session s = new_session(128 << 20);
	uint64_t own = memory_of(&s, 8192);
	const struct remote_layout d = { 124, 8, 124, CUDA_R_32F, 0 };
	struct remote_matmul m = {
		.product = { .compute = CUBLAS_COMPUTE_32F,
			     .epilogue = CUBLASLT_EPILOGUE_RELU_AUX_BIAS,
			     .bias = own,
			     .mask = own,
			     .mask_ld = UINT64_C(2635249153387078784),
			     .a = { 124, 1, 124, CUDA_R_32F, 0 },
			     .b = { 1, 8, 1, CUDA_R_32F, 0 },
			     .c = d,
			     .d = d },
		.a = own,
		.b = own,
		.c = own,
		.d = own,
		.workspace = own,
		.workspace_bytes = 64,
	};

	OK(ASK(REMOTE_BLAS_CREATE, 0, 1));
	FAILS(status_of(&s, REMOTE_BLAS_MATMUL, WORDS_OF(0, 0), &m, sizeof(m)), BLAS_INVALID_VALUE);
	m.product.mask_ld = 128;
	OK(status_of(&s, REMOTE_BLAS_MATMUL, WORDS_OF(0, 0), &m, sizeof(m)));
	session_close(&s);
}

/* More plans than are kept, so that some take the place of others. A of ones, 4 x n, by B of ones.
 */
Test(small_remote_products, plans_are_bounded_and_each_is_its_own)
{
	struct session s = new_session(128 << 20);
	const uint64_t own = memory_of(&s, 4096), out = memory_of(&s, 64);
	float *const ones = pointer_of(own), *const d = pointer_of(out);
	struct remote_matmul m = {
		.product.compute = CUBLAS_COMPUTE_32F,
		.product.epilogue = CUBLASLT_EPILOGUE_DEFAULT,
		.alpha = 1,
		.a = own,
		.b = own,
		.c = out,
		.d = out,
	};

	for (int i = 0; i < 1024; i++)
		ones[i] = 1;
	OK(ASK(REMOTE_BLAS_CREATE, 0, 1));
	for (int64_t ld = 4; ld < 200; ld++)
		for (uint64_t n = 1; n < 5; n++) {
			m.product.a = (struct remote_layout){ 4, n, ld, CUDA_R_32F, 0 };
			m.product.b = (struct remote_layout){ n, 4, 4, CUDA_R_32F, 0 };
			m.product.c = m.product.d =
				(struct remote_layout){ 4, 4, 4, CUDA_R_32F, 0 };
			OK(status_of(&s, REMOTE_BLAS_MATMUL, WORDS_OF(0, 0), &m, sizeof(m)));
			OK(status_of(&s, REMOTE_DEVICE_WAIT, NULL, 0, NULL, 0));
			cr_assert(eq(flt, d[15], (float)n));
		}
	session_close(&s);
	cr_assert(s.plans == NULL);
}
