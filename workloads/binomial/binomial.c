/*
 * binomial.c - the binomial workload: its parameters, what they allow and cost, and its entry in
 * the table.
 *
 * A step prices all options of one slot by binomial trees (kernels.cu):
 *
 *   data=streamed  copy the slot's five input arrays to the device
 *   price          a warp, or a block for large trees, goes from the leaves of an option's tree to
 *                  its root; one launch, or several of launch_options= options
 *   data=streamed  copy the prices back
 *
 * Slots are taken in turn; a counter on the device holds how many steps were made. step.c enqueues
 * it, plan.c cuts a tree into panels, reference.c is what check.c compares with.
 */
#include "workloads/binomial/binomial.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "common/check.h"
#include "workloads/binomial/inputs.h"
#include "workloads/workload.h"

static const char *const forms[] = { "lerp", "two", NULL };

/* clang-format off */
static const struct param params[] = {
	PARAM_AXIS(binomial_opts, steps, "steps", "2048", 1, BINOMIAL_STEPS_MAX,
		   "16,32,64,128,256,512,1k,2k,4k,8k", "steps of an option's tree"),
	PARAM_SIZE(binomial_opts, options, "options", "1024", 1, BINOMIAL_OPTIONS_MAX,
		   "options priced in a step"),
	PARAM_SIZE(binomial_opts, launch_options, "options", "0", 0, BINOMIAL_OPTIONS_MAX,
		   "most options in a launch; 0: all"),
	PARAM_REAL(binomial_opts, rate, "1/year", "0.06", -0.1, 1, "rate without risk"),
	PARAM_REAL(binomial_opts, volatility, "1/sqrt(year)", "0.1", 0.01, 1,
		   "standard deviation of the logarithm of the price after a year"),
	PARAM_CHOICE_ASIDE(binomial_opts, form, "lerp", forms, "lerp,two",
		   "a step back: discounted at the end, or in two factors as in the sample"),
	PARAM_INT(binomial_opts, seed, "1", "1", 0, 9007199254740992.0, "seed of the options"),
	DATASET_PARAMS(binomial_opts),
	PARAM_END
};
/* clang-format on */

static const struct param_need needs[] = {
	DATASET_NEEDS,
	{ NULL, NULL },
};

/* The sizes of the vmCUDA paper's table 1, and what is as many times that as rift takes. */
static const struct preset presets[] = {
	{ "vmcuda-table1", "options=4096 steps=2048 launch_options=1024 data=streamed",
	  "80 KiB in and 16 KiB out, in four launches" },
	{ "vmcuda-large", "options=65536 steps=2048 launch_options=1024 data=streamed",
	  "16 times as many" },
	{ NULL, NULL, NULL },
};

struct dataset_shape binomial_shape(const struct binomial_opts *o)
{
	struct dataset_shape s = { .inputs = BINOMIAL_INPUTS,
				   .outputs = 1,
				   .poison = SLOTS_POISON_REAL,
				   .unit = "option" };

	for (int k = 0; k < BINOMIAL_INPUTS + 1; k++)
		s.array[k] = (struct dataset_array){ o->options, DATASET_ALIGN, 0 };
	return s;
}

int64_t binomial_launches(const struct binomial_opts *o)
{
	const struct dataset_array a = { o->options, DATASET_ALIGN, 0 };
	int chunks = dataset_chunks(&o->set);
	int64_t n = 0;

	if (!o->launch_options)
		return chunks;
	for (int c = 0; c < chunks; c++) {
		int64_t options = dataset_edge(&a, c + 1, chunks) - dataset_edge(&a, c, chunks);

		n += (options + o->launch_options - 1) / o->launch_options;
	}
	return n;
}

/* ---- limits and cost -------------------------------------------------------------------- */

/* least: more steps than these would do, if a tree may have as many. */
static int refuse_market(const struct binomial_opts *o, double least)
{
	char cure[64] = "use a higher volatility or a rate nearer 0";

	if (least < BINOMIAL_STEPS_MAX)
		snprintf(cure, sizeof(cure), "use more than %.0f steps", least);
	return complain(EINVAL,
			"steps=%ld rate=%g volatility=%g: the probability of a step up is not "
			"between 0 and 1; %s",
			(long)o->steps, o->rate, o->volatility, cure);
}

/*
 * Steps of T/N years go up by exp(V sqrt(T/N)) or down by as much. An exponential of 85 is the last
 * that a float holds, prices of 30 included.
 */
static int check_market(const struct binomial_opts *o)
{
	const double exponent_max = 85, years = BINOMIAL_YEARS_MAX;
	double n = (double)o->steps;

	if (fabs(o->rate) * sqrt(years / n) >= o->volatility)
		return refuse_market(o, floor(years * pow(o->rate / o->volatility, 2)));
	if (o->volatility * sqrt(years * n) > exponent_max)
		return complain(EINVAL,
				"steps=%ld volatility=%g: the highest price does not fit a float; "
				"use at most %.0f steps",
				(long)o->steps, o->volatility,
				floor(pow(exponent_max / o->volatility, 2) / years));
	return 0;
}

static int limits(const void *opts, struct limits *out)
{
	const struct binomial_opts *o = opts;
	struct dataset_shape shape = binomial_shape(o);
	int err = check_market(o);

	out->mode_refused[MODE_GRAPH] = dataset_graph_refused(&o->set, &shape);
	out->mode_refused[MODE_FUSED] = dataset_fused_refused(&o->set);
	if (!out->mode_refused[MODE_FUSED] && binomial_launches(o) > 1)
		out->mode_refused[MODE_FUSED] = "launch_options= makes a step of several launches";
	out->depth_asked = dataset_steps(&o->set, &shape);
	return err ? err : dataset_opts_check(&o->set, &shape);
}

static int cost(const void *opts, const void *state, struct cost *out)
{
	const struct binomial_opts *o = opts;
	struct dataset_shape shape = binomial_shape(o);
	struct dataset_copies in = dataset_copies_in(&o->set, &shape);
	struct dataset_copies back = dataset_copies_out(&o->set, &shape);
	double n = (double)o->options, steps = (double)o->steps;

	(void)state;
	*out = (struct cost){
		.launches = (double)binomial_launches(o),
		.flops = 1.5 * n * steps * (steps + 1),
		.bytes_moved = 24 * n,
		.bytes_transferred = in.bytes + back.bytes,
		.to_device = { in.calls, in.bytes },
		.to_host = { back.calls, back.bytes },
		.pageable = o->set.data == STREAMED_STREAMED && o->set.memory == STREAMED_PAGEABLE,
		.evaluations = n,
		.evaluation = "option",
		.formula = "3 flops a node, steps (steps + 1) / 2 nodes an option; 6 floats of 4 B",
	};
	return 0;
}

/* Launches are counted in it, and a fused one is one. */
static void scratch(const void *opts, const void *state, struct scratch *out)
{
	const struct binomial_state *s = state;

	(void)opts;
	out->part[out->n++] = (struct scratch_part){ s->set.counter, sizeof(*s->set.counter) };
}

const struct workload workload_binomial = {
	.name = "binomial",
	.summary = "prices of European options by trees: arithmetic in registers, and little else",
	.source =
		"Cox, Ross and Rubinstein 1979; NVIDIA's binomialOptions sample, as in the vmCUDA "
		"paper",
	.step_unit = "prices of all options of a slot",
	.params = params,
	.needs = needs,
	.presets = presets,
	.opts_size = sizeof(struct binomial_opts),
	.state_size = sizeof(struct binomial_state),
	.limits = limits,
	.setup = binomial_setup,
	.reset = binomial_reset,
	.step = binomial_step,
	.fused = binomial_fused,
	.check = binomial_check,
	.report = binomial_report,
	.cost = cost,
	.scratch = scratch,
	.teardown = binomial_teardown,
};
