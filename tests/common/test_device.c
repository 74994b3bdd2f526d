/* test_device.c - device memory that there is not is one line, and nothing to give back. */
#include "tests/plain.h"
#include "common/device.h"

#include <criterion/redirect.h>

#include "tests/cli.h"

TestSuite(small_device, .timeout = 300, .init = need_device);

Test(small_device, memory_that_there_is_not_is_refused_in_one_line)
{
	int place;
	void *p = &place;
	const char *said;

	cr_redirect_stderr();
	cr_assert(device_new(&p, (size_t)1 << 60, "n=%d", 7) == -ENOMEM);
	said = captured_stderr();
	cr_assert(is_one_complaint(said) &&
			  strstr(said, "cannot allocate 1152921504606846976 bytes") &&
			  strstr(said, ": n=7\n"),
		  "%s", said);
	cr_assert(!p && !cudaPeekAtLastError(), "nothing is left behind");
	device_free(p);
}

Test(small_device, no_bytes_are_a_place_too)
{
	void *p = NULL;

	cr_assert(!device_new(&p, 0, "nothing") && p);
	device_free(p);
}
