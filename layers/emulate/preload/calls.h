/* calls.h - what functions that are not the runtime's need of calls.c: cuBLAS's (blas.c). */
#ifndef RIFT_LAYER_EMULATE_CALLS_H
#define RIFT_LAYER_EMULATE_CALLS_H

#include "layers/emulate/preload/packet.h"

/* Some stream records instead of doing. */
bool calls_captured(void);

/* Waits for what is left until memory is ready that these words are the first to use; NULL: all. */
void calls_wait_for_memory(struct thread *by, const uint64_t words[WORDS]);

/* The calling thread's own default stream (cudaStreamPerThread), which no other thread can name. */
bool calls_own_stream(const void *stream);

#endif
