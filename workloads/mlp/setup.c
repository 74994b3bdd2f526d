/* setup.c - data, network, products and one step of it, which also says what a step launches. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/cuda_check.h"
#include "common/device.h"
#include "common/interrupt.h"
#include "workloads/mlp/mlp.h"

static int get_data(const struct mlp_opts *o, struct mlp_state *s)
{
	const struct mlp_data_wish wish = { (enum mlp_data_kind)o->data, o->folder, o->images,
					    (uint64_t)o->data_seed };
	int err = mlp_data_get(&wish, &s->data);

	if (!err && o->sheet)
		err = mlp_write_sheet(&s->data->train, o->sheet);
	return err;
}

/* The gaps between tensors are 0 and stay so. */
static void fill_initial(const struct mlp_opts *o, struct mlp_state *s)
{
	const struct mlp_net *net = &s->net;

	CUDA(cudaMemsetAsync(s->initial, 0, net->numbers * sizeof(float), s->own));
	for (int l = 1; l <= net->last; l++)
		mlp_init(s->initial + net->weight_at[l],
			 (uint32_t)(net->width[l - 1] * net->width[l]), (uint32_t)net->width[l - 1],
			 (uint32_t)l, (uint64_t)o->seed, s->own);
}

/* What a data loader hands over: with fixed copies in graphs, the same first minibatch each time.
 */
static void fill_pinned(const struct mlp_opts *o, struct mlp_state *s)
{
	const struct mlp_images *im = &s->data->train;

	for (uint32_t r = 0; r < s->batch; r++) {
		uint32_t at = mlp_sample(0, s->batch, r, (uint32_t)im->n, (uint64_t)o->seed);

		memcpy(s->pinned + (size_t)r * MLP_PIXELS, im->pixel + (size_t)at * MLP_PIXELS,
		       MLP_PIXELS);
		s->pinned[(size_t)s->batch * MLP_PIXELS + r] = im->label[at];
	}
}

static void fill_source(const struct mlp_opts *o, struct mlp_state *s)
{
	const struct mlp_images *im = &s->data->train_device;

	s->source = (struct mlp_source){
		.pixel = im->pixel,
		.label = im->label,
		.n = (uint32_t)im->n,
		.step = &s->progress->step,
		.seed = (uint64_t)o->seed,
	};
	if (o->input == MLP_DEVICE)
		return;
	fill_pinned(o, s);
	s->source = (struct mlp_source){
		.pixel = s->staged,
		.label = s->staged + (size_t)s->batch * MLP_PIXELS,
		.n = s->batch,
	};
}

static void make_streams(struct mlp_state *s)
{
	CUDA(cudaStreamCreateWithFlags(&s->own, cudaStreamNonBlocking));
	CUDA(cudaStreamCreateWithFlags(&s->side, cudaStreamNonBlocking));
	for (int l = 0; l <= s->net.hidden; l++)
		CUDA(cudaEventCreateWithFlags(&s->ready[l], cudaEventDisableTiming));
	CUDA(cudaEventCreateWithFlags(&s->joined, cudaEventDisableTiming));
}

/* ---- the step at setup ----------------------------------------------------------------- */

static int kernels_in(cudaGraph_t graph)
{
	enum cudaGraphNodeType type;
	cudaGraphNode_t *node;
	int kernels = 0;
	size_t n = 0;

	CUDA(cudaGraphGetNodes(graph, NULL, &n));
	node = calloc(n + 1, sizeof(*node));
	CHECK(node, "%zu nodes", n);
	CUDA(cudaGraphGetNodes(graph, node, &n));
	for (size_t i = 0; i < n; i++) {
		CUDA(cudaGraphNodeGetType(node[i], &type));
		kernels += type == cudaGraphNodeTypeKernel;
	}
	free(node);
	return kernels;
}

struct counting {
	const struct mlp_opts *o;
	struct mlp_state *s;
};

static int count_kernels(void *arg)
{
	struct counting *c = arg;
	struct mlp_state *s = c->s;
	cudaGraph_t graph;

	CUDA(cudaStreamBeginCapture(s->own, cudaStreamCaptureModeGlobal));
	mlp_step(c->o, s, s->own);
	CUDA(cudaStreamEndCapture(s->own, &graph));
	s->kernels = kernels_in(graph);
	CUDA(cudaGraphDestroy(graph));
	return 0;
}

/*
 * Loads every kernel, cuBLAS's too; then counts what a step launches: a product may be two. Where
 * nothing can be captured that stays unknown, and streams are measured all the same; but where a
 * capture cannot be ended, nothing can be waited for any more.
 */
void mlp_try_step(const struct mlp_opts *o, struct mlp_state *s)
{
	struct counting c = { o, s };
	struct refusal refusal;

	mlp_reset(o, s, s->own);
	mlp_step(o, s, s->own);
	CUDA(cudaStreamSynchronize(s->own));
	if (refusal_catch(count_kernels, &c, &refusal)) {
		s->kernels = 0;
		refusal_settle_or_pass_on(s->own, &refusal);
	}
}

int mlp_setup(const void *opts, void *state)
{
	const struct mlp_opts *o = opts;
	struct mlp_state *s = state;
	int err = device_present();

	if (err)
		return err;
	if (o->work == MLP_INFERENCE)
		return mlp_infer_setup(o, s);
	s->net = mlp_make_net(o);
	s->batch = (uint32_t)o->batch;
	s->half = o->precision == MLP_BF16;
	s->number = s->half ? CUDA_R_16BF : CUDA_R_32F;
	s->processors = device_attribute(cudaDevAttrMultiProcessorCount);
	err = mlp_allocate_all(o, s);
	err = err ? err : get_data(o, s);
	err = err ? err : mlp_products_init(o, s);
	if (err)
		return err;
	make_streams(s);
	fill_initial(o, s);
	fill_source(o, s);
	if (o->launches == MLP_ONE)
		err = mlp_prepare_one(o, s);
	if (err)
		return err;
	mlp_fill_update(o, s);
	CUDA(cudaDeviceSynchronize()); /* what was copied in other streams has arrived */
	mlp_try_step(o, s);
	return interrupted() ? -EINTR : 0;
}

void mlp_teardown(void *state)
{
	struct mlp_state *s = state;

	mlp_products_release(&s->products);
	dataset_release(&s->infer.set);
	if (s->own)
		CUDA(cudaStreamDestroy(s->own));
	if (s->side)
		CUDA(cudaStreamDestroy(s->side));
	for (int l = 0; l <= MLP_LAYERS_MAX; l++)
		if (s->ready[l])
			CUDA(cudaEventDestroy(s->ready[l]));
	if (s->joined)
		CUDA(cudaEventDestroy(s->joined));
	if (s->pinned)
		CUDA(cudaFreeHost(s->pinned));
	while (s->n_owned)
		CUDA(cudaFree(s->owned[--s->n_owned]));
	if (s->data)
		mlp_data_put(s->data);
	free(s->history.loss);
	free(s->history.accuracy);
	memset(s, 0, sizeof(*s));
}
