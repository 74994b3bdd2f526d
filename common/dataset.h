/*
 * dataset.h - data sets that steps take in turn: the arrays of every slot on the device and, where
 * data=streamed, on the host; their limits, copies and poison, and what a check asks of all bytes.
 *
 * A workload says what its arrays are (struct dataset_shape), how inputs are made and how outputs
 * are computed (struct dataset_work). It keeps a struct dataset_opts in its options, a struct
 * dataset in its state, and puts DATASET_PARAMS and DATASET_NEEDS into its tables. Its hooks then
 * call the functions of the same name below.
 */
#ifndef RIFT_DATASET_H
#define RIFT_DATASET_H

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/slots.h"
#include "common/streamed.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- what options say ------------------------------------------------------------------- */

struct dataset_opts {
	int64_t slots;
	int data;	 /* enum streamed_data */
	int64_t block;	 /* bytes of a copy; 0: all of an array in one */
	int memory;	 /* enum streamed_memory */
	int64_t overlap; /* chunks of a step; 0: one */
	int64_t total;	 /* bytes to copy, rounded up to whole steps; 0: not said */
};

/* Rows of workloads/workload.h for the field `set` of struct T, a struct dataset_opts. */
/* clang-format off */
#define DATASET_ROW(T, f, type, kind, unit, def, lo, hi, names, help, aside)                       \
	{ #f, kind, PARAM_FIELD(T, set.f, type), unit, def, lo, hi, names, help, NULL, aside, false }
#define DATASET_PARAMS(T)                                                                          \
	DATASET_ROW(T, slots, int64_t, PARAM_INT, "1", "2", 1, SLOTS_MAX, NULL,                    \
		    "number of data sets, which steps use in turn", NULL),                         \
	DATASET_ROW(T, data, int, PARAM_CHOICE, "", "resident", 0, 0, streamed_data_names,         \
		    "data stays on the device, or is copied in and out in every step",             \
		    "resident,streamed"),                                                          \
	DATASET_ROW(T, block, int64_t, PARAM_SIZE, "bytes", "4M", 0, STREAMED_BLOCK_MAX, NULL,     \
		    "size of a copy, a power of two from 64k on; 0: an array in one", NULL),       \
	DATASET_ROW(T, memory, int, PARAM_CHOICE, "", "pinned", 0, 0, streamed_memory_names,       \
		    "host memory of copies: cudaMallocHost or malloc", NULL),                      \
	DATASET_ROW(T, overlap, int64_t, PARAM_INT, "1", "0", 0, STREAMED_CHUNKS_MAX, NULL,        \
		    "chunks of a step whose copies and kernels overlap, from 2 on; 0: none", NULL), \
	DATASET_ROW(T, total, int64_t, PARAM_SIZE, "bytes", "0", 0, 0x1p50, NULL,                  \
		    "bytes to copy in all, which sets the default of --depth; 0: not given",       \
		    NULL)
#define DATASET_NEEDS                                                                              \
	{ "block", "data=streamed" }, { "memory", "data=streamed" },                               \
		{ "overlap", "data=streamed" }, { "total", "data=streamed" }
/* clang-format on */

/* ---- what the arrays are ---------------------------------------------------------------- */

enum {
	DATASET_ARRAYS_MAX = 8,
	DATASET_STEPS_MAX = 1 << 24, /* what --depth takes */
	DATASET_ALIGN = 64, /* words: arrays and, with row = this, chunks begin at 256 bytes */
};

/* An array of 4-byte words, one of these a slot. */
struct dataset_array {
	int64_t words;
	int64_t row;  /* words that stay in one chunk; only the last row may be short */
	int64_t halo; /* rows that a chunk wants beyond its own; as many as there are: all */
};

struct dataset_shape {
	int inputs, outputs; /* arrays; the inputs stand first */
	struct dataset_array array[DATASET_ARRAYS_MAX];
	int poison;	  /* SLOTS_POISON_REAL or _INTEGER */
	const char *unit; /* what a word of an output belongs to, for messages: "option" */
	int64_t besides;  /* bytes of the device that the workload takes for itself */
	bool host_turn;	  /* its launches cannot read the counter: the host chooses each slot */
	bool uncounted;	  /* nor advance it: only the answers show that there were steps */
};

int dataset_chunks(const struct dataset_opts *o);

/*
 * The first word of a chunk; of the one behind the last: the end of the array. Rows are dealt out
 * evenly, so arrays of as many rows are cut at the same ones.
 */
int64_t dataset_edge(const struct dataset_array *a, int chunk, int chunks);

/* 0, or -EINVAL after one line about block=, overlap= or total=. */
int dataset_opts_check(const struct dataset_opts *o, const struct dataset_shape *shape);

/* Why these modes are refused; NULL: they are not. */
const char *dataset_graph_refused(const struct dataset_opts *o, const struct dataset_shape *shape);
const char *dataset_fused_refused(const struct dataset_opts *o);

/* Copies of a step in one direction; none where data=resident. */
struct dataset_copies {
	double calls, bytes;
};

struct dataset_copies dataset_copies_in(const struct dataset_opts *o,
					const struct dataset_shape *shape);
struct dataset_copies dataset_copies_out(const struct dataset_opts *o,
					 const struct dataset_shape *shape);

/* Steps that copy total= bytes: struct limits' depth_asked; 0: any number. */
int64_t dataset_steps(const struct dataset_opts *o, const struct dataset_shape *shape);

/* Bytes of all arrays of one slot. */
int64_t dataset_bytes(const struct dataset_shape *shape);

/* ---- memory and steps ------------------------------------------------------------------- */

/* Zero: nothing is there. */
struct dataset {
	struct dataset_opts o;
	struct dataset_shape shape;
	uint32_t device_slots; /* all; streamed: one */
	void *device, *host;   /* the arrays, each with its slots side by side; host: streamed */
	struct slots_counter *counter;
	struct streamed_lanes lanes;
	int64_t enqueued; /* steps, since the reset; counted where the host chooses slots */
};

/* A part of a step, or all of it: chunk 0 of 1. counts: the step ends with it, and is counted. */
struct dataset_part {
	int chunk, chunks;
	bool counts;
	int64_t slot; /* of the device, if host_turn */
};

struct dataset_work {
	/* Makes the inputs of a data set, in the arrays of slot `at` of the device; stream 0. */
	void (*make)(const void *opts, void *state, int64_t slot, int64_t at);
	/* Enqueues the outputs of a part, of the slot whose turn it is: streamed, of the one. */
	void (*compute)(const void *opts, void *state, const struct dataset_part *part,
			cudaStream_t stream);
};

/*
 * Allocates, and makes the inputs of every slot where steps expect them. what: the options that
 * decide on the size, for who is told that there is too little: "options=64". Returns 0, -ENOMEM
 * after one line, or -EINTR. The dataset is in the state: make() finds it there.
 */
int dataset_make(struct dataset *d, const struct dataset_opts *o, const struct dataset_shape *shape,
		 const char *what);
int dataset_fill(struct dataset *d, const struct dataset_work *w, const void *opts, void *state);
void dataset_release(struct dataset *d); /* takes zero, and leaves it */

/* Words from one slot of an array to the next; at least one of them is behind the array's end. */
int64_t dataset_stride(const struct dataset_array *a);

/* The array k of a slot: an input, or inputs + an output. NULL where there is none. */
void *dataset_device(const struct dataset *d, int k, int64_t slot);
void *dataset_host(const struct dataset *d, int k, int64_t slot);

/* Bytes of the outputs of so many slots, one range from output 0 of slot 0 on. */
size_t dataset_output_bytes(const struct dataset_shape *shape, int64_t slots);

/* Enqueues: no steps, all outputs poison. Those of the host are poisoned at once. */
void dataset_reset(struct dataset *d, cudaStream_t stream);

/*
 * Enqueues a step, with its copies where data=streamed. Which slot of the host it copies, and with
 * host_turn the one of the device, is chosen here, by the steps enqueued since the reset. So a
 * graph repeats the slots of its capture, which has to follow a reset: slot 0 and so on.
 */
void dataset_step(struct dataset *d, const struct dataset_work *w, const void *opts, void *state,
		  cudaStream_t stream);

/* ---- checks ----------------------------------------------------------------------------- */

enum {
	DATASET_PIECE = 1 << 18, /* words; how much of an array is looked at in one go */
};

/* Words that are fetched and compared in 0.05 s; a test asks for fewer. */
extern int64_t dataset_look;

struct dataset_audit {
	uint64_t answers; /* a bit for each slot that has them */
	int64_t flaws;	  /* what is not as steps leave it */
	char first[96];	  /* the first of these, for the user */
};

/* After how many steps, and how much is looked at: struct verdict has all but the first. */
struct dataset_extent {
	int64_t steps, graph_steps;
	bool full;
	uint64_t seed;
};

/*
 * After so many steps, graphs of at most graph_steps among them: were they counted; are the outputs
 * of slots that none came to, and what is behind the end of each array, still poison; streamed, did
 * the others come back as they are computed once more, from inputs that were not copied? The audit
 * looks at every byte. Where that is more than dataset_look words, and not full, it looks at
 * a seeded sample of each array (common/pieces.h). Answers themselves are for the workload to
 * compare. Returns 0 or -EINTR.
 */
int dataset_audit(struct dataset *d, const struct dataset_work *w, const void *opts, void *state,
		  const struct dataset_extent *extent, struct dataset_audit *out);

/* One more flaw, of the word i of an output; only the first is kept. */
void dataset_flaw(struct dataset_audit *a, const struct dataset *d, const char *what, int64_t slot,
		  int64_t i);

/* n words of an output, from `at` on, where steps leave it: on the host if streamed. */
void dataset_fetch(const struct dataset *d, int output, int64_t slot, int64_t at, int64_t n,
		   void *words);

/* ---- reports ---------------------------------------------------------------------------- */

enum { DATASET_TEXT = 160 };

/* Which of the caches could hold what steps touch in turn; and the copies of a step. */
void dataset_touched_text(const struct dataset *d, char text[DATASET_TEXT]);
void dataset_copies_text(const struct dataset *d, char text[DATASET_TEXT]);

/* ns of a step, the median of *n blocks of a large batch: of 5, or of what half a second holds. */
double dataset_step_ns(int (*step)(const void *opts, void *state, cudaStream_t stream),
		       const void *opts, void *state, int64_t *n);

#ifdef __cplusplus
}
#endif
#endif
