/*
 * mlp.h - the mlp workload: a multi-layer perceptron trained on images of digits.
 *
 * A step is one minibatch: forward, loss, backward, update; with work=inference one forward pass
 * (infer.h). Options and what they mean: README.md.
 */
#ifndef RIFT_MLP_H
#define RIFT_MLP_H

#include "common/blas.h"
#include "common/dataset.h"
#include "common/param.h"
#include "workloads/mlp/data.h"
#include "workloads/mlp/device.h"
#include "workloads/mlp/infer.h"
#include "workloads/mlp/kernels.h"
#include "workloads/hooks.h"

#ifdef __cplusplus
extern "C" {
#endif

enum mlp_work { MLP_TRAINING, MLP_INFERENCE };
enum mlp_model { MLP_SMALL, MLP_WIDE, MLP_DEEP };
enum mlp_precision { MLP_FP32, MLP_TF32, MLP_BF16, MLP_FP16 };
enum mlp_launches { MLP_FEW, MLP_MANY, MLP_ONE };
enum mlp_input { MLP_DEVICE, MLP_HOST };
enum mlp_epilogues { MLP_EPILOGUES_NO, MLP_EPILOGUES_FORWARD, MLP_EPILOGUES_YES };
enum mlp_fork { MLP_FORK_IN_GRAPHS, MLP_FORK_NEVER, MLP_FORK_ALWAYS };

struct mlp_opts {
	int64_t batch;
	int work;  /* enum mlp_work */
	int model; /* enum mlp_model */
	struct param_list hidden;
	int features;	 /* 32 or 64 of an input, as mlp_features() says; work=inference */
	int64_t batches; /* likewise */
	int precision;	 /* enum mlp_precision */
	int launches;	 /* enum mlp_launches */
	int input;	 /* enum mlp_input */
	int epilogues;	 /* enum mlp_epilogues */
	int fork;	 /* enum mlp_fork */
	double rate, momentum;
	int64_t seed;
	int data; /* enum mlp_data_kind */
	const char *folder;
	int64_t images, data_seed;
	int64_t epochs;
	const char *sheet;
};

/* rate=, or what goes with the network. */
double mlp_rate(const struct mlp_opts *o);

/* Numbers of an input of inference. */
static inline int64_t mlp_features(const struct mlp_opts *o)
{
	return 32ll << o->features;
}

/* ---- the network (net.c) --------------------------------------------------------------- */

/* Layer l has width[l]; parameters lie in one array, W_1, b_1, W_2, ..., each where a line begins.
 */
struct mlp_net {
	int hidden, last;		      /* last: the output layer, hidden + 1 */
	int64_t width[MLP_LAYERS_MAX + 1];    /* from the input's 784, or features, to 10 or 16 */
	size_t weight_at[MLP_LAYERS_MAX + 1]; /* of layer l, counted in numbers */
	size_t bias_at[MLP_LAYERS_MAX + 1];
	size_t numbers;	    /* of the array */
	int64_t parameters; /* without the gaps */
};

struct mlp_net mlp_make_net(const struct mlp_opts *o);
void mlp_net_text(const struct mlp_net *net, char *text, size_t bytes); /* "784-128-10" */

/* ---- products (products.c) ------------------------------------------------------------- */

/* D = op(A) op(B), columns first; D is m x n. */
struct mlp_gemm {
	bool trans_a, trans_b;
	int m, n, k, lda, ldb, ldd;
	const void *a, *b;
	void *d;
	bool wide; /* D is float, whatever A and B are */
};

/* A product as cuBLASLt takes it, and what it does on top. */
struct mlp_plan {
	struct mlp_gemm gemm;
	cublasLtMatmulDesc_t desc; /* NULL: not planned */
	cublasLtMatrixLayout_t a, b, d;
	cublasLtMatmulAlgo_t algo;
	bool fused; /* the epilogue does what a kernel of ours would do else */
};

enum { MLP_BRANCHES = 2 }; /* streams that products may run in at a time */

struct mlp_products {
	const struct blas *blas;
	cublasHandle_t handle; /* launches=many */
	cudaStream_t stream;   /* that the handle stands at */
	cublasLtHandle_t lt;   /* launches=few */
	struct mlp_plan forward[MLP_LAYERS_MAX + 1], back[MLP_LAYERS_MAX + 1],
		weight[MLP_LAYERS_MAX + 1];
	void *workspace[MLP_BRANCHES];
};

/* ---- the state ------------------------------------------------------------------------- */

enum { MLP_OWNED_MAX = 128 };

enum { MLP_TESTS = 4 }; /* an epoch */

/* How a training by epochs went. */
struct mlp_history {
	float *loss; /* of each step */
	int64_t steps;
	double *accuracy; /* at the start and MLP_TESTS times an epoch; shares of the test set */
	int64_t epochs;
};

/* work=inference. */
struct mlp_inference {
	struct dataset set; /* batches and their outputs */
	struct mlp_infer_launch launch;
	void *weight;	     /* as infer.h says */
	void *activation[2]; /* launches=few: of odd and even layers, [batch][width] */
};

/* Device memory unless said otherwise; index l is the layer. */
struct mlp_state {
	struct mlp_net net;
	uint32_t batch;
	bool half;	     /* activations and what flows back are bf16; of inference fp16 */
	cudaDataType number; /* what they are */
	int processors;	     /* of the device: SMs */
	const struct mlp_data *data;
	struct mlp_source source;

	float *weight, *velocity, *initial, *gradient; /* arrays as net says */
	uint16_t *copy;				       /* of weight in bf16, or NULL */
	void *activation[MLP_LAYERS_MAX + 1];	       /* [batch][width]; 0: the input */
	void *delta[MLP_LAYERS_MAX + 1];	       /* dloss/dZ, [batch][width] */
	void *mask[MLP_LAYERS_MAX + 1];		       /* a bit for each activation above 0 */
	uint16_t *bias_gradient_half;		       /* as gradient; biases only */
	float *relu_part[MLP_LAYERS_MAX + 1]; /* sums of delta, where no epilogue makes them */
	float *head_part;
	uint64_t head_stride;
	uint8_t *label, *bytes; /* of the batch; its pixels as they come */
	float *loss;		/* of each sample */
	float *logits, *log_p;	/* launches=many */
	struct mlp_progress *progress;
	struct mlp_update update; /* of the host; launches=few */
	struct mlp_one one;	  /* likewise; launches=one */

	uint8_t *pinned, *staged; /* input=host: a minibatch and its labels, on host and device */
	struct mlp_products products;
	cudaStream_t own, side;
	cudaEvent_t ready[MLP_LAYERS_MAX + 1], joined;
	int kernels; /* launches a step, as counted; 0: no step can be captured here */
	struct mlp_history history;
	struct mlp_inference infer;

	void *owned[MLP_OWNED_MAX]; /* device memory to free */
	int n_owned;
};

/* ---- hooks, and what they share -------------------------------------------------------- */

int mlp_limits(const void *opts, struct limits *out);
int mlp_setup(const void *opts, void *state);
int mlp_reset(const void *opts, void *state, cudaStream_t stream);
int mlp_step(const void *opts, void *state, cudaStream_t stream);
int mlp_fused(const void *opts, void *state, cudaStream_t stream, int64_t n);
int mlp_check(const void *opts, void *state, int64_t steps, struct verdict *verdict);
int mlp_report(const void *opts, void *state, struct report *out);
int mlp_plot(const void *opts, void *state, struct plot *plot);
int mlp_cost(const void *opts, const void *state, struct cost *out);
void mlp_teardown(void *state);

/* The same of work=inference (infer.c, infer_check.c). */
int mlp_infer_limits(const struct mlp_opts *o);
int mlp_infer_setup(const struct mlp_opts *o, struct mlp_state *s);
void mlp_infer_reset(struct mlp_state *s, cudaStream_t stream);
void mlp_infer_step(const struct mlp_opts *o, struct mlp_state *s, cudaStream_t stream);
int mlp_infer_fused(struct mlp_state *s, cudaStream_t stream, int64_t n);
int mlp_infer_check(const struct mlp_opts *o, struct mlp_state *s, int64_t steps,
		    struct verdict *verdict);
void mlp_infer_cost(const struct mlp_opts *o, const struct mlp_state *s, struct cost *out);
struct mlp_gemm mlp_infer_gemm(const struct mlp_state *s, int l);
extern const struct dataset_work mlp_infer_work;

/* One step, which loads every kernel, and counts what a step launches (setup.c). */
void mlp_try_step(const struct mlp_opts *o, struct mlp_state *s);

/* Device memory of the state's (memory.c). 0, or -ENOMEM after a line. */
int mlp_allocate(struct mlp_state *s, void *out, size_t bytes);

/* Everything but products and data; needs the net. 0, or -ENOMEM after a line. */
int mlp_allocate_all(const struct mlp_opts *o, struct mlp_state *s);

/* Images as launches=one takes them, and where all else is. 0, or an errno after a line. */
int mlp_prepare_one(const struct mlp_opts *o, struct mlp_state *s);

/* Which buffers hold the gradient of which tensor; after the products have been planned. */
void mlp_fill_update(const struct mlp_opts *o, struct mlp_state *s);

/* The products of layer l: Z_l; dloss/dA_l from layer l + 1; dW_l. */
struct mlp_gemm mlp_gemm_forward(const struct mlp_state *s, int l);
struct mlp_gemm mlp_gemm_back(const struct mlp_state *s, int l);
struct mlp_gemm mlp_gemm_weight(const struct mlp_state *s, int l);

/* Loads the library and chooses algorithms. 0, or an errno after a line. */
int mlp_products_init(const struct mlp_opts *o, struct mlp_state *s);
void mlp_products_release(struct mlp_products *p);

/* Enqueues a planned product, in branch 0 or 1. */
void mlp_run_plan(const struct mlp_state *s, const struct mlp_plan *plan, int branch,
		  cudaStream_t stream);

/* The same without a plan: the library chooses at each call, as it does for most programs. */
void mlp_run_gemm(const struct mlp_opts *o, struct mlp_state *s, const struct mlp_gemm *g,
		  cudaStream_t stream);

/* Enqueues input and hidden layers for a batch from the source. */
void mlp_forward(const struct mlp_opts *o, struct mlp_state *s, const struct mlp_source *source,
		 cudaStream_t stream);

/* The last layer, as kernels take it. */
struct mlp_head mlp_head_of(const struct mlp_state *s);

/* Sums up weights and velocities: a number for all their bits, and how many are not finite. */
struct mlp_sum {
	uint64_t bits, odd;
};
struct mlp_sum mlp_fingerprint_weights(struct mlp_state *s);

/*
 * Steps done since the reset, by the device's own count, and the loss of one of the last
 * MLP_LOSSES; after a synchronize.
 */
uint64_t mlp_steps_done(const struct mlp_state *s);
float mlp_step_loss(const struct mlp_state *s, uint64_t step);

/* W or b of a layer. */
const struct mlp_tensor *mlp_find_tensor(const struct mlp_state *s, int layer, bool bias);

/* Share of the test set that is classified rightly (app_train.c). -EINTR where interrupted. */
int mlp_test_accuracy(const struct mlp_opts *o, struct mlp_state *s, double *share);

/* Trains for so many epochs from a reset and keeps the history. Returns 0 or -EINTR. */
int mlp_train(const struct mlp_opts *o, struct mlp_state *s, int64_t epochs);

/* Steps until so many MLP_TESTS-th parts of epochs are over, the last one perhaps not whole. */
int64_t mlp_steps_for(const struct mlp_state *s, int64_t parts);

/* The mean loss of steps from to to - 1. */
double mlp_mean_loss(const struct mlp_history *h, int64_t from, int64_t to);

extern const struct workload workload_mlp;

#ifdef __cplusplus
}
#endif
#endif
