/*
 * lazy_git.c - linked into every test program: starts libgit2 when it is wanted.
 *
 * Criterion starts it in each of its processes, one a test, only to show how two strings differ.
 * As it starts, Debian's reads all certificates of the machine: 15 ms under a sanitizer. A
 * Criterion that needs no libgit2 calls none of this.
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
	void *fn = dlsym(RTLD_NEXT, name);

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
