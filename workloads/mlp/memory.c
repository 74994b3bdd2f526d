/* memory.c - the arrays of a network on the device, and which of them a gradient is in. */
#include <errno.h>
#include <string.h>

#include "common/cuda_check.h"
#include "common/device.h"
#include "workloads/mlp/mlp.h"

int mlp_allocate(struct mlp_state *s, void *out, size_t bytes)
{
	int err;

	CHECK(s->n_owned < MLP_OWNED_MAX, "%d arrays", s->n_owned);
	err = device_new(out, bytes, "use a smaller batch, or fewer or narrower layers");
	if (!err)
		memcpy(&s->owned[s->n_owned++], out, sizeof(*s->owned));
	return err;
}

static int allocate_parameters(struct mlp_state *s)
{
	size_t bytes = s->net.numbers * sizeof(float);
	int err = mlp_allocate(s, &s->weight, bytes);

	err = err ? err : mlp_allocate(s, &s->velocity, bytes);
	err = err ? err : mlp_allocate(s, &s->initial, bytes);
	err = err ? err : mlp_allocate(s, &s->gradient, bytes);
	if (!err && s->half)
		err = mlp_allocate(s, &s->copy, bytes / 2);
	if (!err && s->half)
		err = mlp_allocate(s, &s->bias_gradient_half, bytes / 2);
	return err;
}

/* Bits of a column of the mask: cuBLASLt wants a multiple of 128. */
static size_t mask_bytes(const struct mlp_state *s, int l)
{
	return ((size_t)s->net.width[l] + 127) / 128 * 16 * s->batch;
}

static int allocate_layer(struct mlp_state *s, int l)
{
	size_t numbers = (size_t)s->net.width[l] * s->batch;
	size_t bytes = numbers * (s->half && l < s->net.last ? 2 : sizeof(float));
	size_t parts = mlp_parts(s->batch) * (size_t)s->net.width[l] * sizeof(float);
	int err = 0;

	if (l < s->net.last)
		err = mlp_allocate(s, &s->activation[l], bytes);
	if (!err && l)
		err = mlp_allocate(s, &s->delta[l], bytes);
	if (!err && l && l < s->net.hidden)
		err = mlp_allocate(s, &s->mask[l], mask_bytes(s, l));
	if (!err && l && l < s->net.hidden)
		err = mlp_allocate(s, &s->relu_part[l], parts);
	return err;
}

static int allocate_head(struct mlp_state *s)
{
	size_t width = (size_t)s->net.width[s->net.hidden];
	size_t bytes = s->batch * MLP_CLASSES * sizeof(float);
	int err = mlp_allocate(s, &s->loss, s->batch * sizeof(float));

	s->head_stride = (width * (MLP_CLASSES + 1) + MLP_CLASSES + 3) / 4 * 4;
	err = err ? err
		  : mlp_allocate(s, &s->head_part,
				 mlp_parts(s->batch) * s->head_stride * sizeof(float));
	err = err ? err : mlp_allocate(s, &s->logits, bytes);
	return err ? err : mlp_allocate(s, &s->log_p, bytes);
}

static int allocate_host_input(struct mlp_state *s)
{
	size_t bytes = (size_t)s->batch * (MLP_PIXELS + 1);

	if (CUDA_RESULT(cudaMallocHost((void **)&s->pinned, bytes))) {
		cudaGetLastError();
		return complain(ENOMEM,
				"cannot allocate %zu bytes of page-locked memory on the host",
				bytes);
	}
	return mlp_allocate(s, &s->staged, bytes);
}

int mlp_allocate_all(const struct mlp_opts *o, struct mlp_state *s)
{
	int err = allocate_parameters(s);

	for (int l = 0; !err && l <= s->net.last; l++)
		err = allocate_layer(s, l);
	err = err ? err : allocate_head(s);
	err = err ? err : mlp_allocate(s, &s->label, s->batch);
	err = err ? err : mlp_allocate(s, &s->bytes, (size_t)s->batch * MLP_PIXELS);
	err = err ? err : mlp_allocate(s, &s->progress, sizeof(*s->progress));
	return !err && o->input == MLP_HOST ? allocate_host_input(s) : err;
}

/* ---- launches=one ---------------------------------------------------------------------- */

int mlp_prepare_one(const struct mlp_opts *o, struct mlp_state *s)
{
	const struct mlp_images *im = &s->data->train_device;
	const char *refused = mlp_one_refused();
	uint16_t *pixel;
	int err;

	if (refused)
		return complain(ENOTSUP, "launches=one: %s", refused);
	err = mlp_allocate(s, &pixel, (size_t)im->n * MLP_PIXELS * sizeof(*pixel));
	if (err)
		return err;
	mlp_one_images(im->pixel, pixel, im->n, s->own);
	s->one = (struct mlp_one){
		.pixel = pixel,
		.label = im->label,
		.images = (uint32_t)im->n,
		.batch = s->batch,
		.seed = (uint64_t)o->seed,
		.rate = (float)mlp_rate(o),
		.momentum = (float)o->momentum,
		.weight = s->weight,
		.velocity = s->velocity,
		.gradient = s->gradient,
		.hidden = s->activation[1],
		.w1_at = s->net.weight_at[1],
		.b1_at = s->net.bias_at[1],
		.w2_at = s->net.weight_at[2],
		.b2_at = s->net.bias_at[2],
		.progress = s->progress,
	};
	return 0;
}

/* ---- gradients ------------------------------------------------------------------------- */

static struct mlp_tensor *add_tensor(struct mlp_state *s, size_t at, int64_t n)
{
	struct mlp_tensor *t = &s->update.tensor[s->update.tensors++];

	*t = (struct mlp_tensor){
		.weight = s->weight + at,
		.velocity = s->velocity + at,
		.gradient = s->gradient + at,
		.copy = s->copy ? s->copy + at : NULL,
		.n = (uint32_t)n,
		.parts = 1,
	};
	return t;
}

static void set_parts(const struct mlp_state *s, struct mlp_tensor *t, const float *part,
		      uint64_t stride)
{
	t->gradient = part;
	t->parts = mlp_parts(s->batch);
	t->stride = stride;
}

/* The last layer's kernel leaves its own sums and those of the layer below. */
static void find_gradients(const struct mlp_state *s, int l, struct mlp_tensor *weight,
			   struct mlp_tensor *bias)
{
	size_t width = (size_t)s->net.width[s->net.hidden];

	if (l == s->net.last) {
		set_parts(s, weight, s->head_part, s->head_stride);
		set_parts(s, bias, s->head_part + width * MLP_CLASSES, s->head_stride);
	} else if (l == s->net.hidden) {
		set_parts(s, bias, s->head_part + (width + 1) * MLP_CLASSES, s->head_stride);
	} else if (!s->products.back[l].fused) {
		set_parts(s, bias, s->relu_part[l], (uint64_t)s->net.width[l]);
	} else if (s->half) {
		bias->gradient = s->bias_gradient_half + s->net.bias_at[l];
		bias->half = true;
	}
}

void mlp_fill_update(const struct mlp_opts *o, struct mlp_state *s)
{
	const struct mlp_net *net = &s->net;

	for (int l = 1; l <= net->last; l++) {
		struct mlp_tensor *w =
			add_tensor(s, net->weight_at[l], net->width[l - 1] * net->width[l]);
		struct mlp_tensor *b = add_tensor(s, net->bias_at[l], net->width[l]);

		if (o->launches == MLP_FEW)
			find_gradients(s, l, w, b);
	}
	s->update.batch = s->batch;
	s->update.rate = (float)mlp_rate(o);
	s->update.momentum = (float)o->momentum;
	s->update.loss = s->loss;
	s->update.progress = s->progress;
	mlp_update_blocks(&s->update);
}
