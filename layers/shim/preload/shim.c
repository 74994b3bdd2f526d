/*
 * shim.c - a CUDA runtime that counts each call and passes it on.
 *
 * Every function of libcudart is one and the same: it adds one to its count and jumps to the next
 * library's function of that name. Registers and stack are left as they were, so no signature need
 * be known. The count is taken with a lock prefix, as programs call from many threads.
 */
#include "layers/shim/calls.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define HIDDEN __attribute__((visibility("hidden")))
#define SHOWN __attribute__((visibility("default")))

static uint64_t own_counts[SHIM_COUNTS]; /* until the file is mapped, or where there is none */

/* The file's, or one's own. The functions below read both. */
HIDDEN uint64_t *shim_counts = own_counts;
HIDDEN void *shim_next[RUNTIME_CALLS]; /* NULL: not looked up yet */

/* ---- counts -------------------------------------------------------------------------------- */

SHOWN const volatile uint64_t *rift_shim_counts(void)
{
	return shim_counts;
}

/* Libraries may have called before: what was counted comes along. */
__attribute__((constructor)) static void map_counts(void)
{
	const char *path = getenv(SHIM_VARIABLE);
	int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
	uint64_t *shared = MAP_FAILED;

	if (fd >= 0) {
		shared = mmap(NULL, sizeof(own_counts), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		close(fd);
	}
	if (shared == MAP_FAILED)
		return;
	for (int i = 0; i < SHIM_COUNTS; i++)
		__atomic_fetch_add(&shared[i], own_counts[i], __ATOMIC_RELAXED);
	shim_counts = shared;
}

/* One that was called looked for the next. */
__attribute__((destructor)) static void end(void)
{
	for (int i = 0; i < RUNTIME_CALLS; i++)
		if (__atomic_load_n(&shim_next[i], __ATOMIC_RELAXED))
			return;
	if (interpose_has_runtime())
		__atomic_fetch_add(&shim_counts[SHIM_PAST], 1, __ATOMIC_RELAXED);
}

/* ---- the next library ----------------------------------------------------------------------- */

HIDDEN void *shim_resolve(long call);
void *shim_resolve(long call)
{
	void *found = runtime_call_next(call);

	__atomic_store_n(&shim_next[call], found, __ATOMIC_RELEASE);
	return found;
}

INTERPOSE_DLSYM

/* ---- the functions -------------------------------------------------------------------------- */

#ifdef __x86_64__

/* At first, when nobody has looked yet. */
__asm__(INTERPOSE_JUMP("shim_first", "shim_resolve"));

#define RUNTIME_CALL(function, versions)                                                           \
	SHOWN __attribute__((naked)) void function(void);                                          \
	void function(void)                                                                        \
	{                                                                                          \
		__asm__ volatile("movq shim_counts(%%rip), %%r11\n\t"                              \
				 "lock incq %c0(%%r11)\n\t"                                        \
				 "movq shim_next+%c0(%%rip), %%r11\n\t"                            \
				 "testq %%r11, %%r11\n\t"                                          \
				 "je 1f\n\t"                                                       \
				 "jmp *%%r11\n"                                                    \
				 "1:\n\t"                                                          \
				 "pushq %1\n\t"                                                    \
				 "jmp shim_first"                                                  \
				 :                                                                 \
				 : "i"(8 * CALL_##function), "i"(CALL_##function));                \
	}
#include "layers/runtime_calls.h"
#undef RUNTIME_CALL

#endif
