/* between.c - what separate sessions differ by. */
#include "harness/compare/between.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "common/check.h"
#include "common/philox.h"
#include "harness/stats/bootstrap.h"

/* The draws of two parties are groups 0 and 1. */
enum { GROUP = 2 };

/* Normal deviates by Box and Muller, Ann. Math. Statist. 29, 1958. */
double *between_factors(double sd, uint64_t seed)
{
	const double turn = 2 * acos(-1);
	double *factor;

	if (!(sd > 0))
		return NULL;
	factor = calloc(BOOTSTRAP_DRAWS, sizeof(*factor));
	CHECK(factor, "memory of draws");
	for (uint32_t d = 0; d < BOOTSTRAP_DRAWS; d++) {
		struct philox random = philox4x32(0, d, GROUP, 0, seed);
		double radius = sqrt(-2 * log(philox_uniform(random.word[0])));

		factor[d] = exp(sd * sqrt(2) * radius * cos(turn * philox_uniform(random.word[1])));
	}
	return factor;
}
