/* kernels_double.cu - the particle filter's kernels in double. */
#define PF_REAL double
#define PF_IN(name) name##_double
#include "workloads/particlefilter/kernels.cuh"
