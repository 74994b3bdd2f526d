/*
 * mlp.c - the mlp workload: its parameters, what they allow, and its entry in the table.
 *
 * A step trains a multilayer perceptron on one minibatch of images (step.c):
 *
 *   gather     rows of the minibatch: pixels / 255 and labels               kernels_data.cu
 *   forward    for each hidden layer Z = A W by cuBLAS, bias and ReLU fused gemm.c, products.c
 *   output     logits, softmax, loss, and what flows back, in one launch    kernels_head.cu
 *   backward   for each layer dW by cuBLAS, and what flows on to the next   gemm.c, products.c
 *   update     momentum and weights of all tensors; the step is counted     kernels_update.cu
 *
 * With launches=many each elementary operation is a launch (kernels_many.cu). check.c repeats the
 * steps and compares the last one with reference.c.
 *
 * With work=inference a step is one forward pass of another network (infer.h), by a product per
 * layer or in one launch (infer.c, kernels_infer.cu).
 */
#include "workloads/mlp/mlp.h"

#include <errno.h>

#include "common/check.h"
#include "workloads/workload.h"

static const char *const works[] = { "training", "inference", NULL };
static const char *const models[] = { "small", "wide", "deep", NULL };
static const char *const features[] = { "32", "64", NULL }; /* mlp_features() */
static const char *const precisions[] = { "fp32", "tf32", "bf16", "fp16", NULL };
static const char *const launches[] = { "few", "many", "one", NULL };
static const char *const inputs[] = { "device", "host", NULL };
static const char *const epilogues[] = { "no", "forward", "yes", NULL };
static const char *const forks[] = { "graph", "no", "yes", NULL };
static const char *const sources[] = { "auto", "idx", "generated", NULL };

/* clang-format off */
static const struct param params[] = {
	PARAM_AXIS(mlp_opts, batch, "images", "64", 1, MLP_INFER_BATCH_MAX,
		   "16,32,64,128,256,512,1k,2k,4k,8k,16k", "images of a minibatch"),
	PARAM_CHOICE(mlp_opts, work, "training", works,
		     "a step trains with a minibatch, or is a forward pass of a network in "
		     "tiny-cuda-nn's shape"),
	PARAM_CHOICE(mlp_opts, model, "small", models,
		     "784-128-10, 784-512-512-10, or eight hidden layers of 256"),
	PARAM_LIST(mlp_opts, hidden, "units", "0", 0, MLP_WIDTH_MAX,
		   "widths of 1 to 16 hidden layers, 8 or more each, instead of model=; 0: the model's"),
	PARAM_CHOICE(mlp_opts, features, "64", features, "numbers of an input of inference"),
	PARAM_INT(mlp_opts, batches, "1", "2", 1, SLOTS_MAX,
		  "batches of inference that steps use in turn"),
	PARAM_CHOICE(mlp_opts, precision, "fp32", precisions,
		     "precision of products; all but fp32 need a GPU; fp16 is for inference"),
	PARAM_CHOICE_ASIDE(mlp_opts, launches, "few", launches, "few,many",
			   "operations fused into few launches, one by one as in plain frameworks, or "
			   "all of them in one, on a GPU with clusters"),
	PARAM_CHOICE_ASIDE(mlp_opts, input, "device", inputs, "device,host",
			   "images lie on the device, or a minibatch is copied from the host each step"),
	PARAM_CHOICE(mlp_opts, epilogues, "forward", epilogues,
		     "what cuBLASLt does besides products: biases and ReLU; yes: gradients of "
		     "these too"),
	PARAM_CHOICE(mlp_opts, fork, "graph", forks,
		     "gradients of weights in a second stream: in graphs, never, always"),
	PARAM_REAL(mlp_opts, rate, "1", "-1", -1, 1000,
		   "learning rate; -1: 0.1, with more than one hidden layer 0.02"),
	PARAM_REAL(mlp_opts, momentum, "1", "0.9", 0, 1, "share of the velocity kept from step "
							 "to step"),
	PARAM_INT(mlp_opts, seed, "1", "1", 0, 9007199254740992.0,
		  "seed of the weights and of the order of images"),
	PARAM_CHOICE(mlp_opts, data, "auto", sources,
		     "IDX files or drawn digits; auto: files where data/mnist has them"),
	PARAM_PATH(mlp_opts, folder, "folder of the IDX files, raw or gzip, instead of data/mnist"),
	PARAM_INT(mlp_opts, images, "images", "60000", 1, 1000000,
		  "drawn images to train with; a sixth as many to test with"),
	PARAM_INT(mlp_opts, data_seed, "1", "1", 0, 9007199254740992.0, "seed of drawn images"),
	PARAM_INT(mlp_opts, epochs, "epochs", "0", 0, 1000,
		  "epochs to train from the start after the measurement, with their results"),
	PARAM_PATH_OUT(mlp_opts, sheet, "PNG to write: some of the images, a row for each digit"),
	PARAM_END
};
/* clang-format on */

/* clang-format off */
static const struct param_need needs[] = {
	{ "folder", "data=auto|idx" },	  { "images", "data=auto|generated" },
	{ "images", "!folder" },	  { "data_seed", "data=auto|generated" },
	{ "data_seed", "!folder" },	  { "epilogues", "launches=few" },
	{ "fork", "launches=few" },	  { "input", "launches=few|many" },
	{ "features", "work=inference" }, { "batches", "work=inference" },
	{ "model", "work=training" },	  { "input", "work=training" },
	{ "epilogues", "work=training" }, { "fork", "work=training" },
	{ "rate", "work=training" },	  { "momentum", "work=training" },
	{ "data", "work=training" },	  { "folder", "work=training" },
	{ "images", "work=training" },	  { "data_seed", "work=training" },
	{ "epochs", "work=training" },	  { "sheet", "work=training" },
	{ NULL, NULL },
};
/* clang-format on */

/* Points of earlier sessions trained. */
static const char *const added[] = { "work", "features", "batches", NULL };

double mlp_rate(const struct mlp_opts *o)
{
	const double of_one_layer = 0.1, of_more = 0.02;

	if (o->rate >= 0)
		return o->rate;
	return mlp_make_net(o).hidden > 1 ? of_more : of_one_layer;
}

static int check_hidden(const struct mlp_opts *o)
{
	const struct param_list *h = &o->hidden;

	if (!h->value[0] && h->n == 1)
		return 0;
	if (o->model != MLP_SMALL)
		return complain(EINVAL,
				"hidden= and model=%s both choose the layers; give one of them",
				models[o->model]);
	if (h->n > MLP_HIDDEN_MAX)
		return complain(EINVAL, "hidden= names %d layers; must be at most %d", h->n,
				MLP_HIDDEN_MAX);
	for (int i = 0; i < h->n; i++)
		if (h->value[i] < MLP_WIDTH_MIN)
			return complain(EINVAL,
					"hidden= has a layer of %ld; widths must be %d to %d",
					(long)h->value[i], MLP_WIDTH_MIN, MLP_WIDTH_MAX);
	return 0;
}

/* launches=one is made for the small model, whose weights a cluster's registers hold. */
static int check_one(const struct mlp_opts *o)
{
	struct mlp_net net = mlp_make_net(o);

	if (o->precision != MLP_FP32)
		return complain(EINVAL, "launches=one trains in fp32; leave out precision=%s",
				precisions[o->precision]);
	if (net.hidden != 1 || net.width[1] != MLP_ONE_WIDTH)
		return complain(EINVAL,
				"launches=one is for one hidden layer of %d units; leave "
				"out model= and hidden=",
				MLP_ONE_WIDTH);
	if (o->batch > MLP_ONE_BATCH_MAX)
		return complain(EINVAL, "launches=one: batch=%ld must be at most %d",
				(long)o->batch, MLP_ONE_BATCH_MAX);
	return 0;
}

static int check_training(const struct mlp_opts *o)
{
	if (o->precision == MLP_FP16)
		return complain(EINVAL, "precision=fp16 is for work=inference; training has bf16");
	if (o->batch > MLP_BATCH_MAX)
		return complain(EINVAL, "batch=%ld must be at most %d with work=training",
				(long)o->batch, MLP_BATCH_MAX);
	return o->launches == MLP_ONE ? check_one(o) : 0;
}

int mlp_limits(const void *opts, struct limits *out)
{
	const struct mlp_opts *o = opts;
	int err;

	if (o->rate < 0 && o->rate != -1)
		return complain(EINVAL, "rate=%g: give 0 or more, or -1 for the network's own",
				o->rate);
	if (o->epochs && o->input == MLP_HOST)
		return complain(EINVAL,
				"epochs=%ld: input=host copies the same minibatch each step, from "
				"which nothing is learnt; use input=device",
				(long)o->epochs);
#ifdef RIFT_CPU_DEVICE
	if (o->precision != MLP_FP32)
		out->device_refused = "precision=tf32, bf16 and fp16 need a GPU's tensor cores";
	if (o->launches == MLP_ONE && o->work == MLP_TRAINING)
		out->device_refused = mlp_one_refused();
#endif
	if (o->launches != MLP_ONE)
		out->mode_refused[MODE_FUSED] = "a step is several kernels, which is more than one "
						"launch; with launches=one "
						"it is one";
	err = check_hidden(o);
	if (err)
		return err;
	return o->work == MLP_TRAINING ? check_training(o) : mlp_infer_limits(o);
}

/* Inference counts launches in it, and a fused one is one. */
static void scratch(const void *opts, const void *state, struct scratch *out)
{
	const struct mlp_state *s = state;
	struct slots_counter *counter = s->infer.set.counter;

	(void)opts;
	if (counter)
		out->part[out->n++] = (struct scratch_part){ counter, sizeof(*counter) };
}

const struct workload workload_mlp = {
	.name = "mlp",
	.summary = "a multi-layer perceptron that learns handwritten digits, by minibatches",
	.source = "MNIST by LeCun, Cortes and Burges; SGD with momentum; the shape of PyTorch's "
		  "example",
	.step_unit = "minibatch",
	.params = params,
	.needs = needs,
	.added = added,
	.opts_size = sizeof(struct mlp_opts),
	.state_size = sizeof(struct mlp_state),
	.limits = mlp_limits,
	.setup = mlp_setup,
	.reset = mlp_reset,
	.step = mlp_step,
	.fused = mlp_fused,
	.check = mlp_check,
	.report = mlp_report,
	.plot = mlp_plot,
	.cost = mlp_cost,
	.scratch = scratch,
	.teardown = mlp_teardown,
};
