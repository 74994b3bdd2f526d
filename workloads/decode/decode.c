/*
 * decode.c - the decode workload: its parameters, what they allow and cost, and its entry in the
 * table.
 *
 * A step writes one token a sequence. E is the embedding; d, h, k, e, f and V are dim, heads,
 * kv_heads, head_dim, hidden and vocab of struct decode_model:
 *
 *   x = E[token]
 *   for each layer:
 *     n = norm(x); q, k and v by three products; q and k rotated by the position; k and v cached
 *     a = for each head the values, weighted by softmax(q . keys / sqrt(e))
 *     x = x + Wo a
 *     n = norm(x); x = x + Wdown (silu(Wgate n) * (Wup n))
 *   logits = Wlm norm(x); the token is the largest one, which the next step takes
 *
 * launches=few has five launches a layer and two more (step.c, product.cuh, attention.cuh),
 * launches=many about fifteen a layer, products by cuBLAS (many.c). check.c computes the steps of a
 * sequence again in double (reference.c).
 */
#include "workloads/decode/decode.h"

#include "common/check.h"

static const char *const models[] = { "tiny", "small", "1b", "8b", NULL };
static const char *const precisions[] = { "fp32", "bf16", NULL };
static const char *const launches[] = { "few", "many", NULL };
static const char *const outputs[] = { "device", "host", NULL };

/* clang-format off */
static const struct param params[] = {
	PARAM_AXIS(decode_opts, batch, "sequences", "1", 1, 1024, "1,2,4,8,16,32,64,128",
		   "sequences that get a token each step"),
	PARAM_CHOICE(decode_opts, model, "tiny", models,
		     "15 M, 110 M, 1.2 G or 8.0 G weights, generated, in shapes of Llama's kind"),
	PARAM_PATH(decode_opts, checkpoint,
		   "folder with config.json and safetensors of a Llama model, instead of model="),
	PARAM_INT(decode_opts, layers, "layers", "0", 0, DECODE_LAYERS_MAX,
		  "the first layers of the model alone; 0: all"),
	PARAM_SIZE(decode_opts, context, "positions", "128", 0, DECODE_POSITIONS_MAX - 1,
		   "positions whose keys and values are generated, before the first token"),
	PARAM_SIZE(decode_opts, positions, "positions", "0", 0, DECODE_POSITIONS_MAX,
		   "length of the cache, behind which a sequence goes on after its prompt; 0: 256 "
		   "more than are filled before"),
	PARAM_TEXT(decode_opts, prompt, "token ids, 1,15043,3186",
		   "what all sequences begin with; the last id is one more for each sequence"),
	PARAM_CHOICE(decode_opts, precision, "bf16", precisions,
		     "of weights and cache as they are stored; sums are fp32"),
	PARAM_CHOICE_ASIDE(decode_opts, launches, "few", launches, "few,many",
			   "operations fused into few launches, or one by one as in plain frameworks"),
	PROGRAMMATIC_PARAM(decode_opts),
	PARAM_CHOICE(decode_opts, output, "device", outputs,
		     "tokens stay on the device, or each step copies them to the host"),
	PARAM_INT(decode_opts, seed, "1", "1", 0, 9007199254740992.0,
		  "seed of what is generated: weights, keys and values, first tokens"),
	PARAM_PATH_OUT(decode_opts, tokens,
		       "file to write: the ids that fill the cache, a line for each sequence"),
	PARAM_END
};
/* clang-format on */

static const struct param_need needs[] = {
	{ "model", "!checkpoint" },
	{ "context", "!prompt" },
	{ "launch", "launches=few" },
	{ NULL, NULL },
};

static int limits(const void *opts, struct limits *out)
{
	const struct decode_opts *o = opts;
	struct decode_shape shape;
	int err = decode_shape_init(o, &shape);

	out->mode_refused[MODE_FUSED] = "a step is several kernels, which is more than one launch";
	out->depth_max = shape.history;
	out->depth_why = "the device keeps the tokens of so many steps, for the check";
	decode_shape_release(&shape);
	return err;
}

int64_t decode_launches(const struct decode_opts *o, const struct decode_model *m)
{
	const int64_t few = 5, few_more = 2, many = 15, many_more = 4;

	return o->launches == DECODE_FEW ? few * m->layers + few_more
					 : many * m->layers + many_more;
}

/* Positions that attention reads in the first step. */
static double attended(const struct decode_shape *s)
{
	return s->start + 1.0;
}

int decode_cost(const void *opts, const void *state, struct cost *out)
{
	const struct decode_opts *o = opts;
	const struct decode_state *s = state;
	const struct decode_model *m = &s->shape.model;
	double embedding = (double)m->vocab * m->dim, batch = s->shape.batch;
	/* the embedding is read as a whole only for logits */
	double weights = (double)decode_parameters(m) - (m->tied ? 0 : embedding);
	double cached = 2.0 * m->layers * m->kv_heads * m->head_dim * attended(&s->shape);
	double scored = 2.0 * m->layers * m->heads * m->head_dim * attended(&s->shape);
	bool to_host = o->output == DECODE_TO_HOST;

	*out = (struct cost){
		.launches = (double)decode_launches(o, m),
		.flops = 2 * batch * (weights + scored),
		.bytes_moved = decode_bytes(s) * (weights + batch * cached),
		.bytes_transferred = to_host ? batch * sizeof(uint32_t) : 0,
		.to_host = { to_host, to_host ? batch * sizeof(uint32_t) : 0 },
		.evaluations = batch,
		.evaluation = "token",
		.formula = "2 flops a weight and sequence, 4 a position and number of a head; each "
			   "weight once, the cache of the first step's positions",
	};
	return 0;
}

const struct workload workload_decode = {
	.name = "decode",
	.summary = "a language model writes tokens: short kernels in a chain, each token after the "
		   "one before",
	.source = "Llama's papers (Touvron et al. 2023; Dubey et al. 2024) and transformers' "
		  "implementation of them, as definition",
	.step_unit = "token of each sequence",
	.params = params,
	.needs = needs,
	.opts_size = sizeof(struct decode_opts),
	.state_size = sizeof(struct decode_state),
	.limits = limits,
	.setup = decode_setup,
	.reset = decode_reset,
	.step = decode_step,
	.check = decode_check,
	.report = decode_report,
	.cost = decode_cost,
	.teardown = decode_teardown,
};
