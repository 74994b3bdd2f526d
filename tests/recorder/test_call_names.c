/*
 * test_call_names.c - the preloaded recorder and CUPTI's give a function the same name, so that
 * recordings of both can be held together (common/trace/host_gaps.h).
 */
/* sanitizers: one thread */
#include "tests/test.h"

TestSuite(small_call_names, .timeout = 60);

static const char *const cuptis[] = {
#define CUPTI_CALL(domain, number, class, name, cuptis) #name,
#include "common/recorder/cupti/calls.h"
#undef CUPTI_CALL
	NULL
};

static const char *const preloaded[] = {
#define PRELOAD_CALL(class, function, words, stream, event, bytes, memory, async) #function,
#include "common/recorder/preload/calls.h"
#undef PRELOAD_CALL
	NULL
};

/* No device is asked: CUPTI's recorder leaves them out. */
static const char *const left_out[] = { "cudaSetDevice", "cudaInitDevice", "cudaGetDeviceCount",
					"cudaThreadSynchronize", NULL };

static bool has(const char *const *list, const char *name, size_t length)
{
	for (; *list; list++)
		if (strlen(*list) == length && !strncmp(*list, name, length))
			return true;
	return false;
}

/* As recorded: without underscores, and without what a variant ends with (preload/calls.c). */
Test(small_call_names, both_recorders_have_them)
{
	for (int i = 0; preloaded[i]; i++) {
		const char *name = preloaded[i] + strspn(preloaded[i], "_");
		const char *variant = strstr(name, "_pt");
		size_t length = variant ? (size_t)(variant - name) : strlen(name);

		cr_expect(has(cuptis, name, length) != has(left_out, name, length), "%s",
			  preloaded[i]);
	}
}
