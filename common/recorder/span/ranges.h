/* ranges.h - what both parts of the library write to. */
#ifndef RIFT_RECORDER_SPAN_RANGES_H
#define RIFT_RECORDER_SPAN_RANGES_H

#include <stdbool.h>

#include "common/recorder/span.h"

/* The shared file, or the library's own memory where there is none. */
extern __attribute__((visibility("hidden"))) struct program_span *span_at;

#endif
