/*
 * contract.h - does a workload fill in what workloads/workload.h asks for?
 *
 * A compiler does not see a missing hook, nor two folders that define the same name; without
 * this they would show as a crash in whoever runs first.
 */
#ifndef RIFT_MEASURE_CONTRACT_H
#define RIFT_MEASURE_CONTRACT_H

#include <stdbool.h>

struct verdict;
struct workload;

/*
 * 0 when every workload of the table (which ends with NULL) has its texts, its hooks, one row
 * marked as kernel-size axis, needs of parameters that there are, presets that it takes, and a
 * name of its own; else
 * -EINVAL after one line for the first that has not.
 */
int contract_check(const struct workload *const *table);

/*
 * The hook setup, and then nothing is under way: cudaMemcpy() from pageable memory returns before
 * its bytes are on the device, and streams that do not block begin without them.
 */
int workload_set_up(const struct workload *w, const void *opts, void *state);

/*
 * Has a check passed, whatever the hook itself says? One that lets NaN pass, or compares nothing,
 * has not.
 */
bool verdict_holds(const struct verdict *v);

#endif
