/*
 * radixsort.h - the radixsort workload: pairs of a key and a value, put in the order of the keys.
 *
 * A step sorts all pairs of one slot. Options and what they mean: README.md.
 */
#ifndef RIFT_RADIXSORT_H
#define RIFT_RADIXSORT_H

#include "common/dataset.h"
#include "common/programmatic.h"
#include "workloads/radixsort/device.h"
#include "workloads/hooks.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { RADIXSORT_PAIRS_MAX = (1 << 30) - 1 }; /* counts have 30 bits */

struct radixsort_opts {
	int64_t pairs;
	int keys; /* enum radixsort_keys */
	int64_t seed;
	int launch; /* enum programmatic */
	struct dataset_opts set;
};

struct radixsort_state {
	struct dataset set;
	uint32_t *between;	       /* keys, then values, on their way between passes */
	struct radixsort_board *board; /* NULL: one block sorts */
	enum radixsort_size size;
	uint32_t processors, alone_bytes; /* of struct radixsort_launch */
};

/* ---- hooks, and what they share --------------------------------------------------------- */

int radixsort_setup(const void *opts, void *state);
int radixsort_reset(const void *opts, void *state, cudaStream_t stream);
int radixsort_step(const void *opts, void *state, cudaStream_t stream);
int radixsort_fused(const void *opts, void *state, cudaStream_t stream, int64_t n);
/* Of more than twice as many pairs the check looks at so many, in 0.1 s; a test asks for fewer. */
extern int64_t radixsort_looked_at;
int radixsort_check(const void *opts, void *state, int64_t steps, struct verdict *verdict);
int radixsort_cost(const void *opts, const void *state, struct cost *out);
int radixsort_report(const void *opts, void *state, struct report *out);
void radixsort_teardown(void *state);

/* The arrays of a slot: keys and values, then both sorted. */
struct dataset_shape radixsort_shape(const struct radixsort_opts *o);

/* Bytes that a step reads and writes on the device. */
double radixsort_bytes_moved(const struct radixsort_opts *o);

/* What sorts are launched with, `steps` in a launch; counts: they are steps. */
struct radixsort_launch radixsort_make_launch(const struct radixsort_opts *o,
					      const struct radixsort_state *s, uint32_t steps,
					      bool counts);

extern const struct dataset_work radixsort_work;
extern const struct workload workload_radixsort;

#ifdef __cplusplus
}
#endif
#endif
