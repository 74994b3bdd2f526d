/*
 * span.c - a CUDA runtime that notes when it is called and passes the call on; see span.h.
 *
 * Every function of libcudart is one and the same: it stores the processor's counter and jumps to
 * the next library's function of that name, with registers and stack as they were.
 */
#include "common/recorder/span/ranges.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "layers/interpose.h"

#ifdef __x86_64__

#define HIDDEN __attribute__((visibility("hidden")))
#define SHOWN __attribute__((visibility("default")))

static struct program_span own; /* where there is no file */

/* The functions below read them. */
HIDDEN struct program_span *span_at = &own;
HIDDEN uint64_t *span_last = &own.last_ticks;
HIDDEN void *span_next[RUNTIME_CALLS]; /* NULL: not looked up yet */

__attribute__((constructor)) static void map_file(void)
{
	const char *path = getenv(SPAN_VARIABLE);
	int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
	struct program_span *shared = MAP_FAILED;

	if (fd >= 0) {
		shared = mmap(NULL, sizeof(own), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		close(fd);
	}
	if (shared == MAP_FAILED)
		return;
	span_at = shared;
	span_last = &shared->last_ticks;
}

/* The first call of all processes of the program is the first of one of its functions. */
static void note_first(void)
{
	struct timespec t;
	int64_t none = 0, now;
	uint64_t ticks = span_ticks();

	clock_gettime(CLOCK_MONOTONIC, &t);
	now = t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
	if (__atomic_compare_exchange_n(&span_at->first_ns, &none, now, 0, __ATOMIC_RELAXED,
					__ATOMIC_RELAXED))
		span_at->first_ticks = ticks;
}

HIDDEN void *span_resolve(long call);
void *span_resolve(long call)
{
	void *found;

	if (!__atomic_load_n(&span_at->first_ns, __ATOMIC_RELAXED))
		note_first();
	found = runtime_call_next(call);
	__atomic_store_n(&span_next[call], found, __ATOMIC_RELEASE);
	return found;
}

INTERPOSE_DLSYM

/* At first, when nobody has looked yet. */
__asm__(INTERPOSE_JUMP("span_first", "span_resolve"));

/* rdx is the third argument, al counts vector registers; r10 and r11 are free in C. */
#define RUNTIME_CALL(function, versions)                                                           \
	SHOWN __attribute__((naked)) void function(void);                                          \
	void function(void)                                                                        \
	{                                                                                          \
		__asm__ volatile("movq %%rdx, %%r10\n\t"                                           \
				 "movq %%rax, %%r11\n\t"                                           \
				 "rdtsc\n\t"                                                       \
				 "shlq $32, %%rdx\n\t"                                             \
				 "orq %%rax, %%rdx\n\t"                                            \
				 "movq span_last(%%rip), %%rax\n\t"                                \
				 "movq %%rdx, (%%rax)\n\t"                                         \
				 "movq %%r11, %%rax\n\t"                                           \
				 "movq %%r10, %%rdx\n\t"                                           \
				 "movq span_next+%c0(%%rip), %%r11\n\t"                            \
				 "testq %%r11, %%r11\n\t"                                          \
				 "je 1f\n\t"                                                       \
				 "jmp *%%r11\n"                                                    \
				 "1:\n\t"                                                          \
				 "pushq %1\n\t"                                                    \
				 "jmp span_first"                                                  \
				 :                                                                 \
				 : "i"(8 * CALL_##function), "i"(CALL_##function));                \
	}
#include "layers/runtime_calls.h"
#undef RUNTIME_CALL

#endif
