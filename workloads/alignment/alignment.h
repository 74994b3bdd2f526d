/*
 * alignment.h - the alignment workload: edit distances, and CIGARs, of pairs of sequences.
 *
 * A step is one batch: letters in, kernels, results out. Options and what they mean: README.md.
 */
#ifndef RIFT_ALIGNMENT_H
#define RIFT_ALIGNMENT_H

#include "common/output.h"
#include "workloads/alignment/device.h"
#include "workloads/alignment/pairs.h"
#include "workloads/alignment/reference.h"
#include "workloads/hooks.h"

#ifdef __cplusplus
extern "C" {
#endif

enum alignment_output { ALIGN_DISTANCE, ALIGN_CIGAR };
enum alignment_letters { ALIGN_FOLD, ALIGN_EXACT };
enum alignment_transfer { ALIGN_BYTES, ALIGN_PACKED };
enum alignment_host { ALIGN_AUTO, ALIGN_PINNED, ALIGN_PAGEABLE, ALIGN_MAPPED };

struct alignment_opts {
	int64_t pairs, length;
	double error, band;
	int profile; /* enum alignment_profile */
	int output;  /* enum alignment_output */
	int letters; /* enum alignment_letters */
	int64_t cap;
	int transfer; /* enum alignment_transfer */
	int host;     /* enum alignment_host */
	int resident; /* bool */
	int64_t streams;
	int64_t memory; /* bytes */
	int64_t seed;
	const char *input, *results;
	int columns; /* of results: 0 few, 1 all */
};

enum { ALIGN_STREAMS_MAX = 8, ALIGN_PAIRS_MAX = 1 << 20 };

/* A part of the batch, in a stream of its own. */
struct alignment_slot {
	struct alignment_part part; /* what kernels see: device memory */
	int64_t first;		    /* of its pairs in the batch */
	/* What travels in: pairs, their order, letters. */
	uint8_t *blob, *blob_device;
	size_t blob_bytes;
	/* What travels back: a result for each pair, then runs_max runs. */
	uint8_t *back, *back_device;
	size_t back_bytes;
	cudaStream_t stream; /* of every slot but the first, which is the harness's */
	cudaEvent_t joined;
	/* From the run at setup. */
	bool one;	  /* all in one launch */
	bool wave;	  /* many warps share each pair that comes to the long kernel */
	uint64_t columns; /* of the longest pair that short kernels may see */
	/* Pairs that come to a class, where a warp each is quicker; 0: a thread each. */
	uint32_t warps[ALIGN_L];
	unsigned classes;	     /* bit c: pairs come to class c; before that run: they may */
	uint64_t staged, total_runs; /* runs: places in staging, and what came of them */
	uint64_t trace_bytes;	     /* that its pairs write in a batch */
	uint64_t needed;	     /* words of the largest trace of the long kernel */
	uint32_t long_pairs;	     /* that come to the long kernel */
	uint32_t wave_pairs;	     /* of its list, bad ones too, where many warps share a pair */
	uint32_t kept_pairs;	     /* of these, whose traces do not fit there */
};

/* Which kernels a batch passes. */
struct alignment_choice {
	enum alignment_strip strip;
	enum alignment_class least; /* that pairs start in: S1, and others in tests */
	uint32_t band;		    /* as in alignment_part */
	bool one;		    /* in one launch, where a slot's pairs are few and short */
	uint32_t warps; /* up to so many short pairs at once a warp each; 0: a thread each */
	bool wave;	/* many warps share a long pair */
};

struct alignment_state {
	struct alignment_batch batch;
	struct alignment_choice choice;
	int slots;
	struct alignment_slot slot[ALIGN_STREAMS_MAX];
	bool pageable; /* host memory of the slots */
	bool mapped;   /* kernels that do all in one launch read and write it themselves */
	cudaEvent_t forked;
	int64_t packing_ns;    /* that setup packed letters for */
	struct output results; /* results=, open from setup to report */
};

/* ---- hooks, and what they share --------------------------------------------------------- */

int alignment_limits(const void *opts, struct limits *out);
int alignment_setup(const void *opts, void *state);
int alignment_reset(const void *opts, void *state, cudaStream_t stream);
int alignment_step(const void *opts, void *state, cudaStream_t stream);
int alignment_check(const void *opts, void *state, int64_t steps, struct verdict *verdict);
int alignment_report(const void *opts, void *state, struct report *out);
int alignment_cost(const void *opts, const void *state, struct cost *out);
void alignment_teardown(void *state);

/* Letters that pairs take where each sequence begins a group of 32 (packed.c). */
size_t alignment_packed_letters(const struct alignment_pair *pair, uint32_t n);

/*
 * Packs the letters of n pairs, from number `first` of the batch on, and sets where pair[] finds
 * them, in letters: four to a byte of `packed`, which begins at a whole word. Returns 0, or -EINVAL
 * after a line about the first letter that is not A, C, G or T.
 */
int alignment_pack_letters(const struct alignment_opts *o, const struct alignment_batch *b,
			   int64_t first, struct alignment_pair *pair, uint32_t n, uint8_t *packed);

/* What slots need (memory.c). Each returns 0, or -ENOMEM after a line; the first one -EINVAL, too,
 * where letters cannot be packed. */
int alignment_slot_init(const struct alignment_opts *o, struct alignment_state *s, int i);
int alignment_allocate_workspace(const struct alignment_state *s, struct alignment_slot *slot);
int alignment_allocate_staging(struct alignment_slot *slot);
/* For part.runs_max runs, instead of what there was. */
int alignment_allocate_back(const struct alignment_state *s, struct alignment_slot *slot);
void alignment_slot_release(const struct alignment_state *s, struct alignment_slot *slot);

/* Enqueues the kernels of a slot's batch. Returns the number of launches. */
int alignment_launch(const struct alignment_state *s, const struct alignment_slot *slot,
		     cudaStream_t stream);

/* Class that a pair starts in, but none before choice->least where both sequences have letters. */
enum alignment_class alignment_class_in(const struct alignment_choice *choice,
					const struct alignment_pair *p);

/* By the lengths of a batch. */
struct alignment_choice alignment_choose(const struct alignment_opts *o,
					 const struct alignment_batch *b);

/* The rest of the setup hook, for s->batch as it is. */
int alignment_setup_batch(const struct alignment_opts *o, struct alignment_state *s,
			  struct alignment_choice choice);

/* A batch as the choice of strips sees it. */
struct alignment_extent {
	double pairs, longest, first_band; /* pairs that come to the long kernel; letters, edits */
	double memory;			   /* bytes of traces at once */
	bool cigar;
};
enum alignment_strip alignment_strip_for(const struct alignment_extent *e);

/* Are distances sooner found where many warps share a pair? */
bool alignment_wave_pays(const struct alignment_extent *e);

/* Order of a slot's pairs by class, and the first of each; pairs are numbered within the slot. */
void alignment_order(const struct alignment_choice *choice, const struct alignment_pair *pair,
		     uint32_t n, uint32_t *order, uint32_t first[ALIGN_CLASSES + 1]);

/* Fills in what the slot's run at setup says about the one to come (plan.c). */
void alignment_plan(const struct alignment_state *s, struct alignment_slot *slot);

/* Slices for pairs that many warps share, where there may be any. */
void alignment_plan_wave(const struct alignment_state *s, struct alignment_slot *slot);

/* Their traces, in so many bytes; where these are too few, the long kernel takes the pairs. */
void alignment_plan_wave_traces(const struct alignment_state *s, struct alignment_slot *slot,
				size_t bytes);

/* Sizes of the workspace for `bytes` of memory. */
void alignment_plan_workspace(const struct alignment_state *s, struct alignment_slot *slot,
			      size_t bytes);

/* What came of a batch, on the host. */
struct alignment_outcome {
	struct alignment_result *result; /* [pairs]; .at counts from the slot's runs */
	const uint32_t **runs;		 /* [pairs]: of each pair */
	uint8_t *back[ALIGN_STREAMS_MAX];
};

/* After a synchronize; from the host's memory where results travel, else from the device's. */
void alignment_outcome_init(const struct alignment_opts *o, const struct alignment_state *s,
			    struct alignment_outcome *out);
void alignment_outcome_release(struct alignment_outcome *out);

const char *alignment_status_name(unsigned status);

/* A pair of the batch as the reference sees it. */
struct alignment_view alignment_pair_view(const struct alignment_opts *o,
					  const struct alignment_batch *b, int64_t pair);

/* Writes results=FILE: a row for each pair. Returns 0 or an errno after a line. */
int alignment_write_results(const struct alignment_opts *o, struct alignment_state *s,
			    const struct alignment_outcome *out);

extern const struct workload workload_alignment;

#ifdef __cplusplus
}
#endif
#endif
