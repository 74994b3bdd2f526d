/*
 * validate_work.h - does what launches cost predict real workloads?
 *
 * Of a workload is taken the device time of its kernels (price.h), and nothing else: all parameters
 * are those of launches on the same platform. Blocks that gave the kernel time are no test and left
 * out; blocks beyond the sizes and depths that launches were swept at are counted apart. Errors are
 * |predicted / measured - 1| of medians over processes, and accepted as in validate.h.
 */
#ifndef RIFT_MODEL_VALIDATE_WORK_H
#define RIFT_MODEL_VALIDATE_WORK_H

#include "harness/model/price.h"
#include "harness/model/validate.h"

struct work_validation {
	const struct grid *work;
	struct errors mode[MODE_COUNT], all; /* within what was swept of launches */
	struct errors outside;
	int seen;    /* blocks that gave the kernel time */
	int unknown; /* without a price: launches were not swept in their mode */
	bool accepted;
	double *error; /* of the n blocks of `all`, for several workloads together; owned */
};

/* launches must live only as long as this call, work as long as *out. */
void validate_work(struct work_validation *out, const struct grid *work,
		   const struct fit *launches);
void work_validation_release(struct work_validation *v);

/* Of several: the median and so on of all of their blocks. worst_point is -1. */
struct errors validate_all_work(const struct work_validation *v, int n);

#endif
