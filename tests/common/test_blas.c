/*
 * test_blas.c - products through common/blas.h on the device that was built for, against sums in
 * double: every transposition, odd sizes, epilogues, graphs.
 */
#include "tests/plain.h"
#include "common/blas.h"
#include "common/cuda_check.h"
#include "tests/cli.h"

TestSuite(small_blas, .timeout = 300);

enum { WORKSPACE = 32 << 20, MASK_LD = 128 };

/* Columns first; ld larger than need be. */
struct matrix {
	int rows, cols, ld;
	float *host, *device;
};

static float draw(uint32_t *state)
{
	*state = *state * 1664525u + 1013904223u;
	return (float)(int32_t)*state / 2147483648.0f;
}

static size_t bytes_of(const struct matrix *m)
{
	return (size_t)m->ld * (size_t)m->cols * sizeof(float);
}

static struct matrix matrix_new(int rows, int cols, uint32_t seed)
{
	struct matrix m = { rows, cols, rows + (int)(seed % 3), NULL, NULL };
	size_t n = (size_t)m.ld * (size_t)m.cols;

	m.host = malloc(n * sizeof(float));
	CHECK(m.host, "memory");
	for (size_t i = 0; i < n; i++)
		m.host[i] = draw(&seed);
	CUDA(cudaMalloc((void **)&m.device, bytes_of(&m)));
	CUDA(cudaMemcpy(m.device, m.host, bytes_of(&m), cudaMemcpyHostToDevice));
	return m;
}

/* Filled with NaN: results must not depend on what was there. */
static struct matrix matrix_out(int rows, int cols)
{
	struct matrix m = matrix_new(rows, cols, 1);

	CUDA(cudaMemset(m.device, 0xff, bytes_of(&m)));
	return m;
}

static void matrix_get(struct matrix *m)
{
	CUDA(cudaDeviceSynchronize());
	CUDA(cudaMemcpy(m->host, m->device, bytes_of(m), cudaMemcpyDeviceToHost));
}

static void matrix_free(struct matrix *m)
{
	CUDA(cudaFree(m->device));
	free(m->host);
}

static float at(const struct matrix *m, bool trans, int row, int col)
{
	return trans ? m->host[(size_t)row * (size_t)m->ld + (size_t)col]
		     : m->host[(size_t)col * (size_t)m->ld + (size_t)row];
}

static double dot(const struct matrix *a, bool trans_a, const struct matrix *b, bool trans_b,
		  int row, int col)
{
	int k = trans_a ? a->rows : a->cols;
	double sum = 0;

	for (int l = 0; l < k; l++)
		sum += (double)at(a, trans_a, row, l) * (double)at(b, trans_b, l, col);
	return sum;
}

static const struct blas *load(void)
{
	const struct blas *b;

	need_device();
	cr_assert(!blas_load(&b), "see stderr");
	return b;
}

Test(small_blas, versions_of_cublas)
{
	static const struct {
		unsigned version;
		const char *name;
	} rows[] = { { 130100, "cuBLAS 13.1.0" },
		     { 120605, "cuBLAS 12.6.5" },
		     { 131099, "cuBLAS 13.10.99" } };
	char name[BLAS_NAME];

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		blas_cublas_name(rows[i].version, name);
		cr_assert(!strcmp(name, rows[i].name), "%u: %s", rows[i].version, name);
	}
}

/* ---- cublasGemmEx ----------------------------------------------------------------------- */

/* From here on as bfloat16, on the host in floats. What is beyond a column is NaN. */
static void matrix_halve(struct matrix *m)
{
	size_t n = (size_t)m->ld * (size_t)m->cols;
	uint16_t *half = malloc(n * sizeof(*half));
	uint32_t bits;

	CHECK(half, "memory");
	for (size_t i = 0; i < n; i++) {
		memcpy(&bits, &m->host[i], sizeof(bits));
		half[i] = i % (size_t)m->ld < (size_t)m->rows ? (uint16_t)(bits >> 16) : 0xffff;
		bits = (uint32_t)half[i] << 16;
		memcpy(&m->host[i], &bits, sizeof(bits));
	}
	CUDA(cudaMemcpy(m->device, half, n * sizeof(*half), cudaMemcpyHostToDevice));
	free(half);
}

static void expect_product(const struct blas *b, cublasHandle_t handle, const int size[3],
			   int trans, cudaDataType type)
{
	const float one = 1, none = 0;
	int m = size[0], n = size[1], k = size[2];
	bool ta = trans & 1, tb = trans & 2;
	struct matrix a = ta ? matrix_new(k, m, 7) : matrix_new(m, k, 7);
	struct matrix c = matrix_out(m, n), bm = tb ? matrix_new(n, k, 8) : matrix_new(k, n, 8);

	if (type == CUDA_R_16BF) {
		matrix_halve(&a);
		matrix_halve(&bm);
	}
	BLAS(b,
	     b->cublasGemmEx(handle, ta ? CUBLAS_OP_T : CUBLAS_OP_N, tb ? CUBLAS_OP_T : CUBLAS_OP_N,
			     m, n, k, &one, a.device, type, a.ld, bm.device, type, bm.ld, &none,
			     c.device, CUDA_R_32F, c.ld, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
	matrix_get(&c);
	for (int j = 0; j < n; j++)
		for (int i = 0; i < m; i++) {
			double want = dot(&a, ta, &bm, tb, i, j);

			cr_assert(fabs((double)at(&c, false, i, j) - want) <= 1e-5 * (1 + sqrt(k)),
				  "%d x %d x %d, trans %d: (%d, %d) is %g, not %g", m, n, k, trans,
				  i, j, (double)at(&c, false, i, j), want);
		}
	matrix_free(&a);
	matrix_free(&bm);
	matrix_free(&c);
}

Test(small_blas, products_of_every_kind)
{
	static const int sizes[][3] = { { 1, 1, 1 },	 { 3, 2, 5 },	 { 8, 8, 8 },
					{ 10, 64, 128 }, { 31, 33, 17 }, { 128, 65, 96 },
					{ 257, 9, 3 } };
	const struct blas *b = load();
	cublasHandle_t handle;
	void *workspace;

	CUDA(cudaMalloc(&workspace, WORKSPACE));
	BLAS(b, b->cublasCreate(&handle));
	BLAS(b, b->cublasSetStream(handle, NULL));
	BLAS(b, b->cublasSetWorkspace(handle, workspace, WORKSPACE));
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		for (int trans = 0; trans < 4; trans++) {
			expect_product(b, handle, sizes[i], trans, CUDA_R_32F);
			expect_product(b, handle, sizes[i], trans, CUDA_R_16BF);
		}
	BLAS(b, b->cublasDestroy(handle));
	CUDA(cudaFree(workspace));
}

/* ---- cublasLtMatmul --------------------------------------------------------------------- */

/* D = epilogue(A B), with the operands of all of them. */
struct fixture {
	const struct blas *b;
	cublasLtHandle_t lt;
	struct matrix a, x, d, bias;
	void *mask, *workspace;
	cudaStream_t stream;
};

static struct fixture fixture_new(int m, int n, int k)
{
	struct fixture f = { .b = load() };

	f.a = matrix_new(m, k, 5);
	f.x = matrix_new(k, n, 6);
	f.d = matrix_out(m, n);
	f.bias = matrix_new(m, 1, 9);
	BLAS(f.b, f.b->cublasLtCreate(&f.lt));
	CUDA(cudaMalloc(&f.mask, (size_t)n * MASK_LD / 8));
	CUDA(cudaMalloc(&f.workspace, WORKSPACE));
	CUDA(cudaStreamCreateWithFlags(&f.stream, cudaStreamNonBlocking));
	CUDA(cudaDeviceSynchronize());
	return f;
}

static void fixture_free(struct fixture *f)
{
	matrix_free(&f->a);
	matrix_free(&f->x);
	matrix_free(&f->d);
	matrix_free(&f->bias);
	BLAS(f->b, f->b->cublasLtDestroy(f->lt));
	CUDA(cudaFree(f->mask));
	CUDA(cudaFree(f->workspace));
	CUDA(cudaStreamDestroy(f->stream));
}

static void set_attribute(const struct fixture *f, cublasLtMatmulDesc_t desc,
			  cublasLtMatmulDescAttributes_t name, const void *value, size_t bytes)
{
	BLAS(f->b, f->b->cublasLtMatmulDescSetAttribute(desc, name, value, bytes));
}

static cublasLtMatmulDesc_t describe(const struct fixture *f, uint32_t epilogue)
{
	const int64_t mask_ld = MASK_LD;
	cublasLtMatmulDesc_t desc;

	BLAS(f->b, f->b->cublasLtMatmulDescCreate(&desc, CUBLAS_COMPUTE_32F, CUDA_R_32F));
	set_attribute(f, desc, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof(epilogue));
	if (epilogue == CUBLASLT_EPILOGUE_RELU)
		return desc;
	set_attribute(f, desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &f->bias.device, sizeof(void *));
	if (epilogue == CUBLASLT_EPILOGUE_RELU_BIAS)
		return desc;
	set_attribute(f, desc, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, &f->mask, sizeof(void *));
	set_attribute(f, desc, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, &mask_ld, sizeof(mask_ld));
	return desc;
}

static cublasLtMatrixLayout_t layout_of(const struct fixture *f, const struct matrix *m)
{
	cublasLtMatrixLayout_t layout;

	BLAS(f->b, f->b->cublasLtMatrixLayoutCreate(&layout, CUDA_R_32F, (uint64_t)m->rows,
						    (uint64_t)m->cols, m->ld));
	return layout;
}

/* False where the library has no such epilogue, which only the GPU's may not. */
static bool find_algorithm(const struct fixture *f, cublasLtMatmulDesc_t desc,
			   cublasLtMatrixLayout_t l[3], cublasLtMatmulAlgo_t *algo)
{
	const uint64_t most = WORKSPACE;
	cublasLtMatmulHeuristicResult_t found;
	cublasLtMatmulPreference_t want;
	int n = 0;

	BLAS(f->b, f->b->cublasLtMatmulPreferenceCreate(&want));
	BLAS(f->b, f->b->cublasLtMatmulPreferenceSetAttribute(
			   want, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &most, sizeof(most)));
	f->b->cublasLtMatmulAlgoGetHeuristic(f->lt, desc, l[0], l[1], l[2], l[2], want, 1, &found,
					     &n);
	BLAS(f->b, f->b->cublasLtMatmulPreferenceDestroy(want));
	*algo = found.algo;
	return n > 0;
}

/* Submits f->times products, captured or not, and waits. False: there is no such epilogue. */
static bool multiply(struct fixture *f, uint32_t epilogue, bool captured)
{
	const float one = 1, none = 0;
	cublasLtMatmulDesc_t desc = describe(f, epilogue);
	cublasLtMatrixLayout_t l[3] = { layout_of(f, &f->a), layout_of(f, &f->x),
					layout_of(f, &f->d) };
	cublasLtMatmulAlgo_t algo;
	cudaGraphExec_t exec;
	cudaGraph_t graph;
	bool there = find_algorithm(f, desc, l, &algo);

	if (there && captured)
		CUDA(cudaStreamBeginCapture(f->stream, cudaStreamCaptureModeGlobal));
	if (there)
		BLAS(f->b, f->b->cublasLtMatmul(f->lt, desc, &one, f->a.device, l[0], f->x.device,
						l[1], &none, f->d.device, l[2], f->d.device, l[2],
						&algo, f->workspace, WORKSPACE, f->stream));
	if (there && captured) {
		CUDA(cudaStreamEndCapture(f->stream, &graph));
		CUDA(cudaGraphInstantiate(&exec, graph, 0));
		CUDA(cudaGraphLaunch(exec, f->stream));
		CUDA(cudaStreamSynchronize(f->stream));
		CUDA(cudaGraphExecDestroy(exec));
		CUDA(cudaGraphDestroy(graph));
	}
	CUDA(cudaStreamSynchronize(f->stream));
	for (int i = 0; i < 3; i++)
		BLAS(f->b, f->b->cublasLtMatrixLayoutDestroy(l[i]));
	BLAS(f->b, f->b->cublasLtMatmulDescDestroy(desc));
	return there;
}

static void expect_relu(struct fixture *f, const char *what, bool biased)
{
	matrix_get(&f->d);
	for (int j = 0; j < f->d.cols; j++)
		for (int i = 0; i < f->d.rows; i++) {
			double sum = dot(&f->a, false, &f->x, false, i, j);
			double bias = biased ? (double)f->bias.host[i] : 0,
			       want = fmax(sum + bias, 0);

			cr_assert(fabs((double)at(&f->d, false, i, j) - want) <= 1e-4,
				  "%s: (%d, %d) is %g, not %g", what, i, j,
				  (double)at(&f->d, false, i, j), want);
		}
}

/* What the mask of the forward pass lets through, and its sums over columns. */
static void expect_gradient(struct fixture *f, const struct matrix *forward)
{
	matrix_get(&f->d);
	matrix_get(&f->bias);
	for (int i = 0; i < f->d.rows; i++) {
		double sum = 0;

		for (int j = 0; j < f->d.cols; j++) {
			double want = at(forward, false, i, j) > 0
					      ? dot(&f->a, false, &f->x, false, i, j)
					      : 0;

			sum += want;
			cr_assert(fabs((double)at(&f->d, false, i, j) - want) <= 1e-4,
				  "(%d, %d) is %g, not %g", i, j, (double)at(&f->d, false, i, j),
				  want);
		}
		cr_assert(fabs((double)f->bias.host[i] - sum) <= 1e-3, "sum %d is %g, not %g", i,
			  (double)f->bias.host[i], sum);
	}
}

/* The bias is added, then what is below 0 is cut; the mask of it decides in the other direction. */
Test(small_blas, epilogues_there_and_back)
{
	struct fixture f = fixture_new(40, 24, 30);
	struct matrix forward = matrix_new(40, 24, 0);

	if (multiply(&f, CUBLASLT_EPILOGUE_RELU, false))
		expect_relu(&f, "RELU", false);
	if (multiply(&f, CUBLASLT_EPILOGUE_RELU_BIAS, false))
		expect_relu(&f, "RELU_BIAS", true);
	CUDA(cudaMemset(f.d.device, 0xff, bytes_of(&f.d)));
	if (multiply(&f, CUBLASLT_EPILOGUE_RELU_AUX_BIAS, false)) {
		expect_relu(&f, "RELU_AUX_BIAS", true);
		for (int j = 0; j < 24; j++)
			for (int i = 0; i < 40; i++)
				forward.host[j * forward.ld + i] = at(&f.d, false, i, j);
		CUDA(cudaMemset(f.bias.device, 0xff, bytes_of(&f.bias)));
		if (multiply(&f, CUBLASLT_EPILOGUE_DRELU_BGRAD, false))
			expect_gradient(&f, &forward);
	}
#ifdef RIFT_CPU_DEVICE
	cr_assert(multiply(&f, CUBLASLT_EPILOGUE_DRELU_BGRAD, false), "the CPU device has them");
#endif
	matrix_free(&forward);
	fixture_free(&f);
}

Test(small_blas, products_are_captured)
{
	struct fixture f = fixture_new(16, 8, 12);

	if (!multiply(&f, CUBLASLT_EPILOGUE_RELU_BIAS, true))
		cr_skip("no such epilogue");
	expect_relu(&f, "captured", true);
	fixture_free(&f);
}

Test(small_blas, it_has_a_name)
{
	const struct blas *b = load(), *again;

	cr_assert(strchr(b->name, ' '), "%s", b->name);
	cr_assert(!blas_load(&again) && again == b, "loaded twice");
	cr_assert(!strcmp(b->cublasGetStatusName(CUBLAS_STATUS_NOT_SUPPORTED),
			  "CUBLAS_STATUS_NOT_SUPPORTED"),
		  "%s", b->cublasGetStatusName(CUBLAS_STATUS_NOT_SUPPORTED));
}
