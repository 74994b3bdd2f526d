/* kernels_float.cu - the particle filter's kernels in float. */
#define PF_REAL float
#define PF_IN(name) name##_float
#include "workloads/particlefilter/kernels.cuh"
