/*
 * slots.h - data sets in turn: step k of a workload works on slot k mod slots.
 *
 * k is a counter on the device that all blocks of a step's last launch advance together
 * (common/slots.cuh). So a graph does other work each time it runs, no compiler can take a step
 * out of a loop of steps, and the counter says how many steps there were. A reset poisons all
 * outputs: what no step has written shows.
 */
#ifndef RIFT_SLOTS_H
#define RIFT_SLOTS_H

#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __CUDACC__
#define SLOTS_FN static inline __host__ __device__
#else
#define SLOTS_FN static inline
#endif

enum {
	SLOTS_MAX = 64,
	SLOTS_PARTS = 4,	     /* that a launch is counted in */
	SLOTS_LINE = 128,	     /* bytes that atomic operations keep each other from */
	SLOTS_POISON_REAL = 0xff,    /* every byte: floats and doubles are NaN */
	SLOTS_POISON_INTEGER = 0x7f, /* -1 may be an answer */
};

/* A share of the launches, in units of which one launch is 2^32. */
struct slots_part {
	unsigned long long units;
	unsigned long long tickets; /* of blocks of launches that overlap */
	/* the first part's are used */
	uint32_t steps[2]; /* of even and of odd launches */
	uint32_t blocks;   /* of a launch that overlaps */
	char rest[SLOTS_LINE - 2 * sizeof(unsigned long long) - 3 * sizeof(uint32_t)];
};

/*
 * Device memory, from slots_counter_new() to slots_counter_free(), which takes NULL too.
 *
 * Each block of a launch that counts adds its share of 2^32 units to one of the parts, and waits
 * for nothing. The upper half of their sum is the number of launches before, which every block
 * finds the same until it has added its own share. By its lowest bit one of steps[] is that of the
 * launch in hand, and the first block writes the other. With one part in place of four a launch of
 * 32,768 blocks that streams through memory took an H200 173 us, not 159.
 *
 * Launches that overlap (common/programmatic.h), and want the step before the one before has ended,
 * cannot count so: others of that one may not have added yet. There each block takes a ticket: so
 * many before it, of so many blocks a launch, are so many launches. Each is a step.
 */
struct slots_counter {
	struct slots_part part[SLOTS_PARTS];
};

struct slots_counter *slots_counter_new(void);
void slots_counter_free(struct slots_counter *counter);

/* Enqueues: no steps. */
void slots_counter_reset(struct slots_counter *counter, cudaStream_t stream);

/*
 * Steps since the reset, tickets included; UINT32_MAX: some block of a launch has not counted.
 * Waits for the device.
 */
uint32_t slots_counter_read(const struct slots_counter *counter);

/* Blocks of a launch of so many that take their tickets from this part. */
SLOTS_FN uint32_t slots_part_blocks(uint32_t blocks, uint32_t part)
{
	return (blocks + SLOTS_PARTS - 1 - part) / SLOTS_PARTS;
}

/* Slots that so many steps have come to: the first ones. */
static inline int64_t slots_used(int64_t steps, int64_t slots)
{
	return steps < slots ? steps : slots;
}

/* The first byte that is not the poison; n: there is none. */
size_t slots_poison_ends(const void *bytes, size_t n, int poison);

#ifdef __cplusplus
}
#endif
#endif
