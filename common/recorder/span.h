/*
 * span.h - when a program's first and last calls of the CUDA runtime begin, and how long its NVTX
 * ranges take: what the library span/, loaded into the program, and who runs it agree on. README.md
 * has what it costs.
 *
 * The file that the variable names is shared by all processes of the program. Programs that link
 * the runtime statically, or have none, leave the calls as they were: zeroed.
 */
#ifndef RIFT_RECORDER_SPAN_H
#define RIFT_RECORDER_SPAN_H

#include <stdint.h>

#define SPAN_VARIABLE "RIFT_SPAN"
#define SPAN_LIBRARY "recorder/span.so"
/* Names the library to NVTX, which is a part of the program and loads it at the first range. */
#define SPAN_NVTX_VARIABLE "NVTX_INJECTION64_PATH"

enum { SPAN_RANGES_MAX = 12, SPAN_NAME = 40 };

/* All ranges of a name, on all threads; those that lie in others of the name count twice. */
struct span_range {
	char name[SPAN_NAME]; /* cut */
	uint64_t count, ticks;
};

struct program_span {
	int64_t first_ns;     /* CLOCK_MONOTONIC; 0: no call was seen */
	uint64_t first_ticks; /* of the processor's counter, then */
	uint64_t last_ticks;  /* and when the last call began */

	uint32_t taken;	 /* a process is adding a name */
	uint32_t ranges; /* names; others than the first SPAN_RANGES_MAX are left out */
	struct span_range range[SPAN_RANGES_MAX];
};

#ifdef __x86_64__
static inline uint64_t span_ticks(void)
{
	return __builtin_ia32_rdtsc();
}
#endif

#endif
