/*
 * test_cpu_remote_blas.c - cuBLAS and cuBLASLt by way of the layer remote: the suite
 * small_remote_blas holds with and without it, and runs again as a client of this program's daemon.
 * What that one was sent, damaged in many ways, is given to a session (small_remote_blas_daemon).
 */
/* sanitizers: seen elsewhere */
#include "tests/test.h"

#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include "common/blas.h"
#include "layers/remote/daemon/serve.h"
#include "layers/remote/test_daemon.h"
#include "layers/remote/test_fuzz.h"

TestSuite(small_remote_blas, .fini = await_daemon, .timeout = 100);
TestSuite(small_remote_blas_daemon, .init = layers_apart, .timeout = 300);

#define OK(call) cr_assert(eq(int, (int)(call), 0), #call)
#define FAILS(call, error) cr_assert(eq(int, (int)(call), (int)(error)), #call)

/* ---- products of small whole numbers, which are exact -------------------------------------- */

enum { M = 5, N = 4, K = 6, MASK_LD = 128, WORKSPACE = 1 << 20 };

/* A is M x K, B is K x N, D is M x N; columns first. */
struct product_of {
	const struct blas *b;
	float a[M * K], x[K * N], d[M * N];
	float *on_a, *on_x, *on_d;
	void *workspace;
	cudaStream_t stream;
};

static float number(int i)
{
	return (float)(i * 7 % 11 - 5);
}

static struct product_of begin(void)
{
	struct product_of p = { 0 };

	OK(blas_load(&p.b));
	for (int i = 0; i < M * K; i++)
		p.a[i] = number(i);
	for (int i = 0; i < K * N; i++)
		p.x[i] = number(3 * i + 1);
	OK(cudaMalloc((void **)&p.on_a, sizeof(p.a)));
	OK(cudaMalloc((void **)&p.on_x, sizeof(p.x)));
	OK(cudaMalloc((void **)&p.on_d, sizeof(p.d)));
	OK(cudaMalloc(&p.workspace, WORKSPACE));
	OK(cudaStreamCreateWithFlags(&p.stream, cudaStreamNonBlocking));
	OK(cudaMemcpy(p.on_a, p.a, sizeof(p.a), cudaMemcpyHostToDevice));
	OK(cudaMemcpy(p.on_x, p.x, sizeof(p.x), cudaMemcpyHostToDevice));
	OK(cudaMemset(p.on_d, 0, sizeof(p.d)));
	OK(cudaDeviceSynchronize()); /* p.stream does not wait for the memset */
	return p;
}

static float dot(const struct product_of *p, int row, int col)
{
	float sum = 0;

	for (int l = 0; l < K; l++)
		sum += p->a[l * M + row] * p->x[col * K + l];
	return sum;
}

static void end(struct product_of *p)
{
	OK(cudaStreamDestroy(p->stream));
	OK(cudaFree(p->workspace));
	OK(cudaFree(p->on_a));
	OK(cudaFree(p->on_x));
	OK(cudaFree(p->on_d));
}

/* D is so many times A B. */
static void is_product(struct product_of *p, float times)
{
	OK(cudaDeviceSynchronize());
	OK(cudaMemcpy(p->d, p->on_d, sizeof(p->d), cudaMemcpyDeviceToHost));
	for (int j = 0; j < N; j++)
		for (int i = 0; i < M; i++)
			cr_assert(eq(flt, p->d[j * M + i], times * dot(p, i, j)), "%d, %d", i, j);
}

static cublasStatus_t multiply(const struct product_of *p, cublasHandle_t handle,
			       const float *alpha, const float *beta, float *d)
{
	return p->b->cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, M, N, K, alpha, p->on_a,
				  CUDA_R_32F, M, p->on_x, CUDA_R_32F, K, beta, d, CUDA_R_32F, M,
				  CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
}

/* ---- cuBLAS ------------------------------------------------------------------------------- */

/* Scales are the host's, and gone when the call is back. */
Test(small_remote_blas, a_handle_multiplies_on_its_stream)
{
	struct product_of p = begin();
	cublasHandle_t handle;

	OK(p.b->cublasCreate(&handle));
	OK(p.b->cublasSetStream(handle, p.stream));
	OK(p.b->cublasSetWorkspace(handle, p.workspace, WORKSPACE));
	OK(p.b->cublasSetMathMode(handle, CUBLAS_DEFAULT_MATH));
	for (int i = 1; i <= 3; i++) {
		float alpha = (float)i, beta = i == 3;

		OK(multiply(&p, handle, &alpha, &beta, p.on_d));
		alpha = beta = -1e6F;
	}
	is_product(&p, 5); /* 2, and 3 more */
	OK(p.b->cublasDestroy(handle));
	end(&p);
}

Test(small_remote_blas, scales_may_be_the_device_s)
{
	struct product_of p = begin();
	float scale[2] = { 3, 0 }, one = 1, none = 0, *on_device;
	cublasHandle_t handle, other;

	OK(p.b->cublasLtGetVersion()); /* then the first handle is sent ahead, too */
	OK(cudaMalloc((void **)&on_device, sizeof(scale)));
	OK(p.b->cublasCreate(&handle));
	OK(p.b->cublasCreate(&other));
	OK(p.b->cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE));
	for (int i = 0; i < 2; i++) { /* they are read when the product runs */
		scale[0] = (float)(i + 3);
		OK(cudaMemcpy(on_device, scale, sizeof(scale), cudaMemcpyHostToDevice));
		OK(multiply(&p, handle, on_device, on_device + 1, p.on_d));
		is_product(&p, (float)(i + 3));
	}
	OK(multiply(&p, other, &one, &none, p.on_d));
	is_product(&p, 1);
	OK(p.b->cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST));
	OK(multiply(&p, handle, &one, &one, p.on_d));
	is_product(&p, 2);
	FAILS(p.b->cublasSetPointerMode(handle, (cublasPointerMode_t)7),
	      CUBLAS_STATUS_INVALID_VALUE);
	OK(p.b->cublasDestroy(other));
	OK(p.b->cublasDestroy(handle));
	OK(cudaFree(on_device));
	end(&p);
}

/* What the library itself says, of the call that it says it of. */
Test(small_remote_blas, statuses_come_with_their_calls)
{
	struct product_of p = begin();
	const float one = 1;
	cublasHandle_t handle;

	OK(p.b->cublasCreate(&handle));
	for (int i = 0; i < 2; i++) {
		OK(multiply(&p, handle, &one, &one, p.on_d));
		FAILS(p.b->cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, M, N, K, &one, p.on_a,
					CUDA_R_32F, M - 1, p.on_x, CUDA_R_32F, K, &one, p.on_d,
					CUDA_R_32F, M, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
		      CUBLAS_STATUS_INVALID_VALUE);
		FAILS(p.b->cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, M, N, K, &one, p.on_a,
					CUDA_R_16BF, M, p.on_x, CUDA_R_32F, K, &one, p.on_d,
					CUDA_R_32F, M, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
		      CUBLAS_STATUS_NOT_SUPPORTED);
	}
	FAILS(multiply(&p, NULL, &one, &one, p.on_d), CUBLAS_STATUS_NOT_INITIALIZED);
	FAILS(multiply(&p, handle, NULL, &one, p.on_d), CUBLAS_STATUS_INVALID_VALUE);
	FAILS(p.b->cublasSetWorkspace(handle, NULL, 4), CUBLAS_STATUS_INVALID_VALUE);
	FAILS(p.b->cublasSetMathMode(handle, CUBLAS_TF32_TENSOR_OP_MATH),
	      CUBLAS_STATUS_NOT_SUPPORTED);
	FAILS(p.b->cublasDestroy(NULL), CUBLAS_STATUS_NOT_INITIALIZED);
	OK(cudaGetLastError());
	is_product(&p, 2);
	OK(p.b->cublasDestroy(handle));
	end(&p);
}

Test(small_remote_blas, products_are_captured)
{
	struct product_of p = begin();
	const float one = 1;
	cublasHandle_t handle;
	cudaGraphExec_t exec;
	cudaGraph_t graph;
	size_t nodes = 0;

	OK(p.b->cublasCreate(&handle));
	OK(p.b->cublasSetStream(handle, p.stream));
	OK(p.b->cublasSetWorkspace(handle, p.workspace, WORKSPACE));
	OK(cudaDeviceSynchronize());
	OK(cudaStreamBeginCapture(p.stream, cudaStreamCaptureModeGlobal));
	for (int i = 0; i < 3; i++)
		OK(multiply(&p, handle, &one, &one, p.on_d));
	OK(cudaStreamEndCapture(p.stream, &graph));
	OK(cudaGraphGetNodes(graph, NULL, &nodes));
	cr_assert(eq(sz, nodes, 3));
	OK(cudaGraphInstantiate(&exec, graph, 0));
	is_product(&p, 0);
	for (int i = 0; i < 2; i++)
		OK(cudaGraphLaunch(exec, p.stream));
	is_product(&p, 6);
	OK(cudaGraphExecDestroy(exec));
	OK(cudaGraphDestroy(graph));
	OK(p.b->cublasDestroy(handle));
	end(&p);
}

/* ---- cuBLASLt ----------------------------------------------------------------------------- */

struct described {
	cublasLtMatmulDesc_t desc;
	cublasLtMatrixLayout_t a, x, d;
	float *bias;
	void *mask;
};

static struct described describe(const struct product_of *p, uint32_t epilogue)
{
	const int32_t plain = CUBLAS_OP_N;
	const int64_t mask_ld = MASK_LD;
	const float bias[M] = { 1, -20, 3, -40, 5 };
	struct described l;

	OK(cudaMalloc((void **)&l.bias, sizeof(bias)));
	OK(cudaMemcpy(l.bias, bias, sizeof(bias), cudaMemcpyHostToDevice));
	OK(cudaMalloc(&l.mask, MASK_LD / 8 * N));
	OK(p->b->cublasLtMatmulDescCreate(&l.desc, CUBLAS_COMPUTE_32F, CUDA_R_32F));
#define SET(name, value)                                                                           \
	OK(p->b->cublasLtMatmulDescSetAttribute(l.desc, CUBLASLT_MATMUL_DESC_##name, &(value),     \
						sizeof(value)))
	SET(TRANSA, plain);
	SET(TRANSB, plain);
	SET(EPILOGUE, epilogue);
	SET(BIAS_POINTER, l.bias);
	SET(EPILOGUE_AUX_POINTER, l.mask);
	SET(EPILOGUE_AUX_LD, mask_ld);
#undef SET
	OK(p->b->cublasLtMatrixLayoutCreate(&l.a, CUDA_R_32F, M, K, M));
	OK(p->b->cublasLtMatrixLayoutCreate(&l.x, CUDA_R_32F, K, N, K));
	OK(p->b->cublasLtMatrixLayoutCreate(&l.d, CUDA_R_32F, M, N, M));
	return l;
}

static void forget(const struct product_of *p, struct described *l)
{
	OK(p->b->cublasLtMatmulDescDestroy(l->desc));
	OK(p->b->cublasLtMatrixLayoutDestroy(l->a));
	OK(p->b->cublasLtMatrixLayoutDestroy(l->x));
	OK(p->b->cublasLtMatrixLayoutDestroy(l->d));
	OK(cudaFree(l->bias));
	OK(cudaFree(l->mask));
}

/* How many algorithms there are, of `wanted`; the status goes to *status. */
static int find(const struct product_of *p, cublasLtHandle_t lt, const struct described *l,
		int wanted, cublasLtMatmulAlgo_t *algo, cublasStatus_t *status)
{
	const uint64_t most = WORKSPACE;
	cublasLtMatmulHeuristicResult_t found[4] = { 0 };
	cublasLtMatmulPreference_t want;
	int n = 99;

	OK(p->b->cublasLtMatmulPreferenceCreate(&want));
	OK(p->b->cublasLtMatmulPreferenceSetAttribute(
		want, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &most, sizeof(most)));
	*status = p->b->cublasLtMatmulAlgoGetHeuristic(lt, l->desc, l->a, l->x, l->d, l->d, want,
						       wanted, found, &n);
	OK(p->b->cublasLtMatmulPreferenceDestroy(want));
	*algo = found[0].algo;
	return n;
}

static cublasStatus_t multiply_lt(const struct product_of *p, cublasLtHandle_t lt,
				  const struct described *l, const cublasLtMatmulAlgo_t *algo)
{
	const float one = 1, none = 0;

	return p->b->cublasLtMatmul(lt, l->desc, &one, p->on_a, l->a, p->on_x, l->x, &none, p->on_d,
				    l->d, p->on_d, l->d, algo, p->workspace, WORKSPACE, p->stream);
}

/* Cut at 0, with its bias or without. */
static void is_cut(struct product_of *p, bool biased)
{
	static const float bias[M] = { 1, -20, 3, -40, 5 };

	OK(cudaStreamSynchronize(p->stream));
	OK(cudaMemcpy(p->d, p->on_d, sizeof(p->d), cudaMemcpyDeviceToHost));
	for (int j = 0; j < N; j++)
		for (int i = 0; i < M; i++) {
			float want = dot(p, i, j) + (biased ? bias[i] : 0);

			cr_assert(eq(flt, p->d[j * M + i], want > 0 ? want : 0), "%d, %d", i, j);
		}
}

static void multiplies_with(uint32_t epilogue, bool of_cublas)
{
	struct product_of p = begin();
	struct described l = describe(&p, epilogue);
	cublasLtMatmulAlgo_t algo;
	cublasHandle_t own = NULL;
	cublasLtHandle_t lt = NULL;
	cublasStatus_t status;

	OK(of_cublas ? p.b->cublasCreate(&own) : p.b->cublasLtCreate(&lt));
	lt = of_cublas ? (cublasLtHandle_t)own : lt; /* one serves for the other */
	cr_assert(eq(int, find(&p, lt, &l, 4, &algo, &status), 1));
	OK(status);
	for (int i = 0; i < 3; i++) {
		OK(cudaMemsetAsync(p.on_d, 0xff, sizeof(p.d), p.stream));
		OK(multiply_lt(&p, lt, &l, i ? &algo : NULL));
		if (epilogue == CUBLASLT_EPILOGUE_DEFAULT)
			is_product(&p, 1);
		else
			is_cut(&p, epilogue != CUBLASLT_EPILOGUE_RELU);
	}
	OK(of_cublas ? p.b->cublasDestroy(own) : p.b->cublasLtDestroy(lt));
	forget(&p, &l);
	end(&p);
}

Test(small_remote_blas, described_products_and_epilogues)
{
	multiplies_with(CUBLASLT_EPILOGUE_DEFAULT, false);
	multiplies_with(CUBLASLT_EPILOGUE_RELU, false);
	multiplies_with(CUBLASLT_EPILOGUE_RELU_BIAS, false);
	multiplies_with(CUBLASLT_EPILOGUE_RELU_AUX_BIAS, true);
}

/* A descriptor may change between products. */
Test(small_remote_blas, what_the_heuristic_says_of_it)
{
	struct product_of p = begin();
	struct described l = describe(&p, CUBLASLT_EPILOGUE_DRELU_BGRAD);
	const int64_t odd = 100;
	const uint32_t plain = CUBLASLT_EPILOGUE_DEFAULT;
	cublasLtMatmulAlgo_t algo;
	cublasLtHandle_t lt;
	cublasStatus_t status;

	OK(p.b->cublasLtCreate(&lt));
	cr_assert(eq(int, find(&p, lt, &l, 1, &algo, &status), 1));
	OK(p.b->cublasLtMatmulDescSetAttribute(l.desc, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, &odd,
					       sizeof(odd)));
	cr_assert(eq(int, find(&p, lt, &l, 1, &algo, &status), 0));
	FAILS(status, CUBLAS_STATUS_INVALID_VALUE);
	FAILS(multiply_lt(&p, lt, &l, NULL), CUBLAS_STATUS_INVALID_VALUE);
	FAILS(p.b->cublasLtMatmulDescSetAttribute(l.desc, CUBLASLT_MATMUL_DESC_EPILOGUE, &odd,
						  sizeof(odd)),
	      CUBLAS_STATUS_INVALID_VALUE);
	OK(p.b->cublasLtMatmulDescSetAttribute(l.desc, CUBLASLT_MATMUL_DESC_EPILOGUE, &plain,
					       sizeof(plain)));
	OK(multiply_lt(&p, lt, &l, NULL));
	is_product(&p, 1);
	OK(p.b->cublasLtDestroy(lt));
	forget(&p, &l);
	end(&p);
}

/* ---- under the layer alone ---------------------------------------------------------------- */

static bool by_the_layer(void)
{
	return getenv(REMOTE_VARIABLE) != NULL;
}

/* CUDA would find out when the product runs, or not at all. */
Test(small_remote_blas, memory_that_is_not_the_program_s_is_refused)
{
	struct product_of p = begin();
	const float one = 1;
	float own[M * N] = { 0 };
	cublasHandle_t handle;

	OK(p.b->cublasCreate(&handle));
	OK(multiply(&p, handle, &one, &one, p.on_d));
	if (by_the_layer()) {
		FAILS(multiply(&p, handle, &one, &one, own), CUBLAS_STATUS_INVALID_VALUE);
		FAILS(multiply(&p, handle, &one, &one, p.on_d + 1), CUBLAS_STATUS_INVALID_VALUE);
		FAILS(p.b->cublasSetWorkspace(handle, own, sizeof(own)),
		      CUBLAS_STATUS_INVALID_VALUE);
		OK(p.b->cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE));
		FAILS(multiply(&p, handle, &one, &one, p.on_d), CUBLAS_STATUS_INVALID_VALUE);
	}
	is_product(&p, 1);
	OK(p.b->cublasDestroy(handle));
	end(&p);
}

/* Then nobody reads it: the program made a mistake, which is not the daemon's to pay for. */
Test(small_remote_blas, handles_outlive_their_stream_and_workspace)
{
	struct product_of p = begin();
	const float one = 1;
	cublasHandle_t handle;
	unsigned flags;

	OK(p.b->cublasCreate(&handle));
	OK(p.b->cublasSetStream(handle, p.stream));
	OK(multiply(&p, handle, &one, &one, p.on_d));
	OK(cudaStreamDestroy(p.stream));
	OK(cudaDeviceSynchronize()); /* no stream that comes waits for the product */
	if (by_the_layer()) {
		int at_once = (int)multiply(&p, handle, &one, &one, p.on_d);
		int later = (int)cudaGetDeviceFlags(&flags);

		cr_assert(at_once == CUBLAS_STATUS_INVALID_VALUE || later == cudaErrorInvalidValue,
			  "%d, %d", at_once, later);
		cudaGetLastError();
	}
	OK(cudaStreamCreate(&p.stream));
	OK(p.b->cublasSetStream(handle, p.stream));
	OK(multiply(&p, handle, &one, &one, p.on_d));
	is_product(&p, 2);
	OK(p.b->cublasDestroy(handle));
	if (by_the_layer())
		FAILS(multiply(&p, handle, &one, &one, p.on_d), CUBLAS_STATUS_NOT_INITIALIZED);
	end(&p);
}

static int call_by_name(const char *name, void *handle)
{
	int (*function)(void *, const void *, const void *, size_t);
	void *found = dlsym(RTLD_DEFAULT, name);

	cr_assert(found != NULL, "%s", name);
	memcpy(&function, &found, sizeof(function));
	return function(handle, NULL, NULL, 0);
}

/* Lines are looked at by those who run this as a client. */
Test(small_remote_blas, what_is_not_forwarded_is_refused_by_name)
{
	struct product_of p = begin();
	cublasLtMatrixLayout_t layout;
	cublasLtMatmulDesc_t desc;
	const uint32_t gelu = 32;
	cublasHandle_t handle;

	if (!by_the_layer())
		return;
	OK(p.b->cublasCreate(&handle));
	FAILS(call_by_name("cublasSgemm_v2", handle), CUBLAS_STATUS_NOT_SUPPORTED);
	FAILS(call_by_name("cublasLtMatrixTransform", handle), CUBLAS_STATUS_NOT_SUPPORTED);
	FAILS(p.b->cublasLtMatrixLayoutCreate(&layout, (cudaDataType)1, 4, 4, 4),
	      CUBLAS_STATUS_NOT_SUPPORTED);
	OK(p.b->cublasLtMatmulDescCreate(&desc, CUBLAS_COMPUTE_32F, CUDA_R_32F));
	FAILS(p.b->cublasLtMatmulDescSetAttribute(desc, (cublasLtMatmulDescAttributes_t)2, &gelu,
						  sizeof(gelu)),
	      CUBLAS_STATUS_NOT_SUPPORTED);
	FAILS(p.b->cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_EPILOGUE, &gelu,
						  sizeof(gelu)),
	      CUBLAS_STATUS_NOT_SUPPORTED);
	OK(p.b->cublasLtMatmulDescDestroy(desc));
	OK(p.b->cublasDestroy(handle));
	end(&p);
}

/* Those of cuBLAS are memory, of which a client of these tests may have 256 MiB. The eighth is sent
 * ahead, and says so late; strict: at once. */
Test(small_remote_blas, handles_of_cublas_are_bounded_by_memory)
{
	struct product_of p = begin();
	cublasHandle_t handle[8];
	unsigned flags;
	int n = 0, later;

	if (!by_the_layer())
		return;
	while (n < 8 && !p.b->cublasCreate(&handle[n]))
		n++;
	later = (int)cudaGetDeviceFlags(&flags);
	cr_assert(n == 7 || (n == 8 && later == cudaErrorMemoryAllocation), "%d, %d", n, later);
	while (n)
		p.b->cublasDestroy(handle[--n]);
	cudaGetDeviceFlags(&flags);
	cudaGetLastError();
	OK(p.b->cublasCreate(&handle[0]));
	OK(cudaGetDeviceFlags(&flags));
	OK(p.b->cublasDestroy(handle[0]));
	end(&p);
}

Test(small_remote_blas, handles_are_bounded)
{
	enum { MOST = 64 };
	struct product_of p = begin();
	cublasLtHandle_t lt[MOST + 1];

	for (int round = 0; round < 2 && by_the_layer(); round++) {
		for (int i = 0; i < MOST; i++)
			OK(p.b->cublasLtCreate(&lt[i]));
		FAILS(p.b->cublasLtCreate(&lt[MOST]), CUBLAS_STATUS_ALLOC_FAILED);
		for (int i = 0; i < MOST; i++)
			OK(p.b->cublasLtDestroy(lt[i]));
	}
	end(&p);
}

/* ---- the same by way of a daemon ---------------------------------------------------------- */

static void passes_with(bool strict, void (*begin_daemon)(void))
{
	static const char *const lines[] = {
		"cublasSgemm_v2\n",
		"cublasLtMatrixTransform\n",
		"cublasLtMatrixLayoutCreate of type 1\n",
		"cublasLtMatmulDescSetAttribute of attribute 2\n",
		"cublasLtMatmulDescSetAttribute of epilogue 32\n",
	};
	struct own_daemon d = own_daemon_start(strict, begin_daemon);
	const char *out;
	int rc = run_own_tests(&d, "small_remote_blas/*", "", &out);

	own_daemon_end(&d);
	cr_assert(zero(int, rc), "%s", out);
	cr_assert(strstr(out, "Tested: 11 | Passing: 11") != NULL, "%s", out);
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		char line[120];

		snprintf(line, sizeof(line), "rift: layer remote: not supported: %s", lines[i]);
		cr_assert(strstr(out, line) != NULL, "%s is not in:\n%s", line, out);
	}
	cr_assert(strict || strstr(out, "rift: layer remote: a call of cuBLAS that was sent ahead "
					"has failed: CUBLAS_STATUS_INVALID_VALUE\n") != NULL,
		  "%s", out);
}

Test(small_remote_blas_daemon, all_calls_pass_by_way_of_it)
{
	passes_with(false, NULL);
}

Test(small_remote_blas_daemon, strict_ones_pass_too)
{
	passes_with(true, NULL);
}

Test(small_remote_blas_daemon, all_calls_pass_where_one_process_serves)
{
	own_is_shared = true;
	passes_with(false, NULL);
}

Test(small_remote_blas_daemon, all_calls_pass_over_a_unix_socket)
{
	own_transport = REMOTE_UNIX;
	passes_with(false, NULL);
}

Test(small_remote_blas_daemon, all_calls_pass_over_tcp)
{
	own_transport = REMOTE_TCP;
	passes_with(false, NULL);
}

/* ---- damaged commands ------------------------------------------------------------------------ */

/* Products that run before their call is back, on a stream of their own: what a program does wrong
 * by itself, as freeing memory of a graph that it then launches, would end this process. What the
 * daemon is to refuse, an address that nobody has, ends it still. */
static const struct blas *real;

static cublasStatus_t ignore_stream(cublasHandle_t handle, cudaStream_t stream)
{
	(void)handle;
	(void)stream;
	return CUBLAS_STATUS_SUCCESS;
}

/* False: a stream that records forbids to wait, so nothing is begun. */
static bool own_stream(cudaStream_t *stream)
{
	OK(cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking));
	if (!cudaStreamSynchronize(*stream))
		return true;
	cudaGetLastError();
	OK(cudaStreamDestroy(*stream));
	return false;
}

static void await(cudaStream_t stream)
{
	OK(cudaStreamSynchronize(stream));
	OK(cudaStreamDestroy(stream));
}

static cublasStatus_t gemm_now(cublasHandle_t handle, cublasOperation_t trans_a,
			       cublasOperation_t trans_b, int m, int n, int k, const void *alpha,
			       const void *a, cudaDataType type_a, int lda, const void *b,
			       cudaDataType type_b, int ldb, const void *beta, void *c,
			       cudaDataType type_c, int ldc, cublasComputeType_t compute,
			       cublasGemmAlgo_t algo)
{
	cudaStream_t stream;
	cublasStatus_t status;

	if (!own_stream(&stream))
		return CUBLAS_STATUS_SUCCESS;
	OK(real->cublasSetStream(handle, stream));
	status = real->cublasGemmEx(handle, trans_a, trans_b, m, n, k, alpha, a, type_a, lda, b,
				    type_b, ldb, beta, c, type_c, ldc, compute, algo);
	await(stream);
	return status;
}

static cublasStatus_t matmul_now(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc,
				 const void *alpha, const void *a, cublasLtMatrixLayout_t layout_a,
				 const void *b, cublasLtMatrixLayout_t layout_b, const void *beta,
				 const void *c, cublasLtMatrixLayout_t layout_c, void *d,
				 cublasLtMatrixLayout_t layout_d, const cublasLtMatmulAlgo_t *algo,
				 void *workspace, size_t workspace_bytes, cudaStream_t ignored)
{
	cudaStream_t stream;
	cublasStatus_t status;

	(void)ignored;
	if (!own_stream(&stream))
		return CUBLAS_STATUS_SUCCESS;
	status = real->cublasLtMatmul(handle, desc, alpha, a, layout_a, b, layout_b, beta, c,
				      layout_c, d, layout_d, algo, workspace, workspace_bytes,
				      stream);
	await(stream);
	return status;
}

/* RIFT_REMOTE_FUZZ: how many in place of these. */
enum { FUZZ_MESSAGES = 10000 };

static void are_refused(bool by_socket)
{
	const char *n = getenv("RIFT_REMOTE_FUZZ");
	struct blas at_once;

	OK(blas_load(&real));
	at_once = *real;
	at_once.cublasSetStream = ignore_stream;
	at_once.cublasGemmEx = gemm_now;
	at_once.cublasLtMatmul = matmul_now;
	fuzz_library = &at_once;
	fuzz_new_record();
	passes_with(false, fuzz_watch);
	cr_assert(lt(u64, 10000, fuzz_record->bytes));
	fuzz_session(backend_cpu(), NULL, REMOTE_BLAS_VERSION, REMOTE_BLAS_MATMUL,
		     n ? atoi(n) : FUZZ_MESSAGES, by_socket);
}

Test(small_remote_blas_daemon, damaged_commands_are_refused)
{
	are_refused(false);
}

Test(small_remote_blas_daemon, damaged_messages_of_a_socket_are_refused)
{
	are_refused(true);
}

/* ---- names ------------------------------------------------------------------------------- */

/* The list of refused functions is what a toolkit's libraries export, where there is one. */
Test(small_remote_blas_daemon, every_function_of_the_toolkit_s_is_there)
{
	const char *home = getenv("CUDA_HOME"), *out;
	int rc = shell(&out,
		       "cd '%s/lib64' 2>/dev/null && [ -e libcublasLt.so.13 ] && nm -D "
		       "--defined-only libcublas.so.13 libcublasLt.so.13 | sed -n 's/.* T "
		       "\\(cublas[^@]*\\).*/\\1/p' | sort -u >'%s/theirs'",
		       home ? home : "/usr/local/cuda", getenv("XDG_RUNTIME_DIR"));

	if (rc)
		cr_skip("needs libcublas.so.13 and libcublasLt.so.13 of a toolkit in CUDA_HOME");
	rc = shell(&out,
		   "nm -D --defined-only '%s' | sed -n 's/.* [TW] \\(cublas.*\\)/\\1/p' | sort -u "
		   ">'%s/ours'; comm -23 '%s/theirs' '%s/ours'",
		   client_library(), getenv("XDG_RUNTIME_DIR"), getenv("XDG_RUNTIME_DIR"),
		   getenv("XDG_RUNTIME_DIR"));
	cr_assert(zero(int, rc));
	cr_assert(eq(str, (char *)out, ""));
}
