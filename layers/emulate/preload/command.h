/* command.h - a call made into a command that may wait: with copies of all that it points to. */
#ifndef RIFT_LAYER_EMULATE_COMMAND_H
#define RIFT_LAYER_EMULATE_COMMAND_H

#include "layers/emulate/preload/packet.h"

/* How a call's arguments are to be kept. */
enum keep {
	KEEP_WORDS,  /* words only */
	KEEP_KERNEL, /* words 0: the function, 1 to 4: grid and block, 5: its arguments, 6: shared
			bytes */
	KEEP_CONFIGURATION, /* word 0: cudaLaunchConfig_t, 1: the function, 2: its arguments */
	KEEP_COPY,	    /* words 0 and 1: to and from, 2: bytes, 3: the kind */
	KEEP_TO_SYMBOL,	    /* word 1: from, 2: bytes, 4: the kind */
};

/*
 * The command; NULL where the call must not wait: what it says cannot be kept, it waits by itself
 * (copies to pageable memory), or it will fail, which the program shall learn at once.
 */
struct command *command_keep(enum keep keep, struct thread *from, long call,
			     const uint64_t words[WORDS]);

/* Bytes of a launch's arguments; 0 for other calls. */
size_t command_argument_bytes(enum keep keep, const uint64_t words[WORDS]);

/* The stream of a launch by a configuration, KEEP_CONFIGURATION. */
const void *command_stream(const uint64_t words[WORDS]);

/* Is the copy of words to and from between host and device, by its addresses? */
bool command_crosses(const uint64_t words[WORDS]);
bool command_to_host(const uint64_t words[WORDS]);

/* What is known of kernels may have changed. */
void command_forget_kernels(void);

/*
 * Memory that has just been allocated, and not been used. Its page tables are written from now on,
 * after those of earlier allocations, beside what the program does (paging=first-use).
 */
void memory_untouched(const void *memory, size_t bytes);
void memory_released(const void *memory);

bool memory_is_untouched(void); /* any? */

/*
 * When the page tables are written of all memory that a command is the first to use, in ticks; 0:
 * it is the first to use none. A graph may use all. What is used here is no longer untouched.
 */
uint64_t memory_ready(const struct command *c, bool uses_all);

#endif
