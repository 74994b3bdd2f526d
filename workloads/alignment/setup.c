/*
 * setup.c - the batch, its memory and streams; and one run of it, which says how long results and
 * traces are.
 */
#include <errno.h>

#include "common/cuda_check.h"
#include "common/device.h"
#include "common/interrupt.h"
#include "workloads/alignment/alignment.h"
#include "workloads/alignment/kernels.h"

static int make_batch(const struct alignment_opts *o, struct alignment_batch *b)
{
	const struct alignment_recipe r = { o->pairs, o->length, (enum alignment_profile)o->profile,
					    o->error, (uint64_t)o->seed };
	int err = o->input ? alignment_read(o->input, b) : alignment_generate(&r, b);

	if (!err && o->streams > b->n)
		return complain(EINVAL, "streams=%ld: %s has %ld pairs, and each stream needs one",
				(long)o->streams, o->input ? o->input : "the batch", (long)b->n);
	return err;
}

static void make_streams(struct alignment_state *s)
{
	CUDA(cudaEventCreateWithFlags(&s->forked, cudaEventDisableTiming));
	for (int i = 1; i < s->slots; i++) {
		CUDA(cudaStreamCreateWithFlags(&s->slot[i].stream, cudaStreamNonBlocking));
		CUDA(cudaEventCreateWithFlags(&s->slot[i].joined, cudaEventDisableTiming));
	}
}

/* ---- the run at setup ------------------------------------------------------------------- */

/* A pair of at most 31 letters never needs more than 32 rows: then nothing can spill. */
static unsigned possible_classes(const struct alignment_state *s, const struct alignment_slot *slot)
{
	unsigned classes = 0;

	for (uint32_t i = 0; i < slot->part.n; i++) {
		const struct alignment_pair *p = &s->batch.pair[slot->first + i];
		enum alignment_class c = alignment_class_in(&s->choice, p);
		bool fits = !p->m || !p->n || (p->m < 32 && p->n < 32);

		if (c == ALIGN_CLASSES)
			continue;
		for (unsigned to = c; to <= (fits ? c : ALIGN_L); to++)
			classes |= 1u << to;
	}
	return classes;
}

static int64_t longest_sequence(const struct alignment_batch *b)
{
	int64_t most = 0;

	for (int64_t i = 0; i < b->n; i++)
		if (b->pair[i].m != ALIGN_TOO_LONG) {
			most = b->pair[i].m > most ? b->pair[i].m : most;
			most = b->pair[i].n > most ? b->pair[i].n : most;
		}
	return most;
}

/* Uploads the slot, runs it, and brings its results back. */
static void run_slot_once(const struct alignment_state *s, struct alignment_slot *slot)
{
	CUDA(cudaMemcpy(slot->blob_device, slot->blob, slot->blob_bytes, cudaMemcpyHostToDevice));
	alignment_launch(s, slot, 0);
	CUDA(cudaMemcpy(slot->back, slot->back_device, slot->back_bytes, cudaMemcpyDeviceToHost));
}

/*
 * A batch is the same in every step: kernels that none of its pairs came to are not launched again,
 * and lists that were short stay so. Should a pair come to a kernel after all it stays not_done,
 * which fails the check.
 */
static void plan_lists(const struct alignment_state *s, struct alignment_slot *slot)
{
	struct alignment_counters c;

	CUDA(cudaMemcpy(&c, slot->part.counters, sizeof(c), cudaMemcpyDeviceToHost));
	slot->classes = 0;
	for (int i = 0; i < ALIGN_CLASSES; i++)
		slot->classes |= (c.listed[i] ? 1u : 0) << i;
	slot->wave_pairs = c.listed[ALIGN_L];
	for (int i = 0; i < ALIGN_L; i++)
		slot->warps[i] =
			c.listed[i] <= s->choice.warps / (uint32_t)s->slots ? c.listed[i] : 0;
}

/* A batch of few short pairs, of which bands in registers prove all, goes in one launch. */
static bool fits_one_launch(const struct alignment_state *s, const struct alignment_slot *slot)
{
	return s->choice.one && slot->part.n <= ALIGN_ONE_PAIRS &&
	       !(slot->classes >> ALIGN_L & 1) && longest_sequence(&s->batch) <= ALIGN_SHORT_MAX;
}

/*
 * Distances first, which need no memory for traces: they and the bands that proved them say how
 * much of it the CIGARs need.
 */
static int try_distances(const struct alignment_opts *o, struct alignment_state *s,
			 struct alignment_slot *slot)
{
	int err;

	slot->needed = 2 * alignment_edge_words((int)longest_sequence(&s->batch));
	slot->long_pairs = slot->part.n;
	slot->part.cigar = false;
	alignment_plan_workspace(s, slot, (size_t)o->memory / (size_t)s->slots);
	err = alignment_allocate_workspace(s, slot);
	if (err)
		return err;
	slot->classes = possible_classes(s, slot);
	slot->wave_pairs = slot->part.n;
	run_slot_once(s, slot);
	plan_lists(s, slot);
	slot->long_pairs = 0;
	alignment_plan(s, slot);
	return 0;
}

/* A quarter more than was needed. */
static uint32_t with_reserve(uint64_t runs)
{
	runs += runs / 4 + 16;
	return runs < UINT32_MAX ? (uint32_t)runs : UINT32_MAX;
}

/* Then CIGARs, which are not copied back yet: the run finds how many runs there are. */
static int try_cigars(const struct alignment_opts *o, struct alignment_state *s,
		      struct alignment_slot *slot)
{
	const struct alignment_result *r;
	int err;

	slot->part.cigar = true;
	alignment_plan_wave_traces(s, slot, (size_t)o->memory / (size_t)s->slots);
	slot->part.staging_runs = with_reserve(slot->staged);
	alignment_plan_workspace(s, slot, (size_t)o->memory / (size_t)s->slots);
	err = alignment_allocate_staging(slot);
	err = err ? err : alignment_allocate_workspace(s, slot);
	if (err)
		return err;
	run_slot_once(s, slot);
	r = (const struct alignment_result *)slot->back;
	for (uint32_t i = 0; i < slot->part.n; i++)
		slot->total_runs += r[i].runs;
	slot->part.runs_max = with_reserve(slot->total_runs);
	return alignment_allocate_back(s, slot);
}

static int setup_slot(const struct alignment_opts *o, struct alignment_state *s, int i)
{
	struct alignment_slot *slot = &s->slot[i];
	int err;

	slot->part.cap = (int32_t)o->cap;
	slot->part.fold = o->letters == ALIGN_FOLD;
	slot->part.packed = o->transfer == ALIGN_PACKED;
	slot->wave = s->choice.wave;
	slot->part.band = s->choice.band;
	err = alignment_slot_init(o, s, i);
	err = err ? err : try_distances(o, s, slot);
	if (!err && o->output == ALIGN_CIGAR)
		err = try_cigars(o, s, slot);
	slot->one = !err && fits_one_launch(s, slot);
	return err ? err : interrupted() ? -EINTR : 0;
}

static void load_short(enum alignment_class c, bool cigar)
{
	device_load_kernel(alignment_short_kernel(c, cigar));
	device_load_kernel(alignment_warp_kernel(c, cigar));
}

static void load_kernels(const struct alignment_state *s)
{
	device_load_kernel(alignment_pack_kernel());
	device_load_kernel(alignment_sum_kernel());
	device_load_kernel(alignment_gather_kernel());
	device_load_kernel(alignment_kept_kernel());
	device_load_kernel(alignment_one_kernel(false));
	device_load_kernel(alignment_one_kernel(true));
	for (int cigar = 0; cigar < 2; cigar++) {
		for (int c = ALIGN_S1; c < ALIGN_L; c++)
			load_short((enum alignment_class)c, cigar);
		device_load_kernel(alignment_long_kernel(s->choice.strip, cigar));
		device_load_kernel(alignment_wave_kernel(cigar));
	}
}

static uint32_t to_millionths(double share)
{
	return (uint32_t)(share * 1e6 + 0.5);
}

/*
 * Half the warps that an SM can hold: with more pairs one thread each is quicker. It
 * always is on the CPU device, of compute capability 0, whose lanes take turns.
 */
static uint32_t warps_worth(void)
{
	bool gpu = device_attribute(cudaDevAttrComputeCapabilityMajor) > 0;

	return gpu ? 32 * (uint32_t)device_attribute(cudaDevAttrMultiProcessorCount) : 0;
}

/* Few short pairs are so different that the long kernel gets them. */
struct alignment_choice alignment_choose(const struct alignment_opts *o,
					 const struct alignment_batch *b)
{
	int longest = (int)longest_sequence(b);
	double share = longest > ALIGN_SHORT_MAX ? 1 : 1.0 / 16;
	struct alignment_extent e = {
		.pairs = (double)b->n * share,
		.longest = longest ? longest : 1,
		.first_band = alignment_first_band(to_millionths(o->band), longest, longest),
		.memory = (double)o->memory,
		.cigar = o->output == ALIGN_CIGAR,
	};

	return (struct alignment_choice){ alignment_strip_for(&e), ALIGN_S1, 0, true, warps_worth(),
					  alignment_wave_pays(&e) };
}

static int check_mapped(const struct alignment_opts *o, const struct alignment_state *s)
{
	for (int i = 0; o->host == ALIGN_MAPPED && i < s->slots; i++)
		if (!s->slot[i].one)
			return complain(EINVAL,
					"host=mapped: only batches of at most %d pairs per stream, "
					"of at most %d letters and alike, fit in one launch",
					ALIGN_ONE_PAIRS, ALIGN_SHORT_MAX);
	return 0;
}

int alignment_setup_batch(const struct alignment_opts *o, struct alignment_state *s,
			  struct alignment_choice choice)
{
	int err = 0;

	s->pageable = o->host == ALIGN_PAGEABLE;
	s->mapped = !o->resident && (o->host == ALIGN_AUTO || o->host == ALIGN_MAPPED);
	s->slots = (int)o->streams;
	s->choice = choice;
	s->choice.band = to_millionths(o->band);
	load_kernels(s);
	make_streams(s);
	for (int i = 0; !err && i < s->slots; i++)
		err = setup_slot(o, s, i);
	return err ? err : check_mapped(o, s);
}

int alignment_setup(const void *opts, void *state)
{
	const struct alignment_opts *o = opts;
	struct alignment_state *s = state;
	int err = device_present();

	if (!err && o->results)
		err = output_create(&s->results, "results", o->results);
	err = err ? err : make_batch(o, &s->batch);
	return err ? err : alignment_setup_batch(o, s, alignment_choose(o, &s->batch));
}

void alignment_teardown(void *state)
{
	struct alignment_state *s = state;

	output_discard(&s->results);
	for (int i = 0; i < ALIGN_STREAMS_MAX; i++)
		alignment_slot_release(s, &s->slot[i]);
	if (s->forked)
		CUDA(cudaEventDestroy(s->forked));
	s->forked = NULL;
	alignment_batch_release(&s->batch);
}
