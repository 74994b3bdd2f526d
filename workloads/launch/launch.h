/*
 * launch.h - the launch workload: kernels of a chosen duration that do nothing else, so that what
 * submitting them costs can be seen.
 *
 * A step is one launch in each of `streams` streams. Options and what they mean: README.md.
 */
#ifndef RIFT_LAUNCH_H
#define RIFT_LAUNCH_H

#include <stdbool.h>

#include "workloads/launch/device.h"
#include "workloads/hooks.h"

#ifdef __cplusplus
extern "C" {
#endif

enum launch_fill { LAUNCH_FILL_SPIN, LAUNCH_FILL_WORK };
enum launch_width { LAUNCH_WIDTH_BLOCK, LAUNCH_WIDTH_WAVE, LAUNCH_WIDTH_FULL };
enum launch_probing { LAUNCH_PROBE_NO, LAUNCH_PROBE_YES, LAUNCH_PROBE_QUICK };
enum launch_entry { LAUNCH_ENTRY_LAUNCH, LAUNCH_ENTRY_LAUNCHEX };

struct launch_opts {
	int64_t us;
	int kernel; /* enum launch_fill */
	int args;   /* enum launch_args */
	int width;  /* enum launch_width */
	int64_t streams;
	int entry; /* enum launch_entry */
	int64_t mhz;
	int probe; /* enum launch_probing */
	/* What the process holds meanwhile: bytes, and how many. */
	int64_t hold_pinned, hold_mapped, hold_device, hold_pieces;
	int64_t hold_streams, hold_events, hold_modules;
};

enum { LAUNCH_US_MAX = 10000 };

/* Kinds of what is held, in the order in which it is taken; those before streams are memory. */
enum launch_hold {
	LAUNCH_HOLD_PINNED,
	LAUNCH_HOLD_MAPPED,
	LAUNCH_HOLD_DEVICE,
	LAUNCH_HOLD_STREAMS,
	LAUNCH_HOLD_EVENTS,
	LAUNCH_HOLD_MODULES,
	LAUNCH_HOLDS,
};

/* Memory, streams, events and modules of code that nobody uses. */
struct launch_held {
	void **piece[LAUNCH_HOLDS];
	int64_t n[LAUNCH_HOLDS];
};

/* What the formulas for cycles and chains need to know of a device. */
struct launch_device {
	int major, minor;  /* compute capability; 0.0: the CPU device */
	int clock_khz;	   /* of the multiprocessors; 0: the device does not say */
	int sms;	   /* multiprocessors */
	int blocks_per_sm; /* of this kernel that fit at a time */
};

struct launch_state {
	struct launch_device device;
	struct launch_config config; /* what launches see after the reset */
	int place;		     /* 1 more than its number; 0: it has none */
	const void *kernel;
	double cycles_per_us;
	int cycles_per_fma;
	uint64_t args[LAUNCH_STREAMS_MAX][LAUNCH_WORDS_MAX]; /* argument blocks, units 0 */
	/* One for every stream but the first, which is the harness's. */
	cudaStream_t stream[LAUNCH_STREAMS_MAX];
	cudaEvent_t joined[LAUNCH_STREAMS_MAX];
	cudaEvent_t forked;
	struct launch_held held;
};

/* ---- hooks, and what they share --------------------------------------------------------- */

int launch_limits(const void *opts, struct limits *out);
int launch_setup(const void *opts, void *state);
int launch_reset(const void *opts, void *state, cudaStream_t stream);
int launch_step(const void *opts, void *state, cudaStream_t stream);
int launch_fused(const void *opts, void *state, cudaStream_t stream, int64_t n);
int launch_check(const void *opts, void *state, int64_t steps, struct verdict *verdict);
int launch_report(const void *opts, void *state, struct report *out);
void launch_teardown(void *state);

/* Which kernel the options mean: us=0 is the empty one. */
enum launch_body launch_effective_body(const struct launch_opts *o);

/* ---- formulas --------------------------------------------------------------------------- */

/* Cycles of clock64() in a microsecond: mhz where given, else what the device says; 0: unknown. */
double launch_cycles_per_us(const struct launch_device *d, int64_t mhz);

/*
 * Cycles of a block that one multiply-add of the chain takes: 4 of latency, or more where the
 * warps that share a multiprocessor keep its units busy.
 */
int launch_cycles_per_fma(const struct launch_device *d, enum launch_width width);

/* Blocks of a grid. */
int64_t launch_blocks(const struct launch_device *d, enum launch_width width);

/* ---- reference (reference.c) ------------------------------------------------------------ */

/* End of the chain that starts at number `start` of LAUNCH_STARTS, as the bits of a float. */
uint32_t launch_chain_end(int start, int64_t chain);

/* What a launch with these arguments adds to launch_slot.args. */
uint64_t launch_args_sum(const uint64_t *word, int words);

/* ---- hold_*= (hold.c) ------------------------------------------------------------------- */

/* Bytes, or how many, that the options ask for. */
int64_t launch_holds(const struct launch_opts *o, enum launch_hold kind);
bool launch_holds_any(const struct launch_opts *o);

/* Returns 0, or -EINVAL after one line. */
int launch_hold_limits(const struct launch_opts *o);

/*
 * Takes all of it, uses it once and waits. Returns 0, or after one line -ENOMEM, or -ENOTSUP where
 * no modules are loaded, as on the CPU device; h then has what was taken before.
 */
int launch_hold(const struct launch_opts *o, struct launch_held *h);

/* Gives back what is there, the last first. */
void launch_release(struct launch_held *h);

/* Adds a row for each kind that is held. */
void launch_report_held(const struct launch_held *h, const struct launch_opts *o,
			struct report *out);

/* ---- probe=yes -------------------------------------------------------------------------- */

/* Adds a row for everything that blocks of steps do not show. Returns 0 or an errno. */
int launch_probe(const struct launch_opts *o, struct launch_state *s, struct report *out);

extern const struct workload workload_launch;

#ifdef __cplusplus
}
#endif
#endif
