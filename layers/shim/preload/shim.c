/*
 * shim.c - a CUDA runtime that counts each call and passes it on.
 *
 * Every function of libcudart is one and the same: it adds one to its count and jumps to the next
 * library's function of that name. Registers and stack are left as they were, so no signature need
 * be known. The count is taken with a lock prefix, as programs call from many threads.
 *
 * Its name is none of CUDA's: under libcudart's own name the loader would take this for the runtime
 * and never load the one that calls are passed on to.
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

static uint64_t own_counts[SHIM_CALLS]; /* until the file is mapped, or where there is none */

/* The file's, or one's own. The functions below read both. */
HIDDEN uint64_t *shim_counts = own_counts;
HIDDEN void *shim_next[SHIM_CALLS]; /* NULL: not looked up yet */

static const char *const names[] = {
#define SHIM_NAME(function, versions) #function,
#include "layers/shim/names.h"
#undef SHIM_NAME
};

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
	for (int i = 0; i < SHIM_CALLS; i++)
		__atomic_fetch_add(&shared[i], own_counts[i], __ATOMIC_RELAXED);
	shim_counts = shared;
}

/* ---- the next library ----------------------------------------------------------------------- */

/* In place of a function that no library has: cudaErrorNotSupported. */
static int not_there(void)
{
	return 801;
}

/*
 * The next in the loader's order; or, where a plug-in has brought the runtime along for itself, the
 * one that is loaded.
 */
static void *find_next(const char *name)
{
	static const char *const files[] = { "libcudart.so.13", "libcudart.so.12" };
	void *found = dlsym(RTLD_NEXT, name);

	for (size_t i = 0; !found && i < sizeof(files) / sizeof(*files); i++) {
		void *loaded = dlopen(files[i], RTLD_LAZY | RTLD_NOLOAD);

		if (loaded)
			found = dlsym(loaded, name);
	}
	return found;
}

HIDDEN void *shim_resolve(long call);
void *shim_resolve(long call)
{
	void *found = find_next(names[call]);
	int (*none)(void) = not_there;

	if (!found)
		memcpy(&found, &none, sizeof(found));
	__atomic_store_n(&shim_next[call], found, __ATOMIC_RELEASE);
	return found;
}

/* ---- the functions -------------------------------------------------------------------------- */

#ifdef __x86_64__

/*
 * At first: the number of the call is on the stack. What may hold arguments is saved around the
 * search (System V ABI: six registers, eight vectors, al their number, r10 a static chain).
 */
__asm__("	.text\n"
	"	.hidden shim_first\n"
	"	.globl shim_first\n"
	"	.type shim_first, @function\n"
	"shim_first:\n"
	"	pushq %rdi\n	pushq %rsi\n	pushq %rdx\n	pushq %rcx\n"
	"	pushq %r8\n	pushq %r9\n	pushq %rax\n	pushq %r10\n"
	"	subq $128, %rsp\n"
	"	movaps %xmm0, (%rsp)\n		movaps %xmm1, 16(%rsp)\n"
	"	movaps %xmm2, 32(%rsp)\n	movaps %xmm3, 48(%rsp)\n"
	"	movaps %xmm4, 64(%rsp)\n	movaps %xmm5, 80(%rsp)\n"
	"	movaps %xmm6, 96(%rsp)\n	movaps %xmm7, 112(%rsp)\n"
	"	movq 192(%rsp), %rdi\n"
	"	call shim_resolve\n"
	"	movq %rax, %r11\n"
	"	movaps (%rsp), %xmm0\n		movaps 16(%rsp), %xmm1\n"
	"	movaps 32(%rsp), %xmm2\n	movaps 48(%rsp), %xmm3\n"
	"	movaps 64(%rsp), %xmm4\n	movaps 80(%rsp), %xmm5\n"
	"	movaps 96(%rsp), %xmm6\n	movaps 112(%rsp), %xmm7\n"
	"	addq $128, %rsp\n"
	"	popq %r10\n	popq %rax\n	popq %r9\n	popq %r8\n"
	"	popq %rcx\n	popq %rdx\n	popq %rsi\n	popq %rdi\n"
	"	addq $8, %rsp\n"
	"	jmp *%r11\n"
	"	.size shim_first, . - shim_first\n");

#define SHIM_NAME(function, versions)                                                              \
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
#include "layers/shim/names.h"
#undef SHIM_NAME

#endif
