/*
 * test_passes.h - what programs of tests share that make calls of CUDA by way of their own daemon:
 * tests that run again as its client, and the backend that what they have sent is damaged for.
 */
#ifndef RIFT_REMOTE_TEST_PASSES_H
#define RIFT_REMOTE_TEST_PASSES_H

#include <cuda_runtime_api.h>
#include <stdlib.h>
#include <string.h>

#include "layers/remote/daemon/session.h"
#include "layers/remote/test_cpu_remote_calls.h"
#include "layers/remote/test_daemon.h"

#define OK(call) cr_assert(eq(int, (int)(call), 0), #call)
#define FAILS(call, error) cr_assert(eq(int, (int)(call), (int)(error)), #call)

/* Those tests of this program pass as a client's, as many as n. Returns what they said. */
static inline const char *passes_as_client(const char *pattern, int n, bool strict,
					   void (*begin)(void))
{
	struct own_daemon d = own_daemon_start(strict, begin);
	char says[64];
	const char *out;
	int rc = run_own_tests(&d, pattern, "", &out);

	own_daemon_end(&d);
	snprintf(says, sizeof(says), "Tested: %d | Passing: %d", n, n);
	cr_assert(zero(int, rc), "%s", out);
	cr_assert(strstr(out, says) != NULL, "%s", out);
	return out;
}

/* How many are damaged or invented; RIFT_REMOTE_FUZZ: others. */
static inline int fuzz_messages(void)
{
	const char *n = getenv("RIFT_REMOTE_FUZZ");

	return n ? atoi(n) : 10000;
}

/* Any kernel is the one that does no harm; its parameters are those of another. */
static const void *harmless_kernel(void *library, uint64_t offset, const char *name)
{
	(void)library;
	(void)offset;
	return strlen(name) > 0 ? kernel_nothing() : NULL;
}

static bool the_variable(void *library, uint64_t offset, const char *name, uint64_t *address,
			 uint64_t *bytes)
{
	(void)library;
	(void)name;
	*address = word_of(variable());
	*bytes = 32;
	return offset % 2 == 0;
}

/* Nothing is read in it. */
static int any_image(const void *image, void **library)
{
	*library = (void *)image;
	return 0;
}

static void no_image(void *library)
{
	(void)library;
}

static const struct remote_backend harmless = {
	.load = any_image,
	.unload = no_image,
	.kernel = harmless_kernel,
	.symbol = the_variable,
};

#endif
