/* test_handles.c - common/recorder/preload/handles.h: names of kernels that are registered anew,
 * and kept once. The recorder is this file. */
/* sanitizers: one thread */
#include "tests/test.h"
#include "common/recorder/preload/handles.h"

#include "common/recorder/recorder.h"

TestSuite(small_handles, .timeout = 60);

static int n_kept;

const char *recorder_keep(const char *text)
{
	n_kept++;
	return text;
}

static void is_named(uint64_t kernel, const char *name, int kept)
{
	const char *is = handle_kernel_name(kernel);

	cr_expect(eq(str, (char *)(uintptr_t)(is ? is : "none"), (char *)(uintptr_t)name));
	cr_expect(eq(int, n_kept, kept), "%s", name);
}

Test(small_handles, kernels)
{
	static const char again[] = "first"; /* the same, elsewhere */

	is_named(16, "none", 0);
	handle_name_kernel(16, "first");
	is_named(16, "first", 1);
	is_named(16, "first", 1);
	handle_name_kernel(16, handle_kernel_name(16));
	is_named(16, "first", 1);
	handle_name_kernel(16, again);
	is_named(16, "first", 2);
	handle_name_kernel(16, "second"); /* of another image, in its place */
	is_named(16, "second", 3);
	handle_name_kernel(32, "third");
	handle_like_kernel(48, 32);
	is_named(48, "third", 4);
	handle_like_kernel(48, 16); /* the handle is another one's now */
	is_named(48, "second", 4);
	handle_like_kernel(48, 64); /* of which nothing is known */
	is_named(48, "second", 4);
	handle_like_kernel(16, 16);
	is_named(16, "second", 4);
}

/* Each kind by itself; one that is made again has another number. */
Test(small_handles, numbers)
{
	const struct handle made = { .kind = 2, .priority = -1 }, other = { .kind = 3 };

	cr_expect(eq(u32, handle_find(HANDLE_STREAM, 16, &made).number, 1));
	cr_expect(eq(u32, handle_find(HANDLE_STREAM, 32, &made).number, 2));
	cr_expect(eq(u32, handle_find(HANDLE_EVENT, 16, &made).number, 1));
	cr_expect(eq(u32, handle_find(HANDLE_STREAM, 16, &other).number, 1));
	cr_expect(eq(u32, handle_find(HANDLE_STREAM, 16, &other).kind, 2));
	handle_make(HANDLE_STREAM, 16, &other);
	cr_expect(eq(u32, handle_find(HANDLE_STREAM, 16, &made).number, 3));
	cr_expect(eq(u32, handle_find(HANDLE_STREAM, 16, &made).kind, 3));
	handle_drop(HANDLE_STREAM, 48);
	handle_drop(HANDLE_STREAM, 16);
	cr_expect(eq(u32, handle_find(HANDLE_STREAM, 16, &made).number, 4));
	for (uint64_t i = 1; i < 4; i++)
		cr_expect(eq(u64, handle_record(16).recorded, i));
	cr_expect(eq(u64, handle_record(64).recorded, 1));
	cr_expect(eq(u32, handle_record(64).number, 2));
}
