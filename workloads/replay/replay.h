/*
 * replay.h - the replay workload: a synthetic program of the same shape as one that `rift profile`
 * has recorded.
 *
 * plan.c makes a list of acts of a trace: what a step does, one after the other. setup.c takes what
 * acts need, step.c plays them, check.c counts what has run. Options and what they mean: README.md.
 */
#ifndef RIFT_REPLAY_H
#define RIFT_REPLAY_H

#include <stdbool.h>

#include "common/pattern.h"
#include "workloads/hooks.h"

#ifdef __cplusplus
extern "C" {
#endif

enum replay_part { REPLAY_AUTO, REPLAY_PERIOD, REPLAY_WHOLE };
enum replay_waits { REPLAY_KEPT, REPLAY_LEFT };
enum replay_allocations { REPLAY_HELD, REPLAY_MADE };

struct replay_opts {
	const char *trace; /* NULL: the built-in pattern */
	int64_t kernels;   /* %, of how long they lasted */
	int part;	   /* enum replay_part */
	int waits;	   /* enum replay_waits */
	int allocations;   /* enum replay_allocations */
};

/* ---- the plan: what a step does --------------------------------------------------------- */

enum replay_kind {
	ACT_KERNEL,
	ACT_GRAPH,
	ACT_COPY,
	ACT_MEMSET,
	ACT_HOSTFUNC,
	ACT_RECORD,
	ACT_WAIT_EVENT,
	ACT_SYNC_STREAM,
	ACT_SYNC_EVENT,
	ACT_SYNC_DEVICE,
	ACT_QUERY, /* asks once */
	ACT_POLL,  /* asks until what it asks for is over */
	ACT_ALLOC,
	ACT_FREE,
	ACT_HOST, /* the host alone: its gap, and nothing behind it */
	ACT_KINDS
};

enum replay_direction { REPLAY_TO_DEVICE, REPLAY_TO_HOST, REPLAY_WITHIN, REPLAY_DIRECTIONS };
enum replay_memory { REPLAY_PINNED, REPLAY_MAPPED, REPLAY_PAGEABLE, REPLAY_MEMORIES };

/* How memory is taken, and given back. */
enum replay_taken { TAKEN_DEVICE, TAKEN_ASYNC, TAKEN_PINNED };

struct replay_act {
	enum replay_kind kind;
	double gap_ns; /* of the host before it */
	bool sleeps;   /* in that gap */
	double ns; /* kernel, host function: how long it runs; of a graph all kernels together */
	int stream, event, graph; /* numbers of the plan; -1: none */
	int blocks, threads;
	int64_t bytes;
	enum replay_direction direction;
	enum replay_memory memory;
	enum replay_taken taken;
	bool blocks_host; /* a copy that the caller waits for: cudaMemcpy */
	int64_t place; /* kernel: its counter; copy, memset: its area's; alloc, free: the block */
	int slot;      /* copy: which of its area */
};

enum replay_stream_kind { STREAM_OF_LEGACY, STREAM_OF_BLOCKING, STREAM_OF_OWN };

struct replay_stream {
	enum replay_stream_kind kind;
	int priority;
	int64_t ops; /* of a step */
	bool open;   /* at the end of a step the main stream has not waited for it */
};

struct replay_graph {
	int64_t nodes, kernels;
	double ns;	/* of all kernels of a launch */
	int64_t place;	/* of its kernels' counters */
	int64_t number; /* of launches in a step */
};

/* Destinations of copies that are alike, in turn; of memsets one. */
struct replay_area {
	enum replay_direction direction;
	enum replay_memory memory;
	int stream;
	bool memset;
	int64_t bytes, copies;
	int slots;
};

struct replay_plan {
	bool built_in, whole;
	bool has_no_end;   /* the trace: what follows is missing */
	char program[128]; /* its command line */
	struct replay_act *act;
	int64_t acts;
	struct replay_stream *stream;
	int streams;
	int main; /* the one that is the harness' own; -1: none, all are made */
	struct replay_graph *graph;
	int graphs;
	struct replay_area *area;
	int areas, events;
	int64_t counters;	   /* of kernels, those in graphs included */
	int64_t blocks;		   /* of memory that is taken and given back */
	bool *kept;		   /* of each: it is there when a step begins */
	int64_t depth;		   /* of a run, where nobody asks for another */
	int64_t number[ACT_KINDS]; /* of acts */
	int64_t repeats;	   /* of the period in the trace */
	int threads;		   /* that made its calls */
	double kernel_floor_ns;	   /* what an empty kernel reads in the trace */
	double host_ns, slept_ns;  /* of gaps in a step */
	double recorded_ns;	   /* a step in the trace, with the recorder */
	double program_ns;	   /* without it; NAN: not known */
	bool ends_waiting;	   /* with a synchronize that the harness makes */
	const char *only_stream;   /* why there is no graph of steps; NULL: there may be */
	const char *only_one;	   /* why a step is waited for by itself; NULL: it need not be */
};

/* Reads the trace, or makes the built-in pattern. 0, or a negative errno after one line. */
int replay_plan_make(struct replay_plan *p, const struct replay_opts *o);
void replay_plan_release(struct replay_plan *p);

/* The last part of it: areas, counters and what steps may be, from acts, streams and graphs. */
void replay_plan_finish(struct replay_plan *p, enum replay_waits waits);

/* The built-in pattern. */
void replay_plan_pattern(struct replay_plan *p);

/* ---- state ------------------------------------------------------------------------------ */

/* Where sources of copies are: memory of the host of each kind, and the device's. */
enum { REPLAY_SOURCE_DEVICE = REPLAY_MEMORIES, REPLAY_SOURCES_OF };

enum {
	REPLAY_SOURCES = 61,	   /* bytes that copies bring, in turn: a prime */
	REPLAY_SHIFT = 4096,	   /* bytes from one source to the next */
	REPLAY_AREA_MAX = 64 << 20 /* bytes of an area of more than one slot */
};

struct replay_memory_of {
	char *base;
	size_t bytes;
	bool on_device;
	enum replay_memory host; /* counts on the host */
};

/* Ticks in a ns of the clock that kernels spin by; what a spin lasts beyond an empty kernel. */
struct replay_tuning {
	double ticks_per_ns, beyond_ns;
};

struct replay_state;

/* What a host function is given. */
struct replay_function {
	struct replay_state *state;
	double ns;
};

struct replay_state {
	struct replay_plan plan;
	cudaStream_t *stream; /* of the plan; NULL: the legacy stream, or the harness' own */
	cudaEvent_t *event, *joined, forked; /* of the plan; of each stream that is open */
	cudaGraphExec_t *graph;
	struct replay_memory_of *area;			   /* of the plan, its slots side by side */
	struct replay_memory_of source[REPLAY_SOURCES_OF]; /* host, by its kind; device */
	struct replay_function *function;
	void **block;		     /* memory that steps take and give back */
	unsigned long long *count;   /* device memory: blocks of each kernel that ran */
	struct pattern_wrong *wrong; /* device memory, of checks */
	int64_t functions;	     /* host functions that have run since the reset */
	struct replay_tuning tuning;
	int64_t steps;	     /* enqueued since the reset */
	int64_t returned_ns; /* when the last call returned */
};

/* ---- hooks, and what they share --------------------------------------------------------- */

int replay_setup(const void *opts, void *state);
int replay_reset(const void *opts, void *state, cudaStream_t stream);
int replay_step(const void *opts, void *state, cudaStream_t stream);
int replay_check(const void *opts, void *state, int64_t steps, struct verdict *verdict);
int replay_report(const void *opts, void *state, struct report *out);
void replay_teardown(void *state);

/* From one slot of an area to the next: a copy, guards behind it, and so that slots are aligned. */
size_t replay_stride(const struct replay_area *a);

/* The plan's stream, where `own` is the harness'. */
cudaStream_t replay_stream_of(const struct replay_state *s, int stream, cudaStream_t own);

/* The clock that gaps are told by goes on until then. */
void replay_wait_until(int64_t ns, bool sleeps);

/* The word of the pattern at which the source of a copy begins, of that slot and that step. */
uint64_t replay_source_word(int slot, int64_t step);

/* The byte that a memset of that step sets. */
int replay_set_byte(int64_t step);

/* kernels.cu */
void replay_load_kernels(void);
const void *replay_kernel(void); /* for asking how many blocks are a wave */

/* Enqueues a kernel that counts its blocks and spins for so many ticks. */
void replay_launch(unsigned long long *count, unsigned long long ticks, int blocks, int threads,
		   cudaStream_t stream);

void replay_launch_nothing(cudaStream_t stream);

/* Enqueues: out gets the ticks and the ns of a spin of so many ticks. */
void replay_launch_clocks(unsigned long long *out, unsigned long long ticks, cudaStream_t stream);

/* tune.c: waits for the device; ticks_per_ns is NAN or 0 where its clocks do not say. */
struct replay_tuning replay_tune(void);

/* How long a kernel that lasts so many ns, those of an empty one left out, has to spin. */
unsigned long long replay_ticks(const struct replay_tuning *t, double ns);

extern const struct workload workload_replay;

#ifdef __cplusplus
}
#endif
#endif
