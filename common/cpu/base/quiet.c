/*
 * quiet.c - keeps the library's own memory out of the thread sanitizer's sight.
 *
 * The library is not instrumented, but the sanitizer sees every malloc, free and memcpy, and
 * takes a queue entry that one thread fills and another frees for a race: the locks between them
 * order nothing (sanitize.h). With -DCPUDEV_TSAN the linker sends those calls here (--wrap, in
 * build.mk). The program's data are moved by memmove and memset, which stay visible, and device
 * memory comes from posix_memalign.
 */
#include "common/cpu/base/sanitize.h"

#ifdef CPUDEV_TSAN
#include <stdlib.h>
#include <string.h>

void __tsan_ignore_thread_begin(void);
void __tsan_ignore_thread_end(void);

#define QUIET(type, name, parameters, arguments)                                                   \
	type __real_##name parameters;                                                             \
	type __wrap_##name parameters;                                                             \
	type __wrap_##name parameters                                                              \
	{                                                                                          \
		__tsan_ignore_thread_begin();                                                      \
		type result = __real_##name arguments;                                             \
                                                                                                   \
		__tsan_ignore_thread_end();                                                        \
		return result;                                                                     \
	}

QUIET(void *, malloc, (size_t bytes), (bytes))
QUIET(void *, calloc, (size_t n, size_t bytes), (n, bytes))
QUIET(void *, realloc, (void *p, size_t bytes), (p, bytes))
QUIET(void *, aligned_alloc, (size_t align, size_t bytes), (align, bytes))
QUIET(void *, memcpy, (void *to, const void *from, size_t bytes), (to, from, bytes))

void __real_free(void *p);
void __wrap_free(void *p);
void __wrap_free(void *p)
{
	__tsan_ignore_thread_begin();
	__real_free(p);
	__tsan_ignore_thread_end();
}
#endif
