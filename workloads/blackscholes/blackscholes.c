/*
 * blackscholes.c - the blackscholes workload: its parameters, what they allow and cost, and its
 * entry in the table.
 *
 * A step prices all options of one slot by the formula of Black and Scholes (kernels.cu):
 *
 *   data=streamed  copy prices, strikes and times of the slot to the device
 *   price          four options per thread: a call and a put each; one launch
 *   data=streamed  copy calls and puts back
 *
 * Slots are taken in turn; a counter on the device holds how many steps were made. step.c enqueues
 * it, formula.cuh is the formula in float, reference.c what check.c compares with.
 */
#include "workloads/blackscholes/blackscholes.h"
#include "workloads/workload.h"

static const char *const cnds[] = { "poly", "exact", NULL };
static const char *const maths[] = { "fast", "accurate", NULL };

/* clang-format off */
static const struct param params[] = {
	PARAM_AXIS(blackscholes_opts, options, "options", "4000000", 1, BLACKSCHOLES_OPTIONS_MAX,
		   "1k,4k,16k,64k,256k,1M,4M,16M,64M,128M", "options priced in a step"),
	PARAM_REAL(blackscholes_opts, rate, "1/year", "0.02", -0.1, 1, "rate without risk"),
	PARAM_REAL(blackscholes_opts, volatility, "1/sqrt(year)", "0.3", 0.01, 5,
		   "standard deviation of the logarithm of the price after a year"),
	PARAM_CHOICE(blackscholes_opts, cnd, "poly", cnds,
		     "the normal distribution: by a polynomial, or by erfc"),
	PARAM_CHOICE_ASIDE(blackscholes_opts, math, "fast", maths, "fast,accurate",
		     "the GPU's own approximations of functions, or the accurate ones"),
	PARAM_INT(blackscholes_opts, seed, "1", "1", 0, 9007199254740992.0,
		  "seed of the options"),
	PROGRAMMATIC_PARAM(blackscholes_opts),
	DATASET_PARAMS(blackscholes_opts),
	PARAM_END
};
/* clang-format on */

static const struct param_need needs[] = {
	DATASET_NEEDS,
	PROGRAMMATIC_NEED,
	{ NULL, NULL },
};

/* The sizes of the vmCUDA paper: table 1, and what its largest series of transfers begins with. */
static const struct preset presets[] = {
	{ "vmcuda-table1", "options=4000000 data=streamed total=2000000000",
	  "the paper's 100,000,000 options in 25 steps" },
	{ "vmcuda-large", "options=100000000 slots=1 data=streamed total=12800M",
	  "all of them in each step, 12.5 GiB in 7 steps" },
	{ NULL, NULL, NULL },
};

struct dataset_shape blackscholes_shape(const struct blackscholes_opts *o)
{
	struct dataset_shape s = { .inputs = BLACKSCHOLES_INPUTS,
				   .outputs = BLACKSCHOLES_OUTPUTS,
				   .poison = SLOTS_POISON_REAL,
				   .unit = "option" };

	for (int k = 0; k < BLACKSCHOLES_INPUTS + BLACKSCHOLES_OUTPUTS; k++)
		s.array[k] = (struct dataset_array){ o->options, DATASET_ALIGN, 0 };
	return s;
}

static int limits(const void *opts, struct limits *out)
{
	const struct blackscholes_opts *o = opts;
	struct dataset_shape shape = blackscholes_shape(o);

	out->mode_refused[MODE_GRAPH] = dataset_graph_refused(&o->set, &shape);
	out->mode_refused[MODE_FUSED] =
		o->launch ? programmatic_fused : dataset_fused_refused(&o->set);
	out->depth_asked = dataset_steps(&o->set, &shape);
	return dataset_opts_check(&o->set, &shape);
}

/*
 * An option takes two normal distributions of 14 operations and 32 around them; a special function
 * counts as one.
 */
static int cost(const void *opts, const void *state, struct cost *out)
{
	const struct blackscholes_opts *o = opts;
	struct dataset_shape shape = blackscholes_shape(o);
	struct dataset_copies in = dataset_copies_in(&o->set, &shape);
	struct dataset_copies back = dataset_copies_out(&o->set, &shape);
	double n = (double)o->options;

	(void)state;
	*out = (struct cost){
		.launches = dataset_chunks(&o->set),
		.flops = 60 * n,
		.bytes_moved = 20 * n,
		.bytes_transferred = in.bytes + back.bytes,
		.to_device = { in.calls, in.bytes },
		.to_host = { back.calls, back.bytes },
		.pageable = o->set.data == STREAMED_STREAMED && o->set.memory == STREAMED_PAGEABLE,
		.evaluations = n,
		.evaluation = "option",
		.formula = "60 flops an option, 5 floats of 4 B; streamed: each copied once",
	};
	return 0;
}

/* Launches are counted in it, and a fused one is one. */
static void scratch(const void *opts, const void *state, struct scratch *out)
{
	const struct blackscholes_state *s = state;

	(void)opts;
	out->part[out->n++] = (struct scratch_part){ s->set.counter, sizeof(*s->set.counter) };
}

const struct workload workload_blackscholes = {
	.name = "blackscholes",
	.summary = "prices of European options: a few operations for every byte of memory",
	.source = "Black and Scholes 1973; NVIDIA's BlackScholes sample, as in the vmCUDA paper",
	.step_unit = "prices of all options of a slot",
	.params = params,
	.needs = needs,
	.presets = presets,
	.opts_size = sizeof(struct blackscholes_opts),
	.state_size = sizeof(struct blackscholes_state),
	.limits = limits,
	.setup = blackscholes_setup,
	.reset = blackscholes_reset,
	.step = blackscholes_step,
	.fused = blackscholes_fused,
	.check = blackscholes_check,
	.report = blackscholes_report,
	.cost = cost,
	.scratch = scratch,
	.teardown = blackscholes_teardown,
};
