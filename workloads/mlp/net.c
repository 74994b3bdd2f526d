/* net.c - the layers, and where their parameters lie. */
#include <stdio.h>

#include "workloads/mlp/mlp.h"

enum { LINE = 64 }; /* numbers that a W or b begins at a multiple of: 256 bytes, in bf16 128 */

static const struct shape {
	int hidden;
	int64_t width;
} models[] = {
	[MLP_SMALL] = { 1, 128 },
	[MLP_WIDE] = { 2, 512 },
	[MLP_DEEP] = { 8, 256 },
}, inference = { 4, 64 };

static size_t reserve_line(size_t *at, int64_t n)
{
	size_t first = *at;

	*at += ((size_t)n + LINE - 1) / LINE * LINE;
	return first;
}

static void lay_out_tensors(struct mlp_net *net, bool biased)
{
	for (int l = 1; l <= net->last; l++) {
		int64_t n = net->width[l - 1] * net->width[l];

		net->weight_at[l] = reserve_line(&net->numbers, n);
		net->parameters += n;
		if (!biased)
			continue;
		net->bias_at[l] = reserve_line(&net->numbers, net->width[l]);
		net->parameters += net->width[l];
	}
}

struct mlp_net mlp_make_net(const struct mlp_opts *o)
{
	bool given = o->hidden.value[0] != 0, infers = o->work == MLP_INFERENCE;
	const struct shape *shape = infers ? &inference : &models[o->model];
	struct mlp_net net = { .hidden = shape->hidden };

	if (given)
		net.hidden = o->hidden.n;
	net.last = net.hidden + 1;
	net.width[0] = infers ? mlp_features(o) : MLP_PIXELS;
	net.width[net.last] = infers ? MLP_OUTPUTS : MLP_CLASSES;
	for (int l = 1; l <= net.hidden; l++)
		net.width[l] = given ? o->hidden.value[l - 1] : shape->width;
	lay_out_tensors(&net, !infers);
	return net;
}

void mlp_net_text(const struct mlp_net *net, char *text, size_t bytes)
{
	size_t at = 0;

	for (int l = 0; l <= net->last && at < bytes; l++)
		at += (size_t)snprintf(text + at, bytes - at, "%s%ld", l ? "-" : "",
				       (long)net->width[l]);
}
