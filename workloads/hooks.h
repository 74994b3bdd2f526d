/* hooks.h - names for the header of a workload: what its hooks are given (workloads/workload.h). */
#ifndef RIFT_HOOKS_H
#define RIFT_HOOKS_H

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cost;
struct limits;
struct plot;
struct report;
struct scratch;
struct verdict;
struct workload;

#endif
