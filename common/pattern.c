/* pattern.c - the host's side of pattern.h. */
#include "common/pattern.h"

struct pattern_wrong pattern_compare_host(const void *src, size_t size, uint64_t first,
					  uint64_t bytes)
{
	struct pattern_wrong wrong = { 0, UINT64_MAX };
	const uint64_t *found = src;

	for (uint64_t i = 0; i < size / 8; i++)
		if (found[i] != pattern_expected(i, first, bytes) && !wrong.words++)
			wrong.first = i;
	return wrong;
}
