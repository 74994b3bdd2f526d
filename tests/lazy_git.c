/*
 * lazy_git.c - a libgit2 for Criterion, which loads the system's when it is wanted.
 *
 * Criterion needs it only to show how two strings differ, and each of its processes, one a test,
 * would load it: with it come libraries for TLS, SSH and Kerberos, two thirds of what starting a
 * test costs. Built in the system's name beside the runtime, so that the loader finds it first.
 */
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

typedef int (*init_fn)(void);
typedef int (*diff_fn)(const void *, size_t, const char *, const void *, size_t, const char *,
		       const void *, void *, void *, void *, void *, void *);

static void *libgit2(const char *name)
{
	void *real = dlopen(REAL_LIBGIT2, RTLD_NOW | RTLD_LOCAL);
	void *fn = real ? dlsym(real, name) : NULL;

	if (!fn) {
		fprintf(stderr, "rift: %s\n", dlerror());
		abort();
	}
	return fn;
}

int git_libgit2_init(void)
{
	return 1;
}

int git_libgit2_shutdown(void)
{
	return 0;
}

int git_diff_buffers(const void *a, size_t a_bytes, const char *a_name, const void *b,
		     size_t b_bytes, const char *b_name, const void *options, void *file,
		     void *binary, void *hunk, void *line, void *payload)
{
	init_fn init = (init_fn)libgit2("git_libgit2_init");
	diff_fn diff = (diff_fn)libgit2("git_diff_buffers");

	init();
	return diff(a, a_bytes, a_name, b, b_bytes, b_name, options, file, binary, hunk, line,
		    payload);
}
