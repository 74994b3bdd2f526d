/*
 * interpose.h - a library that stands before the CUDA runtime: which functions there are, and where
 * a call goes next. For the libraries that layers preload, and for rift's sides of them.
 *
 * The library's name is none of CUDA's: under libcudart's own name the loader would take it for the
 * runtime and never load the one that calls are passed on to.
 */
#ifndef RIFT_LAYERS_INTERPOSE_H
#define RIFT_LAYERS_INTERPOSE_H

#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <string.h>

/* Versions of libcudart that export a function. */
enum runtime_versions { CUDA_12 = 1, CUDA_13 = 2, BOTH = 3 };

enum runtime_call {
#define RUNTIME_CALL(function, versions) CALL_##function,
#include "layers/runtime_calls.h"
#undef RUNTIME_CALL
	RUNTIME_CALLS
};

static inline const char *runtime_call_name(long call)
{
	static const char *const names[] = {
#define RUNTIME_CALL(function, versions) #function,
#include "layers/runtime_calls.h"
#undef RUNTIME_CALL
	};

	return names[call];
}

/* In place of a function that no library has: cudaErrorNotSupported. */
static inline int runtime_call_missing(void)
{
	return 801;
}

typedef void *interpose_lookup(void *handle, const char *name);

/*
 * A sanitizer's runtime calls dlsym() before it is there itself: what it gets to first must call
 * nothing of it, no hook of its instrumentation and no memcpy() either.
 */
#define INTERPOSE_EARLY __attribute__((no_sanitize("address", "thread", "undefined")))

/* What dlsym() is next. Asked for without dlopen(), as sanitizers ask before theirs can be called.
 */
INTERPOSE_EARLY static inline interpose_lookup *interpose_next_dlsym(void)
{
	union {
		void *found;
		interpose_lookup *next;
	} as = { dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34") };

	if (!as.found)
		as.found = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
	return as.next;
}

/* libc's own dlsym(), past those below. NULL: a libc that is not known. */
static inline interpose_lookup *interpose_libc_dlsym(void)
{
	static const char *const where[][2] = { { "libc.so.6", "GLIBC_2.34" },
						{ "libdl.so.2", "GLIBC_2.2.5" } };
	static interpose_lookup *found;
	interpose_lookup *is = __atomic_load_n(&found, __ATOMIC_RELAXED);

	for (size_t i = 0; !is && i < sizeof(where) / sizeof(*where); i++) {
		void *library = dlopen(where[i][0], RTLD_LAZY | RTLD_NOLOAD);
		void *function = library ? dlvsym(library, "dlsym", where[i][1]) : NULL;

		memcpy(&is, &function, sizeof(is));
	}
	__atomic_store_n(&found, is, __ATOMIC_RELAXED);
	return is;
}

/*
 * The function that a call goes to next: of the next library in the loader's order; or, where a
 * plug-in has brought the runtime along for itself, of the one that is loaded. Never NULL.
 */
static inline void *runtime_call_next(long call)
{
	static const char *const files[] = { "libcudart.so.13", "libcudart.so.12" };
	void *found = dlsym(RTLD_NEXT, runtime_call_name(call));
	int (*missing)(void) = runtime_call_missing;

	for (size_t i = 0; !found && i < sizeof(files) / sizeof(*files); i++) {
		void *loaded = dlopen(files[i], RTLD_LAZY | RTLD_NOLOAD);

		if (loaded && interpose_libc_dlsym())
			found = interpose_libc_dlsym()(loaded, runtime_call_name(call));
	}
	if (!found)
		memcpy(&found, &missing, sizeof(found));
	return found;
}

/*
 * Assembly of a function `label` that is jumped to with the number of a call on the stack, above
 * the caller's return address. It asks `resolve(call, return address)`, C, which may have the first
 * parameter alone, for an address and jumps there, with the stack and all registers that may hold
 * arguments as they were (System V ABI: six registers, eight vectors, al their number, r10 a static
 * chain).
 */
#define INTERPOSE_JUMP(label, resolve)                                                             \
	"	.text\n"                                                                                 \
	"	.hidden " label "\n"                                                               \
	"	.globl " label "\n"                                                                \
	"	.type " label ", @function\n" label ":\n" INTERPOSE_SAVE                           \
	"	movq 192(%rsp), %rdi\n"                                                                  \
	"	movq 200(%rsp), %rsi\n"                                                                  \
	"	call " resolve "\n"                                                                \
	"	movq %rax, %r11\n" INTERPOSE_RESTORE "	jmp *%r11\n"                                \
	"	.size " label ", . - " label "\n"

/*
 * For one source of each library that stands before the runtime: programs that load the runtime and
 * ask it for its functions by name, as Python does, get those that others would get by linking, of
 * the first library that has them. All else goes to libc with the caller's own return address,
 * which RTLD_NEXT is about.
 */
#ifdef __x86_64__
#define INTERPOSE_DLSYM                                                                            \
	__attribute__((visibility("hidden"))) interpose_lookup *interpose_dlsym_next;              \
	__attribute__((visibility("hidden"))) void *interpose_found(void *, const char *);         \
	INTERPOSE_EARLY void *interpose_found(void *handle, const char *name)                      \
	{                                                                                          \
		if (!interpose_dlsym_next)                                                         \
			interpose_dlsym_next = interpose_next_dlsym();                             \
		return interpose_of_runtime(handle, name);                                         \
	}                                                                                          \
	__asm__("	.text\n	.globl dlsym\n	.type dlsym, @function\ndlsym:\n"                         \
		"	pushq %rdi\n	pushq %rsi\n	subq $8, %rsp\n"                                       \
		"	call interpose_found\n"                                                          \
		"	addq $8, %rsp\n	popq %rsi\n	popq %rdi\n"                                         \
		"	testq %rax, %rax\n	jne 1f\n"                                                     \
		"	jmp *interpose_dlsym_next(%rip)\n1:	ret\n	.size dlsym, . - "                     \
		"dlsym\n");
#else
#define INTERPOSE_DLSYM
#endif

static inline int interpose_is_runtime(struct dl_phdr_info *info, size_t size, void *unused)
{
	const char *slash = strrchr(info->dlpi_name, '/');

	(void)size, (void)unused;
	return !strncmp(slash ? slash + 1 : info->dlpi_name, "libcudart", strlen("libcudart"));
}

/* Is it in this process? Where it is and no call was seen, calls may have gone past the layer. */
static inline int interpose_has_runtime(void)
{
	return dl_iterate_phdr(interpose_is_runtime, NULL);
}

/* What a report adds then. */
#define INTERPOSE_PAST                                                                             \
	"; the runtime was loaded in %llu process%s that made no call it saw: none was made, or "  \
	"they went past it"

/* NULL: the name is none of the runtime's, or nobody stands before it. */
INTERPOSE_EARLY static inline void *interpose_of_runtime(void *handle, const char *name)
{
	const char *library = "libcudart", *slash;
	void *theirs, *first, *base;
	interpose_lookup *libc;
	Dl_info in;

	if (handle == RTLD_NEXT || handle == RTLD_DEFAULT || !name)
		return NULL;
	if (!strncmp(name, "cublas", 6))
		library = "libcublas"; /* a layer may stand before that, too */
	else if (strncmp(name, "cuda", 4) != 0 && strncmp(name, "__cuda", 6) != 0)
		return NULL;
	libc = interpose_libc_dlsym();
	theirs = libc ? libc(handle, name) : NULL;
	if (!theirs || !dladdr(theirs, &in) || !in.dli_fname)
		return NULL;
	slash = strrchr(in.dli_fname, '/');
	if (strncmp(slash ? slash + 1 : in.dli_fname, library, strlen(library)) != 0)
		return NULL;
	/* one of another namespace (dlmopen) would not be found next */
	base = dlopen(in.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
	first = base ? libc(RTLD_DEFAULT, name) : NULL;
	if (base)
		dlclose(base);
	return first ? first : theirs;
}

/* What may hold arguments goes to the stack: 64 bytes of registers above 128 bytes of vectors. */
#define INTERPOSE_SAVE                                                                             \
	"	pushq %r9\n	pushq %r8\n	pushq %rcx\n	pushq %rdx\n"                                       \
	"	pushq %rsi\n	pushq %rdi\n	pushq %rax\n	pushq %r10\n"                                     \
	"	subq $128, %rsp\n"                                                                       \
	"	movaps %xmm0, (%rsp)\n		movaps %xmm1, 16(%rsp)\n"                                        \
	"	movaps %xmm2, 32(%rsp)\n	movaps %xmm3, 48(%rsp)\n"                                       \
	"	movaps %xmm4, 64(%rsp)\n	movaps %xmm5, 80(%rsp)\n"                                       \
	"	movaps %xmm6, 96(%rsp)\n	movaps %xmm7, 112(%rsp)\n"

/* And back; the number of the call goes, too. */
#define INTERPOSE_RESTORE                                                                          \
	"	movaps (%rsp), %xmm0\n		movaps 16(%rsp), %xmm1\n"                                        \
	"	movaps 32(%rsp), %xmm2\n	movaps 48(%rsp), %xmm3\n"                                       \
	"	movaps 64(%rsp), %xmm4\n	movaps 80(%rsp), %xmm5\n"                                       \
	"	movaps 96(%rsp), %xmm6\n	movaps 112(%rsp), %xmm7\n"                                      \
	"	addq $128, %rsp\n"                                                                       \
	"	popq %r10\n	popq %rax\n	popq %rdi\n	popq %rsi\n"                                         \
	"	popq %rdx\n	popq %rcx\n	popq %r8\n	popq %r9\n"                                           \
	"	addq $8, %rsp\n"

#endif
