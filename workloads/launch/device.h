/*
 * device.h - what the host and the kernels of the launch workload share: the argument block, what
 * kernels leave behind, and the kernels' addresses.
 *
 * The host launches by address (cudaLaunchKernel, cudaLaunchKernelExC): what is measured is the
 * call, not a template around it that copies arguments.
 */
#ifndef RIFT_LAUNCH_DEVICE_H
#define RIFT_LAUNCH_DEVICE_H

#include <cuda_runtime_api.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
	LAUNCH_THREADS = 32, /* a block: one warp */
	LAUNCH_STREAMS_MAX = 8,
	LAUNCH_WORDS_MAX = 512, /* of 8 bytes, in the largest argument block */
	LAUNCH_STARTS = 8,	/* different chains of multiply-adds in a block: lane mod 8 */
	LAUNCH_FIRSTS = 8,	/* kernels that are launched once */
	LAUNCH_CONFIGS = 128,	/* states that a process has at a time; a power of 2 */
	LAUNCH_CONFIG_BIT = 24, /* of word 0, where the number of its config begins */
};

/*
 * The argument block of a kernel is 1, 32 or 512 words. Word 0: bits 0-7 number of the stream,
 * 8-23 a tag, 24-30 number of the config, 31 set, 32-63 units of work that this launch does. The
 * other words are noise that is known to the check.
 */
enum launch_args { LAUNCH_ARGS_8, LAUNCH_ARGS_256, LAUNCH_ARGS_4096, LAUNCH_ARGS_COUNT };

enum launch_body {
	LAUNCH_EMPTY,
	LAUNCH_SPIN, /* until the multiprocessor's clock has advanced by so many cycles */
	LAUNCH_WORK, /* a chain of fused multiply-adds in every thread */
	LAUNCH_BODIES,
};

/*
 * What a block of the grid of one stream has done since the reset. Only ever added to, by atomic
 * operations whose result nobody waits for.
 */
struct launch_slot {
	unsigned long long runs;   /* units that ran */
	unsigned long long args;   /* sum over runs of sum((2 i + 1) * word i), less the units */
	unsigned long long work;   /* sum over runs and threads of the bits of the chain's end */
	unsigned long long cycles; /* sum over runs of the cycles spun */
};

/* What all launches of a state have in common: in constant memory, not in the arguments. */
struct launch_config {
	struct launch_slot *slot;     /* [streams][blocks], device memory */
	unsigned long long *shortest; /* [streams][blocks]: fewest cycles that a run has spun */
	unsigned long long cycles;    /* to spin */
	uint32_t blocks;	      /* of a grid */
	uint32_t chain;		      /* multiply-adds of a thread */
};

/* Address of a kernel, for both entry points. */
const void *launch_kernel(enum launch_body body, enum launch_args args);

/* Words of an argument block. */
int launch_words(enum launch_args args);

/* Makes the driver load every kernel of kernels.cu. */
void launch_load_kernels(void);

/*
 * Enqueues: launches that follow in stream order, with this number in their word 0, see *config,
 * which must live until then.
 */
void launch_configure(const struct launch_config *config, int number, cudaStream_t stream);

/* ---- kernels that probes need (probe_kernels.cu, first.cu) ------------------------------ */

/* (uint32_t *flag, uint32_t value): writes value to mapped host memory. */
const void *launch_teller(void);

/*
 * (unsigned long long *out): spins out[0] cycles, writes the cycles spun to out[1] and the
 * nanoseconds that the device's timer saw go by to out[2].
 */
const void *launch_clock(void);

void launch_load_probe_kernels(void);

/* Enqueues a kernel that does nothing, so that the stream has all that it needs. */
void launch_touch_stream(cudaStream_t stream);

/* (unsigned long long *count): adds 1. Number i of LAUNCH_FIRSTS; nothing loads them before. */
const void *launch_first(int i);

#ifdef __cplusplus
}
#endif
#endif
