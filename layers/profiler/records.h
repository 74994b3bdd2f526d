/* records.h - what the library and rift's side of the layer profiler agree on. */
#ifndef RIFT_LAYER_PROFILER_RECORDS_H
#define RIFT_LAYER_PROFILER_RECORDS_H

#include <stdatomic.h>
#include <stdint.h>

/* Variables of the command: CUPTI's file, that of the counts, and one of PROFILER_CHOICES. */
#define PROFILER_CUPTI "RIFT_LAYER_PROFILER_CUPTI"
#define PROFILER_COUNTS "RIFT_LAYER_PROFILER"
#define PROFILER_KINDS "RIFT_LAYER_PROFILER_KINDS"

/* What is recorded: calls of the runtime and the driver, the GPU's work, or both. */
enum profiler_choice { RECORD_ALL, RECORD_CALLS, RECORD_WORK };

#define PROFILER_CHOICES                                                                           \
	{                                                                                          \
		"all", "calls", "work", NULL                                                       \
	}

/* The classes that records are counted in, a word each. */
#define PROFILER_CLASSES(ROW) ROW(kernel) ROW(copy) ROW(set) ROW(runtime) ROW(driver) ROW(other)

enum record_class {
#define ROW(class) RECORD_##class,
	PROFILER_CLASSES(ROW)
#undef ROW
		RECORD_CLASSES
};

/* The file of counts, shared by all processes under the layer. */
struct profiler_counts {
	_Atomic uint64_t records[RECORD_CLASSES];
	_Atomic uint64_t lost;	    /* CUPTI had no buffer for them */
	_Atomic uint64_t processes; /* that CUPTI was switched on in */
};

/*
 * The library's: has CUPTI deliver what is complete, and returns how many records this process has
 * had. -1: CUPTI is not switched on; *why says why, static memory.
 */
typedef int64_t profiler_flush_function(const char **why);
#define PROFILER_FLUSH_FUNCTION "rift_profiler_flush"

#endif
