/*
 * blackscholes.c - the blackscholes workload: its parameters, what they allow and cost, and its
 * entry in the table.
 */
#include "workloads/blackscholes/blackscholes.h"

#include <errno.h>

#include "common/check.h"

static const char *const cnds[] = { "poly", "exact", NULL };
static const char *const maths[] = { "fast", "accurate", NULL };

/* clang-format off */
static const struct param params[] = {
	PARAM_AXIS(blackscholes_opts, options, "options", "4000000", 1, BLACKSCHOLES_OPTIONS_MAX,
		   "1k,4k,16k,64k,256k,1M,4M,16M,64M,128M", "options priced in a step"),
	PARAM_INT(blackscholes_opts, slots, "1", "2", 1, SLOTS_MAX,
		  "sets of options that steps take in turn"),
	PARAM_REAL(blackscholes_opts, rate, "1/year", "0.02", -0.1, 1, "rate without risk"),
	PARAM_REAL(blackscholes_opts, volatility, "1/sqrt(year)", "0.3", 0.01, 5,
		   "standard deviation of the logarithm of the price after a year"),
	PARAM_CHOICE(blackscholes_opts, cnd, "poly", cnds,
		     "the normal distribution: by a polynomial, or by erfc"),
	PARAM_CHOICE_ASIDE(blackscholes_opts, math, "fast", maths, "fast,accurate",
		     "the GPU's own approximations of functions, or the accurate ones"),
	PARAM_INT(blackscholes_opts, seed, "1", "1", 0, 9007199254740992.0,
		  "seed of the options"),
	PARAM_CHOICE_ASIDE(blackscholes_opts, data, "resident", streamed_data_names,
		     "resident,streamed",
		     "stays on the device, or is copied in and out in every step"),
	PARAM_SIZE(blackscholes_opts, block, "bytes", "4M", 0, STREAMED_BLOCK_MAX,
		   "size of a copy, a power of two from 64k on; 0: an array in one"),
	PARAM_CHOICE(blackscholes_opts, memory, "pinned", streamed_memory_names,
		     "the host's end of copies: cudaMallocHost or malloc"),
	PARAM_INT(blackscholes_opts, overlap, "1", "0", 0, STREAMED_CHUNKS_MAX,
		  "chunks of a step whose copies and kernels overlap, from 2 on; 0: none"),
	PARAM_END
};
/* clang-format on */

static const struct param_need needs[] = {
	{ "block", "data=streamed" },
	{ "memory", "data=streamed" },
	{ "overlap", "data=streamed" },
	{ NULL, NULL },
};

/* ---- copies ----------------------------------------------------------------------------- */

struct streamed_form blackscholes_form(const struct blackscholes_opts *o)
{
	return (struct streamed_form){ .block = o->block,
				       .memory = (enum streamed_memory)o->memory,
				       .overlap = o->overlap };
}

int blackscholes_chunks(const struct blackscholes_opts *o)
{
	return o->overlap ? (int)o->overlap : 1;
}

/* Chunks begin where 64 floats do: vectors and lines of caches stay whole. */
static int64_t groups_of(const struct blackscholes_opts *o)
{
	return (o->options + BLACKSCHOLES_ALIGN - 1) / BLACKSCHOLES_ALIGN;
}

int64_t blackscholes_chunk(const struct blackscholes_opts *o, int chunk)
{
	int chunks = blackscholes_chunks(o);

	return chunk == chunks ? o->options : groups_of(o) * chunk / chunks * BLACKSCHOLES_ALIGN;
}

struct copies blackscholes_copies(const struct blackscholes_opts *o, int arrays)
{
	struct copies all = { 0 };

	for (int c = 0; c < blackscholes_chunks(o); c++) {
		int64_t bytes =
			(blackscholes_chunk(o, c + 1) - blackscholes_chunk(o, c)) * sizeof(float);

		all.calls += (double)(arrays * streamed_calls(bytes, o->block));
		all.bytes += (double)(arrays * bytes);
	}
	return all;
}

/* ---- limits and cost -------------------------------------------------------------------- */

static int limits_of_copies(const struct blackscholes_opts *o, struct limits *out)
{
	struct streamed_form form = blackscholes_form(o);
	double copies = blackscholes_copies(o, BLACKSCHOLES_INPUTS + BLACKSCHOLES_OUTPUTS).calls;
	int err = streamed_form_check(&form);

	if (err)
		return err;
	if (groups_of(o) < o->overlap)
		return complain(EINVAL, "overlap=%ld: %ld options make at most %ld chunks of %d",
				(long)o->overlap, (long)o->options, (long)groups_of(o),
				BLACKSCHOLES_ALIGN);
	out->mode_refused[MODE_GRAPH] = streamed_graph_refused(&form, (int64_t)copies);
	out->mode_refused[MODE_FUSED] = "a step of data=streamed has copies, which no launch does";
	return 0;
}

static int limits(const void *opts, struct limits *out)
{
	const struct blackscholes_opts *o = opts;

	return o->data == STREAMED_STREAMED ? limits_of_copies(o, out) : 0;
}

/*
 * Of an option: two normal distributions of 14 operations and 32 around them, special functions
 * counted as one.
 */
static int cost(const void *opts, const void *state, struct cost *out)
{
	const struct blackscholes_opts *o = opts;
	double n = (double)o->options;

	(void)state;
	*out = (struct cost){
		.launches = blackscholes_chunks(o),
		.flops = 60 * n,
		.bytes_moved = 20 * n,
		.evaluations = n,
		.evaluation = "option",
		.formula = "60 flops an option, 5 floats of 4 B; streamed: each copied once",
	};
	if (o->data != STREAMED_STREAMED)
		return 0;
	out->to_device = blackscholes_copies(o, BLACKSCHOLES_INPUTS);
	out->to_host = blackscholes_copies(o, BLACKSCHOLES_OUTPUTS);
	out->bytes_transferred = out->to_device.bytes + out->to_host.bytes;
	out->pageable = o->memory == STREAMED_PAGEABLE;
	return 0;
}

const struct workload workload_blackscholes = {
	.name = "blackscholes",
	.summary = "prices of European options: a few operations for every byte of memory",
	.source = "Black and Scholes 1973; NVIDIA's BlackScholes sample, as in the vmCUDA paper",
	.step_unit = "prices of all options of a slot",
	.params = params,
	.needs = needs,
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
	.teardown = blackscholes_teardown,
};
