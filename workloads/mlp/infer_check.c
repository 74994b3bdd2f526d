/*
 * infer_check.c - work=inference: are the outputs of each batch what its network makes of it?
 *
 * The reference is one forward pass in double, from inputs and weights that the host makes again.
 * Rows are compared, all or, where that takes too long, a sample of each batch with its first and
 * last row; all outputs are looked at for what is no finite number. What no step was to write is
 * looked at by dataset_audit().
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "common/check.h"
#include "common/interrupt.h"
#include "common/pieces.h"
#include "workloads/mlp/check.h"
#include "workloads/workload.h"

static const double terms_most = 2e8; /* of all rows that are compared: about 0.2 s */

/* The network in double, and one row. */
struct network {
	struct mlp_infer_net n;
	double *weight;
	double a[2][MLP_INFER_WIDTH_MAX];
};

double mlp_fp16_value(uint16_t h)
{
	int exponent = h >> 10 & 31, fraction = h & 1023;
	double v = exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24);

	if (exponent == 31)
		v = fraction ? NAN : INFINITY;
	return h >> 15 ? -v : v;
}

/* One layer of a row; of those before the last the sums are cut at 0. */
static void layer(const struct network *n, uint32_t l, const double *in, double *out)
{
	uint32_t k = mlp_infer_in(&n->n, l);
	const double *w = n->weight + mlp_infer_at(&n->n, l);

	for (uint32_t j = 0; j < mlp_infer_out(&n->n, l); j++, w += k) {
		double sum = 0;

		for (uint32_t i = 0; i < k; i++)
			sum += w[i] * in[i];
		out[j] = l <= n->n.hidden && sum < 0 ? 0 : sum;
	}
}

/* The 16 outputs of a row of a batch. */
static const double *reference_row(struct network *n, uint32_t row, uint32_t slot, uint64_t seed)
{
	for (uint32_t i = 0; i < n->n.features; i++)
		n->a[0][i] = (double)mlp_infer_input(row * n->n.features + i, slot, seed);
	for (uint32_t l = 1; l <= n->n.hidden + 1; l++)
		layer(n, l, n->a[(l - 1) % 2], n->a[l % 2]);
	return n->a[(n->n.hidden + 1) % 2];
}

/* ---- a batch --------------------------------------------------------------------------- */

struct audit {
	const struct mlp_opts *o;
	const struct mlp_state *s;
	struct verdict *v;
	struct dataset_audit found;
	struct network net;
	uint32_t *words; /* outputs of a batch */
	int64_t most;	 /* rows of a batch that are compared */
};

static double output_at(const struct audit *a, int64_t i)
{
	float v;

	if (a->s->half)
		return mlp_fp16_value(((const uint16_t *)a->words)[i]);
	memcpy(&v, &a->words[i], sizeof(v));
	return (double)v;
}

static void compare_row(struct audit *a, int64_t row, int64_t slot)
{
	const double *want =
		reference_row(&a->net, (uint32_t)row, (uint32_t)slot, (uint64_t)a->o->seed);
	struct mlp_norms norms = { 0, 0 };

	for (int64_t j = 0; j < MLP_OUTPUTS; j++)
		mlp_compare(&norms, output_at(a, row * MLP_OUTPUTS + j), want[j]);
	a->v->compared++;
	mlp_note(a->v, mlp_relative(&norms), mlp_tolerance(a->o),
		 "row %ld of batch %ld: off by %.2g", (long)row, (long)slot, mlp_relative(&norms));
}

/* Whether an output is NaN or infinite. */
static bool has_odd(struct audit *a, int64_t slot)
{
	for (int64_t i = 0; i < a->o->batch * MLP_OUTPUTS; i++)
		if (!isfinite(output_at(a, i))) {
			mlp_note(a->v, INFINITY, 1, "row %ld of batch %ld: no finite number",
				 (long)(i / MLP_OUTPUTS), (long)slot);
			return true;
		}
	return false;
}

static int check_batch(struct audit *a, int64_t slot)
{
	struct pieces p = pieces_of(a->o->batch, 1, a->most, a->v->seed, (uint32_t)slot, 0);

	dataset_fetch(&a->s->infer.set, 0, slot, 0, a->s->infer.set.shape.array[1].words, a->words);
	if (has_odd(a, slot))
		return 0;
	for (int64_t i = 0; i < p.count; i++) {
		if (interrupted())
			return -EINTR;
		compare_row(a, pieces_at(&p, i), slot);
	}
	return 0;
}

/* ---- all batches ----------------------------------------------------------------------- */

static int check_batches(struct audit *a)
{
	int64_t slots = __builtin_popcountll(a->found.answers);
	int64_t rows = (int64_t)(terms_most / (double)(a->s->net.parameters * (slots + !slots)));
	int err = 0;

	a->most = a->v->full ? a->o->batch : rows;
	a->v->total = slots * a->o->batch;
	for (int64_t slot = 0; slot < a->o->batches && !err; slot++)
		if (a->found.answers >> slot & 1)
			err = check_batch(a, slot);
	return err;
}

int mlp_infer_check(const struct mlp_opts *o, struct mlp_state *s, int64_t steps, struct verdict *v)
{
	struct audit a = { .o = o, .s = s, .v = v, .net.n = s->infer.launch.net };
	const struct dataset_extent extent = { steps, v->graph_steps, v->full, v->seed };
	int64_t words = s->infer.set.shape.array[1].words;
	int err = dataset_audit(&s->infer.set, &mlp_infer_work, o, s, &extent, &a.found);

	if (err)
		return err;
	v->measure = "largest error of the outputs of an input, in units of what is allowed";
	v->error = 0;
	v->tolerance = 1;
	v->compared = 0;
	a.net.weight = mlp_array(s->net.parameters);
	for (uint32_t i = 0; i < (uint32_t)s->net.parameters; i++)
		a.net.weight[i] = (double)mlp_infer_weight(i, (uint64_t)o->seed);
	a.words = malloc((size_t)words * sizeof(*a.words));
	CHECK(a.words, "%ld words", (long)words);
	if (a.found.flaws)
		mlp_note(v, INFINITY, 1, "%s", a.found.first);
	err = check_batches(&a);
	free(a.words);
	free(a.net.weight);
	v->passed = v->error <= v->tolerance;
	return err;
}
