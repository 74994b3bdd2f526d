/*
 * tsan_arena.c - lets Criterion run under the thread sanitizer.
 *
 * Criterion keeps what its processes share at an address of 2^45 + 2^24 * rand_r(), fixed, and
 * gives up where that cannot be had. The sanitizer's shadow takes up most of those addresses:
 * here rand_r() answers with those that are the program's. Nothing else in rift calls it.
 */
#include <stdlib.h>

#ifdef __SANITIZE_THREAD__
int rand_r(unsigned *seed)
{
	/* 0x560000000000 to 0x568000000000, in steps of 2^24, which is above the program. */
	const unsigned first = 0x360000, n = 0x8000;

	*seed = *seed * 1103515245 + 12345;
	return (int)(first + (*seed >> 8) % n);
}
#endif
