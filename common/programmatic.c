/* programmatic.c - which devices run launches that overlap. */
#include "common/programmatic.h"

#include <errno.h>
#include <stddef.h>

#include "common/check.h"
#include "common/device.h"

const char *const programmatic_names[] = { "ordinary", "programmatic", NULL };

const char programmatic_fused[] = "launch=programmatic is for launches that follow one another, "
				  "and fused steps are one";

int programmatic_check(enum programmatic launch)
{
	int major, minor;

	if (launch == PROGRAMMATIC_NO)
		return 0;
	major = device_attribute(cudaDevAttrComputeCapabilityMajor);
	minor = device_attribute(cudaDevAttrComputeCapabilityMinor);
	if (!major || major >= 9)
		return 0;
	return complain(ENOTSUP,
			"launch=programmatic: the device has compute capability %d.%d, launches "
			"overlap only from 9.0 on",
			major, minor);
}
