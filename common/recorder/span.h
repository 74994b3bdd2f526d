/*
 * span.h - when a program's first and last calls of the CUDA runtime begin: what the library span/,
 * preloaded into the program, and who runs it agree on. A call takes 10 ns longer for it.
 *
 * The file that the variable names is shared by all processes of the program. Programs that link
 * the runtime statically, or have none, leave it as it was: zeroed.
 */
#ifndef RIFT_RECORDER_SPAN_H
#define RIFT_RECORDER_SPAN_H

#include <stdint.h>

#define SPAN_VARIABLE "RIFT_SPAN"
#define SPAN_LIBRARY "recorder/span.so"

struct span {
	int64_t first_ns;     /* CLOCK_MONOTONIC; 0: no call was seen */
	uint64_t first_ticks; /* of the processor's counter, then */
	uint64_t last_ticks;  /* and when the last call began */
};

#ifdef __x86_64__
static inline uint64_t span_ticks(void)
{
	return __builtin_ia32_rdtsc();
}
#endif

#endif
