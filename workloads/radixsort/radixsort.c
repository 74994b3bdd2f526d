/*
 * radixsort.c - the radixsort workload: its parameters, what they allow and cost, and its entry in
 * the table.
 *
 * A step sorts all pairs of one slot by their 32-bit keys (kernels.cu):
 *
 *   data=streamed  copy keys and values to the device
 *   sort           one launch counts the digits, four move the pairs by 8 bits each (onesweep); up
 *                  to 4096 pairs: one launch of one block
 *   data=streamed  copy sorted keys and values back
 *
 * Slots are taken in turn; a counter on the device holds how many steps were made. step.c enqueues
 * it, reference.c is what check.c compares with.
 */
#include "workloads/radixsort/radixsort.h"

#include <errno.h>

#include "common/check.h"
#include "workloads/workload.h"

static const char *const keys[] = {
	"uniform", "few", "equal", "sorted", "reverse", "topbyte", NULL
};

/* clang-format off */
static const struct param params[] = {
	PARAM_AXIS(radixsort_opts, pairs, "pairs", "1M", 1, RADIXSORT_PAIRS_MAX,
		   "1k,4k,16k,64k,256k,1M,4M,16M,64M,256M", "pairs sorted in a step"),
	PARAM_CHOICE(radixsort_opts, keys, "uniform", keys,
		     "any 32 bits, 16 different ones, all equal, in order, in reverse, 8 bits"),
	PARAM_INT(radixsort_opts, seed, "1", "1", 0, 9007199254740992.0, "seed of the keys"),
	PROGRAMMATIC_PARAM(radixsort_opts),
	DATASET_PARAMS(radixsort_opts),
	PARAM_END
};
/* clang-format on */

static const struct param_need needs[] = {
	DATASET_NEEDS,
	PROGRAMMATIC_NEED,
	{ NULL, NULL },
};

/* The sizes of the vmCUDA paper's table 1, once and for the 12.5 GiB of its larger series. */
static const struct preset presets[] = {
	{ "vmcuda-table1", "pairs=16M data=streamed total=256M",
	  "the paper's 128 MiB each way, in one step" },
	{ "vmcuda-large", "pairs=16M data=streamed total=12800M", "the same 50 times, 12.5 GiB" },
	{ NULL, NULL, NULL },
};

/* In one chunk: where a key goes depends on all others. */
struct dataset_shape radixsort_shape(const struct radixsort_opts *o)
{
	struct dataset_shape s = { .inputs = RADIXSORT_ARRAYS,
				   .outputs = RADIXSORT_ARRAYS,
				   .poison = SLOTS_POISON_INTEGER,
				   .unit = "pair",
				   .besides = radixsort_board_bytes(o->pairs,
								    radixsort_size_for(o->pairs)) };

	for (int k = 0; k < 2 * RADIXSORT_ARRAYS; k++)
		s.array[k] = (struct dataset_array){ o->pairs, o->pairs, 0 };
	if (o->pairs > RADIXSORT_ONE_MAX)
		s.besides +=
			RADIXSORT_ARRAYS * dataset_stride(&s.array[0]) * (int64_t)sizeof(uint32_t);
	return s;
}

static int limits(const void *opts, struct limits *out)
{
	const struct radixsort_opts *o = opts;
	struct dataset_shape shape = radixsort_shape(o);

	if (o->set.overlap)
		return complain(EINVAL,
				"overlap=%ld: no part of a sort can begin before all keys are "
				"there; leave it 0",
				(long)o->set.overlap);
	out->mode_refused[MODE_GRAPH] = dataset_graph_refused(&o->set, &shape);
	out->mode_refused[MODE_FUSED] =
		o->launch ? programmatic_fused : dataset_fused_refused(&o->set);
	out->depth_asked = dataset_steps(&o->set, &shape);
	if (!out->mode_refused[MODE_FUSED] && o->pairs > RADIXSORT_ONE_MAX)
		out->mode_refused[MODE_FUSED] = "one launch sorts up to 4096 pairs; more take five";
	return dataset_opts_check(&o->set, &shape);
}

/*
 * Keys are read once to be counted; then each of four passes reads and writes all pairs. The tile
 * statuses are cleared, written and read: about three times their bytes.
 */
double radixsort_bytes_moved(const struct radixsort_opts *o)
{
	double n = (double)o->pairs;
	double board = (double)radixsort_board_bytes(o->pairs, radixsort_size_for(o->pairs));

	return board > 0 ? (4 + RADIXSORT_PASSES * 16) * n + 3 * board : 16 * n;
}

int radixsort_cost(const void *opts, const void *state, struct cost *out)
{
	const struct radixsort_opts *o = opts;
	struct dataset_shape shape = radixsort_shape(o);
	struct dataset_copies in = dataset_copies_in(&o->set, &shape);
	struct dataset_copies back = dataset_copies_out(&o->set, &shape);

	(void)state;
	*out = (struct cost){
		.launches = radixsort_launches(o->pairs),
		.bytes_moved = radixsort_bytes_moved(o),
		.bytes_transferred = in.bytes + back.bytes,
		.to_device = { in.calls, in.bytes },
		.to_host = { back.calls, back.bytes },
		.pageable = o->set.data == STREAMED_STREAMED && o->set.memory == STREAMED_PAGEABLE,
		.evaluations = (double)o->pairs,
		.evaluation = "pair",
		.formula = o->pairs > RADIXSORT_ONE_MAX
				   ? "68 B a pair (keys counted, 4 passes of 16 B) and 3 times the "
				     "look-back words; one launch clears memory"
				   : "16 B a pair: in and out once",
	};
	return 0;
}

/* Launches are counted in it, and a fused one is one. */
static void scratch(const void *opts, const void *state, struct scratch *out)
{
	const struct radixsort_state *s = state;

	(void)opts;
	out->part[out->n++] = (struct scratch_part){ s->set.counter, sizeof(*s->set.counter) };
}

const struct workload workload_radixsort = {
	.name = "radixsort",
	.summary = "sorts pairs of a key and a value: five launches, bound by memory in most sizes",
	.source = "Adinets and Merrill 2022 (onesweep); NVIDIA's radixSortThrust sample, as in the "
		  "vmCUDA paper",
	.step_unit = "sort of all pairs of a slot",
	.params = params,
	.needs = needs,
	.presets = presets,
	.opts_size = sizeof(struct radixsort_opts),
	.state_size = sizeof(struct radixsort_state),
	.limits = limits,
	.setup = radixsort_setup,
	.reset = radixsort_reset,
	.step = radixsort_step,
	.fused = radixsort_fused,
	.check = radixsort_check,
	.report = radixsort_report,
	.cost = radixsort_cost,
	.scratch = scratch,
	.teardown = radixsort_teardown,
};
