/*
 * slots.h - data sets in turn: step k of a workload works on slot k mod slots.
 *
 * k is a counter on the device that the last block of a step's last launch advances
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

enum {
	SLOTS_MAX = 64,
	SLOTS_PARTS = 64,	     /* that the blocks of a large launch are counted in */
	SLOTS_LINE = 128,	     /* bytes that atomic operations keep each other from */
	SLOTS_POISON_REAL = 0xff,    /* every byte: floats and doubles are NaN */
	SLOTS_POISON_INTEGER = 0x7f, /* -1 may be an answer */
};

/* Blocks of the launch in hand that have come by, or parts of them that all have. */
struct slots_tickets {
	uint32_t n;
	char rest[SLOTS_LINE - sizeof(uint32_t)];
};

/*
 * Device memory, from slots_counter_new() to slots_counter_free(), which takes NULL too. With all
 * tickets from one address a launch of 131,072 blocks that streams through memory took 679 us on an
 * H200, by parts 622: more blocks than there are parts go by parts.
 */
struct slots_counter {
	uint32_t steps; /* since the reset */
	char rest[SLOTS_LINE - sizeof(uint32_t)];
	struct slots_tickets all, part[SLOTS_PARTS];
};

struct slots_counter *slots_counter_new(void);
void slots_counter_free(struct slots_counter *counter);

/* Enqueues: no steps. */
void slots_counter_reset(struct slots_counter *counter, cudaStream_t stream);

/* Waits for the device. */
uint32_t slots_counter_read(const struct slots_counter *counter);

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
