/* products.c - the matrix products of a step, by cuBLAS: which algorithms, which epilogues. */
#include <errno.h>
#include <string.h>

#include "common/cuda_check.h"
#include "workloads/mlp/mlp.h"

enum {
	WORKSPACE = 32 << 20, /* bytes: what NVIDIA recommends for compute capability 9.0 */
	SUGGESTIONS = 8,
};

static const float one = 1, none = 0;

static cudaDataType number_type(const struct mlp_state *s, bool wide)
{
	return wide ? CUDA_R_32F : s->number;
}

static cublasComputeType_t compute_type(const struct mlp_opts *o)
{
	return o->precision == MLP_TF32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
}

/* ---- launches=many --------------------------------------------------------------------- */

/* A new stream takes the workspace away. */
static void use_stream(struct mlp_products *p, cudaStream_t stream)
{
	if (p->stream == stream)
		return;
	BLAS(p->blas, p->blas->cublasSetStream(p->handle, stream));
	BLAS(p->blas, p->blas->cublasSetWorkspace(p->handle, p->workspace[0], WORKSPACE));
	p->stream = stream;
}

void mlp_run_gemm(const struct mlp_opts *o, struct mlp_state *s, const struct mlp_gemm *g,
		  cudaStream_t stream)
{
	struct mlp_products *p = &s->products;

	use_stream(p, stream);
	BLAS(p->blas,
	     p->blas->cublasGemmEx(p->handle, g->trans_a ? CUBLAS_OP_T : CUBLAS_OP_N,
				   g->trans_b ? CUBLAS_OP_T : CUBLAS_OP_N, g->m, g->n, g->k, &one,
				   g->a, number_type(s, false), g->lda, g->b, number_type(s, false),
				   g->ldb, &none, g->d, number_type(s, g->wide), g->ldd,
				   compute_type(o), CUBLAS_GEMM_DEFAULT));
}

/* ---- launches=few: plans --------------------------------------------------------------- */

/* What an epilogue works with. */
struct epilogue {
	uint32_t kind; /* cublasLtEpilogue_t */
	const void *bias;
	void *mask;
	int64_t mask_ld; /* bits */
};

static void set_attribute(const struct blas *b, struct mlp_plan *plan,
			  cublasLtMatmulDescAttributes_t name, const void *value, size_t bytes)
{
	BLAS(b, b->cublasLtMatmulDescSetAttribute(plan->desc, name, value, bytes));
}

static void describe_product(const struct mlp_opts *o, const struct mlp_state *s,
			     struct mlp_plan *plan, const struct epilogue *e)
{
	const struct blas *b = s->products.blas;
	const struct mlp_gemm *g = &plan->gemm;
	const int32_t trans_a = g->trans_a ? CUBLAS_OP_T : CUBLAS_OP_N;
	const int32_t trans_b = g->trans_b ? CUBLAS_OP_T : CUBLAS_OP_N;

	BLAS(b, b->cublasLtMatmulDescCreate(&plan->desc, compute_type(o), CUDA_R_32F));
	set_attribute(b, plan, CUBLASLT_MATMUL_DESC_TRANSA, &trans_a, sizeof(trans_a));
	set_attribute(b, plan, CUBLASLT_MATMUL_DESC_TRANSB, &trans_b, sizeof(trans_b));
	set_attribute(b, plan, CUBLASLT_MATMUL_DESC_EPILOGUE, &e->kind, sizeof(e->kind));
	if (e->bias)
		set_attribute(b, plan, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &e->bias,
			      sizeof(e->bias));
	if (e->mask) {
		set_attribute(b, plan, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, &e->mask,
			      sizeof(e->mask));
		set_attribute(b, plan, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, &e->mask_ld,
			      sizeof(e->mask_ld));
	}
}

static void describe_layouts(const struct mlp_state *s, struct mlp_plan *plan)
{
	const struct blas *b = s->products.blas;
	const struct mlp_gemm *g = &plan->gemm;
	int m = g->m, n = g->n, k = g->k;

	BLAS(b, b->cublasLtMatrixLayoutCreate(&plan->a, number_type(s, false),
					      (uint64_t)(g->trans_a ? k : m),
					      (uint64_t)(g->trans_a ? m : k), g->lda));
	BLAS(b, b->cublasLtMatrixLayoutCreate(&plan->b, number_type(s, false),
					      (uint64_t)(g->trans_b ? n : k),
					      (uint64_t)(g->trans_b ? k : n), g->ldb));
	BLAS(b, b->cublasLtMatrixLayoutCreate(&plan->d, number_type(s, g->wide), (uint64_t)m,
					      (uint64_t)n, g->ldd));
}

static void release_plan(const struct blas *b, struct mlp_plan *plan)
{
	if (!plan->desc)
		return;
	BLAS(b, b->cublasLtMatrixLayoutDestroy(plan->a));
	BLAS(b, b->cublasLtMatrixLayoutDestroy(plan->b));
	BLAS(b, b->cublasLtMatrixLayoutDestroy(plan->d));
	BLAS(b, b->cublasLtMatmulDescDestroy(plan->desc));
	plan->desc = NULL;
}

/* The library's first suggestion that works: a choice by times would not be the same each time. */
static bool choose_algorithm(const struct mlp_state *s, struct mlp_plan *plan)
{
	const struct blas *b = s->products.blas;
	const uint64_t most = WORKSPACE;
	cublasLtMatmulHeuristicResult_t found[SUGGESTIONS];
	cublasLtMatmulPreference_t want;
	cublasStatus_t status;
	int n = 0;

	BLAS(b, b->cublasLtMatmulPreferenceCreate(&want));
	BLAS(b, b->cublasLtMatmulPreferenceSetAttribute(
			want, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &most, sizeof(most)));
	status = b->cublasLtMatmulAlgoGetHeuristic(s->products.lt, plan->desc, plan->a, plan->b,
						   plan->d, plan->d, want, SUGGESTIONS, found, &n);
	BLAS(b, b->cublasLtMatmulPreferenceDestroy(want));
	for (int i = 0; !status && i < n; i++)
		if (found[i].state == CUBLAS_STATUS_SUCCESS) {
			plan->algo = found[i].algo;
			return true;
		}
	return false;
}

/* False where the library cannot; the plan is then none. */
static bool try_plan(const struct mlp_opts *o, const struct mlp_state *s, struct mlp_plan *plan,
		     const struct mlp_gemm *g, const struct epilogue *e)
{
	*plan = (struct mlp_plan){ .gemm = *g, .fused = e->kind != CUBLASLT_EPILOGUE_DEFAULT };
	describe_product(o, s, plan, e);
	describe_layouts(s, plan);
	if ((!plan->fused || o->epilogues != MLP_EPILOGUES_NO) && choose_algorithm(s, plan))
		return true;
	release_plan(s->products.blas, plan);
	return false;
}

static int plan_plain(const struct mlp_opts *o, const struct mlp_state *s, struct mlp_plan *plan,
		      const struct mlp_gemm *g)
{
	const struct epilogue plain = { .kind = CUBLASLT_EPILOGUE_DEFAULT };

	if (try_plan(o, s, plan, g, &plain))
		return 0;
	return complain(ENOTSUP, "%s has no algorithm for a product of %d x %d x %d",
			s->products.blas->name, g->m, g->n, g->k);
}

static struct epilogue with_mask(const struct mlp_state *s, int l, uint32_t which, const void *bias)
{
	return (struct epilogue){ which, bias, s->mask[l], (s->net.width[l] + 127) / 128 * 128 };
}

/* dReLU and the sums over the batch: a mask decides, which the forward product must leave. */
static bool fuse_back(const struct mlp_opts *o, struct mlp_state *s, int l)
{
	struct mlp_products *p = &s->products;
	size_t at = s->net.bias_at[l];
	const void *bias = s->half ? (void *)(s->copy + at) : (void *)(s->weight + at);
	const void *sums =
		s->half ? (void *)(s->bias_gradient_half + at) : (void *)(s->gradient + at);
	struct epilogue there = with_mask(s, l, CUBLASLT_EPILOGUE_RELU_AUX_BIAS, bias);
	struct epilogue back = with_mask(s, l, CUBLASLT_EPILOGUE_DRELU_BGRAD, sums);
	struct mlp_gemm forward = mlp_gemm_forward(s, l), backward = mlp_gemm_back(s, l);

	if (!try_plan(o, s, &p->back[l], &backward, &back))
		return false;
	if (try_plan(o, s, &p->forward[l], &forward, &there))
		return true;
	release_plan(p->blas, &p->back[l]);
	return false;
}

static int plan_forward(const struct mlp_opts *o, struct mlp_state *s, int l)
{
	size_t at = s->net.bias_at[l];
	struct mlp_gemm g = mlp_gemm_forward(s, l);
	struct epilogue e = {
		.kind = CUBLASLT_EPILOGUE_RELU_BIAS,
		.bias = s->half ? (void *)(s->copy + at) : (void *)(s->weight + at),
	};

	if (try_plan(o, s, &s->products.forward[l], &g, &e))
		return 0;
	return plan_plain(o, s, &s->products.forward[l], &g);
}

/* Plans a hidden layer. The output layer's kernel makes what flows back into the last one. */
static int plan_layer(const struct mlp_opts *o, struct mlp_state *s, int l)
{
	struct mlp_gemm back = mlp_gemm_back(s, l), weight = mlp_gemm_weight(s, l);
	int err = plan_plain(o, s, &s->products.weight[l], &weight);

	if (err || (l < s->net.hidden && o->epilogues == MLP_EPILOGUES_YES && fuse_back(o, s, l)))
		return err;
	err = plan_forward(o, s, l);
	if (!err && l < s->net.hidden)
		err = plan_plain(o, s, &s->products.back[l], &back);
	return err;
}

/* A layer of work=inference: without biases, and all but the last cut at 0. */
static int plan_inference(const struct mlp_opts *o, struct mlp_state *s, int l)
{
	const struct epilogue relu = { .kind = CUBLASLT_EPILOGUE_RELU };
	struct mlp_plan *plan = &s->products.forward[l];
	struct mlp_gemm g = mlp_infer_gemm(s, l);

	if (l == s->net.last)
		return plan_plain(o, s, plan, &g);
	if (try_plan(o, s, plan, &g, &relu))
		return 0;
	return complain(ENOTSUP, "%s has no algorithm for a product of %d x %d x %d with ReLU",
			s->products.blas->name, g.m, g.n, g.k);
}

void mlp_run_plan(const struct mlp_state *s, const struct mlp_plan *plan, int branch,
		  cudaStream_t stream)
{
	const struct blas *b = s->products.blas;
	const struct mlp_gemm *g = &plan->gemm;

	BLAS(b, b->cublasLtMatmul(s->products.lt, plan->desc, &one, g->a, plan->a, g->b, plan->b,
				  &none, g->d, plan->d, g->d, plan->d, &plan->algo,
				  s->products.workspace[branch], WORKSPACE, stream));
}

/* ---- begin and end --------------------------------------------------------------------- */

int mlp_products_init(const struct mlp_opts *o, struct mlp_state *s)
{
	struct mlp_products *p = &s->products;
	int err = blas_load(&p->blas);

	for (int i = 0; !err && i < MLP_BRANCHES; i++)
		err = mlp_allocate(s, &p->workspace[i], WORKSPACE);
	if (err)
		return err;
	if (o->launches == MLP_MANY) {
		p->stream = cudaStreamLegacy; /* none that steps come in */
		return blas_create(p->blas, &p->handle);
	}
	err = blas_create_lt(p->blas, &p->lt);
	for (int l = 1; !err && o->work == MLP_INFERENCE && l <= s->net.last; l++)
		err = plan_inference(o, s, l);
	for (int l = 1; !err && o->work == MLP_TRAINING && l <= s->net.hidden; l++)
		err = plan_layer(o, s, l);
	return err;
}

void mlp_products_release(struct mlp_products *p)
{
	for (int l = 0; l <= MLP_LAYERS_MAX; l++) {
		release_plan(p->blas, &p->forward[l]);
		release_plan(p->blas, &p->back[l]);
		release_plan(p->blas, &p->weight[l]);
	}
	if (p->lt)
		BLAS(p->blas, p->blas->cublasLtDestroy(p->lt));
	if (p->handle)
		BLAS(p->blas, p->blas->cublasDestroy(p->handle));
	memset(p, 0, sizeof(*p));
}
